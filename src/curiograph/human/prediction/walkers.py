"""Curious walkers: probabilities of being at each node after each step, from every start.

Walkers forget their path at a teleport, so the scores of a history are means over its nodes. The table depends neither
on alpha nor on the number of steps between teleports, so one simulation serves all values of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse

from curiograph import kernels
from curiograph.agents.registry import AgentLike, as_agent
from curiograph.arrays import Float32, Int32, Int64
from curiograph.centrality.curious_pagerank import make_start_states
from curiograph.centrality.rank_transition import check_p_g
from curiograph.centrality.swarm import SwarmLimits, WalkerPolicy, simulate_swarm
from curiograph.exploration.mdp import Candidates
from curiograph.graph.batch import GraphBatch
from curiograph.graph.csr import concatenate_ranges
from curiograph.graph.graph import Graph
from curiograph.parallel import IN_PROCESS, Engine, Job, Result, run_job
from curiograph.parallel.fingerprint import fingerprint, hash_graph, hash_values
from curiograph.progress import Progress, no_progress
from curiograph.recommendation.incidence import gather_product
from curiograph.rewards.registry import as_reward
from curiograph.validation import check_integer

STARTS_PER_TASK = 64
"""Number of starts that are simulated in one task."""


@dataclass(frozen=True)
class Walkers:
    """Settings of walkers that follow an agent."""

    agent: AgentLike
    """Agent by name or path, or an agent; "random" for walkers that only remember their path."""
    reward: str = "igt"
    """Reward for agents that need one."""
    p_g: float = 0.8
    """Parameter of the rank transition: 0 takes the agent's best candidate, 1 any candidate."""
    steps: int = 8
    """Maximum number of steps between two teleports."""
    count: int = 400
    """Maximum number of paths followed from each node."""
    seed: int = 0
    """Random seed."""

    def __post_init__(self) -> None:
        check_p_g(self.p_g)
        check_integer("steps", self.steps, 1, "give the steps between two teleports, 1 or more")
        check_integer("count", self.count, 1, "give the paths to follow, 1 or more")

    def get_key(self, graph: Graph) -> list[Any]:
        """Return plain values that identify the probabilities of these walkers on a graph."""
        settings = [self.reward, self.p_g, self.steps, self.count, self.seed]
        return [hash_graph(graph), fingerprint("agent", as_agent(self.agent)), *settings]


class _ConstantSize(SwarmLimits):
    """Limits of a swarm that does not get smaller from step to step."""

    def count_walkers(self, step: int, sampled: bool) -> int:
        return self.size


def simulate_walkers(
    graph: Graph,
    walkers: Walkers,
    starts: Sequence[int] | Int64,
    name: str = "walkers",
    engine: Engine = IN_PROCESS,
    progress: Progress = no_progress,
) -> list[Any]:
    """Simulate walkers from each of some positions, as a job of the given name.

    Returns one sparse array per step with the probabilities, starts x nodes; rows of other nodes than starts are empty.
    """
    starts = np.unique(np.asarray(starts, np.int64))
    tasks = [starts[first : first + STARTS_PER_TASK] for first in range(0, len(starts), STARTS_PER_TASK)]
    job = Job(
        name=name,
        function=_simulate_starts,
        shared=(graph, replace(walkers, agent=as_agent(walkers.agent))),  # a path may not exist on another machine
        tasks=tasks,
        key=lambda: {"walkers": walkers.get_key(graph), "starts": hash_values(starts)},
        describe_task=lambda some: f"walkers from the nodes at positions {some[0]} to {some[-1]}",
        unit=f"groups of {STARTS_PER_TASK} nodes",
        fix="predict fewer choices (windows, all_windows), or use walkers of fewer steps",
    )
    results = run_job(job, engine, progress)
    arrays = []
    for step in range(walkers.steps):
        rows, nodes, chances = [], [], []
        for result, some in zip(results, tasks, strict=True):
            begins, ends = result["bounds"][:-1][step :: walkers.steps], result["bounds"][1:][step :: walkers.steps]
            entries = concatenate_ranges(begins, ends - begins)
            rows.append(np.repeat(some, ends - begins))
            nodes.append(result["nodes"][entries])
            chances.append(result["chances"][entries])
        places = (np.concatenate(rows), np.concatenate(nodes))
        shape = (graph.num_nodes, graph.num_nodes)
        arrays.append(scipy.sparse.coo_array((np.concatenate(chances), places), shape=shape).tocsr())
    return arrays


def score_visits(visits: Sequence[Any], histories: Int32, candidates: Candidates) -> Float32:
    """Return steps x candidates: the mean probability over the nodes of each candidate's history.

    >>> from curiograph.graph.toys import cycle
    >>> visits = simulate_walkers(cycle(4), Walkers("random", steps=2), [0])
    >>> score_visits(visits, np.array([[0]]), Candidates(np.array([0, 2]), np.array([1, 2]))).tolist()
    [[0.5, 0.0], [0.0, 1.0]]
    """
    count, width = histories.shape
    entries = (np.full(histories.size, 1 / width), histories.ravel(), np.arange(count + 1) * width)
    visited = scipy.sparse.csr_array(entries, shape=(count, visits[0].shape[0]))
    return np.stack([gather_product(visited, table, candidates).astype(np.float32) for table in visits])


def _simulate_starts(shared: tuple[Graph, Walkers], starts: Int64) -> Result:
    """Task function: probabilities from some starts, flat.

    Those of start i after step k are at `bounds[i * steps + k]:bounds[i * steps + k + 1]`.
    """
    graph, walkers = shared
    policy = WalkerPolicy(
        stack=GraphBatch.of([graph]),
        agent=as_agent(walkers.agent),
        reward=as_reward(walkers.reward),
        p_g=walkers.p_g,
        fallback="frontier",
        workers=1,
    )
    limits = _ConstantSize(walkers.count, alpha=1.0, groups=1, steps=walkers.steps)
    nodes, chances = [], []
    for start in starts:
        states = make_start_states(np.asarray([start], np.int32), walkers.seed)
        streams = kernels.random.make_streams(states.streams[0], 0, 1)
        steps = simulate_swarm(policy, states, np.ones(1), limits, streams).steps[1:]
        for step in range(walkers.steps):
            reached = step < len(steps)
            nodes.append(steps[step].indices if reached else np.empty(0, np.int32))
            chances.append(steps[step].data if reached else np.empty(0))
    return {
        "nodes": np.concatenate(nodes).astype(np.int32),
        "chances": np.concatenate(chances).astype(np.float32),
        "bounds": np.concatenate([[0], np.cumsum([len(each) for each in nodes])]).astype(np.int64),
    }
