"""Profiles of Wikispeedia: measures of finished and unfinished games, and curiosity styles of players."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from curiograph.human.people.group_comparison import compare_groups
from curiograph.human.people.measure_catalog import MEASURES
from curiograph.human.people.profile import profile
from curiograph.human.trajectories import Trajectories
from curiograph.plotting import COLORS, create_figure
from reproduction.people import GAMES, load_games
from reproduction.report import Report, Setup, is_known, number

LEAST = 3
"""Minimum number of visits of a game."""
VISITS = 5
"""Number of first visits of games that are compared as well, without shorter games; nodes of a block for styles."""
_KEPT = ["measure", "mean", "other_mean", "effect", "effect_low", "effect_high", "p_holm"]
_STYLES = ("{effect:+.2f} ({effect_low:+.2f} to {effect_high:+.2f})", "{p_holm:.2g}")
_SERIES = {"whole": ("whole games", "igt", "o", -0.15), "first": (f"first {VISITS} visits", "cpt", "s", 0.15)}


def compute(setup: Setup, permutations: int = 9999) -> dict[str, Any]:
    """Compute and compare the profiles of finished and unfinished games, and the styles of players."""
    lists: list[Any] = []
    users: dict[Any, str] = {}  # group of the player of each game; a player is another one in each group
    players: list[str] = []
    for kind in GAMES:
        games, graph = load_games(kind, setup.folder)
        games = games[games.lengths >= LEAST]
        lists += games
        players += [f"{kind}: {games.user(number)}" for number in range(len(games))]
        users |= dict.fromkeys(players[-len(games) :], kind)
    walks = Trajectories.from_walks(lists, players, graph, user_columns={"games": users})
    enough = walks[walks.lengths >= VISITS]
    visit = np.arange(len(enough.nodes)) - np.repeat(enough.offsets[:-1], enough.lengths)
    people, rows = {}, []
    for place, (name, compared) in enumerate((("whole", walks), ("first", enough.select_visits(visit < VISITS)))):
        setup.progress(f"profiles of {name} games", place / 3)
        found = profile(graph, compared, engine=setup.engine)
        comparison = compare_groups(found, "games", permutations=permutations, seed=setup.seed)
        people[name] = {group: len(members) for group, members in comparison.people.items()}
        rows += [{"games": name, **row} for row in comparison.to_frame()[_KEPT].to_dict("records")]
    setup.progress("styles of players", 0.9)
    measured = profile(graph, games, measures=["clustering", "efficiency"], engine=setup.engine)
    styles = measured.styles(VISITS, seed=setup.seed)
    found_styles = {"answer": styles.answer, "reliability": styles.reliability, "people": len(styles.scores)}
    return {"games": people, "rows": rows, "styles": found_styles}


def report(document: dict[str, Any]) -> Report:
    """Show the differences between the groups, and the styles."""
    tables, remarks = {}, []
    rows = [row for row in document["rows"] if is_known(row["effect"])]
    names = [row["measure"] for row in rows if row["games"] == "whole"]
    figure, ax = create_figure(6.4, 1.2 + 0.26 * len(names))
    for games, (label, color, marker, shift) in _SERIES.items():
        counts = ", ".join(f"{group}: {count:,} people" for group, count in document["games"][games].items())
        cells = [
            [row["measure"], number(row["mean"], 3), number(row["other_mean"], 3)]
            + [style.format(**row) if is_known(row["effect"]) else "-" for style in _STYLES]
            for row in document["rows"]
            if row["games"] == games
        ]
        tables[f"{label.capitalize()} ({counts})"] = pd.DataFrame(
            cells, columns=["measure", *GAMES, "Hedges' g", "p, Holm"]
        )
        own = [row for row in rows if row["games"] == games]
        largest = sorted(own, key=lambda row: -abs(row["effect"]))[:3]
        named = ", ".join(f"{row['measure']} ({row['effect']:+.2f})" for row in largest)
        remarks.append(f"Largest differences of {label}, finished - unfinished, in Hedges' g: {named}.")
        drawn = [row for row in own if row["measure"] in names]
        places = [names.index(row["measure"]) + shift for row in drawn]
        low, high, values = ([row[key] for row in drawn] for key in ("effect_low", "effect_high", "effect"))
        ax.hlines(places, low, high, color=COLORS[color], linewidth=1.5)
        ax.plot(values, places, marker, color=COLORS[color], markersize=4, label=label)
    ax.axvline(0, color=COLORS["muted"], linewidth=0.8)
    ax.set_yticks(range(len(names)), [MEASURES[name].label for name in names])
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlabel("effect size (Hedges' g), finished - unfinished games")
    ax.legend(frameon=False)
    return Report(
        tables=tables,
        figure=figure,
        text=f"Measures of [profiles](../profile.md) of games of {LEAST} visits or more in Wikispeedia: means over "
        "people, Hedges' g of finished minus unfinished games with 95 % intervals over people, and p-values of "
        "permutations, adjusted by Holm's method. Styles: score of the players of unfinished games in blocks of "
        f"{VISITS} nodes, and its split-half reliability. Values are means over the games of a player. A game without "
        "a known player counts as a person: in the stored results, these are all finished games. A player with games "
        "of both groups counts once in each. Back clicks are resolved: the page is taken back. Games that are longer "
        "have more nodes, links and gaps for this reason alone: the comparison of the first pages leaves out shorter "
        "games and cuts longer ones.",
        remarks=[*remarks, f"Styles of players: {document['styles']['answer']}"],
    )
