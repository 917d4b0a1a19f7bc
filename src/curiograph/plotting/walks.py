"""Draw graphs: recommended nodes; a walk on the subgraph it visited, with its gaps, also as an animation."""

from __future__ import annotations

import io
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from curiograph.arrays import Float64, Int64
from curiograph.errors import SettingError, import_optional, shorten_text
from curiograph.files import open_atomic
from curiograph.graph.graph import Graph
from curiograph.plotting.figures import LABEL_STYLE, Axes, create_figure, hide_frame, import_matplotlib
from curiograph.plotting.graph_layout import compute_unit_layout
from curiograph.plotting.growth import build_step_curve, label_axes, set_limits_from_zero
from curiograph.plotting.palette import COLORS, LINE_STYLES, MARKERS, get_color
from curiograph.progress import Progress, no_progress

_INSET = 0.1  # relative distance of an outline from its loop, which separates adjacent outlines
_SHADES = (0.08, 0.72)  # gray levels of the first and the last node, from white to black
_MAX_NUMBERED = 80  # nodes up to which the order of visit is written on them
_MAX_LABELS = 30  # names that are written, evenly over all nodes
_MAX_LETTERS = 20  # of a name
_MAX_WHOLE_NODES = 150  # larger graphs are drawn only in part

# Animations.
_FRAME_DURATION, _LAST_DURATION = 700, 3000  # milliseconds
_DPI = 100
_NUM_COLORS = 96  # of the whole animation: few colors keep the file small
_MAX_FRAMES = 60  # in longer walks, several nodes share a frame


@dataclass(frozen=True)
class DrawnGap:
    """A gap to draw."""

    loop: Sequence[Hashable]
    """Labels of a loop around the gap."""
    opened_at: int
    """Number of nodes visited when the gap opened."""
    closed_at: int | None
    """Number of nodes visited when the gap closed; None if it stays open."""

    def is_closed(self, step: int) -> bool:
        """Return whether the gap is closed after `step` nodes."""
        return self.closed_at is not None and self.closed_at <= step

    def is_open(self, step: int) -> bool:
        """Return whether the gap is open after `step` nodes."""
        return self.opened_at <= step and not self.is_closed(step)


@dataclass(frozen=True, eq=False, kw_only=True)
class DrawnWalk:
    """A walk to draw."""

    graph: Graph
    """The graph that was walked on."""
    nodes: Sequence[Hashable]
    """Labels of the visited nodes, first visits only."""
    moves: Sequence[tuple[int, int]]
    """Moves of the walk, as pairs of indices into `nodes`."""
    gaps: Sequence[DrawnGap]
    """Gaps of the walk."""
    beta1: Int64
    """Number of gaps after every node."""
    rewards: Sequence[float]
    """Rewards, one fewer than nodes; empty if unknown."""
    reward: str
    """Name of the reward."""
    title: str
    """Title of the plot."""
    color: str
    """Key of `COLORS` for the path."""


def draw_walk(walk: DrawnWalk, ax: Axes | None = None) -> Axes:
    """Plot the visited subgraph with its gaps; numbers and shades show the order of visit, the path is bold."""
    if ax is None:
        side = 6.0 if len(walk.nodes) <= 50 else 9.0
        ax = create_figure(side, side)[1]
    WalkPicture(walk, ax).draw(len(walk.nodes))
    ax.set_title(walk.title, fontsize=11, **LABEL_STYLE)
    return ax


def write_labels(ax: Axes, titles: Sequence[str], places: Float64, radius: float, count: int | None = None) -> None:
    """Write the names of the first `count` nodes beside them, away from the middle; at most 30 names of all nodes."""
    named = np.linspace(0, len(titles) - 1, min(len(titles), _MAX_LABELS)).round().astype(int)
    for node in named[named < (len(titles) if count is None else count)].tolist():
        side = 1 if places[node, 0] >= places[:, 0].mean() else -1
        ax.annotate(
            shorten_text(titles[node], _MAX_LETTERS), places[node].tolist(), zorder=6,
            xytext=(side * (radius + 2), 0), textcoords="offset points", fontsize=8, color=COLORS["text"],
            ha="left" if side > 0 else "right", va="center",
            bbox={"facecolor": "white", "alpha": 0.6, "edgecolor": "none", "pad": 0.4}, **LABEL_STYLE,
        )  # fmt: skip


class WalkPicture:
    """A walk with a fixed layout on axes, which can be drawn after any number of nodes."""

    def __init__(self, walk: DrawnWalk, ax: Axes) -> None:
        self.walk, self.ax = walk, ax
        visited = walk.graph.subgraph(walk.nodes)
        positions = visited.positions(walk.nodes)
        self._titles = [visited.title(int(v)) for v in positions]
        self.places = compute_unit_layout(visited)[positions]
        """Coordinates in order of visit."""
        self.links = [(a, b) for a, b in _list_links(visited.skeleton, positions) if a < b]
        """Edges of the visited subgraph as pairs of steps, the earlier first."""
        self.arrows = _list_links(visited, positions) if visited.directed else []
        """Edges of a directed graph as pairs of steps."""
        ways = set(self.arrows) or {*self.links, *((b, a) for a, b in self.links)}
        self._path = [move for move in walk.moves if move in ways]
        self._jumps = [move for move in walk.moves if move not in ways]
        self._numbered = len(walk.nodes) <= _MAX_NUMBERED
        density = min(1.0, (20 / len(walk.nodes)) ** 0.4)
        self.diameter = max(6.5, 16 * density) if self._numbered else max(3.0, 12 * density)
        """Diameter of a node in points, smaller for many nodes."""
        self._line_width = 2.2 * self.diameter / 16 if self._numbered else 0.8
        opacity = min(1.0, 14 / max(1, len(walk.gaps)))  # many gaps overlap
        self._fill_alpha, self._outline_alpha = max(0.04, 0.2 * opacity), max(0.3, 0.9 * opacity)
        ax.set(xlim=(-1.25, 1.25), ylim=(-1.3, 1.15), aspect="equal")  # room for names and for the legend below
        ax.set_axis_off()

    def draw(self, step: int) -> None:
        """Draw the walk after `step` nodes."""
        self._draw_gaps(step)
        self._draw_links(step)
        self._draw_nodes(step)
        write_labels(self.ax, self._titles, self.places, self.diameter / 2, step)
        self._draw_legend(step)

    def _draw_gaps(self, step: int) -> None:
        polygon = import_matplotlib("patches").Polygon
        place_of = dict(zip(self.walk.nodes, self.places, strict=True))
        for gap in self.walk.gaps:
            corners = np.array([place_of[label] for label in gap.loop])
            if gap.is_closed(step):
                self.ax.add_patch(polygon(corners, facecolor=COLORS["igt"], alpha=self._fill_alpha, zorder=1))
            elif gap.is_open(step):
                inner = corners + _INSET * (corners.mean(axis=0) - corners)
                self.ax.add_patch(
                    polygon(inner, fill=False, edgecolor=COLORS["igt"], alpha=self._outline_alpha,
                            linewidth=self._line_width, joinstyle="round", zorder=2)
                )  # fmt: skip

    def _draw_links(self, step: int) -> None:
        """Draw all edges, the path along edges, jumps between other nodes, and arrowheads on a directed graph."""
        links, path, jumps, arrows = (
            [pair for pair in pairs if max(pair) < step] for pairs in (self.links, self._path, self._jumps, self.arrows)
        )
        collections = import_matplotlib("collections")
        lines, color = collections.LineCollection, COLORS[self.walk.color]
        self.ax.add_collection(lines(self.places[links], color=COLORS["muted"], linewidth=0.9, alpha=0.6, zorder=2))
        self.ax.add_collection(lines(self.places[path], color=color, linewidth=self._line_width, zorder=3))
        self.ax.add_collection(
            lines(self.places[jumps], color=color, linewidth=self._line_width / 1.6, linestyle=":", zorder=3)
        )
        if self.arrows:
            colors = [color if pair in path else COLORS["muted"] for pair in arrows]
            heads = [compute_arrowhead(self.places[a], self.places[b], 0.003 * self.diameter) for a, b in arrows]
            self.ax.add_collection(collections.PolyCollection(heads, facecolors=colors, linewidths=0, zorder=3))

    def _draw_nodes(self, step: int) -> None:
        low, high = _SHADES
        shades = low + (high - low) * np.arange(step) / max(1, len(self.walk.nodes) - 1)
        x, y = self.places[:step].T
        self.ax.scatter(x, y, s=self.diameter**2, c=shades, cmap="Greys", vmin=0, vmax=1,
                        edgecolors=COLORS["text"], linewidths=[0.8] * (step - 1) + [2.2], zorder=4)  # fmt: skip
        for number in range(1, step + 1) if self._numbered else ():
            self.ax.text(x[number - 1], y[number - 1], str(number), ha="center", va="center_baseline",
                         fontsize=0.46 * self.diameter, color="white" if shades[number - 1] > 0.45 else "black",
                         zorder=5)  # fmt: skip

    def _draw_legend(self, step: int) -> None:
        patch, line = import_matplotlib("patches").Patch, import_matplotlib("lines").Line2D
        num_open = sum(gap.is_open(step) for gap in self.walk.gaps)
        num_closed = sum(gap.is_closed(step) for gap in self.walk.gaps)
        gaps, path = COLORS["igt"], COLORS[self.walk.color]
        handles: list[Any] = [
            patch(fill=False, edgecolor=gaps, alpha=self._outline_alpha, label=f"open gaps: {num_open}"),
            patch(facecolor=gaps, alpha=self._fill_alpha, label=f"closed gaps: {num_closed}"),
            line([], [], color=path, linewidth=1.5, label="path walked"),
        ]
        if self._jumps:
            handles.append(line([], [], color=path, linewidth=1.0, linestyle=":", label="jump, no link"))
        self.ax.legend(handles=handles, loc="lower center", ncols=2, frameon=False, fontsize=8, borderpad=0.1,
                       labelspacing=0.3)  # fmt: skip


def _list_links(graph: Graph, positions: Any) -> list[tuple[int, int]]:
    """Return the edges of a graph as pairs of steps of a walk that visits all nodes at these positions."""
    step_of = np.argsort(positions)
    rows = step_of[np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))]
    return list(zip(rows.tolist(), step_of[graph.indices].tolist(), strict=True))


def compute_arrowhead(start: Any, end: Any, size: float) -> Any:
    """Return the corners of an arrowhead past the middle of an edge, so that edges in both directions show two."""
    along = (end - start) / max(float(np.hypot(*(end - start))), 1e-9)
    across = np.array([-along[1], along[0]])
    tip = start + 0.58 * (end - start) + along * size / 2
    return [tip, tip - size * along + 0.4 * size * across, tip - size * along - 0.4 * size * across]


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
    places, shown = compute_unit_layout(drawn), drawn.positions(named)
    ax.set(xlim=(-1.2, 1.2), ylim=(-1.3, 1.12))  # room for the legend below
    ax.set_axis_off()
    edges = np.column_stack(drawn.skeleton.get_edges()[:2])
    inner = edges[np.isin(edges, shown).all(axis=1)]
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
    write_labels(ax, [drawn.title(int(v)) for v in shown], places[shown], 6.5)
    return ax


def save_animation(walk: DrawnWalk, path: str | Path, progress: Progress = no_progress) -> None:
    """Write a .gif with a frame per node, at most 60, atomically: the walk above, its growth below."""
    if Path(path).suffix.lower() != ".gif":
        raise SettingError(f"cannot write an animation to {path}; end its name in .gif.")
    image = import_optional("PIL.Image", "plot", "Pictures")
    renderer = _FrameRenderer(walk)
    steps = [round(step) for step in np.linspace(1, len(walk.nodes), min(len(walk.nodes), _MAX_FRAMES))]
    samples = [renderer.render(step) for step in {steps[0], steps[len(steps) // 2], steps[-1]}]
    palette = image.fromarray(np.vstack(samples)).quantize(_NUM_COLORS)
    shades = np.reshape(palette.getpalette(), (-1, 3))
    shades[shades.min(axis=1) > 247] = 255  # the background stays white
    palette.putpalette(shades.ravel().tolist())
    frames = []
    for number, step in enumerate(steps):
        progress(f"frame {number + 1} of {len(steps)}", number / len(steps))
        frames.append(image.fromarray(renderer.render(step)).quantize(palette=palette, dither=image.Dither.NONE))
    buffer = io.BytesIO()
    durations = [_FRAME_DURATION] * (len(frames) - 1) + [_LAST_DURATION]
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:], duration=durations, loop=0, optimize=False)
    with open_atomic(path) as stream:
        stream.write(buffer.getvalue())


class _FrameRenderer:
    """A figure on which a walk and its growth curves are drawn after any number of nodes."""

    def __init__(self, walk: DrawnWalk) -> None:
        self._walk = walk
        figure, (self._upper, lower) = create_figure(6.4, 7.2, rows=2, heights=(4, 1))
        self._canvas = import_matplotlib("backends.backend_agg").FigureCanvasAgg(figure)
        figure.set_dpi(_DPI)
        figure.suptitle(walk.title, fontsize=11, **LABEL_STYLE)
        (self._gap_line,) = lower.plot([], [], drawstyle="steps-post", color=COLORS["igt"], linewidth=2)
        lower.set_xlim(0.5, len(walk.beta1) + 0.5)
        set_limits_from_zero(lower, max(1.0, float(walk.beta1.max())))
        label_axes(hide_frame(lower), "gaps")
        self._reward_line = None
        if walk.reward != "igt" and walk.rewards:
            right, color = lower.twinx(), get_color(walk.reward, "text")
            marker = MARKERS["cpt"] if len(walk.rewards) == 1 else ""
            style = {"marker": marker, "linestyle": LINE_STYLES["cpt"], "color": color, "linewidth": 2}
            (self._reward_line,) = right.plot([], [], **style)
            low, high = min(0.0, *walk.rewards), max(0.0, *walk.rewards)
            right.set_ylim(low - 0.04 * (high - low), max(high + 0.1 * (high - low), 1e-9))
            right.set_ylabel(f"{shorten_text(walk.reward, 16)}, dashed", color=color, **LABEL_STYLE)
            right.spines[["top", "left"]].set_visible(False)
        self._set_caption(1)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # the layout is the same in all frames
        self._picture = WalkPicture(walk, self._upper)

    def render(self, step: int) -> Any:
        """Return an RGB image of the walk after `step` nodes."""
        ax = self._upper
        for artist in [*ax.patches, *ax.collections, *ax.texts, *ax.artists]:
            artist.remove()
        self._set_caption(step)
        self._gap_line.set_data(*build_step_curve(self._walk.beta1[:step]))
        if self._reward_line is not None:
            self._reward_line.set_data(np.arange(1, step + 1), [np.nan, *self._walk.rewards][:step])
        self._picture.draw(step)
        self._canvas.draw()
        return np.asarray(self._canvas.buffer_rgba())[:, :, :3].copy()

    def _set_caption(self, step: int) -> None:
        reward = f", {self._walk.reward} {self._walk.rewards[step - 2]:.3g}" if step > 1 and self._walk.rewards else ""
        text = f"{step} of {len(self._walk.nodes)}: {shorten_text(self._walk.nodes[step - 1], 40)}{reward}"
        self._upper.set_title(text, fontsize=10, color=COLORS["text"], **LABEL_STYLE)
