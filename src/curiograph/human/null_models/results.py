"""Results of `compare_growth`: curves of human walks and null models, and their differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from curiograph.arrays import Float64
from curiograph.notebook import render_result
from curiograph.optional import import_optional
from curiograph.skipped import Skipped
from curiograph.statistics.bootstrap import Estimate, make_columns

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

HUMAN = "human"
"""Name of the curves of the human walks."""
QUANTITIES = {
    "gaps": "information gaps",
    "bits": "compressibility (bits)",
    "conformable": "conformable degrees of freedom",
}
"""Quantities that are compared, with their titles: one for each theory, igt, cpt and cct."""
_UNITS = {"conformable": "conformable degrees of freedom"}  # names of quantities in sentences
_COLORS = {
    "rewired": "beam",
    "random-walk": "max-degree",
    "unbiased": "random",
    "shuffled": "greedy",
    "latticized": "planner",
    "network-rewired": "paper",
    "network-latticized": "horizon",
    "constant": "min-degree",
    "proportional": "gnn",
    "preferential": "horizon+beam",
}


@dataclass(frozen=True, eq=False)
class Curve:
    """A quantity after every step."""

    mean: Float64
    """Mean over walks."""
    stderr: Float64
    """Standard error of the mean, by resampling users."""

    def __repr__(self) -> str:
        return f"Curve({len(self.mean)} steps, {self.mean[-1]:.3g} ± {self.stderr[-1]:.2g} at the end)"

    def to_dict(self) -> dict[str, list[float]]:
        """Return the arrays as lists."""
        return {"mean": self.mean.tolist(), "stderr": self.stderr.tolist()}


@dataclass(frozen=True, eq=False)
class NullModel:
    """Growth of the walks of a null model, compared with that of human walks."""

    name: str
    """Name of the null model."""
    curves: dict[str, Curve]
    """Curves of `gaps`, `bits` and `conformable`, averaged over the replicates of each walk."""
    excess: dict[str, list[Estimate]]
    """Mean difference between human walks and the null model after every step, walk by walk."""
    area: dict[str, Estimate]
    """Mean of the excess over all steps."""

    def __repr__(self) -> str:
        return f"NullModel({self.name}: {', '.join(f'excess of {name} {area}' for name, area in self.area.items())})"

    @property
    def answer(self) -> str:
        """The result in one sentence."""
        parts = []
        for name, area in self.area.items():
            quantity = _UNITS.get(name, name)
            if area.clear:
                size = Estimate(abs(area.value), *sorted((abs(area.low), abs(area.high))))
                parts.append(f"{size} {'more' if area.value > 0 else 'fewer'} {quantity}")
            else:
                parts.append(f"no clear difference in {quantity} ({area.low:.3g} to {area.high:.3g})")
        return f"Against {self.name}, human walks show {', '.join(parts[:-1])} and {parts[-1]}."


@dataclass(frozen=True, eq=False)
class GrowthComparison(Mapping[str, NullModel]):
    """Null models by name, and the growth of the human walks that they are compared with.

    >>> from curiograph.graph.toys import cycle
    >>> from curiograph.human import Trajectories, compare_growth
    >>> walks = Trajectories.from_walks([[0, 1, 2, 3], [2, 3, 0, 1]], graph=cycle(4))
    >>> found = compare_growth(cycle(4), walks, nulls=["shuffled"], steps=4)
    >>> found.human["gaps"].mean.tolist(), found["shuffled"].excess["gaps"][-1].value
    ([0.0, 0.0, 0.0, 1.0], 0.0)
    """

    nulls: dict[str, NullModel]
    """Null models by name."""
    human: dict[str, Curve]
    """Curves of `gaps`, `bits` and `conformable` of the human walks."""
    walks: int
    """Number of walks that were measured."""
    users: int
    """Number of users who took these walks."""
    steps: int
    """Number of nodes of each walk."""
    replicates: int
    """Number of times that each null model was drawn."""
    skipped: Skipped = field(default_factory=Skipped)
    """What was dropped when the walks were read and matched with the graph."""

    def __getitem__(self, name: str) -> NullModel:
        return self.nulls[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.nulls)

    def __len__(self) -> int:
        return len(self.nulls)

    def __repr__(self) -> str:
        size = f"{self.walks:,} walks by {self.users:,} users, {self.steps} nodes"
        return f"GrowthComparison({size}; null models: {', '.join(self)})"

    def _repr_html_(self) -> str:
        lines = {f"human {quantity}": self.human[quantity].mean.tolist() for quantity in QUANTITIES}
        columns: dict[str, list[Any]] = {"null model": list(self)}
        for quantity in QUANTITIES:
            columns[f"excess {quantity}"] = [str(null.area[quantity]) for null in self.values()]
        return render_result(repr(self), columns, lines)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def columns(self) -> dict[str, list[Any]]:
        """Return a table with one row per null model and step: both means, and the excess with its bounds."""
        columns: dict[str, list[Any]] = {
            "null": [name for name in self for _ in range(self.steps)],
            "step": list(range(1, self.steps + 1)) * len(self),
        }
        for quantity in QUANTITIES:
            columns[f"human_{quantity}"] = self.human[quantity].mean.tolist() * len(self)
            columns[f"null_{quantity}"] = [
                mean for null in self.values() for mean in null.curves[quantity].mean.tolist()
            ]
            excesses = [estimate for null in self.values() for estimate in null.excess[quantity]]
            columns |= make_columns(f"excess_{quantity}", excesses)
        return columns

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "walks": self.walks,
            "users": self.users,
            "steps": self.steps,
            "replicates": self.replicates,
            "skipped": self.skipped.to_dict(),
            HUMAN: {name: self.human[name].to_dict() for name in QUANTITIES},
            "nulls": [
                {
                    "null": null.name,
                    "answer": null.answer,
                    **{name: null.curves[name].to_dict() for name in QUANTITIES},
                    "excess": {name: [asdict(estimate) for estimate in null.excess[name]] for name in QUANTITIES},
                    "area": {name: asdict(null.area[name]) for name in QUANTITIES},
                }
                for null in self.values()
            ],
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row per null model and step as a pandas frame (`pip install curiograph[frame]`)."""
        return import_optional("pandas", "frame", "Frames").DataFrame(self.columns())

    def plot(self) -> Figure:
        """Plot a panel per theory, with a line for human walks and one for each null model."""
        from curiograph.plotting import plot_panels

        lines = {HUMAN: self.human} | {name: null.curves for name, null in self.items()}
        panels = {
            title: {name: (curves[quantity].mean, curves[quantity].stderr) for name, curves in lines.items()}
            for quantity, title in QUANTITIES.items()
        }
        notes = dict.fromkeys(lines, f"{self.walks:,} walks, {self.replicates} times")
        notes[HUMAN] = f"{self.walks:,} walks by {self.users:,} users"
        return plot_panels(panels, "step", {name: _COLORS.get(name, name) for name in lines}, notes)
