"""Curious walkers: probabilities of being at each node after each step, from every start.

Walkers forget their path at a teleport, so the scores of a history are means over its nodes. The table depends neither
on alpha nor on the number of steps between teleports, so one simulation serves all values of both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse

from curiograph import kernels
from curiograph.agents.agent_names import AgentLike, as_agent
from curiograph.arrays import Float32, Int32, Int64
from curiograph.centrality.history import check_p_g
from curiograph.centrality.swarm import States, SwarmLimits, WalkerPolicy, simulate_swarm
from curiograph.exploration.mdp import Candidates
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph
from curiograph.parallel import IN_PROCESS, Engine
from curiograph.progress import Progress, no_progress
from curiograph.recommendation.incidence import gather_product
from curiograph.rewards.reward_names import as_reward

_STARTS_PER_TASK = 64


def simulate_walkers(
    graph: Graph,
    agent: AgentLike,
    reward: str,
    starts: Sequence[int] | Int64,
    *,
    p_g: float = 0.8,
    steps: int = 8,
    count: int = 400,
    seed: int = 0,
    engine: Engine = IN_PROCESS,
    progress: Progress = no_progress,
) -> list[Any]:
    """Simulate walkers that follow an agent by the rank transition, at most `count` paths from each start.

    Returns one sparse array per step with the probabilities, starts x nodes; rows of other nodes than starts are empty.
    """
    starts = np.unique(np.asarray(starts, np.int64))
    tasks = [starts[first : first + _STARTS_PER_TASK] for first in range(0, len(starts), _STARTS_PER_TASK)]
    agent, settings = as_agent(agent), (reward, check_p_g(p_g), steps, count, seed)
    results = engine.map(
        simulate_starts,
        (graph, agent, *settings),
        tasks,
        name=f"walkers-{agent.name}-{reward}",
        key=[graph, agent, settings],
        unit=f"groups of {_STARTS_PER_TASK} nodes",
        progress=progress,
    )
    found = {key: np.concatenate([result[key] for result in results]) for key in results[0]}
    arrays = []
    for step in range(steps):
        now = found["steps"] == step
        places, shape = (found["starts"][now], found["nodes"][now]), (graph.num_nodes, graph.num_nodes)
        arrays.append(scipy.sparse.coo_array((found["chances"][now], places), shape=shape).tocsr())
    return arrays


def score_visits(visits: Sequence[Any], histories: Int32, candidates: Candidates) -> Float32:
    """Return steps x candidates: the mean probability over the nodes of each candidate's history."""
    count, width = histories.shape
    entries = (np.full(histories.size, 1 / width), histories.ravel(), np.arange(count + 1) * width)
    visited = scipy.sparse.csr_array(entries, shape=(count, visits[0].shape[0]))
    return np.stack([gather_product(visited, table, candidates).astype(np.float32) for table in visits])


def simulate_starts(shared: tuple[Any, ...], starts: Int64) -> Mapping[str, Any]:
    """Task function: probabilities from some starts, as flat arrays of steps, starts, nodes and chances."""
    graph, agent, reward, p_g, steps, count, seed = shared
    policy = WalkerPolicy(
        stack=GraphBatch.of([graph]), agent=agent, reward=as_reward(reward), p_g=p_g, fallback="frontier", workers=1
    )
    limits = SwarmLimits(count, alpha=1.0, groups=1, steps=steps)  # as many walkers at every step
    found = []
    for start in starts:
        states = States.start(np.asarray([start], np.int32), seed)
        streams = kernels.random.make_streams(states.streams[0], 0, 1)
        visited = simulate_swarm(policy, states, np.ones(1), limits, streams).steps[1:]
        found += [(step, start, each.indices, each.data) for step, each in enumerate(visited)]
    sizes = [len(nodes) for _, _, nodes, _ in found]
    return {
        "steps": np.repeat(np.array([step for step, _, _, _ in found], np.int16), sizes),
        "starts": np.repeat(np.array([start for _, start, _, _ in found], np.int32), sizes),
        "nodes": np.concatenate([nodes for _, _, nodes, _ in found]).astype(np.int32),
        "chances": np.concatenate([chances for _, _, _, chances in found]).astype(np.float32),
    }
