"""`Windows`: moments of choice, each a short history and the node that came next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Int32, Int64
from curiograph.exploration.mdp import Candidates
from curiograph.graph.csr import concatenate_ranges
from curiograph.graph.graph import Graph
from curiograph.validation import check_integer, check_seed


@dataclass(frozen=True, eq=False)
class Windows:
    """Choices of people.

    >>> from curiograph.human.trajectories import Trajectories
    >>> w = Trajectories.from_walks([["a", "b", "c", "d"]]).windows(2)
    >>> w.histories.tolist(), w.nexts.tolist()
    ([[0, 1], [1, 2]], [2, 3])
    """

    histories: Int32
    """Windows x burn-in: positions, each once, in order of visit."""
    nexts: Int32
    """Where the person went next."""
    users: Int64
    """Who she is."""

    def __len__(self) -> int:
        return len(self.nexts)

    def rows(self, which: Any) -> Windows:
        """Some of them, by number or by a mask."""
        return Windows(self.histories[which], self.nexts[which], self.users[which])

    def drawn(self, most: int, seed: int = 0) -> Windows:
        """At most that many, drawn at random, in their order."""
        check_integer("most", most, 1, "give the most windows to take, 1 or more")
        if len(self) <= most:
            return self
        return self.rows(np.sort(np.random.default_rng(check_seed(seed)).choice(len(self), most, replace=False)))

    def along_links(self, graph: Graph) -> Windows:
        """Those whose choice is an out-neighbour of the last node."""
        return self.rows(_linked(graph, self.histories[:, -1], self.nexts))


def _linked(graph: Graph, sources: Int32, targets: Int32) -> NDArray[np.bool_]:
    """Whether there is an edge from each source to its target."""
    keys = np.repeat(np.arange(graph.num_nodes, dtype=np.int64), graph.degrees) * graph.num_nodes + graph.indices
    keys.sort()
    wanted = sources.astype(np.int64) * graph.num_nodes + targets
    place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    return keys[place] == wanted if len(keys) else np.zeros(len(wanted), bool)


def find_linked_candidates(graph: Graph, windows: Windows) -> Candidates:
    """The out-neighbours of the last node that are not in the history."""
    last = windows.histories[:, -1]
    starts, counts = graph.indptr[last].astype(np.int64), graph.degrees[last]
    nodes, rows = graph.indices[concatenate_ranges(starts, counts)], np.repeat(np.arange(len(windows)), counts)
    kept = ~np.any(windows.histories[rows] == nodes[:, None], axis=1)
    sizes = np.bincount(rows[kept], minlength=len(windows))
    return Candidates(np.concatenate([[0], np.cumsum(sizes)]), nodes[kept].astype(np.int32))


def find_all_candidates(graph: Graph, windows: Windows) -> Candidates:
    """Every node that is not in the history."""
    count, size = len(windows), graph.num_nodes
    kept = np.ones((count, size), bool)
    np.put_along_axis(kept, windows.histories.astype(np.int64), False, axis=1)
    rows, nodes = np.nonzero(kept)
    sizes = np.bincount(rows, minlength=count)
    return Candidates(np.concatenate([[0], np.cumsum(sizes)]), nodes.astype(np.int32))
