"""Plot the growth of one walk or of many, and the persistence of gaps over similarity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from curiograph.arrays import Float64, Int64
from curiograph.errors import shorten_text
from curiograph.plotting.charts import add_legend
from curiograph.plotting.figures import LABEL_STYLE, Axes, create_figure, hide_frame, use_integer_ticks
from curiograph.plotting.palette import COLORS, LINE_STYLES, MARKERS, get_group_style

_MAX_NAMED = 25  # bars with a name


def plot_growth(
    beta1: Int64, compressibility: Float64, lifetimes: Sequence[tuple[int, int | None]], ax: Axes | None = None
) -> Axes:
    """Plot gaps as a step curve and compressibility as a line; on a new figure, also a bar for each gap's lifetime."""
    if ax is None and lifetimes:
        height = min(2.6, 0.9 + 0.12 * len(lifetimes))
        _, (ax, lower) = create_figure(6.4, 3.0 + height, rows=2, heights=(3.0, height))
        plot_lifetimes(lower, len(beta1), lifetimes)
        lower.sharex(ax)
    ax = ax or create_figure()[1]
    ax.plot(*build_step_curve(beta1), drawstyle="steps-post", color=COLORS["igt"], linewidth=2)
    label_axes(ax, "information gaps")
    ax.set_xlim(0.5, len(beta1) + 0.5)
    set_limits_from_zero(ax, max(1.0, float(beta1.max())))
    if not np.all(np.isnan(compressibility)):
        right = ax.twinx()
        right.plot(np.arange(1, len(beta1) + 1), compressibility, linewidth=2, **_get_style("cpt", len(beta1)))
        right.set_ylabel("compressibility (bits), dashed", color=COLORS["cpt"])
        set_limits_from_zero(right, max(0.1, float(np.nanmax(compressibility))))
        right.spines["top"].set_visible(False)
    ax.spines["top"].set_visible(False)
    return ax


def plot_growths(beta1: Sequence[Any], bits: Sequence[Any], groups: Sequence[str] | None = None) -> Axes:
    """Plot means over walks with bands of one standard error, up to the length that a fifth of the walks reach.

    With the group of each walk, there is a panel for gaps and one for compressibility, with a line for each group.
    """
    has_bits = not all(np.all(np.isnan(curve)) for curve in bits)
    if groups is not None:
        _, panels = create_figure(9.0 if has_bits else 5.0, 3.4, columns=1 + has_bits)
        titles = ("information gaps, mean", "compressibility (bits), mean")
        for panel, curves, title in zip(np.atleast_1d(panels), (beta1, bits), titles, strict=False):
            for number, group in enumerate(sorted(set(groups))):
                members = [curve for curve, mine in zip(curves, groups, strict=True) if mine == group]
                _plot_band(panel, members, get_group_style(number), f"{shorten_text(group, 30)} ({len(members)} walks)")
            panel.set(xlabel="nodes visited", ylabel=title)
            use_integer_ticks(panel.xaxis)
            add_legend(hide_frame(panel))
        first: Axes = np.atleast_1d(panels)[0]
        return first
    ax: Axes = create_figure()[1]
    _plot_band(ax, beta1, _get_style("igt", max(map(len, beta1))))
    label_axes(ax, "information gaps, mean")
    ax.set_title(f"{len(beta1)} walks", fontsize=10)
    if has_bits:
        right = ax.twinx()
        _plot_band(right, bits, _get_style("cpt", max(map(len, bits))))
        right.set_ylabel("compressibility (bits), mean, dashed", color=COLORS["cpt"])
    return ax


def build_step_curve(heights: Int64) -> tuple[Float64, Int64]:
    """Return the points of a step curve with one step per node, the last half as wide."""
    return np.append(np.arange(1.0, len(heights) + 1), len(heights) + 0.5), np.append(heights, heights[-1:])


def set_limits_from_zero(ax: Axes, top: float) -> None:
    """Set the vertical limits from just below zero, where a line is visible, to just above `top`."""
    ax.set_ylim(-0.04 * top, 1.1 * top)


def label_axes(ax: Axes, label: str) -> None:
    """Label axes of gaps over nodes, with ticks at integers only."""
    ax.set_xlabel("nodes visited")
    ax.set_ylabel(label, color=COLORS["igt"])
    use_integer_ticks(ax.xaxis, ax.yaxis)


def _get_style(reward: str, length: int) -> dict[str, Any]:
    marker = MARKERS[reward] if length == 1 else ""
    return {"color": COLORS[reward], "linestyle": LINE_STYLES[reward], "marker": marker}


def plot_lifetimes(ax: Axes, length: int, lifetimes: Sequence[tuple[int, int | None]]) -> None:
    """Plot a bar for each gap from its opening (dot) to its closing (cross) or to the end."""
    width = min(3.0, 150.0 / len(lifetimes))
    for row, (opened, closed) in enumerate(lifetimes, start=1):
        ax.plot([opened, closed or length + 0.5], [row, row], color=COLORS["igt"], alpha=0.6, linewidth=width)
        ax.plot(opened, row, "o", color=COLORS["igt"], markersize=width + 1)
        if closed is not None:
            ax.plot(closed, row, "x", color=COLORS["igt"], markersize=width + 2)
    for marker, label in (("o", "opens"), ("x", "closes")):
        ax.plot([], [], marker, color=COLORS["igt"], label=label)
    ax.legend(frameon=False, fontsize=8, ncols=2, loc="lower left", bbox_to_anchor=(0.0, 0.98), borderpad=0)
    ax.set_ylim(len(lifetimes) + 0.7, 0.3)
    label_axes(hide_frame(ax), "gaps")


def _plot_band(ax: Axes, curves: Sequence[Any], style: dict[str, Any], label: str = "") -> None:
    """Plot the mean of curves of different lengths, with a band of one standard error."""
    lengths = np.sort([len(curve) for curve in curves])
    longest = int(lengths[-max(1, len(curves) // 5)])  # means over fewer walks are too noisy
    table = np.full((len(curves), longest), np.nan)
    for row, curve in enumerate(curves):
        table[row, : min(len(curve), longest)] = curve[:longest]
    count = np.sum(~np.isnan(table), axis=0)
    mean = np.nansum(table, axis=0) / np.maximum(count, 1)
    spread = np.sqrt(np.nansum((table - mean) ** 2, axis=0) / np.maximum(count - 1, 1))
    error = spread / np.sqrt(np.maximum(count, 1))
    steps = np.arange(1, longest + 1)
    ax.plot(steps, mean, linewidth=2, label=label, **style)
    ax.fill_between(steps, mean - error, mean + error, color=style["color"], alpha=0.2, linewidth=0)


def plot_barcode(births: Float64, deaths: Float64, names: Sequence[str], ax: Axes | None = None) -> Axes:
    """Plot a bar per gap from birth to death, in bits; open gaps continue to the right end, with an arrow."""
    ax = ax or create_figure(6.4, 1.2 + min(0.22 * len(births), 6.0))[1]
    end = 1.1 * max((value for value in (*births, *deaths) if np.isfinite(value)), default=1.0) + 0.1
    for row, (birth, death) in enumerate(zip(births, deaths, strict=True)):
        ax.plot([birth, min(death, end)], [row, row], color=COLORS["igt"], linewidth=3, solid_capstyle="butt")
        if np.isinf(death):
            ax.plot(end, row, marker=">", color=COLORS["igt"], clip_on=False)
    if len(names) <= _MAX_NAMED:
        ax.set_yticks(range(len(names)), [shorten_text(name, 50) for name in names], fontsize=7, **LABEL_STYLE)
    else:
        ax.set_ylabel("gaps, in order of opening")
    ax.set(xlim=(0.0, end), ylim=(len(births) - 0.4, -0.6), xlabel="bits of similarity; arrow: never closed")
    return hide_frame(ax)


def plot_persistence_diagram(births: Float64, deaths: Float64, ax: Axes | None = None) -> Axes:
    """Plot death against birth of gaps, in bits; gaps that never close are on the line at the top."""
    ax = ax or create_figure(4.8, 4.4)[1]
    is_open = np.isinf(deaths)
    top = 1.15 * float(max(births.max(initial=0.1), deaths[~is_open].max(initial=0.1)))
    ax.plot([0, top], [0, top], color=COLORS["muted"], linewidth=0.8)
    ax.axhline(top, color=COLORS["muted"], linewidth=0.8, linestyle=":")
    style: Any = {"s": 14, "color": COLORS["igt"], "alpha": min(0.7, 6 / np.sqrt(len(births) + 1) + 0.1)}
    ax.scatter(births[~is_open], deaths[~is_open], marker=MARKERS["igt"], label="closed", **style)
    ax.scatter(births[is_open], np.full(np.count_nonzero(is_open), top), marker="^", label="never closed", **style)
    ax.set(xlabel="birth (bits of similarity)", ylabel="death (bits of similarity)")
    ax.set_title(f"{len(births):,} gaps", fontsize=10)
    ax.legend(frameon=False, fontsize=8, loc="lower right")
    return hide_frame(ax)
