"""The gaps of a whole graph: shortest loops that no triangles fill, and what would close them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.graph.csr import freeze_array
from curiograph.graph.graph import Graph, as_graph, require_nodes
from curiograph.graph.labels import LabelReader
from curiograph.graph.similarity import Similarity
from curiograph.results import Table
from curiograph.validation import check_integer

_MAX_WORK = 4 * 10**8  # steps of searches and eliminations, a few times 10 s, after which no longer loops are found
_MAX_LINKS, _MAX_NODES = 10, 3  # that are listed for each gap
_MANY_NODES = 1_000  # communities of larger graphs are found in one order of the nodes
_CHUNK = 4_096  # loops whose neighbors are counted together: bounds the memory


@dataclass(frozen=True, eq=False, repr=False)
class Gaps(Table):
    """The gaps of a graph: a table with one row per gap, the most important first.

    With texts or weights, gaps of larger persistence come first; then those that span more communities, then longer
    ones, then those whose least linked node has more links.

    Examples
    --------
    >>> import curiograph as cg
    >>> found = cg.gaps(cg.toys.grid(2, 3))
    >>> found
    Gaps(2 gaps)
    >>> found.to_frame()[["gap", "weakest"]]
                                     gap           weakest
    0  (0, 1) - (0, 2) - (1, 2) - (1, 1)  ((0, 1), (0, 2))
    1  (0, 0) - (0, 1) - (1, 1) - (1, 0)  ((0, 0), (0, 1))
    """

    graph: Graph
    """The graph."""
    loops: list[Int32]
    """Nodes around each gap as positions of the graph; the last is a neighbor of the first."""
    persistence: Float64 | None
    """Weight or similarity of the weakest link of each gap, minus the similarity at which links between unlinked nodes
    of the loop would fill it (0 without texts). None without texts and weights."""
    communities: Int64
    """Community of every node of the graph, by the method of Louvain."""
    similarity: Similarity | None
    """Similarity of the texts, if there are any."""
    total: int
    """Number of gaps of the graph, beta_1."""
    longer: int
    """Number of gaps with longer loops than `max_length`, which are not in the table."""
    max_length: int | None
    """Length up to which loops were searched; None if all gaps were found."""

    @property
    def exact(self) -> bool:
        """Whether the loops are a whole basis of shortest loops, so that no gap is missing."""
        return self.longer == 0

    def list_facts(self) -> dict[str, Any]:
        return {**super().list_facts(), "exact": self.exact}

    def columns(self) -> dict[str, Any]:
        """Return one row per gap.

        `gap` (its loop as a text), `loop` (labels), `length`, `communities` (the best linked node of each that the loop
        spans), `links` (pairs of nodes across it that are not linked, the most similar first, or those with the highest
        Adamic-Adar index: one closes a gap of length 4, and `length` - 3 that do not cross any gap), `nodes` (linked to
        more than half of the loop; linked to all of it, one closes the gap), `weakest` (the weakest link of the loop)
        and `persistence`.
        """
        return self._columns

    @cached_property
    def _columns(self) -> dict[str, Any]:
        ordered = _SortedGraph(self.graph)
        label = [self.graph.label(int(v)) for v in ordered.order]
        hub_of = ordered.find_hubs(self.communities)
        score = ordered.compare_by(self.similarity)
        strength = score if ordered.weights is None or self.similarity is not None else ordered.get_weights
        rows: list[dict[str, Any]] = [{} for _ in self.loops]
        for numbers, loops in _group_by_length(self.loops, ordered.place):
            length = loops.shape[1]
            chords = np.array([(i, j) for i, j in combinations(range(length), 2) if 1 < j - i < length - 1])
            first, second = loops[:, chords[:, 0]], loops[:, chords[:, 1]]
            scores = score(first.ravel(), second.ravel()).reshape(first.shape)
            best = np.argsort(-scores, axis=1, kind="stable")[:, :_MAX_LINKS]
            weakest = strength(loops.ravel(), np.roll(loops, -1, axis=1).ravel()).reshape(loops.shape).argmin(axis=1)
            closers = ordered.find_closers(loops)
            for k, number in enumerate(numbers.tolist()):
                loop = loops[k].tolist()
                names = [label[v] for v in loop]
                rows[number] = {
                    "gap": " - ".join(name_node(self.graph, node) for node in names),
                    "loop": names,
                    "length": length,
                    "communities": [label[hub] for hub in dict.fromkeys(hub_of[loop].tolist())],
                    "links": [(label[first[k, b]], label[second[k, b]]) for b in best[k]],
                    "nodes": [label[v] for v in closers[k]],
                    "weakest": (names[weakest[k]], names[(weakest[k] + 1) % length]),
                }
        names = ("gap", "loop", "length", "communities", "links", "nodes", "weakest")
        columns: dict[str, Any] = {name: [row[name] for row in rows] for name in names}
        return columns if self.persistence is None else {**columns, "persistence": self.persistence}

    def head(self, count: int) -> Gaps:
        """Return the first gaps of the table."""
        return self._take(np.arange(min(count, len(self.loops))))

    def hide(self, loops: Iterable[Sequence[Hashable]]) -> Gaps:
        """Return the gaps without those around which some loops of labels run, as given or otherwise.

        A gap is hidden if its class depends on theirs. Loops that are not in the graph are ignored.
        """
        hidden = [loop for loop in map(self._find_loop, loops) if loop is not None]
        return self._take(np.flatnonzero(_SortedGraph(self.graph).select([*hidden, *self.loops])[len(hidden) :]))

    def compare(self, earlier: Mapping[str, Any]) -> tuple[Gaps, list[list[Hashable]]]:
        """Return the gaps that opened, and the loops of those that closed, since an earlier result.

        A gap is open as long as its loop is in the graph and cannot be filled, even if another loop shows it now.

        Parameters
        ----------
        earlier : mapping
            The earlier result, as `to_dict` returns it.

        Examples
        --------
        >>> import curiograph as cg
        >>> before, after = cg.toys.cycle(4), cg.Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])
        >>> cg.gaps(after).compare(cg.gaps(before).to_dict())
        (Gaps(0 gaps), [[0, 1, 2, 3]])
        """
        labels = sorted((row["loop"] for row in earlier["rows"]), key=len)
        loops = [self._find_loop(loop) for loop in labels]
        present = [loop for loop in loops if loop is not None]
        kept = _SortedGraph(self.graph).select([*present, *self.loops])
        still_open = iter(kept.tolist())
        closed = [names for names, loop in zip(labels, loops, strict=True) if loop is None or not next(still_open)]
        limit = earlier["max_length"] or max(map(len, self.loops), default=0)
        opened = kept[len(present) :] & np.array([len(loop) <= limit for loop in self.loops], bool)
        return self._take(np.flatnonzero(opened)), closed

    def to_markdown(self, count: int = 10) -> str:
        """Return a report on the first gaps in Markdown, with a question and a Mermaid diagram for each."""
        from curiograph.growth.gap_report import write_report

        return write_report(self, count)

    def _take(self, numbers: NDArray[Any]) -> Gaps:
        persistence = None if self.persistence is None else self.persistence[numbers]
        return replace(self, loops=[self.loops[k] for k in numbers], persistence=persistence)

    def _find_loop(self, labels: Sequence[Any]) -> Int32 | None:
        """Return the positions of a loop of labels, as JSON has them; None if it is not in the graph."""
        reader, rows = LabelReader(self.graph), self.graph.skeleton
        found = [reader.find(tuple(label) if isinstance(label, list) else label) for label in labels]
        loop = np.array([-1 if v is None else v for v in found], np.int32)
        pairs = zip(loop, np.roll(loop, -1), strict=True)
        is_loop = all(u >= 0 and v in rows.indices[rows.indptr[u] : rows.indptr[u + 1]] for u, v in pairs)
        return loop if len(loop) and is_loop else None

    def __repr__(self) -> str:
        longer = "" if self.exact else f", {self.longer:,} longer than {self.max_length}"
        return f"Gaps({len(self.loops):,} gaps{longer})"


def gaps(
    graph: Graph, *, texts: Mapping[Any, str] | Sequence[str] | Similarity | None = None, max_length: int | None = None
) -> Gaps:
    """Find the gaps of a graph: loops that no triangles fill, each as short as possible, and what would close them.

    The loops are a minimal basis of H_1 of the clique complex over GF(2): independent of each other, as many as beta_1,
    and of the smallest total length. The direction of edges is ignored. Results do not depend on the order of nodes and
    edges. A gap is a question, not a forecast: it does not say that a link across it is missing.

    Parameters
    ----------
    graph : Graph
        The graph, such as notes and their links.
    texts : mapping of labels to texts, sequence of texts, or Similarity, optional
        Texts of the nodes, as for `Similarity.from_texts`, or their similarity. Links are then compared by similarity
        instead of their weights or the Adamic-Adar index.
    max_length : int, optional
        Find gaps with loops of at most so many nodes, 4 or more, and count the others. Default: all, or as long as
        can be found within a few times ten seconds in a large graph.

    Returns
    -------
    Gaps
        A table with one row per gap, the most important first; `exact` tells whether it contains all gaps.

    References
    ----------
    T. K. Dey, J. Sun and Y. Wang. Approximating loops in a shortest homology basis from point data. SoCG 2010.

    Examples
    --------
    >>> from curiograph.graph.toys import library
    >>> found = gaps(library())
    >>> found
    Gaps(2 gaps)
    >>> found.columns()["gap"][1], found.columns()["links"][1][0]
    ('biology - chemistry - physics - computing - logic - philosophy', ('physics', 'logic'))
    """
    require_nodes(as_graph(graph))
    if max_length is not None:
        check_integer("max_length", max_length, 4, "a loop that no triangles fill has 4 nodes or more")
    similarity = texts if texts is None or isinstance(texts, Similarity) else Similarity.from_texts(graph, texts)
    if similarity is not None:
        similarity.check_graph(graph)
    ordered = _SortedGraph(graph)
    loops, total, longest = ordered.find_basis(max_length)
    communities = ordered.find_communities()
    persistence = ordered.measure_persistence(loops, similarity)
    order = np.lexsort(
        [
            [-ordered.degrees[loop].min() for loop in loops],
            [-len(loop) for loop in loops],
            [-len(set(communities[loop].tolist())) for loop in loops],
            np.zeros(len(loops)) if persistence is None else -persistence,
        ]
    )
    longer = total - len(loops)
    return Gaps(
        graph=graph,
        loops=[ordered.order[loops[k]] for k in order],
        persistence=None if persistence is None else persistence[order],
        communities=communities[ordered.place],
        similarity=similarity,
        total=total,
        longer=longer,
        max_length=longest if longer else None,
    )


def name_node(graph: Graph, label: Hashable) -> str:
    """Return the name by which a node is shown."""
    return str(label)


class _SortedGraph:
    """The skeleton of a graph with nodes sorted by label, so that nothing depends on the order of rows in a file.

    `order` has the position of each node in the graph, and `place` the inverse.
    """

    def __init__(self, graph: Graph) -> None:
        import scipy.sparse

        names = list(graph.names)
        size, rows = len(names), graph.skeleton
        self.order: Int32 = np.array(
            sorted(range(size), key=lambda v: (str(names[v]), type(names[v]).__name__)), np.int32
        )
        self.place: Int32 = np.argsort(self.order).astype(np.int32)
        # weights of 0 are edges too, so the matrix has numbers of entries
        matrix = scipy.sparse.csr_array((np.arange(1, len(rows.indices) + 1), rows.indices, rows.indptr), (size, size))
        matrix = matrix[self.order][:, self.order]
        matrix.sort_indices()
        self.indptr: Int64 = freeze_array(matrix.indptr.astype(np.int64))
        self.indices: Int32 = freeze_array(matrix.indices.astype(np.int32))
        self.degrees: Int64 = np.diff(self.indptr)
        self.weights = None if graph.weights is None else graph.skeleton_weights[matrix.data - 1]
        best_first = freeze_array(np.argsort(-self.degrees, kind="stable"))
        self.rank = freeze_array(np.argsort(best_first[::-1]))  # of degrees, from the lowest on
        *state, _, self.total = kernels.gap_basis.annotate_edges(self.indptr, self.indices, best_first)
        self._edges, self._columns, self._lists, self._pool, self._filled = state

    def find_basis(self, max_length: int | None) -> tuple[list[Int32], int, int]:
        """Return the loops of a minimal basis, by length and label; how many there are; and the length searched."""
        found: list[Int32] = []
        length, work, most = 3, 0, _MAX_WORK if max_length is None else np.iinfo(np.int64).max
        while len(found) < self.total and length != max_length:
            loops, cost = kernels.gap_basis.find_loops(
                self.indptr, self.indices, self._edges, self._columns, self._lists, self._pool, self.rank,
                length + 1, most - work,
            )  # fmt: skip
            work += cost
            first = loops.argmin(axis=1)[:, None]  # start with the first node by label, then its earlier neighbor
            loops = np.take_along_axis(loops, (first + np.arange(length + 1)) % (length + 1), axis=1)
            turned = loops[:, 1] > loops[:, -1]
            loops[turned, 1:] = loops[turned, :0:-1]
            loops = loops[np.lexsort(loops.T[::-1])]
            kept, cost = self._select(list(loops), most - work)
            work += cost
            if work > most:
                break
            found += list(loops[kept])
            length += 1
        return found, self.total, length

    def select(self, loops: list[Int32]) -> NDArray[np.bool_]:
        """Return which loops of positions of the graph are gaps that do not depend on the loops before."""
        return self._select([self.place[loop] for loop in loops], np.iinfo(np.int64).max)[0]

    def _select(self, loops: list[Int32], most: int) -> tuple[NDArray[np.bool_], int]:
        starts = np.cumsum([0, *map(len, loops)], dtype=np.int64)
        flat = np.concatenate([np.empty(0, np.int32), *loops])
        kept, self._pool, self._filled, work = kernels.gap_basis.select_loops(
            self.indptr, self.indices, self._edges, self._columns, self._lists, self._pool, self._filled, flat, starts,
            most,
        )  # fmt: skip
        return kept, work

    def find_communities(self) -> Int64:
        """Return the community of every node."""
        communities = kernels.communities
        orders = 1 if len(self.order) > _MANY_NODES else communities.ORDERS
        found: Int64 = communities.find_communities(self.indptr, self.indices, orders)[0]
        return found

    def find_hubs(self, communities: Int64) -> Int64:
        """Return the best linked node of the community of every node; `communities` are by position of the graph."""
        member = communities[self.order]
        by_rank = np.argsort(self.rank)
        hubs = np.empty(member.max() + 1, np.int64)
        hubs[member[by_rank]] = by_rank
        return hubs[member]

    def compare_by(self, similarity: Similarity | None) -> Any:
        """Return a function that scores pairs of nodes by similarity, or by the Adamic-Adar index."""
        if similarity is not None:
            return lambda a, b: similarity.compute_pairs(self.order[a], self.order[b])
        shares = 1 / np.sqrt(np.log(np.maximum(self.degrees, 2)))
        rows = self.indptr, self.indices, freeze_array(shares[self.indices])
        return lambda a, b: kernels.dot_products.compute_sparse_dots(*rows, freeze_array(a), freeze_array(b))

    def get_weights(self, first: NDArray[Any], second: NDArray[Any]) -> Float64:
        """Return the weights of edges."""
        size = len(self.order)
        keys = np.repeat(np.arange(size), self.degrees) * size + self.indices
        weights: Any = self.weights
        return weights[np.searchsorted(keys, first.astype(np.int64) * size + second)]

    def measure_persistence(self, loops: list[Int32], similarity: Similarity | None) -> Float64 | None:
        """Return the persistence of every gap, see `Gaps.persistence`."""
        if similarity is None and self.weights is None:
            return None
        found = np.empty(len(loops))
        score = self.get_weights if similarity is None else self.compare_by(similarity)
        for numbers, group in _group_by_length(loops, np.arange(len(self.order), dtype=np.int32)):
            ends = np.roll(group, -1, axis=1)
            found[numbers] = score(group.ravel(), ends.ravel()).reshape(group.shape).min(axis=1)
            if similarity is not None:
                found[numbers] -= _measure_filling(group, score)
        return found

    def find_closers(self, loops: Int32) -> list[list[int]]:
        """Return nodes linked to more than half of each loop (a row), those with most links first."""
        import scipy.sparse

        size, length = len(self.order), loops.shape[1]
        links = scipy.sparse.csr_array((np.ones(len(self.indices), np.int32), self.indices, self.indptr), (size, size))
        found: list[list[int]] = []
        for begin in range(0, len(loops), _CHUNK):
            part = loops[begin : begin + _CHUNK]
            ends = np.arange(0, part.size + 1, length)
            on_loop = scipy.sparse.csr_array((np.full(part.size, -length), part.ravel(), ends), (len(part), size))
            counts = ((on_loop != 0).astype(np.int32) @ links + on_loop).tocoo()
            most = counts.data * 2 > length
            row, node, count = counts.coords[0][most], counts.coords[1][most], counts.data[most]
            order = np.lexsort((node, -count, row))
            bounds = np.searchsorted(row[order], np.arange(len(part) + 1))
            nodes = node[order].tolist()
            found += [nodes[a : min(a + _MAX_NODES, b)] for a, b in pairwise(bounds)]
        return found


def _group_by_length(loops: list[Int32], place: Int32) -> Iterable[tuple[Int64, Int32]]:
    """Yield, for every length, the numbers of the loops of this length, and the places of their nodes as rows."""
    lengths = np.array([len(loop) for loop in loops], np.int64)
    for length in np.unique(lengths):
        numbers = np.flatnonzero(lengths == length)
        yield numbers, place[np.array([loops[k] for k in numbers])]


def _measure_filling(loops: Int32, score: Any) -> Float64:
    """Return the highest similarity at which links between nodes of each loop (a row) divide it into triangles."""
    length = loops.shape[1]
    filled: dict[tuple[int, int], Any] = {(i, i + 1): np.inf for i in range(length - 1)}
    for span in range(2, length):
        for i in range(length - span):
            j = i + span
            inside = np.max([np.minimum(filled[i, k], filled[k, j]) for k in range(i + 1, j)], axis=0)
            chord = np.inf if span == length - 1 else score(loops[:, i], loops[:, j])
            filled[i, j] = np.minimum(inside, chord)
    best: Float64 = filled[0, length - 1]
    return best
