"""Training log: one line of JSON per report, TensorBoard curves, and a plot at the end."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from curiograph.errors import FileFormatError
from curiograph.files import open_atomic
from curiograph.messages import shorten_text
from curiograph.plotting import COLORS, create_figure, save_figure
from curiograph.validation import is_number

LOG_FILE = "log.jsonl"

Report = dict[str, Any]
"""Metrics of a run at a validation step."""


class TrainingLog:
    """Reports of a run, in `log.jsonl` and, if tensorboard is installed, as TensorBoard scalars.

    A run that resumes at step n drops its reports of later steps, since it will repeat them.
    """

    def __init__(self, folder: Path, resumed_at: int) -> None:
        self._path = folder / LOG_FILE
        self.reports: list[Report] = [r for r in read_log(self._path) if r["step"] <= resumed_at]
        self._writer = _open_tensorboard(folder / "tensorboard", resumed_at)
        self._write()

    def add(self, report: Report) -> None:
        """Append a report."""
        self.reports.append(report)
        self._write()
        if self._writer is not None:
            for name, value in report.items():
                if name != "step" and value is not None:
                    self._writer.add_scalar(name, value, report["step"])
            self._writer.flush()

    def _write(self) -> None:
        with open_atomic(self._path) as stream:
            stream.write("".join(f"{json.dumps(report)}\n" for report in self.reports).encode())

    def close(self) -> None:
        """Close the TensorBoard files."""
        if self._writer is not None:
            self._writer.close()


def format_report(report: Report) -> str:
    """Format a report as one line.

    >>> format_report({"step": 1500, "loss": 0.25, "return": None, "validation": 3.0, "best": 3.5})
    'step 1,500, loss 0.25, validation 3, best 3.5'
    """
    values = {key: report.get(key) for key in ("loss", "return", "epsilon", "validation", "best")}
    shown = (f"{key} {value:.4g}" for key, value in values.items() if value is not None)
    return ", ".join([f"step {report['step']:,}", *shown])


def print_report(report: Report) -> None:
    """Print a report and the remaining time on stderr."""
    print(f"curiograph: {format_report(report)}, {report['left'] / 60:.1f} min left", file=sys.stderr, flush=True)


def _open_tensorboard(folder: Path, resumed_at: int) -> Any:
    """Return a TensorBoard writer, or None if tensorboard is not installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder), purge_step=resumed_at + 1)


def read_log(path: Path) -> list[Report]:
    """Read the reports of a log file; return an empty list if it does not exist."""
    if not path.is_file():
        return []
    try:
        reports = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
        for report in reports:
            if not isinstance(report, dict) or type(report.get("step")) is not int:
                raise ValueError("a line is not a report")
            if report.get("validation") is None:
                raise ValueError("a report has no validation return")
            metrics = (report.get(name) for name in ("loss", "return", "validation"))
            if not all(value is None or is_number(value) for value in metrics):
                raise ValueError("a report holds a value that is not a number")
    except (OSError, ValueError, RecursionError) as error:
        raise FileFormatError(
            f"{path}: is not a usable log ({shorten_text(error, 120)}); delete it to continue without its reports."
        ) from None
    return reports


def save_curves(reports: Sequence[Report], path: Path, title: str) -> None:
    """Plot loss and return against training steps."""
    figure, (left, right) = create_figure(9, 3.6, columns=2)
    steps = [report["step"] for report in reports]
    losses, returns = (
        [float("nan") if report[name] is None else report[name] for report in reports] for name in ("loss", "return")
    )
    left.plot(steps, losses, color=COLORS["muted"])
    left.set_yscale("log")
    left.set_ylabel("loss")
    right.plot(steps, returns, "--", color=COLORS["greedy"], label="while training")
    right.plot(steps, [report["validation"] for report in reports], color=COLORS["igt"], label="validation")
    best = max(reports, key=lambda report: report["validation"])
    right.plot(best["step"], best["validation"], "o", color=COLORS["cpt"], label=f"best: {best['validation']:.2f}")
    right.set_ylabel("mean return")
    right.legend(frameon=False)
    for panel in (left, right):
        panel.set_xlabel("steps of training")
    figure.suptitle(title)
    save_figure(left, path)
