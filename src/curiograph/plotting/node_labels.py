"""Place labels next to nodes without covering each other, nodes, title or legend."""

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

_MAX_LETTERS, _TAIL = 20, 14  # of a label and of its second part, if it is cut in the middle
_MAX_ALL = 30  # nodes up to which every label is written; beyond, only those that find free space
_MAX_TRIED = 200  # labels for which free space is searched, evenly over all nodes: limits the time
_SIDES = [(1, 0), (0, 1), (0, -1), (-1, 0), (0.8, 0.8), (-0.8, 0.8), (0.8, -0.8), (-0.8, -0.8)]

Offset = tuple[float, float]


def shorten_labels(labels: Sequence[Hashable]) -> list[str]:
    """Shorten labels to a maximum length: at the end, or in the middle if they would become equal.

    >>> shorten_labels(["rome", "history of the kings of rome", "history of the kings of france"])
    ['rome', 'his... kings of rome', 'his...ings of france']
    """
    texts = [" ".join(str(label).split()) for label in labels]
    groups: dict[str, set[str]] = {}
    for text in texts:
        groups.setdefault(shorten_text(text, _MAX_LETTERS), set()).add(text)
    shortened = []
    for text in texts:
        short = shorten_text(text, _MAX_LETTERS)
        if len(groups[short]) > 1:  # show the part where the texts differ
            columns = enumerate(zip(*groups[short], strict=False))
            differ = next((place for place, letters in columns if len(set(letters)) > 1), 0)
            word = text.rfind(" ", 0, differ + 1) + 1
            start = max(3, min(word, len(text) - _TAIL))
            short = f"{text[:3]}...{text[start : start + _TAIL]}"
        shortened.append(short)
    return shortened


class NodeLabels:
    """Labels of nodes; their places are computed once, when the axes have their final size."""

    def __init__(
        self,
        labels: Sequence[Hashable],
        places: Float64,
        links: Sequence[tuple[int, int]],
        radius: float,
        size: float = 7.5,
    ) -> None:
        self._tried = [round(node) for node in np.linspace(0, len(labels) - 1, min(len(labels), _MAX_TRIED))]
        self._texts = replace_missing_glyphs(shorten_labels([labels[node] for node in self._tried]))
        self._places, self._links = places, links
        self._radius, self._size = radius, size
        self._frame: tuple[float, ...] = ()
        self._offsets: list[Offset | None] = []

    def write(self, ax: Axes, count: int | None = None) -> None:
        """Write the labels of the first `count` nodes, of all by default; they are placed when the axes are drawn."""
        from curiograph.plotting.draw_callback import DrawCallback

        visible = len(self._places) if count is None else count
        annotations = []
        for text, node in zip(self._texts, self._tried, strict=True):
            annotation = ax.annotate(
                text,
                (float(self._places[node, 0]), float(self._places[node, 1])),
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
            annotation.set_in_layout(False)  # labels do not change the size of the axes
            annotation.set_visible(node < visible)
            annotations.append(annotation)
        ax.add_artist(DrawCallback(lambda renderer: self._move(ax, annotations, visible, renderer)))

    def _move(self, ax: Axes, annotations: Sequence[Annotation], visible: int, renderer: Any) -> None:
        frame = ax.get_window_extent(renderer).bounds
        if frame != self._frame:
            self._frame, self._offsets = frame, self._find_offsets(ax, annotations, renderer)
        for node, annotation, offset in zip(self._tried, annotations, self._offsets, strict=True):
            annotation.set_visible(offset is not None and node < visible)
            annotation.set_position(offset or (0, 0))

    def _find_offsets(self, ax: Axes, annotations: Sequence[Annotation], renderer: Any) -> list[Offset | None]:
        """Return the offset of each label from its node in points, on the side with the most free space.

        None if there is no free space.
        """
        scale = 72 / ax.figure.dpi
        points = ax.transData.transform(self._places) * scale
        frame = _get_box(ax, renderer, scale)
        obstacles = [artist for artist in (ax.title, ax.get_legend()) if artist is not None and artist.get_visible()]
        nodes = np.hstack([points - self._radius, points + self._radius])
        taken = np.vstack([nodes, *(_get_box(artist, renderer, scale) for artist in obstacles)])
        link_points = [np.linspace(points[a], points[b], 33)[1:-1] for a, b in self._links]
        crossed = np.concatenate([np.empty((0, 2)), *link_points])
        directions = _average_directions(points, self._links)
        offsets: list[Offset | None] = []
        for node, annotation in zip(self._tried, annotations, strict=True):
            annotation.set_visible(True)
            extent = annotation.get_window_extent(renderer)
            half = np.array([extent.width, extent.height]) * scale / 2
            shifts = [np.array(side) * (self._radius + 2.0 + half) for side in _SIDES]
            boxes = [np.hstack([points[node] + shift - half, points[node] + shift + half]) for shift in shifts]
            covered = []
            for box in boxes:
                outside = float(np.prod(box[2:] - box[:2])) - _compute_overlap(box, frame[None])
                covered.append(_compute_overlap(box, taken) + 2.0 * outside)
            cost = [
                area
                + 3.0 * int(np.count_nonzero(np.all((crossed >= box[:2]) & (crossed <= box[2:]), axis=1)))
                + 8.0 * float(np.dot(side, directions[node]))  # prefer the side opposite to the links
                for area, box, side in zip(covered, boxes, _SIDES, strict=True)
            ]
            best = int(np.argmin(cost))
            if len(points) > _MAX_ALL and covered[best] > 0:
                offsets.append(None)
            else:
                taken = np.vstack([taken, boxes[best]])
                offsets.append((float(shifts[best][0]), float(shifts[best][1])))
        return offsets


def _get_box(artist: Any, renderer: Any, scale: float) -> Any:
    """Return the corners of an artist in points."""
    return np.asarray(artist.get_window_extent(renderer).extents) * scale


def _average_directions(points: Any, links: Sequence[tuple[int, int]]) -> Any:
    """Return the mean direction of the links of every node."""
    total = np.zeros_like(points)
    for a, b in links:
        difference = points[b] - points[a]
        unit = difference / max(float(np.hypot(*difference)), 1e-9)
        total[a] += unit
        total[b] -= unit
    return total / np.maximum(np.bincount(np.ravel(links).astype(int), minlength=len(points)), 1)[:, None]


def _compute_overlap(box: Any, others: Any) -> float:
    """Return the total area that a box shares with other boxes."""
    shared = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    return float(np.maximum(shared, 0.0).prod(axis=1).sum())
