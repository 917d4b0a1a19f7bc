"""Plot rankings: the best scores, how ranks differ between rankings, and recommendations on the graph."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from curiograph.arrays import Float64
from curiograph.errors import shorten_text
from curiograph.graph.graph import Graph
from curiograph.plotting.figures import LABEL_STYLE, create_figure, hide_frame, import_matplotlib
from curiograph.plotting.graph_layout import compute_layout
from curiograph.plotting.palette import COLORS, MARKERS, get_color
from curiograph.plotting.walks import write_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_WHOLE_NODES = 150  # larger graphs are drawn only in part


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


def plot_recommendations(
    graph: Graph, history: Sequence[Hashable], recommended: Sequence[Hashable], ax: Axes | None = None
) -> Axes:
    """Plot visited nodes (squares), recommended nodes (circles, numbered from the best) and the edges between them.

    A small graph is drawn as a whole, a large one only with these nodes.
    """
    lines = import_matplotlib("collections").LineCollection
    ax = ax or create_figure(6.4, 5.6)[1]
    named = [*history, *recommended]
    drawn = graph if graph.num_nodes <= _MAX_WHOLE_NODES else graph.subgraph(named)
    places, shown = compute_layout(drawn), drawn.positions(named)
    ax.set(xlim=(-1.2, 1.2), ylim=(-1.3, 1.12))  # room for the legend below
    ax.set_axis_off()
    rows = np.repeat(np.arange(drawn.num_nodes), np.diff(drawn.indptr))
    edges = [(int(a), int(b)) for a, b in zip(rows, drawn.indices, strict=True) if a < b]
    inner = [edge for edge in edges if np.isin(edge, shown).all()]
    ax.add_collection(lines(places[edges], color="#DDDDDD", linewidth=0.7, zorder=1))
    ax.add_collection(lines(places[inner], color=COLORS["muted"], linewidth=1.0, zorder=2))
    others = np.setdiff1d(np.arange(drawn.num_nodes), shown)
    ax.scatter(places[others, 0], places[others, 1], s=14, color="#CCCCCC", zorder=3)
    x, y = places[drawn.positions(history)].T
    ax.scatter(x, y, s=150, color=COLORS["human"], marker="s", label="visited", zorder=4)
    x, y = places[drawn.positions(recommended)].T
    ax.scatter(x, y, s=150, color=COLORS["mixture"], marker="o", label="recommended, best first", zorder=4)
    for number in range(len(recommended)):
        ax.text(x[number], y[number], str(number + 1), ha="center", va="center_baseline", fontsize=7, color="white",
                zorder=5)  # fmt: skip
    ax.legend(loc="lower center", ncols=2, frameon=False, fontsize=9)
    write_labels(ax, named, places[shown], 6.5)
    return ax
