"""Pictures of graphs and plain arrays, so that every result can offer `.plot()`.

One colour per thing, everywhere, from a palette that the colour-blind can tell apart; lines also differ in dash or
marker, so that figures survive a grey printer.
"""

from __future__ import annotations

import io
from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.extras import require
from curiograph.graph.container import Graph
from curiograph.graph.rows import Float64, Int64
from curiograph.graph.storage import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_LABELS = 30  # beyond that, names only hide each other
_DRAWN_WHOLE = 150  # nodes up to which a graph is drawn whole

COLOURS = {
    "igt": "#0072B2",
    "cpt": "#D55E00",
    "human": "#AA4499",
    "mixture": "#117733",
    "random": "#BBBBBB",
    "max-degree": "#E69F00",
    "min-degree": "#CC79A7",
    "greedy": "#56B4E9",
    "gnn-paper": "#DDCC77",
    "gnn": "#999933",
    "horizon": "#882255",
    "horizon+beam": "#332288",
    "beam": "#000000",
    "paper": "#009E73",
    "pagerank": "#44AA99",
    "quiet": "#999999",
}
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 2, 1, 2)), (0, (3, 1, 1, 1, 1, 1)))
_MARKERS = {"random": ".", "greedy": "s", "gnn": "^", "horizon": "o", "beam": "D"}


def save_figure(axes: Axes, path: str | Path) -> None:
    """Write the figure that holds `axes` to a .png, .svg or .pdf file, whole or not at all."""
    kind = Path(path).suffix.lower().lstrip(".") or "png"
    buffer = io.BytesIO()
    drawn: Any = axes.figure
    drawn.savefig(buffer, format=kind, dpi=150, bbox_inches="tight")
    with replacing(path) as stream:
        stream.write(buffer.getvalue())


def figure(width: float = 6.4, height: float = 4.0, columns: int = 1, rows: int = 1) -> tuple[Figure, Any]:
    """A new figure with its axes, made without a window."""
    matplotlib = require("matplotlib.figure", "plot", "Pictures")
    made = matplotlib.Figure(figsize=(width, height), layout="constrained")
    return made, made.subplots(rows, columns)


def plot_growth(
    beta1: Int64, compressibility: Float64, lives: Sequence[tuple[int, int | None]], ax: Axes | None = None
) -> Axes:
    """Gaps as steps, compressibility as a line; without given axes, also a bar for the life of every gap below."""
    steps = np.arange(1, len(beta1) + 1)
    below: Any = None
    if ax is None and lives:
        _, (ax, below) = figure(6.4, 5.2, rows=2)
        _plot_lives(below, len(beta1), lives)
        below.sharex(ax)
    elif ax is None:
        ax = figure()[1]
    ax.step(steps, beta1, where="post", color=COLOURS["igt"], linewidth=2)
    _axis(ax, "information gaps", COLOURS["igt"])
    ax.set_ylim(bottom=0, top=max(1, ax.get_ylim()[1]))
    if not np.all(np.isnan(compressibility)):
        right = ax.twinx()
        right.plot(steps, compressibility, "--", color=COLOURS["cpt"], linewidth=2)
        right.set_ylabel("compressibility (bits), dashed", color=COLOURS["cpt"])
        right.set_ylim(bottom=0)
    return ax


def _plot_lives(ax: Axes, length: int, lives: Sequence[tuple[int, int | None]]) -> None:
    """One bar per gap from opening (dot) to closing (cross); bars that stay open run to the end."""
    width = min(3.0, 150.0 / len(lives))
    for row, (opened, closed) in enumerate(lives, start=1):
        ax.plot([opened, closed or length], [row, row], color=COLOURS["igt"], alpha=0.6, linewidth=width)
        ax.plot(opened, row, "o", color=COLOURS["igt"], markersize=width + 1)
        if closed is not None:
            ax.plot(closed, row, "x", color=COLOURS["igt"], markersize=width + 2)
    ax.invert_yaxis()
    _axis(ax, "gap, by opening", "black")


def _axis(ax: Axes, label: str, colour: str) -> None:
    """Whole steps along, whole numbers up."""
    ax.set_xlabel("nodes visited")
    ax.set_ylabel(label, color=colour)
    whole = require("matplotlib.ticker", "plot", "Pictures").MaxNLocator
    ax.xaxis.set_major_locator(whole(integer=True))
    ax.yaxis.set_major_locator(whole(integer=True))


def plot_growths(beta1: Sequence[Int64], compressibility: Sequence[Float64], ax: Axes | None = None) -> Axes:
    """Means over walks with bands of one standard error, as far as a fifth of the walks go."""
    if ax is None:
        ax = figure()[1]
    _band(ax, beta1, COLOURS["igt"], "-")
    _axis(ax, "information gaps, mean", COLOURS["igt"])
    ax.set_title(f"{len(beta1)} walks", fontsize=10)
    if not all(np.all(np.isnan(c)) for c in compressibility):
        right = ax.twinx()
        _band(right, compressibility, COLOURS["cpt"], "--")
        right.set_ylabel("compressibility (bits), mean, dashed", color=COLOURS["cpt"])
    return ax


def _band(ax: Axes, curves: Sequence[Any], colour: str, dash: str) -> None:
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
    ax.plot(steps, mean, dash, color=colour, linewidth=2)
    ax.fill_between(steps, mean - error, mean + error, color=colour, alpha=0.2, linewidth=0)


def plot_rate_distortion(scale: Float64, upper: Float64, lower: Float64, ax: Axes | None = None) -> Axes:
    """The curve, its lower bound, and the area above it, which is the compressibility."""
    if ax is None:
        ax = figure()[1]
    ax.fill_between(scale, upper, upper[0], color=COLOURS["cpt"], alpha=0.15, linewidth=0, label="compressibility")
    ax.plot(scale, upper, color=COLOURS["cpt"], linewidth=2, label="rate (upper bound)")
    ax.plot(scale, lower, ":", color=COLOURS["quiet"], linewidth=2, label="lower bound")
    ax.set_xlabel("scale of description")
    ax.set_ylabel("information rate (bits)")
    ax.legend(frameon=False)
    return ax


def plot_walk(graph: Graph, nodes: Sequence[Hashable], ax: Axes | None = None) -> Axes:
    """The visited subgraph: numbers give the order of visit, the path walked is drawn bold."""
    networkx = require("networkx", "plot", "Pictures")
    if ax is None:
        ax = figure(5.5, 5.0)[1]
    subgraph = graph.subgraph(nodes).to_networkx()
    places = networkx.kamada_kawai_layout(subgraph)
    path = [pair for pair in pairwise(nodes) if subgraph.has_edge(*pair)]
    networkx.draw_networkx_edges(subgraph, places, ax=ax, edge_color=COLOURS["quiet"])
    networkx.draw_networkx_edges(subgraph, places, edgelist=path, ax=ax, edge_color=COLOURS["igt"], width=2.5)
    shades = [order / max(1, len(nodes) - 1) for order in range(len(nodes))]
    networkx.draw_networkx_nodes(
        subgraph,
        places,
        nodelist=list(nodes),
        node_color=shades,
        cmap="Blues",
        vmin=-0.3,
        vmax=1.3,
        ax=ax,
        edgecolors="black",
    )
    order = {node: str(step) for step, node in enumerate(nodes, start=1)}
    networkx.draw_networkx_labels(subgraph, places, order, font_size=8, ax=ax)
    if len(nodes) <= _MOST_LABELS:
        for node, place in places.items():
            ax.annotate(str(node), place, xytext=(9, 7), textcoords="offset points", fontsize=7, color="#444444")
    ax.set_axis_off()
    ax.margins(0.15)
    return ax


def plot_recommendations(
    graph: Graph, history: Sequence[Hashable], recommended: Sequence[Hashable], ax: Axes | None = None
) -> Axes:
    """What was visited (squares), what is recommended (circles, numbered from the best), and what links them.

    A small graph is drawn whole, of a large one only these nodes.
    """
    networkx = require("networkx", "plot", "Pictures")
    if ax is None:
        ax = figure(6.4, 5.6)[1]
    named = [*history, *recommended]
    drawn = (graph if graph.num_nodes <= _DRAWN_WHOLE else graph.subgraph(named)).to_networkx()
    places = networkx.kamada_kawai_layout(drawn)
    near = [edge for edge in drawn.edges if edge[0] in named and edge[1] in named]
    networkx.draw_networkx_edges(drawn, places, ax=ax, edge_color="#DDDDDD", width=0.7)
    networkx.draw_networkx_edges(drawn, places, edgelist=near, ax=ax, edge_color=COLOURS["quiet"])
    others = [node for node in drawn if node not in named]
    networkx.draw_networkx_nodes(drawn, places, nodelist=others, node_size=14, node_color="#CCCCCC", ax=ax)
    for nodes, colour, shape in ((history, COLOURS["human"], "s"), (recommended, COLOURS["mixture"], "o")):
        networkx.draw_networkx_nodes(
            drawn, places, nodelist=list(nodes), node_size=150, node_color=colour, node_shape=shape, ax=ax
        )
    numbers = {node: str(place) for place, node in enumerate(recommended, start=1)}
    networkx.draw_networkx_labels(drawn, places, numbers, font_size=7, font_color="white", ax=ax)
    for node in named:
        text = ax.annotate(str(node), places[node], xytext=(7, 7), textcoords="offset points", fontsize=8)
        text.set_bbox({"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 0.5})
    ax.set_axis_off()
    ax.margins(0.06)
    return ax


def plot_ranking(labels: Sequence[str], scores: Float64, errors: Float64, ax: Axes | None = None) -> Axes:
    """Bars that lie down, the best on top, with one standard error where there is one."""
    if ax is None:
        ax = figure(5.6, 0.6 + 0.3 * len(labels))[1]
    rows = np.arange(len(labels))
    spread = errors if np.any(errors > 0) else None
    ax.barh(rows, scores, xerr=spread, color=COLOURS["pagerank"], ecolor="#555555", capsize=2)
    ax.set_yticks(rows, labels)
    ax.invert_yaxis()
    ax.set_xlabel("score")
    return ax


def plot_curves(x: Float64, labels: Sequence[str], heights: Float64, errors: Float64, ax: Axes | None = None) -> Axes:
    """A line for each column of `heights`, told apart by colour and dash, with bands of one standard error."""
    if ax is None:
        ax = figure(7.2, 4.4)[1]
    for column, label in enumerate(labels):
        dash = _DASHES[column % len(_DASHES)]
        (line,) = ax.plot(x, heights[:, column], linestyle=dash, label=label)
        low, high = heights[:, column] - errors[:, column], heights[:, column] + errors[:, column]
        ax.fill_between(x, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    ax.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def plot_bars(
    groups: Sequence[str], series: dict[str, tuple[list[float], list[float]]], ax: Axes, marks: dict[str, list[float]]
) -> Axes:
    """Grouped bars: `series` maps a name to (heights, errors), `marks` a name to the points drawn on its bars."""
    width = 0.8 / len(series)
    for place, (name, (heights, errors)) in enumerate(series.items()):
        x = np.arange(len(groups)) + (place - (len(series) - 1) / 2) * width
        ax.bar(x, heights, width, yerr=errors, color=COLOURS.get(name, COLOURS["quiet"]), label=name, ecolor="#555555")
        if name in marks:
            ax.plot(x, marks[name], "D", color=COLOURS["paper"], markersize=4, markeredgecolor="white", zorder=3)
    ax.plot([], [], "D", color=COLOURS["paper"], markersize=4, label="paper")
    ax.set_xticks(np.arange(len(groups)), [group.upper() for group in groups])
    return ax


def plot_lines(x: Sequence[float], series: dict[str, tuple[list[float], list[float]]], ax: Axes) -> Axes:
    """Lines with bands of one standard error: `series` maps a name to (heights, errors); NaN leaves a gap."""
    for name, (heights, errors) in series.items():
        colour = COLOURS.get(name, COLOURS["quiet"])
        ax.plot(x, heights, marker=_MARKERS.get(name, "x"), markersize=5, color=colour, label=name)
        low, high = np.subtract(heights, errors), np.add(heights, errors)
        ax.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
    return ax


def plot_panels(
    panels: Mapping[str, Mapping[str, tuple[Float64, Float64]]],
    along: str,
    colours: Mapping[str, str],
    notes: Mapping[str, str],
) -> Figure:
    """A panel for each title: lines over steps 0, 1, ... with bands of one standard error; a legend in the last cell.

    `panels` maps a title to lines by name, each (heights, errors). For each name, the same in all panels, `colours`
    gives the key of `COLOURS` that it would like, and `notes` what the legend says of it.
    """
    columns = 3
    made, cells = figure(10.5, 5.6, columns=columns, rows=len(panels) // columns + 1)
    styles = _line_styles(colours)
    for place, (title, lines) in enumerate(panels.items()):
        ax = cells.flat[place]
        for name, (heights, errors) in lines.items():
            _line_with_band(ax, name, heights, errors, *styles[name])
        ax.set_title(f"({ascii_lowercase[place]}) {title}", fontsize=10, loc="left")
        ax.set_ylim(bottom=0)
        whole = require("matplotlib.ticker", "plot", "Pictures").MaxNLocator
        ax.xaxis.set_major_locator(whole(integer=True, steps=[1, 2, 5, 10]))
        ax.spines[["top", "right"]].set_visible(False)
        if place + columns >= len(panels):
            ax.set_xlabel(along)
    for cell in cells.flat[len(panels) :]:
        cell.set_axis_off()
    handles, names = cells.flat[0].get_legend_handles_labels()
    texts = [f"{name}\n{notes[name]}" for name in names]
    cells.flat[len(panels)].legend(
        handles, texts, loc="center", frameon=False, handlelength=4, labelspacing=1.0, title="bands: one standard error"
    )
    return made


def _line_with_band(ax: Axes, name: str, heights: Float64, errors: Float64, colour: str, dash: Any) -> None:
    x = np.arange(len(heights))
    ax.plot(x, heights, color=colour, linestyle=dash, linewidth=2, label=name, clip_on=False)
    ax.fill_between(x, heights - errors, heights + errors, color=colour, alpha=0.25, linewidth=0)


def _line_styles(wishes: Mapping[str, str]) -> dict[str, tuple[str, Any]]:
    """A colour and a dash for each name: the colour it would like, that of its first part (igt-rg: igt), or any other
    that no name before it has."""
    spare = [colour for key, colour in COLOURS.items() if key not in ("igt", "cpt", "pagerank", "quiet")]
    styles: dict[str, tuple[str, Any]] = {}
    for place, (name, wish) in enumerate(wishes.items()):
        taken = {colour for colour, _ in styles.values()}
        liked = [COLOURS[key] for key in (wish, wish.partition("-")[0]) if key in COLOURS]
        free = [colour for colour in (*liked, *spare) if colour not in taken]
        styles[name] = (free[0] if free else COLOURS["quiet"], _DASHES[place % len(_DASHES)])
    return styles
