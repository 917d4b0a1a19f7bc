"""The exploration MDP as a functional core: an immutable batch of walks and its transitions.

State        the walks so far (each an ordered list of distinct nodes) and their rewards
Action       one of the candidates of each walk
Transition   deterministic: the candidate is appended
Reward       F(S) of the subgraph visited after the step; the start has no reward
End          `steps` nodes visited, or no candidates left
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import SettingError, WalkError
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph, as_graph, require_edges
from curiograph.rewards.reward import Reward, Tracker
from curiograph.rewards.reward_names import RewardLike, as_reward
from curiograph.validation import check_choice, check_integer, check_seed, is_integer

Fallback = Literal["frontier", "anywhere"]
Streams = NDArray[np.uint64]

WALK_FIELDS = ("graph_of", "streams", "nodes", "rewards", "lengths")
"""Fields of an `Exploration` with an entry per walk."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Candidates A(S) of every walk in flat arrays; those of walk i are `offsets[i]:offsets[i + 1]`, ascending.

    Examples
    --------
    >>> candidates = Candidates(np.array([0, 2, 3]), np.array([1, 4, 0], np.int32))
    >>> candidates.counts, candidates.walks
    (array([2, 1]), array([0, 0, 1]))
    """

    offsets: Int64
    """Bounds of the walks in `nodes`."""
    nodes: Int32
    """Batch positions of the candidates."""

    @property
    def counts(self) -> Int64:
        """Number of candidates of every walk."""
        return np.diff(self.offsets)

    @cached_property
    def walks(self) -> Int64:
        """Index of the walk of each candidate."""
        return np.repeat(np.arange(len(self.offsets) - 1), self.counts)


@dataclass(frozen=True, eq=False)
class Exploration:
    """An immutable batch of walks on one or more graphs; `begin` creates one, and `step` returns the next one.

    Examples
    --------
    >>> from curiograph.graph.toys import cycle
    >>> exploration = begin([cycle(4)], starts=[[0, 1]], reward="igt", steps=4)
    >>> exploration.candidates.nodes.tolist()
    [1, 3, 0, 2]
    >>> exploration.step(np.array([0, 3])).nodes[:, :2].tolist()
    [[0, 1], [1, 2]]
    """

    stack: GraphBatch
    """The graphs."""
    reward: Reward
    """The reward F."""
    steps: int
    """Maximum number of nodes of a walk, the start included."""
    fallback: Fallback
    """Candidates of a walk whose last node has no unvisited neighbors: "frontier", the unvisited neighbors of all its
    nodes; or "anywhere", all unvisited nodes."""
    graph_of: Int64
    """Index of the graph that each walk is on."""
    streams: Streams
    """Random stream of each walk, so that its choices do not depend on the other walks of the batch."""
    nodes: Int32
    """Visited nodes, walks x steps, as batch positions; -1 beyond the end."""
    lengths: Int64
    """Number of nodes visited so far."""
    rewards: Float64
    """Rewards, walks x (steps - 1); entry t is the reward of node t + 1, NaN beyond the end."""

    @property
    def returns(self) -> Float64:
        """Return of every walk so far: F(S_2) + ... + F(S_t)."""
        return np.asarray(np.nansum(self.rewards, axis=1))

    @cached_property
    def candidates(self) -> Candidates:
        """Candidates of every walk: the unvisited out-neighbors of the last node, or those of the fallback.

        A walk of `steps` nodes has none, nor has an empty walk.
        """
        active = np.where(self.lengths < self.steps, self.lengths, 0)
        csr, find = self.stack.out, kernels.candidates.find_candidates
        return Candidates(*find(csr.indptr, csr.indices, self.nodes, active, *self.candidate_rule))

    @property
    def candidate_rule(self) -> tuple[Int64, Int64, int]:
        """First and last batch position of the graph of each walk, and the code of the fallback, for the kernels."""
        starts = self.stack.starts
        mode = kernels.candidates.FRONTIER if self.fallback == "frontier" else kernels.candidates.ANYWHERE
        return starts[self.graph_of], starts[self.graph_of + 1], mode

    @cached_property
    def candidate_values(self) -> Float64:
        """F(S + v) of every candidate v."""
        return self.tracker.candidate_values(self.candidates.offsets, self.candidates.nodes)

    @property
    def values(self) -> Float64:
        """F(S) of every walk."""
        return self.tracker.values()

    @property
    def finished(self) -> bool:
        """Whether no walk has candidates left."""
        return len(self.candidates.nodes) == 0

    @cached_property
    def tracker(self) -> Tracker:
        """Tracker of the reward. `step` moves it to the next batch; an earlier batch then creates a new one."""
        return self.reward.track(self.stack, self.nodes, self.lengths)

    def step(self, chosen: Int64) -> Exploration:
        """Return the batch after walk i visits candidate `chosen[i]`, an index into `candidates`; -1 does not move."""
        chosen = np.asarray(chosen)
        if not np.issubdtype(chosen.dtype, np.integer):
            raise WalkError(f"step needs indices into the candidates, whole numbers; got {chosen.dtype}.")
        offsets = self.candidates.offsets
        if chosen.shape != self.lengths.shape:
            raise WalkError(f"step needs one choice per walk: {len(self.lengths)} walks, but {chosen.shape} choices.")
        wrong = (chosen >= 0) & ((chosen < offsets[:-1]) | (chosen >= offsets[1:])) | (chosen < -1)
        if np.any(wrong):
            walk = int(np.flatnonzero(wrong)[0])
            known = f"{int(offsets[walk])} to {int(offsets[walk + 1]) - 1}"
            raise WalkError(f"walk {walk} cannot take choice {int(chosen[walk])}; its candidates are {known}.")
        return self.branch(np.arange(len(chosen)), chosen)

    def branch(self, parents: Int64, chosen: Int64) -> Exploration:
        """Return the batch in which walk i is walk `parents[i]` of this one after visiting candidate `chosen[i]`."""
        moving = np.flatnonzero(chosen >= 0)
        new = np.full(len(parents), -1, np.int32)
        new[moving] = self.candidates.nodes[chosen[moving]]
        if "candidate_values" in self.__dict__:  # they are known already
            earned = self.candidate_values[chosen[moving]]
        else:
            order = moving[np.argsort(parents[moving], kind="stable")]
            offsets = np.concatenate([[0], np.cumsum(np.bincount(parents[moving], minlength=len(self.lengths)))])
            earned = np.empty(len(parents))
            earned[order] = self.tracker.candidate_values(offsets, new[order])
            earned = earned[moving]
        branched = self.rows(parents)  # a copy
        branched.nodes[moving, branched.lengths[moving]] = new[moving]
        branched.rewards[moving, branched.lengths[moving] - 1] = earned
        branched.lengths[moving] += 1
        tracker = branched.__dict__["tracker"] = self.tracker
        del self.__dict__["tracker"]
        tracker.advance(new, None if np.array_equal(parents, np.arange(len(self.lengths))) else parents)
        return branched

    def restart(self, walks: Int64, graph_of: Int64, starts: Int64, streams: Streams) -> Exploration:
        """Return the batch in which the selected walks are replaced by new walks from the batch positions `starts`.

        If the batch holds an empty walk (of length 0), the tracker starts the new walks from it; otherwise the next use
        creates a new tracker for all walks.
        """
        nodes, rewards = self.nodes.copy(), self.rewards.copy()
        lengths, graphs, all_streams = self.lengths.copy(), self.graph_of.copy(), self.streams.copy()
        nodes[walks], rewards[walks], lengths[walks], graphs[walks] = -1, np.nan, 1, graph_of
        nodes[walks, 0], all_streams[walks] = starts, streams
        restarted = replace(self, nodes=nodes, rewards=rewards, lengths=lengths, graph_of=graphs, streams=all_streams)
        empty = np.flatnonzero(self.lengths == 0)
        if "tracker" in self.__dict__ and len(empty):
            parents, new = np.arange(len(lengths)), np.full(len(lengths), -1, np.int32)
            parents[walks], new[walks] = empty[0], starts
            tracker = restarted.__dict__["tracker"] = self.__dict__.pop("tracker")
            tracker.advance(new, parents)
        return restarted

    def rows(self, walks: Int64) -> Exploration:
        """Return a batch of the selected walks."""
        return replace(self, **{name: getattr(self, name)[walks] for name in WALK_FIELDS})

    def round_scores(self, scores: Float64) -> Float64:
        """Round scores to nine digits relative to the largest score of the walk.

        Values that are mathematically equal may differ in the last bits of a float, which must not break a tie.
        """
        candidates = self.candidates
        nonempty = candidates.counts > 0
        largest = np.ones(len(nonempty))
        if np.any(nonempty):
            largest[nonempty] = np.maximum.reduceat(np.abs(scores), candidates.offsets[:-1][nonempty])
        largest[largest == 0] = 1.0
        scale = largest[candidates.walks]
        return (scores / scale).round(9) * scale

    def merge_ties(self, scores: Float64, tolerance: float) -> Float64:
        """Set scores of one walk that are adjacent within `tolerance`, relative to its largest score, to equal values.

        Networks compute in single precision, and the last bits of a score depend on the other walks of the batch.
        """
        walks = self.candidates.walks
        order = np.lexsort((scores, walks))
        sorted_scores, sorted_walks = scores[order], walks[order]
        largest = np.zeros(len(self.lengths))
        np.maximum.at(largest, walks, np.abs(scores))
        new = np.ones(len(order), bool)
        new[1:] = (np.diff(sorted_walks) > 0) | (np.diff(sorted_scores) > tolerance * largest[sorted_walks[1:]])
        tied = np.empty(len(scores))
        tied[order] = sorted_scores[np.flatnonzero(new)][np.cumsum(new) - 1]
        return tied

    def best(self, scores: Float64) -> Int64:
        """Return the candidate with the highest score of each walk, ties at random; -1 if it has no candidates."""
        offsets, nodes = self.candidates.offsets, self.candidates.nodes
        return np.asarray(kernels.candidates.select_best(offsets, nodes, scores, self.streams, self.lengths))


def begin(
    graphs: Sequence[Graph], starts: Sequence[Any], reward: RewardLike, steps: int, *, fallback: Fallback = "frontier",
    seed: int = 0,
) -> Exploration:  # fmt: skip
    """Create a batch of walks of one node each.

    Parameters
    ----------
    graphs : sequence of Graph
        The graphs to explore.
    starts : sequence of sequences of int
        Positions (not labels) of the starts on each graph, one walk per entry.
    reward : str, Reward or callable
        The reward F.
    steps : int
        Maximum number of nodes of a walk, the start included.
    fallback : {"frontier", "anywhere"}
        Candidates at a dead end; see `Exploration.fallback`.
    seed : int
        Seed of the random streams of the walks.

    Returns
    -------
    Exploration
        The initial batch.

    Examples
    --------
    >>> from curiograph.graph.toys import cycle
    >>> batch = begin([cycle(4), cycle(5)], [[0], [2, 3]], reward="igt", steps=3)
    >>> batch.lengths, batch.graph_of
    (array([1, 1, 1]), array([0, 1, 1]))
    """
    steps = check_steps(steps)
    fallback = check_fallback(fallback)
    graphs = as_graphs(graphs)
    steps = min(steps, max(graph.num_nodes for graph in graphs))  # arrays have a column per step
    if len(starts) != len(graphs):
        raise WalkError(f"there are {len(starts)} lists of starts for {len(graphs)} graphs; give one list per graph.")
    for graph, positions in zip(graphs, starts, strict=True):
        for start in positions:
            if not is_integer(start) or not 0 <= start < graph.num_nodes:
                fix = f"the positions are 0 to {graph.num_nodes - 1}, and graph.position(label) returns that of a label"
                raise WalkError(f"no walk can start at position {start!r}; {fix}.")
    stack = GraphBatch.of(graphs)
    counts = [len(s) for s in starts]
    graph_of = np.repeat(np.arange(len(graphs)), counts)
    first = np.concatenate([np.asarray(s, np.int64) for s in starts]) + stack.starts[graph_of]
    nodes = np.full((len(first), steps), -1, np.int32)
    nodes[:, 0] = first
    key = np.uint64(check_seed(seed))
    streams = np.concatenate([kernels.random.make_streams(key, k, n) for k, n in enumerate(counts)])
    lengths, rewards = np.ones(len(first), np.int64), np.full((len(first), steps - 1), np.nan)
    return Exploration(stack, as_reward(reward), steps, fallback, graph_of, streams, nodes, lengths, rewards)


def as_graphs(graphs: Any) -> list[Graph]:
    """Return one or more graphs as a list; raise if one has no edges."""
    if hasattr(graphs, "test"):
        raise SettingError("these are training, validation and test graphs; give one part, such as sets.test.")
    is_list = isinstance(graphs, Sequence) and not isinstance(graphs, (str, bytes))
    graph_list = [as_graph(graph) for graph in (graphs if is_list else [graphs])]
    if not graph_list:
        raise SettingError("there are no graphs to explore; give at least one.")
    for graph in graph_list:
        require_edges(graph)
    return graph_list


def list_starts(graph: Graph, fallback: Fallback) -> Int64:
    """Return the positions of all nodes that have a candidate as the start of a walk."""
    return np.flatnonzero(graph.degrees) if fallback == "frontier" else np.arange(graph.num_nodes)


def locate_start(graph: Graph, label: Hashable, fallback: Fallback) -> int:
    """Return the position of the start with this label; raise if it has no candidates."""
    start = graph.position(label)
    if fallback == "frontier" and graph.indptr[start] == graph.indptr[start + 1]:
        raise WalkError(
            f"node {label!r} has no {'out-' if graph.directed else ''}neighbors, so no walk can start there; "
            "choose another start, or use the fallback 'anywhere'."
        )
    return start


def check_fallback(fallback: Any) -> Fallback:
    """Return the fallback rule, or raise if it is unknown."""
    rule: Fallback = check_choice("fallback", fallback, get_args(Fallback))
    return rule


def check_steps(steps: int) -> int:
    """Return the number of nodes of a walk, or raise if it is not a positive integer."""
    return check_integer("steps", steps, 1, "a walk visits a whole number of nodes, 1 or more")
