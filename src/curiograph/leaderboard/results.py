"""Results of an agent on the suite: one row per task, one row of the leaderboard, and their file."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.errors import FileFormatError
from curiograph.files import PathLike, open_atomic, wrap_parse_errors
from curiograph.graph.io.node_link import read_json
from curiograph.leaderboard.tasks import GROUPS
from curiograph.optional import import_optional
from curiograph.paper.comparison import REWARDS
from curiograph.paper.experiment import format_number, format_percent, format_table

if TYPE_CHECKING:
    import pandas as pd

_TITLES = {"families": "50 nodes", "sizes": "500 and 5,000 nodes", "lengths": "50-node walks", "real": "real networks"}


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


def format_leaderboard(results: Iterable[SuiteResult]) -> list[str]:
    """Format the leaderboard as Markdown, best agent first: mean shares by group and reward, and relative times."""
    rows = sorted((result.row() for result in results), key=_compute_overall, reverse=True)
    shown = [
        (f"{group} {reward}", f"{_TITLES[group]}, {reward}")
        for group in GROUPS
        for reward in REWARDS
        if any(f"{group} {reward}" in row for row in rows)
    ]
    lines = [
        [
            row["agent"],
            format_percent(_compute_overall(row)),
            *(format_percent(row.get(key, math.nan)) for key, _ in shown),
            f"{format_percent(row['lowest share'])} ({row['lowest task']})",
            format_number(row["relative time"], 1),
            row["tasks"],
        ]
        for row in rows
    ]
    columns = ["agent", "mean", *(title for _, title in shown), "lowest share", "time", "tasks"]
    return format_table(columns, lines)


def _compute_overall(row: dict[str, Any]) -> float:
    """Return the mean over groups and rewards; a group that was not evaluated counts as zero."""
    shares: Sequence[float] = [row.get(f"{group} {reward}", 0.0) for group in GROUPS for reward in REWARDS]
    return float(np.mean([0.0 if math.isnan(share) else share for share in shares]))
