"""`suite`: a frozen set of tasks with floors and ceilings, on which agents are evaluated and their walks verified."""

from __future__ import annotations

import json
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.agents.agent import Agent, replay_walks
from curiograph.agents.agent_names import AgentLike, as_agent
from curiograph.agents.layers import limit_blas_threads
from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import (
    AgentError,
    FileFormatError,
    GraphError,
    SettingError,
    UnknownNameError,
    quote_value,
    shorten_text,
)
from curiograph.exploration.mdp import Exploration, begin
from curiograph.files import (
    PathLike,
    as_path,
    hash_chunks,
    list_data_folders,
    open_atomic,
    read_text,
    wrap_parse_errors,
)
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph
from curiograph.graph.io.formats import read_graph
from curiograph.graph.toys import grid
from curiograph.progress import Progress, no_progress
from curiograph.results import Table, get_version
from curiograph.rewards.reward import Tracker

if TYPE_CHECKING:
    import pandas as pd

VERSION = "v2"
TASK_FILE = Path(__file__).parent / f"suite_{VERSION}.json"
"""The tasks by name: the fields of `Task`. `scripts/suite_ceilings.py` writes it; a released version never changes."""
GRAPH_FILE = TASK_FILE.with_suffix(".npz")
"""The generated graphs by name: both ends of every edge, as differences to the edge before."""
GROUPS = ("families", "sizes", "real")
TRACKS = ("learned", "search")
BUDGETS = (10, 100, 1000)
"""Microseconds per decision at which scores are computed."""
_SEED = 20_260_000  # of ties


@dataclass(frozen=True, eq=False)
class Task:
    """Walks to be taken, and what they can earn."""

    name: str
    """Reward, graphs and number of nodes, as in "igt-rg-50-10"."""
    group: str
    """One of `GROUPS`."""
    reward: str
    """Name of the reward."""
    steps: int
    """Number of nodes of a walk."""
    graphs: list[str]
    """Names of the graphs: keys of `GRAPH_FILE`, or real networks."""
    starts: list[list[int]]
    """Positions of the starts on each graph; one walk per entry, in this order."""
    hash: str = ""
    """Hash of the edges of the graphs and of the starts."""
    random: Sequence[float] = ()
    """Floor: mean return of random walks from each start."""
    ceiling: Sequence[float] = ()
    """Highest return known from each start."""
    ceiling_by: Sequence[str] = ()
    """The searches that looked for it."""
    proven: bool = False
    """Whether the ceiling is the proven optimum."""

    def begin(self, networks: Path | None) -> Exploration:
        """Return the walks at their starts; raise GraphError if the graphs are not those of the suite."""
        graphs = [load_graph(name, networks) for name in self.graphs]
        if self.compute_hash(graphs) != self.hash:
            raise GraphError(f"the graphs of {self.name!r} are not those of the suite; get the original data.")
        return begin(graphs, self.starts, self.reward, self.steps, seed=_SEED)

    def compute_hash(self, graphs: Sequence[Graph]) -> str:
        """Return the hash of the edges of graphs and of the starts."""
        arrays = [np.asarray(array, np.int64) for graph in graphs for array in (graph.indptr, graph.indices)]
        rest = json.dumps([[graph.directed for graph in graphs], self.starts])
        return hash_chunks([*(array.tobytes() for array in arrays), rest])[:16]

    @property
    def cell(self) -> tuple[str, str, int]:
        """Reward, group and length: what is averaged first."""
        return self.reward, self.group, self.steps

    @property
    def clusters(self) -> list[str]:
        """Unit that each walk belongs to, between which errors are independent: its graph, or its start on a single."""
        single = len(self.graphs) == 1
        pairs = zip(self.graphs, self.starts, strict=True)
        return [f"{graph}:{start}" if single else graph for graph, starts in pairs for start in starts]


@dataclass(frozen=True, eq=False, repr=False)
class SuiteResult(Table):
    """Results of an agent on tasks of the suite; a row per task.

    The `share` of a task is (agent - random) / (ceiling - random), of mean returns; its standard error is clustered by
    graph, on a single graph by start. `microseconds` is the CPU time per decision of the first run on one core.

    Examples
    --------
    >>> import curiograph as cg
    >>> beam, greedy = (cg.suite(name, ["igt-ws-50-10"]) for name in ("beam:8", "greedy"))
    >>> greedy.track, greedy.to_frame()[["task", "mean"]].round(2).values.tolist()
    ('search', [['igt-ws-50-10', 3.12]])
    >>> bool(np.isclose(beam.compare(greedy)["difference"].iloc[-1], beam.share - greedy.share))
    True
    """

    agent: str
    """Name of the agent."""
    track: str
    """One of `TRACKS`: "learned" if the agent decides without computing rewards, otherwise "search"."""
    walks: dict[str, list[list[int]]]
    """The walks of each task: positions of nodes in their graph."""
    returns: dict[str, Float64]
    """The return of each walk, computed from its nodes."""
    microseconds: dict[str, float]
    """CPU time per decision of each task."""
    suite: str = VERSION
    """Version of the suite."""

    @property
    def share(self) -> float:
        """Share of the ceiling on the tasks of this result: mean over cells (group, length, reward) of mean shares."""
        return sum(weight * self._estimate(name)[0] for name, weight in weigh_tasks(self.returns).items())

    def score(self, budget: float = np.inf) -> float:
        """Return the share of the ceiling on all tasks of the suite at a budget of microseconds per decision.

        A task that takes more time, or that is not in this result, counts as a random walk: its share is 0.
        """
        within = {name for name, time in self.microseconds.items() if time <= budget}
        weights = weigh_tasks(read_tasks())
        return sum(weight * self._estimate(name)[0] for name, weight in weights.items() if name in within)

    def compare(self, other: SuiteResult) -> pd.DataFrame:
        """Return the differences to the shares of another result, paired by walk, by task, by cell and over all cells.

        Standard errors are clustered as those of shares; the tasks of a graph are in the same cluster.
        """
        import pandas as pd

        names = [name for name in self.returns if name in other.returns]
        if not names:
            raise SettingError(f"{self.agent} and {other.agent} have no task in common; run both on the same tasks.")
        sets = {name: [name] for name in names}
        for name in names:
            sets.setdefault(" ".join(map(str, read_tasks()[name].cell)), []).append(name)
        rows = []
        for label, members in {**sets, "all": names}.items():
            difference, clusters = 0.0, dict[str, float]()
            for name, weight in weigh_tasks(members).items():
                value, parts = self._estimate(name, other)
                difference += weight * value
                for cluster, part in parts.items():
                    clusters[cluster] = clusters.get(cluster, 0.0) + weight * part
            rows.append({"tasks": label, "difference": difference, "sem": np.linalg.norm([*clusters.values()])})
        return pd.DataFrame(rows)

    def _estimate(self, name: str, other: SuiteResult | None = None) -> tuple[float, dict[str, float]]:
        """Return the share of a task, or its difference to another result, and the influence of each cluster on it.

        The sum of the squares of the influences is the variance of this ratio of means, to first order.
        """
        task = read_tasks()[name]
        gain = self.returns[name] - (task.random if other is None else other.returns[name])
        most = np.subtract(task.ceiling, task.random)
        value = float(gain.sum() / most.sum())
        clusters, index = np.unique(task.clusters, return_inverse=True)
        parts = np.bincount(index, gain - value * most) / most.sum() * np.sqrt(len(clusters) / (len(clusters) - 1))
        return value, dict(zip(clusters.tolist(), parts.tolist(), strict=True))

    def columns(self) -> Mapping[str, Any]:
        rows = []
        for name, returns in self.returns.items():
            task, (share, parts) = read_tasks()[name], self._estimate(name)
            row = {field: getattr(task, field) for field in ("group", "reward", "steps", "proven")}
            row |= {"walks": len(returns), "mean": float(returns.mean())}
            row |= {"random": float(np.mean(task.random)), "ceiling": float(np.mean(task.ceiling)), "share": share}
            row |= {"share_sem": float(np.linalg.norm([*parts.values()])), "microseconds": self.microseconds[name]}
            rows.append({"task": name, **row})
        return {name: [row[name] for row in rows] for name in rows[0]}

    def list_facts(self) -> dict[str, Any]:
        scores = {str(budget): self.score(budget) for budget in BUDGETS}
        return super().list_facts() | {"share": self.share, "score": self.score(), "scores": scores}

    def __repr__(self) -> str:
        size = f"{len(self.returns)} of {len(read_tasks())} tasks"
        return f"SuiteResult({self.agent}, {self.track} track: {self.share:.1%} of the ceiling on {size})"

    def save(self, path: PathLike) -> None:
        """Write a JSON file with the walks, mean returns and times, which `SuiteResult.load` verifies."""
        tasks = {
            name: {"mean": float(self.returns[name].mean()), "microseconds": self.microseconds[name], "walks": walks}
            for name, walks in self.walks.items()
        }
        record = {"suite": self.suite, "curiograph": get_version(), "agent": self.agent, "track": self.track}
        with open_atomic(path) as stream:
            stream.write(f"{json.dumps({**record, 'tasks': tasks}, allow_nan=False)}\n".encode())

    @classmethod
    def load(cls, path: PathLike, *, data: PathLike | None = None, progress: Progress = no_progress) -> SuiteResult:
        """Read a file of `save`, repeat every walk step by step, and compute all returns from the walks again.

        Raise FileFormatError if a walk is not allowed or has another start, or if a mean return is not that of the
        walks. What walks cannot show is taken from the file: times, the track, and the name of the agent.
        """
        with wrap_parse_errors(path, "suite result"):
            record = json.loads(read_text(path))
            result = cls(shorten_text(record["agent"]), record["track"], {}, {}, {}, record["suite"])
            runs = dict(record["tasks"])
            if result.suite != VERSION or result.track not in TRACKS or not runs:
                found = f"suite {quote_value(result.suite)}, track {quote_value(result.track)} and {len(runs)} tasks"
                raise ValueError(f"it has {found}; the suite is {VERSION}, and the tracks are {', '.join(TRACKS)}")
        stored, networks = read_tasks(), find_networks(data)
        for number, (name, run) in enumerate(runs.items()):
            progress(f"verifying {result.agent} on {name}", number / len(runs))
            if name not in stored:
                raise FileFormatError(f"{path}: the suite has no task {quote_value(name)}.")
            initial = stored[name].begin(networks)
            with wrap_parse_errors(f"{path}, {name}", "suite result"):
                if not isinstance(run, dict) or not {"mean", "microseconds", "walks"} <= run.keys():
                    raise ValueError("it must have mean, microseconds and walks")
                ended = continue_walks(initial, run["walks"])
                done = replay_walks(result.agent, initial, ended)
                if np.any(done.lengths < ended.lengths):
                    raise ValueError("a walk continues where it has no candidates")
                mean, microseconds = done.returns.mean(), float(run["microseconds"])
                if not np.isclose(float(run["mean"]), mean, rtol=1e-6):
                    raise ValueError(f"the mean return is {run['mean']}, but that of the walks is {mean:.6g}")
                if not 0 < microseconds < np.inf:
                    raise ValueError(f"the time per decision is {microseconds} microseconds")
            result.walks[name], result.returns[name] = run["walks"], done.returns
            result.microseconds[name] = microseconds
        return result


def suite(
    agent: AgentLike | Mapping[str, AgentLike],
    tasks: Sequence[str] | None = None,
    *,
    data: PathLike | None = None,
    progress: Progress = no_progress,
) -> SuiteResult:
    """Evaluate an agent on a frozen benchmark: graphs, starts, rewards, floors and ceilings that do not change.

    The rewards are igt and cpt. The tasks have three groups: `families` (walks of 10 nodes on 50-node graphs of rg, ws,
    ba and er), `sizes` (10 nodes on 500 and 5,000 nodes, and 50 and 200 nodes on 500) and, if they are found, `real`
    (10, 50 and 200 nodes on sixteen real networks). The ceiling is the highest return known from the same start.

    Every step is checked, and returns are computed from the nodes. The track is found out: the agent first explores a
    toy graph, which also compiles kernels, in an exploration that refuses to compute rewards. If it completes the walk,
    its track is "learned" and the tasks refuse rewards too; otherwise it is "search". Then each task is run once, and
    the CPU time of this run, divided by the number of decisions, is its time. A score at a budget of time counts tasks
    that take more as random walks, with a share of 0.

    Parameters
    ----------
    agent : str, path, Agent, object with `scores`, or mapping
        The agent; see `explore`. `exploration.reward.name` is the reward. Agents for some tasks each are given by the
        beginnings of names of tasks, as {"igt": a, "cpt": b} or {"igt-rg": a}; other tasks are left out.
    tasks : sequence of str, optional
        Names of tasks, such as "igt-rg-50-10", and of groups. Default: all.
    data : str or path, optional
        Folder of datasets with the subfolder real-networks. Default: that of the environment variable CURIOGRAPH_DATA,
        or the one in which `curiograph data get real-networks` stores them.
    progress : callable
        Called with a message and the completed share.

    Returns
    -------
    SuiteResult
        Walks, returns, shares of the ceiling, and times by task.

    Examples
    --------
    >>> result = suite("random", ["igt-ws-50-10"])
    >>> result.track, abs(result.share) < 0.05
    ('learned', True)
    """
    if isinstance(tasks, str) or (tasks is not None and len(tasks) == 0):
        raise SettingError(f"tasks is {quote_value(tasks)}; give a list of names, or None for all tasks.")
    stored, networks = read_tasks(), find_networks(data)
    agents = {key: as_agent(each) for key, each in (agent if isinstance(agent, Mapping) else {"": agent}).items()}
    unknown = [name for name in tasks or () if name not in stored and name not in GROUPS]
    unknown += [key for key in agents if not any(name.startswith(key) for name in stored)]
    if unknown:
        raise UnknownNameError(
            f"the suite has no task {quote_value(unknown[0])}; the groups are {', '.join(GROUPS)}, and the tasks are "
            f"{', '.join(stored)}."
        )
    wanted = tasks or GROUPS
    if tasks is None and networks is None:
        warnings.warn("the real networks are left out; `curiograph data get real-networks` gets them.", stacklevel=2)
        wanted = GROUPS[:-1]
    chosen = [task for task in stored.values() if task.name in wanted or task.group in wanted]
    runs = []
    for task in chosen:
        keys = [key for key in agents if task.name.startswith(key)]
        runs += [(task, agents[max(keys, key=len)])] if keys else []
    if not runs:
        raise SettingError(f"no agent is given for {chosen[0].name}; the keys are {quote_value(list(agents))}.")
    result = SuiteResult(", ".join(dict.fromkeys(each.name for _, each in runs)), find_track(runs), {}, {}, {})
    for number, (task, each) in enumerate(runs):
        progress(f"{each.name} on {task.name}", number / len(runs))
        walks = task.begin(networks)
        given = walks.rows(np.arange(len(walks.lengths)))
        given = hide_reward(given) if result.track == "learned" else given
        with limit_blas_threads():
            start = time.process_time()
            ended = each.run(given)
            seconds = time.process_time() - start
        done = replay_walks(each.name, walks, ended)
        rows = zip(done.nodes, done.lengths, done.stack.starts[done.graph_of], strict=True)
        result.walks[task.name] = [(nodes[:length] - first).tolist() for nodes, length, first in rows]
        result.returns[task.name] = done.returns
        result.microseconds[task.name] = 1e6 * seconds / int((done.lengths - 1).sum())
    return result


def find_track(runs: Sequence[tuple[Task, Agent]]) -> str:
    """Return the track of agents, after walks of all lengths on a graph that is not in the suite."""
    kinds = {(id(agent), task.reward, task.steps): agent for task, agent in runs}
    walks = [(agent, begin([grid(3, 100)], [[0]], reward, steps)) for (_, reward, steps), agent in kinds.items()]
    try:
        for agent, initial in walks:
            agent.run(hide_reward(initial))
        return "learned"
    except AgentError:
        for agent, initial in walks:
            agent.run(initial)
        return "search"


@dataclass(frozen=True)
class HiddenReward:
    """A reward that has a name, and cannot be computed."""

    name: str
    """Name of the reward."""

    def track(self, stack: GraphBatch, nodes: Int32, lengths: Int64) -> Tracker:
        raise AgentError(
            f"the agent asked for values of {self.name}, which the learned track refuses; an agent of the search track "
            "asks for them on every graph."
        )


class LearnedExploration(Exploration):
    """An exploration whose steps compute no rewards; asking for `candidate_values`, `values` or `tracker` raises."""

    def branch(self, parents: Int64, chosen: Int64) -> Exploration:
        moving, branched = np.flatnonzero(chosen >= 0), self.rows(parents)
        branched.nodes[moving, branched.lengths[moving]] = self.candidates.nodes[chosen[moving]]
        branched.lengths[moving] += 1
        return branched


def hide_reward(walks: Exploration) -> LearnedExploration:
    """Return the same walks without rewards."""
    values = {field.name: getattr(walks, field.name) for field in fields(walks)}
    return LearnedExploration(**{**values, "reward": HiddenReward(walks.reward.name)})


def continue_walks(initial: Exploration, walks: Any) -> Exploration:
    """Return the exploration that ended with these walks; raise ValueError if they have other starts."""
    nodes, starts = np.full_like(initial.nodes, -1), initial.stack.starts
    if not isinstance(walks, list) or len(walks) != len(nodes):
        raise ValueError(f"it needs a list of {len(nodes)} walks")
    for row, (walk, graph) in enumerate(zip(walks, initial.graph_of, strict=True)):
        first, size = int(starts[graph]), int(starts[graph + 1] - starts[graph])
        legal = isinstance(walk, list) and all(type(node) is int and 0 <= node < size for node in walk)
        if not legal or not 0 < len(walk) <= initial.steps or walk[0] + first != initial.nodes[row, 0]:
            rule = f"it must have at most {initial.steps} positions below {size}, and start at"
            raise ValueError(f"walk {row} is {quote_value(walk)}; {rule} {initial.nodes[row, 0] - first}")
        nodes[row, : len(walk)] = np.asarray(walk) + first
    return replace(initial, nodes=nodes, lengths=np.count_nonzero(nodes >= 0, axis=1))


def weigh_tasks(names: Iterable[str]) -> dict[str, float]:
    """Return the weight of each task in the mean over cells of the mean over tasks."""
    cells = {name: read_tasks()[name].cell for name in names}
    sizes = Counter(cells.values())
    return {name: 1 / len(sizes) / sizes[cell] for name, cell in cells.items()}


@cache
def read_tasks() -> dict[str, Task]:
    """Return the tasks of the suite by name."""
    return {fields["name"]: Task(**fields) for fields in json.loads(TASK_FILE.read_text())}


def find_networks(data: PathLike | None = None) -> Path | None:
    """Return the folder of the real networks, or None if it is not on this machine."""
    roots = list_data_folders() if data is None else [as_path(data)]
    return next((root / "real-networks" for root in roots if (root / "real-networks").is_dir()), None)


def load_graph(name: str, networks: Path | None) -> Graph:
    """Return a generated graph or a real network of the suite."""
    with np.load(GRAPH_FILE) as stored:
        if name in stored:
            return Graph.from_arrays(*np.cumsum(stored[name], axis=1, dtype=np.uint16).astype(np.int64))
    for path in () if networks is None else (networks / f"{name}.tsv", networks / f"{name}-directed.tsv"):
        if path.is_file():
            return read_graph(path, directed=path.stem != name)
    place = "" if networks is None else f" in {networks}"
    raise GraphError(f"there is no network {name!r}{place}; `curiograph data get real-networks` gets it.")
