"""Walks of 5 to 50 nodes on 50-node graphs, by agents that were trained on walks of 10."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curiograph.paper import curves
from curiograph.paper.curves import Place, Point
from curiograph.parallel import IN_PROCESS, Engine
from curiograph.progress import Progress, no_progress

ALONG = "nodes of the walk"
LENGTHS = (5, 10, 15, 20, 30, 40, 50)
_WIDE = 10  # up to this length the planner has its full width


@dataclass(frozen=True)
class Settings(curves.Settings):
    """What is run."""

    lengths: tuple[int, ...] = LENGTHS
    nodes: int = 50


def run(settings: Settings, progress: Progress = no_progress, engine: Engine = IN_PROCESS) -> list[Point]:
    """All points."""
    places = [Place(n, settings.nodes, n, _planner(n)) for n in settings.lengths]
    return curves.run("lengths", settings, places, progress, engine)


def _planner(steps: int) -> str:
    return "beam" if steps <= _WIDE else "beam:32"


def remarks(points: Sequence[Point]) -> list[str]:
    """What the longest walks say, and what is left out."""
    longest = max(point.at for point in points)
    last = [point for point in points if point.at == longest]
    return [*curves.against_greedy(last, f"Walks of {longest} nodes"), *curves.missing_line(points)]


def to_markdown(points: Sequence[Point], settings: Settings) -> str:
    """The table of returns, and what it says."""
    intro = (
        f"Walks of different lengths on {settings.nodes}-node graphs; gnn and horizon were trained on walks of 10 "
        "nodes (horizon also on states of longer ones). "
        f"The planner, beam, keeps 256 walks up to {_WIDE} nodes and 32 beyond."
    )
    return curves.to_markdown(points, ALONG, intro, remarks(points))


def to_dict(points: Sequence[Point], settings: Settings) -> dict[str, Any]:
    """Everything as plain values."""
    return curves.to_dict(points, settings, remarks(points))


def save_plot(points: Sequence[Point], path: str | Path) -> None:
    """Returns, which grow steeply with length, divided by the planner's."""
    curves.save_plot(points, lambda point, column: point.ratio(column, "beam"), "return / beam's", ALONG, path)
