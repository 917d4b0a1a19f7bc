"""The exploration MDP as a functional core: a batch of walks, and the batch one step later.

State        the walks so far (each an ordered list of distinct nodes) and the rewards they earned
Action       one of the candidates of each walk
Transition   deterministic: the candidate is appended
Reward       F(S) of the subgraph visited after the step; the start earns nothing
End          `steps` nodes visited, or no candidate left
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import SettingError, UnknownNameError, WalkError
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph, as_graph, require_edges
from curiograph.rewards.base import Reward, Tracker
from curiograph.rewards.registry import RewardLike, as_reward
from curiograph.validation import check_integer, check_seed

Fallback = Literal["frontier", "anywhere"]
Streams = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Candidates:
    """A(S) of every walk, flat: those of walk i stand at `offsets[i]:offsets[i + 1]`, ascending."""

    offsets: Int64
    nodes: Int32
    """Stacked positions."""

    @property
    def counts(self) -> Int64:
        """Number of candidates of every walk."""
        return np.diff(self.offsets)

    @cached_property
    def walks(self) -> Int64:
        """The walk that each candidate belongs to."""
        return np.repeat(np.arange(len(self.offsets) - 1), self.counts)


@dataclass(frozen=True, eq=False)
class Exploration:
    """A batch of walks over one or many graphs. Never changes: `step` returns the next one.

    >>> from curiograph.graph.toys import cycle
    >>> exploration = begin([cycle(4)], starts=[[0, 1]], reward="igt", steps=4)
    >>> exploration.candidates.nodes.tolist()
    [1, 3, 0, 2]
    >>> exploration.step(np.array([0, 3])).nodes[:, :2].tolist()
    [[0, 1], [1, 2]]
    """

    stack: GraphBatch
    reward: Reward
    steps: int
    """Most nodes a walk visits, the start included."""
    fallback: Fallback
    """Where a walk goes whose last node has no unvisited neighbour: "frontier", the unvisited neighbours of all its
    nodes; or "anywhere", all unvisited nodes."""
    graph_of: Int64
    """The graph that each walk is on."""
    streams: Streams
    """A random stream for each walk: ties and chances do not depend on what else is in the batch."""
    nodes: Int32
    """Walks x steps, stacked positions, -1 beyond the end."""
    lengths: Int64
    """Nodes visited so far."""
    rewards: Float64
    """Walks x (steps - 1), NaN beyond the end; entry t was earned by node t + 1."""
    _kept: list[Tracker] = field(default_factory=list, repr=False, compare=False)

    @property
    def returns(self) -> Float64:
        """Return of every walk so far: F(S_2) + ... + F(S_t)."""
        return np.asarray(np.nansum(self.rewards, axis=1))

    @cached_property
    def candidates(self) -> Candidates:
        """Where every walk may go next; nothing for a walk that has reached its `steps`."""
        low, high = self.stack.starts[self.graph_of], self.stack.starts[self.graph_of + 1]
        active = np.where(self.lengths < self.steps, self.lengths, 0)
        rows = self.stack.out
        mode = kernels.candidates.FRONTIER if self.fallback == "frontier" else kernels.candidates.ANYWHERE
        return Candidates(
            *kernels.candidates.find_candidates(rows.indptr, rows.indices, self.nodes, active, low, high, mode)
        )

    @cached_property
    def candidate_values(self) -> Float64:
        """F(S + v) of every candidate, in one kernel call."""
        return self.tracker.candidate_values(self.candidates.offsets, self.candidates.nodes)

    @property
    def values(self) -> Float64:
        """F(S) of every walk."""
        return self.tracker.values()

    @property
    def finished(self) -> bool:
        """Whether no walk can go on."""
        return len(self.candidates.nodes) == 0

    @property
    def tracker(self) -> Tracker:
        """The reward's running state. It moves on to the next batch at `step`; an earlier one replays its walks."""
        if not self._kept:
            self._kept.append(self.reward.track(self.stack, self.nodes, self.lengths))
        return self._kept[0]

    def step(self, chosen: Int64) -> Exploration:
        """The batch after walk i has gone to candidate `chosen[i]` (an index into `candidates`; -1 stays)."""
        chosen = np.asarray(chosen)
        if not np.issubdtype(chosen.dtype, np.integer):
            raise WalkError(f"step needs indices into the candidates, whole numbers; got {chosen.dtype}.")
        self._check(chosen)
        return self.branch(np.arange(len(chosen)), chosen)

    def branch(self, parents: Int64, chosen: Int64) -> Exploration:
        """The batch in which walk i is walk `parents[i]` of this one after going to candidate `chosen[i]`."""
        moving = np.flatnonzero(chosen >= 0)
        new = np.full(len(parents), -1, np.int32)
        new[moving] = self.candidates.nodes[chosen[moving]]
        earned = self._earned(parents[moving], chosen[moving])
        nodes, rewards, lengths = self.nodes[parents], self.rewards[parents], self.lengths[parents]
        nodes[moving, lengths[moving]] = new[moving]
        rewards[moving, lengths[moving] - 1] = earned
        lengths[moving] += 1
        tracker = self.tracker
        self._kept.clear()
        tracker.advance(new, None if np.array_equal(parents, np.arange(len(self.lengths))) else parents)
        return replace(
            self,
            graph_of=self.graph_of[parents],
            streams=self.streams[parents],
            nodes=nodes,
            rewards=rewards,
            lengths=lengths,
            _kept=[tracker],
        )

    def rows(self, walks: Int64) -> Exploration:
        """Some of the walks, as a batch of their own."""
        return replace(
            self,
            graph_of=self.graph_of[walks],
            streams=self.streams[walks],
            nodes=self.nodes[walks],
            rewards=self.rewards[walks],
            lengths=self.lengths[walks],
            _kept=[],
        )

    def round_scores(self, scores: Float64) -> Float64:
        """Scores of candidates with nine digits each, relative to the largest of the same walk.

        Values that are equal on paper may differ in the last bits of a float, which must not break a tie.
        """
        candidates = self.candidates
        some = candidates.counts > 0
        largest = np.ones(len(some))
        largest[some] = np.maximum.reduceat(np.abs(scores), candidates.offsets[:-1][some]) if np.any(some) else 1.0
        largest[largest == 0] = 1.0
        scale = largest[candidates.walks]
        return (scores / scale).round(9) * scale

    def merge_ties(self, scores: Float64, tolerance: float) -> Float64:
        """Scores in which those of one walk that lie next to each other within `tolerance`, relative to its largest,
        are the same.

        Networks compute in single precision, and the last bits of a score depend on what else is in the batch.
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

    def _earned(self, parents: Int64, chosen: Int64) -> Float64:
        if "candidate_values" in self.__dict__:
            return self.candidate_values[chosen]
        order = np.argsort(parents, kind="stable")
        offsets = np.concatenate([[0], np.cumsum(np.bincount(parents, minlength=len(self.lengths)))])
        earned = np.empty(len(chosen))
        earned[order] = self.tracker.candidate_values(offsets, self.candidates.nodes[chosen[order]])
        return earned

    def best(self, scores: Float64) -> Int64:
        """The candidate with the highest score of each walk, ties uniformly at random; -1 where there is none."""
        return np.asarray(
            kernels.candidates.select_best(
                self.candidates.offsets, self.candidates.nodes, scores, self.streams, self.lengths
            )
        )

    def _check(self, chosen: Int64) -> None:
        offsets = self.candidates.offsets
        if chosen.shape != self.lengths.shape:
            raise WalkError(f"step needs one choice per walk: {len(self.lengths)} walks, but {chosen.shape} choices.")
        wrong = (chosen >= 0) & ((chosen < offsets[:-1]) | (chosen >= offsets[1:])) | (chosen < -1)
        if np.any(wrong):
            walk = int(np.flatnonzero(wrong)[0])
            raise WalkError(
                f"walk {walk} cannot take choice {int(chosen[walk])}; its candidates have the indices "
                f"{int(offsets[walk])} to {int(offsets[walk + 1]) - 1}."
            )


def begin(
    graphs: Sequence[Graph],
    starts: Sequence[Sequence[int]] | Sequence[Int64],
    reward: RewardLike,
    steps: int,
    *,
    fallback: Fallback = "frontier",
    seed: int = 0,
) -> Exploration:
    """A batch of walks of one node each: `starts[k]` are positions (not labels) on graph k, one walk per entry."""
    steps = check_steps(steps)
    fallback = check_fallback(fallback)
    graphs = as_graphs(graphs)
    steps = min(steps, max(graph.num_nodes for graph in graphs))  # room is reserved for every step
    _check_starts(graphs, starts)
    stack = GraphBatch.of(graphs)
    counts = [len(s) for s in starts]
    graph_of = np.repeat(np.arange(len(graphs)), counts)
    first = np.concatenate([np.asarray(s, np.int64) for s in starts]) + stack.starts[graph_of]
    nodes = np.full((len(first), steps), -1, np.int32)
    nodes[:, 0] = first
    streams = np.concatenate(
        [kernels.random.make_streams(np.uint64(check_seed(seed)), k, n) for k, n in enumerate(counts)]
    )
    return Exploration(
        stack,
        as_reward(reward),
        steps,
        fallback,
        graph_of,
        streams,
        nodes,
        np.ones(len(first), np.int64),
        np.full((len(first), steps - 1), np.nan),
    )


def as_graphs(graphs: Any) -> list[Graph]:
    """One or many graphs as a list; each must have edges to walk on."""
    if hasattr(graphs, "test"):
        raise SettingError("these are training, validation and test graphs; give one part, such as sets.test.")
    several = list(graphs) if isinstance(graphs, Sequence) and not isinstance(graphs, (str, bytes)) else [graphs]
    listed = [as_graph(graph) for graph in several]
    if not listed:
        raise SettingError("there are no graphs to explore; give at least one.")
    for graph in listed:
        require_edges(graph)
    return listed


def _check_starts(graphs: Sequence[Graph], starts: Sequence[Sequence[int]] | Sequence[Int64]) -> None:
    if len(starts) != len(graphs):
        raise WalkError(f"there are {len(starts)} lists of starts for {len(graphs)} graphs; give one list per graph.")
    for graph, some in zip(graphs, starts, strict=True):
        if isinstance(some, str) or not hasattr(some, "__len__"):
            raise WalkError(f"the starts on a graph are {some!r}; give a list of positions for each graph.")
        for start in some:
            if not isinstance(start, (int, np.integer)) or not 0 <= start < graph.num_nodes:
                raise WalkError(
                    f"no walk can start at position {start!r}; the positions are 0 to {graph.num_nodes - 1}, "
                    "and graph.position(label) gives that of a label."
                )


def list_starts(graph: Graph, fallback: Fallback) -> Int64:
    """Positions from which a walk can go anywhere at all."""
    return graph.leavable if fallback == "frontier" else np.arange(graph.num_nodes)


def locate_start(graph: Graph, label: Hashable, fallback: Fallback) -> int:
    """Position of the start called `label`, which must have somewhere to go."""
    start = graph.position(label)
    if fallback == "frontier" and graph.indptr[start] == graph.indptr[start + 1]:
        raise WalkError(
            f"node {label!r} has no {'out-' if graph.directed else ''}neighbours, so no walk can start there; "
            "start elsewhere, or use the fallback 'anywhere'."
        )
    return start


def check_fallback(fallback: Any) -> Fallback:
    """What a walk does at a dead end, checked."""
    if fallback not in get_args(Fallback):
        raise UnknownNameError(f"fallback is {fallback!r}; the choices are {', '.join(get_args(Fallback))}.")
    rule: Fallback = fallback
    return rule


def check_steps(steps: int) -> int:
    """The number of nodes that a walk visits, checked."""
    return check_integer("steps", steps, 1, "a walk visits a whole number of nodes, 1 or more")
