"""Plot plain arrays: lines, bars, intervals and distributions, distinguished by color and by dash or marker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_lowercase
from typing import Any

import numpy as np

from curiograph.arrays import Float64
from curiograph.errors import shorten_text
from curiograph.plotting.figures import LABEL_STYLE, Axes, Figure, create_figure, hide_frame, use_integer_ticks
from curiograph.plotting.palette import COLORS, LINE_STYLES, MARKERS, get_color, get_group_style

_MAX_NOTES = 6  # lines of panels whose legend has notes
_COLUMNS = 5  # of histograms
_BINS = 30


def plot_curves(x: Float64, labels: Sequence[str], heights: Float64, errors: Float64, ax: Axes | None = None) -> Axes:
    """Plot a line for each column of `heights`, with a band of one standard error."""
    ax = ax or create_figure(7.2, 4.4)[1]
    for column, label in enumerate(labels):
        dash = list(LINE_STYLES.values())[column % len(LINE_STYLES)]
        (line,) = ax.plot(x, heights[:, column], linestyle=dash, label=label)
        low, high = heights[:, column] - errors[:, column], heights[:, column] + errors[:, column]
        ax.fill_between(x, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    add_legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def plot_rate_distortion(scale: Float64, upper: Float64, lower: Float64, ax: Axes | None = None) -> Axes:
    """Plot the curve, its lower bound, and the area above it, which is the compressibility."""
    ax = ax or create_figure()[1]
    area = f"compressibility: {float((upper[0] - upper).mean()):.3g} bits"
    ax.fill_between(scale, upper, upper[0], color=COLORS["cpt"], alpha=0.15, linewidth=0, label=area)
    ax.plot(scale, upper, color=COLORS["cpt"], linewidth=2, label="rate (upper bound)")
    ax.plot(scale, lower, ":", color=COLORS["muted"], linewidth=2, label="lower bound")
    ax.set_xlabel("scale of description")
    ax.set_ylabel("information rate (bits)")
    ax.legend(frameon=False)
    return hide_frame(ax)


def plot_panels(
    panels: Mapping[str, Mapping[str, tuple[Float64, Float64]]],
    xlabel: str,
    colors: Mapping[str, str],
    notes: Mapping[str, str],
) -> Figure:
    """Plot a panel per title: lines over steps 1, 2, ... with bands of one standard error; a legend in the last cell.

    `panels` maps a title to lines by name, each (heights, errors). For each name, the same in all panels, `colors` has
    the preferred key of `COLORS`, and `notes` the text in the legend, which is left out if there are many lines.
    """
    columns, width = (2, 7.0) if len(panels) == 3 else (3, 9.0)
    figure, cells = create_figure(width, 5.6, columns=columns, rows=len(panels) // columns + 1)
    styles = choose_line_styles(colors)
    for number, (title, lines) in enumerate(panels.items()):
        ax = cells.flat[number]
        for name, (heights, errors) in lines.items():
            color, dash = styles[name]
            x = np.arange(1, len(heights) + 1)
            ax.plot(x, heights, color=color, linestyle=dash, linewidth=2, label=name, clip_on=False)
            ax.fill_between(x, heights - errors, heights + errors, color=color, alpha=0.25, linewidth=0)
        ax.set_title(f"({ascii_lowercase[number]}) {title}", fontsize=10 if columns == 2 else 9, loc="left")
        ax.set_ylim(bottom=0)
        use_integer_ticks(ax.xaxis, min_n_ticks=2, steps=[1, 2, 5, 10])
        hide_frame(ax)
        if number + columns >= len(panels):
            ax.set_xlabel(xlabel)
    for cell in cells.flat[len(panels) :]:
        cell.set_axis_off()
    handles, names = cells.flat[0].get_legend_handles_labels()
    few = len(names) <= _MAX_NOTES
    texts = [f"{name}\n{notes[name]}" for name in names] if few else names
    cells.flat[len(panels)].legend(
        handles, texts, loc="center", frameon=False, handlelength=4, labelspacing=1.0 if few else 0.3,
        title="bands: one standard error",
    )  # fmt: skip
    return figure


def choose_line_styles(preferences: Mapping[str, str]) -> dict[str, tuple[str, Any]]:
    """Choose a color and a dash for each name: those of its preferred key, or of the first part of that key (igt-rg:
    igt), or any others that are still unused."""
    spare = [color for key, color in COLORS.items() if key not in (*LINE_STYLES, "muted", "text")]
    used_colors: list[str] = []
    used_dashes: list[Any] = []
    for number, key in enumerate(preferences.values()):
        keys = (key, key.partition("-")[0])
        colors = [COLORS[k] for k in keys if k in COLORS] + spare
        dashes = [LINE_STYLES[k] for k in keys if k in LINE_STYLES] + list(LINE_STYLES.values())
        used_colors.append(next((color for color in colors if color not in used_colors), COLORS["muted"]))
        used_dashes.append(next((dash for dash in dashes if dash not in used_dashes), dashes[number % len(dashes)]))
    return dict(zip(preferences, zip(used_colors, used_dashes, strict=True), strict=True))


def plot_ranking(labels: Sequence[str], scores: Float64, errors: Float64, ranker: str, ax: Axes | None = None) -> Axes:
    """Plot horizontal bars, best on top, with standard errors if there are any, in the color of the ranker."""
    ax = ax or create_figure(5.6, 0.6 + 0.3 * len(labels))[1]
    rows = np.arange(len(labels))
    spread = errors if np.any(errors > 0) else None
    ax.barh(rows, scores, xerr=spread, color=get_color(ranker, "pagerank"), ecolor="#555555", capsize=2)
    ax.set_yticks(rows, [shorten_text(label, 24) for label in labels], **LABEL_STYLE)
    ax.invert_yaxis()
    ax.set_xlabel("score" if spread is None else "score, with one standard error")
    return hide_frame(ax)


def plot_places(labels: Sequence[str], places: Mapping[str, Sequence[int]], ax: Axes | None = None) -> Axes:
    """Plot the same nodes in several rankings: one column per ranking in its order, one line per node.

    The numbers are ranks among all candidates; ties keep the order of the previous column.
    """
    ax = ax or create_figure(1.6 + 1.3 * len(places), 0.8 + 0.34 * len(labels))[1]
    previous = np.arange(len(labels))
    heights = []
    for column, (name, numbers) in enumerate(places.items()):
        order = previous[np.argsort(np.asarray(numbers)[previous], kind="stable")]
        height = np.argsort(order) + 1
        ax.scatter([column] * len(labels), height, s=210, color=get_color(name, "text"),
                   marker=MARKERS.get(name, "o"), zorder=2)  # fmt: skip
        for node, number in enumerate(numbers):
            ax.text(column, height[node], str(number), ha="center", va="center_baseline", color="white",
                    fontsize=7 if number < 1000 else 5, zorder=3)  # fmt: skip
        heights.append(height)
        previous = order
    for node, line in enumerate(np.transpose(heights)):
        ax.plot(range(len(places)), line, color=COLORS["muted"], linewidth=1.4, label=labels[node], zorder=1)
    ax.set_xticks(range(len(places)), [f"by {name}" for name in places])
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.set_xlim(-0.35, len(places) - 0.65)
    ax.set_yticks(heights[0], [shorten_text(label, 24) for label in labels], **LABEL_STYLE)
    ax.set_ylim(len(labels) + 0.6, 0.4)
    ax.set_xlabel("numbers: places among all candidates", fontsize=8)
    ax.spines[:].set_visible(False)
    return ax


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
        add_legend(ax)
    return hide_frame(ax)


def add_legend(ax: Axes, **place: Any) -> None:
    """Add a legend with names of nodes or people."""
    for text in ax.legend(frameon=False, fontsize=8, **place).get_texts():
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
