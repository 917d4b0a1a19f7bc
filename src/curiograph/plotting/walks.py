"""A walk on the subgraph it visited, with its gaps: filled where they were closed, outlined where they are open."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.arrays import Int64
from curiograph.graph.graph import Graph
from curiograph.optional import import_optional
from curiograph.plotting.figures import create_figure
from curiograph.plotting.fonts import list_font_families
from curiograph.plotting.layout import compute_layout
from curiograph.plotting.node_labels import NodeLabels
from curiograph.plotting.palette import COLORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INSET = 0.1  # share of the way to its middle by which an outline stands back, so that neighbours stay apart
_SHADES = (0.08, 0.72)  # of the first and the last node, from white to black
_NUMBERED = 80  # nodes up to which the order is written on them
_WIDE, _NARROW = 3.5, 1.8  # inches: below the first the legend is a column, below the second there is none


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


@dataclass(frozen=True, eq=False)
class DrawnWalk:
    """A walk to draw."""

    graph: Graph
    nodes: Sequence[Hashable]
    """Labels, first visits only."""
    moves: Sequence[tuple[int, int]]
    """From where to where it went, as places in `nodes`; later ones are at or after earlier ones."""
    gaps: Sequence[DrawnGap]
    beta1: Int64
    """Gaps after every node."""
    rewards: Sequence[float]
    """One fewer than nodes, or none."""
    reward: str
    title: str
    colour: str
    """The key of `COLORS` that the path has."""


def draw_walk(walk: DrawnWalk, ax: Axes | None = None) -> Axes:
    """The visited subgraph with its gaps: numbers and shades give the order of visit, the path walked is drawn bold."""
    if ax is None:
        side = 6.0 if len(walk.nodes) <= 50 else 9.0
        ax = create_figure(side, side)[1]
    picture = WalkPicture(walk, ax)
    picture.draw(len(walk.nodes))
    ax.set_title(walk.title, fontsize=11 * picture.scale, fontfamily=list(list_font_families()), parse_math=False)
    return ax


class WalkPicture:
    """A walk laid out once on axes, to be drawn as it was after any number of nodes."""

    def __init__(self, walk: DrawnWalk, ax: Axes) -> None:
        self.walk, self._ax = walk, ax
        visited = walk.graph.subgraph(walk.nodes)
        positions = visited.positions(walk.nodes)
        self.places = compute_layout(visited)[positions]
        """Coordinates in order of visit."""
        self.links = [(a, b) for a, b in _linked(visited.skeleton, positions) if a < b]
        """Edges of the visited subgraph as pairs of steps, the earlier first."""
        self.arrows = _linked(visited, positions) if visited.directed else []
        """Of a directed graph, its links as pairs of steps."""
        ways = set(self.arrows) or {*self.links, *((b, a) for a, b in self.links)}
        self._path = [move for move in walk.moves if move in ways]
        self._jumps = [move for move in walk.moves if move not in ways]
        self._width, height = _inches(ax)
        self.scale = float(np.clip(min(self._width, height) / 4.2, 0.6, 1.0))
        """Of letters and nodes: smaller on a small panel."""
        crowd = min(1.0, (20 / len(walk.nodes)) ** 0.4)
        self.diameter = self.scale * (max(6.5, 16 * crowd) if self._numbered else max(3.0, 12 * crowd))
        """Of a node, in points: smaller where there are many."""
        self._bold = 2.2 * self.diameter / 16 if self._numbered else 0.8
        self._names = NodeLabels(walk.nodes, self.places, self.links, self.diameter / 2, max(5.5, 7.5 * self.scale))
        faint = min(1.0, 14 / max(1, len(walk.gaps)))  # many gaps overlap
        self._filled, self._outlined = max(0.04, 0.2 * faint), max(0.3, 0.9 * faint)
        self._inch = 1.0  # of the page in coordinates
        ax.set_axis_off()
        self._fit()

    @property
    def _numbered(self) -> bool:
        return len(self.walk.nodes) <= _NUMBERED

    @property
    def _legend_columns(self) -> int:
        entries = 3 + bool(self._jumps)
        if self._width < _WIDE:
            return 0 if self._width < _NARROW else 1
        return entries if entries < 4 or self._width >= 1.3 * _WIDE else 2

    def _fit(self, renderer: Any = None) -> None:
        """Show the whole walk at the size that the axes have now, alike in both directions, and the legend below."""
        wide, tall = _inches(self._ax, renderer)
        left, below = (0.15 + 0.2 * self.scale), (self.diameter / 2 + 12 * self.scale) / 72
        rows = np.ceil((3 + bool(self._jumps)) / self._legend_columns) if self._legend_columns else 0
        legend = float(rows * 9 * self.scale * 1.5 / 72)
        across, up = np.maximum(np.abs(self.places).max(axis=0), 0.05)
        room = max(wide - 2 * left, 0.3), max(tall - legend - 2 * below, 0.3)
        self._inch = max(2 * across / room[0], 2 * up / room[1])
        bottom = -self._inch * ((tall - legend) / 2 + legend)
        limits = (-self._inch * wide / 2, self._inch * wide / 2), (bottom, bottom + self._inch * tall)
        if not np.allclose([self._ax.get_xlim(), self._ax.get_ylim()], limits):
            self._ax.set(xlim=limits[0], ylim=limits[1])

    def draw(self, step: int) -> None:
        """Draw what there is after `step` nodes."""
        from curiograph.plotting.draw_callback import DrawCallback

        self._ax.add_artist(DrawCallback(self._fit))
        self._draw_gaps(step)
        self._draw_links(step)
        self._draw_nodes(step)
        self._names.write(self._ax, step)
        self._draw_legend(step)

    def _draw_gaps(self, step: int) -> None:
        polygon = import_optional("matplotlib.patches", "plot", "Pictures").Polygon
        at = dict(zip(self.walk.nodes, self.places, strict=True))
        for gap in self.walk.gaps:
            corners = np.array([at[label] for label in gap.loop])
            if gap.is_closed(step):
                self._ax.add_patch(polygon(corners, facecolor=COLORS["igt"], alpha=self._filled, zorder=1))
            elif gap.is_open(step):
                inner = corners + _INSET * (corners.mean(axis=0) - corners)
                self._ax.add_patch(
                    polygon(inner, fill=False, edgecolor=COLORS["igt"], alpha=self._outlined,
                            linewidth=self._bold, joinstyle="round", zorder=2)
                )  # fmt: skip

    def _draw_links(self, step: int) -> None:
        """All links, the path along them, jumps where there was none, and arrowheads on a directed graph."""
        there, path, jumps, arrows = (
            [pair for pair in pairs if max(pair) < step] for pairs in (self.links, self._path, self._jumps, self.arrows)
        )
        lines = import_optional("matplotlib.collections", "plot", "Pictures").LineCollection
        colour = COLORS[self.walk.colour]
        self._ax.add_collection(lines(self.places[there], color=COLORS["quiet"], linewidth=0.9, alpha=0.6, zorder=2))
        self._ax.add_collection(lines(self.places[path], color=colour, linewidth=self._bold, zorder=3))
        self._ax.add_collection(
            lines(self.places[jumps], color=colour, linewidth=self._bold / 1.6, linestyle=":", zorder=3)
        )
        if self.arrows:
            self._draw_heads(arrows, set(path))

    def _draw_heads(self, arrows: Sequence[tuple[int, int]], path: set[tuple[int, int]]) -> None:
        """An arrowhead past the middle of every link, so that a link both ways has two."""
        polygons = import_optional("matplotlib.collections", "plot", "Pictures").PolyCollection
        colours = [COLORS[self.walk.colour if pair in path else "quiet"] for pair in arrows]
        long = 0.42 * self.diameter / 72 * self._inch
        heads = [_head(self.places[a], self.places[b], long) for a, b in arrows]
        self._ax.add_collection(polygons(heads, facecolors=colours, linewidths=0, zorder=3))

    def _draw_nodes(self, step: int) -> None:
        low, high = _SHADES
        shades = low + (high - low) * np.arange(step) / max(1, len(self.walk.nodes) - 1)
        widths = [0.8 * self.scale] * (step - 1) + [2.2 * self.scale]
        x, y = self.places[:step].T
        self._ax.scatter(x, y, s=self.diameter**2, c=shades, cmap="Greys", vmin=0, vmax=1,
                         edgecolors=COLORS["ink"], linewidths=widths, zorder=4)  # fmt: skip
        for number in range(1, step + 1) if self._numbered else ():
            self._ax.text(x[number - 1], y[number - 1], str(number), ha="center", va="center_baseline",
                          fontsize=(0.46 if number < 100 else 0.38) * self.diameter,
                          color="white" if shades[number - 1] > 0.45 else "black", zorder=5)  # fmt: skip

    def _draw_legend(self, step: int) -> None:
        if not self._legend_columns:
            return
        patch = import_optional("matplotlib.patches", "plot", "Pictures").Patch
        line = import_optional("matplotlib.lines", "plot", "Pictures").Line2D
        still = sum(gap.is_open(step) for gap in self.walk.gaps)
        closed = sum(gap.is_closed(step) for gap in self.walk.gaps)
        gaps, path, bold = COLORS["igt"], COLORS[self.walk.colour], max(1.2, self._bold)
        handles: list[Any] = [
            patch(fill=False, edgecolor=gaps, linewidth=bold, alpha=self._outlined, label=f"open gaps: {still}"),
            patch(facecolor=gaps, alpha=self._filled, label=f"closed gaps: {closed}"),
            line([], [], color=path, linewidth=bold, label="path walked"),
        ]
        if self._jumps:
            handles.append(line([], [], color=path, linewidth=bold / 1.6, linestyle=":", label="jump, no link"))
        self._ax.legend(handles=handles, loc="lower center", ncols=self._legend_columns, frameon=False,
                        fontsize=9 * self.scale, borderpad=0.1, labelspacing=0.3)  # fmt: skip


def _linked(graph: Graph, positions: Any) -> list[tuple[int, int]]:
    """Links as pairs of steps of a walk that visits all nodes, given by their positions."""
    step = np.argsort(positions)
    rows = step[np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))]
    return list(zip(rows.tolist(), step[graph.indices].tolist(), strict=True))


def _inches(ax: Axes, renderer: Any = None) -> tuple[float, float]:
    """Width and height of axes as they stand."""
    box = ax.get_window_extent(renderer)
    return box.width / ax.figure.dpi, box.height / ax.figure.dpi


def _head(start: Any, end: Any, long: float) -> Any:
    """Corners of an arrowhead that points to the end of a link, past its middle."""
    along = (end - start) / max(float(np.hypot(*(end - start))), 1e-9)
    across = np.array([-along[1], along[0]])
    tip = start + 0.58 * (end - start) + along * long / 2
    return [tip, tip - long * along + 0.4 * long * across, tip - long * along - 0.4 * long * across]
