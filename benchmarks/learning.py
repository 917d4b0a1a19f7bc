"""Speed of trained agents: decisions, and the published training step."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec

import curiograph as cg
from benchmarks.rows import Row, time_medians
from curiograph.agents.layers import limit_blas_threads
from curiograph.graph.generators import FAMILIES

PUBLISHED = {"igt": (0.57, 40.0), "cpt": (1.98, 150.0)}
"""By reward: seconds in which the published code advances 100 graphs by one step and makes one update of 32 (measured
on one core of the machine that this benchmark was written on), and the target for the ratio to our time."""


def time_decisions(seed: int, quick: bool) -> Iterator[Row]:
    """Time decisions of trained agents for many walks together."""
    graphs = cg.generate_split("er", train=0, val=0, test=2 if quick else 100, seed=seed).test
    for name, episodes in (("igt-er", 10), ("igt-er-planner", 1)):
        evaluate = partial(cg.evaluate, name, graphs, "igt", 10, episodes, seed=seed)
        (seconds,) = time_medians(evaluate, repeats=1 if quick else 5)
        walks = len(graphs) * episodes
        each = seconds / walks / 9
        yield Row(f"a decision by {name}, {walks:,} walks at once", f"{1 / each:,.0f} decisions/s", each)


def time_training(seed: int, quick: bool) -> Iterator[Row]:
    """Time the published training step: 100 graphs advance by one node, then one update of 32; epsilon 0.1."""
    if not find_spec("torch"):
        return
    from curiograph.training.dqn import PaperDqnLearner
    from curiograph.training.trainer import use_one_torch_thread
    from curiograph.training.training_settings import make_settings

    settings = make_settings("gnn", "paper", {"warmup": 20})
    for reward, (published, target) in PUBLISHED.items():
        times = []
        for family in ("ba",) if quick else FAMILIES:
            graphs = cg.generate_split(family, train=10 if quick else 100, val=0, test=0, seed=seed).train
            with use_one_torch_thread(), limit_blas_threads():
                learner = PaperDqnLearner(settings, graphs, cg.as_reward(reward), seed)
                learner.epsilon_first = 0.1
                for _ in range(40):
                    learner.step()
                times += time_medians(lambda: [learner.step() for _ in range(45)], repeats=1 if quick else 5)  # noqa: B023
        each = statistics.mean(times) / 45
        rate = f"{100 / each:,.0f} transitions/s, {1 / each:,.0f} updates/s"
        yield Row(f"training step of the published setting, {reward}", rate, each, "published code", published, target)
