"""Growth over the steps of a walk, or of many."""

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
    beta1: Int64, compressibility: Float64, lives: Sequence[tuple[int, int | None]], ax: Axes | None = None
) -> Axes:
    """Gaps as steps, compressibility as a line; without given axes, also a bar for the life of every gap below."""
    steps = np.arange(1, len(beta1) + 1)
    below: Any = None
    if ax is None and lives:
        height = min(2.6, 0.9 + 0.12 * len(lives))
        _, (ax, below) = create_figure(6.4, 3.0 + height, rows=2, heights=(3.0, height))
        _plot_lives(below, len(beta1), lives)
        below.sharex(ax)
    elif ax is None:
        ax = create_figure()[1]
    ax.plot(*build_step_curve(beta1), drawstyle="steps-post", color=COLORS["igt"], linestyle=DASHES["igt"], linewidth=2)
    _axis(ax, "information gaps", COLORS["igt"])
    ax.set_xlim(0.5, len(beta1) + 0.5)
    set_limits_from_zero(ax, max(1.0, float(beta1.max())))
    if not np.all(np.isnan(compressibility)):
        right = ax.twinx()
        dot = MARKERS["cpt"] if len(steps) == 1 else ""
        right.plot(steps, compressibility, marker=dot, color=COLORS["cpt"], linestyle=DASHES["cpt"], linewidth=2)
        right.set_ylabel("compressibility (bits), dashed", color=COLORS["cpt"])
        set_limits_from_zero(right, max(0.1, float(np.nanmax(compressibility))))
        right.spines["top"].set_visible(False)
    ax.spines["top"].set_visible(False)
    return ax


def build_step_curve(heights: Int64) -> tuple[Float64, Int64]:
    """A curve of steps from every node to the next, the last half as wide."""
    return np.append(np.arange(1.0, len(heights) + 1), len(heights) + 0.5), np.append(heights, heights[-1:])


def set_limits_from_zero(ax: Axes, top: float) -> None:
    """Show heights from zero, where a line stands clear of the frame, to the top."""
    ax.set_ylim(-0.04 * top, 1.1 * top)


def _plot_lives(ax: Axes, length: int, lives: Sequence[tuple[int, int | None]]) -> None:
    """One bar per gap from opening (dot) to closing (cross); bars that stay open run on to the end."""
    width = min(3.0, 150.0 / len(lives))
    for row, (opened, closed) in enumerate(lives, start=1):
        ax.plot([opened, closed or length + 0.5], [row, row], color=COLORS["igt"], alpha=0.6, linewidth=width)
        ax.plot(opened, row, "o", color=COLORS["igt"], markersize=width + 1)
        if closed is not None:
            ax.plot(closed, row, "x", color=COLORS["igt"], markersize=width + 2)
    ax.plot([], [], "o", color=COLORS["igt"], label="opens")
    ax.plot([], [], "x", color=COLORS["igt"], label="closes")
    ax.legend(frameon=False, fontsize=8, ncols=2, loc="lower left", bbox_to_anchor=(0.0, 0.98), borderpad=0)
    ax.set_ylim(len(lives) + 0.7, 0.3)
    ax.spines[["top", "right"]].set_visible(False)
    _axis(ax, "gaps", COLORS["igt"])


def _axis(ax: Axes, label: str, colour: str) -> None:
    """Whole steps along, whole numbers up."""
    ax.set_xlabel("nodes visited")
    ax.set_ylabel(label, color=colour)
    set_integer_ticks(ax.xaxis)
    set_integer_ticks(ax.yaxis)


def plot_growths(beta1: Sequence[Int64], compressibility: Sequence[Float64], ax: Axes | None = None) -> Axes:
    """Means over walks with bands of one standard error, as far as a fifth of the walks go."""
    if ax is None:
        ax = create_figure()[1]
    _band(ax, beta1, "igt")
    _axis(ax, "information gaps, mean", COLORS["igt"])
    ax.set_title(f"{len(beta1)} walks", fontsize=10)
    if not all(np.all(np.isnan(c)) for c in compressibility):
        right = ax.twinx()
        _band(right, compressibility, "cpt")
        right.set_ylabel("compressibility (bits), mean, dashed", color=COLORS["cpt"])
    return ax


def _band(ax: Axes, curves: Sequence[Any], reward: str) -> None:
    lengths = np.sort([len(c) for c in curves])
    longest = int(lengths[-max(1, len(curves) // 5)])  # beyond, a few walks would pass for a trend
    table = np.full((len(curves), longest), np.nan)
    for row, curve in enumerate(curves):
        kept = min(len(curve), longest)
        table[row, :kept] = curve[:kept]
    count = np.sum(~np.isnan(table), axis=0)
    mean = np.nansum(table, axis=0) / np.maximum(count, 1)
    spread = np.sqrt(np.nansum((table - mean) ** 2, axis=0) / np.maximum(count - 1, 1))
    error = spread / np.sqrt(np.maximum(count, 1))
    steps = np.arange(1, longest + 1)
    dot = MARKERS[reward] if longest == 1 else ""
    ax.plot(steps, mean, marker=dot, linestyle=DASHES[reward], color=COLORS[reward], linewidth=2)
    ax.fill_between(steps, mean - error, mean + error, color=COLORS[reward], alpha=0.2, linewidth=0)
