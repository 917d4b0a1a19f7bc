"""Choice sets: observed choices together with the candidates of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Float64, Int64
from curiograph.errors import UnknownNodeError
from curiograph.exploration.mdp import Candidates, Exploration, Streams
from curiograph.graph.batch import GraphBatch
from curiograph.graph.csr import concatenate_ranges
from curiograph.graph.graph import Graph, as_graph, require_edges
from curiograph.human.choices.metrics import ChoiceRanks, find_chosen
from curiograph.human.choices.windows import Windows
from curiograph.human.trajectories import Trajectories, as_trajectories
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
    crossings: Int64 | None = None
    """If candidates include visited nodes: how often the user crossed the edge to each candidate before, in either
    direction; otherwise None."""

    @property
    def returns(self) -> bool:
        """Whether candidates include visited nodes."""
        return self.crossings is not None

    @cached_property
    def is_visited(self) -> NDArray[np.bool_]:
        """Whether each candidate is in the history of its choice."""
        histories, nodes = self.windows.histories, self.candidates.nodes
        visited = np.zeros(len(nodes), bool)
        for column in histories.T:
            visited |= column[self.candidates.walks] == nodes
        return visited

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
            crossings=None if self.crossings is None else self.crossings[concatenate_ranges(offsets, counts)],
        )

    @cached_property
    def chosen(self) -> Int64:
        """Index of each chosen node in `candidates.nodes`."""
        return find_chosen(self.candidates, self.windows.nexts)

    def rank(self, scores: Float64) -> ChoiceRanks:
        """Rank the chosen nodes by the scores of all candidates."""
        return ChoiceRanks.from_scores(scores, self.candidates, self.chosen)

    def iterate_explorations(self, reward: RewardLike = "igt", with_visited: bool = False) -> Iterator[Exploration]:
        """Yield the histories in order, as batches of walks of equal length, each with one step left to choose.

        If candidates include visited nodes, they are left out of `Exploration.candidates` unless `with_visited`.
        """
        stack, resolved_reward = GraphBatch.of([self.graph]), as_reward(reward)
        histories = self.windows.histories
        lengths, run_starts = np.unique(np.count_nonzero(histories >= 0, axis=1), return_index=True)
        for length, (run_start, run_stop) in zip(lengths.tolist(), pairwise([*run_starts, len(self)]), strict=True):
            size = max(1, _BATCH_NODES // length)
            for start in range(run_start, run_stop, size):
                stop = min(start + size, run_stop)
                nodes = np.full((stop - start, length + 1), -1, np.int32)
                nodes[:, :length] = histories[start:stop, histories.shape[1] - length :]
                exploration = Exploration(
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
                if self.returns:
                    own = slice(self.candidates.offsets[start], self.candidates.offsets[stop])
                    kept = np.full(own.stop - own.start, True) if with_visited else ~self.is_visited[own]
                    counts = np.bincount(self.candidates.walks[own][kept] - start, minlength=stop - start)
                    vars(exploration)["candidates"] = Candidates(  # in place of its own, which are unvisited
                        offsets=np.concatenate([[0], np.cumsum(counts)]), nodes=self.candidates.nodes[own][kept]
                    )
                yield exploration


class _Visit(NamedTuple):
    """A visit of a node that is not in the memory."""

    history: list[int]
    """Positions of the nodes in the memory, ordered by last visit."""
    node: int
    """Position of the visited node."""
    user: int
    """Number of the user."""
    position: int
    """Index of the visit in the nodes of all walks."""


def find_choices(
    graph: Graph, walks: Trajectories, burn_in: int = 3, memory: int = DEFAULT_MEMORY, returns: bool = False
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
    returns : bool
        Count returns as choices: the candidates are all out-neighbors of the last node, visited or not, and the node
        before it, to which one can go back without a link.

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
        for position, node in enumerate(walks.walk(number).tolist(), start=int(walks.offsets[number])):
            if len(recent) >= burn_in:
                if node in recent and not returns:
                    revisits += 1
                else:
                    found.append(_Visit(history=list(recent), node=node, user=user, position=position))
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
    if returns:
        return _find_returns(graph, walks, windows, np.array([visit.position for visit in found], np.int64))
    linked = windows.along_links(graph)
    has_alternatives = ChoiceSet.from_windows(graph, linked).candidates.counts > 1
    left_out = {
        "revisit": revisits,
        "no link": len(windows) - len(linked),
        "only candidate": int(np.count_nonzero(~has_alternatives)),
    }
    return ChoiceSet.from_windows(graph, linked.rows(has_alternatives)), left_out


def _find_returns(
    graph: Graph, walks: Trajectories, windows: Windows, positions: Int64
) -> tuple[ChoiceSet, dict[str, int]]:
    """Select choices whose candidates include visited nodes; see `find_choices`."""
    last = windows.histories[:, -1]
    degrees = graph.degrees[last]
    rows, nodes = (
        np.repeat(np.arange(len(last)), degrees),
        graph.indices[concatenate_ranges(graph.indptr[last], degrees)],
    )
    if windows.histories.shape[1] > 1:
        before = windows.histories[:, -2]
        known = np.flatnonzero(before >= 0)
        rows, nodes = np.concatenate([rows, known]), np.concatenate([nodes, before[known]])
    pairs = np.unique(rows * graph.num_nodes + nodes)
    rows, nodes = pairs // graph.num_nodes, (pairs % graph.num_nodes).astype(np.int32)
    linked = np.zeros(len(windows), bool)
    linked[rows[nodes == windows.nexts[rows]]] = True
    counts = np.bincount(rows, minlength=len(windows))
    kept = linked & (counts > 1)
    is_kept = kept[rows]
    offsets = np.concatenate([[0], np.cumsum(counts[kept])])
    sources, users = last[rows[is_kept]], windows.users[rows[is_kept]]
    choices = ChoiceSet(
        graph=graph,
        windows=windows.rows(kept),
        candidates=Candidates(offsets=offsets, nodes=nodes[is_kept]),
        streams=kernels.random.make_streams(np.uint64(0), 0, int(kept.sum())),
        crossings=count_crossings(walks, sources, nodes[is_kept], users, positions[rows[is_kept]]),
    )
    left_out = {
        "revisit": 0,
        "no link": int(np.count_nonzero(~linked)),
        "only candidate": int(np.count_nonzero(linked & (counts <= 1))),
    }
    return choices, left_out


def count_crossings(
    walks: Trajectories, sources: NDArray[Any], targets: NDArray[Any], users: Int64, positions: Int64
) -> Int64:
    """Count how often a user went from one node to another, or back, before a position in the nodes of all walks.

    >>> walks = Trajectories.from_walks([["a", "b", "a", "c"], ["a", "b"]], users=["ann", "ann"])
    >>> count_crossings(walks, np.array([1, 0]), np.array([0, 1]), np.array([0, 0]), np.array([2, 5])).tolist()
    [1, 2]
    """
    size = len(walks.names)

    def make_edges(begins: NDArray[Any], ends: NDArray[Any]) -> NDArray[np.int64]:
        return np.asarray(np.minimum(begins, ends).astype(np.int64) * size + np.maximum(begins, ends))

    is_step = np.ones(len(walks.nodes), bool)
    is_step[walks.offsets[:-1][walks.lengths > 0]] = False
    steps = np.flatnonzero(is_step)
    if len(steps) == 0:
        return np.zeros(len(sources), np.int64)
    step_users = np.repeat(walks.users, walks.lengths)[steps]
    edges, edge_of = np.unique(make_edges(walks.nodes[steps - 1], walks.nodes[steps]), return_inverse=True)
    pairs, pair_of = np.unique(step_users * len(edges) + edge_of, return_inverse=True)
    times = np.sort(pair_of * len(walks.nodes) + steps)
    asked = make_edges(sources, targets)
    edge_index = np.minimum(np.searchsorted(edges, asked), len(edges) - 1)
    asked_pairs = users * len(edges) + edge_index
    pair_index = np.minimum(np.searchsorted(pairs, asked_pairs), len(pairs) - 1)
    known = (edges[edge_index] == asked) & (pairs[pair_index] == asked_pairs)
    first = np.searchsorted(times, pair_index * len(walks.nodes))
    before = np.searchsorted(times, pair_index * len(walks.nodes) + positions)
    return np.where(known, before - first, 0)


def align_walks(graph: Graph, walks: Any) -> Trajectories:
    """Return the walks of Trajectories or a Dataset as positions on `graph`, sorted by user.

    Raise UnknownNodeError if the graph lacks a visited node.
    """
    require_edges(as_graph(graph))
    people = as_trajectories(walks)
    if people.names is graph.names:
        return people
    try:
        return people.on(graph, strict=True)
    except UnknownNodeError as error:
        raise UnknownNodeError(f"{error} Use walks.on(graph) to drop visits of nodes that are not in it.") from None
