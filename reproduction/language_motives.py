"""Motives of people and language models in the same games; questions 6 to 8 of `docs/language-models.md`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from curiograph.graph.graph import Graph
from curiograph.graph.similarity import Similarity
from curiograph.human.choices.choice_sets import find_choices
from curiograph.human.data.datasets import load_dataset
from curiograph.human.motives.hypotheses import hypotheses
from curiograph.human.motives.logit import ChoiceLogit
from curiograph.human.trajectories import Trajectories
from curiograph.plotting import create_figure
from curiograph.plotting.palette import get_group_style
from reproduction.language_models import MEMORY, MODEL, PEOPLE, UNSELECTED, load_groups
from reproduction.meaning import compute_features
from reproduction.report import Report, Setup, interval

GOAL = ("target-distance", "target-similarity", "hub")
WEIGHED = (*GOAL, "similarity", "igt", "cpt", "novelty-everyone")
"""Motives of which weights are estimated together; `markov` is a model of other players and not among them."""
SETS = {"all pairs": (PEOPLE, MODEL), f"starts from {UNSELECTED} on": (PEOPLE, MODEL, MEMORY)}
"""Groups that are compared on the same pairs, by the name of the set of pairs."""


def compute(setup: Setup) -> dict[str, Any]:
    """Compare motives and their weights in the games of people and models on the same pairs."""
    games, graph, _ = load_groups(setup.folder)
    similarity = Similarity.from_texts(graph, load_dataset("wikispeedia", setup.folder).texts)
    gains, weights, sizes = [], [], {}
    for name, groups in SETS.items():
        matched = match_games(games, graph, groups, name != "all pairs", setup.seed)
        found = {}
        for group, walks in matched.items():
            setup.progress(f"{name}: {group}", None)
            found[group] = hypotheses(
                graph, walks, similarity=similarity, burn_in=1, returns=False, seed=setup.seed, engine=setup.engine
            )
            gains += [
                {"pairs": name, "group": group, "motive": motive, **asdict(fit.gain)}
                for motive, fit in found[group].items()
            ]
        sizes[name] = {"games": len(found[PEOPLE].users)} | {group: found[group].choices for group in groups}
        weights += [{"pairs": name, **row} for row in estimate_weights(graph, matched, similarity)]
    return {"gains": gains, "weights": weights, "sizes": sizes}


def estimate_weights(graph: Graph, matched: dict[str, Trajectories], similarity: Similarity) -> list[dict[str, Any]]:
    """Estimate a logit of all motives for each group, and differences from people, with intervals over pairs.

    Pairs have few choices, so that all share the weights of a group; errors are those of clusters (sandwich), and the
    groups of a pair are one cluster. A unit is the standard deviation of a score over the candidates of all groups.
    """
    made = {group: find_choices(graph, walks, burn_in=1)[0] for group, walks in matched.items()}
    columns = {group: compute_features(WEIGHED, choices, similarity) for group, choices in made.items()}
    scales = np.sqrt(np.mean([[scale**2 for _, scale in own] for own in columns.values()], axis=0))
    fitted, influence = {}, {}
    for group, choices in made.items():
        features = np.column_stack([values for values, _ in columns[group]]) / scales
        people = choices.windows.users
        data = ChoiceLogit.from_choices(features, choices.candidates.offsets, choices.chosen, people)
        fitted[group] = data.fit_common()
        _, gradients, information = data.expand(np.tile(fitted[group], (data.shape[0], 1)))
        influence[group] = np.zeros((len(matched[group]), len(WEIGHED)))
        influence[group][: len(gradients)] = gradients @ np.linalg.inv(information.sum(axis=0))
    rows = []
    for group in made:
        for other in (None, *([PEOPLE] if group != PEOPLE else [])):
            value = fitted[group] - (0 if other is None else fitted[other])
            spread = influence[group] - (0 if other is None else influence[other])
            error = 1.96 * np.sqrt((spread**2).sum(axis=0))
            rows += [
                {"group": group, "other": other, "motive": motive, "value": v, "low": v - e, "high": v + e}
                for motive, v, e in zip(WEIGHED, value.tolist(), error.tolist(), strict=True)
            ]
    return rows


def match_games(
    games: Trajectories, graph: Graph, groups: tuple[str, ...], unselected: bool, seed: int
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


def report(document: dict[str, Any]) -> Report:
    """Show the bits of each motive by group, and the weights with their differences."""
    tables: dict[str, pd.DataFrame] = {}
    figure, axes = create_figure(9.0, 3.6, columns=2)
    for ax, (name, groups) in zip(axes, SETS.items(), strict=True):
        sizes = document["sizes"][name]
        size = ", ".join(f"{group} {sizes[group]:,}" for group in groups)
        gains = pd.DataFrame([row for row in document["gains"] if row["pairs"] == name])
        cells = gains.assign(text=[interval(row, ".3g") for row in gains.to_dict("records")])
        table = cells.pivot(index="motive", columns="group", values="text").loc[gains["motive"].unique(), list(groups)]
        tables[f"Bits per choice above chance, {name} ({sizes['games']:,} pairs; choices: {size})"] = (
            table.fillna("").reset_index().rename_axis(columns=None)
        )
        rows = [row for row in document["weights"] if row["pairs"] == name]
        columns: dict[str, list[str]] = {"motive": list(WEIGHED)}
        for row in rows:
            title = row["group"] if row["other"] is None else f"{row['group']} - {row['other']}"
            columns.setdefault(title, []).append(interval(row, ".3f"))
        tables[f"Weights given all other motives, {name}"] = pd.DataFrame(columns)
        for shift, group in enumerate(groups):
            color = get_group_style(shift)["color"]
            own = [row for row in rows if row["group"] == group and row["other"] is None]
            places = np.arange(len(own)) + 0.2 * (shift - (len(groups) - 1) / 2)
            ax.hlines(places, [row["low"] for row in own], [row["high"] for row in own], color=color, linewidth=1.5)
            ax.plot([row["value"] for row in own], places, "o", color=color, markersize=4, label=group)
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set_yticks(range(len(WEIGHED)), WEIGHED if ax is axes[0] else [""] * len(WEIGHED))
        ax.invert_yaxis()
        ax.set_xlabel(f"weight, {name}")
        ax.legend(frameon=False, fontsize=8)
    return Report(
        tables=tables,
        figure=figure,
        text="One game of each group for every pair of start and target, cut before its first return and to the "
        "length of the shortest; choices of a new page. Intervals: 95 %, over pairs. Weights are per standard "
        "deviation of the score between candidates, all motives of the table at once. `markov` and "
        "`novelty-everyone` count the steps of the other games of the same group.",
    )
