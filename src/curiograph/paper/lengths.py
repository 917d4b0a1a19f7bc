"""Walks of 5 to 50 nodes on 50-node graphs, by agents trained on walks of 10 nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curiograph.paper import curves
from curiograph.paper.curves import Curves, Place, compare_with_greedy, run_points
from curiograph.parallel import IN_PROCESS, Engine
from curiograph.progress import Progress, no_progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LENGTHS = (5, 10, 15, 20, 30, 40, 50)
"""Default lengths of the walks, in nodes."""
_FULL_WIDTH = 10  # beam has its full width up to this length


@dataclass(frozen=True)
class Settings(curves.Settings):
    """Settings of the experiment."""

    lengths: tuple[int, ...] = LENGTHS
    """Numbers of nodes of the walks."""
    nodes: int = 50
    """Number of nodes of the graphs."""


class Lengths(Curves):
    """Returns by the length of the walks."""

    name = "lengths"
    axis = "nodes of the walk"

    @property
    def introduction(self) -> str:
        return (
            f"Walks of different lengths on {self.settings.nodes}-node graphs; gnn and horizon were trained on walks "
            "of 10 nodes (horizon also on states of longer ones). planner, trained on the family, keeps 8 walks. "
            f"beam keeps 256 walks up to {_FULL_WIDTH} nodes and 32 beyond."
        )

    @property
    def remarks(self) -> list[str]:
        longest = max(point.at for point in self.points)
        last = [point for point in self.points if point.at == longest]
        return [*compare_with_greedy(last, f"Walks of {longest} nodes"), *self.missing]

    def plot(self) -> Axes:
        """Plot returns relative to beam's, since returns grow steeply with length."""
        return self.plot_panels(lambda point, column: point.compute_ratio(column, "beam"), "return / beam's")


def run(settings: Settings, engine: Engine = IN_PROCESS, progress: Progress = no_progress) -> Lengths:
    """Evaluate all agents at each length."""
    places = [
        Place(at=length, nodes=settings.nodes, steps=length, beam="beam" if length <= _FULL_WIDTH else "beam:32")
        for length in settings.lengths
    ]
    return Lengths(settings, run_points("lengths", settings, places, engine, progress))
