"""Walks of 10 nodes on graphs of 10 to 5,000 nodes, by agents trained on 50 nodes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curiograph.paper import curves
from curiograph.paper.curves import Curves, Place, Point, compare_with_greedy, run_points
from curiograph.paper.experiment import format_number, format_table
from curiograph.parallel import IN_PROCESS, Engine
from curiograph.progress import Progress, no_progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZES = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
"""Default sizes of the graphs, in nodes."""
_SMALL, _LARGE = 500, 5000  # sizes at which the costs of a walk by horizon are compared


@dataclass(frozen=True)
class Settings(curves.Settings):
    """Settings of the experiment."""

    sizes: tuple[int, ...] = SIZES
    """Numbers of nodes of the graphs."""
    steps: int = 10
    """Nodes per walk, including the start."""


class Sizes(Curves):
    """Returns and times by the size of the graphs."""

    name = "sizes"
    axis = "nodes of the graph"

    @property
    def introduction(self) -> str:
        return (
            f"Walks of {self.settings.steps} nodes on graphs of different sizes and the same mean degree (as far as "
            "there are enough nodes: the smallest RG and ER are nearly complete and have no gaps); gnn, horizon "
            "and planner were trained on 50 nodes. planner keeps 8 walks, beam 256."
        )

    @property
    def remarks(self) -> list[str]:
        return [*compare_with_greedy(self.points, "All sizes"), *self._compare_costs(), *self.missing]

    def _compare_costs(self) -> list[str]:
        """Compare the time of a walk by horizon on large and small graphs."""
        times = {
            (point.reward, point.family, point.at): point.milliseconds["horizon"]
            for point in self.points
            if "horizon" in point.milliseconds
        }
        ratios = {
            f"{reward} {family.upper()}": times[reward, family, _LARGE] / milliseconds
            for (reward, family, at), milliseconds in times.items()
            if at == _SMALL and (reward, family, _LARGE) in times
        }
        if not ratios:
            return []
        most = max(ratios, key=ratios.__getitem__)
        return [
            f"A walk by horizon on {_LARGE:,} nodes takes {min(ratios.values()):.2f} to {ratios[most]:.2f} times as "
            f"long as on {_SMALL} (most: {most})."
        ]

    def to_dict(self) -> dict[str, Any]:
        times = [
            {"reward": point.reward, "family": point.family, "at": point.at, **point.milliseconds}
            for point in self.points
        ]
        return super().to_dict() | {"milliseconds": times}

    def to_markdown(self) -> str:
        columns = self.columns
        times = [
            [
                point.reward,
                point.family.upper(),
                point.at,
                *(format_number(point.milliseconds.get(column, math.nan)) for column in columns),
            ]
            for point in self.points
        ]
        lines = [
            "",
            "Milliseconds per walk, with all walks of a point run together and timed once. The rewards along the walk "
            "are included, although gnn and horizon do not need them to act.",
            "",
            *format_table(["reward", "family", self.axis, *columns], times),
        ]
        return super().to_markdown() + "\n".join(lines) + "\n"

    def plot(self) -> Axes:
        """Plot returns against size."""
        return self.plot_panels(Point.compute_mean, "mean return", log=True)


def run(settings: Settings, engine: Engine = IN_PROCESS, progress: Progress = no_progress) -> Sizes:
    """Evaluate all agents at each size."""
    places = [Place(at=size, nodes=size, steps=settings.steps) for size in settings.sizes]
    return Sizes(settings, run_points("sizes", settings, places, engine, progress))
