"""Choice sets: observed choices together with the candidates of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from curiograph import kernels
from curiograph.arrays import Float64, Int64
from curiograph.errors import SettingError, UnknownNodeError
from curiograph.exploration.mdp import Candidates, Exploration, Streams
from curiograph.graph.batch import GraphBatch
from curiograph.graph.csr import concatenate_ranges
from curiograph.graph.graph import Graph, as_graph, require_edges
from curiograph.human.choices.metrics import ChoiceRanks, find_chosen
from curiograph.human.choices.windows import Windows
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value
from curiograph.recommendation.ranker import find_candidates
from curiograph.rewards.registry import RewardLike, as_reward
from curiograph.validation import check_integer

DEFAULT_MEMORY = 50
"""Number of most recently visited nodes that count as visited."""
_BATCH_NODES = 2**14  # visited nodes of the walks in one exploration: bounds the memory, does not change the scores

Among = Literal["last", "all"]
"""Candidate set: the unvisited out-neighbors of the last node, or all unvisited nodes."""


@dataclass(frozen=True, eq=False)
class ChoiceSet:
    """Choices on a graph, with the candidates among which each was made.

    >>> from curiograph.graph.toys import cycle
    >>> walks = Trajectories.from_walks([[0, 1, 2], [3, 2]], graph=cycle(4))
    >>> choices, left_out = find_choices(cycle(4), walks, burn_in=1)
    >>> choices.candidates.nodes.tolist(), choices.windows.nexts.tolist()
    ([1, 3, 0, 2], [1, 2])
    >>> left_out
    {'revisit': 0, 'no link': 0, 'only candidate': 1}
    """

    graph: Graph
    windows: Windows
    """Histories and chosen nodes, the shortest histories first."""
    candidates: Candidates
    """Candidates of each choice, in ascending order."""
    streams: Streams
    """Random stream of each choice, for agents that break ties at random."""

    @classmethod
    def from_windows(cls, graph: Graph, windows: Windows, among: Among = "last") -> ChoiceSet:
        """Find the candidates: the unvisited out-neighbors of the last node ("last") or all unvisited nodes ("all")."""
        candidates = Candidates(np.zeros(1, np.int64), np.empty(0, np.int32))
        if len(windows):
            candidates = find_candidates(graph, windows.list_histories(), among)
        return cls(graph, windows, candidates, kernels.random.make_streams(np.uint64(0), 0, len(windows)))

    def __len__(self) -> int:
        return len(self.windows)

    def rows(self, which: Any) -> ChoiceSet:
        """Select choices by slice or mask."""
        offsets, counts = self.candidates.offsets[:-1][which], self.candidates.counts[which]
        nodes = self.candidates.nodes[concatenate_ranges(offsets, counts)]
        candidates = Candidates(np.concatenate([[0], np.cumsum(counts)]), nodes)
        return ChoiceSet(self.graph, self.windows.rows(which), candidates, self.streams[which])

    @cached_property
    def chosen(self) -> Int64:
        """Index of each chosen node among all candidates."""
        return find_chosen(self.candidates, self.windows.nexts)

    def rank(self, scores: Float64) -> ChoiceRanks:
        """Rank the chosen nodes by the scores of all candidates."""
        return ChoiceRanks.from_scores(scores, self.candidates, self.chosen)

    def make_explorations(self, reward: RewardLike = "igt") -> Iterator[Exploration]:
        """Yield the histories in order, as batches of walks of equal length that are about to take a step."""
        stack, resolved_reward = GraphBatch.of([self.graph]), as_reward(reward)
        histories = self.windows.histories
        lengths, firsts = np.unique(np.count_nonzero(histories >= 0, axis=1), return_index=True)
        for length, (first, end) in zip(lengths.tolist(), pairwise([*firsts, len(self)]), strict=True):
            size = max(1, _BATCH_NODES // length)
            for a in range(first, end, size):
                b = min(a + size, end)
                nodes = np.full((b - a, length + 1), -1, np.int32)
                nodes[:, :length] = histories[a:b, histories.shape[1] - length :]
                yield Exploration(
                    stack=stack,
                    reward=resolved_reward,
                    steps=length + 1,
                    fallback="frontier",
                    graph_of=np.zeros(b - a, np.int64),
                    streams=self.streams[a:b],
                    nodes=nodes,
                    lengths=np.full(b - a, length),
                    rewards=np.full((b - a, length), np.nan),
                )


def find_choices(
    graph: Graph, walks: Trajectories, burn_in: int = 3, memory: int = DEFAULT_MEMORY
) -> tuple[ChoiceSet, dict[str, int]]:
    """Find all choices of an unvisited out-neighbor of the last node among several candidates.

    Only the `memory` most recent nodes count as visited, and `burn_in` of them come before the first choice. Histories
    hold each node once, at its last visit. Returns the choices, and the number of other visits by reason.
    """
    burn_in = check_integer("burn_in", burn_in, 1, "give the visits before the first choice that counts, 1 or more")
    memory = check_integer("memory", memory, burn_in, f"remember burn_in = {burn_in} visited nodes or more")
    walks = align_walks(graph, walks)
    found: list[tuple[list[int], int, int]] = []
    revisits = 0
    for number, user in enumerate(walks.users.tolist()):
        recent: list[int] = []
        for node in walks.walk(number).tolist():
            revisit = node in recent
            if len(recent) >= burn_in:
                revisits += revisit
                if not revisit:
                    found.append((recent.copy(), node, user))
            if revisit:
                recent.remove(node)
            elif len(recent) == memory:
                recent.pop(0)
            recent.append(node)
    found.sort(key=lambda choice: len(choice[0]))
    histories = np.full((len(found), len(found[-1][0]) if found else 1), -1, np.int32)
    for row, (history, _, _) in zip(histories, found, strict=True):
        row[-len(history) :] = history
    nexts, users = (np.array([choice[field] for choice in found], np.int64) for field in (1, 2))
    windows = Windows(histories, nexts.astype(np.int32), users)
    linked = windows.along_links(graph)
    several = ChoiceSet.from_windows(graph, linked).candidates.counts > 1
    left_out = {
        "revisit": revisits,
        "no link": len(windows) - len(linked),
        "only candidate": int(np.count_nonzero(~several)),
    }
    return ChoiceSet.from_windows(graph, linked.rows(several)), left_out


def align_walks(graph: Graph, walks: Any) -> Trajectories:
    """Convert walks to the positions of a graph that must contain all their nodes."""
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
