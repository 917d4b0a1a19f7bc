"""Plot recommendations with the history and the edges between them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from curiograph.graph.graph import Graph
from curiograph.plotting.figures import create_figure, import_matplotlib
from curiograph.plotting.layout import compute_layout
from curiograph.plotting.node_labels import NodeLabels
from curiograph.plotting.palette import COLORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_WHOLE_NODES = 150  # larger graphs are drawn only in part


def plot_recommendations(
    graph: Graph, history: Sequence[Hashable], recommended: Sequence[Hashable], ax: Axes | None = None
) -> Axes:
    """Plot visited nodes (squares), recommended nodes (circles, numbered from the best) and the edges between them.

    A small graph is drawn as a whole, a large one only with these nodes.
    """
    lines = import_matplotlib("collections").LineCollection
    if ax is None:
        ax = create_figure(6.4, 5.6)[1]
    named = [*history, *recommended]
    drawn = graph if graph.num_nodes <= _MAX_WHOLE_NODES else graph.subgraph(named)
    places, shown = compute_layout(drawn), drawn.positions(named)
    ax.set_xlim(-1.2, 1.2)
    ax.set_ylim(-1.3, 1.12)  # room for the legend below
    ax.set_axis_off()
    rows = np.repeat(np.arange(drawn.num_nodes), np.diff(drawn.indptr))
    edges = [(int(a), int(b)) for a, b in zip(rows, drawn.indices, strict=True) if a < b]
    inner = [edge for edge in edges if np.isin(edge, shown).all()]
    ax.add_collection(lines(places[edges], color="#DDDDDD", linewidth=0.7, zorder=1))
    ax.add_collection(lines(places[inner], color=COLORS["quiet"], linewidth=1.0, zorder=2))
    others = np.setdiff1d(np.arange(drawn.num_nodes), shown)
    ax.scatter(places[others, 0], places[others, 1], s=14, color="#CCCCCC", zorder=3)
    x, y = places[drawn.positions(history)].T
    ax.scatter(x, y, s=150, color=COLORS["human"], marker="s", label="visited", zorder=4)
    x, y = places[drawn.positions(recommended)].T
    ax.scatter(x, y, s=150, color=COLORS["mixture"], marker="o", label="recommended, best first", zorder=4)
    for number in range(len(recommended)):
        ax.text(x[number], y[number], str(number + 1), ha="center", va="center_baseline", fontsize=7, color="white",
                zorder=5)  # fmt: skip
    index = {int(v): i for i, v in enumerate(shown)}
    ax.legend(loc="lower center", ncols=2, frameon=False, fontsize=9)
    NodeLabels(named, places[shown], [(index[a], index[b]) for a, b in inner], 6.5).write(ax)
    return ax
