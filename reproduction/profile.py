"""Profiles of Wikispeedia: measures of finished and unfinished games, and curiosity styles of players."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from curiograph.human.profile.measures import MEASURES
from curiograph.human.profile.profile import profile
from curiograph.human.profile.styles import RELIABLE

from curiograph.graph.csr import concatenate_ranges, freeze_array
from curiograph.graph.labels import ListLabels
from curiograph.human.trajectories import Trajectories
from curiograph.plotting import COLORS, create_figure
from reproduction.people import GAMES, load_games
from reproduction.report import Report, Setup, is_known, number

LEAST = 3
"""Minimum number of visits of a game."""
VISITS = 5
"""Number of first visits of games that are compared as well, without shorter games; visits of a block for styles."""
_KEPT = ("measure", "mean", "other_mean", "effect", "effect_low", "effect_high", "p_holm")
_SERIES = {"whole": ("whole games", "igt", "o", -0.15), "first": (f"first {VISITS} visits", "cpt", "s", 0.15)}


def compute(setup: Setup, permutations: int = 9999) -> dict[str, Any]:
    """Compute and compare the profiles of finished and unfinished games, and the styles of players."""
    loaded = {kind: load_games(kind, setup.folder) for kind in GAMES}
    graph = loaded["finished"][1]
    parts = {kind: games.walks.at_least(LEAST) for kind, (games, _) in loaded.items()}
    walks = _join_games(parts)
    people, rows = {}, []
    for place, (name, compared) in enumerate((("whole", walks), ("first", _take_first(walks.at_least(VISITS))))):
        setup.progress(f"profiles of {name} games", place / 3)
        found = profile(graph, compared, engine=setup.engine)
        comparison = found.compare_groups("games", permutations=permutations, seed=setup.seed)
        people[name] = {group: len(members) for group, members in comparison.people.items()}
        rows += [{"games": name, **row} for row in pd.DataFrame(comparison.columns())[list(_KEPT)].to_dict("records")]
    setup.progress("styles of players", 0.9)
    measured = profile(graph, parts["unfinished"], measures=["clustering", "efficiency"], engine=setup.engine)
    styles = measured.styles(VISITS, seed=setup.seed)
    kept = {key: value for key, value in styles.to_dict().items() if key in ("answer", "reliability", "curve")}
    return {"games": people, "rows": rows, "styles": {**kept, "people": len(styles)}}


def _join_games(parts: Mapping[str, Trajectories]) -> Trajectories:
    """Return all games, with a user of its own for each player and group, and the group as the user column `games`."""
    begins = np.cumsum([0, *(len(part.user_names) for part in parts.values())])
    return Trajectories.from_arrays(
        nodes=np.concatenate([part.nodes for part in parts.values()]),
        offsets=np.concatenate([[0], np.cumsum(np.concatenate([part.lengths for part in parts.values()]))]),
        names=next(iter(parts.values())).names,
        users=np.concatenate([part.users + begin for part, begin in zip(parts.values(), begins, strict=False)]),
        user_names=ListLabels([f"{group}: {user}" for group, part in parts.items() for user in part.user_names]),
        user_columns={"games": [group for group, part in parts.items() for _ in range(len(part.user_names))]},
    )


def _take_first(walks: Trajectories) -> Trajectories:
    """Return the first visits of each walk; all walks have so many."""
    entries = concatenate_ranges(walks.offsets[:-1], np.full(len(walks), VISITS))
    offsets = np.arange(len(walks) + 1) * VISITS
    return replace(walks, nodes=freeze_array(walks.nodes[entries]), offsets=freeze_array(offsets))


def report(document: dict[str, Any]) -> Report:
    """Show the differences between the groups, and the reliability of the style score."""
    tables, remarks, curve = {}, [], document["styles"]["curve"]
    rows = [row for row in document["rows"] if is_known(row["effect"])]
    names = [row["measure"] for row in rows if row["games"] == "whole"]
    figure, (left, right) = create_figure(9.0, 1.2 + 0.26 * len(names), columns=2, widths=[1.6, 1])
    for games, (label, color, marker, shift) in _SERIES.items():
        counts = ", ".join(f"{group}: {count:,} people" for group, count in document["games"][games].items())
        cells = [
            [row["measure"], number(row["mean"], 3), number(row["other_mean"], 3)]
            + (
                [f"{row['effect']:+.2f} ({row['effect_low']:+.2f} to {row['effect_high']:+.2f})"]
                if row in rows
                else ["-"]
            )
            + [f"{row['p_holm']:.2g}" if is_known(row["p_holm"]) else "-"]
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
        left.hlines(places, low, high, color=COLORS[color], linewidth=1.5)
        left.plot(values, places, marker, color=COLORS[color], markersize=4, label=label)
    left.axvline(0, color=COLORS["muted"], linewidth=0.8)
    left.set_yticks(range(len(names)), [MEASURES[name].label for name in names])
    left.set_ylim(len(names) - 0.5, -0.5)
    left.set_xlabel("effect size (Hedges' g), finished - unfinished games")
    left.legend(frameon=False)
    right.plot(curve["visits"], curve["reliability"], "o-", color=COLORS["igt"], markersize=4)
    right.fill_between(curve["visits"], curve["low"], curve["high"], color=COLORS["igt"], alpha=0.2, linewidth=0)
    right.axhline(RELIABLE, color=COLORS["cpt"], linewidth=0.8, linestyle="--")
    right.set(xlabel="visits of a player", ylabel="reliability of the style score", ylim=(-0.2, 1.02))
    tables["Reliability of the style score of players"] = pd.DataFrame(
        [
            [str(visits), str(people), f"{value:.2f} ({low:.2f} to {high:.2f})"]
            for visits, people, value, low, high in zip(*curve.values(), strict=True)
        ],
        columns=["visits", "people", "reliability"],
    )
    return Report(
        tables=tables,
        figure=figure,
        text=f"Measures of [profiles](../profile.md) of games of {LEAST} visits or more in Wikispeedia: means over "
        "people, Hedges' g of finished minus unfinished games with 95 % intervals over people, and p-values of "
        "permutations, adjusted by Holm's method. [Styles](../profile.md#curiosity-styles): score of the "
        "players of unfinished games in "
        f"blocks of {VISITS} visits, and its split-half reliability by number of visits of a player. Values are means "
        "over the games of a player. A game without a known player counts as a person: in the stored results, these "
        "are all finished games. A player with games of both groups counts once in each. Back clicks are resolved: the "
        "page is taken back. A measure is compared over the people for whom it is defined. Games that are longer have "
        "more nodes, links and gaps for this reason alone: the comparison of the first pages of games leaves out "
        "shorter games and cuts longer ones.",
        remarks=[*remarks, f"Styles of players: {document['styles']['answer']}"],
    )
