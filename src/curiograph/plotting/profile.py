"""Plot profiles of people: distributions of measures, and curiosity styles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.arrays import Float64
from curiograph.plotting.figures import COLUMN_TEXT, create_figure, import_matplotlib
from curiograph.plotting.palette import COLORS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLUMNS = 5
_BINS = 30


def plot_distributions(values: Mapping[str, Float64]) -> Figure:
    """Plot a histogram of each of several quantities, with a line at the mean; values that are not finite are left out.

    Examples
    --------
    >>> figure = plot_distributions({"nodes": np.array([3.0, 5.0, 8.0]), "gaps": np.array([0.0, np.nan, 1.0])})
    >>> [ax.get_xlabel() for ax in figure.axes if ax.get_visible()]
    ['nodes', 'gaps']
    """
    columns = min(_COLUMNS, max(1, len(values)))
    rows = -(-max(1, len(values)) // columns)
    figure, cells = create_figure("double", 1.25 * rows + 0.2, columns=columns, rows=rows)
    panels = list(np.atleast_1d(cells).flat)
    for ax, (label, numbers) in zip(panels, values.items(), strict=False):
        finite = numbers[np.isfinite(numbers)]
        if len(finite):
            ax.hist(finite, bins=_BINS, color=COLORS["igt"])
            ax.axvline(float(finite.mean()), color=COLORS["cpt"], linewidth=1.0)
        ax.set_xlabel(label, fontsize=COLUMN_TEXT - 1, wrap=True)
        ax.set_yticks([])
        ax.tick_params(labelsize=COLUMN_TEXT - 1)
        ax.xaxis.set_major_locator(import_matplotlib("ticker").MaxNLocator(3))
        ax.spines[["top", "right", "left"]].set_visible(False)
    for ax in panels[len(values) :]:
        ax.set_visible(False)
    return figure


def plot_styles(
    scores: tuple[Float64, Float64, Float64],
    curve: tuple[Float64, Float64, Float64, Float64],
    threshold: float,
    colors: list[Any] | None = None,
) -> Figure:
    """Plot the scores of people with intervals, sorted, and the reliability of the score by the number of visits.

    Parameters
    ----------
    scores : (values, low, high)
        Score of each person with its interval, which may be NaN.
    curve : (visits, reliability, low, high)
        Reliability of scores by number of visits, with its interval.
    threshold : float
        Reliability that is enough, as a line.
    colors : list of colors, optional
        Color of each person.
    """
    figure, (left, right) = create_figure("double", 2.6, columns=2)
    values, low, high = scores
    order = np.argsort(values, kind="stable")
    ranks = np.arange(len(values))
    left.vlines(ranks, low[order], high[order], color=COLORS["muted"], linewidth=max(0.2, min(1.5, 100 / len(values))))
    shades = [COLORS["igt"]] * len(values) if colors is None else [colors[place] for place in order]
    left.scatter(ranks, values[order], s=max(1.0, min(12.0, 800 / len(values))), color=shades, zorder=2)
    left.axhline(0, color=COLORS["text"], linewidth=0.6)
    left.set(xlabel="people", ylabel="busybody  <  style score  >  hunter")
    visits, reliability, below, above = curve
    right.plot(visits, reliability, "o-", color=COLORS["igt"], markersize=3, linewidth=1.2)
    right.fill_between(visits, below, above, color=COLORS["igt"], alpha=0.2, linewidth=0)
    right.axhline(threshold, color=COLORS["cpt"], linewidth=0.8, linestyle="--")
    right.set(xlabel="visits per person", ylabel="reliability", ylim=(min(0.0, np.nanmin([0.0, *below])), 1.02))
    for name, ax in zip("ab", (left, right), strict=True):
        ax.set_title(f"({name})", loc="left", fontweight="bold", fontsize=COLUMN_TEXT + 1)
        ax.spines[["top", "right"]].set_visible(False)
    return figure
