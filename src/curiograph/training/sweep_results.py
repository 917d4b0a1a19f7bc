"""Results of `train_many`: one row per training, and means over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

_MUST_MATCH = ("reward", "walk_nodes")  # returns are comparable only if these settings are equal


@dataclass(frozen=True, eq=False)
class Training:
    """Result of one training run of `train_many`.

    Examples
    --------
    >>> import curiograph as cg
    >>> agent = cg.load_agent("igt-rg")
    >>> training = cg.Training("igt-gnn-best-seed0", {"reward": "igt", "seed": 0}, agent, Path("runs"))
    >>> training.step == agent.card["validation"]["step"]
    True
    """

    name: str
    """Name of the folder and the agent: reward, agent, preset, seed, and each setting that was given as a list."""
    varied: Mapping[str, Any]
    """Values of `reward`, `agent`, `preset`, `seed`, and of the settings that were given as lists."""
    agent: TrainedAgent = field(repr=False)
    """The trained agent."""
    folder: Path = field(repr=False)
    """Folder with the checkpoints, the log and the agent file."""

    @property
    def validation(self) -> float:
        """Mean return on the validation graphs."""
        return float(self.agent.card["validation"]["return"])

    @property
    def step(self) -> int:
        """Training step at which the agent had its best validation return."""
        return int(self.agent.card["validation"]["step"])

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serializable dict without the agent."""
        result = {"validation": self.validation, "step": self.step, "folder": str(self.folder)}
        return {"name": self.name, **self.varied, **result}


@dataclass(frozen=True)
class SeedMean:
    """Validation returns of one combination of settings, one per seed, with their mean and standard error.

    Examples
    --------
    >>> import curiograph as cg
    >>> result = cg.SeedMean({"discount": 0.9}, (1.0, 3.0))
    >>> result.mean, result.sem
    (2.0, 1.0)
    """

    varied: Mapping[str, Any]
    """Values as in `Training`, without the seed."""
    returns: tuple[float, ...]
    """Validation return for each seed."""

    @property
    def mean(self) -> float:
        """Mean validation return over seeds."""
        return float(np.mean(self.returns))

    @property
    def sem(self) -> float:
        """Standard error of the mean over seeds; NaN for one seed."""
        return float(np.std(self.returns, ddof=1) / np.sqrt(len(self.returns))) if len(self.returns) > 1 else np.nan

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serializable dict: the settings, the number of seeds, mean and standard error."""
        return {**self.varied, "seeds": len(self.returns), "mean": self.mean, "sem": self.sem}


@dataclass(frozen=True, eq=False)
class Trainings(Sequence[Training]):
    """Results of `train_many`: a sequence of `Training`, in the order of the arguments.

    Examples
    --------
    >>> import curiograph as cg
    >>> agent = cg.load_agent("igt-rg")
    >>> rows = [cg.Training(f"seed{n}", {"reward": "igt", "seed": n}, agent, Path("runs")) for n in range(3)]
    >>> trainings = cg.Trainings(rows)
    >>> trainings.best.name, trainings.of(seed=2)[0].name, len(trainings.means)
    ('seed0', 'seed2', 1)
    """

    rows: list[Training]
    """Completed trainings."""
    failed: Mapping[str, str] = field(default_factory=dict)
    """Error messages of the trainings that failed, by name."""

    @overload
    def __getitem__(self, index: int) -> Training: ...
    @overload
    def __getitem__(self, index: slice) -> list[Training]: ...
    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"Trainings({len(self)} completed, {len(self.failed)} failed)"

    def of(self, **chosen: Any) -> Trainings:
        """Select the trainings with the given settings, as in `of(reward="igt", discount=0.8)`.

        `failed` of the result is empty. Raise SettingError if no training has these settings.
        """
        rows = [row for row in self.rows if all(row.varied.get(name) == value for name, value in chosen.items())]
        if not rows:
            wanted = ", ".join(f"{name}={quote_value(value)}" for name, value in chosen.items())
            values_by_name = {
                name: list(dict.fromkeys(row.varied[name] for row in self.rows)) for name in self.rows[0].varied
            }
            existing = "; ".join(f"{name}: {', '.join(map(str, values))}" for name, values in values_by_name.items())
            raise SettingError(f"no training has {wanted}; the values are {existing}.")
        return Trainings(rows)

    @property
    def best(self) -> Training:
        """Training with the highest validation return; ties go to the first."""
        for name in _MUST_MATCH:
            values = list(dict.fromkeys(row.varied.get(name) for row in self.rows))
            if len(values) > 1:
                raise SettingError(
                    f"the trainings differ in {name} ({', '.join(map(str, values))}), so their returns cannot be "
                    f"compared; select one value first, as in .of({name}={values[0]!r}).best."
                )
        return max(self.rows, key=lambda row: row.validation)

    @cached_property
    def means(self) -> list[SeedMean]:
        """Mean and standard error over seeds for each combination of the other values."""
        groups: dict[tuple[tuple[str, Any], ...], list[float]] = {}
        for row in self.rows:
            key = tuple((name, value) for name, value in row.varied.items() if name != "seed")
            groups.setdefault(key, []).append(row.validation)
        return [SeedMean(dict(key), tuple(returns)) for key, returns in groups.items()]

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serializable dict without the agents."""
        return {
            "trainings": [row.to_dict() for row in self.rows],
            "means": [mean.to_dict() for mean in self.means],
            "failed": dict(self.failed),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with one row per training (`pip install curiograph[frame]`)."""
        return import_optional("pandas", "frame", "Frames").DataFrame([row.to_dict() for row in self.rows])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot validation returns: a row per combination of settings, a dot per seed, means with standard errors."""
        differing = [name for name in self.rows[0].varied if len({row.varied[name] for row in self.rows}) > 1]
        labels = [
            ", ".join(f"{name} {value}" for name, value in mean.varied.items() if name in differing) or "all seeds"
            for mean in self.means
        ]
        ax = plot_spread(labels, [mean.returns for mean in self.means], ax)
        ax.set_xlabel("validation return")
        return ax
