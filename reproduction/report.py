"""Reports of experiments: tables, sentences and a figure, written as NAME.json, NAME.md and NAME.png."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import pandas as pd

from curiograph.files import open_atomic
from curiograph.parallel import IN_PROCESS, Engine
from curiograph.plotting import save_figure
from curiograph.progress import Progress, no_progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Setup:
    """What every experiment is given, beside its own options."""

    folder: Path | None = None
    """Folder of the datasets; by default that of CURIOGRAPH_DATA."""
    seed: int = 0
    """Seed of everything that is random."""
    engine: Engine = IN_PROCESS
    """Where tasks run and where finished ones are kept."""
    progress: Progress = no_progress
    """Progress callback."""

    def keep_in(self, name: str) -> Engine:
        """Return the engine with a folder of its own in the run folder, if there is one."""
        return replace(self.engine, run=self.engine.run and self.engine.run / name)


def average_studies(
    setup: Setup,
    name: str,
    run: Callable[..., dict[str, Any]],
    studies: Sequence[Any],
    counts: Sequence[int],
    *more: Any,
) -> list[dict[str, float]]:
    """Run each study `counts` times as a job, and return the means of what it found.

    `run` is called with the studies, further settings and the seed, and with a task: (number of the study, run).
    """
    tasks = [(number, each) for number, count in enumerate(counts) for each in range(count)]
    shared = (studies, *more, setup.seed)
    found = setup.engine.map(
        run, shared, tasks, name=name, key=[*shared, counts], unit="studies", progress=setup.progress
    )
    groups = pd.DataFrame(found, dtype=float).groupby([number for number, _ in tasks])
    return [means.dropna().to_dict() for _, means in groups.mean().iterrows()]


@dataclass(frozen=True, eq=False)
class Report:
    """What an experiment shows."""

    tables: Mapping[str, pd.DataFrame]
    """Tables by title; cells are texts."""
    text: str
    """What was computed, and how to read the tables."""
    figure: Figure | None = None
    """The figure, if there is one."""
    remarks: Sequence[str] = ()
    """Sentences on the results."""
    details: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    """Further tables by title, for the page alone."""

    def to_markdown(self) -> str:
        """Return a Markdown page."""
        parts = [self.text, *self.remarks]
        for title, frame in {**self.tables, **self.details}.items():
            parts += [f"{title}:", format_frame(frame)]
        return "\n\n".join(part for part in parts if part) + "\n"

    def to_text(self) -> str:
        """Return the tables and sentences for a terminal."""
        tables = [f"{title}\n{format_frame(frame, 'simple_outline')}" for title, frame in self.tables.items()]
        return "\n\n".join([*tables, *self.remarks])


def format_frame(frame: pd.DataFrame, style: str = "pipe") -> str:
    """Format a table of texts; `style` is one of tabulate. Wide columns are wrapped, except in Markdown."""
    shown = frame if style == "pipe" else frame.map(lambda cell: fill(cell, 40))
    text: str = shown.to_markdown(index=False, tablefmt=style, disable_numparse=True)
    return text


def write_document(document: Any, path: Path) -> None:
    """Write plain values as a JSON file."""
    with open_atomic(path) as stream:
        stream.write(f"{json.dumps(document, indent=1, allow_nan=False)}\n".encode())


def write_report(report: Report, name: str, out: Path) -> None:
    """Write the page and the figure of a report."""
    picture = "" if report.figure is None else f"\n![{name}]({name}.png)\n"
    with open_atomic(out / f"{name}.md") as stream:
        stream.write(f"{report.to_markdown()}{picture}".encode())
    if report.figure is not None:
        save_figure(report.figure.axes[0], out / f"{name}.png")


def add_legend(figure: Figure, columns: int) -> None:
    """Add one legend of the first panel below all panels."""
    handles, names = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=columns, frameon=False)


# ---- cells; None is an undefined value of a stored document ---------------------------------------------------------


def is_known(value: float | None) -> bool:
    """Return whether a value is defined."""
    return value is not None and not math.isnan(value)


def number(value: float | None, digits: int = 2) -> str:
    """Format a number with fixed decimals.

    >>> number(1.234), number(None)
    ('1.23', '-')
    """
    return f"{value:.{digits}f}" if value is not None and is_known(value) else "-"


def plus_minus(value: float | None, error: float | None, digits: int = 2) -> str:
    """Format a number with its error.

    >>> plus_minus(1.234, 0.1)
    '1.23 ± 0.10'
    """
    return f"{number(value, digits)} ± {number(error, digits)}" if is_known(value) else "-"


def percent(share: float | None, error: float | None = None) -> str:
    """Format a share in percent, with its error if that is known.

    >>> percent(0.123, 0.02), percent(-0.001)
    ('12 ± 2 %', '0 %')
    """
    if share is None or math.isnan(share):
        return "-"
    text = f"{round(100 * share)}"  # an integer has no negative zero
    return f"{text} ± {100 * error:.0f} %" if error is not None and is_known(error) else f"{text} %"


def interval(estimate: Mapping[str, Any], style: str = "+.4f") -> str:
    """Format a value with its interval.

    >>> interval({"value": 0.5, "low": 0.4, "high": 0.625}, ".1%")
    '50.0% (40.0% to 62.5%)'
    """
    value, low, high = (format(estimate[key], style) for key in ("value", "low", "high"))
    return f"{value} ({low} to {high})"
