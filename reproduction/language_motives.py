"""Motives of people and language models in the same games; questions 6 to 8 of `docs/language-models.md`."""

from __future__ import annotations

import warnings
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from curiograph.bootstrap import Estimate
from curiograph.graph.graph import Graph
from curiograph.graph.similarity import Similarity
from curiograph.human.data.datasets import load_dataset
from curiograph.human.motives.hypotheses import hypotheses
from curiograph.human.trajectories import Trajectories
from curiograph.plotting import create_figure
from curiograph.plotting.palette import get_group_style
from reproduction.language_models import MEMORY, MODEL, PEOPLE, UNSELECTED, load_groups
from reproduction.report import Report, Setup, interval

GOAL = ("target-distance", "target-similarity", "hub")
"""Motives of the goal."""
WEIGHED = (*GOAL, "similarity", "igt", "cpt", "novelty-everyone")
"""Motives of which weights are estimated together; `markov` is a model of other players and not among them."""
SETS = {"all pairs": (PEOPLE, MODEL), f"starts from {UNSELECTED} on": (PEOPLE, MODEL, MEMORY)}
"""Groups that are compared on the same pairs, by the name of the set of pairs."""


def compute(setup: Setup, pairs: int | None = None) -> dict[str, Any]:
    """Compare motives and their weights in the games of people and models on the same pairs."""
    games, graph, _ = load_groups(setup.folder)
    similarity = Similarity.from_texts(graph, load_dataset("wikispeedia", setup.folder).texts)
    options: dict[str, Any] = {"similarity": similarity, "burn_in": 1, "returns": False, "engine": setup.engine}
    rows, facts = [], []
    for name, groups in SETS.items():
        for group, walks in match_games(games, graph, groups, name != "all pairs", pairs, setup.seed).items():
            setup.progress(f"{name}: {group}", None)
            ranked = hypotheses(graph, walks, seed=setup.seed, **options)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # remarks are in the result
                weighed = hypotheses(graph, walks, motives=WEIGHED, weights=True, seed=setup.seed, **options)
            facts.append({"pairs": name, "group": group, "choices": ranked.choices, "games": len(ranked.users)}
                         | {"together": asdict(weighed.together), "remarks": weighed.remarks})  # fmt: skip
            for motive, fit in ranked.items():
                own = weighed[motive] if motive in WEIGHED else None
                rows.append({"pairs": name, "group": group, "motive": motive, "gain": asdict(fit.gain)}
                            | {key: own and asdict(getattr(own, key)) for key in ("weight", "adds")})  # fmt: skip
    return {"rows": rows, "facts": facts}


def match_games(
    games: Trajectories, graph: Graph, groups: tuple[str, ...], unselected: bool, pairs: int | None, seed: int
) -> dict[str, Trajectories]:
    """Draw one game of each group for every pair, and cut them before the first return and to equal length.

    The end of a game of a model is its first return, so that choices among visited pages cannot be compared.
    """
    rng = np.random.default_rng(seed)
    numbers: dict[tuple[Any, Any], list[int]] = {}
    for number in range(len(games)):
        numbers.setdefault((games.user(number), games.session(number)), []).append(number)
    names = sorted({str(user) for user, _ in numbers if not unselected or str(user) >= UNSELECTED})
    names = [name for name in names if all((name, group) in numbers for group in groups)]
    if pairs is not None and pairs < len(names):
        names = [names[place] for place in np.sort(rng.choice(len(names), pairs, replace=False))]
    assert games.targets is not None
    found: dict[str, list[Any]] = {group: [] for group in groups}
    targets = []
    for name in names:
        drawn = [numbers[name, group][rng.integers(len(numbers[name, group]))] for group in groups]
        walks = [cut_return(games[number]) for number in drawn]
        length = min(map(len, walks))
        targets.append(graph.names[int(games.targets[drawn[0]])])
        for group, walk in zip(groups, walks, strict=True):
            found[group].append(walk[:length])
    return {group: Trajectories.from_walks(walks, names, graph, targets=targets) for group, walks in found.items()}


def cut_return(walk: list[Any]) -> list[Any]:
    """Return a walk up to its first return.

    >>> cut_return(["a", "b", "a", "c"])
    ['a', 'b']
    """
    seen: dict[Any, None] = {}
    for node in walk:
        if node in seen:
            break
        seen[node] = None
    return list(seen)


def subtract(first: dict[str, float], second: dict[str, float]) -> Estimate:
    """Return a difference of two estimates, with the interval that it has if they are independent."""
    error = np.hypot(first["high"] - first["value"], second["high"] - second["value"])
    value = first["value"] - second["value"]
    return Estimate(value, value - error, value + error)


def report(document: dict[str, Any]) -> Report:
    """Show the bits of each motive by group, and the weights with their differences."""
    tables, style = {}, ".3g"
    figure, axes = create_figure(9.0, 3.6, columns=2)
    for ax, (name, groups) in zip(axes, SETS.items(), strict=True):
        rows = {(row["motive"], row["group"]): row for row in document["rows"] if row["pairs"] == name}
        motives = list(dict.fromkeys(motive for motive, _ in rows))
        facts = [fact for fact in document["facts"] if fact["pairs"] == name]
        size = ", ".join(f"{fact['group']} {fact['choices']:,}" for fact in facts)
        tables[f"Bits per choice above chance, {name} ({facts[0]['games']:,} games a group; choices: {size})"] = (
            pd.DataFrame(
                [[motive, *(interval(rows[motive, group]["gain"], style) if (motive, group) in rows else "" for group in groups)]
                 for motive in motives], columns=["motive", *groups],
            )
        )  # fmt: skip
        weights = []
        for motive in WEIGHED:
            own = {group: rows[motive, group]["weight"] for group in groups if (motive, group) in rows}
            more = [subtract(own[group], own[PEOPLE]) for group in groups if group != PEOPLE]
            weights.append([motive, *(interval(each, style) for each in own.values()), *(str(each) for each in more)])
        others = [f"{group} - people" for group in groups if group != PEOPLE]
        tables[f"Weights given all other motives, {name}"] = pd.DataFrame(weights, columns=["motive", *groups, *others])
        for shift, group in enumerate(groups):
            style_of = get_group_style(shift)
            for place, motive in enumerate(WEIGHED):
                estimate = rows[motive, group]["weight"]
                y = place + 0.2 * (shift - (len(groups) - 1) / 2)
                ax.plot([estimate["low"], estimate["high"]], [y, y], color=style_of["color"], linewidth=1.5)
                ax.plot(estimate["value"], y, "o", color=style_of["color"], markersize=4,
                        label=group if not place else None)  # fmt: skip
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set_yticks(range(len(WEIGHED)), WEIGHED if ax is axes[0] else [""] * len(WEIGHED))
        ax.invert_yaxis()
        ax.set_xlabel(f"weight, {name}")
        ax.legend(frameon=False, fontsize=8)
    return Report(
        tables=tables,
        figure=figure,
        text="One game of each group for every pair of start and target, cut before its first return and to the length "
        "of the shortest; choices of a new page after the first. Intervals: 95 %, over pairs. Weights are of one "
        "standard deviation of the score between candidates, all motives of the table at once. Intervals of differences "
        "treat the groups as independent; since their pairs are the same, this is cautious.",
        remarks=[remark for fact in document["facts"] for remark in fact["remarks"]],
    )
