"""Speed of curious PageRank and of recommendation, against walkers simulated one by one and fixed limits."""

from __future__ import annotations

import os
import tempfile
import time
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.centrality import create_random_graph, read_wikispeedia
from benchmarks.report import Result, compare_with_limit
from benchmarks.timing import time_medians
from curiograph.agents.gnn import GnnAgent
from curiograph.agents.layers import limit_blas_threads
from curiograph.agents.pretrained import load_agent
from curiograph.arrays import Float64
from curiograph.centrality.curious_pagerank import CuriousPageRank, curious_pagerank
from curiograph.centrality.rank_transition import rank_transition
from curiograph.exploration.mdp import Exploration
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph
from curiograph.recommendation.recommender import Recommender
from curiograph.rewards.registry import as_reward

ALPHA, P_G, TOLERANCE, TOP = 0.85, 0.5, 0.05, 20
AGENTS = ("igt-er", "cpt-er")


def measure_curious_pagerank(seed: int, quick: bool) -> list[Result]:
    """Time curious PageRank by trained gnn agents to an error of 5 % of the 20 highest scores."""
    name, graph = _create_graph(seed, quick)
    histories = _draw_histories(graph, 1 if quick else 5, seed)
    results: list[Result] = []
    for agent in AGENTS[:1] if quick else AGENTS:
        curious_pagerank(graph, agent, ALPHA, histories[0], p_g=P_G, max_walks=8)  # compute features, compile kernels
        times, speedups = [], []
        for number, history in enumerate(histories):
            start = time.perf_counter()
            eta = curious_pagerank(graph, agent, ALPHA, history, p_g=P_G, tolerance=TOLERANCE, seed=seed + number)
            times.append(time.perf_counter() - start)
            plain = _estimate_plain_seconds(graph, agent, history, eta, 5 if quick else 60, seed + number)
            speedups.append(plain / times[-1])
        size = f"{name}, error at most 5 % of the 20 highest scores, all cores"
        each, speedup = float(np.median(times)), float(np.median(speedups))
        slowest = f"the same, slowest of {len(histories)} histories"
        one_by_one = f"the same by {agent}, against walkers one by one"
        results += [
            compare_with_limit(f"curious PageRank of a history by {agent}", size, each, 2.0),
            compare_with_limit(slowest, size, max(times), 2.0),
            Result(one_by_one, "at equal error", each, "candidate by candidate", each * speedup, speedup, 20.0),
        ]
    settings: dict[str, Any] = {"history": histories[0], "p_g": P_G, "tolerance": TOLERANCE, "seed": seed}
    one, fifty = time_medians(
        partial(curious_pagerank, graph, AGENTS[-1], ALPHA, **settings),
        partial(curious_pagerank, graph, AGENTS[-1], np.linspace(0.0, ALPHA, 50), **settings),
        repeats=1 if quick else 3,
    )
    results.append(
        Result(
            "curious PageRank for 50 alphas, allowed 1.2 times that for one",
            "alphas up to 0.85",
            ours=fifty,
            peer="one alpha",
            peers=one,
            ratio=1.2 * one / fifty,
            target=1.0,
        )
    )
    return results


def measure_recommendation(seed: int, quick: bool) -> list[Result]:
    """Time answers of a prepared recommender among the neighbors of the last node, with and without reasons."""
    results = []
    graphs = dict([_create_graph(seed, quick)])
    if not quick:
        graphs["uniform, 2,000,000 nodes, 10,000,000 links"] = create_random_graph(2_000_000, 10_000_000, seed)
    for name, graph in graphs.items():
        histories = _draw_histories(graph, 4 if quick else 20, seed)
        recommender = Recommender(graph)
        recommender.prepare([label for history in histories for label in history])
        for what, explain in (("ten recommendations", False), ("ten recommendations with reasons", True)):
            (seconds,) = time_medians(partial(_recommend_all, recommender, histories, explain), repeats=5)
            results.append(compare_with_limit(f"{what}, prepared", name, seconds / len(histories), 20e-3))
    return results


def measure_preparation(seed: int, quick: bool) -> list[Result]:
    """Time the preparation of a node, a recommendation that is not prepared, and the update after 100 new links."""
    name, graph = _create_graph(seed, quick)
    labels = graph.labels
    recommender = Recommender(graph)
    recommender.prepare(labels[:1])  # compute features, load kernels
    start = time.perf_counter()
    recommender.prepare_curious()
    each = (time.perf_counter() - start) / len(labels)
    times = []
    for history in _draw_histories(graph, 4 if quick else 20, seed):
        fresh = Recommender(graph)
        start = time.perf_counter()
        fresh.recommend(history)
        times.append(time.perf_counter() - start)
    rng = np.random.default_rng(seed)
    tails = np.concatenate([np.repeat(np.arange(graph.num_nodes), graph.degrees), rng.integers(0, len(labels), 100)])
    heads = np.concatenate([graph.indices, rng.integers(0, len(labels), 100)])
    proper = tails != heads
    changed = Graph.from_arrays(tails[proper], heads[proper], directed=graph.directed, names=graph.names)
    with tempfile.TemporaryDirectory() as folder:
        recommender.save(f"{folder}/parts.safetensors")
        start = time.perf_counter()
        updated = Recommender(changed)
        updated.load_unaffected(f"{folder}/parts.safetensors")
        updated.prepare_curious()
        update = time.perf_counter() - start
    return [
        compare_with_limit("prepare a node for the mixture, all cores", name, each, 240 / 4604),
        compare_with_limit("ten recommendations, not prepared", name, float(np.median(times)), 0.1),
        compare_with_limit("update of all prepared nodes after 100 new links", name, update, 10.0),
    ]


def measure_catalog_preparation(seed: int, quick: bool) -> list[Result]:
    """Time the preparation of catalogs of mean degree 20, and through Ray if it is installed."""
    allowed = 90 * 60 / 100_000
    sizes, engines = (
        (1_000, 2_000) if quick else (20_000, 100_000),
        ("local", "ray") if find_spec("ray") else ("local",),
    )
    results, seconds = [], {}
    for items in sizes:
        graph = create_random_graph(items, 10 * items, seed)
        for engine in engines if items == sizes[0] else ("local",):
            recommender = Recommender(graph)
            recommender.prepare(graph.labels[:1])  # compute features, load kernels
            start = time.perf_counter()
            recommender.prepare_curious(engine=engine, workers=1 if engine == "local" else os.cpu_count())
            seconds[engine, items] = (time.perf_counter() - start) / items
            name = f"uniform, {items:,} items of mean degree 20"
            what = "prepare an item for the mixture, all cores" + (", through Ray" if engine == "ray" else "")
            results.append(compare_with_limit(what, name, seconds[engine, items], allowed))
    small, large = (seconds["local", items] for items in sizes)
    growth = "time per item, allowed 2 times that of the smaller catalog"
    ratio = 2 * small / large
    results.append(Result(growth, f"{sizes[1]:,} items", large, f"{sizes[0]:,} items", small, ratio, 1.0))
    return results


def _recommend_all(recommender: Recommender, histories: list[list[Any]], explain: bool) -> None:
    for history in histories:
        top = recommender.recommend(history, candidates="last")
        if explain:
            _ = top.reasons


def _create_graph(seed: int, quick: bool) -> tuple[str, Graph]:
    """Name and graph: Wikispeedia if available, otherwise a directed graph of its size; a small one if `quick`."""
    if quick:
        return "uniform, directed, 500 nodes", create_random_graph(500, 5_000, seed, directed=True)
    wikispeedia = read_wikispeedia()
    if wikispeedia is not None:
        return "Wikispeedia", wikispeedia
    return "uniform, directed, of Wikispeedia's size", create_random_graph(4_600, 120_000, seed, directed=True)


def _draw_histories(graph: Graph, count: int, seed: int) -> list[list[Any]]:
    """Draw histories of three nodes with neighbors."""
    rng = np.random.default_rng(seed)
    connected = np.flatnonzero(graph.degrees)
    return [[graph.label(int(v)) for v in rng.choice(connected, 3, replace=False)] for _ in range(count)]


def _estimate_plain_seconds(
    graph: Graph, name: str, history: list[Any], eta: CuriousPageRank, walkers: int, seed: int
) -> float:
    """Estimate the seconds that plain walkers need to reach the root mean square relative error of the top of `eta`.

    A few walkers are timed; the number needed follows from the variance of their visits, as one over the error squared.
    """
    agent: Any = load_agent(name)
    starts = graph.positions(history)
    rng = np.random.default_rng(seed)
    start = time.perf_counter()
    with limit_blas_threads():
        visits = np.stack([simulate_walker(graph, agent, ALPHA, starts, P_G, rng) for _ in range(walkers)])
    seconds = (time.perf_counter() - start) / walkers
    top = np.argsort(-eta.scores, kind="stable")[:TOP]
    scores, errors = eta.scores[top], eta.stderr[top]
    excess = (visits[:, top] - scores * visits.sum(axis=1, keepdims=True)) * (1 - ALPHA)
    variance = np.mean(np.mean(excess**2, axis=0) / scores**2)
    return float(seconds * variance / np.mean((errors / scores) ** 2))


def simulate_walker(graph: Graph, agent: GnnAgent, alpha: float, starts: Any, p_g: float, rng: Any) -> Float64:
    """Count the visits of a walker to each node until it teleports, from the definition, one candidate at a time."""
    stack = GraphBatch.of([graph])
    path = [int(rng.choice(starts))]
    visits = np.zeros(graph.num_nodes)
    visits[path[0]] = 1
    while rng.random() < alpha:
        row = np.full((1, len(path) + 1), -1, np.int32)
        row[0, :-1] = path
        length = np.array([len(path)])
        state = Exploration(
            stack=stack,
            reward=as_reward("igt"),
            steps=len(path) + 1,
            fallback="frontier",
            graph_of=np.zeros(1, np.int64),
            streams=np.zeros(1, np.uint64),
            nodes=row,
            lengths=length,
            rewards=np.full((1, len(path)), np.nan),
        )
        candidates = state.candidates.nodes
        if len(candidates) == 0:
            break
        one = np.array([0, 1])
        values = [agent.values(stack, row, length, one, candidates[c : c + 1])[0] for c in range(len(candidates))]
        chances = rank_transition(np.asarray(values, np.float64), p_g)
        path.append(int(rng.choice(candidates, p=chances / chances.sum())))
        visits[path[-1]] += 1
    return visits
