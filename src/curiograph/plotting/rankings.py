"""Plot rankings: the best scores, and how ranks differ between rankings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from curiograph.arrays import Float64
from curiograph.messages import shorten_text
from curiograph.plotting.figures import create_figure
from curiograph.plotting.fonts import list_font_families, replace_missing_glyphs
from curiograph.plotting.palette import COLORS, MARKERS, get_color

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_ranking(labels: Sequence[str], scores: Float64, errors: Float64, ranker: str, ax: Axes | None = None) -> Axes:
    """Plot horizontal bars, best on top, with standard errors if there are any, in the color of the ranker."""
    if ax is None:
        ax = create_figure(5.6, 0.6 + 0.3 * len(labels))[1]
    rows = np.arange(len(labels))
    spread = errors if np.any(errors > 0) else None
    ax.barh(rows, scores, xerr=spread, color=get_color(ranker, "pagerank"), ecolor="#555555", capsize=2)
    ax.set_yticks(rows, _format_ticks(labels), fontfamily=list(list_font_families()), parse_math=False)
    ax.invert_yaxis()
    ax.set_xlabel("score" if spread is None else "score, with one standard error")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_places(labels: Sequence[str], places: Mapping[str, Sequence[int]], ax: Axes | None = None) -> Axes:
    """Plot the same nodes in several rankings: one column per ranking in its order, one line per node.

    The numbers are ranks among all candidates; ties keep the order of the previous column.
    """
    if ax is None:
        ax = create_figure(1.6 + 1.3 * len(places), 0.8 + 0.34 * len(labels))[1]
    previous = np.arange(len(labels))
    heights = []
    for column, (name, numbers) in enumerate(places.items()):
        order = previous[np.argsort(np.asarray(numbers)[previous], kind="stable")]
        height = np.argsort(order) + 1
        ax.scatter([column] * len(labels), height, s=210, color=get_color(name, "ink"),
                   marker=MARKERS.get(name, "o"), zorder=2)  # fmt: skip
        for node, number in enumerate(numbers):
            ax.text(column, height[node], str(number), ha="center", va="center_baseline", color="white",
                    fontsize=7 if number < 1000 else 5, zorder=3)  # fmt: skip
        heights.append(height)
        previous = order
    for node, line in enumerate(np.transpose(heights)):
        ax.plot(range(len(places)), line, color=COLORS["quiet"], linewidth=1.4, label=labels[node], zorder=1)
    ax.set_xticks(range(len(places)), [f"by {name}" for name in places])
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.set_xlim(-0.35, len(places) - 0.65)
    ax.set_yticks(heights[0], _format_ticks(labels), fontfamily=list(list_font_families()), parse_math=False)
    ax.set_ylim(len(labels) + 0.6, 0.4)
    ax.set_xlabel("numbers: places among all candidates", fontsize=8)
    ax.spines[:].set_visible(False)
    return ax


def _format_ticks(labels: Sequence[str]) -> list[str]:
    return replace_missing_glyphs([shorten_text(label, 24) for label in labels])
