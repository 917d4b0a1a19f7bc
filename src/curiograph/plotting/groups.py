"""Plot people: survival of gaps, intervals of effects and correlations, distributions and scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.arrays import Float64
from curiograph.errors import shorten_text
from curiograph.plotting.figures import LABEL_STYLE, create_figure, hide_frame, use_integer_ticks
from curiograph.plotting.palette import COLORS, get_group_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLUMNS = 5
_BINS = 30


def plot_intervals(
    labels: Sequence[str], intervals: Float64, title: str, limits: tuple[float, float] | None = None
) -> Axes:
    """Plot a row for each value with its lower and upper bound, the first on top, with a line at zero."""
    ax: Axes = create_figure(6.4, 0.9 + 0.42 * len(labels))[1]
    for row, (value, low, high) in enumerate(intervals.tolist()):
        ax.plot([low, high], [row, row], color=COLORS["text"], linewidth=1.2)
        ax.plot(value, row, "D", color=COLORS["text"], markersize=4)
    ax.axvline(0, color=COLORS["muted"], linewidth=0.8)
    ax.set_yticks(range(len(labels)), labels, **LABEL_STYLE)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.set_xlabel(title, **LABEL_STYLE)
    if limits is not None:
        ax.set_xlim(limits)
    return hide_frame(ax)


def plot_survival(bands: Mapping[str, tuple[Float64, Float64, Float64]], ax: Axes | None = None) -> Axes:
    """Plot the share of gaps that are still open over the steps since opening, with its bounds, for each group."""
    ax = ax or create_figure()[1]
    for number, (group, (survival, low, high)) in enumerate(bands.items()):
        times = np.arange(len(survival))
        style = get_group_style(number) if len(bands) > 1 else {"color": COLORS["igt"]}
        ax.step(times, survival, where="post", linewidth=1.5, label=shorten_text(group, 40), **style)
        ax.fill_between(times, low, high, step="post", color=style["color"], alpha=0.2, linewidth=0)
    ax.set(xlabel="steps since the gap opened", ylabel="share of gaps still open", ylim=(-0.02, 1.02))
    use_integer_ticks(ax.xaxis)
    if len(bands) > 1:
        add_group_legend(ax)
    return hide_frame(ax)


def add_group_legend(ax: Axes) -> None:
    """Add a legend with the names of groups."""
    for text in ax.legend(frameon=False, fontsize=8).get_texts():
        text.set_parse_math(False)


def plot_distributions(values: Mapping[str, Float64]) -> Figure:
    """Plot a histogram of each of several quantities, with a line at the mean; values that are not finite are left out.

    >>> figure = plot_distributions({"nodes": np.array([3.0, 5.0, 8.0]), "gaps": np.array([0.0, np.nan, 1.0])})
    >>> [ax.get_xlabel() for ax in figure.axes if ax.get_visible()]
    ['nodes', 'gaps']
    """
    columns = min(_COLUMNS, max(1, len(values)))
    rows = -(-len(values) // columns)
    figure, axes = create_figure(9.0, 1.6 * rows, columns=columns, rows=rows)
    panels: list[Any] = list(np.atleast_1d(axes).flat)
    for ax, (title, numbers) in zip(panels, values.items(), strict=False):
        known = numbers[np.isfinite(numbers)]
        if len(known):
            ax.hist(known, bins=min(_BINS, max(5, len(known) // 4)), color=COLORS["human"], alpha=0.7)
            ax.axvline(known.mean(), color=COLORS["text"], linewidth=0.8)
        ax.set_xlabel(title, fontsize=8)
        ax.tick_params(labelsize=7)
        hide_frame(ax)
    for ax in panels[len(values) :]:
        ax.set_visible(False)
    return figure


def plot_scores(scores: Float64, low: Float64, high: Float64, label: str, ax: Axes | None = None) -> Axes:
    """Plot the scores of people in order, with intervals that may be NaN."""
    ax = ax or create_figure()[1]
    order, ranks = np.argsort(scores, kind="stable"), np.arange(len(scores))
    ax.vlines(ranks, low[order], high[order], color=COLORS["muted"], linewidth=max(0.2, min(1.5, 100 / len(scores))))
    ax.scatter(ranks, scores[order], s=max(1.0, min(12.0, 800 / len(scores))), color=COLORS["human"], zorder=2)
    ax.axhline(0, color=COLORS["text"], linewidth=0.6)
    ax.set(xlabel="people", ylabel=label)
    use_integer_ticks(ax.xaxis)
    return hide_frame(ax)
