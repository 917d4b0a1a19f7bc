"""Choice sets: observed choices together with the candidates of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple

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
"""Default number of most recently visited nodes that cannot be chosen again."""
_BATCH_NODES = 2**14  # visited nodes of the walks in one exploration: bounds the memory, does not change the scores

CandidateScope = Literal["last", "all"]
"""Candidate set: the unvisited out-neighbors of the last node, or all unvisited nodes."""


@dataclass(frozen=True, eq=False)
class ChoiceSet:
    """Observed choices on a graph, each with its candidates.

    >>> from curiograph.graph.toys import cycle
    >>> walks = Trajectories.from_walks([[0, 1, 2], [3, 2]], graph=cycle(4))
    >>> choices, left_out = find_choices(cycle(4), walks, burn_in=1)
    >>> choices.candidates.nodes.tolist(), choices.windows.nexts.tolist()
    ([1, 3, 0, 2], [1, 2])
    >>> left_out
    {'revisit': 0, 'no link': 0, 'only candidate': 1}
    """

    graph: Graph
    """Graph on which the choices were made."""
    windows: Windows
    """Histories and chosen nodes, in order of increasing history length, as `iterate_explorations` requires."""
    candidates: Candidates
    """Candidates of each choice, in ascending order."""
    streams: Streams
    """Random stream of each choice, for agents that break ties at random."""

    @classmethod
    def from_windows(cls, graph: Graph, windows: Windows, among: CandidateScope = "last") -> ChoiceSet:
        """Create a choice set by finding the candidates of each choice.

        Parameters
        ----------
        graph : Graph
            Graph on which the choices were made.
        windows : Windows
            Histories and chosen nodes.
        among : {"last", "all"}
            Candidates: the unvisited out-neighbors of the last node, or all unvisited nodes.

        Returns
        -------
        ChoiceSet
            The choices with their candidates.
        """
        candidates = Candidates(offsets=np.zeros(1, np.int64), nodes=np.empty(0, np.int32))
        if len(windows):
            candidates = find_candidates(graph, windows.list_histories(), among)
        streams = kernels.random.make_streams(np.uint64(0), 0, len(windows))
        return cls(graph=graph, windows=windows, candidates=candidates, streams=streams)

    def __len__(self) -> int:
        return len(self.windows)

    def rows(self, which: Any) -> ChoiceSet:
        """Select choices, with their candidates and random streams.

        Parameters
        ----------
        which : slice or array
            Slice, boolean mask or ascending positions of the choices to select.

        Returns
        -------
        ChoiceSet
            The selected choices on the same graph.
        """
        offsets, counts = self.candidates.offsets[:-1][which], self.candidates.counts[which]
        nodes = self.candidates.nodes[concatenate_ranges(offsets, counts)]
        return ChoiceSet(
            graph=self.graph,
            windows=self.windows.rows(which),
            candidates=Candidates(offsets=np.concatenate([[0], np.cumsum(counts)]), nodes=nodes),
            streams=self.streams[which],
        )

    @cached_property
    def chosen(self) -> Int64:
        """Index of each chosen node in `candidates.nodes`."""
        return find_chosen(self.candidates, self.windows.nexts)

    def rank(self, scores: Float64) -> ChoiceRanks:
        """Rank the chosen nodes by the scores of all candidates."""
        return ChoiceRanks.from_scores(scores, self.candidates, self.chosen)

    def iterate_explorations(self, reward: RewardLike = "igt") -> Iterator[Exploration]:
        """Yield the histories in order, as batches of walks of equal length, each with one step left to choose."""
        stack, resolved_reward = GraphBatch.of([self.graph]), as_reward(reward)
        histories = self.windows.histories
        lengths, run_starts = np.unique(np.count_nonzero(histories >= 0, axis=1), return_index=True)
        for length, (run_start, run_stop) in zip(lengths.tolist(), pairwise([*run_starts, len(self)]), strict=True):
            size = max(1, _BATCH_NODES // length)
            for start in range(run_start, run_stop, size):
                stop = min(start + size, run_stop)
                nodes = np.full((stop - start, length + 1), -1, np.int32)
                nodes[:, :length] = histories[start:stop, histories.shape[1] - length :]
                yield Exploration(
                    stack=stack,
                    reward=resolved_reward,
                    steps=length + 1,
                    fallback="frontier",
                    graph_of=np.zeros(stop - start, np.int64),
                    streams=self.streams[start:stop],
                    nodes=nodes,
                    lengths=np.full(stop - start, length),
                    rewards=np.full((stop - start, length), np.nan),
                )


class _Visit(NamedTuple):
    """A visit of a node that is not in the memory."""

    history: list[int]
    """Positions of the nodes in the memory, ordered by last visit."""
    node: int
    """Position of the visited node."""
    user: int
    """Number of the user."""


def find_choices(
    graph: Graph, walks: Trajectories, burn_in: int = 3, memory: int = DEFAULT_MEMORY
) -> tuple[ChoiceSet, dict[str, int]]:
    """Find the visits where a user chose one of several unvisited out-neighbors.

    Parameters
    ----------
    graph : Graph
        Graph that contains all visited nodes.
    walks : Trajectories
        Walks of the users.
    burn_in : int
        Number of distinct nodes visited before the first choice of a walk.
    memory : int
        Number of most recently visited nodes that cannot be chosen again.

    Returns
    -------
    choices : ChoiceSet
        The choices. Each history contains a node once, at its last visit.
    left_out : dict of str to int
        Number of visits after the burn-in that are not choices, by reason ('revisit', 'no link', 'only candidate').
    """
    burn_in = check_integer(
        "burn_in", burn_in, 1, "give the number of distinct nodes visited before the first choice, 1 or more"
    )
    memory = check_integer("memory", memory, burn_in, f"give a whole number, burn_in = {burn_in} or more")
    walks = align_walks(graph, walks)
    found: list[_Visit] = []
    revisits = 0
    for number, user in enumerate(walks.users.tolist()):
        recent: dict[int, None] = {}  # the nodes of the memory, ordered by last visit
        for node in walks.walk(number).tolist():
            if len(recent) >= burn_in:
                if node in recent:
                    revisits += 1
                else:
                    found.append(_Visit(history=list(recent), node=node, user=user))
            recent.pop(node, None)
            recent[node] = None
            if len(recent) > memory:
                del recent[next(iter(recent))]
    found.sort(key=lambda visit: len(visit.history))
    histories = np.full((len(found), len(found[-1].history) if found else 1), -1, np.int32)
    for row, visit in zip(histories, found, strict=True):
        row[-len(visit.history) :] = visit.history
    windows = Windows(
        histories=histories,
        nexts=np.array([visit.node for visit in found], np.int32),
        users=np.array([visit.user for visit in found], np.int64),
    )
    linked = windows.along_links(graph)
    has_alternatives = ChoiceSet.from_windows(graph, linked).candidates.counts > 1
    left_out = {
        "revisit": revisits,
        "no link": len(windows) - len(linked),
        "only candidate": int(np.count_nonzero(~has_alternatives)),
    }
    return ChoiceSet.from_windows(graph, linked.rows(has_alternatives)), left_out


def align_walks(graph: Graph, walks: Any) -> Trajectories:
    """Express walks as positions on `graph`; raise UnknownNodeError if it lacks a visited node."""
    require_edges(as_graph(graph))
    if not isinstance(walks, Trajectories):
        raise SettingError(
            f"the walks are {quote_value(walks)}; give Trajectories, for example Trajectories.from_walks(lists)."
        )
    if walks.names is graph.names:
        return walks
    try:
        return walks.on(graph, strict=True)
    except UnknownNodeError as error:
        raise UnknownNodeError(f"{error} Use walks.on(graph) to drop visits of nodes that are not in it.") from None
