"""Persistence of gaps over similarity: edges of the visited subgraph enter in order of decreasing weight."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import GraphError
from curiograph.graph.csr import freeze_array
from curiograph.graph.graph import Graph, as_graph
from curiograph.growth.first_visits import FirstVisits, is_recorded, is_single, read_walks
from curiograph.results import Table, join_columns

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class Persistence(Table):
    """Persistence of the gaps of walks over similarity: a table with one row per gap, in order of opening.

    Gaps that close at the similarity at which they open are left out. The death of a gap that stays open is infinite.

    Examples
    --------
    >>> import curiograph as cg
    >>> g = cg.Graph.from_edges([(0, 1, 1.0), (1, 2, 0.5), (2, 3, 1.0), (3, 0, 1.0), (0, 2, 0.125)])
    >>> cg.measure_persistence(g, [0, 1, 2, 3]).to_frame()[["birth_bits", "death_bits", "loop"]]
       birth_bits  death_bits          loop
    0         1.0         3.0  [1, 2, 3, 0]
    """

    graph: Graph
    """Graph with similarities as weights."""
    visits: FirstVisits
    """First visits of all walks, and who took them."""
    edges: Int64
    """Number of edges of each visited subgraph with a weight above zero."""
    gaps: Int32
    """Gaps as rows: number of the walk, steps of both ends of the link that opens the gap, and steps of both ends of
    the link that closes it, -1 if it stays open; steps are counted from 0."""
    bits: Float64
    """Birth and death of each gap: -log2 of the similarity of the links that open and close it."""

    @cached_property
    def loops(self) -> list[list[Any]]:
        """Labels around each gap as it opens: the fewest links that join the ends of the link that opens it."""
        loops: list[list[Any]] = []
        for walk in np.unique(self.gaps[:, 0]).tolist():
            visits = self.visits.nodes[self.visits.offsets[walk] : self.visits.offsets[walk + 1]]
            openings = self.gaps[self.gaps[:, 0] == walk, 1:3]
            found = _find_loops(self.graph, visits, [(s, t) for s, t in openings.tolist()])
            loops += [[self.graph.label(int(visits[step])) for step in loop] for loop in found]
        return loops

    def columns(self) -> dict[str, Any]:
        """Return one row per gap: walk, user, birth, death and persistence in bits, the two links, and a loop."""
        walk = self.gaps[:, 0]
        labels = [self.graph.label(int(v)) for v in self.visits.nodes]
        first = self.visits.offsets[walk]

        def name_links(ends: Int32) -> list[Any]:
            return [None if s < 0 else (labels[k + s], labels[k + t]) for k, (s, t) in zip(first, ends, strict=True)]

        people = {name: [values[number] for number in walk] for name, values in self.visits.people.items()}
        found = {
            "birth_bits": self.bits[:, 0],
            "death_bits": self.bits[:, 1],
            "persistence": self.bits[:, 1] - self.bits[:, 0],
            "opened_by": name_links(self.gaps[:, 1:3]),
            "closed_by": name_links(self.gaps[:, 3:5]),
            "loop": self.loops,
        }
        return {"walk": walk, **join_columns(people, found)}

    def per_walk(self) -> pd.DataFrame:
        """Return one row per walk as a pandas frame: numbers of nodes, edges, gaps and open gaps, and persistence.

        `total_persistence` and `max_persistence` are the sum and the largest persistence of the closed gaps, in bits.
        """
        import pandas as pd

        walk, is_open = self.gaps[:, 0], self.gaps[:, 3] < 0
        persistence = np.where(is_open, 0.0, self.bits[:, 1] - self.bits[:, 0])
        largest = np.zeros(len(self.edges))
        np.maximum.at(largest, walk, persistence)
        counts = {
            "nodes": np.diff(self.visits.offsets),
            "edges": self.edges,
            "gaps": np.bincount(walk, minlength=len(self.edges)),
            "open": np.bincount(walk[is_open], minlength=len(self.edges)),
            "total_persistence": np.bincount(walk, persistence, len(self.edges)).astype(float),
            "max_persistence": largest,
        }
        return pd.DataFrame(join_columns(self.visits.people, counts))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot a bar for each gap of one walk; for several walks, a persistence diagram of all gaps."""
        from curiograph.plotting import plot_barcode, plot_persistence_diagram

        if len(self.edges) > 1:
            return plot_persistence_diagram(self.bits[:, 0], self.bits[:, 1], ax)
        return plot_barcode(self.bits[:, 0], self.bits[:, 1], ["-".join(map(str, loop)) for loop in self.loops], ax)

    def __repr__(self) -> str:
        still_open = int(np.count_nonzero(self.gaps[:, 3] < 0))
        return f"Persistence({len(self.edges):,} walks, {len(self.gaps):,} gaps, {still_open:,} of them open)"


def measure_persistence(graph: Graph, walk: Any) -> Persistence:
    """Measure over which range of similarity the gaps of the visited subgraph persist, in bits.

    The edges of the visited subgraph enter in order of decreasing similarity s, at -log2(s) bits, and with every edge
    all cliques that it completes. A gap (a class of H_1 over GF(2) of this filtered clique complex) opens when
    an edge completes a loop and closes when the loop is filled by triangles.

    Parameters
    ----------
    graph : Graph
        A graph with similarities above 0 and up to 1 as weights, see `Similarity.weigh`. Edges of weight 0 never
        enter. The direction of edges is ignored; of the weights of both directions, the larger one counts.
    walk : sequence of labels, Walk, list of these, or Trajectories
        Walks as for `measure`. The order of visits does not matter, except for the order of edges of equal weight.

    Returns
    -------
    Persistence
        A table with one row per gap; `per_walk` has totals.

    Examples
    --------
    >>> from curiograph.graph.similarity import Similarity
    >>> from curiograph.graph.toys import cycle
    >>> texts = ["red apple", "green apple", "green pear", "red pear"]
    >>> g = Similarity.from_texts(cycle(4), texts).weigh(cycle(4))
    >>> measure_persistence(g, [0, 1, 2, 3])
    Persistence(1 walks, 1 gaps, 1 of them open)
    """
    weights = as_graph(graph).weights
    if weights is None:
        raise GraphError("the graph has no weights; weigh it first, as in Similarity.from_texts(graph).weigh(graph).")
    largest = float(weights.max(initial=0.0))
    if largest > 1:
        raise GraphError(f"the largest weight is {largest:g}; similarities are at most 1, so divide by the largest.")
    visits = read_walks(graph, [walk] if not is_recorded(walk) and is_single(graph, walk) else walk)
    csr = graph.skeleton
    gaps, ends, edges = kernels.weighted.compute_persistence(
        csr.indptr, csr.indices, graph.skeleton_weights, freeze_array(visits.nodes), freeze_array(visits.offsets)
    )
    with np.errstate(divide="ignore"):
        return Persistence(graph, visits, edges, gaps, -np.log2(ends) + 0.0)  # no negative zero


def _find_loops(graph: Graph, visits: Int32, openings: list[tuple[int, int]]) -> list[list[int]]:
    """Return, for the steps of each link that opens a gap, a shortest loop of steps through links that entered before.

    Links enter by decreasing weight, equal ones by the later and then by the earlier step.
    """
    csr = graph.skeleton
    weights = kernels.weighted.build_weights(csr.indptr, csr.indices, graph.skeleton_weights, freeze_array(visits))
    earlier, later = np.nonzero(np.triu(weights))
    order = np.lexsort((earlier, later, -weights[earlier, later]))
    number = {pair: rank for rank, pair in enumerate(zip(earlier[order].tolist(), later[order].tolist(), strict=True))}
    neighbors: list[list[int]] = [[] for _ in visits]
    for s, t in sorted(number):
        neighbors[s].append(t)
        neighbors[t].append(s)
    loops = []
    for start, end in openings:
        path = {end: end}  # from each reached step to the one before it
        queue = [end]
        for node in queue:
            for near in neighbors[node]:
                if near not in path and number[min(node, near), max(node, near)] < number[start, end]:
                    path[near] = node
                    queue.append(near)
        loop = [start]
        while loop[-1] != end:
            loop.append(path[loop[-1]])
        loops.append([start, *reversed(loop[1:])])
    return loops
