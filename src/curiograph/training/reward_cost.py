"""Warn before a training that a user's reward makes slow: time a few evaluations and count those of the training."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from curiograph.exploration.mdp import begin, list_starts
from curiograph.graph.graph import Graph
from curiograph.graph.splits import Split
from curiograph.rewards.base import Reward
from curiograph.rewards.combined import combine_rewards, list_terms
from curiograph.rewards.registry import REWARDS
from curiograph.training.config import ExpertIterationSettings, TrainingSettings

_WARN_SECONDS = 120.0
_MEASURE_SECONDS = 0.5  # of timing, unless a single evaluation takes longer
_MAX_MEASURED = 20


def warn_slow_reward(reward: Reward, graphs: Split, trainings: Sequence[TrainingSettings]) -> None:
    """Warn if trainings would spend more than two minutes on evaluations of a user's reward.

    A training with a time budget is not counted, since it ends in time.
    """
    timeless = [settings for settings in trainings if not settings.minutes]
    own = [term for term in list_terms(reward) if term[1] not in REWARDS.values()]
    if not timeless or not own:
        return
    each = measure_evaluation(combine_rewards(own), graphs.train[0], max(settings.walk_nodes for settings in timeless))
    count = sum(count_evaluations(graphs, settings) for settings in timeless)
    if each * count > _WARN_SECONDS:
        warnings.warn(
            f"reward {reward.name!r} takes {1000 * each:.2g} ms per evaluation, and this training evaluates it about "
            f"{float(f'{count:.1g}'):,.0f} times: about {each * count / 60:.0f} minutes. Set minutes or lower "
            "train_steps, or write a reward with a Tracker that evaluates many walks at once (docs/extend.md).",
            stacklevel=3,
        )


def measure_evaluation(reward: Reward, graph: Graph, nodes: int) -> float:
    """Return the mean seconds of an evaluation on a walk of half of `nodes`, from a few evaluations.

    >>> from curiograph.graph.toys import grid
    >>> from curiograph.rewards.registry import as_reward
    >>> measure_evaluation(as_reward(len), grid(3, 3), 6) < 1
    True
    """
    walks = begin([graph], [list_starts(graph, "frontier")[:1]], "igt", max(2, nodes // 2))
    while not walks.finished:
        walks = walks.step(walks.candidates.offsets[:1])
    tracker = replace(walks, reward=reward).tracker
    count, begun = 0, time.perf_counter()
    while count < _MAX_MEASURED and time.perf_counter() - begun < _MEASURE_SECONDS:
        tracker.values()
        count += 1
    return (time.perf_counter() - begun) / count


def count_evaluations(graphs: Split, settings: TrainingSettings) -> float:
    """Estimate the evaluations of a training, validation included; an order of magnitude for expert iteration."""
    rewards = settings.walk_nodes - 1
    validation = len(graphs.val) * settings.validation_walks * rewards / settings.validation_interval
    if not isinstance(settings, ExpertIterationSettings):
        return settings.train_steps * (len(graphs.train) + validation)
    degree = float(np.mean([graph.degrees.mean() for graph in graphs.train]))
    planned = min(degree, settings.options) * (1 + settings.beam * degree * rewards / 2)
    return settings.train_steps * (settings.walks * planned + validation)
