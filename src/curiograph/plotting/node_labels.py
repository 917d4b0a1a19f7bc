"""Names beside nodes, where they hide neither each other nor the nodes, nor title and legend."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.arrays import Float64
from curiograph.messages import shorten_text
from curiograph.plotting.fonts import list_font_families, replace_missing_glyphs
from curiograph.plotting.palette import COLORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

_LETTERS, _TAIL = 20, 14  # of a name; longer ones are shortened, to their end at most
_ALL = 30  # nodes up to which every name is written; beyond, only those that find room
_TRIED = 200  # names that look for room at most, evenly over all nodes: bounds the time
_SIDES = [(1, 0), (0, 1), (0, -1), (-1, 0), (0.8, 0.8), (-0.8, 0.8), (0.8, -0.8), (-0.8, -0.8)]

Offset = tuple[float, float]


def short_names(labels: Sequence[Hashable]) -> list[str]:
    """Labels as texts of bounded length: cut at the end, or in the middle where they would look alike.

    >>> short_names(["rome", "history of the kings of rome", "history of the kings of france"])
    ['rome', 'his... kings of rome', 'his...ings of france']
    """
    whole = [" ".join(str(label).split()) for label in labels]
    alike: dict[str, set[str]] = {}
    for text in whole:
        alike.setdefault(shorten_text(text, _LETTERS), set()).add(text)
    return [_told_apart(text, alike[shorten_text(text, _LETTERS)]) for text in whole]


def _told_apart(text: str, alike: set[str]) -> str:
    """A text cut so that it shows where it begins to differ from others that begin like it."""
    if len(alike) == 1:
        return shorten_text(text, _LETTERS)
    differ = next((place for place, letters in enumerate(zip(*alike, strict=False)) if len(set(letters)) > 1), 0)
    word = text.rfind(" ", 0, differ + 1) + 1
    start = max(3, min(word, len(text) - _TAIL))
    return f"{text[:3]}...{text[start : start + _TAIL]}"


class NodeLabels:
    """Names of nodes at their places: found room once, whenever the axes have got their size."""

    def __init__(
        self,
        labels: Sequence[Hashable],
        places: Float64,
        links: Sequence[tuple[int, int]],
        radius: float,
        size: float = 7.5,
    ) -> None:
        self._tried = [round(place) for place in np.linspace(0, len(labels) - 1, min(len(labels), _TRIED))]
        self._texts = replace_missing_glyphs(short_names([labels[node] for node in self._tried]))
        self._places, self._links = places, links
        self._radius, self._size = radius, size
        self._frame: tuple[float, ...] = ()
        self._offsets: list[Offset | None] = []

    def write(self, ax: Axes, count: int | None = None) -> None:
        """Write the first names, all without `count`; they move to their places when the axes are drawn."""
        from curiograph.plotting.draw_callback import DrawCallback

        some = len(self._places) if count is None else count
        every = [self._annotation(ax, text, node) for text, node in zip(self._texts, self._tried, strict=True)]
        for name, node in zip(every, self._tried, strict=True):
            name.set_visible(node < some)
        ax.add_artist(DrawCallback(lambda renderer: self._move(ax, every, some, renderer)))

    def _annotation(self, ax: Axes, text: str, node: int) -> Annotation:
        place = self._places[node]
        written = ax.annotate(
            text,
            (float(place[0]), float(place[1])),
            xytext=(0, 0),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=self._size,
            fontfamily=list(list_font_families()),
            color=COLORS["ink"],
            zorder=6,
            parse_math=False,
            bbox={"facecolor": "white", "alpha": 0.6, "edgecolor": "none", "pad": 0.4},
        )
        written.set_in_layout(False)  # the axes keep their size wherever names go
        return written

    def _move(self, ax: Axes, every: Sequence[Annotation], count: int, renderer: Any) -> None:
        frame = ax.get_window_extent(renderer).bounds
        if frame != self._frame:
            self._frame, self._offsets = frame, self._found(ax, every, renderer)
        for node, name, offset in zip(self._tried, every, self._offsets, strict=True):
            name.set_visible(offset is not None and node < count)
            name.set_position(offset or (0, 0))

    def _found(self, ax: Axes, every: Sequence[Annotation], renderer: Any) -> list[Offset | None]:
        """How far from its node the middle of every name goes, in points: the side with the most room, None if there
        is none."""
        scale = 72 / ax.figure.dpi
        points = ax.transData.transform(self._places) * scale
        frame = _box(ax, renderer, scale)
        about = [part for part in (ax.title, ax.get_legend()) if part is not None and part.get_visible()]
        nodes = np.hstack([points - self._radius, points + self._radius])
        taken = np.vstack([nodes, *(_box(part, renderer, scale) for part in about)])
        ways = [np.linspace(points[a], points[b], 33)[1:-1] for a, b in self._links]
        crossed = np.concatenate([np.empty((0, 2)), *ways])
        towards = _towards_links(points, self._links)
        found: list[Offset | None] = []
        for node, name in zip(self._tried, every, strict=True):
            name.set_visible(True)
            extent = name.get_window_extent(renderer)
            half = np.array([extent.width, extent.height]) * scale / 2
            shifts = [np.array(side) * (self._radius + 2.0 + half) for side in _SIDES]
            boxes = [np.hstack([points[node] + shift - half, points[node] + shift + half]) for shift in shifts]
            covered = [_overlap(box, taken) + 2.0 * _outside(box, frame) for box in boxes]
            cost = [
                area + 3.0 * _inside(box, crossed) + 8.0 * float(np.dot(side, towards[node]))
                for area, box, side in zip(covered, boxes, _SIDES, strict=True)
            ]
            best = int(np.argmin(cost))
            if len(points) > _ALL and covered[best] > 0:
                found.append(None)
            else:
                taken = np.vstack([taken, boxes[best]])
                found.append((float(shifts[best][0]), float(shifts[best][1])))
        return found


def _box(part: Any, renderer: Any, scale: float) -> Any:
    """Corners of what is drawn, in points."""
    return np.asarray(part.get_window_extent(renderer).extents) * scale


def _towards_links(points: Any, links: Sequence[tuple[int, int]]) -> Any:
    """From every node the mean direction of its links: names go better to the other side."""
    found = np.zeros_like(points)
    for a, b in links:
        way = points[b] - points[a]
        unit = way / max(float(np.hypot(*way)), 1e-9)
        found[a] += unit
        found[b] -= unit
    return found / np.maximum(np.bincount(np.ravel(links).astype(int), minlength=len(points)), 1)[:, None]


def _overlap(box: Any, others: Any) -> float:
    """How much of a box others cover."""
    shared = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    return float(np.maximum(shared, 0.0).prod(axis=1).sum())


def _outside(box: Any, frame: Any) -> float:
    """How much of a box lies outside a frame."""
    return float(np.prod(box[2:] - box[:2])) - _overlap(box, frame[None])


def _inside(box: Any, points: Any) -> int:
    """How many points a box holds."""
    return int(np.count_nonzero(np.all((points >= box[:2]) & (points <= box[2:]), axis=1)))
