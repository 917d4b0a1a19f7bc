"""Agents compared in the experiments: shipped agents by column, and ratios of their returns with standard errors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from curiograph.agents.evaluate import Evaluation
from curiograph.agents.pretrained import load_agent, shipped_agents
from curiograph.arrays import Float64
from curiograph.graph.generators import FAMILIES

REWARDS = ("igt", "cpt")
"""Rewards in the order of the tables."""
TITLES = {"igt": "igt: information gaps", "cpt": "cpt: compressibility (bits)"}
"""Titles of the rewards."""
SLOW_COLUMNS = ("horizon+beam", "beam")
"""Columns of slow agents, which run fewer walks."""
_TRAINED = {  # name of the shipped agent of each column
    "gnn-paper": "{reward}-{family}-paper",
    "gnn": "{reward}-{family}",
    "horizon": "{reward}-{family}-horizon",
    "horizon+beam": "{reward}-{family}-horizon+beam:8",
    "planner": "{reward}-{family}-planner",
}


def find_agent(column: str, reward: str, family: str) -> str | None:
    """Return the name of the agent of a column: one trained for the reward and the family, or None if not shipped.

    >>> find_agent("beam", "igt", "rg")
    'beam'
    """
    if column not in _TRAINED:
        return column
    name = _TRAINED[column].format(reward=reward, family=family)
    return name if name.partition("+")[0] in shipped_agents() else None


def find_agents(columns: Iterable[str], reward: str, family: str) -> dict[str, str]:
    """Return the agents of all columns that have one."""
    named = {column: find_agent(column, reward, family) for column in columns}
    return {column: name for column, name in named.items() if name is not None}


def read_seed_returns(name: str, family: str) -> list[float]:
    """Return the mean returns of an agent on test graphs by training seed, from the card of the shipped agent.

    The first is that of the shipped agent. `scripts/train_all.py` trains the others with the same settings.

    >>> len(read_seed_returns("igt-rg-planner", "rg"))
    3
    """
    card = load_agent(name).card
    seeds = {"0": card.get("returns", {}), **card.get("seeds", {})}
    return [seeds[seed][family]["mean"] for seed in sorted(seeds) if family in seeds[seed]]


def select_present(columns: Iterable[str], results: Sequence[Mapping[str, object]]) -> list[str]:
    """Return the columns that occur in any of the results."""
    return [column for column in columns if any(column in result for result in results)]


def describe_missing(columns: Iterable[str], families: Iterable[str] = tuple(FAMILIES)) -> list[str]:
    """Return a sentence that lists the columns or cells without a shipped agent; an empty list if there are none."""
    parts = []
    cells = [(reward, family) for family in families for reward in REWARDS]
    for column in columns:
        missing = [f"{reward} {family}" for reward, family in cells if find_agent(column, reward, family) is None]
        if missing:
            parts.append(column if len(missing) == len(cells) else f"{column} for {', '.join(missing)}")
    return [f"Left out, no such agent is shipped: {'; '.join(parts)}."] if parts else []


def compute_ratio_of_means(numerator: Float64, denominator: Float64) -> tuple[float, float]:
    """Return the ratio of two means and its standard error; both arrays hold one number per graph.

    The error is that of the ratio to first order, so variation that the graphs cause in both arrays cancels. Both
    values are NaN if the denominator is zero.

    >>> import numpy as np
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


def restore_evaluations(results: dict[str, Any]) -> dict[str, Evaluation]:
    """Restore evaluations from a document, with one episode per graph that has the mean return of all.

    All graphs have the same number of episodes, so the mean and its standard error by graph are unchanged.
    """
    return {
        column: Evaluation(
            agent=result["agent"],
            reward=result["reward"],
            steps=result["steps"],
            returns=[np.array([math.nan if mean is None else mean]) for mean in result["by_graph"]],
            ended_early=result["ended_early"],
        )
        for column, result in results.items()
    }
