"""What many trainings gave: a row for each, and means over seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from curiograph.agents.pretrained import TrainedAgent
from curiograph.errors import SettingError
from curiograph.messages import quote_value
from curiograph.optional import import_optional
from curiograph.plotting import plot_spread

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_MEANING = ("reward", "walk_nodes")  # what a return counts: across it, returns cannot be compared


@dataclass(frozen=True, eq=False)
class Training:
    """One training of many."""

    name: str
    """Of its folder and its agent: reward, agent, preset, seed, and each setting that was given as a list."""
    varied: Mapping[str, Any]
    """The same by name: `reward`, `agent`, `preset`, `seed`, and settings."""
    agent: TrainedAgent = field(repr=False)
    folder: Path = field(repr=False)

    @property
    def validation(self) -> float:
        """Mean return on validation graphs."""
        return float(self.agent.card["validation"]["return"])

    @property
    def step(self) -> int:
        """Step of the training at which the agent was the best."""
        return int(self.agent.card["validation"]["step"])

    def to_dict(self) -> dict[str, Any]:
        """Everything but the agent, as plain values."""
        found = {"validation": self.validation, "step": self.step, "folder": str(self.folder)}
        return {"name": self.name, **self.varied, **found}


@dataclass(frozen=True)
class SeedMean:
    """A setting, over the seeds that it was trained with."""

    varied: Mapping[str, Any]
    """As in `Training`, without the seed."""
    returns: tuple[float, ...]
    """Validation return of each seed."""

    @property
    def mean(self) -> float:
        """Mean validation return over seeds."""
        return float(np.mean(self.returns))

    @property
    def sem(self) -> float:
        """Standard error of the mean over seeds; NaN for one seed."""
        return float(np.std(self.returns, ddof=1) / np.sqrt(len(self.returns))) if len(self.returns) > 1 else np.nan

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {**self.varied, "seeds": len(self.returns), "mean": self.mean, "sem": self.sem}


@dataclass(frozen=True, eq=False)
class Trainings(Sequence[Training]):
    """Many trainings on the same graphs, in the order of what they were asked for: a list of `Training`."""

    rows: list[Training]
    failed: Mapping[str, str] = field(default_factory=dict)
    """What went wrong with trainings that did not come to their end, by name: their loss was no longer finite."""

    @overload
    def __getitem__(self, index: int) -> Training: ...
    @overload
    def __getitem__(self, index: slice) -> list[Training]: ...
    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Training]:
        return iter(self.rows)

    def of(self, **chosen: Any) -> Trainings:
        """Those with such values, as `of(reward="igt", discount=0.8)`."""
        rows = [row for row in self.rows if all(row.varied.get(name) == value for name, value in chosen.items())]
        if not rows:
            asked = ", ".join(f"{name}={quote_value(value)}" for name, value in chosen.items())
            known = {name: list(dict.fromkeys(row.varied[name] for row in self.rows)) for name in self.rows[0].varied}
            there = "; ".join(f"{name} {', '.join(map(str, values))}" for name, values in known.items())
            raise SettingError(f"there is no training with {asked}; there are {there}.")
        return Trainings(rows)

    @property
    def best(self) -> Training:
        """The one with the highest validation return; the first of equals."""
        for name in _MEANING:
            values = list(dict.fromkeys(row.varied.get(name) for row in self.rows))
            if len(values) > 1:
                raise SettingError(
                    f"the trainings differ in {name} ({', '.join(map(str, values))}), so their returns cannot be "
                    f"compared; choose first, as .of({name}={values[0]!r}).best."
                )
        return max(self.rows, key=lambda row: row.validation)

    @cached_property
    def means(self) -> list[SeedMean]:
        """Mean and standard error over seeds, for each of the other things that were varied."""
        groups: dict[tuple[Any, ...], list[Training]] = {}
        for row in self.rows:
            groups.setdefault(tuple(value for name, value in row.varied.items() if name != "seed"), []).append(row)
        return [
            SeedMean(
                {name: value for name, value in rows[0].varied.items() if name != "seed"},
                tuple(row.validation for row in rows),
            )
            for rows in groups.values()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything but the agents, as plain values."""
        return {
            "trainings": [row.to_dict() for row in self.rows],
            "means": [mean.to_dict() for mean in self.means],
            "failed": dict(self.failed),
        }

    def to_frame(self) -> pd.DataFrame:
        """One row per training as a pandas frame (`pip install curiograph[frame]`)."""
        return import_optional("pandas", "frame", "Frames").DataFrame([row.to_dict() for row in self.rows])

    def plot(self, ax: Axes | None = None) -> Axes:
        """The validation return of every training as a dot, in a line for each setting, with means over seeds."""
        told = [name for name in self.rows[0].varied if len({row.varied[name] for row in self.rows}) > 1]
        labels = [
            ", ".join(f"{name} {value}" for name, value in mean.varied.items() if name in told) or "all seeds"
            for mean in self.means
        ]
        ax = plot_spread(labels, [mean.returns for mean in self.means], ax)
        ax.set_xlabel("validation return")
        return ax
