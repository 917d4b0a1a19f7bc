"""Motives of Wikispeedia players: weights over several motives at once, in the population and for every person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.files import PathLike
from curiograph.human.motives.catalog import MOTIVES
from curiograph.human.motives.hypotheses import hypotheses
from curiograph.human.motives.weight_results import MotiveWeight, plot_weights
from curiograph.paper.experiment import Experiment, Table, format_table
from curiograph.paper.games import UNFINISHED, load_games
from curiograph.parallel import IN_PROCESS, Engine
from curiograph.progress import Progress, no_progress
from curiograph.statistics.bootstrap import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STORED_PEOPLE = 1000  # of whom the weights are stored for the figure


@dataclass(frozen=True)
class Settings:
    """Settings of the experiment."""

    motives: Sequence[str] = tuple(MOTIVES)
    """Names of the motives."""
    games: str = UNFINISHED
    """Game file of Wikispeedia."""
    max_games: int | None = None
    """Maximum number of games, the first ones by time; None: all."""
    seed: int = 0
    """Seed of the groups of users, draws and intervals."""


@dataclass(frozen=True)
class MotiveWeighting(Experiment):
    """Weights of motives on Wikispeedia."""

    name = "motives"

    settings: Settings
    """Settings of the run."""
    choices: int
    """Number of choices."""
    users: int
    """Number of users."""
    gain: Estimate
    """Bits per choice of held-out people above the uniform choice, with weights that all people share."""
    personal: Estimate
    """Bits per choice that weights of the person add."""
    ranked: Mapping[str, Estimate]
    """Bits per choice of every motive by its ranks alone, best first."""
    weights: Mapping[str, MotiveWeight]
    """Weights by motive."""
    people: Sequence[Sequence[float]]
    """Weights of some of the people: people x motives."""
    answer: str
    """The result in a few sentences."""

    @property
    def table(self) -> Table:
        """One row per motive."""
        columns = [
            "motive", "mean weight", "spread over people", "reliability", "bits alone", "bits added to the others",
            "inflation", "bits by ranks alone",
        ]  # fmt: skip
        rows = [
            [
                name,
                str(weight.mean),
                str(weight.spread),
                f"{weight.reliability:.2f}",
                str(weight.alone),
                str(weight.adds),
                f"{weight.inflation:.2f}",
                str(self.ranked[name]),
            ]
            for name, weight in self.weights.items()
        ]
        return Table(f"weights of motives: {self.choices:,} choices by {self.users:,} players", columns, rows)

    @property
    def sections(self) -> list[Table | str]:
        return [self.table, self.answer]

    def to_dict(self) -> dict[str, Any]:
        return {
            "settings": asdict(self.settings),
            "choices": self.choices,
            "users": self.users,
            "gain": asdict(self.gain),
            "personal": asdict(self.personal),
            "ranked": {name: asdict(estimate) for name, estimate in self.ranked.items()},
            "weights": {name: asdict(weight) for name, weight in self.weights.items()},
            "people": [[round(value, 4) for value in row] for row in self.people],
            "answer": self.answer,
        }

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> MotiveWeighting:
        estimates = ("mean", "spread", "alone", "adds")
        return cls(
            settings=Settings(**document["settings"]),
            choices=document["choices"],
            users=document["users"],
            gain=Estimate(**document["gain"]),
            personal=Estimate(**document["personal"]),
            ranked={name: Estimate(**values) for name, values in document["ranked"].items()},
            weights={
                name: MotiveWeight(**{**values, **{key: Estimate(**values[key]) for key in estimates}})
                for name, values in document["weights"].items()
            },
            people=document["people"],
            answer=document["answer"],
        )

    def to_markdown(self) -> str:
        lines = [
            f"Wikispeedia, {self.settings.games}: {self.choices:,} choices of a new page by {self.users:,} players. "
            "All weights are estimated together; a unit is one standard deviation of the score of a motive between the "
            "candidates of a choice. Values with 95 % intervals. Bits are per choice of held-out players, compared "
            "with the uniform choice, or with all other motives (`bits added`). "
            "[Weights over several motives](../weights.md) has the definitions.",
            "",
            *format_table(self.table.columns, self.table.rows),
            "",
            self.answer,
        ]
        return "\n".join(lines) + "\n"

    def plot(self) -> Axes:
        axes: Axes = plot_weights(self.weights, np.array(self.people)).axes[0]
        return axes


def run(
    settings: Settings, folder: PathLike | None, engine: Engine = IN_PROCESS, progress: Progress = no_progress
) -> MotiveWeighting:
    """Estimate the weights of motives on Wikispeedia."""
    dataset, graph = load_games(settings.games, settings.max_games, folder)
    with engine.connect():
        found = hypotheses(
            graph,
            dataset.walks,
            motives=settings.motives,
            weights=True,
            seed=settings.seed,
            engine=engine,
            progress=progress,
        )
    weights = found.weights
    if weights is None:
        raise RuntimeError("no weights were estimated")
    stored = np.linspace(0, len(weights.users) - 1, min(_STORED_PEOPLE, len(weights.users))).astype(int)
    return MotiveWeighting(
        settings=settings,
        choices=weights.choices,
        users=len(weights.users),
        gain=weights.gain,
        personal=weights.personal,
        ranked={name: fit.gain for name, fit in found.items()},
        weights=weights.motives,
        people=weights.people[stored].tolist(),
        answer=weights.answer,
    )
