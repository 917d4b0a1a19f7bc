"""Time per decision and per reward call against the number of visited nodes: gnn, exact rewards, peers."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.peers import find_peers
from curiograph.agents.heuristics import RandomAgent
from curiograph.agents.registry import as_agent
from curiograph.arrays import Float64, Int32
from curiograph.exploration.mdp import Exploration, begin
from curiograph.plotting import create_figure, plot_lines
from curiograph.rewards.registry import as_reward
from reproduction.comparison import REWARDS, TITLES, generate_tests
from reproduction.report import Report, Setup

SIZES = (5, 10, 20, 50, 100, 150, 200)
"""Numbers of visited nodes."""
PEERS = {"igt": "ripser", "cpt": "slow twin"}
"""Name of the other implementation of each reward."""
ONE_WALK, MANY_WALKS, ONE_SUBGRAPH = TASKS = ("one walk", "many walks", "one subgraph")
"""Kinds of work that are timed."""
FAMILY, NODES = "rg", 500
"""Family and number of nodes of the graph."""
LIMITS = {ONE_WALK: 5.0, MANY_WALKS: 30.0, ONE_SUBGRAPH: 5.0}
"""Seconds beyond which a call is skipped."""

Calls = dict[str, Callable[[], Any]]
"""Calls to time, by method."""
Peers = Mapping[str, Callable[[Float64], float]]
"""Functions of an adjacency matrix, by name."""


def compute(setup: Setup, largest: int = 200, walks: int = 100, repeats: int = 5) -> dict[str, Any]:
    """Time all methods at each size."""
    peers = find_peers()
    timer = Timer(repeats)
    timings: list[dict[str, Any]] = []
    sizes = [size for size in SIZES if size <= largest]
    for size, batch in _walk_to_sizes(sizes, walks, setup.seed):
        order = np.argsort(batch.candidates.counts, kind="stable")
        alone = batch.rows(np.array([int(order[len(order) // 2])]))  # the walk with the median number of candidates
        for reward in REWARDS:
            known = {name: peer for name, peer in peers.items() if name == PEERS[reward]}
            work = {
                ONE_WALK: (alone, _list_score_calls(alone, reward) | _list_peer_calls(alone, known)),
                MANY_WALKS: (batch, _list_score_calls(batch, reward)),
                ONE_SUBGRAPH: (alone, _list_reward_calls(alone, reward, known)),
            }
            for way, (timed, calls) in work.items():
                setup.progress(
                    f"{reward}, {size} nodes visited: {way}", len(timings) / (len(sizes) * len(REWARDS) * len(TASKS))
                )
                seconds = timer.time_calls((reward, way), size, calls, LIMITS[way])
                count = len(timed.lengths)
                timings.append(
                    {
                        "reward": reward,
                        "way": way,
                        "size": size,
                        "candidates": len(timed.candidates.nodes) / count,
                        "seconds": {name: each / count for name, each in seconds.items()},
                    }
                )
    timings.sort(key=lambda timing: (REWARDS.index(timing["reward"]), TASKS.index(timing["way"])))
    machine = f"{platform.machine()} with {os.cpu_count()} cores, Python {platform.python_version()}"
    return {"machine": machine, "timings": timings}


def _walk_to_sizes(sizes: Sequence[int], walks: int, seed: int) -> Iterator[tuple[int, Exploration]]:
    """Advance random walks on one graph and yield them at each size."""
    graph = generate_tests(FAMILY, 1, seed, NODES)[0]
    starts = np.random.default_rng(seed).integers(NODES, size=walks)
    batch, agent = begin([graph], [starts], "igt", max(sizes) + 10, seed=seed), RandomAgent()
    for size in range(1, max(sizes) + 1):
        if size in sizes:
            yield size, batch
        batch = batch.step(batch.best(agent.scores(batch)))


def _list_score_calls(walks: Exploration, reward: str) -> Calls:
    """Return calls that score all candidates; greedy has its running state, as during a walk."""
    tracker = as_reward(reward).track(walks.stack, walks.nodes, walks.lengths)
    candidates = walks.candidates
    return {
        "gnn": partial(as_agent(f"{reward}-{FAMILY}").scores, walks),
        "greedy": partial(tracker.candidate_values, candidates.offsets, candidates.nodes),
    }


def _list_peer_calls(alone: Exploration, peers: Peers) -> Calls:
    """Return calls that score all candidates by peers, one at a time, with precomputed adjacency matrices."""
    visited = alone.nodes[0, : int(alone.lengths[0])]
    matrices = [_get_adjacency(alone, np.append(visited, node)) for node in alone.candidates.nodes] if peers else []
    return {name: lambda peer=peer: [peer(matrix) for matrix in matrices] for name, peer in peers.items()}  # type: ignore[misc]


def _list_reward_calls(alone: Exploration, reward: str, peers: Peers) -> Calls:
    """Return calls that compute the reward of one subgraph from its nodes; for gnn, one pass over one subgraph."""
    visited = alone.nodes[:, : int(alone.lengths[0])]
    tracked, gnn = as_reward(reward), as_agent(f"{reward}-{FAMILY}")
    first = (np.array([0, 1]), alone.candidates.nodes[:1])
    matrix = _get_adjacency(alone, visited[0])
    return {
        "greedy": lambda: tracked.track(alone.stack, visited, alone.lengths).values(),
        "gnn": partial(gnn.values, alone.stack, alone.nodes, alone.lengths, *first),  # type: ignore[attr-defined]
        **{name: partial(peer, matrix) for name, peer in peers.items()},
    }


def _get_adjacency(alone: Exploration, nodes: Int32) -> Float64:
    return np.asarray(alone.stack.graphs[0].induced(np.sort(nodes)).to_scipy().toarray(), np.float64)


class Timer:
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
        turns = [{name: _time_call(selected[name], n) for name, n in counts.items()} for _ in range(self._repeats)]
        seconds = first | {name: statistics.median(turn[name] for turn in turns) for name in counts}
        self._last |= {(*work, name): (size, spent) for name, spent in seconds.items()}
        return seconds


def _time_call(call: Callable[[], Any], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def report(document: dict[str, Any]) -> Report:
    """Show milliseconds by reward, and where gnn is faster than exact rewards."""
    timings, tables, rows = document["timings"], {}, []
    figure, panels = create_figure(9.0, 3.2 * len(TASKS), columns=len(REWARDS), rows=len(TASKS))
    for column, reward in zip(panels.T, REWARDS, strict=True):
        methods = ["gnn", "greedy", PEERS[reward]]
        own = [timing for timing in timings if timing["reward"] == reward]
        cells = [
            [each["way"], str(each["size"]), f"{each['candidates']:.1f}"]
            + [_format_milliseconds(each["seconds"].get(method)) for method in methods]
            for each in own
        ]
        columns = ["work", "nodes visited", "candidates", *methods]
        tables[f"{TITLES[reward]}, milliseconds"] = pd.DataFrame(cells, columns=columns)
        for panel, way in zip(column, TASKS, strict=True):
            chosen = [each for each in own if each["way"] == way]
            rows.append([reward, way, *(compare_times(chosen, "gnn", rival) for rival in methods[1:])])
            series = {m: ([1000 * e["seconds"].get(m, np.nan) for e in chosen], [0.0] * len(chosen)) for m in methods}
            plot_lines([each["size"] for each in chosen], series, panel)
            panel.set(xscale="log", yscale="log", title=f"{reward}, {way}", ylabel="milliseconds")
        column[0].legend(frameon=False)
        column[-1].set_xlabel("nodes visited")
    verdicts = pd.DataFrame(rows, columns=["reward", "work", "gnn against exact rewards, ours", "against the peer's"])
    return Report(
        tables={**tables, "Where gnn is faster than exact rewards": verdicts},
        figure=figure,
        text=f"Milliseconds on {document['machine']}; random walks on a graph of the family {FAMILY.upper()} with "
        f"{NODES} nodes. One walk: scoring all candidates of a walk, for one decision. Many walks: walks together, "
        "time per decision. One subgraph: one reward call given only the nodes, or one pass of gnn. greedy is our "
        "exact evaluation, with the running state that it has between decisions. The peers, ripser for igt and for cpt "
        "a slow twin that follows the published code, are called once per candidate with precomputed matrices. A dash: "
        "the call would take too long, the peer is not installed, or it does not apply.",
    )


def _format_milliseconds(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{1000 * seconds:,.0f}" if seconds >= 0.1 else f"{1000 * seconds:.3g}"


def _format_factor(factor: float) -> str:
    return f"{factor:,.0f}x" if factor >= 10 else f"{factor:.2g}x"


def compare_times(timings: Sequence[Mapping[str, Any]], agent: str, rival: str) -> str:
    """Describe the sizes at which an agent is faster than a rival at the same work.

    >>> seconds = {5: {"gnn": 2, "greedy": 1}, 9: {"gnn": 2, "greedy": 6}}
    >>> compare_times([{"size": size, "seconds": each} for size, each in seconds.items()], "gnn", "greedy")
    'faster from 9 nodes on (3x at 9), slower up to 5 (2x at 5)'
    """
    known = [timing for timing in timings if {agent, rival} <= timing["seconds"].keys()]
    ratios = {timing["size"]: timing["seconds"][rival] / timing["seconds"][agent] for timing in known}
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
