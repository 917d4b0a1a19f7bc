"""Motives of Wikispeedia players: weights over several motives at once, in the population and for every person."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from curiograph.human.motives.catalog import MOTIVES
from curiograph.human.motives.hypotheses import hypotheses
from curiograph.human.motives.motive_fits import WEIGHT_FIELDS
from curiograph.plotting import COLORS, create_figure, get_color
from reproduction.people import load_games
from reproduction.report import Report, Setup, interval

_STORED_PEOPLE = 1000  # of whom the weights are stored for the figure


def compute(setup: Setup, games: int | None = None, motives: tuple[str, ...] = tuple(MOTIVES)) -> dict[str, Any]:
    """Estimate the weights of motives in the first unfinished games; only these have users and times."""
    walks, graph = load_games("unfinished", setup.folder)
    common: dict[str, Any] = {"seed": setup.seed, "engine": setup.engine, "progress": setup.progress}
    found = hypotheses(graph, walks[:games], motives=motives, weights=True, **common)
    assert found.people is not None
    stored = np.linspace(0, len(found.users) - 1, min(_STORED_PEOPLE, len(found.users))).astype(int)
    rows = {name: asdict(found[name]) for name in motives if np.isfinite(found[name].unit)}
    return {
        "choices": found.choices,
        "users": len(found.users),
        "ranked": {name: asdict(fit.gain) for name, fit in found.items()},
        "weights": {
            name: {"mean": row["weight"], **{key: row[key] for key in ("name", *WEIGHT_FIELDS[1:])}}
            for name, row in rows.items()
        },
        "people": found.people[stored][:, [list(found).index(name) for name in rows]].round(4),
        "answer": found.answer,
    }


def report(document: dict[str, Any]) -> Report:
    """Show the weight of each motive, its spread over people, and the bits that it adds."""
    weights, style = document["weights"], ".3g"
    rows = [
        {
            "motive": name,
            "mean weight": interval(each["mean"], style),
            "spread over people": interval(each["spread"], style),
            "reliability": f"{each['reliability']:.2f}",
            "bits alone": interval(each["alone"], style),
            "bits added to the others": interval(each["adds"], style),
            "inflation": f"{each['inflation']:.2f}",
            "bits by ranks alone": interval(document["ranked"][name], style),
        }
        for name, each in weights.items()
    ]
    figure, ax = create_figure(7.2, 0.9 + 0.5 * len(weights))
    people = np.array(document["people"], float)
    shifts = np.random.default_rng(0).uniform(-0.3, 0.3, len(people))
    for place, (name, each) in enumerate(weights.items()):
        mean = each["mean"]
        ax.plot(people[:, place], place + shifts, ".", color=get_color(name), alpha=0.25, markersize=3)
        ax.plot([mean["low"], mean["high"]], [place, place], color=COLORS["text"], linewidth=1.5)
        ax.plot(mean["value"], place, "o", color=COLORS["text"], markersize=4)
    ax.axvline(0, color=COLORS["muted"], linewidth=0.8)
    ax.set_yticks(range(len(weights)), list(weights))
    ax.invert_yaxis()
    ax.set_xlabel("weight; a dot for each person, and the mean with its interval")
    return Report(
        tables={
            f"Weights of motives: {document['choices']:,} choices by {document['users']:,} players": pd.DataFrame(rows)
        },
        figure=figure,
        text="Unfinished games of Wikispeedia, choices of a new page. All weights are estimated together; a unit is "
        "one standard deviation of the score of a motive between the candidates of a choice. Values with 95 % "
        "intervals. Bits are per choice of held-out players, compared with the uniform choice, or with all other "
        "motives (`bits added`). [Test hypotheses](../hypotheses.md) has the definitions.",
        remarks=[document["answer"]],
    )
