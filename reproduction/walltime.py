"""Time per decision against the number of visited nodes: gnn, exact rewards, peers."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.peers import compute_slow_compressibility, find_gap_peers
from benchmarks.rows import time_medians
from curiograph.agents.agent_names import as_agent
from curiograph.agents.heuristics import RandomAgent
from curiograph.arrays import Float64
from curiograph.exploration.mdp import Exploration, begin
from curiograph.rewards.reward_names import as_reward
from reproduction.comparison import REWARDS, TITLES, generate_tests
from reproduction.report import Report, Setup

SIZES = (5, 10, 20, 50, 100, 150, 200)
PEERS = {"igt": "ripser", "cpt": "slow twin"}
"""Name of the other implementation of each reward."""
ONE_WALK, MANY_WALKS = TASKS = ("one walk", "many walks")
FAMILY, NODES = "rg", 500
LIMIT = 2.0
"""Seconds of a call beyond which a method is not timed at larger sizes."""

Peer = Callable[[Float64], float]


def compute(setup: Setup, largest: int = 200, walks: int = 100, repeats: int = 5) -> dict[str, Any]:
    """Time all methods at each size."""
    peers: dict[str, Peer] = {"slow twin": compute_slow_compressibility, **find_gap_peers()}
    spent: dict[tuple[str, ...], float] = {}  # seconds of the last call of each method
    timings: list[dict[str, Any]] = []
    sizes = [size for size in SIZES if size <= largest]
    for size, batch in _walk_to_sizes(sizes, walks, setup.seed):
        order = np.argsort(batch.candidates.counts, kind="stable")
        alone = batch.rows(np.array([int(order[len(order) // 2])]))  # the walk with the median number of candidates
        for reward, (way, timed) in product(REWARDS, ((ONE_WALK, alone), (MANY_WALKS, batch))):
            setup.progress(f"{reward}, {size} nodes visited: {way}", SIZES.index(size) / len(SIZES))
            calls = _list_calls(timed, reward, peers.get(PEERS[reward]) if way == ONE_WALK else None)
            quick = {name: call for name, call in calls.items() if spent.get((reward, way, name), 0) < LIMIT}
            seconds = dict(zip(quick, time_medians(*quick.values(), repeats=repeats), strict=True))
            spent |= {(reward, way, name): each for name, each in seconds.items()}
            count = len(timed.lengths)
            times = {name: each / count for name, each in seconds.items()}
            candidates = len(timed.candidates.nodes) / count
            timings.append({"reward": reward, "way": way, "size": size, "candidates": candidates, "seconds": times})
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


def _list_calls(walks: Exploration, reward: str, peer: Peer | None) -> dict[str, Callable[[], Any]]:
    """Return calls that score all candidates: greedy has its running state, a peer takes one at a time."""
    tracker, candidates = as_reward(reward).track(walks.stack, walks.nodes, walks.lengths), walks.candidates
    calls: dict[str, Callable[[], Any]] = {
        "gnn": partial(as_agent(f"{reward}-{FAMILY}").scores, walks),
        "greedy": partial(tracker.candidate_values, candidates.offsets, candidates.nodes),
    }
    if peer is not None:  # of a single walk, with precomputed adjacency matrices
        visited, graph = walks.nodes[0, : int(walks.lengths[0])], walks.stack.graphs[0]
        subgraphs = [graph.induced(np.sort(np.append(visited, node))) for node in candidates.nodes]
        matrices = [subgraph.to_scipy().toarray().astype(np.float64) for subgraph in subgraphs]
        calls[PEERS[reward]] = lambda: [peer(matrix) for matrix in matrices]
    return calls


def report(document: dict[str, Any]) -> Report:
    """Show milliseconds by reward; the columns in brackets are relative to gnn."""
    tables = {}
    for reward in REWARDS:
        methods = ["gnn", "greedy", PEERS[reward]]
        own = [timing for timing in document["timings"] if timing["reward"] == reward]
        rows = []
        for each in own:
            times = [each["seconds"].get(method, np.nan) for method in methods]
            cells = [f"{1000 * seconds:.3g} ({seconds / times[0]:.3g})" for seconds in times]
            named = [each["way"], str(each["size"]), f"{each['candidates']:.1f}"]
            rows.append([*named, *("-" if "nan" in cell else cell for cell in cells)])
        columns = ["work", "nodes visited", "candidates", *methods]
        tables[f"{TITLES[reward]}, milliseconds (relative to gnn)"] = pd.DataFrame(rows, columns=columns)
    return Report(
        tables=tables,
        text=f"Milliseconds on {document['machine']}; random walks on a graph of the family {FAMILY.upper()} with "
        f"{NODES} nodes. One walk: scoring all candidates of a walk, for one decision. Many walks: walks together, "
        "time per decision. greedy is our exact evaluation, with the running state that it has between decisions. The "
        "peers, ripser for igt and for cpt a slow twin that follows the published code, are called once per candidate "
        "with precomputed matrices. A dash: the call would take too long, or the peer is not installed.",
    )
