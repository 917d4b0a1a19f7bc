"""What was visited, what is recommended, and what links them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from curiograph.graph.graph import Graph
from curiograph.optional import import_optional
from curiograph.plotting.figures import create_figure
from curiograph.plotting.layout import compute_layout
from curiograph.plotting.node_labels import NodeLabels
from curiograph.plotting.palette import COLORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DRAWN_WHOLE = 150  # nodes up to which a graph is drawn whole


def plot_recommendations(
    graph: Graph, history: Sequence[Hashable], recommended: Sequence[Hashable], ax: Axes | None = None
) -> Axes:
    """What was visited (squares), what is recommended (circles, numbered from the best), and what links them.

    A small graph is drawn whole, of a large one only these nodes.
    """
    lines = import_optional("matplotlib.collections", "plot", "Pictures").LineCollection
    if ax is None:
        ax = create_figure(6.4, 5.6)[1]
    named = [*history, *recommended]
    drawn = graph if graph.num_nodes <= _DRAWN_WHOLE else graph.subgraph(named)
    places, shown = compute_layout(drawn), drawn.positions(named)
    ax.set_xlim(-1.2, 1.2)
    ax.set_ylim(-1.3, 1.12)  # room for the legend below
    ax.set_axis_off()
    rows = np.repeat(np.arange(drawn.num_nodes), np.diff(drawn.indptr))
    links = [(int(a), int(b)) for a, b in zip(rows, drawn.indices, strict=True) if a < b]
    near = [pair for pair in links if np.isin(pair, shown).all()]
    ax.add_collection(lines(places[links], color="#DDDDDD", linewidth=0.7, zorder=1))
    ax.add_collection(lines(places[near], color=COLORS["quiet"], linewidth=1.0, zorder=2))
    others = np.setdiff1d(np.arange(drawn.num_nodes), shown)
    ax.scatter(places[others, 0], places[others, 1], s=14, color="#CCCCCC", zorder=3)
    for nodes, colour, shape, name in (
        (history, COLORS["human"], "s", "visited"),
        (recommended, COLORS["mixture"], "o", "recommended, best first"),
    ):
        x, y = places[drawn.positions(nodes)].T
        ax.scatter(x, y, s=150, color=colour, marker=shape, label=name, zorder=4)
    for number, v in enumerate(drawn.positions(recommended), start=1):
        ax.text(
            places[v, 0],
            places[v, 1],
            str(number),
            ha="center",
            va="center_baseline",
            fontsize=7,
            color="white",
            zorder=5,
        )
    place = {int(v): i for i, v in enumerate(shown)}
    inner = [(place[a], place[b]) for a, b in near]
    ax.legend(loc="lower center", ncols=2, frameon=False, fontsize=9)
    NodeLabels(named, places[shown], inner, 6.5).write(ax)
    return ax
