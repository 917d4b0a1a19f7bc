"""Speed of trained agents: acting, and the published training step."""

from __future__ import annotations

import statistics
from functools import partial
from typing import Any

import numpy as np

from benchmarks.timing import medians
from curiograph.agents.evaluate import evaluate
from curiograph.agents.layers import limit_blas_threads
from curiograph.agents.pretrained import load_agent
from curiograph.arrays import Int64
from curiograph.exploration.mdp import begin
from curiograph.graph.generators import FAMILIES, generate, generate_split
from curiograph.graph.graph import Graph

PUBLISHED = {"igt": (0.57, 40.0), "cpt": (1.98, 150.0)}
"""Seconds in which the published code advances 100 graphs by one step and makes one update of 32, on one core of the
machines that this bench was written on; and how many times faster we promised to be."""

Row = tuple[str, str, float, str, float | None, float | None, float | None]
"""What, size, our seconds, peer, its seconds, ratio, target."""


def acting(seed: int, quick: bool) -> list[Row]:
    """Decisions of the trained agents, many walks at once, and their cost on large graphs."""
    rows: list[Row] = []
    graphs = generate_split("er", train=0, val=0, test=100, seed=seed).test
    for name in ("igt-er", "igt-er-horizon", "igt-er-horizon+beam:8"):
        walks = 100 if "beam" in name else 1000
        seconds = medians(partial(evaluate, name, graphs, "igt", 10, walks // 100, seed=seed), repeats=5)[0]
        each = seconds / walks / 9
        target = 1.0 if name == "igt-er-horizon" else None
        allowed = 1 / 5000
        rows.append((f"a decision by {name}, {walks:,} walks at once", f"{1 / each:,.0f} decisions/s", each,
                     "allowed" if target else "", allowed if target else None, allowed / each if target else None,
                     target))  # fmt: skip
    agent = load_agent("igt-ba-horizon")
    for family in ("ba", "er") if quick else FAMILIES:
        times = []
        for nodes in (500, 5000):
            graph = generate(family, nodes=nodes, seed=seed)
            starts = np.arange(0, nodes, nodes // 20)
            evaluate(agent, [graph], "igt", 10, 2, seed=seed)  # features of the graph, kernels
            times.append(medians(partial(_walked, agent, graph, starts), repeats=5)[0] / len(starts))
        rows.append((f"a 10-node walk by horizon on {family}", "5,000 nodes, allowed 3x that on 500", times[1],
                     "500 nodes", times[0], 3 * times[0] / times[1], 1.0))  # fmt: skip
    return rows


def training(seed: int, quick: bool) -> list[Row]:
    """The published training step: 100 graphs advance one node, then one update of 32; epsilon 0.1 throughout."""
    from curiograph.rewards.registry import as_reward
    from curiograph.training.config import make_settings
    from curiograph.training.dqn import DqnLearner
    from curiograph.training.trainer import use_one_torch_thread

    rows: list[Row] = []
    settings: Any = make_settings("gnn", "paper", {"epsilon_first": 0.1, "warmup": 20})
    for reward, (published, target) in PUBLISHED.items():
        times = []
        for family in ("ba",) if quick else FAMILIES:
            graphs = generate_split(family, train=100, val=0, test=0, seed=seed).train
            with use_one_torch_thread(), limit_blas_threads():
                learner = DqnLearner(settings, graphs, as_reward(reward), seed)
                for _ in range(40):
                    learner.step()
                times.append(medians(partial(_stepped, learner, 45), repeats=5)[0] / 45)
        each = statistics.mean(times)
        rate = f"{100 / each:,.0f} transitions/s, {1 / each:,.0f} updates/s"
        rows.append((f"training step of the published setting, {reward}", rate, each, "published code", published,
                     published / each, target))  # fmt: skip
    return rows


def _walked(agent: Any, graph: Graph, starts: Int64) -> None:
    agent.run(begin([graph], [starts], "igt", 10))


def _stepped(learner: Any, times: int) -> None:
    for _ in range(times):
        learner.step()
