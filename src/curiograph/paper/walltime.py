"""Time per decision and per reward call against the number of nodes visited: trained agents, exact rewards, peers."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from curiograph.agents.base import Agent
from curiograph.agents.gnn import GnnAgent
from curiograph.agents.heuristics import RandomAgent
from curiograph.agents.registry import as_agent
from curiograph.arrays import Float64, Int32
from curiograph.errors import SettingError
from curiograph.exploration.mdp import Exploration, begin
from curiograph.graph.generators import generate_split
from curiograph.paper.comparison import REWARDS, TITLES, describe_missing, find_agents, format_table
from curiograph.plotting import create_figure, plot_lines, save_figure
from curiograph.progress import Progress, no_progress
from curiograph.rewards.base import Reward
from curiograph.rewards.registry import as_reward

SIZES = (5, 10, 20, 50, 100, 150, 200)
TRAINED = ("gnn", "horizon")
PEERS = {"igt": "ripser", "cpt": "slow twin"}
"""What others would compute each reward with."""
ONE, MANY, CALL = "one walk", "many walks", "one subgraph"
WAYS = (ONE, MANY, CALL)

Peers = Mapping[str, Callable[[Float64], float]]
"""By name: F of the graph with an adjacency matrix."""
Calls = dict[str, Callable[[], Any]]


@dataclass(frozen=True)
class Settings:
    """What is timed."""

    family: str = "rg"
    nodes: int = 500
    sizes: tuple[int, ...] = SIZES
    """Nodes visited, ascending."""
    walks: int = 100
    """Walks that decide together, in the batch."""
    limit: float = 5.0
    """Seconds that a decision or a reward call may take; what would take longer is left out, and so is all beyond."""
    batch_limit: float = 30.0
    """The same for a batch."""
    repeats: int = 5
    """Measurements, of which the median counts."""
    seed: int = 0


@dataclass(frozen=True)
class Timing:
    """Times of all that do the same work."""

    reward: str
    way: str
    size: int
    """Nodes visited."""
    candidates: float
    """Per decision, on average."""
    seconds: dict[str, float]
    """Per decision, or per call; nothing for what would take too long."""


def run(settings: Settings, peers: Peers | None = None, progress: Progress = no_progress) -> list[Timing]:
    """All timings. `peers` has those of `PEERS` that are installed."""
    if max(settings.sizes) >= settings.nodes:
        raise SettingError(f"walks of {max(settings.sizes)} nodes leave no candidates on {settings.nodes} nodes.")
    clock = _Clock(settings.repeats)
    timings: list[Timing] = []
    total = len(settings.sizes) * len(REWARDS) * len(WAYS)
    for size, batch in _states(settings):
        for reward in REWARDS:
            agents = {c: as_agent(n) for c, n in find_agents(TRAINED, reward, settings.family).items()}
            known = {PEERS[reward]: peers[PEERS[reward]]} if peers and PEERS[reward] in peers else {}
            alone = batch.rows(np.array([_typical(batch)]))
            work = {
                ONE: (1, settings.limit, _decisions(alone, reward, agents) | _peer_decisions(alone, known)),
                MANY: (settings.walks, settings.batch_limit, _decisions(batch, reward, agents)),
                CALL: (1, settings.limit, _reward_calls(alone, reward, agents, known)),
            }
            for way, (walks, limit, calls) in work.items():
                progress(f"{reward}, {size} nodes visited: {way}", len(timings) / total)
                seconds = clock.seconds((reward, way), size, calls, limit)
                candidates = len((alone if walks == 1 else batch).candidates.nodes) / walks
                timings.append(
                    Timing(reward, way, size, candidates, {name: each / walks for name, each in seconds.items()})
                )
    return sorted(timings, key=lambda timing: (REWARDS.index(timing.reward), WAYS.index(timing.way)))


def _states(settings: Settings) -> Iterator[tuple[int, Exploration]]:
    """Random walks on one graph, at each size."""
    graph = generate_split(settings.family, settings.nodes, train=0, val=0, test=1, seed=settings.seed).test[0]
    starts = np.random.default_rng(settings.seed).integers(settings.nodes, size=settings.walks)
    last = max(settings.sizes)
    batch, agent = begin([graph], [starts], "igt", last + 10, seed=settings.seed), RandomAgent()
    for size in range(1, last + 1):
        if size in settings.sizes:
            yield size, batch
        batch = batch.step(batch.best(agent.scores(batch)))


def _typical(batch: Exploration) -> int:
    """The walk with the median number of candidates."""
    order = np.argsort(batch.candidates.counts, kind="stable")
    return int(order[len(order) // 2])


def _decisions(walks: Exploration, reward: str, agents: Mapping[str, Agent]) -> Calls:
    """Scoring all candidates; greedy has its running state at hand, as when walking."""
    tracker = as_reward(reward).track(walks.stack, walks.nodes, walks.lengths)
    calls: Calls = {name: partial(agent.scores, walks) for name, agent in agents.items()}
    calls["greedy"] = partial(tracker.candidate_values, walks.candidates.offsets, walks.candidates.nodes)
    return calls


def _peer_decisions(alone: Exploration, peers: Peers) -> Calls:
    """A call per candidate, adjacency matrices at hand."""
    if not peers:
        return {}
    visited = alone.nodes[0, : int(alone.lengths[0])]
    matrices = [_adjacency(alone, np.append(visited, v)) for v in alone.candidates.nodes]
    return {name: partial(_each, value, matrices) for name, value in peers.items()}


def _each(value: Callable[[Float64], float], matrices: Sequence[Float64]) -> list[float]:
    return [value(matrix) for matrix in matrices]


def _reward_calls(alone: Exploration, reward: str, agents: Mapping[str, Agent], peers: Peers) -> Calls:
    """F of one subgraph from nothing but its nodes; for gnn, one pass over one subgraph."""
    visited = alone.nodes[:, : int(alone.lengths[0])]
    calls: Calls = {"greedy": partial(_value, as_reward(reward), alone, visited)}
    if isinstance(gnn := agents.get("gnn"), GnnAgent):
        one = np.array([0, 1])
        calls["gnn"] = partial(gnn.values, alone.stack, alone.nodes, alone.lengths, one, alone.candidates.nodes[:1])
    matrix = _adjacency(alone, visited[0])
    return calls | {name: partial(value, matrix) for name, value in peers.items()}


def _value(reward: Reward, alone: Exploration, visited: Int32) -> Float64:
    return reward.track(alone.stack, visited, alone.lengths).values()


def _adjacency(alone: Exploration, nodes: Int32) -> Float64:
    return np.asarray(alone.stack.graphs[0].induced(np.sort(nodes)).to_scipy().toarray(), np.float64)


@dataclass
class _Clock:
    """Times calls in turns, so that a slow moment of the machine slows all of them, and declines the long ones."""

    repeats: int
    _last: dict[tuple[str, ...], tuple[int, float]] = field(default_factory=dict)
    """Size and seconds of what was last timed under a name."""

    def seconds(self, work: tuple[str, str], size: int, calls: Calls, limit: float) -> dict[str, float]:
        """Median time of a call of each that is likely to end within `limit` seconds."""
        calls = {name: call for name, call in calls.items() if self._expected((*work, name), size) <= limit}
        first = {name: _timed(call, 1) for name, call in calls.items()}
        if any((*work, name) not in self._last for name in calls):
            first = {name: _timed(call, 1) for name, call in calls.items()}  # now without compiling
        counts = {name: max(1, int(0.02 / max(spent, 1e-7))) for name, spent in first.items() if spent < 0.5}
        turns = [{name: _timed(calls[name], count) for name, count in counts.items()} for _ in range(self.repeats)]
        found = first | {name: statistics.median(turn[name] for turn in turns) for name in counts}
        self._last |= {(*work, name): (size, spent) for name, spent in found.items()}
        return found

    def _expected(self, key: tuple[str, ...], size: int) -> float:
        """A guess from the last size, as if time grew with its cube; only to decide whether to try."""
        before, spent = self._last.get(key, (size, 0.0))
        return spent * (size / before) ** 3


def _timed(call: Callable[[], Any], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def verdict(timings: Sequence[Timing], agent: str, rival: str) -> str:
    """Where an agent is faster than a rival at the same work, and where it is not.

    >>> times = {5: {"gnn": 2.0, "greedy": 1.0}, 50: {"gnn": 2.0, "greedy": 6.0}}
    >>> verdict([Timing("cpt", ONE, size, 9.0, seconds) for size, seconds in times.items()], "gnn", "greedy")
    'faster from 50 nodes on (3x at 50), slower up to 5 (2x at 5)'
    """
    ratios = {t.size: t.seconds[rival] / t.seconds[agent] for t in timings if {agent, rival} <= t.seconds.keys()}
    faster = [size for size, ratio in ratios.items() if ratio > 1]
    slower = [size for size in ratios if size not in faster]
    if not ratios:
        return "-"
    if not slower or not faster:
        factors = [ratio if faster else 1 / ratio for ratio in ratios.values()]
        return f"{'faster' if faster else 'slower'} at every size ({_times(min(factors))} to {_times(max(factors))})"
    if slower[-1] < faster[0]:
        return (
            f"faster from {faster[0]} nodes on ({_times(ratios[faster[-1]])} at {faster[-1]}), "
            f"slower up to {slower[-1]} ({_times(1 / ratios[slower[0]])} at {slower[0]})"
        )
    return f"faster at {_list(faster)} nodes, slower at {_list(slower)}"


def _times(factor: float) -> str:
    return f"{factor:,.0f}x" if factor >= 10 else f"{factor:.2g}x"


def _list(sizes: Sequence[int]) -> str:
    return ", ".join(map(str, sizes))


def verdicts(timings: Sequence[Timing]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of a table: each trained agent against exact evaluation, ours and the peer's."""
    rows = []
    for reward in REWARDS:
        for way in WAYS:
            some = _of(timings, reward, way)
            for agent in TRAINED:
                if any(agent in timing.seconds for timing in some):
                    rivals = [verdict(some, agent, rival) for rival in ("greedy", PEERS[reward])]
                    rows.append([reward, way, agent, *rivals])
    return ["reward", "work", "agent", "against exact rewards, ours", "against the peer's"], rows


def _of(timings: Sequence[Timing], reward: str, way: str) -> list[Timing]:
    return [timing for timing in timings if (timing.reward, timing.way) == (reward, way)]


def remarks(timings: Sequence[Timing], settings: Settings) -> Iterator[str]:
    """What is not in the table."""
    missing = describe_missing(TRAINED, [settings.family])
    if missing:
        yield missing
    for reward, peer in PEERS.items():
        if not any(peer in timing.seconds for timing in timings if timing.reward == reward):
            yield f"{peer} is not installed, so it was not timed: pip install 'curiograph[bench]'."


def table(timings: Sequence[Timing], reward: str) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the table of a reward, in milliseconds."""
    columns = [*TRAINED, "greedy", PEERS[reward]]
    rows = [
        [t.way, str(t.size), f"{t.candidates:.1f}", *(_milliseconds(t.seconds.get(name)) for name in columns)]
        for t in timings
        if t.reward == reward
    ]
    return ["work", "nodes visited", "candidates", *columns], rows


def _milliseconds(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{1000 * seconds:,.0f}" if seconds >= 0.1 else f"{1000 * seconds:.3g}"


def to_markdown(timings: Sequence[Timing], settings: Settings) -> str:
    """What is faster where, and the times."""
    lines = [
        f"Milliseconds on {_machine()}; random walks on a graph of the family {settings.family.upper()} with "
        f"{settings.nodes} nodes. One walk: all candidates of a walk are scored, for one decision. Many walks: "
        f"{settings.walks} walks at once, time per decision. One subgraph: one reward call from the bare nodes, or one "
        "pass of gnn. greedy is our exact evaluation, with its running state at hand as it is between decisions; the "
        "peers, ripser for igt and a slow twin that follows the published code for cpt, are called per candidate, with "
        "the matrices they need at hand; many walks take them many times as long. A dash: it would have taken more "
        f"than about {settings.limit:g} s ({settings.batch_limit:g} s for all walks), or there is nothing to time.",
        "",
        "Where the trained agents are faster than exact evaluation, and where not:",
        "",
        *format_table(*verdicts(timings)),
    ]
    for line in remarks(timings, settings):
        lines += ["", line]
    for reward in REWARDS:
        lines += ["", f"{TITLES[reward]}, milliseconds:", "", *format_table(*table(timings, reward))]
    return "\n".join(lines) + "\n"


def _machine() -> str:
    return f"{platform.machine()} with {os.cpu_count()} cores, Python {platform.python_version()}"


def to_dict(timings: Sequence[Timing], settings: Settings) -> dict[str, Any]:
    """Everything as plain values."""
    head, rows = verdicts(timings)
    return {
        "settings": asdict(settings),
        "machine": _machine(),
        "verdicts": [dict(zip(head, row, strict=True)) for row in rows],
        "remarks": list(remarks(timings, settings)),
        "timings": [asdict(timing) for timing in timings],
    }


def save_plot(timings: Sequence[Timing], path: str | Path) -> None:
    """Times against nodes visited, a row of panels for each reward, a column for each kind of work."""
    made, panels = create_figure(13.0, 6.5, columns=len(WAYS), rows=len(REWARDS))
    handles: dict[str, Any] = {}
    for row, reward in zip(panels, REWARDS, strict=True):
        for panel, way in zip(row, WAYS, strict=True):
            some = _of(timings, reward, way)
            names = [n for n in (*TRAINED, "greedy", PEERS[reward]) if any(n in t.seconds for t in some)]
            series = {name: _line(some, name) for name in names}
            plot_lines([timing.size for timing in some], series, panel)
            panel.set(xscale="log", yscale="log", title=f"{reward}, {way}")
            handles |= dict(zip(names, panel.get_lines(), strict=True))
        row[0].set_ylabel("milliseconds per decision or call")
    for panel in panels[-1]:
        panel.set_xlabel("nodes visited")
    made.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=len(handles), frameon=False)
    save_figure(panels[0][0], path)


def _line(timings: Sequence[Timing], name: str) -> tuple[list[float], list[float]]:
    heights = [1000 * timing.seconds.get(name, float("nan")) for timing in timings]
    return heights, [0.0] * len(heights)
