"""Where curious walkers are, step by step, from each node on which they may start.

Walkers forget at a teleport, so the scores for a history are means over its nodes; and nothing here knows alpha or how
far walkers go, so one table answers for all of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse

from curiograph import kernels
from curiograph.agents.registry import AgentLike, as_agent
from curiograph.arrays import Int32, Int64
from curiograph.centrality.curious_pagerank import make_start_states
from curiograph.centrality.rank_transition import check_p_g
from curiograph.centrality.swarm import SwarmLimits, WalkerPolicy, simulate_swarm
from curiograph.exploration.mdp import Candidates
from curiograph.graph.batch import GraphBatch
from curiograph.graph.features import Float32
from curiograph.graph.graph import Graph
from curiograph.parallel import IN_PROCESS, Engine, Job, Result, run_job
from curiograph.parallel.fingerprint import fingerprint, hash_graph, hash_values
from curiograph.progress import Progress, no_progress
from curiograph.rewards.registry import as_reward
from curiograph.validation import check_integer

STARTS_PER_TASK = 64
"""Nodes of one task."""
_CHANCE = 8
"""Bytes of a chance and of where it belongs."""
_ENTRIES = 2**24
"""Numbers of a dense block: bounds the memory."""


@dataclass(frozen=True)
class Walkers:
    """Who walks, and how."""

    agent: AgentLike
    """Wherever an agent is asked for; "random" for walkers that only remember their path."""
    reward: str = "igt"
    p_g: float = 0.8
    """0 always takes the agent's best candidate, 1 any candidate alike."""
    steps: int = 8
    """Most steps between two teleports."""
    count: int = 400
    """Paths that are followed from each node; all, where there are no more."""
    seed: int = 0

    def __post_init__(self) -> None:
        check_p_g(self.p_g)
        check_integer("steps", self.steps, 1, "give the steps between two teleports, 1 or more")
        check_integer("count", self.count, 1, "give the paths to follow, 1 or more")

    def about(self, graph: Graph) -> list[Any]:
        """What tells the table of these walkers on this graph from all others."""
        walks = [self.reward, self.p_g, self.steps, self.count, self.seed]
        return [hash_graph(graph), fingerprint("agent", as_agent(self.agent)), *walks]


@dataclass(frozen=True)
class _Steps(SwarmLimits):
    """As many walkers at every step, up to the last."""

    last: int = 1

    def goes_on(self, step: int, drawn: bool) -> bool:
        return step <= self.last

    def walkers(self, step: int, drawn: bool) -> int:
        return self.size


@dataclass(frozen=True, eq=False)
class StepVisits:
    """Chances to be at each node, by start and step."""

    steps: Sequence[Any]
    """A sparse array for every step from the first on: nodes x nodes. Rows of nodes that nobody starts at are empty."""

    def of(self, histories: Int32, candidates: Candidates) -> Float32:
        """Chances of the candidates of each history, whose nodes are starts alike: steps x candidates.

        >>> from curiograph.graph.toys import cycle
        >>> visits = simulate_walkers(cycle(4), Walkers("random", steps=2), [0])
        >>> visits.of(np.array([[0]]), Candidates(np.array([0, 2]), np.array([1, 2]))).tolist()
        [[0.5, 0.0], [0.0, 1.0]]
        """
        count, size = len(histories), self.steps[0].shape[0]
        entries = np.full(histories.size, 1 / max(1, histories.shape[1]))
        visited = scipy.sparse.csr_array(
            (entries, histories.ravel(), np.arange(count + 1) * histories.shape[1]), shape=(count, size)
        )
        chances = np.empty((len(self.steps), len(candidates.nodes)), np.float32)
        at_once = max(1, _ENTRIES // size)
        for first in range(0, count, at_once):
            last = min(first + at_once, count)
            mine = slice(candidates.offsets[first], candidates.offsets[last])
            rows, nodes = candidates.walks[mine] - first, candidates.nodes[mine]
            for step, table in enumerate(self.steps):
                chances[step, mine] = (visited[first:last] @ table).toarray()[rows, nodes]
        return chances


def simulate_walkers(
    graph: Graph,
    walkers: Walkers,
    starts: Sequence[int] | Int64,
    *,
    name: str = "walkers",
    engine: Engine = IN_PROCESS,
    progress: Progress = no_progress,
) -> StepVisits:
    """Let walkers start at each of some nodes, as a job of that name."""
    starts = np.unique(np.asarray(starts, np.int64))
    tasks = [starts[first : first + STARTS_PER_TASK] for first in range(0, len(starts), STARTS_PER_TASK)]
    job = Job(
        name=name,
        function=_table,
        shared=(graph, replace(walkers, agent=as_agent(walkers.agent))),  # a path may not exist on another machine
        tasks=tasks,
        key=lambda: {"walkers": walkers.about(graph), "starts": hash_values(starts)},
        describe_task=lambda some: f"walkers from the nodes at positions {some[0]} to {some[-1]}",
        unit=f"groups of {STARTS_PER_TASK} nodes",
        fix="predict fewer choices (windows, all_windows), or use walkers of fewer steps",
    )
    return _collected(run_job(job, engine, progress), tasks, graph.num_nodes, walkers.steps)


def _table(shared: tuple[Graph, Walkers], starts: Int64) -> Result:
    """Chances from some starts, flat: of start i and step k, those at `bounds[i * steps + k]` and on."""
    graph, walkers = shared
    bias = WalkerPolicy(
        GraphBatch.of([graph]), as_agent(walkers.agent), as_reward(walkers.reward), walkers.p_g, "frontier", 1
    )
    reach = _Steps(walkers.count, alpha=1.0, groups=1, last=walkers.steps)
    nodes, chances, counts = [], [], []
    for start in starts:
        first = make_start_states(np.asarray([start], np.int32), walkers.seed)
        streams = kernels.random.make_streams(first.streams[0], 0, 1)
        steps = simulate_swarm(bias, first, np.ones(1), reach, streams).steps[1:]
        for step in range(walkers.steps):
            held = step < len(steps)
            nodes.append(steps[step].indices if held else np.empty(0, np.int32))
            chances.append(steps[step].data if held else np.empty(0))
            counts.append(len(nodes[-1]))
    return {
        "nodes": np.concatenate(nodes).astype(np.int32),
        "chances": np.concatenate(chances).astype(np.float32),
        "bounds": np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
    }


def _collected(tables: Sequence[Result], tasks: Sequence[Int64], size: int, steps: int) -> StepVisits:
    """What all tasks found, by step."""
    made = []
    for step in range(steps):
        rows, nodes, chances = [np.empty(0, np.int64)], [np.empty(0, np.int32)], [np.empty(0, np.float32)]
        for table, starts in zip(tables, tasks, strict=True):
            for row, start in enumerate(starts.tolist()):
                mine = slice(*table["bounds"][row * steps + step :][:2])
                nodes.append(table["nodes"][mine])
                chances.append(table["chances"][mine])
                rows.append(np.full(len(nodes[-1]), start))
        places = (np.concatenate(rows), np.concatenate(nodes))
        made.append(scipy.sparse.coo_array((np.concatenate(chances), places), shape=(size, size)).tocsr())
    return StepVisits(made)
