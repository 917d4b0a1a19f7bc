"""`ChoiceSet`: the moments at which people went on, with all that they had visited and could visit next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from curiograph import kernels
from curiograph.arrays import Int64
from curiograph.errors import SettingError, UnknownNodeError
from curiograph.exploration.mdp import Candidates, Exploration, Streams
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph, as_graph, require_edges
from curiograph.human.choices.windows import Windows
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value
from curiograph.rewards.registry import RewardLike, as_reward
from curiograph.validation import check_integer

DEFAULT_MEMORY = 50
"""Of the nodes visited most recently, so many count as visited."""
_AT_ONCE = 2**14  # visited nodes of all walks that are explored together: bounds the memory, does not change the scores


@dataclass(frozen=True, eq=False)
class ChoiceSet:
    """Choices between two candidates or more, by how much had been visited.

    >>> from curiograph.graph.toys import cycle
    >>> walks = Trajectories.from_walks([[0, 1, 2], [3, 2]], graph=cycle(4))
    >>> found = find_choices(cycle(4), walks, burn_in=1)
    >>> found.candidates.nodes.tolist(), found.windows.nexts.tolist()
    ([1, 3, 0, 2], [1, 2])
    >>> found.left_out
    {'revisit': 0, 'no link': 0, 'only candidate': 1}
    """

    graph: Graph
    windows: Windows
    """Histories hold each node once, by its last visit, with -1 before the first; the shortest come first."""
    left_out: Mapping[str, int]
    """How many choices were no choice of a candidate among several, by reason."""
    streams: Streams
    """A random stream for each, which does not depend on what else is looked at together."""

    def __len__(self) -> int:
        return len(self.windows)

    @cached_property
    def lengths(self) -> Int64:
        """Visited nodes of each history."""
        lengths: Int64 = np.count_nonzero(self.windows.histories >= 0, axis=1)
        return lengths

    @cached_property
    def candidates(self) -> Candidates:
        """The unvisited out-neighbours of the last node."""
        found = [walks.candidates for walks in self.explorations()]
        counts = np.concatenate([np.zeros(1, np.int64), *(some.counts for some in found)])
        return Candidates(np.cumsum(counts), np.concatenate([np.empty(0, np.int32), *(some.nodes for some in found)]))

    @cached_property
    def chosen(self) -> Int64:
        """Where among the candidates stands the one that was chosen."""
        return np.flatnonzero(self.candidates.nodes == self.windows.nexts[self.candidates.walks])

    def explorations(self, reward: RewardLike = "igt") -> Iterator[Exploration]:
        """The histories, in order, as batches of walks of one length that are about to take a step."""
        stack, valued = GraphBatch.of([self.graph]), as_reward(reward)
        width = self.windows.histories.shape[1]
        lengths, firsts = np.unique(self.lengths, return_index=True)
        for length, (first, end) in zip(lengths.tolist(), pairwise([*firsts, len(self)]), strict=True):
            size = max(1, _AT_ONCE // length)
            for a in range(first, end, size):
                b = min(a + size, end)
                nodes = np.full((b - a, length + 1), -1, np.int32)
                nodes[:, :length] = self.windows.histories[a:b, width - length :]
                yield Exploration(
                    stack,
                    valued,
                    length + 1,
                    "frontier",
                    np.zeros(b - a, np.int64),
                    self.streams[a:b],
                    nodes,
                    np.full(b - a, length),
                    np.full((b - a, length), np.nan),
                )

    def rows(self, which: Any) -> ChoiceSet:
        """Some of them, by a mask or a slice."""
        return replace(self, windows=self.windows.rows(which), streams=self.streams[which])


def find_choices(graph: Graph, walks: Trajectories, burn_in: int = 3, memory: int = DEFAULT_MEMORY) -> ChoiceSet:
    """The choices that people made between the unvisited out-neighbours of where they were.

    Parameters
    ----------
    burn_in : distinct nodes visited before the first choice that counts.
    memory : how many of the nodes visited most recently count as visited; older ones are forgotten.
    """
    burn_in = check_integer("burn_in", burn_in, 1, "give the visits before the first choice that counts, 1 or more")
    memory = check_integer("memory", memory, burn_in, f"remember burn_in = {burn_in} visited nodes or more")
    walks = align_walks(graph, walks)
    histories, nexts, users, revisits = [], [], [], 0
    for number, user in enumerate(walks.users.tolist()):
        recent: list[int] = []
        for node in walks.walk(number).tolist():
            again = node in recent
            if len(recent) >= burn_in:
                revisits += again
                if not again:
                    histories.append(recent.copy())
                    nexts.append(node)
                    users.append(user)
            if again:
                recent.remove(node)
            elif len(recent) == memory:
                recent.pop(0)
            recent.append(node)
    found = _windows(histories, nexts, users)
    linked = found.along_links(graph)
    made = _choices(graph, linked)
    several = made.candidates.counts > 1
    left_out = {
        "revisit": revisits,
        "no link": len(found) - len(linked),
        "only candidate": int(np.count_nonzero(~several)),
    }
    return replace(_choices(graph, linked.rows(several)), left_out=left_out)


def _choices(graph: Graph, windows: Windows) -> ChoiceSet:
    return ChoiceSet(graph, windows, {}, kernels.random.make_streams(np.uint64(0), 0, len(windows)))


def align_walks(graph: Graph, walks: Any) -> Trajectories:
    """The walks by the positions of a graph that has all their nodes.

    >>> align_walks(Graph.from_edges([("a", "b")]), Trajectories.from_walks([["a", "x"]]))
    Traceback (most recent call last):
    curiograph.errors.UnknownNodeError: the walks visit 'x', which the graph lacks; walks.on(graph) leaves ... out.
    """
    require_edges(as_graph(graph))
    if not isinstance(walks, Trajectories):
        raise SettingError(
            f"the walks are {quote_value(walks)}; give Trajectories, as from Trajectories.from_walks(lists)."
        )
    if walks.names is graph.names:
        return walks
    for node in np.unique(walks.nodes).tolist():
        if walks.names[node] not in graph:
            raise UnknownNodeError(
                f"the walks visit {walks.names[node]!r}, which the graph lacks; walks.on(graph) leaves such visits out."
            )
    return walks.on(graph)


def _windows(histories: list[list[int]], nexts: list[int], users: list[int]) -> Windows:
    """Histories of any length, the shortest first, as rows that end alike."""
    lengths = np.asarray([len(history) for history in histories], np.int64)
    order = np.argsort(lengths, kind="stable")
    width = int(lengths.max(initial=1))
    table = np.full((len(histories), width), -1, np.int32)
    for row, number in enumerate(order.tolist()):
        table[row, width - lengths[number] :] = histories[number]
    return Windows(table, np.asarray(nexts, np.int32)[order], np.asarray(users, np.int64)[order])
