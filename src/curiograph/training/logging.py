"""What a training run tells: a line of JSON per report, TensorBoard's curves, and a picture at the end."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from curiograph.errors import FileFormatError
from curiograph.files import open_atomic
from curiograph.messages import shorten_text
from curiograph.plotting import COLORS, create_figure, save_figure
from curiograph.validation import is_number

Report = dict[str, Any]


class TrainingLog:
    """Reports of a run, in `log.jsonl` and, where the package is installed, for TensorBoard.

    A run that resumes at step n forgets what it had reported beyond n: it will report that again.
    """

    def __init__(self, folder: Path, resumed_at: int) -> None:
        self._path = folder / "log.jsonl"
        self.reports: list[Report] = [r for r in read_log(self._path) if r["step"] <= resumed_at]
        self._board = _board(folder / "tensorboard", resumed_at)
        self._write()

    def add(self, report: Report) -> None:
        """Report how things stand."""
        self.reports.append(report)
        self._write()
        if self._board is not None:
            for name, value in report.items():
                if name != "step" and value is not None:
                    self._board.add_scalar(name, value, report["step"])
            self._board.flush()

    def _write(self) -> None:
        with open_atomic(self._path) as stream:
            stream.write("".join(f"{json.dumps(report)}\n" for report in self.reports).encode())

    def close(self) -> None:
        """Let go of the files."""
        if self._board is not None:
            self._board.close()


def read_log(path: Path) -> list[Report]:
    """The reports in a log; none if there is no log."""
    if not path.is_file():
        return []
    try:
        reports = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    except (OSError, ValueError, RecursionError) as error:
        raise _unusable(path, shorten_text(error, 120)) from None
    if not all(map(_is_report, reports)):
        raise _unusable(path, "a line is no report")
    return reports


def _unusable(path: Path, reason: str) -> FileFormatError:
    return FileFormatError(f"{path}: is not a usable log ({reason}); delete it to go on without what it told.")


def _is_report(report: Any) -> bool:
    """Whether the curves can be drawn from it."""
    if not isinstance(report, dict) or type(report.get("step")) is not int:
        return False
    numbers = [report.get(name) for name in ("loss", "return", "validation")]
    return numbers[2] is not None and all(value is None or is_number(value) for value in numbers)


def _board(folder: Path, resumed_at: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder), purge_step=resumed_at + 1)


def save_curves(reports: Sequence[Report], path: Path, title: str) -> None:
    """Draw loss and return against the steps of training."""
    drawn, (left, right) = create_figure(10, 3.6, columns=2)
    steps = [report["step"] for report in reports]
    left.plot(steps, [_number(report["loss"]) for report in reports], color=COLORS["quiet"])
    left.set_yscale("log")
    left.set_ylabel("loss")
    right.plot(steps, [_number(report["return"]) for report in reports], "--", color=COLORS["greedy"],
               label="while training")  # fmt: skip
    right.plot(steps, [report["validation"] for report in reports], color=COLORS["igt"], label="validation")
    best = max(reports, key=lambda report: report["validation"])
    right.plot(best["step"], best["validation"], "o", color=COLORS["cpt"], label=f"best: {best['validation']:.2f}")
    right.set_ylabel("mean return")
    right.legend(frameon=False)
    for panel in (left, right):
        panel.set_xlabel("steps of training")
    drawn.suptitle(title)
    save_figure(left, path)


def _number(value: float | None) -> float:
    return float("nan") if value is None else value
