"""Results of an agent on the suite: one row per task, one row of the leaderboard, and their file."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.arrays import Float64
from curiograph.errors import FileFormatError
from curiograph.files import PathLike, open_atomic, wrap_parse_errors
from curiograph.graph.io.node_link import read_json
from curiograph.leaderboard.tasks import GROUPS, REWARDS
from curiograph.optional import import_optional

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class TaskResult:
    """Result of an agent on one task."""

    task: str
    """Name of the task."""
    group: str
    """Group of the task: families, sizes, lengths or real."""
    reward: str
    """Name of the reward."""
    walks: int
    """Number of walks."""
    mean: float
    """Mean return."""
    sem: float
    """Standard error of the mean, clustered by graph; over starts if the task has a single graph."""
    random: float
    """Mean return of `random` on the same walks."""
    greedy: float
    """Mean return of `greedy` on the same walks."""
    ceiling: float
    """Mean over walks of the highest return that wide searches found from the same start."""
    share: float
    """(agent - random) / (ceiling - random); NaN if ceiling and random are equal."""
    share_sem: float
    """Standard error of the share, clustered as `sem`."""
    microseconds: float
    """CPU time per decision on one core, in microseconds."""
    reference_microseconds: float
    """The same time of the reference agent, measured in turns with the agent."""

    @property
    def relative_time(self) -> float:
        """Time per decision relative to that of the reference agent."""
        return self.microseconds / self.reference_microseconds


@dataclass(frozen=True)
class SuiteResult:
    """Results of an agent on the tasks of a suite.

    Examples
    --------
    >>> import curiograph as cg
    >>> result = cg.suite("v1").select("igt-ws-50").evaluate("greedy")
    >>> [(task.task, round(task.mean, 2) == round(task.greedy, 2)) for task in result.tasks]
    [('igt-ws-50', True)]
    >>> list(result.row())
    ['agent', 'tasks', 'families igt', 'relative time', 'lowest share', 'lowest task']
    """

    suite: str
    """Version of the suite."""
    agent: str
    """Name of the agent."""
    reference: str
    """Name of the reference agent of the times."""
    version: str
    """Version of curiograph."""
    machine: str
    """Machine on which the times were measured."""
    tasks: list[TaskResult] = field(repr=False)
    """Result of each task."""

    def compute_mean_share(self, group: str, reward: str) -> float:
        """Return the mean share over the tasks of a group and a reward; NaN if there are none."""
        shares = [
            task.share
            for task in self.tasks
            if (task.group, task.reward) == (group, reward) and not math.isnan(task.share)
        ]
        return float(np.mean(shares)) if shares else math.nan

    def row(self) -> dict[str, Any]:
        """Return the row of the leaderboard: mean shares by group and reward, relative time, and the worst task."""
        row: dict[str, Any] = {"agent": self.agent, "tasks": len(self.tasks)}
        for group in GROUPS:
            for reward in REWARDS:
                if any((task.group, task.reward) == (group, reward) for task in self.tasks):
                    row[f"{group} {reward}"] = self.compute_mean_share(group, reward)
        ratios = [task.relative_time for task in self.tasks]
        known = [task for task in self.tasks if not math.isnan(task.share)]
        worst = min(known, key=lambda task: task.share) if known else None
        row["relative time"] = float(np.exp(np.mean(np.log(ratios))))
        row["lowest share"] = math.nan if worst is None else worst.share
        row["lowest task"] = "-" if worst is None else worst.task
        return row

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return asdict(self)

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with one row per task (`pip install curiograph[frame]`)."""
        rows = [asdict(task) | {"relative_time": task.relative_time} for task in self.tasks]
        return import_optional("pandas", "frame", "Frames").DataFrame(rows)

    def save(self, path: PathLike) -> None:
        """Write a JSON file that `load` reads."""
        document = self.to_dict()
        for task in document["tasks"]:
            task.update({key: None for key, value in task.items() if isinstance(value, float) and math.isnan(value)})
        with open_atomic(path) as stream:
            stream.write(f"{json.dumps(document, indent=1, allow_nan=False)}\n".encode())

    @classmethod
    def load(cls, path: PathLike) -> SuiteResult:
        """Read a file written by `save` or by `curiograph suite --out`."""
        document = read_json(path)
        with wrap_parse_errors(path, "suite result"):
            rows = []
            for row in document.pop("tasks"):
                values: dict[str, Any] = {key: math.nan if value is None else value for key, value in row.items()}
                rows.append(TaskResult(**values))
            result = cls(**document, tasks=rows)
        if not result.tasks:
            raise FileFormatError(f"{path}: has no tasks; write it again with `curiograph suite`.")
        return result


def compute_ratio_of_means(numerator: Float64, denominator: Float64) -> tuple[float, float]:
    """Return the ratio of two means and its standard error; both arrays hold one number per graph.

    The error is that of the ratio to first order, so variation that the graphs cause in both arrays cancels. Both
    values are NaN if the denominator is zero.

    >>> compute_ratio_of_means(np.array([2.0, 4.0]), np.array([1.0, 2.0]))
    (2.0, 0.0)
    """
    mean = float(denominator.mean())
    if mean == 0:
        return math.nan, math.nan
    ratio = float(numerator.mean()) / mean
    return ratio, compute_mean_and_error(numerator - ratio * denominator)[1] / abs(mean)


def compute_mean_and_error(values: Float64) -> tuple[float, float]:
    """Return the mean and its standard error, which is NaN for a single value."""
    error = float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return float(values.mean()), error
