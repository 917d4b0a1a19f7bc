"""The gaps of a whole graph: shortest loops that no triangles fill, and what would close them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.graph.csr import freeze_array
from curiograph.graph.graph import Graph, as_graph, require_nodes
from curiograph.graph.labels import LabelReader, name_nodes
from curiograph.graph.similarity import Similarity
from curiograph.results import Table
from curiograph.validation import check_integer

_MAX_WORK = 5 * 10**8  # steps of searches and eliminations, a few times 10 s, after which no longer loops are found
_MAX_LINKS, _MAX_NODES = 10, 3  # that are listed for each gap
_MANY_NODES = 1_000  # communities of larger graphs are found in one order of the nodes
_NO_LIMIT = np.iinfo(np.int64).max
Compare = Callable[[Int32, Int32], Float64]
"""Scores of pairs of nodes, given as two arrays of one shape."""


@dataclass(frozen=True, eq=False, repr=False)
class Gaps(Table):
    """The gaps of a graph: a table with one row per gap, the most important first.

    With texts or weights, gaps of larger persistence come first; then those that span more communities, then longer
    ones, then those of nodes with fewer links. In this order, gaps that share no node with one above come first, then
    those that share each node with at most one above, and so on, so that the first are not all around one hub.

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
    """Number of gaps that are not in the table, because their loops are longer than `max_length`."""
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
        Adamic-Adar index of neighbors outside the loop, then those on opposite sides: one closes a gap of length 4, and
        `length` - 3 that do not cross any gap), `nodes` (linked to more than half of the loop; linked to all of it, one
        closes the gap), `weakest` (the weakest link of the loop) and `persistence`.
        """
        return self._columns

    @cached_property
    def _columns(self) -> dict[str, Any]:
        ordered = SortedGraph(self.graph)
        label = [self.graph.label(int(v)) for v in ordered.order]
        shown = name_nodes(self.graph.names)
        best_last, member = np.argsort(ordered.rank), self.communities[ordered.order]
        hubs = dict(zip(member[best_last].tolist(), best_last.tolist(), strict=True))
        score, strength = ordered.compare_by(self.similarity), ordered.compare_by(self.similarity, weights=True)
        rows: list[tuple[Any, ...]] = [()] * len(self.loops)
        for numbers, loops in _group_by_length([ordered.place[loop] for loop in self.loops]):
            length = loops.shape[1]
            chords = np.array([(i, j) for i, j in combinations(range(length), 2) if 1 < j - i < length - 1])
            first, second = loops[:, chords[:, 0]], loops[:, chords[:, 1]]
            apart = np.minimum(chords[:, 1] - chords[:, 0], length - chords[:, 1] + chords[:, 0])
            scores = score(first, second)
            if self.similarity is None:  # nodes of the loop itself say nothing
                scores -= ordered.sum_shares_between(loops, chords)
            best = np.lexsort((np.broadcast_to(-apart, scores.shape), -scores.round(9)), axis=1)[:, :_MAX_LINKS]
            weakest = strength(loops, np.roll(loops, -1, axis=1)).argmin(axis=1).tolist()
            for k, number in enumerate(numbers.tolist()):
                names = [label[v] for v in loops[k]]
                rows[number] = (
                    " - ".join(shown[int(ordered.order[v])] for v in loops[k]),
                    names,
                    length,
                    [label[hubs[c]] for c in dict.fromkeys(member[loops[k]].tolist())],
                    [(label[u], label[v]) for u, v in zip(first[k, best[k]], second[k, best[k]], strict=True)],
                    [label[v] for v in ordered.find_closers(loops[k])],
                    (names[weakest[k]], names[(weakest[k] + 1) % length]),
                )
        names = ["gap", "loop", "length", "communities", "links", "nodes", "weakest"]
        columns = {name: [row[k] for row in rows] for k, name in enumerate(names)}
        return columns if self.persistence is None else {**columns, "persistence": self.persistence}

    def head(self, count: int) -> Gaps:
        """Return the first gaps of the table."""
        return self._take(np.arange(min(count, len(self.loops))))

    def hide(self, loops: Iterable[Sequence[Hashable]]) -> Gaps:
        """Return the gaps without those around which some loops of labels run, as given or otherwise.

        A gap is hidden if its class depends on theirs. Loops that are not in the graph are ignored.
        """
        hidden = [loop for loop in self._find_loops(loops) if loop is not None]
        return self._take(np.flatnonzero(self._select_after(hidden)[len(hidden) :]))

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
        loops = list(self._find_loops(labels))
        present = [loop for loop in loops if loop is not None]
        kept = self._select_after(present)
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

    def _select_after(self, loops: list[Int32]) -> NDArray[np.bool_]:
        """Return which loops, and then which gaps, do not depend on those before."""
        ordered = SortedGraph(self.graph)
        return ordered.select([ordered.place[loop] for loop in [*loops, *self.loops]])[0]

    def _find_loops(self, loops: Iterable[Sequence[Any]]) -> Iterator[Int32 | None]:
        """Yield the positions of loops of labels, as JSON has them; None for one that is not in the graph."""
        reader, rows = LabelReader(self.graph), self.graph.skeleton

        def restore(label: Any) -> Any:
            return tuple(map(restore, label)) if isinstance(label, list) else label

        for labels in loops:
            loop = np.array([-1 if v is None else v for v in map(reader.find, map(restore, labels))], np.int32)
            pairs = zip(loop, np.roll(loop, -1), strict=True)
            is_loop = all(u >= 0 and v in rows.indices[rows.indptr[u] : rows.indptr[u + 1]] for u, v in pairs)
            yield loop if len(loop) and is_loop else None

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
        A table with one row per gap, the most important first; `exact` is True if it contains all gaps.

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
    ordered = SortedGraph(graph)
    loops, longest = ordered.find_basis(max_length)
    communities = ordered.find_communities()
    persistence = ordered.measure_persistence(loops, similarity)
    order = np.lexsort(
        [  # the last key counts first
            [ordered.degrees[loop].max() for loop in loops],
            [-len(loop) for loop in loops],
            [-len(set(communities[loop].tolist())) for loop in loops],
            [0] * len(loops) if persistence is None else (-persistence).tolist(),
        ]
    )
    shared, rounds = np.zeros(len(ordered.order), np.int64), []
    for k in order:
        rounds.append(shared[loops[k]].max())
        shared[loops[k]] += 1
    order = order[np.argsort(rounds, kind="stable")]
    longer = ordered.total - len(loops)
    return Gaps(
        graph=graph,
        loops=[ordered.order[loops[k]] for k in order],
        persistence=None if persistence is None else persistence[order],
        communities=communities[ordered.place],
        similarity=similarity,
        total=ordered.total,
        longer=longer,
        max_length=longest if longer else None,
    )


class SortedGraph:
    """The skeleton of a graph with nodes sorted by label, so that nothing depends on the order of rows in a file.

    `order` has the position of each node in the graph, and `place` the inverse.
    """

    def __init__(self, graph: Graph) -> None:
        import scipy.sparse

        self.graph, names = graph, list(graph.names)
        size, rows = len(names), graph.skeleton
        self.order: Int32 = np.array(
            sorted(range(size), key=lambda v: (str(names[v]), type(names[v]).__name__)), np.int32
        )
        self.place: Int32 = np.argsort(self.order).astype(np.int32)
        matrix = scipy.sparse.csr_array((np.ones(len(rows.indices), bool), rows.indices, rows.indptr), (size, size))
        matrix = matrix[self.order][:, self.order]
        matrix.sort_indices()
        self.indptr: Int64 = freeze_array(matrix.indptr.astype(np.int64))
        self.indices: Int32 = freeze_array(matrix.indices.astype(np.int32))
        self.degrees: Int64 = np.diff(self.indptr)
        self._best_first = freeze_array(np.argsort(-self.degrees, kind="stable"))
        self.rank = freeze_array(np.argsort(self._best_first[::-1]))  # of degrees, from the lowest on

    @cached_property
    def _annotation(self) -> tuple[tuple[Any, ...], int]:
        """The classes of the edges, and the number of gaps; `_pool` has what `select` reduces by.

        It is computed when it is needed: the table of gaps and communities need the sorted rows only.
        """
        annotated = kernels.gap_basis.annotate_edges(self.indptr, self.indices, self._best_first)
        *state, self._pool, self._filled, _, total = annotated
        return (self.indptr, self.indices, *state), total

    @property
    def total(self) -> int:
        """Number of gaps, beta_1."""
        return self._annotation[1]

    def find_basis(self, max_length: int | None) -> tuple[list[Int32], int]:
        """Return the loops of a minimal basis, by length, and the length up to which all were found."""
        found: list[Int32] = []
        length, work, most = 4, 0, _MAX_WORK if max_length is None else _NO_LIMIT
        while len(found) < self.total and length - 1 != max_length:
            classes, _ = self._annotation
            loops, cost = kernels.gap_basis.find_loops(*classes, self._pool, self.rank, length, most - work)
            ranks = np.sort(self.rank[loops], axis=1)
            loops = loops[np.lexsort(-ranks.T[::-1])]  # those of the best linked nodes first: these need less work
            first = loops.argmin(axis=1)[:, None]  # start with the first node by label, then its earlier neighbor
            loops = np.take_along_axis(loops, (first + np.arange(length)) % length, axis=1)
            turned = loops[:, 1] > loops[:, -1]
            loops[turned, 1:] = loops[turned, :0:-1]
            kept, more = self.select(list(loops), most - work - cost)
            work += cost + more + 10 * len(self.order)
            if work <= most or not found:
                found += list(loops[kept])
            if work > most:
                break
            length += 1
        return found, length - 1

    def select(self, loops: list[Int32], most: int = _NO_LIMIT) -> tuple[NDArray[np.bool_], int]:
        """Return which loops are gaps that do not depend on loops before, and the work that this took."""
        starts = np.cumsum([0, *map(len, loops)], dtype=np.int64)
        flat = np.concatenate([np.empty(0, np.int32), *loops])
        classes, _ = self._annotation
        kept, self._pool, self._filled, work = kernels.gap_basis.select_loops(
            *classes, self._pool, self._filled, flat, starts, most
        )
        return kept, work

    def find_communities(self) -> Int64:
        """Return the community of every node."""
        orders = 1 if len(self.order) > _MANY_NODES else kernels.communities.ORDERS
        found: Int64 = kernels.communities.find_communities(self.indptr, self.indices, orders)[0]
        return found

    def find_closers(self, loop: Int32) -> Int32:
        """Return nodes linked to more than half of a loop, those with most links first."""
        near = np.sort(np.concatenate([self.indices[self.indptr[v] : self.indptr[v + 1]] for v in loop]))
        half = len(loop) // 2
        often: Int32 = near[half:][near[half:] == near[:-half]]
        if not len(often):
            return often
        nodes, counts = np.unique(often, return_counts=True)
        return nodes[np.argsort(-counts, kind="stable")][:_MAX_NODES]

    def sum_shares_between(self, loops: Int32, chords: Int64) -> Float64:
        """Return the Adamic-Adar index of pairs of nodes of each loop (a row) that counts nodes of the loop only."""
        shares = 1 / np.log(np.maximum(self.degrees, 2))[loops]
        length = loops.shape[1]
        steps = chords[:, 1] - chords[:, 0]
        between = np.where(steps == 2, shares[:, (chords[:, 0] + 1) % length], 0)
        return np.asarray(between + np.where(length - steps == 2, shares[:, (chords[:, 1] + 1) % length], 0))

    def compare_by(self, similarity: Similarity | None, *, weights: bool = False) -> Compare:
        """Return a function that scores pairs of nodes: by similarity, by weights of links, or by Adamic-Adar index."""
        if similarity is not None:
            return lambda a, b: similarity.compute_pairs(*self.order[[a.ravel(), b.ravel()]]).reshape(a.shape)
        if weights and self.graph.weights is not None:
            return lambda a, b: self.graph.find_weights(self.order[a], self.order[b])
        shares = 1 / np.sqrt(np.log(np.maximum(self.degrees, 2)))
        rows = self.indptr, self.indices, freeze_array(shares[self.indices])
        add_shares = kernels.dot_products.compute_sparse_dots
        return lambda a, b: add_shares(*rows, freeze_array(a.ravel()), freeze_array(b.ravel())).reshape(a.shape)

    def measure_persistence(self, loops: list[Int32], similarity: Similarity | None) -> Float64 | None:
        """Return the persistence of every gap, see `Gaps.persistence`."""
        if similarity is None and self.graph.weights is None:
            return None
        found, score = np.empty(len(loops)), self.compare_by(similarity, weights=True)
        for numbers, group in _group_by_length(loops):
            found[numbers] = score(group, np.roll(group, -1, axis=1)).min(axis=1)
            if similarity is not None:
                found[numbers] -= _measure_filling(group, score)
        return found


def _group_by_length(loops: list[Int32]) -> Iterator[tuple[Int64, Int32]]:
    """Yield, for every length, the numbers of the loops of this length, and the loops as rows."""
    lengths = np.array([len(loop) for loop in loops], np.int64)
    for length in np.unique(lengths):
        numbers = np.flatnonzero(lengths == length)
        yield numbers, np.array([loops[k] for k in numbers])


def _measure_filling(loops: Int32, score: Compare) -> Float64:
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
