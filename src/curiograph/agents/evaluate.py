"""Evaluate agents: returns over many walks, with several evaluations as one parallel job."""

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
from curiograph.notebook import render_result
from curiograph.parallel import Engine, EngineName, Job, Result, resolve_engine, run_job
from curiograph.parallel.fingerprint import fingerprint, hash_graph, hash_values
from curiograph.progress import Progress, no_progress
from curiograph.rewards.registry import RewardLike
from curiograph.validation import check_integer, check_seed

Episodes = int | Literal["all"]

_START_STEP = np.uint64(2**63)  # step number of the random draw of the start; no walk reaches it
_TASK_WALKS = 128
"""Number of walks of a task; constant, so that results do not depend on the number of workers."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Returns of many walks of one agent.

    Examples
    --------
    >>> Evaluation("greedy", "igt", 3, [np.array([1.0, 2.0]), np.array([3.0])]).mean
    2.0
    """

    agent: str
    """Name of the agent."""
    reward: str
    """Name of the reward."""
    steps: int
    """Number of nodes that was requested for every walk."""
    returns: list[Float64] = field(repr=False)
    """Returns, one array per graph with one entry per episode."""
    ended_early: int = 0
    """Number of walks that had no candidates left before `steps` nodes were visited."""

    @property
    def mean(self) -> float:
        """Mean return over all episodes."""
        return float(np.concatenate(self.returns).mean())

    @property
    def sem(self) -> float:
        """Standard error of the mean over episodes, assuming that all are independent, as in the paper."""
        values = np.concatenate(self.returns)
        return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")

    @property
    def sem_by_graph(self) -> float:
        """Standard error of the mean, clustered by graph; NaN for a single graph.

        If all graphs have the same number of episodes, it is the standard error of the means by graph.
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
        """Total number of walks."""
        return sum(len(r) for r in self.returns)

    def __repr__(self) -> str:
        size = f"{self.episodes:,} walks of {self.steps} nodes on {len(self.returns):,} graphs"
        return f"Evaluation({self.agent} for {self.reward}: mean return {self.mean:.4g} ± {self.sem:.2g}, {size})"

    def _repr_html_(self) -> str:
        counts = [len(returns) for returns in self.returns]
        columns = {"graph": range(len(counts)), "episodes": counts, "mean return": self.by_graph.tolist()}
        return render_result(repr(self), columns, {"return by graph": self.by_graph.tolist()})

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain values."""
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
    """Walks to run for one evaluation."""

    agent: Agent
    """The agent that is evaluated."""
    initial: Exploration = field(repr=False)
    """All walks at their starts; each has its own random stream, so its result does not depend on the others."""
    steps: int
    """Number of nodes that was requested."""
    counts: Int64 = field(repr=False)
    """Number of walks on each graph."""
    seed: int
    """Seed of the evaluation."""

    @classmethod
    def create(
        cls,
        agent: AgentLike,
        graphs: Sequence[Graph] | Graph,
        reward: RewardLike = "igt",
        steps: int = 10,
        episodes: Episodes = 100,
        fallback: Fallback = "frontier",
        seed: int = 0,
    ) -> Rollouts:
        """Check the arguments of `evaluate` and choose the starts."""
        graph_list, steps = as_graphs(graphs), check_steps(steps)
        starts = [list_starts(graph, fallback) for graph in graph_list]
        if episodes != "all":
            count = check_integer("episodes", episodes, 1, "give a whole number, 1 or more, or 'all'")
            starts = [draw_starts(possible, count, seed, k) for k, possible in enumerate(starts)]
        evaluated = as_agent(agent)
        initial = begin(graph_list, starts, reward, steps, fallback=fallback, seed=seed)
        counts = np.asarray([len(positions) for positions in starts])
        return cls(agent=evaluated, initial=initial, steps=steps, counts=counts, seed=seed)

    def run(self, first: int, last: int) -> Result:
        """Run the walks `first` to `last - 1` and return their returns and lengths."""
        ended = self.agent.run(self.initial.rows(np.arange(first, last)))
        return {"returns": ended.returns, "lengths": ended.lengths}

    def summarize(self, results: Sequence[Result]) -> Evaluation:
        """Combine the results of all tasks, in order."""
        returns = np.concatenate([result["returns"] for result in results])
        lengths = np.concatenate([result["lengths"] for result in results])
        return Evaluation(
            agent=self.agent.name,
            reward=self.initial.reward.name,
            steps=self.steps,
            returns=np.split(returns, np.cumsum(self.counts)[:-1]),
            ended_early=int(np.count_nonzero(lengths < self.steps)),
        )

    def describe(self, first: int, last: int) -> str:
        """Describe the walks `first` to `last - 1` in an error message."""
        graphs = self.initial.graph_of[[first, last - 1]]
        return (
            f"{self.agent.name} for {self.initial.reward.name}, walks {first} to {last - 1} "
            f"(graphs {graphs[0]} to {graphs[1]})"
        )

    def key(self) -> list[Any]:
        """Return values that identify these walks in a run folder."""
        return [
            fingerprint("agent", self.agent),
            fingerprint("reward", self.initial.reward),
            self.steps,
            self.initial.fallback,
            self.seed,
            [hash_graph(graph) for graph in self.initial.stack.graphs],
            self.counts.tolist(),
            hash_values(self.initial.nodes[:, 0]),
        ]


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
    """Evaluate an agent: compute its returns over many walks.

    Parameters
    ----------
    agent : str, path, Agent or object with `scores`
        The agent; see `explore`.
    graphs : Graph or sequence of Graph
        The graphs to explore.
    reward : str, Reward or callable
        "igt", "cpt", "cct", a sum such as "igt+0.5*cpt", or a function of the visited subgraph; see `as_reward`.
    steps : int
        Number of nodes to visit in a walk, the start included.
    episodes : int or "all"
        Number of walks per graph from random starts, or one walk from every node.
    fallback : {"frontier", "anywhere"}
        Candidates at a dead end; see `explore`.
    seed : int
        Seed of random starts and tie-breaking.
    engine : {"local", "ray"}
        Execution backend: processes of this machine or a Ray cluster. The result is the same.
    workers : int, optional
        Number of parallel tasks; chosen automatically by default.
    address : str, optional
        Address of a Ray cluster; by default one is started on this machine.
    run : str or path, optional
        Folder that stores finished tasks, so that an interrupted job can be resumed.
    progress : callable
        Called with a message and the completed share.

    Returns
    -------
    Evaluation
        Returns of all walks, with means and standard errors.

    Examples
    --------
    >>> from curiograph.graph.toys import cycle
    >>> evaluate("random", [cycle(5), cycle(6)], reward="igt", steps=5, episodes="all").mean
    0.4545...
    """
    rollouts = Rollouts.create(agent, graphs, reward, steps, episodes, fallback, seed)
    return evaluate_all([rollouts], resolve_engine(engine, workers, address, run), progress)[0]


def evaluate_all(
    evaluations: Sequence[Rollouts], engine: Engine, progress: Progress = no_progress, name: str = "evaluate"
) -> list[Evaluation]:
    """Run several evaluations as one job; a single small one runs directly."""
    tasks = [
        (number, first, min(len(rollouts.initial.lengths), first + _TASK_WALKS))
        for number, rollouts in enumerate(evaluations)
        for first in range(0, len(rollouts.initial.lengths), _TASK_WALKS)
    ]
    if len(tasks) == 1 and engine.backend == "local" and engine.run is None:
        return [evaluations[0].summarize([_run_task(evaluations, tasks[0])])]
    job = Job(
        name=name,
        function=_run_task,
        shared=list(evaluations),
        tasks=tasks,
        key=lambda: {"walks": [rollouts.key() for rollouts in evaluations]},
        describe_task=lambda task: evaluations[task[0]].describe(*task[1:]),
        unit="walks",
        task_sizes=[last - first for _, first, last in tasks],
        fix="evaluate fewer graphs at a time",
    )
    results: list[list[Result]] = [[] for _ in evaluations]
    for (number, _, _), result in zip(tasks, run_job(job, engine, progress), strict=True):
        results[number].append(result)
    return [rollouts.summarize(parts) for rollouts, parts in zip(evaluations, results, strict=True)]


def _run_task(evaluations: Sequence[Rollouts], task: tuple[int, int, int]) -> Result:
    number, first, last = task
    return evaluations[number].run(first, last)


def draw_starts(possible: Int64, count: int, seed: int, task: int = 0) -> Int64:
    """Draw `count` of the possible positions uniformly, with replacement; one per random stream of the task."""
    streams = kernels.random.make_streams(np.uint64(check_seed(seed)), task, count)
    draws = kernels.random.draw_uniforms(streams, np.full(count, _START_STEP), np.zeros(count, np.uint64))
    return possible[np.asarray(draws * len(possible), np.int64)]
