"""Curious walkers: a swarm that starts at a history and branches by the rank transition of an agent.

A walker remembers its path since the last teleport, so its state is that path. Walkers of one state are evaluated once;
a state passes its weight on to all candidates (expected, not sampled, transitions); and only where the swarm would
outgrow its size are a few walkers drawn to stand for the others. Nothing here knows alpha.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from curiograph import kernels
from curiograph.agents.base import Agent, score_candidates
from curiograph.agents.layers import limit_blas_threads
from curiograph.arrays import Float64, Int32, Int64
from curiograph.centrality.visits import Visits
from curiograph.errors import SettingError
from curiograph.exploration.mdp import Candidates, Exploration, Fallback, Streams
from curiograph.graph.batch import GraphBatch
from curiograph.parallel.chunks import split_by_size
from curiograph.rewards.base import Reward

_AT_ONCE = 256
"""Visited nodes of all states that one task evaluates; fixed, so that results do not depend on the workers."""
_NOTHING = 1e-17
"""A chance that no sum notices."""


@dataclass(frozen=True, eq=False)
class States:
    """Distinct paths, all of one length."""

    nodes: Int32
    """States x visited nodes, in order of visit."""
    streams: Streams
    """A random stream for each path."""

    def rows(self, which: Int64) -> States:
        """Some of the states."""
        return States(self.nodes[which], self.streams[which])

    def grown(self, parents: Int64, nodes: Int32) -> States:
        """The states reached from `parents` by going to `nodes`."""
        length = self.nodes.shape[1]
        grown = np.column_stack([self.nodes[parents], nodes]).astype(np.int32)
        streams = kernels.random.branch_streams(self.streams[parents], np.uint64(length), nodes)
        return States(grown, streams)


@dataclass(frozen=True, eq=False)
class Transitions:
    """Where each of some states goes, and with what chance."""

    candidates: Candidates
    chances: Float64

    def matrix(self, num_nodes: int) -> Any:
        """States x nodes, sparse."""
        c = self.candidates
        return scipy.sparse.csr_array((self.chances, c.nodes, c.offsets), shape=(len(c.offsets) - 1, num_nodes))

    def carried(self, walkers: Any, num_nodes: int) -> Any:
        """Where walkers go: groups x nodes, sparse, from groups x states.

        Multiplying sparse arrays takes time and memory for every column, so only nodes that are candidates have one.
        """
        c = self.candidates
        nodes, columns = np.unique(c.nodes, return_inverse=True)
        matrix = scipy.sparse.csr_array((self.chances, columns, c.offsets), shape=(len(c.offsets) - 1, len(nodes)))
        found = walkers @ matrix
        return scipy.sparse.csr_array((found.data, nodes[found.indices], found.indptr), (found.shape[0], num_nodes))


@dataclass(frozen=True, eq=False)
class WalkerPolicy:
    """Who walks where: an agent on a graph, and how strictly its walkers follow it."""

    stack: GraphBatch
    agent: Agent
    reward: Reward
    p_g: float
    fallback: Fallback
    workers: int

    def transitions(self, states: States) -> Transitions:
        """Candidates and chances of every state; many states are shared out among threads."""
        length = states.nodes.shape[1]
        tasks = list(split_by_size(np.full(len(states.nodes), length), _AT_ONCE))
        if self.workers == 1 or len(tasks) == 1:
            found = [self._some(states, *task) for task in tasks]
        else:
            with limit_blas_threads(), ThreadPoolExecutor(self.workers) as pool:
                found = list(pool.map(lambda task: self._some(states, *task), tasks))
        counts = np.concatenate([t.candidates.counts for t in found])
        offsets = np.concatenate([[0], np.cumsum(counts)])
        nodes = np.concatenate([t.candidates.nodes for t in found])
        return Transitions(Candidates(offsets, nodes), np.concatenate([t.chances for t in found]))

    def _some(self, states: States, first: int, last: int) -> Transitions:
        count, length = last - first, states.nodes.shape[1]
        nodes = np.full((count, length + 1), -1, np.int32)
        nodes[:, :length] = states.nodes[first:last]
        exploration = Exploration(
            self.stack,
            self.reward,
            length + 1,
            self.fallback,
            np.zeros(count, np.int64),
            states.streams[first:last],
            nodes,
            np.full(count, length),
            np.full((count, length), np.nan),
        )
        scores = score_candidates(self.agent, exploration)
        candidates = exploration.candidates
        return Transitions(
            candidates, kernels.rank_transition.compute_probabilities(candidates.offsets, scores, self.p_g)
        )


@dataclass(frozen=True)
class SwarmLimits:
    """How many walkers there are, and how far they go."""

    size: int
    """Paths that a group may follow at first; fewer from step to step."""
    alpha: float
    """The largest alpha that will be asked for: how much a step counts is alpha to its power."""
    tail: float = 1e-3
    """Share of all visits that is left out, once walkers are drawn, by not going on for ever."""
    groups: int = 8
    """Independent swarms, whose spread gives the standard error."""
    most_paths: int | None = None
    """Refuse to follow more."""

    def goes_on(self, step: int, drawn: bool) -> bool:
        """Whether anyone walks this step: one that counts for something."""
        return self.alpha**step > (self.tail if drawn else _NOTHING)

    def walkers(self, step: int, drawn: bool) -> int:
        """Walkers of a group that take the step after `step`.

        Late steps count less and cost more, since agents read longer paths: somewhat fewer walkers take them than would
        not have teleported yet.
        """
        return max(1, int(self.size * self.alpha ** (1.2 * step))) if drawn else self.size * self.groups

    def check(self, paths: int) -> None:
        """Raise where there are more paths to follow than there may be."""
        if self.most_paths is not None and paths > self.most_paths:
            raise SettingError(
                f"there are more than {self.most_paths:,} paths to follow, too many to count them all; "
                "leave exact=True out, and walkers will be drawn."
            )


@dataclass(frozen=True, eq=False)
class Swarm:
    """Walkers by group: those of group g stand at `bounds[g]:bounds[g + 1]`; one group while all groups agree."""

    bounds: Int64
    states: Int64
    """The state that each walker is in."""
    weights: Float64
    """The share of all walkers that each stands for; those of a group add up to 1, less those that teleported."""
    drawn: bool = False
    """Whether some paths are left out, and drawn ones stand for them."""

    def matrix(self, num_states: int) -> Any:
        """Groups x states, sparse."""
        return scipy.sparse.csr_array(
            (self.weights, self.states, self.bounds), shape=(len(self.bounds) - 1, num_states)
        )

    def branched(
        self, transitions: Transitions, reach: SwarmLimits, step: int, streams: Streams
    ) -> tuple[Swarm, Int64]:
        """The swarm one step later, and the candidates (places in `transitions`) that its new states went to."""
        if not self.drawn and np.count_nonzero(transitions.chances) > reach.walkers(step, False):
            return self._in_groups(reach.groups).branched(transitions, reach, step, streams)
        groups = len(self.bounds) - 1
        luck = kernels.random.draw_uniforms(
            streams[:groups], np.full(groups, step, np.uint64), np.zeros(groups, np.uint64)
        )
        bounds, chosen, weights = kernels.resampling.branch_walkers(
            self.bounds,
            self.states,
            self.weights,
            transitions.candidates.offsets,
            transitions.chances,
            reach.walkers(step, self.drawn),
            luck,
        )
        reached, states = np.unique(chosen, return_inverse=True)
        return Swarm(bounds, states, weights, self.drawn), reached

    def _in_groups(self, groups: int) -> Swarm:
        """The same walkers in several groups, which go their own ways from here."""
        count = len(self.states)
        return Swarm(np.arange(groups + 1) * count, np.tile(self.states, groups), np.tile(self.weights, groups), True)


def simulate_swarm(
    bias: WalkerPolicy, starts: States, chances: Float64, reach: SwarmLimits, streams: Streams
) -> Visits:
    """Let a swarm walk from `starts`, taken with `chances`.

    Once there are more paths than it may follow, it divides into `reach.groups`, each with its own of `streams`.
    """
    num_nodes = int(bias.stack.starts[-1])
    first = starts.nodes[:, -1]
    transitions = Transitions(Candidates(np.array([0, len(first)]), first), chances)
    swarm = Swarm(np.array([0, 1]), np.zeros(1, np.int64), np.ones(1))  # one walker, about to go to a start
    steps, paths, states = [transitions.matrix(num_nodes)], 0, None
    while reach.goes_on(len(steps), swarm.drawn):
        reach.check(paths + int(np.count_nonzero(transitions.chances)))
        swarm, reached = swarm.branched(transitions, reach, len(steps) - 1, streams)
        if len(reached) == 0:
            break
        c = transitions.candidates
        states = starts.rows(reached) if states is None else states.grown(c.walks[reached], c.nodes[reached])
        paths += len(reached)
        transitions = bias.transitions(states)
        steps.append(transitions.carried(swarm.matrix(len(reached)), num_nodes))
    return Visits(steps, reach.size, paths, swarm.drawn)
