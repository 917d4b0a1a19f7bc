"""Speed of trained agents: decisions, and the published training step."""

from __future__ import annotations

import statistics
from functools import partial
from typing import Any

import numpy as np

from benchmarks.report import Result, compare_with_limit, compare_with_peer
from benchmarks.timing import time_medians
from curiograph.agents.evaluate import evaluate
from curiograph.agents.layers import limit_blas_threads
from curiograph.agents.pretrained import load_agent
from curiograph.exploration.mdp import begin
from curiograph.graph.generators import FAMILIES, generate, generate_split

PUBLISHED = {"igt": (0.57, 40.0), "cpt": (1.98, 150.0)}
"""By reward: seconds in which the published code advances 100 graphs by one step and makes one update of 32 (measured
on one core of the machine that this benchmark was written on), and the target for the ratio to our time."""


def measure_acting(seed: int, quick: bool) -> list[Result]:
    """Time decisions of trained agents for many walks together, and walks on large graphs."""
    results = []
    graphs = generate_split("er", train=0, val=0, test=100, seed=seed).test
    for name in ("igt-er", "igt-er-horizon", "igt-er-horizon+beam:8"):
        walks = 100 if "beam" in name else 1000
        (seconds,) = time_medians(partial(evaluate, name, graphs, "igt", 10, walks // 100, seed=seed), repeats=5)
        each = seconds / walks / 9
        what, rate = f"a decision by {name}, {walks:,} walks at once", f"{1 / each:,.0f} decisions/s"
        limited = name == "igt-er-horizon"
        results.append(compare_with_limit(what, rate, each, 1 / 5000) if limited else Result(what, rate, each))
    agent: Any = load_agent("igt-ba-horizon")
    for family in ("ba", "er") if quick else FAMILIES:
        times = []
        for nodes in (500, 5000):
            graph = generate(family, nodes=nodes, seed=seed)
            starts = np.arange(0, nodes, nodes // 20)
            evaluate(agent, [graph], "igt", 10, 2, seed=seed)  # compute features of the graph, compile kernels
            walk = partial(lambda g, s: agent.run(begin([g], [s], "igt", 10)), graph, starts)
            times.append(time_medians(walk, repeats=5)[0] / len(starts))
        results.append(
            Result(
                f"a 10-node walk by horizon on {family}",
                "5,000 nodes, allowed 3x that on 500",
                ours=times[1],
                peer="500 nodes",
                peers=times[0],
                ratio=3 * times[0] / times[1],
                target=1.0,
            )
        )
    return results


def measure_training(seed: int, quick: bool) -> list[Result]:
    """Time the published training step: 100 graphs advance by one node, then one update of 32; epsilon 0.1."""
    from curiograph.training.config import make_settings

    from curiograph.rewards.registry import as_reward
    from curiograph.training.dqn import DqnLearner
    from curiograph.training.trainer import use_one_torch_thread

    results = []
    settings: Any = make_settings("gnn", "paper", {"epsilon_first": 0.1, "warmup": 20})
    for reward, (published, target) in PUBLISHED.items():
        times = []
        for family in ("ba",) if quick else FAMILIES:
            graphs = generate_split(family, train=100, val=0, test=0, seed=seed).train
            with use_one_torch_thread(), limit_blas_threads():
                learner = DqnLearner(settings, graphs, as_reward(reward), seed)
                _run_steps(learner, 40)
                times.append(time_medians(partial(_run_steps, learner, 45), repeats=5)[0] / 45)
        each = statistics.mean(times)
        what = f"training step of the published setting, {reward}"
        rate = f"{100 / each:,.0f} transitions/s, {1 / each:,.0f} updates/s"
        results.append(compare_with_peer(what, rate, each, "published code", published, target))
    return results


def _run_steps(learner: Any, count: int) -> None:
    for _ in range(count):
        learner.step()
