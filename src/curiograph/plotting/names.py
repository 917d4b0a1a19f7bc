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
    taken = np.hstack([points - radius, points + radius])
    crossed = np.concatenate([np.empty((0, 2)), *(np.linspace(points[a], points[b], 9)[1:-1] for a, b in links)])
    towards = _towards_links(points, links)
    found: list[tuple[float, float] | None] = []
    for node, text in enumerate(texts):
        half = np.array([0.29 * _SIZE * len(shortened(text, _LETTERS)), 0.6 * _SIZE])
        shifts = [np.array(side) * (radius + 1.5 + half) for side in _SIDES]
        boxes = [np.hstack([points[node] + shift - half, points[node] + shift + half]) for shift in shifts]
        covered = [_overlap(box, taken) for box in boxes]
        cost = [
            area + 4.0 * _inside(box, crossed) + 8.0 * float(np.dot(side, towards[node]))
            for area, box, side in zip(covered, boxes, _SIDES, strict=True)
        ]
        best = int(np.argmin(cost))
        if len(texts) > _ALL and covered[best] > 0:
            found.append(None)
        else:
            taken = np.vstack([taken, boxes[best]])
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
        parse_math=False,
        bbox={"facecolor": "white", "alpha": 0.6, "edgecolor": "none", "pad": 0.4},
    )


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


def _inside(box: Any, points: Any) -> int:
    """How many points a box holds."""
    return int(np.count_nonzero(np.all((points >= box[:2]) & (points <= box[2:]), axis=1)))
