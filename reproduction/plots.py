"""Bars and lines of several agents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from curiograph.plotting import COLORS, MARKERS, get_color

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_bars(
    groups: Sequence[str], series: dict[str, tuple[list[float], list[float]]], ax: Axes, marks: dict[str, list[float]]
) -> Axes:
    """Plot grouped bars: `series` maps a name to (heights, errors), `marks` a name to the points on its bars."""
    width = 0.8 / len(series)
    for number, (name, (heights, errors)) in enumerate(series.items()):
        x = np.arange(len(groups)) + (number - (len(series) - 1) / 2) * width
        ax.bar(x, heights, width, yerr=errors, color=get_color(name), label=name, ecolor="#555555")
        if name in marks:
            ax.plot(x, marks[name], "D", color=COLORS["paper"], markersize=4, markeredgecolor="white", zorder=3)
    ax.plot([], [], "D", color=COLORS["paper"], markersize=4, label="paper")
    ax.set_xticks(np.arange(len(groups)), [group.upper() for group in groups])
    return ax


def plot_lines(x: Sequence[float], series: dict[str, tuple[list[float], list[float]]], ax: Axes) -> Axes:
    """Plot lines with bands of one standard error: `series` maps a name to (heights, errors); NaN leaves a gap."""
    for name, (heights, errors) in series.items():
        color = get_color(name)
        ax.plot(x, heights, marker=MARKERS.get(name, "x"), markersize=5, color=color, label=name)
        low, high = np.subtract(heights, errors), np.add(heights, errors)
        ax.fill_between(x, low, high, color=color, alpha=0.2, linewidth=0)
    return ax
