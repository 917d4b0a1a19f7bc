"""Speed of curious PageRank and of recommendation, against walkers followed one by one and what was allowed."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.centrality import random_graph, wikispeedia
from benchmarks.learning import Row
from benchmarks.timing import medians
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


def curious_rows(seed: int, quick: bool) -> list[Row]:
    """Curious PageRank by trained gnn agents to 5 % of the 20 highest scores, on Wikispeedia or a graph like it."""
    name, graph = _graph(seed, quick)
    users = _histories(graph, 1 if quick else 5, seed)
    rows: list[Row] = []
    for agent in AGENTS[:1] if quick else AGENTS:
        curious_pagerank(graph, agent, ALPHA, users[0], p_g=P_G, max_walks=8)  # features of the graph, kernels
        times, speedups = [], []
        for number, history in enumerate(users):
            start = time.perf_counter()
            eta = curious_pagerank(graph, agent, ALPHA, history, p_g=P_G, tolerance=TOLERANCE, seed=seed + number)
            times.append(time.perf_counter() - start)
            speedups.append(_twin_seconds(graph, agent, history, eta, 5 if quick else 60, seed + number) / times[-1])
        size = f"{name}, error at most 5 % of the 20 highest scores, all cores"
        each, worst = float(np.median(times)), max(times)
        rows += [
            (f"curious PageRank of a history by {agent}", size, each, "allowed", 2.0, 2.0 / each, 1.0),
            (f"the same, slowest of {len(users)} histories", size, worst, "allowed", 2.0, 2.0 / worst, 1.0),
            (f"the same by {agent}, against walkers one by one", "at equal error", each, "candidate by candidate",
             each * float(np.median(speedups)), float(np.median(speedups)), 20.0),
        ]  # fmt: skip
    rows.append(_grid_row(graph, users[0], seed, repeats=1 if quick else 3))
    return rows


def _grid_row(graph: Graph, history: list[Any], seed: int, repeats: int) -> Row:
    """Fifty alphas against the largest of them alone."""
    grid = np.linspace(0.0, ALPHA, 50)
    settings: dict[str, Any] = {"p_g": P_G, "tolerance": TOLERANCE, "seed": seed}
    one, fifty = medians(
        lambda: curious_pagerank(graph, AGENTS[-1], ALPHA, history, **settings),
        lambda: curious_pagerank(graph, AGENTS[-1], grid, history, **settings),
        repeats=repeats,
    )
    return ("curious PageRank for 50 alphas, allowed 1.2 times that for one", "alphas up to 0.85", fifty, "one alpha",
            one, 1.2 * one / fifty, 1.0)  # fmt: skip


def recommend_rows(seed: int, quick: bool) -> list[Row]:
    """An answer of a prepared recommender: neighbours of the last node, with and without reasons."""
    rows: list[Row] = []
    graphs = dict([_graph(seed, quick)])
    if not quick:
        graphs["uniform, 2,000,000 nodes, 10,000,000 links"] = random_graph(2_000_000, 10_000_000, seed)
    for name, graph in graphs.items():
        users = _histories(graph, 4 if quick else 20, seed)
        recommender = Recommender(graph)
        recommender.prepare([label for history in users for label in history])
        for what, explained in (("ten recommendations", False), ("ten recommendations with reasons", True)):
            (seconds,) = medians(lambda e=explained, r=recommender, u=users: [_answer(r, h, e) for h in u], repeats=5)  # type: ignore[misc]
            each = seconds / len(users)
            rows.append((f"{what}, prepared", name, each, "allowed", 20e-3, 20e-3 / each, 1.0))
    return rows


def _answer(recommender: Recommender, history: list[Any], explained: bool) -> Any:
    top = recommender.recommend(history, candidates="last")
    return top.reasons if explained else top


def _graph(seed: int, quick: bool) -> tuple[str, Graph]:
    """Wikispeedia where it is at hand, otherwise a directed graph of its size; a small one to be quick."""
    if quick:
        return "uniform, directed, 500 nodes", random_graph(500, 5_000, seed, directed=True)
    found = wikispeedia()
    if found is not None:
        return "Wikispeedia", found
    return "uniform, directed, of Wikispeedia's size", random_graph(4_600, 120_000, seed, directed=True)


def _histories(graph: Graph, count: int, seed: int) -> list[list[Any]]:
    """Histories of three nodes that lead somewhere."""
    rng = np.random.default_rng(seed)
    some = np.flatnonzero(graph.degrees)
    return [[graph.label(int(v)) for v in rng.choice(some, 3, replace=False)] for _ in range(count)]


# ---- the slow twin --------------------------------------------------------------------------------------------------


def _twin_seconds(graph: Graph, name: str, history: list[Any], eta: CuriousPageRank, walkers: int, seed: int) -> float:
    """Seconds that plain walkers need for the error of `eta`: root mean square of the relative errors of its top.

    Some are followed for their time and spread; how many it takes follows from that, as one over the error squared.
    """
    agent: Any = load_agent(name)
    starts = graph.positions(history)
    rng = np.random.default_rng(seed)
    start = time.perf_counter()
    with limit_blas_threads():
        visits = np.stack([walker_visits(graph, agent, ALPHA, starts, P_G, rng) for _ in range(walkers)])
    seconds = (time.perf_counter() - start) / walkers
    top = np.argsort(-eta.scores, kind="stable")[:TOP]
    scores, errors = eta.scores[top], eta.stderr[top]
    excess = (visits[:, top] - scores * visits.sum(axis=1, keepdims=True)) * (1 - ALPHA)
    spread = np.mean(np.mean(excess**2, axis=0) / scores**2)
    return float(seconds * spread / np.mean((errors / scores) ** 2))


def walker_visits(graph: Graph, agent: GnnAgent, alpha: float, starts: Any, p_g: float, rng: Any) -> Float64:
    """How often a walker is at each node until it teleports: the definition, one candidate at a time."""
    stack = GraphBatch.of([graph])
    path = [int(rng.choice(starts))]
    visits = np.zeros(graph.num_nodes)
    visits[path[0]] = 1
    while rng.random() < alpha:
        row = np.full((1, len(path) + 1), -1, np.int32)
        row[0, :-1] = path
        length = np.array([len(path)])
        state = Exploration(stack, as_reward("igt"), len(path) + 1, "frontier", np.zeros(1, np.int64),
                            np.zeros(1, np.uint64), row, length, np.full((1, len(path)), np.nan))  # fmt: skip
        candidates = state.candidates.nodes
        if len(candidates) == 0:
            break
        one = np.array([0, 1])
        values = [agent.values(stack, row, length, one, candidates[c : c + 1])[0] for c in range(len(candidates))]
        chances = rank_transition(np.asarray(values, np.float64), p_g)
        path.append(int(rng.choice(candidates, p=chances / chances.sum())))
        visits[path[-1]] += 1
    return visits
