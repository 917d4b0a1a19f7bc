"""What the experiments share: agents side by side under the names of their columns, ratios with errors, tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from curiograph.agents.pretrained import shipped_agents
from curiograph.arrays import Float64
from curiograph.graph.generators import FAMILIES

REWARDS = ("igt", "cpt")
TITLES = {"igt": "igt: information gaps", "cpt": "cpt: compressibility (bits)"}
PLANNERS = ("horizon+beam", "beam")
_TRAINED = {
    "gnn-paper": "{reward}-{family}-paper",
    "gnn": "{reward}-{family}",
    "horizon": "{reward}-{family}-horizon",
    "horizon+beam": "{reward}-{family}-horizon+beam:8",
}


def find_agent(column: str, reward: str, family: str) -> str | None:
    """The name of the agent that a column means: one trained for the reward and the family; None if none is shipped.

    >>> find_agent("beam", "igt", "rg")
    'beam'
    """
    if column not in _TRAINED:
        return column
    name = _TRAINED[column].format(reward=reward, family=family)
    return name if name.partition("+")[0] in shipped_agents() else None


def find_agents(columns: Iterable[str], reward: str, family: str) -> dict[str, str]:
    """The agents of all columns that are there."""
    named = {column: find_agent(column, reward, family) for column in columns}
    return {column: name for column, name in named.items() if name is not None}


def select_present(columns: Iterable[str], results: Sequence[Mapping[str, object]]) -> list[str]:
    """The columns that any of the results has something for."""
    return [column for column in columns if any(column in result for result in results)]


def describe_missing(columns: Iterable[str], families: Iterable[str] = tuple(FAMILIES)) -> str:
    """A line that says which columns, or cells of them, have no shipped agent; empty if all have one."""
    parts = []
    cells = [(reward, family) for family in families for reward in REWARDS]
    for column in columns:
        missing = [f"{reward} {family}" for reward, family in cells if find_agent(column, reward, family) is None]
        if missing:
            parts.append(column if len(missing) == len(cells) else f"{column} for {', '.join(missing)}")
    return f"Left out, no such agent is shipped: {'; '.join(parts)}." if parts else ""


def compute_ratio_of_means(top: Float64, bottom: Float64) -> tuple[float, float]:
    """Mean of `top` divided by mean of `bottom`, and its standard error; both hold one number per graph.

    The error is that of the ratio to first order, so what the graphs do to both alike cancels out. NaN where there is
    nothing to divide by.

    >>> import numpy as np
    >>> compute_ratio_of_means(np.array([2.0, 4.0]), np.array([1.0, 2.0]))
    (2.0, 0.0)
    """
    whole = float(bottom.mean())
    if whole == 0:
        return math.nan, math.nan
    ratio = float(top.mean()) / whole
    return ratio, compute_mean_and_error(top - ratio * bottom)[1] / abs(whole)


def compute_mean_and_error(values: Float64) -> tuple[float, float]:
    """Mean and its standard error, which is NaN for a single value."""
    error = float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return float(values.mean()), error


def format_number(value: float, digits: int = 2) -> str:
    """A number with so many digits behind the point; a dash for NaN."""
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def format_percent(value: float, error: float = math.nan) -> str:
    """A share, with its error if there is one."""
    if math.isnan(value):
        return "-"
    return f"{100 * value:.0f} %" if math.isnan(error) else f"{100 * value:.0f} ± {100 * error:.0f} %"


def format_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """The lines of a markdown table."""
    head = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    return [*head, *(f"| {' | '.join(map(str, row))} |" for row in rows)]
