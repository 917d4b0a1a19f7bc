"""The common shape of the experiments: a run returns an object that shows, stores and draws its results."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from curiograph.files import wrap_parse_errors
from curiograph.graph.io.node_link import read_json
from curiograph.plotting import save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Table:
    """A table with a title."""

    title: str
    """Title, without a period."""
    columns: Sequence[str]
    """Headings of the columns."""
    rows: Sequence[Sequence[object]]
    """Cells of each row, one per column."""


class Experiment(ABC):
    """A finished experiment.

    Each module of this package that reproduces a table or figure defines its settings, one subclass of this class, and
    a function `run` that takes the settings and returns an object of the subclass.
    """

    name: ClassVar[str]
    """Name of the command and of the files: NAME.json, NAME.md and NAME.png."""

    @property
    @abstractmethod
    def sections(self) -> list[Table | str]:
        """Tables and paragraphs that the command line shows."""

    @property
    def remarks(self) -> list[str]:
        """Sentences on what the results show and on what is missing."""
        return []

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Settings and results as plain values."""

    @abstractmethod
    def to_markdown(self) -> str:
        """Tables with an explanation, as a Markdown page."""

    @abstractmethod
    def plot(self) -> Axes:
        """Draw the figure and return one of its axes."""

    def save_plot(self, path: Path) -> None:
        """Write the figure to a file."""
        save_figure(self.plot(), path)

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Self:
        """Restore what the figure needs from a stored document."""
        raise NotImplementedError(f"{cls.name} cannot be restored from its document")


def redraw_figures(folder: Path) -> Iterator[str]:
    """Redraw the figures of the stored experiments in a folder; yield their names.

    `choices`, a second figure of `table2`, is left out: the ranks of single choices are not stored.
    """
    from curiograph.paper.conditions import Conditions  # these modules import this one
    from curiograph.paper.diffusion import Diffusion
    from curiograph.paper.examples import Examples
    from curiograph.paper.lengths import Lengths
    from curiograph.paper.meaning import Meaning
    from curiograph.paper.motives import MotiveWeighting
    from curiograph.paper.multiverse import Multiverse
    from curiograph.paper.pareto import Pareto
    from curiograph.paper.profile import ProfileComparison
    from curiograph.paper.real_networks import RealNetworks
    from curiograph.paper.recommenders import Recommenders
    from curiograph.paper.returns import GameReturns
    from curiograph.paper.sizes import Sizes
    from curiograph.paper.table1 import Table1
    from curiograph.paper.table2 import plot_improvements
    from curiograph.paper.walltime import Walltime

    experiments: tuple[type[Experiment], ...] = (
        Table1, Lengths, Sizes, Walltime, Pareto, RealNetworks, Examples, Conditions, MotiveWeighting, GameReturns,
        Meaning, ProfileComparison, Recommenders, Multiverse, Diffusion,
    )  # fmt: skip
    for experiment in experiments:
        stored = folder / f"{experiment.name}.json"
        if stored.exists():
            document = read_json(stored)
            with wrap_parse_errors(stored, "results"):
                experiment.from_dict(document).save_plot(folder / f"{experiment.name}.png")
            yield experiment.name
    stored = folder / "table2.json"
    if stored.exists():
        with wrap_parse_errors(stored, "results"):
            save_figure(plot_improvements(read_json(stored)["predictions"]), folder / "table2.png")
        yield "table2"


def format_number(value: float, digits: int = 2) -> str:
    """Format a number with fixed decimals; NaN as a dash."""
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def format_percent(value: float, error: float = math.nan) -> str:
    """Format a share in percent, with its error unless that is NaN."""
    if math.isnan(value):
        return "-"
    percent = round(100 * value)  # an integer, which has no negative zero
    return f"{percent} %" if math.isnan(error) else f"{percent} ± {100 * error:.0f} %"


def format_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Format a Markdown table as lines."""
    head = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    return [*head, *(f"| {' | '.join(map(str, row))} |" for row in rows)]
