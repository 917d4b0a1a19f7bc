"""Windows: observed choices, each a history of visited nodes and the node chosen next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from curiograph.arrays import Int32, Int64
from curiograph.graph.graph import Graph
from curiograph.validation import check_integer, check_seed


@dataclass(frozen=True, eq=False)
class Windows:
    """Observed choices as arrays, one row per choice.

    Parameters
    ----------
    histories : array of shape (choices, nodes)
        Positions of the distinct nodes visited before the choice, in order of visit. Rows of shorter histories are
        padded with -1 at the beginning.
    nexts : array of shape (choices,)
        Position of the node visited next.
    users : array of shape (choices,)
        Number of the user who made the choice.
    visits : array of shape (choices,), optional
        Index of the chosen node in the nodes of all walks.

    Examples
    --------
    >>> from curiograph.human.trajectories import Trajectories
    >>> windows = Trajectories.from_walks([["a", "b", "c", "d"]]).windows(2)
    >>> windows.histories.tolist(), windows.nexts.tolist()
    ([[0, 1], [1, 2]], [2, 3])
    """

    histories: Int32
    nexts: Int32
    users: Int64
    visits: Int64 | None = None

    def __len__(self) -> int:
        return len(self.nexts)

    def rows(self, which: Any) -> Windows:
        """Select choices by index, slice or mask."""
        visits = None if self.visits is None else self.visits[which]
        return Windows(self.histories[which], self.nexts[which], self.users[which], visits)

    def list_histories(self) -> list[Int32]:
        """Return the history of each choice without padding."""
        return [row[row >= 0] for row in self.histories]

    def sample(self, most: int, seed: int = 0) -> Windows:
        """Draw at most `most` choices at random, in their original order."""
        check_integer("most", most, 1, "give the maximum number of windows, 1 or more")
        if len(self) <= most:
            return self
        return self.rows(np.sort(np.random.default_rng(check_seed(seed)).choice(len(self), most, replace=False)))

    def along_links(self, graph: Graph) -> Windows:
        """Select the choices of an out-neighbor of the last visited node."""
        size = graph.num_nodes
        links = np.repeat(np.arange(size, dtype=np.int64), graph.degrees) * size + graph.indices
        return self.rows(np.isin(self.histories[:, -1].astype(np.int64) * size + self.nexts, links))
