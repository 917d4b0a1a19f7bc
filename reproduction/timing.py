"""CPU time per decision of agents, measured in turns on one thread; means and ratios with standard errors."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from curiograph.agents.agent import Agent
from curiograph.agents.agent_names import as_agent
from curiograph.agents.evaluate import draw_starts
from curiograph.arrays import Float64
from curiograph.exploration.mdp import Exploration, begin, list_starts
from curiograph.graph.graph import Graph


class TimedRun(NamedTuple):
    """Finished walks of an agent, and the time that they took."""

    walks: Exploration
    seconds: float
    """Median CPU time per decision."""


def time_decisions(
    agents: Mapping[str, Agent], walks: Exploration, repeats: int = 3, enough: float = math.inf
) -> dict[str, TimedRun]:
    """Run the same walks with every agent and measure the CPU time of the process per decision, on one thread.

    Agents take turns, so that a slowdown of the machine affects all of them. All kernels are compiled and all graphs
    are prepared before the first measurement. The median of `repeats` measurements is taken; an agent that takes more
    than `enough` seconds per decision is measured once.
    """
    count = len(walks.lengths)
    finished: dict[str, Exploration] = {}
    seconds: dict[str, list[float]] = {name: [] for name in agents}
    with threadpool_limits(1):
        for agent in agents.values():
            agent.run(walks.rows(np.arange(1)))
        for turn in range(repeats):
            for name, agent in agents.items():
                if turn and seconds[name][0] > enough:
                    continue
                batch = walks.rows(np.arange(count))
                start = time.process_time()
                finished[name] = agent.run(batch)
                spent = time.process_time() - start
                seconds[name].append(spent / max(1, int((finished[name].lengths - walks.lengths).sum())))
    return {name: TimedRun(finished[name], statistics.median(seconds[name])) for name in agents}


def time_on_graphs(
    agents: Mapping[str, str],
    graphs: Sequence[Graph],
    reward: str,
    episodes: int,
    repeats: int,
    seed: int,
    steps: int = 10,
    **limit: float,
) -> dict[str, TimedRun]:
    """Run and time agents, given by names, on the same walks: `episodes` on each graph, in order."""
    starts = [draw_starts(list_starts(graph, "frontier"), episodes, seed, place) for place, graph in enumerate(graphs)]
    walks = begin(graphs, starts, reward, steps, seed=seed)
    return time_decisions({key: as_agent(name) for key, name in agents.items()}, walks, repeats, **limit)


def compute_ratio_of_means(numerator: Float64, denominator: Float64) -> tuple[float, float]:
    """Return the ratio of two means and its standard error; both arrays hold one number per graph.

    The error is that of the ratio to first order, so variation that the graphs cause in both arrays cancels. Both
    values are NaN if the denominator is zero.

    >>> compute_ratio_of_means(np.array([2.0, 4.0]), np.array([1.0, 2.0]))
    (2.0, 0.0)
    """
    mean = float(denominator.mean())
    if mean == 0:
        return math.nan, math.nan
    ratio = float(numerator.mean()) / mean
    return ratio, compute_mean_and_error(numerator - ratio * denominator)[1] / abs(mean)


def compute_mean_and_error(values: Float64) -> tuple[float, float]:
    """Return the mean and its standard error, which is NaN for a single value."""
    error = float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return float(values.mean()), error
