"""igt: information gaps, beta_1 of the clique complex of the visited subgraph, over GF(2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.graph.rows import Float64, Int32, Int64
from curiograph.graph.stack import Stack
from curiograph.rewards.contract import Tracker


class GapTracker(Tracker):
    """Annotated subgraphs of a batch of walks; the arrays are those of `kernels.gaps`.

    >>> from curiograph.graph.toys import cycle
    >>> tracker = GapTracker(Stack.of([cycle(4)]), np.array([[0, 1, 2]]), np.array([3]))
    >>> tracker.candidate_values(np.array([0, 1]), np.array([3], np.int32))
    array([1.])
    """

    def __init__(self, stack: Stack, nodes: Int32, lengths: Int64) -> None:
        super().__init__(stack, nodes, np.zeros(len(lengths), np.int64))
        batch, steps = self.nodes.shape
        size = kernels.csr.map_size(steps)
        self._state: dict[str, Any] = {
            "keys": np.full((batch, size), -1, np.int32),
            "places": np.empty((batch, size), np.int32),
            "head": np.empty((batch, steps), np.int32),
            "succ": np.empty((batch, 8), np.int32),
            "to": np.empty((batch, 8), np.int32),
            "marks": np.zeros((batch, 4, 1), np.uint64),
            "part": np.empty((batch, steps), np.int32),
            "born": np.full((batch, 64), -1, np.int64),
            "counts": np.zeros((batch, 4), np.int64),
        }
        self.closed: list[Int64] = []
        """Gaps closed since the walks last branched, as rows (walk, step opened, step closed)."""
        for t in range(int(max(lengths, default=0))):
            self.advance(np.where(t < lengths, self.nodes[:, t], -1).astype(np.int32))

    def values(self) -> Float64:
        return self._count(kernels.gaps.GAPS).astype(np.float64)

    def parts(self) -> Int64:
        """beta_0: the number of components of every walk's subgraph."""
        return self._count(kernels.gaps.PARTS).copy()

    def edges(self) -> Int64:
        """Number of edges of every walk's subgraph."""
        return self._count(kernels.gaps.EDGES).copy()

    def open_gaps(self) -> Int64:
        """Gaps still open, as rows (walk, step opened)."""
        born = self._state["born"]
        walks, bits = np.nonzero(born >= 0)
        return np.column_stack([walks, born[walks, bits]])

    def candidate_values(self, offsets: Int64, candidates: Int32) -> Float64:
        state = {name: array for name, array in self._state.items() if name != "born"}
        values: Float64 = kernels.gaps.candidate_gaps(*self._rows(), *state.values(), offsets, candidates)
        return values

    def _gather(self, parents: Int64) -> None:
        super()._gather(parents)
        self.closed.clear()  # its walk numbers would no longer hold
        self._state = {name: array[parents] for name, array in self._state.items()}

    def _grow(self, new: Int32) -> None:
        self._make_room(new)
        closed = kernels.gaps.grow(*self._rows(), *self._state.values(), new)
        if len(closed):
            self.closed.append(closed)

    def _rows(self) -> tuple[Int64, Int32, Int32]:
        return self.stack.skeleton.indptr, self.stack.skeleton.indices, self.nodes

    def _count(self, what: int) -> Int64:
        counts: Int64 = self._state["counts"][:, what]
        return counts

    def _make_room(self, new: Int32) -> None:
        """Widen what may overflow when `new` is added: edges, and bits for gaps."""
        state = self._state
        links = kernels.gaps.link_sizes(*self._rows(), state["keys"], state["places"], state["counts"], new)
        edges = int((self._count(kernels.gaps.EDGES) + links).max(initial=0))
        gaps = int((self._count(kernels.gaps.GAPS) + links).max(initial=0))
        if edges > state["marks"].shape[1]:
            state["succ"] = _widened(state["succ"], 1, 3 * edges, -1)
            state["to"] = _widened(state["to"], 1, 3 * edges, -1)
            state["marks"] = _widened(state["marks"], 1, 3 * edges // 2, 0)
        if gaps > 64 * state["marks"].shape[2]:
            words = -(-gaps // 64) + state["marks"].shape[2] // 2
            state["marks"] = _widened(state["marks"], 2, words, 0)
            state["born"] = _widened(state["born"], 1, 64 * words, -1)


def _widened(array: NDArray[Any], axis: int, size: int, fill: int) -> NDArray[Any]:
    """A copy of `array` with `size` places along `axis`, the new ones holding `fill`."""
    shape = list(array.shape)
    shape[axis] = size
    wide = np.full(shape, fill, array.dtype)
    wide[tuple(slice(0, n) for n in array.shape)] = array
    return wide


@dataclass(frozen=True)
class InformationGaps:
    """The igt reward."""

    name: str = "igt"

    def track(self, stack: Stack, nodes: Int32, lengths: Int64) -> GapTracker:
        return GapTracker(stack, nodes, lengths)
