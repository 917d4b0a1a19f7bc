"""A walk on the subgraph it visited, with its gaps: filled where they were closed, outlined where they are open."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from curiograph.extras import require
from curiograph.graph.container import Graph
from curiograph.plotting.canvas import figure
from curiograph.plotting.layout import layout
from curiograph.plotting.names import name_offsets, write_name
from curiograph.plotting.palette import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INSET = 0.1  # share of the way to its middle by which an outline stands back, so that neighbours stay apart
_SHADES = (0.08, 0.72)  # of the first and the last node, from white to black


@dataclass(frozen=True)
class DrawnGap:
    """A gap to draw: a loop of labels, and how many nodes had been visited when it opened and closed."""

    loop: Sequence[Hashable]
    opened_at: int
    closed_at: int | None

    def is_open(self, step: int) -> bool:
        """Whether it is open after so many nodes."""
        return self.opened_at <= step and (self.closed_at is None or self.closed_at > step)

    def is_closed(self, step: int) -> bool:
        """Whether it has been closed after so many nodes."""
        return self.closed_at is not None and self.closed_at <= step


def plot_walk(
    graph: Graph, nodes: Sequence[Hashable], gaps: Sequence[DrawnGap], title: str, ax: Axes | None = None
) -> Axes:
    """The visited subgraph with its gaps: numbers and shades give the order of visit, the path walked is drawn bold."""
    picture = WalkPicture(graph, nodes, gaps)
    if ax is None:
        side = 6.0 if len(nodes) <= 50 else 9.0
        ax = figure(side, side)[1]
    picture.prepare(ax)
    picture.draw(ax, len(nodes))
    ax.set_title(title, fontsize=11, parse_math=False)
    return ax


class WalkPicture:
    """A walk laid out once, to be drawn as it was after any number of nodes."""

    def __init__(self, graph: Graph, nodes: Sequence[Hashable], gaps: Sequence[DrawnGap]) -> None:
        visited = graph.subgraph(nodes)
        positions = visited.positions(nodes)
        self.nodes, self.gaps = nodes, gaps
        self.places = layout(visited)[positions]
        """Coordinates in order of visit."""
        step = np.argsort(positions)
        rows = step[np.repeat(np.arange(visited.num_nodes), visited.degrees)]
        columns = step[visited.indices]
        self.links = [(int(a), int(b)) for a, b in zip(rows, columns, strict=True) if a < b]
        """Edges of the visited subgraph as pairs of steps, the earlier first."""
        self.diameter = max(6.5, 16 * min(1.0, (20 / len(nodes)) ** 0.4))
        """Of a node, in points: smaller where there are many."""
        self._bold = 2.2 * self.diameter / 16
        self._offsets: list[tuple[float, float] | None] = []

    def prepare(self, ax: Axes) -> None:
        """Frame the whole walk, so that nothing moves while it grows."""
        ax.set_aspect("equal")
        ax.set_xlim(-1.2, 1.2)
        ax.set_ylim(-1.34, 1.12)  # room for the legend below
        ax.set_axis_off()

    def draw(self, ax: Axes, step: int) -> None:
        """Draw what there is after `step` nodes."""
        self._draw_gaps(ax, step)
        self._draw_links(ax, step)
        self._draw_nodes(ax, step)
        self._draw_names(ax, step)
        self._draw_legend(ax, step)

    def _draw_gaps(self, ax: Axes, step: int) -> None:
        polygon = require("matplotlib.patches", "plot", "Pictures").Polygon
        at = dict(zip(self.nodes, self.places, strict=True))
        faint = min(1.0, 14 / max(1, len(self.gaps)))  # many gaps overlap
        for gap in self.gaps:
            corners = np.array([at[label] for label in gap.loop])
            if gap.is_closed(step):
                ax.add_patch(polygon(corners, facecolor=COLOURS["igt"], alpha=max(0.04, 0.2 * faint), zorder=1))
            elif gap.is_open(step):
                inner = corners + _INSET * (corners.mean(axis=0) - corners)
                ax.add_patch(
                    polygon(inner, fill=False, edgecolor=COLOURS["igt"], alpha=max(0.3, 0.9 * faint),
                            linewidth=self._bold, joinstyle="round", zorder=2)
                )  # fmt: skip

    def _draw_links(self, ax: Axes, step: int) -> None:
        lines = require("matplotlib.collections", "plot", "Pictures").LineCollection
        there = [(a, b) for a, b in self.links if b < step]
        bold = [(a, b) for a, b in there if b == a + 1]
        ax.add_collection(lines(self.places[there], color=COLOURS["quiet"], linewidth=0.9, alpha=0.6, zorder=2))
        ax.add_collection(lines(self.places[bold], color=COLOURS["ink"], linewidth=self._bold, zorder=3))

    def _draw_nodes(self, ax: Axes, step: int) -> None:
        low, high = _SHADES
        shades = low + (high - low) * np.arange(step) / max(1, len(self.nodes) - 1)
        widths = [0.8] * (step - 1) + [2.2]
        x, y = self.places[:step].T
        ax.scatter(x, y, s=self.diameter**2, c=shades, cmap="Greys", vmin=0, vmax=1,
                   edgecolors=COLOURS["ink"], linewidths=widths, zorder=4)  # fmt: skip
        for number, (across, up, shade) in enumerate(zip(x, y, shades, strict=True), start=1):
            ax.text(across, up, str(number), ha="center", va="center_baseline", fontsize=0.46 * self.diameter,
                    color="white" if shade > 0.45 else "black", zorder=5)  # fmt: skip

    def _draw_names(self, ax: Axes, step: int) -> None:
        texts = [str(label) for label in self.nodes]
        self._offsets = self._offsets or name_offsets(ax, texts, self.places, self.links, self.diameter / 2)
        for text, place, offset in list(zip(texts, self.places, self._offsets, strict=True))[:step]:
            if offset is not None:
                write_name(ax, text, place, offset)

    def _draw_legend(self, ax: Axes, step: int) -> None:
        patch = require("matplotlib.patches", "plot", "Pictures").Patch
        line = require("matplotlib.lines", "plot", "Pictures").Line2D
        still = sum(gap.is_open(step) for gap in self.gaps)
        closed = sum(gap.is_closed(step) for gap in self.gaps)
        handles = [
            patch(fill=False, edgecolor=COLOURS["igt"], linewidth=2.2, label=f"open gaps: {still}"),
            patch(facecolor=COLOURS["igt"], alpha=0.3, label=f"closed gaps: {closed}"),
            line([], [], color=COLOURS["ink"], linewidth=2.2, label="path walked"),
        ]
        ax.legend(handles=handles, loc="lower center", ncols=3, frameon=False, fontsize=9)
