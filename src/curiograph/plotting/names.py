"""Names beside nodes, where they hide neither each other nor the nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.graph.rows import Float64
from curiograph.graph.storage import shortened
from curiograph.plotting.palette import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LETTERS = 20  # of a name; longer ones are shortened
_ALL = 30  # nodes up to which every name is written; beyond, only those that find room
_SIDES = [(1, 0), (0, 1), (0, -1), (-1, 0), (0.8, 0.8), (-0.8, 0.8), (0.8, -0.8), (-0.8, -0.8)]
_SIZE = 7.5  # points


def name_offsets(
    ax: Axes, texts: Sequence[str], places: Float64, links: Sequence[tuple[int, int]], radius: float
) -> list[tuple[float, float] | None]:
    """How far from its node the middle of every name goes, in points: the side with the most room, None if there is
    none; `radius` is that of the nodes."""
    points = ax.transData.transform(places) * 72 / ax.figure.dpi
    taken = [_box(point, radius, radius) for point in points]
    crossed = np.concatenate([np.empty((0, 2)), *(np.linspace(points[a], points[b], 9)[1:-1] for a, b in links)])
    found: list[tuple[float, float] | None] = []
    for text, point in zip(texts, points, strict=True):
        half = np.array([0.29 * _SIZE * len(shortened(text, _LETTERS)), 0.6 * _SIZE])
        shifts = [np.array(side) * (radius + 1.5 + half) for side in _SIDES]
        boxes = [_box(point + shift, *half) for shift in shifts]
        covered = [sum(_overlap(box, other) for other in taken) for box in boxes]
        cost = [area + 4.0 * _inside(box, crossed) for area, box in zip(covered, boxes, strict=True)]
        best = int(np.argmin(cost))
        if len(texts) > _ALL and covered[best] > 0:
            found.append(None)
        else:
            taken.append(boxes[best])
            found.append((float(shifts[best][0]), float(shifts[best][1])))
    return found


def write_name(ax: Axes, text: str, place: Float64, offset: tuple[float, float]) -> None:
    """A name, shortened, at its offset from the node."""
    ax.annotate(
        shortened(text, _LETTERS),
        (float(place[0]), float(place[1])),
        xytext=offset,
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=_SIZE,
        color=COLOURS["ink"],
        zorder=6,
        bbox={"facecolor": "white", "alpha": 0.6, "edgecolor": "none", "pad": 0.4},
    )


def _box(middle: Any, across: float, up: float) -> Any:
    return np.array([middle[0] - across, middle[1] - up, middle[0] + across, middle[1] + up])


def _overlap(one: Any, other: Any) -> float:
    shared = np.minimum(one[2:], other[2:]) - np.maximum(one[:2], other[:2])
    return float(max(shared[0], 0.0) * max(shared[1], 0.0))


def _inside(box: Any, points: Any) -> int:
    """How many points a box holds."""
    return int(np.count_nonzero(np.all((points >= box[:2]) & (points <= box[2:]), axis=1)))
