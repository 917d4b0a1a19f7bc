"""`evaluate`: returns of an agent over many walks; and many evaluations as one job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from curiograph import kernels
from curiograph.agents.base import Agent
from curiograph.agents.registry import AgentLike, as_agent
from curiograph.arrays import Float64, Int64
from curiograph.exploration.mdp import Exploration, Fallback, as_graphs, begin, check_steps, list_starts
from curiograph.files import PathLike
from curiograph.graph.graph import Graph
from curiograph.parallel import Engine, EngineName, Job, Result, resolve_engine, run_job
from curiograph.parallel.fingerprint import fingerprint, hash_graph, hash_values
from curiograph.progress import Progress, no_progress
from curiograph.rewards.registry import RewardLike
from curiograph.validation import check_integer, check_seed

Episodes = int | Literal["all"]

_START = np.uint64(2**63)  # the step whose draw picks the start: no walk gets that far
_AT_ONCE = 128
"""Walks of one task; fixed, so that results do not depend on the workers."""
_WALK = 2**19
"""Bytes that a walk takes while an agent looks at its candidates: measured with beam and horizon, rounded up."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Returns of many walks by one agent."""

    agent: str
    reward: str
    steps: int
    returns: list[Float64] = field(repr=False)
    """One array per graph, one entry per episode."""
    ended_early: int = 0
    """Walks that ran out of candidates."""

    @property
    def mean(self) -> float:
        """Mean return over all episodes."""
        return float(np.concatenate(self.returns).mean())

    @property
    def sem(self) -> float:
        """Standard error of the mean over episodes, as if all were independent (what the paper gives)."""
        values = np.concatenate(self.returns)
        return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")

    @property
    def sem_by_graph(self) -> float:
        """Standard error of the mean clustered by graph: episodes on one graph are alike. NaN for a single graph.

        With equally many episodes on every graph it is that of the means by graph.
        """
        graphs, mean = len(self.returns), self.mean
        if graphs < 2:
            return float("nan")
        excess = np.asarray([np.sum(r - mean) for r in self.returns])
        return float(np.sqrt(graphs / (graphs - 1) * np.sum(excess**2)) / self.episodes)

    @property
    def by_graph(self) -> Float64:
        """Mean return on each graph."""
        return np.asarray([r.mean() for r in self.returns])

    @property
    def episodes(self) -> int:
        """Number of walks."""
        return sum(len(r) for r in self.returns)

    def to_dict(self) -> dict[str, Any]:
        """The summary as plain values."""
        return {
            "agent": self.agent,
            "reward": self.reward,
            "steps": self.steps,
            "graphs": len(self.returns),
            "episodes": self.episodes,
            "mean": self.mean,
            "sem": self.sem,
            "sem_by_graph": self.sem_by_graph,
            "by_graph": self.by_graph.tolist(),
            "ended_early": self.ended_early,
        }


@dataclass(frozen=True, eq=False)
class Rollouts:
    """Walks to take: by whom, and from where."""

    agent: Agent
    ready: Exploration = field(repr=False)
    """All of them at their starts, with a random stream for each: what becomes of it does not depend on the others."""
    steps: int
    """Nodes that were asked for."""
    counts: Int64 = field(repr=False)
    """Walks by graph."""
    seed: int

    @classmethod
    def of(
        cls,
        agent: AgentLike,
        graphs: Sequence[Graph] | Graph,
        reward: RewardLike = "igt",
        steps: int = 10,
        episodes: Episodes = 100,
        fallback: Fallback = "frontier",
        seed: int = 0,
    ) -> Rollouts:
        """What `evaluate` takes, checked."""
        listed, steps = as_graphs(graphs), check_steps(steps)
        starts = [_starts(graph, episodes, seed, k, fallback) for k, graph in enumerate(listed)]
        made = as_agent(agent)
        ready = begin(listed, starts, reward, steps, fallback=fallback, seed=seed)
        return cls(made, ready, steps, np.asarray([len(some) for some in starts]), seed)

    def taken(self, first: int, last: int) -> Result:
        """Returns and lengths of some of the walks."""
        ended = self.agent.run(self.ready.rows(np.arange(first, last)))
        return {"returns": ended.returns, "lengths": ended.lengths}

    def evaluation(self, results: Sequence[Result]) -> Evaluation:
        """What the walks earned, from the results of all tasks in order."""
        returns = np.concatenate([result["returns"] for result in results])
        lengths = np.concatenate([result["lengths"] for result in results])
        short = int(np.count_nonzero(lengths < self.steps))
        by_graph = np.split(returns, np.cumsum(self.counts)[:-1])
        return Evaluation(self.agent.name, self.ready.reward.name, self.steps, by_graph, short)

    def about(self) -> list[Any]:
        """What tells these walks from any others."""
        who = [fingerprint("agent", self.agent), fingerprint("reward", self.ready.reward)]
        graphs = [hash_graph(graph) for graph in self.ready.stack.graphs]
        where = [graphs, self.counts.tolist(), hash_values(self.ready.nodes[:, 0])]
        return [*who, self.steps, self.ready.fallback, self.seed, *where]


def evaluate(
    agent: AgentLike,
    graphs: Sequence[Graph] | Graph,
    reward: RewardLike = "igt",
    steps: int = 10,
    episodes: Episodes = 100,
    *,
    fallback: Fallback = "frontier",
    seed: int = 0,
    engine: EngineName | Engine = "local",
    workers: int | None = None,
    address: str | None = None,
    run: PathLike | None = None,
    progress: Progress = no_progress,
) -> Evaluation:
    """Returns of an agent over many walks.

    Parameters
    ----------
    episodes : walks per graph from random starts; or "all", one from every node.
    engine : "local", processes of this machine; or "ray", a cluster. The result is the same.
    workers : tasks at a time; None for as many as pay off.
    address : of the cluster; without it one is started on this machine for the job.
    run : folder that keeps what is finished: a killed job goes on where it stopped.

    >>> from curiograph.graph.toys import cycle
    >>> evaluate("random", [cycle(5), cycle(6)], reward="igt", steps=5, episodes="all").mean
    0.4545...
    """
    walks = Rollouts.of(agent, graphs, reward, steps, episodes, fallback, seed)
    return evaluate_all([walks], resolve_engine(engine, workers, address, run), progress)[0]


def evaluate_all(
    several: Sequence[Rollouts], engine: Engine, progress: Progress = no_progress, name: str = "evaluate"
) -> list[Evaluation]:
    """Run several evaluations as one job."""
    tasks = [
        (number, first, min(len(walks.ready.lengths), first + _AT_ONCE))
        for number, walks in enumerate(several)
        for first in range(0, len(walks.ready.lengths), _AT_ONCE)
    ]
    if len(tasks) == 1 and engine.name == "local" and engine.run_folder is None:
        return [several[0].evaluation([_taken(several, tasks[0])])]
    job = Job(
        name=name,
        function=_taken,
        shared=list(several),
        tasks=tasks,
        key=lambda: {"walks": [walks.about() for walks in several]},
        describe_task=lambda task: _described(several[task[0]], *task[1:]),
        unit="walks",
        task_sizes=[last - first for _, first, last in tasks],
        fix="evaluate fewer graphs at a time",
    )
    results = run_job(job, engine, progress)
    mine: list[list[Result]] = [[] for _ in several]
    for (number, _, _), result in zip(tasks, results, strict=True):
        mine[number].append(result)
    return [walks.evaluation(found) for walks, found in zip(several, mine, strict=True)]


def _taken(several: Sequence[Rollouts], task: tuple[int, int, int]) -> Result:
    number, first, last = task
    return several[number].taken(first, last)


def _described(walks: Rollouts, first: int, last: int) -> str:
    who = f"{walks.agent.name} for {walks.ready.reward.name}"
    graphs = walks.ready.graph_of[[first, last - 1]]
    return f"{who}, walks {first} to {last - 1} (graphs {graphs[0]} to {graphs[1]})"


def _starts(graph: Graph, episodes: Episodes, seed: int, task: int, fallback: Fallback) -> Int64:
    if episodes == "all":
        return list_starts(graph, fallback)
    count = check_integer("episodes", episodes, 1, "give a whole number, 1 or more, or 'all'")
    return draw_starts(list_starts(graph, fallback), count, seed, task)


def draw_starts(possible: Int64, count: int, seed: int, task: int = 0) -> Int64:
    """`count` positions drawn from the possible ones, each alike: one per stream of the task."""
    streams = kernels.random.make_streams(np.uint64(check_seed(seed)), task, count)
    draws = kernels.random.draw_uniforms(streams, np.full(count, _START), np.zeros(count, np.uint64))
    return possible[np.asarray(draws * len(possible), np.int64)]
