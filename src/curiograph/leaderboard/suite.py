"""`suite`: a frozen set of tasks with floors and ceilings, on which any agent can be evaluated."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

import curiograph
from curiograph.agents.base import Agent
from curiograph.agents.evaluate import Evaluation
from curiograph.agents.registry import AgentLike, as_agent
from curiograph.arrays import Float64
from curiograph.errors import GraphError, UnknownNameError
from curiograph.exploration.mdp import Exploration
from curiograph.files import PathLike
from curiograph.graph.graph import Graph
from curiograph.leaderboard.gym_policy import GymPolicy, replay_walks
from curiograph.leaderboard.networks import find_networks, list_networks
from curiograph.leaderboard.results import SuiteResult, TaskResult, compute_ratio_of_means
from curiograph.leaderboard.tasks import FAMILIES_GROUP, GROUPS, Task, list_generated_tasks, list_real_tasks
from curiograph.leaderboard.timing import time_decisions
from curiograph.parallel.fingerprint import hash_graph, hash_values
from curiograph.progress import Progress, no_progress
from curiograph.validation import check_choice

VERSIONS = ("v1",)
REFERENCE = "greedy"
"""Agent whose time per decision is the unit of the leaderboard."""
_ENOUGH = 1e-3  # seconds per decision above which one measurement is precise enough


@dataclass(frozen=True)
class Suite:
    """A frozen set of tasks; see `suite`."""

    version: str
    """Name of the version."""
    tasks: tuple[Task, ...]
    """The tasks."""
    networks: Mapping[str, Path] = field(repr=False)
    """Files of the real networks; empty if their folder was not found."""

    @property
    def names(self) -> list[str]:
        """Names of the tasks."""
        return [task.name for task in self.tasks]

    @property
    def quick(self) -> Suite:
        """The eight tasks on 50-node graphs of the published families, which take seconds."""
        return self.select(FAMILIES_GROUP)

    def select(self, *names: str) -> Suite:
        """Return a suite of some tasks, given by the names of tasks or groups (families, sizes, lengths, real)."""
        unknown = [name for name in names if name not in (*self.names, *GROUPS)]
        if unknown:
            raise UnknownNameError(
                f"the suite has no task {unknown[0]!r}; the groups are {', '.join(GROUPS)}, and the tasks are "
                f"{', '.join(self.names)}."
            )
        chosen = tuple(task for task in self.tasks if task.name in names or task.group in names)
        if not chosen:
            raise UnknownNameError(
                f"no task of the group {names[0]!r} can be evaluated; give the folder of the real networks, as in "
                "suite('v1', data=DIR)."
            )
        return replace(self, tasks=chosen)

    def load_walks(self, name: str) -> Exploration:
        """Return the walks of a task at their starts; raise if its graphs or starts are not the frozen ones."""
        task = next(task for task in self.select(name).tasks)
        graphs = task.load_graphs(self.networks)
        walks = task.begin_walks(graphs)
        if _hash_walks(graphs, walks) != read_reference(self.version)[name]["hash"]:
            raise GraphError(
                f"task {name}: its graphs or starts differ from those of suite {self.version}"
                + (f" ({self.networks[task.network]} has changed)." if task.network else ".")
                + " Use the original data, and the versions of numpy and networkx in constraints.txt."
            )
        return walks

    def evaluate(self, agent: AgentLike, *, repeats: int = 3, progress: Progress = no_progress) -> SuiteResult:
        """Evaluate an agent on all tasks.

        Walks and rewards are checked: every node must be a candidate, and returns are computed from the nodes. Times
        are CPU times of `agent.run` on all walks of a task, per decision, in turns with the reference agent.

        Parameters
        ----------
        agent : str, path, Agent, object with `scores`, or callable
            The agent; a callable is a Gymnasium policy that takes an observation and returns an action.
        repeats : int
            Number of measurements of the time of fast agents, of which the median is taken.
        progress : callable
            Called with a message and the completed share.

        Returns
        -------
        SuiteResult
            Returns, shares of the ceiling, and times by task.

        Examples
        --------
        >>> import curiograph as cg
        >>> tasks = cg.suite("v1").select("igt-ws-50")
        >>> tasks.evaluate("beam:64").tasks[0].share > tasks.evaluate("greedy").tasks[0].share
        True
        """
        entry = as_entry(agent)
        results = []
        for number, task in enumerate(self.tasks):
            progress(f"{entry.name} on {task.name}", number / len(self.tasks))
            results.append(self._evaluate_task(entry, task, repeats))
        return SuiteResult(
            suite=self.version,
            agent=entry.name,
            reference=REFERENCE,
            version=curiograph.__version__,
            machine=f"{platform.machine()} with {os.cpu_count()} cores, Python {platform.python_version()}",
            tasks=results,
        )

    def _evaluate_task(self, entry: Agent, task: Task, repeats: int) -> TaskResult:
        walks = self.load_walks(task.name)
        timed = time_decisions({"agent": entry, "reference": as_agent(REFERENCE)}, walks, repeats, _ENOUGH)
        ended = timed["agent"].walks
        returns = replay_walks(walks, ended.nodes, ended.lengths, entry.name).returns
        clusters = cluster_returns(task, returns)
        summary = Evaluation(entry.name, task.reward, task.steps, [np.atleast_1d(value) for value in clusters])
        stored = read_reference(self.version)[task.name]
        random, ceiling = (np.asarray(stored[column]) for column in ("random", "ceiling"))
        share, share_sem = compute_ratio_of_means(clusters - random, ceiling - random)
        return TaskResult(
            task=task.name,
            group=task.group,
            reward=task.reward,
            walks=len(returns),
            mean=summary.mean,
            sem=summary.sem_by_graph,
            random=float(random.mean()),
            greedy=float(np.mean(stored["greedy"])),
            ceiling=float(ceiling.mean()),
            share=share,
            share_sem=share_sem,
            microseconds=1e6 * timed["agent"].seconds,
            reference_microseconds=1e6 * timed["reference"].seconds,
        )


def suite(version: str = "v1", *, data: PathLike | None = None) -> Suite:
    """Return a frozen benchmark: graphs, starts, rewards, floors and ceilings that do not change.

    The version "v1" has the rewards igt and cpt and four groups of tasks: `families` (10-node walks on 50-node graphs
    of rg, ws, ba and er), `sizes` (the same on 500 and 5,000 nodes), `lengths` (50-node walks on 500 nodes) and, if
    their folder is found, `real` (10-node walks on sixteen real networks).

    Parameters
    ----------
    version : {"v1"}
        Version of the suite.
    data : str or path, optional
        Folder of the real networks, or a folder of datasets with the subfolder real-networks. By default that of the
        environment variable CURIOGRAPH_DATA; without it there are no tasks of the group `real`.

    Returns
    -------
    Suite
        The tasks; `evaluate` runs an agent on them.

    Examples
    --------
    >>> len(suite("v1").quick.tasks), suite("v1").names[0]
    (8, 'igt-rg-50')
    """
    check_choice("version", version, VERSIONS)
    folder = find_networks(data)
    networks = {} if folder is None else list_networks(folder)
    tasks = list_generated_tasks()
    frozen = [name.partition("-")[2] for name, stored in read_reference(version).items() if stored["group"] == "real"]
    names = list(dict.fromkeys(frozen))
    if networks:
        missing = [name for name in names if name not in networks]
        if missing:
            raise GraphError(
                f"{folder}: the network {missing[0]} of suite {version} is missing; all are {', '.join(names)}."
            )
        tasks += list_real_tasks(names)
    return Suite(version=version, tasks=tuple(tasks), networks={name: networks[name] for name in names if networks})


def as_entry(agent: Any) -> Agent:
    """Convert anything that `Suite.evaluate` accepts to an agent; a callable without `scores` is a Gymnasium policy."""
    is_policy = callable(agent) and not isinstance(agent, type) and not hasattr(agent, "scores")
    return GymPolicy(agent) if is_policy else as_agent(agent)


def cluster_returns(task: Task, returns: Float64) -> Float64:
    """Return the mean return on each graph, or the return from each start if there is a single graph."""
    return returns if task.graphs == 1 else np.asarray(returns.reshape(task.graphs, task.episodes).mean(axis=1))


def measure_references(task: Task, networks: Mapping[str, Path]) -> dict[str, Any]:
    """Compute what the suite stores for a task: a hash of its walks, and the returns of floors and ceiling.

    The ceiling of a walk is the highest return that any of several searches finds from its start.
    """
    graphs = task.load_graphs(networks)
    walks = task.begin_walks(graphs)

    def run(name: str) -> Float64:
        return as_agent(name).run(walks.rows(np.arange(len(walks.lengths)))).returns

    random, greedy = run("random"), run("greedy")
    ceiling = np.max([greedy, *(run(name) for name in task.ceiling)], axis=0)
    document: dict[str, Any] = {"group": task.group, "ceiling_by": task.ceiling, "hash": _hash_walks(graphs, walks)}
    for column, returns in (("random", random), ("greedy", greedy), ("ceiling", ceiling)):
        document[column] = cluster_returns(task, returns).round(9).tolist()
    return document


@cache
def read_reference(version: str) -> dict[str, Any]:
    """Return the stored hashes, floors and ceilings of a version by task."""
    text = (resources.files("curiograph.leaderboard") / f"{version}.json").read_text()
    tasks: dict[str, Any] = json.loads(text)["tasks"]
    return tasks


def _hash_walks(graphs: list[Graph], walks: Exploration) -> str:
    """Return a hash of the graphs and starts of a task."""
    edges = [hash_graph(graph) for graph in graphs]
    return hash_values(np.frombuffer("".join(edges).encode(), np.uint8), walks.nodes[:, 0])
