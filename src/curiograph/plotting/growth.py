"""Plot the growth of one walk or of many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.arrays import Float64, Int64
from curiograph.plotting.figures import create_figure, set_integer_ticks
from curiograph.plotting.palette import COLORS, DASHES, MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_growth(
    beta1: Int64, compressibility: Float64, lifetimes: Sequence[tuple[int, int | None]], ax: Axes | None = None
) -> Axes:
    """Plot gaps as a step curve and compressibility as a line; on a new figure, also a bar for each gap's lifetime."""
    steps = np.arange(1, len(beta1) + 1)
    lower: Any = None
    if ax is None and lifetimes:
        height = min(2.6, 0.9 + 0.12 * len(lifetimes))
        _, (ax, lower) = create_figure(6.4, 3.0 + height, rows=2, heights=(3.0, height))
        _plot_lifetimes(lower, len(beta1), lifetimes)
        lower.sharex(ax)
    elif ax is None:
        ax = create_figure()[1]
    ax.plot(*build_step_curve(beta1), drawstyle="steps-post", color=COLORS["igt"], linestyle=DASHES["igt"], linewidth=2)
    _label_axes(ax, "information gaps")
    ax.set_xlim(0.5, len(beta1) + 0.5)
    set_limits_from_zero(ax, max(1.0, float(beta1.max())))
    if not np.all(np.isnan(compressibility)):
        right = ax.twinx()
        marker = MARKERS["cpt"] if len(steps) == 1 else ""
        right.plot(steps, compressibility, marker=marker, color=COLORS["cpt"], linestyle=DASHES["cpt"], linewidth=2)
        right.set_ylabel("compressibility (bits), dashed", color=COLORS["cpt"])
        set_limits_from_zero(right, max(0.1, float(np.nanmax(compressibility))))
        right.spines["top"].set_visible(False)
    ax.spines["top"].set_visible(False)
    return ax


def plot_growths(beta1: Sequence[Int64], compressibility: Sequence[Float64], ax: Axes | None = None) -> Axes:
    """Plot means over walks with bands of one standard error, up to the length that a fifth of the walks reach."""
    if ax is None:
        ax = create_figure()[1]
    _plot_band(ax, beta1, "igt")
    _label_axes(ax, "information gaps, mean")
    ax.set_title(f"{len(beta1)} walks", fontsize=10)
    if not all(np.all(np.isnan(c)) for c in compressibility):
        right = ax.twinx()
        _plot_band(right, compressibility, "cpt")
        right.set_ylabel("compressibility (bits), mean, dashed", color=COLORS["cpt"])
    return ax


def build_step_curve(heights: Int64) -> tuple[Float64, Int64]:
    """Return the points of a step curve with one step per node, the last half as wide."""
    return np.append(np.arange(1.0, len(heights) + 1), len(heights) + 0.5), np.append(heights, heights[-1:])


def set_limits_from_zero(ax: Axes, top: float) -> None:
    """Set the vertical limits from just below zero, where a line is visible, to just above `top`."""
    ax.set_ylim(-0.04 * top, 1.1 * top)


def _plot_lifetimes(ax: Axes, length: int, lifetimes: Sequence[tuple[int, int | None]]) -> None:
    """Plot a bar for each gap from its opening (dot) to its closing (cross) or to the end."""
    width = min(3.0, 150.0 / len(lifetimes))
    for row, (opened, closed) in enumerate(lifetimes, start=1):
        ax.plot([opened, closed or length + 0.5], [row, row], color=COLORS["igt"], alpha=0.6, linewidth=width)
        ax.plot(opened, row, "o", color=COLORS["igt"], markersize=width + 1)
        if closed is not None:
            ax.plot(closed, row, "x", color=COLORS["igt"], markersize=width + 2)
    ax.plot([], [], "o", color=COLORS["igt"], label="opens")
    ax.plot([], [], "x", color=COLORS["igt"], label="closes")
    ax.legend(frameon=False, fontsize=8, ncols=2, loc="lower left", bbox_to_anchor=(0.0, 0.98), borderpad=0)
    ax.set_ylim(len(lifetimes) + 0.7, 0.3)
    ax.spines[["top", "right"]].set_visible(False)
    _label_axes(ax, "gaps")


def _label_axes(ax: Axes, label: str) -> None:
    ax.set_xlabel("nodes visited")
    ax.set_ylabel(label, color=COLORS["igt"])
    set_integer_ticks(ax.xaxis)
    set_integer_ticks(ax.yaxis)


def _plot_band(ax: Axes, curves: Sequence[Any], reward: str) -> None:
    """Plot the mean of curves of different lengths, with a band of one standard error."""
    lengths = np.sort([len(c) for c in curves])
    longest = int(lengths[-max(1, len(curves) // 5)])  # means over fewer walks are too noisy
    table = np.full((len(curves), longest), np.nan)
    for row, curve in enumerate(curves):
        table[row, : min(len(curve), longest)] = curve[:longest]
    count = np.sum(~np.isnan(table), axis=0)
    mean = np.nansum(table, axis=0) / np.maximum(count, 1)
    spread = np.sqrt(np.nansum((table - mean) ** 2, axis=0) / np.maximum(count - 1, 1))
    error = spread / np.sqrt(np.maximum(count, 1))
    steps = np.arange(1, longest + 1)
    marker = MARKERS[reward] if longest == 1 else ""
    ax.plot(steps, mean, marker=marker, linestyle=DASHES[reward], color=COLORS[reward], linewidth=2)
    ax.fill_between(steps, mean - error, mean + error, color=COLORS[reward], alpha=0.2, linewidth=0)
