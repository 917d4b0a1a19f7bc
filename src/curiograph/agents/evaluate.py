"""Evaluate agents: returns over many walks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from curiograph import kernels
from curiograph.agents.agent import Agent
from curiograph.agents.agent_names import AgentLike, as_agent
from curiograph.arrays import Float64, Int64
from curiograph.exploration.mdp import Exploration, Fallback, as_graphs, begin, check_steps, list_starts
from curiograph.graph.graph import Graph
from curiograph.parallel import Engine, EngineName, as_engine
from curiograph.progress import Progress, no_progress
from curiograph.results import Table, to_plain
from curiograph.rewards.reward_names import RewardLike
from curiograph.validation import check_integer, check_seed

Episodes = int | Literal["all"]

_START_STEP = np.uint64(2**63)  # step number of the random draw of the start; no walk reaches it
_TASK_WALKS = 128  # constant, so that results do not depend on the number of workers


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Table):
    """Returns of many walks of one agent; a row per graph.

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
    returns: list[Float64]
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

    def columns(self) -> Mapping[str, Any]:
        counts = [len(returns) for returns in self.returns]
        return {"graph": range(len(counts)), "episodes": counts, "mean": self.by_graph}

    def list_facts(self) -> dict[str, Any]:
        names = ("episodes", "mean", "sem", "sem_by_graph")
        facts = super().list_facts() | {"graphs": len(self.returns)}
        return facts | {name: to_plain(getattr(self, name)) for name in names}

    def __repr__(self) -> str:
        size = f"{self.episodes:,} walks of {self.steps} nodes on {len(self.returns):,} graphs"
        return f"Evaluation({self.agent} for {self.reward}: mean return {self.mean:.4g} ± {self.sem:.2g}, {size})"


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
    engine : {"local", "ray"} or Engine
        Where the walks run; the result is the same.
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
    graph_list, steps = as_graphs(graphs), check_steps(steps)
    starts = [list_starts(graph, fallback) for graph in graph_list]
    if episodes != "all":
        count = check_integer("episodes", episodes, 1, "give a whole number, 1 or more, or 'all'")
        starts = [draw_starts(possible, count, seed, k) for k, possible in enumerate(starts)]
    runner = as_agent(agent)
    initial = begin(graph_list, starts, reward, steps, fallback=fallback, seed=seed)
    total = len(initial.lengths)
    tasks = [(first, min(total, first + _TASK_WALKS)) for first in range(0, total, _TASK_WALKS)]
    results = as_engine(engine).map(
        run_walks,
        (runner, initial),
        tasks,
        name="evaluate",
        key=[runner, initial.reward, steps, fallback, seed, graph_list, starts],
        unit="walks",
        sizes=[last - first for first, last in tasks],
        progress=progress,
    )
    returns = np.concatenate([result["returns"] for result in results])
    lengths = np.concatenate([result["lengths"] for result in results])
    return Evaluation(
        agent=runner.name,
        reward=initial.reward.name,
        steps=steps,
        returns=np.split(returns, np.cumsum([len(positions) for positions in starts])[:-1]),
        ended_early=int(np.count_nonzero(lengths < steps)),
    )


def run_walks(shared: tuple[Agent, Exploration], task: tuple[int, int]) -> dict[str, Any]:
    """Run the walks of a task; each has its own random stream, so its result does not depend on the others."""
    agent, initial = shared
    ended = agent.run(initial.rows(np.arange(*task)))
    return {"returns": ended.returns, "lengths": ended.lengths}


def draw_starts(possible: Int64, count: int, seed: int, task: int = 0) -> Int64:
    """Draw `count` of the possible positions uniformly, with replacement; one per random stream of the task."""
    streams = kernels.random.make_streams(np.uint64(check_seed(seed)), task, count)
    draws = kernels.random.draw_uniforms(streams, np.full(count, _START_STEP), np.zeros(count, np.uint64))
    return possible[np.asarray(draws * len(possible), np.int64)]
