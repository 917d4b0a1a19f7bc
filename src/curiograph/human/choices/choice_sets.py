"""Choice sets: observed choices with the candidates of each, and the ranks of the chosen nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import RankerError, UnknownNodeError, WalkError
from curiograph.exploration.mdp import Candidates, Exploration, Streams
from curiograph.graph.batch import GraphBatch
from curiograph.graph.csr import concatenate_ranges
from curiograph.graph.graph import Graph, as_graph, require_edges
from curiograph.graph.labels import ListLabels
from curiograph.human.trajectories import Trajectories, Windows, as_trajectories
from curiograph.recommendation.ranker import find_candidates
from curiograph.rewards.reward_names import RewardLike, as_reward
from curiograph.validation import check_integer

if TYPE_CHECKING:
    from curiograph.human.choices.choice_table import ChoiceTable

DEFAULT_MEMORY = 50
"""Default number of most recently visited nodes that cannot be chosen again."""
_BATCH_NODES = 2**14  # visited nodes of the walks in one exploration: bounds the memory, does not change the scores

CandidateScope = Literal["last", "all"]
"""Candidate set: the unvisited out-neighbors of the last node, or all unvisited nodes."""
MEASURES = ("percentile", "reciprocal", "hit10", "ndcg10")
"""Names of the measures, which are properties of `ChoiceRanks`."""
_CUTOFF = 10
_MIN_P_G = 1e-6  # p_g = 0 would make all candidates but the best impossible
_GRID = np.concatenate([[1.0], 1 - np.geomspace(1e-6, 1 - _MIN_P_G, 40)])  # dense near 1, for many candidates


@dataclass(frozen=True, eq=False)
class ChoiceRanks:
    """Ranks of chosen nodes among their candidates.

    Every measure lies between 0 and 1 (best) and is NaN for a choice with a single candidate. Candidates with equal
    scores are in random order: each measure is its exact mean over all orders.
    """

    above: Int64
    """Number of candidates with a higher score than the chosen one."""
    tied: Int64
    """Number of candidates with the score of the chosen one, itself included."""
    count: Int64
    """Number of candidates."""

    @classmethod
    def from_scores(cls, scores: Float64, candidates: Candidates, chosen: Int64) -> ChoiceRanks:
        """Rank the candidates at the indices `chosen`, one per choice, by the scores of all candidates."""
        if np.shape(scores) != np.shape(candidates.nodes) or np.any(np.isnan(scores)):
            raise RankerError(
                f"the scores have shape {np.shape(scores)} and {int(np.isnan(scores).sum())} of them are NaN; give one "
                f"number for each of the {len(candidates.nodes)} candidates."
            )
        walks, count = candidates.walks, candidates.counts
        reference = scores[chosen][walks]
        above = np.bincount(walks, scores > reference, len(count)).astype(np.int64)
        tied = np.bincount(walks, scores == reference, len(count)).astype(np.int64)
        return cls(above, tied, count)

    def __len__(self) -> int:
        return len(self.count)

    def rows(self, which: Any) -> ChoiceRanks:
        """Select choices by index, slice or mask."""
        return ChoiceRanks(self.above[which], self.tied[which], self.count[which])

    @property
    def mean_rank(self) -> Float64:
        """Number of candidates ranked before the chosen one, averaged over the orders of ties."""
        return np.asarray(self.above + (self.tied - 1) / 2)

    @property
    def percentile(self) -> Float64:
        """Share of the other candidates ranked after the chosen one; a tie counts one half."""
        others = self.count - 1
        percentile: Float64 = np.full(len(self), np.nan)
        np.divide(others - self.mean_rank, others, out=percentile, where=others > 0)
        return percentile

    @property
    def reciprocal(self) -> Float64:
        """Reciprocal rank."""
        return self._average(lambda rank: 1 / rank)

    @property
    def hit10(self) -> Float64:
        """1 if the rank is at most 10, else 0."""
        return self._average(lambda rank: (rank <= _CUTOFF).astype(np.float64))

    @property
    def ndcg10(self) -> Float64:
        """1 / log2(1 + rank) if the rank is at most 10, else 0."""
        return self._average(lambda rank: (rank <= _CUTOFF).astype(np.float64) / np.log2(1 + rank))

    def _average(self, gain: Callable[[Float64], Float64]) -> Float64:
        """Average a function of the rank over all ranks that the chosen candidate may have."""
        gains = gain(np.arange(1.0, self.count.max(initial=0) + 1))
        total = np.concatenate([[0.0], np.cumsum(gains)])
        return np.where(self.count > 1, (total[self.above + self.tied] - total[self.above]) / self.tied, np.nan)

    def mean(self) -> dict[str, float]:
        """Average each measure over the choices with two candidates or more."""
        if not np.any(self.count > 1):
            raise WalkError(
                f"there are {len(self)} choices, none with 2 candidates or more; give choices with several candidates."
            )
        return {measure: float(np.nanmean(getattr(self, measure))) for measure in MEASURES}

    def log_likelihood(self, p_g: float) -> Float64:
        """Return the base-2 logarithm of the probability of every choice under the rank transition.

        P(rank r of n) = (1 - p_g) p_g^(r - 1) / (1 - p_g^n), averaged over the orders of ties.

        >>> ranks = ChoiceRanks(np.array([0, 1]), np.array([1, 2]), np.array([3, 3]))
        >>> (2 ** ranks.log_likelihood(0.5)).round(4).tolist()  # 4/7, and the mean of 2/7 and 1/7
        [0.5714, 0.2143]
        """
        if p_g == 1:
            return -np.log2(self.count)
        slope = np.log(p_g)  # expm1 is accurate where p_g is close to 1
        shares = np.expm1(self.tied * slope) / np.expm1(self.count * slope)
        bits: Float64 = (self.above * slope + np.log(shares) - np.log(self.tied)) / np.log(2)
        return bits

    def fit_p_g(self) -> tuple[float, float]:
        """Return the p_g from 1e-6 to 1 with the largest likelihood, and the bits of the choices with it.

        p_g is 1 if no other is better than uniform.

        >>> ChoiceRanks(np.array([0, 0, 0, 1]), np.ones(4, np.int64), np.full(4, 1000)).fit_p_g()[0].__round__(3)
        0.2
        >>> ChoiceRanks(np.array([1]), np.array([1]), np.array([2])).fit_p_g()
        (1.0, -1.0)
        """
        size = int(self.count.max(initial=0)) + 1
        keys, times = np.unique((self.above * size + self.tied) * size + self.count, return_counts=True)
        distinct = ChoiceRanks(keys // size**2, keys // size % size, keys % size)

        def loss(p_g: float) -> float:
            return -float(times @ distinct.log_likelihood(p_g))

        losses = [loss(p_g) for p_g in _GRID]
        best = int(np.argmin(losses))
        bounds = _GRID[min(best + 1, len(_GRID) - 1)], _GRID[max(best - 1, 0)]
        found = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-9})
        if found.fun < losses[best]:
            return float(found.x), -float(found.fun)
        return float(_GRID[best]), -losses[best]


def find_chosen(candidates: Candidates, nexts: Int32) -> Int64:
    """Find the index of the chosen node of every window among all candidates."""
    found = np.flatnonzero(candidates.nodes == nexts[candidates.walks])
    times = np.bincount(candidates.walks[found], minlength=len(nexts))
    if np.any(times != 1):
        window = int(np.flatnonzero(times != 1)[0])
        raise WalkError(
            f"the node chosen in window {window}, {int(nexts[window])}, is {times[window]} times among its candidates "
            "and must be there once; leave out such windows, as `along_links` does."
        )
    return found


@dataclass(frozen=True, eq=False)
class ChoiceSet:
    """Observed choices on a graph, each with its candidates."""

    graph: Graph
    """Graph on which the choices were made."""
    windows: Windows
    """Histories and chosen nodes, in order of increasing history length, as `iterate_explorations` requires."""
    candidates: Candidates
    """Candidates of each choice, in ascending order."""
    streams: Streams
    """Random stream of each choice, for agents that break ties at random."""
    returns: bool = False
    """Whether candidates include visited nodes."""
    walks: Trajectories | None = None
    """Walks in which the choices were made, with all visits and without names; None if they are not known."""
    table: ChoiceTable | None = None
    """Table of the choices, if they were not made on a graph."""

    @classmethod
    def from_windows(cls, graph: Graph, windows: Windows, among: CandidateScope = "last") -> ChoiceSet:
        """Find the candidates of each choice: the unvisited out-neighbors of the last node, or all unvisited nodes."""
        candidates = Candidates(offsets=np.zeros(1, np.int64), nodes=np.empty(0, np.int32))
        if len(windows):
            candidates = find_candidates(graph, windows.list_histories(), among)
        return cls(graph, windows, candidates, kernels.random.make_streams(np.uint64(0), 0, len(windows)))

    def __len__(self) -> int:
        return len(self.windows)

    def rows(self, which: Any) -> ChoiceSet:
        """Select choices by a slice, a mask or ascending positions."""
        if isinstance(which, slice) and which.indices(len(self)) == (0, len(self), 1):
            return self
        offsets, counts = self.candidates.offsets[:-1][which], self.candidates.counts[which]
        nodes = self.candidates.nodes[concatenate_ranges(offsets, counts)]
        candidates = Candidates(offsets=np.concatenate([[0], np.cumsum(counts)]), nodes=nodes)
        return replace(self, windows=self.windows.rows(which), candidates=candidates, streams=self.streams[which])

    @cached_property
    def is_visited(self) -> NDArray[np.bool_]:
        """Whether each candidate is in the history of its choice."""
        visited = np.zeros(len(self.candidates.nodes), bool)
        for column in self.windows.histories.T:
            visited |= column[self.candidates.walks] == self.candidates.nodes
        return visited

    @cached_property
    def targets(self) -> Int32:
        """Node that the walk of each choice was to reach, or -1."""
        if self.walks is None or self.walks.targets is None or self.windows.visits is None:
            return np.full(len(self), -1, np.int32)
        return self.walks.targets[np.searchsorted(self.walks.offsets, self.windows.visits, side="right") - 1]

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
        stack, reward, histories = GraphBatch.of([self.graph]), as_reward(reward), self.windows.histories
        lengths, run_starts = np.unique(np.count_nonzero(histories >= 0, axis=1), return_index=True)
        for length, (run_start, run_stop) in zip(lengths.tolist(), pairwise([*run_starts, len(self)]), strict=True):
            size = max(1, _BATCH_NODES // length)
            for start in range(run_start, run_stop, size):
                stop = min(start + size, run_stop)
                nodes = np.full((stop - start, length + 1), -1, np.int32)
                nodes[:, :length] = histories[start:stop, histories.shape[1] - length :]
                exploration = Exploration(
                    stack=stack,
                    reward=reward,
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


def find_choices(
    graph: Graph, walks: Trajectories, burn_in: int = 3, memory: int = DEFAULT_MEMORY, returns: bool = False
) -> tuple[ChoiceSet, dict[str, int]]:
    """Find the visits where a user chose one of several unvisited out-neighbors, after `burn_in` distinct nodes.

    The `memory` most recently visited nodes cannot be chosen again. With `returns`, they can: the candidates are all
    out-neighbors of the last node, and the node before it, to which one can go back without a link. Each history
    contains a node once, at its last visit. Return also the number of visits after the burn-in that are not choices, by
    reason ('revisit', 'no link', 'only candidate').
    """
    burn_in = check_integer(
        "burn_in", burn_in, 1, "give the number of distinct nodes before the first choice, 1 or more"
    )
    memory = check_integer("memory", memory, burn_in, f"give a whole number, burn_in = {burn_in} or more")
    walks = align_walks(graph, walks)
    found: list[tuple[list[int], int, int]] = []  # history, user and the visit of the chosen node
    revisits = 0
    for number, user in enumerate(walks.users.tolist()):
        recent: dict[int, None] = {}  # the nodes of the memory, ordered by last visit
        for visit, node in enumerate(walks.walk(number).tolist(), int(walks.offsets[number])):
            if len(recent) >= burn_in:
                if node in recent and not returns:
                    revisits += 1
                else:
                    found.append((list(recent), user, visit))
            recent.pop(node, None)
            recent[node] = None
            if len(recent) > memory:
                del recent[next(iter(recent))]
    found.sort(key=lambda choice: len(choice[0]))
    histories = np.full((len(found), len(found[-1][0]) if found else 1), -1, np.int32)
    for row, (history, _, _) in zip(histories, found, strict=True):
        row[-len(history) :] = history
    visits = np.array([visit for _, _, visit in found], np.int64)
    nexts, users = walks.nodes[visits], np.array([user for _, user, _ in found], np.int64)
    windows = Windows(histories, nexts, users, visits)
    if returns:
        choices = find_returns(graph, windows)
        is_candidate = choices.candidates.nodes == nexts[choices.candidates.walks]
        linked = choices.rows(np.bincount(choices.candidates.walks[is_candidate], minlength=len(windows)) > 0)
    else:
        linked = ChoiceSet.from_windows(graph, windows.along_links(graph))
    is_choice = linked.candidates.counts > 1
    left_out = {
        "revisit": revisits,
        "no link": len(windows) - len(linked),
        "only candidate": int(np.count_nonzero(~is_choice)),
    }
    kept = linked.rows(is_choice)
    nobody = ListLabels(())  # without names, which every task would send to its worker
    walks = replace(walks, user_names=nobody, session_names=nobody, user_columns={}, times=None)
    return replace(kept, walks=walks, streams=kernels.random.make_streams(np.uint64(0), 0, len(kept))), left_out


def find_returns(graph: Graph, windows: Windows) -> ChoiceSet:
    """Return choices whose candidates are the out-neighbors of the last node and the node before it."""
    last = windows.histories[:, -1]
    degrees = graph.degrees[last]
    rows = np.repeat(np.arange(len(last)), degrees)
    nodes: Int32 = graph.indices[concatenate_ranges(graph.indptr[last], degrees)]
    if windows.histories.shape[1] > 1:
        before = windows.histories[:, -2]
        known = np.flatnonzero(before >= 0)
        rows, nodes = np.concatenate([rows, known]), np.concatenate([nodes, before[known]])
    rows, nodes = np.divmod(np.unique(rows * graph.num_nodes + nodes), graph.num_nodes)
    offsets = np.searchsorted(rows, np.arange(len(windows) + 1))
    streams = kernels.random.make_streams(np.uint64(0), 0, len(windows))
    return ChoiceSet(graph, windows, Candidates(offsets, nodes.astype(np.int32)), streams, returns=True)


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
