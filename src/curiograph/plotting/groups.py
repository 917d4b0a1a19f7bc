"""Plot groups of people: curves with intervals, survival of gaps, and effect sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.arrays import Float64
from curiograph.messages import shorten_text
from curiograph.plotting.figures import COLUMN_TEXT, ColumnWidth, create_figure, import_matplotlib
from curiograph.plotting.fonts import get_text_style, replace_missing_glyphs
from curiograph.plotting.palette import COLORS, GROUP_COLORS, GROUP_LINE_STYLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Band = tuple[Float64, Float64, Float64]
"""Values of a curve with their lower and upper bounds."""
Interval = tuple[float, float, float]
"""A value with its lower and upper bound."""

_MAX_LETTERS = 24  # of the name of a group


def plot_groups(
    curves: Mapping[str, Mapping[str, Band]],
    survival: Mapping[str, Band],
    effects: Sequence[tuple[str, Interval]],
    effect_label: str,
    notes: Mapping[str, str],
    width: ColumnWidth = "double",
) -> Figure:
    """Plot a panel per measure with a curve for each group, one with the survival of gaps, and one with effect sizes.

    Parameters
    ----------
    curves : mapping from titles to mappings from groups to bands
        Curves over the number of visited nodes, from 1. All groups of a panel share its scale.
    survival : mapping from groups to bands
        Share of gaps that are still open 0, 1, ... steps after opening; no panel if empty.
    effects : sequence of (label, interval)
        Effect sizes with intervals; no panel if empty.
    effect_label : str
        Label of the axis of effect sizes.
    notes : mapping from groups to texts
        Text of each group in the legend.
    width : {"double", "single"}
        Width of two columns with panels side by side, or of one column with panels below each other.
    """
    count = len(curves) + bool(survival) + bool(effects)
    columns = 1 if width == "single" else min(2, count)
    rows = -(-count // columns)
    tallest = max(1.9, 0.55 + 0.24 * len(effects)) if effects else 1.9
    heights = [1.9] * (rows - 1) + [tallest]
    figure, cells = create_figure(width, sum(heights) + 0.35, columns=columns, rows=rows, heights=heights)
    panels = list(np.atleast_1d(cells).flat)
    styles = _choose_group_styles(list(notes))
    for ax, (title, lines) in zip(panels, curves.items(), strict=False):
        for group, band in lines.items():
            _draw_band(ax, np.arange(1.0, len(band[0]) + 1), band, styles[group])
        ax.set(xlabel="nodes visited", ylabel=title)
        ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
        ax.xaxis.set_major_locator(import_matplotlib("ticker").MaxNLocator(integer=True, min_n_ticks=1))
    used = len(curves)
    if survival:
        for group, band in survival.items():
            draw_survival(panels[used], band, styles[group])
        used += 1
    if effects:
        _draw_intervals(panels[used], effects, effect_label)
        used += 1
    for number, ax in enumerate(panels):
        if number >= used:
            ax.set_axis_off()
        else:
            ax.set_title(f"({ascii_lowercase[number]})", loc="left", fontweight="bold", fontsize=COLUMN_TEXT + 1)
            ax.spines[["top", "right"]].set_visible(False)
    names = replace_missing_glyphs([shorten_text(f"{notes[group]}", 2 * _MAX_LETTERS) for group in notes])
    handles = [import_matplotlib("lines").Line2D([], [], linewidth=1.5, **styles[group]) for group in notes]
    legend = figure.legend(
        handles, names, loc="outside upper center", ncols=2 if width == "double" else 1, frameon=False,
        fontsize=COLUMN_TEXT,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set(**get_text_style())
    return figure


def plot_survival(band: Band, ax: Axes | None = None, width: ColumnWidth = "single") -> Axes:
    """Plot the share of gaps that are still open over the steps since opening, as steps with a band."""
    ax = ax or create_figure(width, 2.4)[1]
    draw_survival(ax, band, {"color": COLORS["igt"], "linestyle": "-"})
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_correlations(correlations: Sequence[tuple[str, Interval]], label: str, width: ColumnWidth = "single") -> Axes:
    """Plot rank correlations of measures with a score, with intervals."""
    ax: Axes = create_figure(width, 0.7 + 0.24 * len(correlations))[1]
    _draw_intervals(ax, correlations, label)
    ax.set_xlim(-1.05, 1.05)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def draw_survival(ax: Axes, band: Band, style: Mapping[str, Any]) -> None:
    """Draw a survival curve as steps from 1 to 0."""
    survival, low, high = (np.asarray(values) for values in band)
    times = np.arange(len(survival))
    ax.step(times, survival, where="post", linewidth=1.5, **style)
    ax.fill_between(times, low, high, step="post", color=style["color"], alpha=0.2, linewidth=0)
    ax.set(xlabel="steps since the gap opened", ylabel="share of gaps still open")
    ax.set_ylim(-0.02, 1.02)
    ax.xaxis.set_major_locator(import_matplotlib("ticker").MaxNLocator(integer=True, min_n_ticks=1))


def _draw_band(ax: Axes, x: Float64, band: Band, style: Mapping[str, Any]) -> None:
    middle, low, high = band
    ax.plot(x, middle, linewidth=1.5, **style)
    ax.fill_between(x, low, high, color=style["color"], alpha=0.2, linewidth=0)


def _draw_intervals(ax: Axes, intervals: Sequence[tuple[str, Interval]], label: str) -> None:
    """Draw a row for each interval, the first on top, with a line at zero."""
    for row, (_, (value, low, high)) in enumerate(intervals):
        ax.plot([low, high], [row, row], color=COLORS["text"], linewidth=1.2)
        ax.plot(value, row, "D", color=COLORS["text"], markersize=4)
    ax.axvline(0, color=COLORS["muted"], linewidth=0.8)
    ax.set_yticks(range(len(intervals)), replace_missing_glyphs([name for name, _ in intervals]), **get_text_style())
    ax.set_ylim(len(intervals) - 0.5, -0.5)
    ax.set_xlabel(label, **get_text_style())


def _choose_group_styles(groups: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return color and dash of each group."""
    return {
        group: {
            "color": GROUP_COLORS[number % len(GROUP_COLORS)],
            "linestyle": GROUP_LINE_STYLES[number % len(GROUP_LINE_STYLES)],
        }
        for number, group in enumerate(groups)
    }
