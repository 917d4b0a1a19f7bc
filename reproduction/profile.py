"""Profiles of Wikispeedia: measures of finished and unfinished games, and curiosity styles of players."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from curiograph.files import PathLike
from curiograph.graph.csr import concatenate_ranges, freeze_array
from curiograph.graph.labels import ListLabels
from curiograph.human.data.load import load_dataset
from curiograph.human.data.wikispeedia import read_wikispeedia
from curiograph.human.profile.measures import MEASURES
from curiograph.human.profile.profile import profile
from curiograph.human.profile.styles import RELIABLE
from curiograph.human.trajectories import Trajectories
from curiograph.paper.experiment import Experiment, Table, format_number, format_table
from curiograph.parallel import IN_PROCESS, Engine
from curiograph.plotting import COLORS, create_figure
from curiograph.progress import Progress, no_progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GROUPS = {"finished": "paths_finished.tsv", "unfinished": "paths_unfinished.tsv"}
"""Groups of games that are compared, and their files."""
_NOTES = (
    "Values are means over the games of a player. A game without a known player counts as a person: in the stored "
    "results, these are all finished games. A player with games of both groups counts once in each. Back clicks are "
    "resolved: the page is taken back. A measure is compared over the people for whom it is defined. Weights and "
    "similarities are not used.",
    "Games that are longer have more nodes, links and gaps for this reason alone: the comparison of the first pages of "
    "games leaves out shorter games and cuts longer ones.",
)


@dataclass(frozen=True)
class Settings:
    """Settings of the experiment."""

    least: int = 3
    """Minimum number of visits of a game."""
    visits: int = 5
    """Number of first visits of games that are compared as well, without shorter games."""
    block: int = 5
    """Number of visits of a block for the score of styles."""
    permutations: int = 9999
    """Number of permutations of the tests."""
    seed: int = 0
    """Seed of resampling and permutations."""


@dataclass(frozen=True)
class ProfileComparison(Experiment):
    """Measures of finished and unfinished games, and styles of the players of unfinished games."""

    name = "profile"

    settings: Settings
    """Settings of the run."""
    games: dict[str, dict[str, int]]
    """Number of people by comparison (`whole` or `first`) and group."""
    rows: list[dict[str, Any]]
    """Comparison of one measure each: means, Hedges' g with its interval, and the adjusted p-value."""
    styles: dict[str, Any]
    """Answer, reliability, people and curve of the styles of players of unfinished games."""

    def select(self, games: str) -> list[dict[str, Any]]:
        """Return the rows of one comparison."""
        return [row for row in self.rows if row["games"] == games]

    def tabulate(self, games: str) -> Table:
        """Return the table of one comparison, `whole` or `first`."""
        title = "Whole games" if games == "whole" else f"First {self.settings.visits} visits"
        counts = ", ".join(f"{group}: {count:,} people" for group, count in self.games[games].items())
        rows = [
            [
                row["measure"],
                format_number(row["mean"], 3),
                format_number(row["other_mean"], 3),
                f"{row['effect']:+.2f} ({row['effect_low']:+.2f} to {row['effect_high']:+.2f})"
                if math.isfinite(row["effect"])
                else "-",
                f"{row['p_holm']:.2g}" if math.isfinite(row["p_holm"]) else "-",
            ]
            for row in self.select(games)
        ]
        return Table(f"{title} ({counts})", ["measure", *GROUPS, "Hedges' g", "p, Holm"], rows)

    @property
    def table(self) -> Table:
        """Reliability of the style score by number of visits."""
        curve = self.styles["curve"]
        rows = [
            [visits, people, f"{value:.2f} ({low:.2f} to {high:.2f})"]
            for visits, people, value, low, high in zip(*curve.values(), strict=True)
        ]
        return Table("Reliability of the style score of players", ["visits", "people", "reliability"], rows)

    @property
    def sections(self) -> list[Table | str]:
        return [self.tabulate("whole"), self.tabulate("first"), self.table]

    @property
    def remarks(self) -> list[str]:
        sentences = []
        for games in ("whole", "first"):
            known = [row for row in self.select(games) if math.isfinite(row["effect"])]
            largest = sorted(known, key=lambda row: -abs(row["effect"]))[:3]
            named = ", ".join(f"{row['measure']} ({row['effect']:+.2f})" for row in largest)
            title = "whole games" if games == "whole" else f"the first {self.settings.visits} visits"
            sentences.append(f"Largest differences of {title}, finished - unfinished, in Hedges' g: {named}.")
        return [*sentences, f"Styles of players: {self.styles['answer']}"]

    def to_dict(self) -> dict[str, Any]:
        return {
            "settings": asdict(self.settings),
            "games": self.games,
            "remarks": self.remarks,
            "rows": self.rows,
            "styles": self.styles,
        }

    def to_markdown(self) -> str:
        settings = self.settings
        lines = [
            f"Measures of [profiles](../profile.md) of games of {settings.least} visits or more in Wikispeedia: means "
            "over people, Hedges' g of finished minus unfinished games with 95 % intervals over people, and p-values "
            f"of {settings.permutations:,} permutations, adjusted by Holm's method. [Styles](../styles.md): score of "
            f"the players of unfinished games in blocks of {settings.block} visits, and its split-half reliability by "
            "number of visits of a player.",
            *(line for remark in (*self.remarks, *_NOTES) for line in ("", remark)),
        ]
        for table in (self.tabulate("whole"), self.tabulate("first"), self.table):
            lines += ["", f"{table.title}:", "", *format_table(table.columns, table.rows)]
        return "\n".join(lines) + "\n"

    def plot(self) -> Axes:
        """Plot the effect sizes of all measures, and the reliability of the style score by number of visits."""
        names = [row["measure"] for row in self.select("whole") if math.isfinite(row["effect"])]
        _, (left, right) = create_figure(9.0, 1.2 + 0.26 * len(names), columns=2, widths=[1.6, 1])
        series = (
            ("whole", "whole games", "igt", -0.15),
            ("first", f"first {self.settings.visits} visits", "cpt", 0.15),
        )
        for games, label, color, shift in series:
            rows = [row for row in self.select(games) if row["measure"] in names and math.isfinite(row["effect"])]
            places = np.array([names.index(row["measure"]) + shift for row in rows])
            values = np.array([[row["effect"], row["effect_low"], row["effect_high"]] for row in rows]).T
            left.hlines(places, values[1], values[2], color=COLORS[color], linewidth=1.5)
            left.plot(values[0], places, "o" if games == "whole" else "s", color=COLORS[color], ms=4, label=label)
        left.axvline(0, color=COLORS["muted"], linewidth=0.8)
        left.set_yticks(range(len(names)), [MEASURES[name].label for name in names])
        left.set_ylim(len(names) - 0.5, -0.5)
        left.set_xlabel("effect size (Hedges' g), finished - unfinished games")
        left.legend(frameon=False)
        curve = self.styles["curve"]
        right.plot(curve["visits"], curve["reliability"], "o-", color=COLORS["igt"], markersize=4)
        right.fill_between(curve["visits"], curve["low"], curve["high"], color=COLORS["igt"], alpha=0.2, linewidth=0)
        right.axhline(RELIABLE, color=COLORS["cpt"], linewidth=0.8, linestyle="--")
        right.set(xlabel="visits of a player", ylabel="reliability of the style score", ylim=(-0.2, 1.02))
        for ax in (left, right):
            ax.spines[["top", "right"]].set_visible(False)
        axes: Axes = left
        return axes

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Self:
        rows = [{key: math.nan if value is None else value for key, value in row.items()} for row in document["rows"]]
        return cls(Settings(**document["settings"]), document["games"], rows, document["styles"])


def run(
    settings: Settings,
    folder: PathLike | None = None,
    engine: Engine = IN_PROCESS,
    progress: Progress = no_progress,
) -> ProfileComparison:
    """Compute and compare the profiles of finished and unfinished games, and the styles of players.

    Parameters
    ----------
    settings : Settings
        Choice of games, block and number of permutations.
    folder : str or path, optional
        Folder of the datasets; default CURIOGRAPH_DATA.
    engine : Engine
        Execution backend.
    progress : callable
        Called with a message and the completed share.
    """
    source = load_dataset("wikispeedia", folder).source_path
    parts = {group: read_wikispeedia(source / file) for group, file in GROUPS.items()}
    graph = next(iter(parts.values())).graph
    assert graph is not None  # Wikispeedia has one
    walks = _join_games({group: part.walks.at_least(settings.least) for group, part in parts.items()})
    games: dict[str, dict[str, int]] = {}
    rows: list[dict[str, Any]] = []
    for number, (name, compared_walks) in enumerate(
        (("whole", walks), ("first", _take_first(walks.at_least(settings.visits), settings.visits)))
    ):
        progress(f"profiles of {name} games", number / 3)
        found = profile(graph, compared_walks, engine=engine)
        progress(f"comparison of {name} games", (number + 0.5) / 3)
        compared = found.compare_groups("games", permutations=settings.permutations, seed=settings.seed)
        games[name] = {group: len(people) for group, people in compared.people.items()}
        columns = compared.columns()
        kept = ("measure", "mean", "other_mean", "effect", "effect_low", "effect_high", "p_holm")
        rows += [
            {"games": name, **dict(zip(kept, row, strict=True))}
            for row in zip(*(columns[column] for column in kept), strict=True)
        ]
    progress("styles of players", 0.9)
    players = parts["unfinished"].walks.at_least(settings.least)
    measured = profile(graph, players, measures=["clustering", "efficiency"], engine=engine)
    found_styles = measured.styles(settings.block, seed=settings.seed)
    styles = {key: value for key, value in found_styles.to_dict().items() if key not in ("people", "left_out")}
    return ProfileComparison(settings, games, rows, styles | {"people": len(found_styles)})


def _join_games(parts: Mapping[str, Trajectories]) -> Trajectories:
    """Return all games, with a user of its own for each player and group, and the group as the user column `games`."""
    first = next(iter(parts.values()))
    names = [f"{group}: {user}" for group, part in parts.items() for user in part.user_names]
    num_users = np.cumsum([0, *(len(part.user_names) for part in parts.values())])
    return Trajectories.from_arrays(
        nodes=np.concatenate([part.nodes for part in parts.values()]),
        offsets=np.concatenate([[0], np.cumsum(np.concatenate([part.lengths for part in parts.values()]))]),
        names=first.names,
        users=np.concatenate([part.users + begin for part, begin in zip(parts.values(), num_users, strict=False)]),
        user_names=ListLabels(names),
        user_columns={"games": [group for group, part in parts.items() for _ in range(len(part.user_names))]},
    )


def _take_first(walks: Trajectories, visits: int) -> Trajectories:
    """Return the first visits of each walk; all walks have so many."""
    return replace(
        walks,
        nodes=freeze_array(walks.nodes[concatenate_ranges(walks.offsets[:-1], np.full(len(walks), visits))]),
        offsets=freeze_array(np.arange(len(walks) + 1) * visits),
    )
