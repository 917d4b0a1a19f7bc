"""Language models and people in Wikispeedia on the same start and target; questions in `docs/language-models.md`."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pandas as pd

from curiograph.bootstrap import Estimate, estimate_means
from curiograph.errors import FileFormatError
from curiograph.files import list_data_folders
from curiograph.graph.graph import Graph
from curiograph.human.data.datasets import load_dataset
from curiograph.human.people.game_measures import distance_by_step
from curiograph.human.people.measure_catalog import MEASURES
from curiograph.human.people.profile import profile
from curiograph.human.trajectories import Trajectories
from curiograph.plotting import create_figure
from curiograph.plotting.palette import get_group_style
from reproduction.report import Report, Setup, interval

PEOPLE, MODEL, MEMORY = "people", "gpt-4o-mini", "gpt-4o-mini with memory"
"""Names of the groups; each walk has its group as its session."""
CONTRASTS = ((MODEL, PEOPLE), (MEMORY, PEOPLE), (MEMORY, MODEL))
"""Groups that are compared on the same pairs of start and target."""
GAMES_FILE = "language-models/games.tsv"
"""Games of the models in a folder of datasets."""
UNSELECTED, NEARLY = "W", "Margin_of_error"
"""First starts from which the model with memory played all pairs, and about half of them at random."""
NODES = 5
"""Number of distinct articles at which the growth of walks is compared."""
GROWTH = ("beta1", "compressibility")
LABELS = {
    "success_rest": "the same, without one finished game of people",
    "returned": "share of games with a return",
} | {name: measure.label for name, measure in MEASURES.items()}
SHOWN = (
    "success", "success_rest", "extra_steps", "returned", "loop_rate", "approach_early", "approach_late", "hub_seeking",
    *GROWTH,
)  # fmt: skip
WON = ("extra_steps", "approach_early", "approach_late", "hub_seeking")
"""Measures that are also compared between games that reach their target."""


AFTER = (
    "games", "games with a return", "two pages", "ended by it", "reached after it",
    "new page", "known page", "same link",
)  # fmt: skip
"""Counts of `follow_returns`: of games, of their first returns, and of the moves after all returns."""


def compute(setup: Setup, steps: int = 10) -> dict[str, Any]:
    """Compare the games of people and models within pairs of start and target."""
    games, graph, ends = load_groups(setup.folder)
    setup.progress("measures of games", 0.1)
    measured = profile(graph, games, measures="games", engine=setup.engine).to_frame()
    measured["returned"] = (measured["loop_rate"] > 0) | (np.array(ends) == "LOOP_DETECTED")
    setup.progress("growth at equal length", 0.4)
    grown = profile(graph, games, measures=GROWTH, nodes=NODES, engine=setup.engine).to_frame()
    frames = [measured.drop(columns=["visits", "nodes", "edges"]), grown[["user", "session", *GROWTH]]]
    pairs = pd.concat([frame.groupby(["user", "session"]).mean() for frame in frames], axis=1)
    counts = measured.groupby(["user", "session"]).size()
    rest = ((pairs["success"] * counts - 1) / (counts - 1)).clip(0)  # pairs were drawn from finished games of people
    pairs["success_rest"] = rest.where(pairs.index.get_level_values("session") == PEOPLE, pairs["success"])
    won = measured[measured["success"] == 1].groupby(["user", "session"])[list(WON)].mean()
    setup.progress("distances to the target", 0.7)
    followed = distance_by_step(graph, games, steps).groupby(["user", "session"]).mean()
    starts = pairs.index.get_level_values("user").str.partition(" > ").get_level_values(0)
    some = counts.unstack()[PEOPLE].reindex(pairs.index.get_level_values("user")).to_numpy() >= 5
    sets = {
        "all pairs": pairs.query("session != @MEMORY"),
        f"starts from {UNSELECTED} on": pairs[starts >= UNSELECTED],
        f"starts from {NEARLY} on": pairs[starts >= NEARLY],
        "pairs with 5 games of people or more": pairs[some].query("session != @MEMORY"),
        "games that reach the target": won.query("session != @MEMORY"),
    }
    lines = {f"starts from {UNSELECTED} on": followed[starts >= UNSELECTED], "all pairs": followed}
    return {
        "ends": Counter(f"{group}: {end}" for group, end in zip(measured["session"], ends, strict=True)),
        "contrasts": [row for name, table in sets.items() for row in compare_pairs(table, name)],
        "lines": [row for name, table in lines.items() for row in average_steps(table, name)],
        "returns": follow_returns(games),
    }


def load_groups(folder: Path | None) -> tuple[Trajectories, Graph, list[str]]:
    """Load the games of people and models on pairs of start and target that both played, and how each game ends.

    The user of a game is its pair, as in `start > target`; its session is its group. Markers at the end of the paths of
    models (`LOOP_DETECTED`, `NO_LINK`) are returned as ends; other ends are target and none.
    """
    data = load_dataset("wikispeedia", folder, back_clicks="keep")
    assert data.graph is not None  # Wikispeedia has one
    roots = [folder] if folder else list_data_folders()
    files = [root / GAMES_FILE for root in roots if (root / GAMES_FILE).is_file()]
    if not files:
        raise FileFormatError(f"{GAMES_FILE} is not in {', '.join(map(str, roots))}; give its folder with --from.")
    rows: list[tuple[str, str, list[Any], Any, str]] = []  # group, start as it is written, walk, target, end
    for row in pd.read_csv(files[0], sep="\t", quoting=3, keep_default_na=False).itertuples():
        names = str(row.path).split(";")
        end = names.pop() if names[-1] in ("LOOP_DETECTED", "NO_LINK") else ("target" if row.finished else "none")
        rows.append((str(row.model), names[0], [unquote(name) for name in names], unquote(str(row.target)), end))
    written = {walk[0]: start for _, start, walk, _, _ in rows}
    played = {(walk[0], target) for _, _, walk, target, _ in rows}
    people = data.walks
    for number, target in enumerate(np.asarray(people.targets).tolist()):
        walk, goal = people[number], people.names[target] if target >= 0 else None
        if (walk[0], goal) in played:
            rows.append((PEOPLE, written[str(walk[0])], walk, goal, "target" if goal in walk else "none"))
    rows = [row for row in rows if len(row[2]) > 1 and row[2][0] != row[3]]
    own, models = ({(row[2][0], row[3]) for row in rows if (row[0] == PEOPLE) == is_own} for is_own in (True, False))
    both = own & models
    kept = [row for row in rows if (row[2][0], row[3]) in both]
    groups, starts, walks, targets, ends = map(list, zip(*kept, strict=True))
    users = [f"{start} > {target}" for start, target in zip(starts, targets, strict=True)]
    games = Trajectories.from_walks(walks, users, data.graph, sessions=groups, targets=targets)
    return games, data.graph, ends


def compare_pairs(table: pd.DataFrame, name: str) -> list[dict[str, Any]]:
    """Return the means of two groups and their difference within pairs, with 95 % intervals over pairs.

    `table` has one row per pair and group: means over games. A pair counts if both groups have a value.
    """
    rows = []
    for first, second in CONTRASTS:
        for measure in [each for each in SHOWN if each in table]:
            wide = table[measure].astype(float).unstack().reindex(columns=[first, second]).dropna()
            if len(wide) < 2 or (measure == "success_rest" and second != PEOPLE):
                continue
            values = wide.assign(difference=wide[first] - wide[second]).to_numpy()
            found = dict(zip(("mean", "other_mean", "difference"), map(asdict, _estimate(values)), strict=True))
            groups = {"pairs": name, "group": first, "other": second}
            rows.append({**groups, "measure": measure, "count": len(wide), **found})
    return rows


def average_steps(table: pd.DataFrame, name: str) -> list[dict[str, Any]]:
    """Return the mean distance to the target after each move on the pairs that all groups of a figure played."""
    shown = [PEOPLE, MODEL] if name == "all pairs" else [PEOPLE, MODEL, MEMORY]
    wide = table.unstack().dropna(axis=1, how="all")
    wide = wide.loc[:, wide.columns.get_level_values(1).isin(shown)].dropna()
    estimates = zip(wide.columns, _estimate(wide.to_numpy()), strict=True)
    return [{"pairs": name, "step": step, "group": group, **asdict(each)} for (step, group), each in estimates]


def _estimate(values: Any) -> list[Estimate]:
    return estimate_means(values, np.ones(len(values), np.int64))


def follow_returns(games: Trajectories) -> dict[str, dict[str, Any]]:
    """Return for each group what happens after returns: in games with one, and at the next move of each return."""
    found: dict[str, dict[str, int]] = {}
    for number in range(len(games)):
        walk, target = games.walk(number).tolist(), np.asarray(games.targets)[number]
        latest: dict[int, int] = {}  # visit of each node
        own = found.setdefault(str(games.session(number)), dict.fromkeys(AFTER, 0))
        returns = 0
        for visit, node in enumerate(walk):
            if node in latest:
                returns += 1
                own["two pages"] += returns == 1 and visit - latest[node] == 2
                if visit + 1 < len(walk):
                    after = walk[visit + 1]
                    same, known = after == walk[latest[node] + 1], after in latest
                    own["same link" if same else "known page" if known else "new page"] += 1
            latest[node] = visit
        own["games"] += 1
        own["games with a return"] += returns > 0
        own["reached after it"] += returns > 0 and target in walk
        own["ended by it"] += returns == 1 and walk.index(walk[-1]) < len(walk) - 1
    return found


def report(document: dict[str, Any]) -> Report:
    """Show differences between groups, distances to the target by step, and what follows returns."""
    rows = pd.DataFrame(document["contrasts"])
    tables: dict[str, pd.DataFrame] = {}
    details: dict[str, pd.DataFrame] = {}
    for (pairs, group, other), part in rows.groupby(["pairs", "group", "other"], sort=False):
        keys = {"mean": ".3f", "other_mean": ".3f", "difference": "+.3f"}
        cells = [
            [LABELS[row["measure"]], f"{row['count']:,}", *(interval(row[key], style) for key, style in keys.items())]
            for row in part.to_dict("records")
        ]
        main = (pairs == "all pairs") if group == MODEL else pairs.startswith(f"starts from {UNSELECTED}")
        own = tables if main else details
        frame = pd.DataFrame(cells, columns=["measure", "pairs", group, other, f"{group} - {other}"])
        own[f"{group.capitalize()} and {other}, {pairs}"] = frame
    after = pd.DataFrame(document["returns"]).T.reset_index(names="group").astype(str)
    figure, axes = create_figure(9.6, 4.0, columns=2)
    for ax, (name, part) in zip(axes, pd.DataFrame(document["lines"]).groupby("pairs", sort=False), strict=True):
        for place, group in enumerate(each for each in (PEOPLE, MODEL, MEMORY) if each in set(part["group"])):
            line, style = part[part["group"] == group], get_group_style(place)
            ax.plot(line["step"], line["value"], label=group, **style)
            ax.fill_between(line["step"], line["low"], line["high"], color=style["color"], alpha=0.2, linewidth=0)
        ax.set_title(name)
        ax.set_ylim(0)
        ax.set_xlabel("moves")
        ax.set_ylabel("mean distance to the target")
        ax.legend(frameon=False, fontsize=8)
    return Report(
        tables={**tables, "Returns and the move after them (numbers of games and of returns)": after},
        details=details,
        figure=figure,
        text="Games of people and of GPT-4o-mini in Wikispeedia on the same start and target: means over pairs, each "
        "of the mean over its games, and differences within pairs, with 95 % intervals over pairs. A measure counts "
        f"the pairs in which both groups have a value. Gaps and compressibility: at {NODES} distinct articles. "
        "[What the files are](../language-models.md#what-the-files-are), how they favor people or understate their "
        "success and returns, and which pairs are compared. Figure: a game that has ended keeps its last distance. "
        "Two pages: first returns of the kind A, B, A.",
    )
