"""Speed of PageRank, curious PageRank and recommendation, against other libraries and fixed limits."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import networkx as nx
import numpy as np

import curiograph as cg
from benchmarks.graphs import (
    create_preferential_graph,
    create_random_graph,
    draw_histories,
    read_or_create_graph,
    read_wikispeedia,
)
from benchmarks.rows import Row, allow, time_call, time_medians
from curiograph import kernels
from curiograph.agents.layers import limit_blas_threads
from curiograph.arrays import Float64
from curiograph.exploration.mdp import begin
from curiograph.parallel.engine import IN_PROCESS

TOLERANCE = 1e-10
AGENTS, ALPHA, P_G, ERROR, TOP = ("igt-er", "cpt-er"), 0.85, 0.5, 0.05, 20
"""Agents and settings of curious PageRank: the error of the highest scores, and how many scores those are."""


def time_pagerank(seed: int, quick: bool) -> Iterator[Row]:
    """Compare personalized PageRank with igraph and networkx on one core.

    Our graph is prepared before the comparison (in-neighbors, strengths); the time of a first call has its own row.
    """
    targets = {"igraph": 5.0, "networkx": 50.0}
    for name, graph in _create_graphs(seed, quick).items():
        size = f"{name}, {graph.num_nodes:,} nodes, {graph.num_edges:,} edges"
        node = graph.num_nodes // 3
        start = graph.label(node)
        unprepared = cg.Graph(graph.indptr, graph.indices, directed=graph.directed)
        first = time_call(partial(cg.pagerank, unprepared, history=[node], tolerance=TOLERANCE))
        peers: dict[str, Any] = {}
        if find_spec("igraph"):
            other = import_module("igraph").Graph.from_networkx(graph.to_networkx())
            peers["igraph"] = partial(other.personalized_pagerank, reset_vertices=[node])
        # networkx stops at a change of its tolerance times the number of nodes
        other = partial(nx.pagerank, graph.to_networkx(), 0.85, {start: 1}, max_iter=1000, weight=None)
        peers["networkx"] = partial(other, tol=TOLERANCE)
        peers["networkx, as close as ours"] = partial(other, tol=TOLERANCE / graph.num_nodes)
        ours = partial(cg.pagerank, graph, history=[start], tolerance=TOLERANCE)
        seconds, *theirs = time_medians(ours, *peers.values(), repeats=1 if quick else 7)
        for peer, each in zip(peers, theirs, strict=True):
            yield Row("PageRank of a history", size, seconds, peer, each, targets.get(peer))
        yield Row("PageRank of a first history, graph prepared in it", size, first)


def time_pagerank_batch(seed: int, quick: bool) -> Iterator[Row]:
    """Compare a batch of 256 histories with one history at a time."""
    for name, graph in _create_graphs(seed, quick).items():
        histories = draw_histories(graph, 32 if quick else 256, seed, size=None)
        together = partial(cg.pagerank, graph, history=histories, tolerance=TOLERANCE)
        one_by_one = [partial(cg.pagerank, graph, history=each, tolerance=TOLERANCE) for each in histories[:16]]
        ours, alone = time_medians(together, lambda: [call() for call in one_by_one], repeats=3)  # noqa: B023
        what = f"PageRank of a history, {len(histories)} a call"
        yield Row(what, name, ours / len(histories), "one a call", alone / 16, target=3.0)


def time_curious_pagerank(seed: int, quick: bool) -> Iterator[Row]:
    """Time curious PageRank by trained gnn agents to an error of 5 % of the 20 highest scores."""
    name, graph = read_or_create_graph(seed, quick)
    histories = draw_histories(graph, 1 if quick else 5, seed)
    for agent in AGENTS:
        cg.curious_pagerank(graph, agent, ALPHA, histories[0], p_g=P_G, max_walks=8)  # compute features, load kernels
        times, speedups = [], []
        for number, history in enumerate(histories, start=seed):
            start = time.perf_counter()
            eta = cg.curious_pagerank(graph, agent, ALPHA, history, p_g=P_G, tolerance=ERROR, seed=number)
            times.append(time.perf_counter() - start)
            plain = _estimate_plain_seconds(graph, agent, history, eta, 2 if quick else 60, number)
            speedups.append(plain / times[-1])
        size = f"{name}, error at most 5 % of the 20 highest scores, all cores"
        each, speedup = float(np.median(times)), float(np.median(speedups))
        yield allow(f"curious PageRank of a history by {agent}", size, each, 2.0)
        yield allow(f"the same, slowest of {len(histories)} histories", size, max(times), 2.0)
        what = f"the same by {agent}, against walkers one by one"
        yield Row(what, "at equal error", each, "candidate by candidate", each * speedup, 20.0)
    settings: dict[str, Any] = {"history": histories[0], "p_g": P_G, "tolerance": ERROR, "seed": seed}
    one, fifty = time_medians(
        partial(cg.curious_pagerank, graph, AGENTS[-1], ALPHA, **settings),
        partial(cg.curious_pagerank, graph, AGENTS[-1], np.linspace(0.0, ALPHA, 50), **settings),
        repeats=1 if quick else 3,
    )
    what = "curious PageRank for 50 alphas, allowed 1.2 times that for one"
    yield Row(what, "alphas up to 0.85", fifty, "one alpha", one, target=1.0, ratio=1.2 * one / fifty)


def time_recommendation(seed: int, quick: bool) -> Iterator[Row]:
    """Time answers of a prepared recommender among the neighbors of the last node, with and without reasons."""

    def recommend_all(recommender: cg.Recommender, histories: list[list[Any]], explain: bool) -> None:
        for history in histories:
            top = recommender.recommend(history, candidates="last")
            if explain:
                _ = top.reasons

    graphs = dict([read_or_create_graph(seed, quick)])
    if not quick:
        graphs["uniform, 2,000,000 nodes, 10,000,000 links"] = create_random_graph(2_000_000, 10_000_000, seed)
    for name, graph in graphs.items():
        histories = draw_histories(graph, 4 if quick else 20, seed)
        recommender = cg.Recommender(graph)
        recommender.prepare([label for history in histories for label in history])
        for what, explain in (("ten recommendations", False), ("ten recommendations with reasons", True)):
            (seconds,) = time_medians(partial(recommend_all, recommender, histories, explain), repeats=5)
            yield allow(f"{what}, prepared", name, seconds / len(histories), 20e-3)


def time_preparation(seed: int, quick: bool) -> Iterator[Row]:
    """Time the preparation of a node, and a recommendation that is not prepared."""
    name, graph = read_or_create_graph(seed, quick)
    with _prepare_file(graph, IN_PROCESS) as (each, _):
        yield allow("prepare a node for the mixture, all cores", name, each, 240 / 4604)
    times = []
    for history in draw_histories(graph, 4 if quick else 20, seed):
        recommender = cg.Recommender(graph)
        times.append(time_call(partial(recommender.recommend, history)))
    yield allow("ten recommendations, not prepared", name, float(np.median(times)), 0.1)


def time_catalogs(seed: int, quick: bool) -> Iterator[Row]:
    """Time the preparation of heavy-tailed catalogs of mean degree 20, also through Ray, and answers from it."""
    seconds, allowed = [], 180 / 100_000
    sizes = (100, 200) if quick else (5_000, 30_000, 100_000)
    for items in sizes:
        graph, name = create_preferential_graph(items, 10, seed), f"heavy-tailed, {items:,} items of mean degree 20"
        what = "prepare an item for the mixture, all cores"
        with _prepare_file(graph, IN_PROCESS) as (each, recommender):
            seconds.append(each)
            yield allow(what, name, each, allowed)
            histories = draw_histories(graph, 20, seed, size=5)
            (each,) = time_medians(lambda: [recommender.recommend(history) for history in histories], repeats=5)  # noqa: B023
            yield allow("ten recommendations among all items, prepared", name, each / len(histories), 1e-3)
        if items == sizes[0] and find_spec("ray") and not quick:
            with _prepare_file(graph, cg.Engine("ray", workers=os.cpu_count())) as (each, _):
                yield allow(f"{what}, through Ray", name, each, allowed)
    what = "time per item, allowed 2 times that of a smaller catalog"
    small, large = seconds[-2:]
    yield Row(what, f"{sizes[-1]:,} items", large, f"{sizes[-2]:,} items", small, target=1.0, ratio=2 * small / large)


@contextmanager
def _prepare_file(graph: cg.Graph, engine: cg.Engine) -> Iterator[tuple[float, cg.Recommender]]:
    """Prepare all nodes for the mixture in a file; yield the seconds per node, and the recommender."""
    recommender = cg.Recommender(graph)
    with tempfile.TemporaryDirectory() as folder:
        recommender.prepare(graph.labels[:2], file=f"{folder}/warm.safetensors")  # compute features, load kernels
        prepare = partial(recommender.prepare, file=f"{folder}/parts.safetensors", engine=engine)
        yield time_call(prepare) / graph.num_nodes, recommender


def _create_graphs(seed: int, quick: bool) -> dict[str, cg.Graph]:
    """Create graphs of 10,000 nodes, and read Wikispeedia if CURIOGRAPH_DATA has it."""
    nodes = 100 if quick else 10_000
    graphs = {
        "heavy-tailed": create_preferential_graph(nodes, 5, seed),
        "uniform": create_random_graph(nodes, 10 * nodes, seed),
        "uniform, directed": create_random_graph(nodes, 10 * nodes, seed, directed=True),
        "uniform, sparse": create_random_graph(nodes, 5 * nodes, seed),
    }
    wikispeedia = None if quick else read_wikispeedia()
    return graphs if wikispeedia is None else graphs | {"Wikispeedia": wikispeedia}


def _estimate_plain_seconds(graph: cg.Graph, name: str, history: list[Any], eta: Any, walkers: int, seed: int) -> float:
    """Estimate the seconds that plain walkers need to reach the root mean square relative error of the top of `eta`.

    A few walkers are timed; the number needed follows from the variance of their visits, as one over the error squared.
    """
    agent, starts, rng = cg.load_agent(name), graph.positions(history), np.random.default_rng(seed)
    start = time.perf_counter()
    with limit_blas_threads():
        visits = np.stack([_simulate_walker(graph, agent, starts, rng) for _ in range(walkers)])
    seconds = (time.perf_counter() - start) / walkers
    top = np.argsort(-eta.scores, kind="stable")[:TOP]
    scores, errors = eta.scores[top], eta.stderr[top]
    excess = (visits[:, top] - scores * visits.sum(axis=1, keepdims=True)) * (1 - ALPHA)
    variance = np.mean(np.mean(excess**2, axis=0) / scores**2)
    return float(seconds * variance / np.mean((errors / scores) ** 2))


def _simulate_walker(graph: cg.Graph, agent: Any, starts: Any, rng: np.random.Generator) -> Float64:
    """Count the visits of a walker to each node until it teleports, from the definition, one candidate at a time."""
    walk, one = begin([graph], [[int(rng.choice(starts))]], "igt", steps=500), np.array([0, 1])
    while rng.random() < ALPHA and len(walk.candidates.nodes):
        nodes = walk.candidates.nodes
        values = [agent.values(walk.stack, walk.nodes, walk.lengths, one, nodes[c : c + 1]) for c in range(len(nodes))]
        scores = np.concatenate(values).astype(np.float64)
        chances = kernels.rank_probabilities.compute_probabilities(np.array([0, len(nodes)]), scores, P_G)
        walk = walk.step(np.array([rng.choice(len(nodes), p=chances / chances.sum())]))
    return np.bincount(walk.nodes[0, : walk.lengths[0]], minlength=graph.num_nodes).astype(np.float64)
