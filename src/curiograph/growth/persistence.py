"""Persistence of gaps over similarity: edges of the visited subgraph enter in order of decreasing weight."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import GraphError
from curiograph.graph.csr import freeze_array
from curiograph.graph.graph import Graph, as_graph
from curiograph.growth.measure import read_visits
from curiograph.growth.records import Walkers
from curiograph.growth.tables import list_user_columns
from curiograph.growth.visits import HasRecordedWalks, RecordedWalks
from curiograph.notebook import render_result
from curiograph.optional import import_optional

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class PersistentGap:
    """A gap of the visited subgraph, which opens and closes as less and less similar nodes are linked.

    Examples
    --------
    >>> PersistentGap(birth_bits=1.0, death_bits=3.0, opened_by=("a", "b"), closed_by=("a", "c"), loop=[]).persistence
    2.0
    """

    birth_bits: float
    """Bits, -log2(similarity), of the link that opens the gap."""
    death_bits: float
    """Bits of the link that closes the gap; infinite if it stays open."""
    opened_by: tuple[Hashable, Hashable]
    """Labels of the nodes of the link that opens the gap, in order of visit."""
    closed_by: tuple[Hashable, Hashable] | None
    """Labels of the nodes of the link that closes the gap, in order of visit; None if it stays open."""
    loop: list[Hashable]
    """Labels around the gap as it opens: the fewest links that join the ends of the link that opens it."""

    @property
    def persistence(self) -> float:
        """Bits from opening to closing; infinite if the gap stays open."""
        return self.death_bits - self.birth_bits


@dataclass(frozen=True, eq=False)
class Persistence:
    """Persistence of the gaps of one walk over similarity.

    Examples
    --------
    >>> import curiograph as cg
    >>> g = cg.Graph.from_edges([(0, 1, 1.0), (1, 2, 0.5), (2, 3, 1.0), (3, 0, 1.0), (0, 2, 0.125)])
    >>> found = cg.measure_persistence(g, [0, 1, 2, 3])
    >>> found
    Persistence(4 nodes, 1 gaps, 0 of them open, total persistence 2 bits)
    >>> found.gaps[0].loop, found.gaps[0].birth_bits, found.gaps[0].death_bits
    ([1, 2, 3, 0], 1.0, 3.0)
    """

    nodes: list[Hashable]
    """Labels of the visited nodes, first visits only."""
    edges: int
    """Number of edges of the visited subgraph with a weight above zero."""
    gaps: list[PersistentGap]
    """Gaps in order of opening; those that close at the similarity at which they open are left out."""
    user: Hashable = 0
    """Name of the user who took the walk; the number of the walk if it was given without a user."""
    session: Hashable = 1
    """Name of the session of the user."""

    @property
    def num_open(self) -> int:
        """Number of gaps that stay open."""
        return sum(gap.closed_by is None for gap in self.gaps)

    @property
    def total(self) -> float:
        """Sum of the persistence of the closed gaps, in bits."""
        return sum((gap.persistence for gap in self.gaps if gap.closed_by is not None), 0.0)

    @property
    def largest(self) -> float:
        """Largest persistence of a closed gap, in bits; 0 if there is none."""
        return max((gap.persistence for gap in self.gaps if gap.closed_by is not None), default=0.0)

    def columns(self) -> dict[str, list[Any]]:
        """Return one list per column, with one entry per gap."""
        gaps = self.gaps
        return {
            "user": [self.user] * len(gaps),
            "session": [self.session] * len(gaps),
            "birth_bits": [gap.birth_bits for gap in gaps],
            "death_bits": [gap.death_bits for gap in gaps],
            "persistence": [gap.persistence for gap in gaps],
            "opened_by": [gap.opened_by for gap in gaps],
            "closed_by": [gap.closed_by for gap in gaps],
            "loop": [gap.loop for gap in gaps],
        }

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; infinite bits are None, as JSON has no infinity."""
        gaps = []
        for gap in self.gaps:
            values = asdict(gap) | {"persistence": gap.persistence}
            gaps.append({name: None if value == math.inf else value for name, value in values.items()})
        identity = {"user": self.user, "session": self.session, "nodes": list(self.nodes), "edges": self.edges}
        totals = {"open": self.num_open, "total_persistence": self.total, "max_persistence": self.largest}
        return {**identity, **totals, "gaps": gaps}

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas frame with one row per gap (`pip install curiograph[frame]`)."""
        return import_optional("pandas", "frame", "Frames").DataFrame(self.columns())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot a bar for each gap from its opening to its closing, in bits; on new axes if `ax` is None."""
        from curiograph.plotting import plot_barcode

        names = ["-".join(str(label) for label in gap.loop) for gap in self.gaps]
        return plot_barcode([gap.birth_bits for gap in self.gaps], [gap.death_bits for gap in self.gaps], names, ax)

    def __repr__(self) -> str:
        gaps = f"{len(self.gaps):,} gaps, {self.num_open:,} of them open"
        return f"Persistence({len(self.nodes):,} nodes, {gaps}, total persistence {self.total:.3g} bits)"

    def _repr_html_(self) -> str:
        return render_result(repr(self), self.columns())


class Persistences(Sequence[Persistence]):
    """Persistence of the gaps of several walks; each record is created from flat arrays on access.

    Examples
    --------
    >>> import curiograph as cg
    >>> g = cg.Graph.from_edges([(0, 1, 1.0), (1, 2, 0.5), (2, 3, 1.0), (3, 0, 1.0), (0, 2, 0.125)])
    >>> found = cg.measure_persistence(g, [[0, 1, 2, 3], [0, 1]])
    >>> found.columns()["total_persistence"]
    [2.0, 0.0]
    """

    def __init__(
        self, graph: Graph, nodes: Int32, offsets: Int64, edges: Int64, gaps: Int32, bits: Float64, walkers: Walkers
    ) -> None:
        self.graph = graph
        self.nodes = nodes
        """Positions of the visited nodes of all walks, first visits only."""
        self.offsets = offsets
        """Bounds of the walks in `nodes`."""
        self.edges = edges
        """Number of edges of each visited subgraph with a weight above zero."""
        self.gaps = gaps
        """Gaps as rows: number of the walk, steps of both ends of the link that opens the gap, and steps of both ends
        of the link that closes it, -1 if it stays open; steps are counted from 0."""
        self.bits = bits
        """Birth and death of each gap in bits; the death of a gap that stays open is infinite."""
        self.walkers = walkers
        """Users and sessions of all walks, and what was left out of each."""
        self._gap_offsets = np.searchsorted(gaps[:, 0], np.arange(len(offsets)))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def users(self) -> list[Hashable]:
        """Name of the user of each walk; the number of the walk if it was given without a user."""
        return list(self.walkers.users)

    @property
    def user_columns(self) -> Mapping[str, Mapping[Hashable, Any]]:
        """Values of further columns of a log, such as a group, by the name of the column and then by user."""
        return self.walkers.user_columns

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        walk = range(len(self))[index]
        visits = self.nodes[self.offsets[walk] : self.offsets[walk + 1]]
        labels = [self.graph.label(int(v)) for v in visits]
        some = slice(self._gap_offsets[walk], self._gap_offsets[walk + 1])
        found = []
        openings = [(int(s), int(t)) for _, s, t, _, _ in self.gaps[some]]
        loops = _find_loops(self.graph, visits, openings) if openings else []
        for row, (birth, death), loop in zip(self.gaps[some].tolist(), self.bits[some].tolist(), loops, strict=True):
            _, s, t, closed_s, closed_t = row
            found.append(
                PersistentGap(
                    birth_bits=birth,
                    death_bits=death,
                    opened_by=(labels[s], labels[t]),
                    closed_by=None if closed_s < 0 else (labels[closed_s], labels[closed_t]),
                    loop=[labels[step] for step in loop],
                )
            )
        return Persistence(
            nodes=labels,
            edges=int(self.edges[walk]),
            gaps=found,
            user=self.walkers.users[walk],
            session=self.walkers.sessions[walk],
        )

    def columns(self) -> dict[str, list[Any]]:
        """Return one list per column, with one entry per walk.

        `gaps` counts all gaps and `open` those that stay open. `total_persistence` and `max_persistence` are the sum
        and the largest persistence of the closed gaps, in bits, 0 without any.
        """
        walk_of = self.gaps[:, 0]
        is_open = self.gaps[:, 3] < 0
        persistence = np.where(is_open, 0.0, self.bits[:, 1] - self.bits[:, 0])
        largest = np.zeros(len(self))
        np.maximum.at(largest, walk_of, persistence)
        return {
            "user": self.users,
            "session": list(self.walkers.sessions),
            "nodes": np.diff(self.offsets).tolist(),
            "edges": self.edges.tolist(),
            "gaps": np.bincount(walk_of, minlength=len(self)).tolist(),
            "open": np.bincount(walk_of[is_open], minlength=len(self)).tolist(),
            "total_persistence": np.bincount(walk_of, persistence, minlength=len(self)).astype(float).tolist(),
            "max_persistence": largest.tolist(),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas frame with one row per walk; the columns of `user_columns` follow the user and the session.

        See `columns`. Needs pandas (`pip install curiograph[frame]`).
        """
        pandas = import_optional("pandas", "frame", "Frames")
        columns = self.columns()
        extra = list_user_columns(self, self.users, list(columns))
        identity = {name: columns.pop(name) for name in ("user", "session")}
        return pandas.DataFrame({**identity, **extra, **columns})

    def gaps_frame(self) -> pd.DataFrame:
        """Return a pandas frame with one row per gap: walk, birth, death and persistence in bits."""
        walk_of = self.gaps[:, 0]
        births, deaths = self.bits.T
        return import_optional("pandas", "frame", "Frames").DataFrame(
            {
                "user": [self.walkers.users[walk] for walk in walk_of],
                "session": [self.walkers.sessions[walk] for walk in walk_of],
                "walk": walk_of,
                "birth_bits": births,
                "death_bits": deaths,
                "persistence": deaths - births,
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all records, and what was dropped, as plain values."""
        return {"walks": [found.to_dict() for found in self], "skipped": self.walkers.skipped.to_dict()}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the birth and the death of all gaps as a persistence diagram; on new axes if `ax` is None."""
        from curiograph.plotting import plot_persistence_diagram

        return plot_persistence_diagram(self.bits[:, 0], self.bits[:, 1], ax)

    def __repr__(self) -> str:
        return f"Persistences({len(self):,} walks by {len(set(self.users)):,} users, {len(self.gaps):,} gaps)"

    def _repr_html_(self) -> str:
        return render_result(repr(self), self.columns())


@overload
def measure_persistence(graph: Graph, walk: Sequence[Hashable], *, lenient: bool = ...) -> Persistence: ...
@overload
def measure_persistence(
    graph: Graph, walk: Sequence[list[Hashable]] | RecordedWalks | HasRecordedWalks, *, lenient: bool = ...
) -> Persistences: ...
def measure_persistence(graph: Graph, walk: Any, *, lenient: bool = False) -> Any:
    """Measure over which range of similarity the gaps of the visited subgraph persist, in bits.

    The edges of the visited subgraph enter in order of decreasing similarity s, at -log2(s) bits, and with every edge
    all cliques that it completes. A gap (a class of H_1 over GF(2) of this filtered clique complex) opens when
    an edge completes a loop and closes when the loop is filled by triangles.

    Parameters
    ----------
    graph : Graph
        A graph with similarities above 0 and up to 1 as weights, see `Similarity.weigh`. Edges of weight 0 never
        enter. The direction of edges is ignored; of the weights of both directions, the larger one counts.
    walk : sequence of labels, Walk, list of these, Trajectories or Dataset
        Walks as for `measure`. The order of visits does not matter, except for the order of edges of equal weight.
    lenient : bool
        Drop visits of nodes that are not in the graph, and walks without any other visits, instead of raising
        UnknownNodeError.

    Returns
    -------
    Persistence or Persistences
        Gaps of one walk, or of all walks, with one row per walk in `to_frame`. A gap that is never filled stays open:
        its death and its persistence are infinite.

    Examples
    --------
    >>> from curiograph.graph.similarity import Similarity
    >>> from curiograph.graph.toys import cycle
    >>> texts = ["red apple", "green apple", "green pear", "red pear"]
    >>> g = Similarity.from_texts(cycle(4), texts).weigh(cycle(4))
    >>> measure_persistence(g, [0, 1, 2, 3])
    Persistence(4 nodes, 1 gaps, 1 of them open, total persistence 0 bits)
    """
    as_graph(graph)
    if graph.weights is None:
        raise GraphError(
            "the graph has no weights; weigh it by similarity first, as in Similarity.from_texts(graph).weigh(graph) "
            "(--texts FILE on the command line)."
        )
    largest = float(graph.weights.max(initial=0.0))
    if largest > 1:
        raise GraphError(
            f"the largest weight is {largest:g}; similarities are at most 1, so divide the weights by the largest one."
        )
    visits, walkers, is_single = read_visits(graph, walk, lenient)
    csr = graph.skeleton
    gaps, weights, edges = kernels.weighted.compute_persistence(
        csr.indptr, csr.indices, graph.skeleton_weights, freeze_array(visits.nodes), freeze_array(visits.offsets)
    )
    with np.errstate(divide="ignore"):
        bits = -np.log2(weights) + 0.0  # no negative zero
    found = Persistences(graph, visits.nodes, visits.offsets, edges, gaps, bits, walkers)
    return found[0] if is_single else found


def _find_loops(graph: Graph, visits: Int32, openings: Sequence[tuple[int, int]]) -> list[list[int]]:
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
    for opening in openings:
        parents = {opening[1]: opening[1]}
        queue = [opening[1]]
        for node in queue:
            for near in neighbors[node]:
                pair = (min(node, near), max(node, near))
                if near not in parents and number[pair] < number[opening]:
                    parents[near] = node
                    queue.append(near)
            if opening[0] in parents:
                break
        loop = [opening[0]]
        while loop[-1] != opening[1]:
            loop.append(parents[loop[-1]])
        loops.append([opening[0], *reversed(loop[1:])])
    return loops
