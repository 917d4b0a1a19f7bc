"""Time per decision and per reward call against the number of visited nodes: trained agents, exact rewards, peers."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from curiograph.agents.base import Agent
from curiograph.agents.gnn import GnnAgent
from curiograph.agents.heuristics import RandomAgent
from curiograph.agents.registry import as_agent
from curiograph.arrays import Float64, Int32
from curiograph.errors import SettingError
from curiograph.exploration.mdp import Exploration, begin
from curiograph.graph.generators import generate_split
from curiograph.paper.comparison import REWARDS, TITLES, describe_missing, find_agents
from curiograph.paper.experiment import Experiment, Table, format_table
from curiograph.plotting import create_figure, plot_lines
from curiograph.progress import Progress, no_progress
from curiograph.rewards.registry import as_reward

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZES = (5, 10, 20, 50, 100, 150, 200)
"""Default numbers of visited nodes."""
TRAINED = ("gnn", "horizon")
"""Columns of trained agents."""
PEERS = {"igt": "ripser", "cpt": "slow twin"}
"""Name of the other implementation of each reward."""
ONE_WALK, MANY_WALKS, ONE_SUBGRAPH = TASKS = ("one walk", "many walks", "one subgraph")
"""Kinds of work that are timed."""

Peers = Mapping[str, Callable[[Float64], float]]
"""Functions that compute a reward from an adjacency matrix, by name."""
Calls = dict[str, Callable[[], Any]]
"""Calls to time, by method."""


@dataclass(frozen=True)
class Settings:
    """Settings of the experiment."""

    family: str = "rg"
    """Family of the graph."""
    nodes: int = 500
    """Number of nodes of the graph."""
    sizes: tuple[int, ...] = SIZES
    """Numbers of visited nodes, ascending."""
    walks: int = 100
    """Number of walks in a batch."""
    limit: float = 5.0
    """Maximum expected seconds of a decision or reward call; longer calls are skipped."""
    batch_limit: float = 30.0
    """Maximum expected seconds of a batch of decisions; longer calls are skipped."""
    repeats: int = 5
    """Number of measurements, of which the median is taken."""
    seed: int = 0
    """Seed of the graph and walks."""


@dataclass(frozen=True)
class Timing:
    """Times of all methods for the same work."""

    reward: str
    """Name of the reward."""
    way: str
    """Kind of work: one of TASKS."""
    size: int
    """Number of visited nodes."""
    candidates: float
    """Mean number of candidates per decision."""
    seconds: dict[str, float]
    """Seconds per decision or call by method, without skipped methods."""


@dataclass(frozen=True)
class Walltime(Experiment):
    """Times of trained agents, exact rewards and peers."""

    name = "walltime"

    settings: Settings
    """Settings of the run."""
    timings: list[Timing]
    """Times by reward, kind of work and number of visited nodes."""

    def select(self, reward: str, way: str) -> list[Timing]:
        """Return the timings of one kind of work."""
        return [timing for timing in self.timings if (timing.reward, timing.way) == (reward, way)]

    def get_table(self, reward: str) -> Table:
        """Return the times of a reward in milliseconds."""
        methods = [*TRAINED, "greedy", PEERS[reward]]
        rows = []
        for timing in self.timings:
            if timing.reward == reward:
                times = [_format_milliseconds(timing.seconds.get(method)) for method in methods]
                rows.append([timing.way, str(timing.size), f"{timing.candidates:.1f}", *times])
        title = f"{TITLES[reward]}, milliseconds"
        return Table(title, ["work", "nodes visited", "candidates", *methods], rows)

    @property
    def verdicts(self) -> Table:
        """Comparison of each trained agent with exact evaluation, by our kernels and by the peer."""
        rows = []
        for reward in REWARDS:
            for way in TASKS:
                timings = self.select(reward, way)
                for agent in TRAINED:
                    if any(agent in timing.seconds for timing in timings):
                        verdicts = [compare_times(timings, agent, rival) for rival in ("greedy", PEERS[reward])]
                        rows.append([reward, way, agent, *verdicts])
        columns = ["reward", "work", "agent", "against exact rewards, ours", "against the peer's"]
        return Table("Where trained agents are faster than exact rewards", columns, rows)

    @property
    def sections(self) -> list[Table | str]:
        return [*(self.get_table(reward) for reward in REWARDS), self.verdicts]

    @property
    def remarks(self) -> list[str]:
        sentences = describe_missing(TRAINED, [self.settings.family])
        for reward, peer in PEERS.items():
            if not any(peer in timing.seconds for timing in self.timings if timing.reward == reward):
                sentences.append(f"{peer} is not installed, so it was not timed: pip install 'curiograph[bench]'.")
        return sentences

    def to_dict(self) -> dict[str, Any]:
        verdicts = self.verdicts
        return {
            "settings": asdict(self.settings),
            "machine": _describe_machine(),
            "verdicts": [dict(zip(verdicts.columns, row, strict=True)) for row in verdicts.rows],
            "remarks": self.remarks,
            "timings": [asdict(timing) for timing in self.timings],
        }

    def to_markdown(self) -> str:
        settings = self.settings
        lines = [
            f"Milliseconds on {_describe_machine()}; random walks on a graph of the family {settings.family.upper()} "
            f"with {settings.nodes} nodes. One walk: scoring all candidates of a walk, for one decision. Many walks: "
            f"{settings.walks} walks together, time per decision. One subgraph: one reward call given only the nodes, "
            "or one pass of gnn. greedy is our exact evaluation, with the running state that it has between decisions. "
            "The peers, ripser for igt and for cpt a slow twin that follows the published code, are called once per "
            "candidate with precomputed matrices; for many walks they take correspondingly longer. A dash: the call "
            f"would take more than about {settings.limit:g} s ({settings.batch_limit:g} s for all walks), or does not "
            "apply.",
            "",
            "Where the trained agents are faster than exact evaluation:",
            "",
            *format_table(self.verdicts.columns, self.verdicts.rows),
            *(line for remark in self.remarks for line in ("", remark)),
        ]
        for reward in REWARDS:
            table = self.get_table(reward)
            lines += ["", f"{table.title}:", "", *format_table(table.columns, table.rows)]
        return "\n".join(lines) + "\n"

    def plot(self) -> Axes:
        """Plot times against visited nodes, one panel for each reward and kind of work."""
        figure, panels = create_figure(9.0, 3.2 * len(TASKS), columns=len(REWARDS), rows=len(TASKS))
        handles: dict[str, Any] = {}
        for column, reward in zip(panels.T, REWARDS, strict=True):
            for panel, way in zip(column, TASKS, strict=True):
                timings = self.select(reward, way)
                series = {}
                for method in (*TRAINED, "greedy", PEERS[reward]):
                    if any(method in timing.seconds for timing in timings):
                        times = [1000 * timing.seconds.get(method, float("nan")) for timing in timings]
                        series[method] = (times, [0.0] * len(times))
                plot_lines([timing.size for timing in timings], series, panel)
                panel.set(xscale="log", yscale="log", title=f"{reward}, {way}")
                handles |= dict(zip(series, panel.get_lines(), strict=True))
        for panel in panels[:, 0]:
            panel.set_ylabel("milliseconds per decision or call")
        for panel in panels[-1]:
            panel.set_xlabel("nodes visited")
        figure.legend(
            handles.values(), handles.keys(), loc="outside lower center", ncols=-(-len(handles) // 2), frameon=False
        )
        axes: Axes = panels[0][0]
        return axes

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Self:
        return cls(Settings(**document["settings"]), [Timing(**timing) for timing in document["timings"]])


def _describe_machine() -> str:
    return f"{platform.machine()} with {os.cpu_count()} cores, Python {platform.python_version()}"


def _format_milliseconds(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{1000 * seconds:,.0f}" if seconds >= 0.1 else f"{1000 * seconds:.3g}"


def _format_factor(factor: float) -> str:
    return f"{factor:,.0f}x" if factor >= 10 else f"{factor:.2g}x"


def compare_times(timings: Sequence[Timing], agent: str, rival: str) -> str:
    """Describe the sizes at which an agent is faster than a rival at the same work.

    >>> times = {5: {"gnn": 2.0, "greedy": 1.0}, 50: {"gnn": 2.0, "greedy": 6.0}}
    >>> timings = [
    ...     Timing(reward="cpt", way="one walk", size=size, candidates=9.0, seconds=seconds)
    ...     for size, seconds in times.items()
    ... ]
    >>> compare_times(timings, "gnn", "greedy")
    'faster from 50 nodes on (3x at 50), slower up to 5 (2x at 5)'
    """
    ratios = {
        timing.size: timing.seconds[rival] / timing.seconds[agent]
        for timing in timings
        if {agent, rival} <= timing.seconds.keys()
    }
    faster = [size for size, ratio in ratios.items() if ratio > 1]
    slower = [size for size in ratios if size not in faster]
    if not ratios:
        return "-"
    if not slower or not faster:
        factors = [ratio if faster else 1 / ratio for ratio in ratios.values()]
        span = f"{_format_factor(min(factors))} to {_format_factor(max(factors))}"
        return f"{'faster' if faster else 'slower'} at every size ({span})"
    if slower[-1] < faster[0]:
        return (
            f"faster from {faster[0]} nodes on ({_format_factor(ratios[faster[-1]])} at {faster[-1]}), "
            f"slower up to {slower[-1]} ({_format_factor(1 / ratios[slower[0]])} at {slower[0]})"
        )
    return f"faster at {', '.join(map(str, faster))} nodes, slower at {', '.join(map(str, slower))}"


class _Work(NamedTuple):
    """Work to time at one size."""

    walks: Exploration
    """Walks whose next decisions are made."""
    limit: float
    """Maximum expected seconds of a call; longer calls are skipped."""
    calls: Calls
    """Calls that do the work, by method."""


def run(settings: Settings, peers: Peers | None = None, progress: Progress = no_progress) -> Walltime:
    """Time all methods; `peers` holds those of `PEERS` that are installed."""
    if max(settings.sizes) >= settings.nodes:
        raise SettingError(f"walks of {max(settings.sizes)} nodes leave no candidates on {settings.nodes} nodes.")
    timer = _Timer(settings.repeats)
    timings: list[Timing] = []
    total = len(settings.sizes) * len(REWARDS) * len(TASKS)
    for size, batch in _walk_to_sizes(settings):
        order = np.argsort(batch.candidates.counts, kind="stable")
        alone = batch.rows(np.array([int(order[len(order) // 2])]))  # the walk with the median number of candidates
        for reward in REWARDS:
            agents = {column: as_agent(name) for column, name in find_agents(TRAINED, reward, settings.family).items()}
            known = {PEERS[reward]: peers[PEERS[reward]]} if peers and PEERS[reward] in peers else {}
            all_work = {
                ONE_WALK: _Work(
                    walks=alone,
                    limit=settings.limit,
                    calls=_make_score_calls(alone, reward, agents) | _make_peer_calls(alone, known),
                ),
                MANY_WALKS: _Work(
                    walks=batch, limit=settings.batch_limit, calls=_make_score_calls(batch, reward, agents)
                ),
                ONE_SUBGRAPH: _Work(
                    walks=alone, limit=settings.limit, calls=_make_reward_calls(alone, reward, agents, known)
                ),
            }
            for way, (walks, limit, calls) in all_work.items():
                progress(f"{reward}, {size} nodes visited: {way}", len(timings) / total)
                seconds = timer.time_calls((reward, way), size, calls, limit)
                count = len(walks.lengths)
                timings.append(
                    Timing(
                        reward=reward,
                        way=way,
                        size=size,
                        candidates=len(walks.candidates.nodes) / count,
                        seconds={name: each / count for name, each in seconds.items()},
                    )
                )
    timings.sort(key=lambda timing: (REWARDS.index(timing.reward), TASKS.index(timing.way)))
    return Walltime(settings, timings)


def _walk_to_sizes(settings: Settings) -> Iterator[tuple[int, Exploration]]:
    """Advance random walks on one graph and yield them at each size."""
    graph = generate_split(settings.family, settings.nodes, train=0, val=0, test=1, seed=settings.seed).test[0]
    starts = np.random.default_rng(settings.seed).integers(settings.nodes, size=settings.walks)
    last = max(settings.sizes)
    batch, agent = begin([graph], [starts], "igt", last + 10, seed=settings.seed), RandomAgent()
    for size in range(1, last + 1):
        if size in settings.sizes:
            yield size, batch
        batch = batch.step(batch.best(agent.scores(batch)))


def _make_score_calls(walks: Exploration, reward: str, agents: Mapping[str, Agent]) -> Calls:
    """Return calls that score all candidates; greedy has its running state, as during a walk."""
    tracker = as_reward(reward).track(walks.stack, walks.nodes, walks.lengths)
    calls: Calls = {name: partial(agent.scores, walks) for name, agent in agents.items()}
    calls["greedy"] = partial(tracker.candidate_values, walks.candidates.offsets, walks.candidates.nodes)
    return calls


def _make_peer_calls(alone: Exploration, peers: Peers) -> Calls:
    """Return calls that score all candidates by peers, one at a time, with precomputed adjacency matrices."""
    if not peers:
        return {}
    visited = alone.nodes[0, : int(alone.lengths[0])]
    matrices = [_get_adjacency(alone, np.append(visited, node)) for node in alone.candidates.nodes]
    return {name: lambda peer=peer: [peer(matrix) for matrix in matrices] for name, peer in peers.items()}  # type: ignore[misc]


def _make_reward_calls(alone: Exploration, reward: str, agents: Mapping[str, Agent], peers: Peers) -> Calls:
    """Return calls that compute the reward of one subgraph from its nodes; for gnn, one pass over one subgraph."""
    visited = alone.nodes[:, : int(alone.lengths[0])]
    tracked = as_reward(reward)
    calls: Calls = {"greedy": lambda: tracked.track(alone.stack, visited, alone.lengths).values()}
    if isinstance(gnn := agents.get("gnn"), GnnAgent):
        one = np.array([0, 1])
        calls["gnn"] = partial(gnn.values, alone.stack, alone.nodes, alone.lengths, one, alone.candidates.nodes[:1])
    matrix = _get_adjacency(alone, visited[0])
    return calls | {name: partial(peer, matrix) for name, peer in peers.items()}


def _get_adjacency(alone: Exploration, nodes: Int32) -> Float64:
    return np.asarray(alone.stack.graphs[0].induced(np.sort(nodes)).to_scipy().toarray(), np.float64)


class _Timer:
    """Time calls in turns, so that a slowdown of the machine affects all of them, and skip those that take too long."""

    def __init__(self, repeats: int) -> None:
        self._repeats = repeats
        self._last: dict[tuple[str, ...], tuple[int, float]] = {}  # size and seconds of the last call of each method

    def time_calls(self, work: tuple[str, str], size: int, calls: Calls, limit: float) -> dict[str, float]:
        """Return the median time of each call that is expected to take at most `limit` seconds."""
        selected = {}
        for name, call in calls.items():
            last_size, spent = self._last.get((*work, name), (size, 0.0))
            if spent * (size / last_size) ** 3 <= limit:  # a rough guess, as if time grew with the third power
                selected[name] = call
        first = {name: _time_call(call, 1) for name, call in selected.items()}
        if any((*work, name) not in self._last for name in selected):
            first = {name: _time_call(call, 1) for name, call in selected.items()}  # now without compilation
        counts = {name: max(1, int(0.02 / max(spent, 1e-7))) for name, spent in first.items() if spent < 0.5}
        turns = [
            {name: _time_call(selected[name], count) for name, count in counts.items()} for _ in range(self._repeats)
        ]
        seconds = first | {name: statistics.median(turn[name] for turn in turns) for name in counts}
        self._last |= {(*work, name): (size, spent) for name, spent in seconds.items()}
        return seconds


def _time_call(call: Callable[[], Any], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count
