"""Plot lines and bars of plain arrays, distinguished by color and by dash or marker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.arrays import Float64
from curiograph.plotting.figures import create_figure, hide_frame, import_matplotlib
from curiograph.plotting.palette import COLORS, LINE_STYLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MAX_NOTES = 6  # lines of panels whose legend has notes


def plot_curves(x: Float64, labels: Sequence[str], heights: Float64, errors: Float64, ax: Axes | None = None) -> Axes:
    """Plot a line for each column of `heights`, with a band of one standard error."""
    ax = ax or create_figure(7.2, 4.4)[1]
    for column, label in enumerate(labels):
        dash = list(LINE_STYLES.values())[column % len(LINE_STYLES)]
        (line,) = ax.plot(x, heights[:, column], linestyle=dash, label=label)
        low, high = heights[:, column] - errors[:, column], heights[:, column] + errors[:, column]
        ax.fill_between(x, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    legend = ax.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    for text in legend.get_texts():
        text.set_parse_math(False)
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
    locator = import_matplotlib("ticker").MaxNLocator
    for number, (title, lines) in enumerate(panels.items()):
        ax = cells.flat[number]
        for name, (heights, errors) in lines.items():
            color, dash = styles[name]
            x = np.arange(1, len(heights) + 1)
            ax.plot(x, heights, color=color, linestyle=dash, linewidth=2, label=name, clip_on=False)
            ax.fill_between(x, heights - errors, heights + errors, color=color, alpha=0.25, linewidth=0)
        ax.set_title(f"({ascii_lowercase[number]}) {title}", fontsize=10 if columns == 2 else 9, loc="left")
        ax.set_ylim(bottom=0)
        ax.xaxis.set_major_locator(locator(integer=True, steps=[1, 2, 5, 10]))
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
