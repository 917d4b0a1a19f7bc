"""Curious walkers: a swarm that starts at a history and branches by the rank transition of an agent.

A walker remembers its path since the last teleport, so its state is that path. Walkers in the same state are evaluated
once, and a state passes its weight on to all candidates (expected, not sampled, transitions). Only when the swarm would
exceed its size are walkers sampled. The visit probabilities do not depend on alpha.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import scipy.sparse

from curiograph import kernels
from curiograph.agents.agent import Agent, score_candidates
from curiograph.agents.layers import limit_blas_threads
from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import SettingError
from curiograph.exploration.mdp import Candidates, Exploration, Fallback, Streams
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph
from curiograph.parallel.chunks import split_by_size
from curiograph.rewards.cpt import build_entropy_table
from curiograph.rewards.reward import Reward

_CHUNK_NODES = 256
"""Total path length of the states that one thread evaluates at a time; fixed, so that results do not depend on the
number of threads."""
_NEGLIGIBLE = 1e-17
"""Probability below the precision of any sum."""


@dataclass(frozen=True, eq=False)
class States:
    """Distinct paths of the same length."""

    nodes: Int32
    """Positions, states x visited nodes, in order of visit."""
    streams: Streams
    """Random stream of each path."""

    @classmethod
    def start(cls, nodes: Int32, seed: int) -> States:
        """Return the start states of walkers, one per node."""
        streams = kernels.random.branch_streams(np.full(len(nodes), seed, np.uint64), np.uint64(0), nodes)
        return cls(nodes[:, None], streams)


@dataclass(frozen=True, eq=False)
class WalkerPolicy:
    """Transition probabilities of walkers: an agent on a graph, and how closely its walkers follow it."""

    stack: GraphBatch
    agent: Agent
    reward: Reward
    p_g: float
    fallback: Fallback
    workers: int
    """Number of threads."""

    def compute_transitions(self, states: States) -> tuple[Candidates, Float64]:
        """Return the candidates of every state and their probabilities; many states are split among threads."""
        length = states.nodes.shape[1]
        bounds = list(split_by_size(np.full(len(states.nodes), length), _CHUNK_NODES))
        if self.workers == 1 or len(bounds) == 1:
            chunks = [self._compute_chunk(states, *pair) for pair in bounds]
        else:
            with limit_blas_threads(), ThreadPoolExecutor(self.workers) as pool:
                chunks = list(pool.map(lambda pair: self._compute_chunk(states, *pair), bounds))
        counts = np.concatenate([candidates.counts for candidates, _ in chunks])
        nodes = np.concatenate([candidates.nodes for candidates, _ in chunks])
        chances = np.concatenate([chances for _, chances in chunks])
        return Candidates(np.concatenate([[0], np.cumsum(counts)]), nodes), chances

    def _compute_chunk(self, states: States, first: int, last: int) -> tuple[Candidates, Float64]:
        count, length = last - first, states.nodes.shape[1]
        nodes = np.full((count, length + 1), -1, np.int32)
        nodes[:, :length] = states.nodes[first:last]
        exploration = Exploration(
            stack=self.stack,
            reward=self.reward,
            steps=length + 1,
            fallback=self.fallback,
            graph_of=np.zeros(count, np.int64),
            streams=states.streams[first:last],
            nodes=nodes,
            lengths=np.full(count, length),
            rewards=np.full((count, length), np.nan),
        )
        scores = score_candidates(self.agent, exploration)
        candidates = exploration.candidates
        chances = kernels.rank_probabilities.compute_probabilities(candidates.offsets, scores, self.p_g)
        if self.stack.graphs[0].weights is not None:
            graph, lasts = self.stack.graphs[0], nodes[:, length - 1]
            kernels.rank_probabilities.weigh_probabilities(
                graph.indptr, graph.indices, graph.weights, lasts, candidates.offsets, candidates.nodes, chances
            )
        return candidates, chances


@dataclass(frozen=True)
class SwarmLimits:
    """Limits on the number and the length of walks in a simulation."""

    size: int
    """Maximum number of paths per group at the first step; it decreases with the steps."""
    alpha: float
    """Largest alpha of interest: step k has weight alpha^k."""
    tail: float = 1e-3
    """Share of all visits, the last ones, that is omitted once walkers are sampled."""
    groups: int = 8
    """Number of independent swarms, whose spread gives the standard error."""
    max_paths: int | None = None
    """Maximum total number of paths; None for no limit."""
    steps: int | None = None
    """Maximum number of steps between two teleports; None for no limit."""


def simulate_swarm(
    policy: WalkerPolicy, starts: States, probabilities: Float64, limits: SwarmLimits, streams: Streams
) -> SwarmVisits:
    """Simulate a swarm from `starts`, taken with probabilities `probabilities`.

    Once there are more paths than `limits` allows, it splits into `limits.groups` groups with one of `streams` each.
    """
    num_nodes = int(policy.stack.starts[-1])
    first = starts.nodes[:, -1]
    candidates, chances = Candidates(np.array([0, len(first)]), first), probabilities
    # The walkers of group g are at bounds[g]:bounds[g + 1]; there is one group while all agree. Each has a state and a
    # weight, the share of all walkers that it represents. At first one walker is about to move to a start.
    bounds, states_of, weights, sampled = np.array([0, 1]), np.zeros(1, np.int64), np.ones(1), False
    steps: list[Any] = [scipy.sparse.csr_array((probabilities, first, [0, len(first)]), (1, num_nodes))]
    paths, states = 0, None
    while limits.steps is None or len(steps) <= limits.steps:
        step, branches = len(steps) - 1, np.count_nonzero(chances)
        if limits.alpha ** len(steps) <= (limits.tail if sampled else _NEGLIGIBLE):
            break
        if limits.max_paths is not None and paths + branches > limits.max_paths:
            raise SettingError(
                f"there are more than {limits.max_paths:,} paths, too many to follow them all; "
                "leave exact=True out, and walkers will be sampled."
            )
        if not sampled and branches > limits.size * limits.groups:  # independent groups, sampled from here on
            sampled, bounds = True, np.arange(limits.groups + 1) * len(states_of)
            states_of, weights = np.tile(states_of, limits.groups), np.tile(weights, limits.groups)
        # Late steps have less weight and cost more, since agents read longer paths. So the number of walkers decreases
        # slightly faster than the share of walkers that have not teleported yet.
        sample_size = max(1, int(limits.size * limits.alpha ** (1.2 * step)))
        groups = len(bounds) - 1
        luck = kernels.random.draw_uniforms(
            streams[:groups], np.full(groups, step, np.uint64), np.zeros(groups, np.uint64)
        )
        bounds, chosen, weights = kernels.resampling.branch_walkers(
            bounds, states_of, weights, candidates.offsets, chances,
            sample_size if sampled else limits.size * limits.groups, luck,
        )  # fmt: skip
        reached, states_of = np.unique(chosen, return_inverse=True)
        if len(reached) == 0:
            break
        if states is None:
            states = States(starts.nodes[reached], starts.streams[reached])
        else:
            parents, nodes = candidates.walks[reached], candidates.nodes[reached]
            length = np.uint64(states.nodes.shape[1])
            longer = np.column_stack([states.nodes[parents], nodes]).astype(np.int32)
            states = States(longer, kernels.random.branch_streams(states.streams[parents], length, nodes))
        paths += len(reached)
        candidates, chances = policy.compute_transitions(states)
        walkers = scipy.sparse.csr_array((weights, states_of, bounds), (groups, len(reached)))
        # sparse products take time and memory for every column, so only candidates have one
        nodes, columns = np.unique(candidates.nodes, return_inverse=True)
        moved = walkers @ scipy.sparse.csr_array((chances, columns, candidates.offsets), (len(reached), len(nodes)))
        steps.append(scipy.sparse.csr_array((moved.data, nodes[moved.indices], moved.indptr), (groups, num_nodes)))
    return SwarmVisits(steps, limits.size, paths, sampled)


@dataclass(frozen=True, eq=False)
class SwarmVisits:
    """Probabilities to be at each node, by step since the last teleport, from independent swarms ("groups")."""

    steps: Sequence[Any]
    """Sparse array of each step: groups x nodes, or 1 x nodes while all groups agree. Step 0 is q."""
    size: int
    """Maximum number of walkers per group; if there are more paths, walkers are sampled."""
    paths: int
    """Number of distinct paths that the agent evaluated."""
    sampled: bool
    """Whether walkers were sampled; otherwise the probabilities of all steps are exact."""

    @property
    def groups(self) -> int:
        """Number of independent swarms; 1 if nothing was sampled."""
        return int(max(step.shape[0] for step in self.steps))

    @property
    def walks(self) -> int:
        """Number of sampled walkers; 0 if all paths were followed."""
        return self.groups * self.size if self.sampled else 0

    @cached_property
    def touched(self) -> Int64:
        """Positions of all nodes reached."""
        return np.unique(np.concatenate([step.indices for step in self.steps])).astype(np.int64)

    def compute_expected(self, alphas: Float64) -> Float64:
        """Return the expected visits between teleports, sum over k of alpha^k Pr(step k).

        The shape is alphas x groups x touched nodes.
        """
        powers = alphas[None, :] ** np.arange(len(self.steps))[:, None]
        expected = np.zeros((len(alphas), self.groups, len(self.touched)))
        for power, step in zip(powers, self.steps, strict=True):
            entries = step.tocoo()
            group, place = entries.coords[0], self.touched.searchsorted(entries.coords[1])
            visits = np.multiply.outer(power, entries.data)
            if step.shape[0] == self.groups:
                expected[:, group, place] += visits
            else:  # all groups agree
                expected[:, :, place] += visits[:, None]
        return expected


def combine_visits(several: Sequence[SwarmVisits], alphas: Float64) -> tuple[Int64, Float64, Float64]:
    """Return the nodes reached, ascending, and their scores and standard errors, alphas x nodes.

    A score is the share of all visits. Simulations are weighted by size. The standard error of the ratio of two random
    quantities is taken to first order.
    """
    sizes = np.asarray([visits.size for visits in several], np.float64)
    nodes = np.unique(np.concatenate([visits.touched for visits in several]))
    parts = [
        (visits, np.searchsorted(nodes, visits.touched), share, visits.compute_expected(alphas))
        for visits, share in zip(several, sizes / sizes.sum(), strict=True)
    ]
    scores = np.zeros((len(alphas), len(nodes)))
    for _, place, share, expected in parts:
        scores[:, place] += share * expected.mean(axis=1)
    total = scores.sum(axis=1, keepdims=True)
    scores /= total
    variance = np.zeros_like(scores)
    for visits, place, share, expected in parts:
        if visits.sampled:
            excess = (expected - scores[:, None, place] * expected.sum(axis=2, keepdims=True)) / total[:, :, None]
            variance[:, place] += share**2 * excess.var(axis=1, ddof=1) / visits.groups
    return nodes, scores, np.sqrt(variance)


# ---- greedy walkers of few steps from single nodes, simulated in one kernel ------------------------------------------


def simulate_few_steps(
    graph: Graph,
    starts: Sequence[int],
    reward: int,
    *,
    steps: int,
    alpha: float,
    p_g: float,
    walks: int,
    tail: float = 0.0,
    fallback: Fallback = "frontier",
    seed: int = 0,
) -> Iterator[tuple[Int32, Float64]]:
    """Yield the nodes that greedy walkers reach from each of some positions, and their expected visits.

    `walks` walkers take up to `steps` steps from each start; step k has weight alpha^k, and sampled walkers stop when
    it is below `tail`. `reward` is a code of `kernels.greedy_walkers`.
    """
    table = _get_reward_table(reward, steps + 1)
    entropies, unit = build_entropy_table((steps + 1) ** 2)
    states = np.zeros((graph.num_nodes, 2))  # sum and marks of a node are in one cache line
    sums, seen = states[:, 0], states.view(np.int8)[:, 8]
    at_dead_end = kernels.candidates.FRONTIER if fallback == "frontier" else kernels.candidates.ANYWHERE
    for start, stream in zip(starts, States.start(np.asarray(starts, np.int32), seed).streams, strict=True):
        yield kernels.greedy_walkers.simulate_walkers(
            graph.indptr, graph.indices, graph.weights, graph.skeleton.indptr, graph.skeleton.indices, start, steps,
            alpha, p_g, walks, tail, at_dead_end, kernels.random.make_streams(stream, 0, 1)[0], reward, entropies, unit,
            table, sums, seen,
        )  # fmt: skip


@lru_cache(maxsize=4)
def _get_reward_table(reward: int, nodes: int) -> Float64:
    """Return the table of the rewards of all subgraphs of up to `nodes` nodes, which the kernel fills on demand."""
    return np.full(kernels.greedy_walkers.count_table_entries(nodes), np.nan)
