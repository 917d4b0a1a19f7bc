"""`suite`: a frozen set of tasks with floors and ceilings, on which any agent can be evaluated."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from curiograph.agents.agent import Agent, replay_walks
from curiograph.agents.agent_names import AgentLike, as_agent
from curiograph.agents.evaluate import draw_starts
from curiograph.agents.layers import limit_blas_threads
from curiograph.arrays import Float64
from curiograph.errors import GraphError, UnknownNameError
from curiograph.exploration.mdp import Exploration, begin, list_starts
from curiograph.files import PathLike, hash_chunks
from curiograph.graph.generators import generate_split
from curiograph.graph.graph import Graph
from curiograph.graph.io.formats import read_graph
from curiograph.progress import Progress, no_progress
from curiograph.results import Table

SUITE_FILE = Path(__file__).parent / "suite_v1.json"
"""The tasks: graphs, starts, walk lengths, rewards, and the mean returns of random, greedy and the ceiling by graph (by
start on a single graph). `scripts/suite_ceilings.py` writes it; a released version never changes."""
GROUPS = ("families", "sizes", "lengths", "real")
_SEED = 20_260_000  # of test graphs, starts and ties; the seeds of our trainings and tables are small numbers


@dataclass(frozen=True, eq=False, repr=False)
class SuiteResult(Table):
    """Results of an agent on the tasks of the suite; a row per task.

    Examples
    --------
    >>> import curiograph as cg
    >>> result = cg.suite("greedy", ["igt-ws-50"])
    >>> result.to_frame()[["task", "mean", "greedy"]].round(2).values.tolist()
    [['igt-ws-50', 3.02, 3.02]]
    """

    agent: str
    """Name of the agent."""
    tasks: list[dict[str, Any]]
    """Of each task: its name, group, reward, number of walks; mean return and its standard error, clustered by graph
    (by start on a single graph); mean returns of random, greedy and the ceiling on the same walks; `share`, (agent -
    random) / (ceiling - random), and its standard error; CPU time per decision on one core, in microseconds."""
    suite: str = "v1"
    """Version of the suite."""

    @property
    def share(self) -> float:
        """Share of the ceiling: mean over groups and rewards of the mean over tasks; NaN shares are left out."""
        cells: dict[tuple[str, str], list[float]] = {}
        for task in self.tasks:
            if not np.isnan(task["share"]):
                cells.setdefault((task["group"], task["reward"]), []).append(task["share"])
        return float(np.mean([np.mean(shares) for shares in cells.values()])) if cells else float("nan")

    def columns(self) -> Mapping[str, Any]:
        return {name: [task[name] for task in self.tasks] for name in self.tasks[0]}

    def __repr__(self) -> str:
        return f"SuiteResult({self.agent}: {self.share:.1%} of the ceiling on {len(self.tasks)} tasks)"


def suite(
    agent: AgentLike,
    tasks: Sequence[str] | None = None,
    *,
    data: PathLike | None = None,
    progress: Progress = no_progress,
) -> SuiteResult:
    """Evaluate an agent on a frozen benchmark: graphs, starts, rewards, floors and ceilings that do not change.

    The rewards are igt and cpt. The tasks have four groups: `families` (10-node walks on 50-node graphs of rg, ws, ba
    and er), `sizes` (the same on 500 and 5,000 nodes), `lengths` (50-node walks on 500 nodes) and, if their folder is
    found, `real` (10-node walks on sixteen real networks). Every step is checked, and returns are computed from the
    nodes, not taken from the agent. The ceiling is the highest return that wide searches found from the same start.

    Parameters
    ----------
    agent : str, path, Agent or object with `scores`
        The agent; see `explore`.
    tasks : sequence of str, optional
        Names of tasks, such as "igt-rg-50", and of groups. Default: all.
    data : str or path, optional
        Folder of datasets with the subfolder real-networks. Default: that of the environment variable CURIOGRAPH_DATA.
    progress : callable
        Called with a message and the completed share.

    Returns
    -------
    SuiteResult
        Returns, shares of the ceiling, and times by task.

    Examples
    --------
    >>> beam, greedy = (suite(name, ["igt-ws-50"]) for name in ("beam:64", "greedy"))
    >>> beam.share > greedy.share
    True
    """
    entry, stored = as_agent(agent), read_tasks()
    folder = Path(data or os.environ.get("CURIOGRAPH_DATA", "")) / "real-networks"
    for name in tasks or ():
        if name not in stored and name not in GROUPS:
            raise UnknownNameError(
                f"the suite has no task {name!r}; the groups are {', '.join(GROUPS)}, and the tasks are "
                f"{', '.join(stored)}."
            )
    wanted = tasks or (GROUPS if folder.is_dir() else GROUPS[:-1])
    chosen = {name: task for name, task in stored.items() if name in wanted or task["group"] in wanted}
    rows = []
    for number, (name, task) in enumerate(chosen.items()):
        progress(f"{entry.name} on {name}", number / len(chosen))
        rows.append({"task": name, "group": task["group"], "reward": task["reward"], **run_task(entry, task, folder)})
    return SuiteResult(entry.name, rows)


def run_task(agent: Agent, task: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Run an agent on a task and compare its returns with those stored."""
    graphs, walks = begin_task(task, folder)
    if hash_task(graphs, walks) != task["hash"]:
        raise GraphError(
            f"the graphs of {task.get('family') or task.get('network')!r} differ from those of the suite; use the "
            "original data, and the versions of numpy and networkx in constraints.txt."
        )
    with limit_blas_threads():
        agent.run(walks.rows(np.arange(2)))  # compiles kernels, prepares graphs
        start = time.process_time()
        ended = agent.run(walks.rows(np.arange(len(walks.lengths))))
        seconds = time.process_time() - start
    returns = cluster_returns(task, replay_walks(agent, walks, ended).returns)
    random, greedy, ceiling = (np.asarray(task[column]) for column in ("random", "greedy", "ceiling"))
    most = float((ceiling - random).mean())
    share = float((returns - random).mean()) / most if most else float("nan")
    error = returns - random - share * (ceiling - random)  # of the ratio of means, to first order
    return {
        "walks": len(ended.lengths),
        "mean": float(returns.mean()),
        "sem": _compute_sem(returns),
        "random": float(random.mean()),
        "greedy": float(greedy.mean()),
        "ceiling": float(ceiling.mean()),
        "share": share,
        "share_sem": _compute_sem(error) / abs(most) if most else float("nan"),
        "microseconds": 1e6 * seconds / max(1, int((ended.lengths - 1).sum())),
    }


def _compute_sem(values: Float64) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


@cache
def read_tasks() -> dict[str, dict[str, Any]]:
    """Return the tasks of the suite by name."""
    tasks: dict[str, dict[str, Any]] = json.loads(SUITE_FILE.read_text())
    return tasks


def begin_task(task: Mapping[str, Any], folder: Path) -> tuple[list[Graph], Exploration]:
    """Return the graphs of a task, and its walks at their starts; walks of the same graph are consecutive."""
    if task["group"] == "real":
        files = [folder / f"{task['network']}{ending}.tsv" for ending in ("", "-directed")]
        found = [file for file in files if file.is_file()]
        if not found:
            raise GraphError(f"{folder} has no network {task['network']!r}; give the folder of datasets as data=DIR.")
        graphs = [read_graph(found[0], directed=found[0] == files[1])]
    else:
        graphs = generate_split(task["family"], task["nodes"], train=0, val=0, test=task["graphs"], seed=_SEED).test
    starts = [
        draw_starts(list_starts(graph, "frontier"), task["episodes"], _SEED, number)
        for number, graph in enumerate(graphs)
    ]
    return graphs, begin(graphs, starts, task["reward"], task["steps"], seed=_SEED)


def hash_task(graphs: Sequence[Graph], walks: Exploration) -> str:
    """Return a hash of the edges of the graphs and of the starts of a task."""
    arrays = [array for graph in graphs for array in (graph.indptr, graph.indices)]
    chunks = [np.ascontiguousarray(array, np.int64).tobytes() for array in (*arrays, walks.nodes[:, 0])]
    return hash_chunks([*(f"directed {graph.directed}" for graph in graphs), *chunks])[:16]


def cluster_returns(task: Mapping[str, Any], returns: Float64) -> Float64:
    """Return the mean return on each graph, or the return from each start if there is a single graph."""
    graphs = task.get("graphs", 1)
    return returns if graphs == 1 else np.asarray(returns.reshape(graphs, task["episodes"]).mean(axis=1))
