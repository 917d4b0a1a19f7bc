"""Returns of Wikispeedia players: recurrence, a Levy walk for every person, and motives on choices with returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.files import PathLike
from curiograph.human.motives.catalog import MOTIVES
from curiograph.human.motives.hypotheses import hypotheses
from curiograph.human.returns.levy import fit_levy_walks
from curiograph.human.returns.recurrence import measure_returns
from curiograph.paper.experiment import Experiment, Table, format_table
from curiograph.paper.games import UNFINISHED, load_games
from curiograph.parallel import IN_PROCESS, Engine
from curiograph.plotting import COLORS, create_figure, get_color
from curiograph.progress import Progress, no_progress, split_progress
from curiograph.statistics.bootstrap import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STORED_PEOPLE = 1000  # of whom the parameters are stored for the figure
_COLOR_NAMES = {"uniform": "random", "degree": "max-degree", "levy": "human"}
_MEASURES = {
    "steps that return": "share",
    "steps that go back at once": "back",
    "reinforcement (median of players)": "reinforcement",
    "exponent (median of players)": "exponent",
    "spread of log reinforcement": "reinforcement_spread",
    "spread of log exponent": "exponent_spread",
}  # rows of the first table


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
class GameReturns(Experiment):
    """Returns on Wikispeedia."""

    name = "returns"

    settings: Settings
    """Settings of the run."""
    users: int
    """Number of players with a step."""
    steps: int
    """Number of steps."""
    median_time: float
    """Median number of steps between a return and the last visit of the page."""
    measures: Mapping[str, Estimate]
    """Recurrence, and parameters of the Levy walk."""
    curve: Mapping[str, Sequence[float]]
    """Distinct pages and share of returns by the number of visits."""
    return_times: Sequence[int]
    """Number of returns by the number of steps since the last visit."""
    people: Sequence[Sequence[float]]
    """Reinforcement and exponent of some of the players."""
    choices: int
    """Number of choices on which motives are compared."""
    gains: Mapping[str, Estimate]
    """Bits per choice of held-out players above the uniform choice, by motive, best first."""
    percentiles: Mapping[str, Estimate]
    """Mean percentile rank of the chosen page by motive."""
    adds: Mapping[str, Estimate]
    """Bits per choice that each motive adds to all others, in the model of weights."""

    @property
    def tables(self) -> list[Table]:
        """Recurrence with the parameters of the Levy walk, and the comparison with motives."""
        measured = [[row, str(self.measures[name])] for row, name in _MEASURES.items()]
        compared = [
            [name, str(gain), str(self.percentiles[name]), str(self.adds[name]) if name in self.adds else "-"]
            for name, gain in self.gains.items()
        ]
        size = f"{self.steps:,} steps by {self.users:,} players"
        return [
            Table(f"returns and Levy walks: {size}", ["measure", "value"], measured),
            Table(
                f"bits per choice better than chance: {self.choices:,} choices with returns",
                ["motive", "bits", "percentile", "bits added to all others"],
                compared,
            ),
        ]

    @property
    def sections(self) -> list[Table | str]:
        return [*self.tables]

    @property
    def remarks(self) -> list[str]:
        best = next(iter(self.gains))
        return [
            f"Median return time: {self.median_time:g} steps.",
            f"{best} explains choices with returns best, {self.gains[best]} bits better than chance; the Levy walk "
            f"{self.gains['levy']}.",
        ]

    def to_dict(self) -> dict[str, Any]:
        estimates = {
            name: {key: asdict(value) for key, value in getattr(self, name).items()}
            for name in ("measures", "gains", "percentiles", "adds")
        }
        return {
            "settings": asdict(self.settings),
            "users": self.users,
            "steps": self.steps,
            "median_time": self.median_time,
            "curve": self.curve,
            "return_times": self.return_times,
            "people": [[round(value, 4) for value in row] for row in self.people],
            "choices": self.choices,
            **estimates,
            "remarks": self.remarks,
        }

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> GameReturns:
        values = {name: value for name, value in document.items() if name not in ("settings", "remarks")}
        for name in ("measures", "gains", "percentiles", "adds"):
            values[name] = {key: Estimate(**value) for key, value in values[name].items()}
        return cls(settings=Settings(**document["settings"]), **values)

    def to_markdown(self) -> str:
        first, second = self.tables
        lines = [
            f"Wikispeedia, {self.settings.games}, back clicks kept as visits: {self.steps:,} steps by {self.users:,} "
            "players, with 95 % intervals. [Walks that return](../returns.md) has the definitions.",
            "",
            *format_table(first.columns, first.rows),
            "",
            f"Motives and the Levy walk on the same {self.choices:,} choices of held-out players, among all links of "
            "the page and the page before:",
            "",
            *format_table(second.columns, second.rows),
            "",
            *(f"- {line}" for line in self.remarks),
        ]
        return "\n".join(lines) + "\n"

    def plot(self) -> Axes:
        """Plot the share of returns, return times, parameters of players, and gains of motives."""
        _, cells = create_figure(9.0, 7.0, columns=2, rows=2)
        returning, times, people, gains = cells.flat
        visits = self.curve["visits"]
        returning.plot(visits, self.curve["returning"], color=COLORS["human"], linewidth=2)
        low, high = self.curve["returning_low"], self.curve["returning_high"]
        returning.fill_between(visits, low, high, color=COLORS["human"], alpha=0.2, linewidth=0)
        returning.set(xlabel="visits", ylabel="share of visits that return")
        counts = np.array(self.return_times)
        seen = np.flatnonzero(counts)
        times.loglog(seen, counts[seen] / counts.sum(), "o", color=COLORS["human"])
        times.set(xlabel="steps since the last visit", ylabel="share of returns")
        rho, mu = np.array(self.people).T
        people.semilogx(rho, mu, ".", color=COLORS["igt"], alpha=0.4, markersize=4, markeredgewidth=0)
        people.set(xlabel="reinforcement of an edge by a crossing", ylabel="exponent of the distance")
        for row, (name, gain) in enumerate(self.gains.items()):
            gains.barh(row, gain.value, color=get_color(_COLOR_NAMES.get(name, name)))
            gains.plot([gain.low, gain.high], [row, row], color="#555555", linewidth=1.5)
        gains.set_yticks(range(len(self.gains)), list(self.gains))
        gains.invert_yaxis()
        gains.set_xlabel("bits per choice better than chance")
        for ax in cells.flat:
            ax.spines[["top", "right"]].set_visible(False)
        axes: Axes = returning
        return axes


def run(
    settings: Settings, folder: PathLike | None, engine: Engine = IN_PROCESS, progress: Progress = no_progress
) -> GameReturns:
    """Measure and model returns on Wikispeedia, and compare the model with motives."""
    dataset, graph = load_games(settings.games, settings.max_games, folder, "keep")
    measuring, fitting, comparing = split_progress(progress, [1, 1, 4])
    measuring("measuring returns")
    returns = measure_returns(dataset.walks, seed=settings.seed)
    fitting("fitting Levy walks to every player")
    levy = fit_levy_walks(graph, dataset.walks, seed=settings.seed)
    with engine.connect():
        found = hypotheses(
            graph,
            dataset.walks,
            motives=settings.motives,
            weights=True,
            returns=True,
            seed=settings.seed,
            engine=engine,
            progress=comparing,
        )
    pairs = zip(levy.user_reinforcement, levy.user_exponent, strict=True)
    people = [[rho.value, mu.value] for rho, mu in pairs]
    stored = np.linspace(0, len(people) - 1, min(_STORED_PEOPLE, len(people))).astype(int)
    return GameReturns(
        settings=settings,
        users=len(returns.users),
        steps=int(returns.user_steps.sum()),
        median_time=returns.median_time,
        measures={name: getattr(returns if name in ("share", "back") else levy, name) for name in _MEASURES.values()},
        curve=returns.columns(),
        return_times=returns.return_times.tolist(),
        people=[people[index] for index in stored.tolist()],
        choices=found.choices,
        gains={name: fit.gain for name, fit in found.items()},
        percentiles={name: fit.percentile for name, fit in found.items()},
        adds={} if found.weights is None else {name: weight.adds for name, weight in found.weights.items()},
    )
