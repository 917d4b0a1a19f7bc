"""Conditions in which curiosity might help people's choices to be predicted, stated in `docs/replication.md`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm

from curiograph.arrays import Float64, Int64
from curiograph.bootstrap import NO_ESTIMATE, Estimate, adjust_holm, estimate_means, resample_means, sum_by_user
from curiograph.errors import WalkError
from curiograph.growth.compute import compute_growth
from curiograph.human.choices.choice_sets import ChoiceSet
from curiograph.human.data.datasets import Dataset
from curiograph.human.prediction.methods import MEMORY, PAGERANK
from curiograph.human.prediction.predict import FULL, Effort, Study, fit_splits, make_study, score_components
from curiograph.human.trajectories import Trajectories
from curiograph.plotting import COLORS, create_figure, get_color
from reproduction.people import CORE_RECIPES, DATASETS, GAMES, TITLES, load_datasets, load_games
from reproduction.report import Report, Setup, interval, is_known

CONDITIONS = {
    "history": "last 10 visits against last 3",
    "goal": "unfinished against finished games",
    "position": "first against late choices",
    "experience": "experienced against new players",
    "gaps": "walks with more gaps than the median against others",
    "compression": "walks more compressible than the median against others",
}
"""Names of the conditions, and the groups of choices that each compares."""
BASES = (MEMORY, PAGERANK)
"""Methods over which the gain of curiosity is measured."""
SHORT, LONG = 3, 10
"""Numbers of visits of short and long histories; walks so far are measured on at most LONG nodes."""
EFFORT = replace(FULL, walkers=100, windows=6000)
"""Number of choices, splits, trials and walkers; walkers are greedy, so that nothing is trained."""
LONG_WINDOWS = 2000
"""Maximum number of choices after a long history."""
_FEWEST_NODES = 6  # of a walk so far whose gaps and compressibility are compared
_EXPERIENCED = 5  # earlier games of an experienced player
_MIN_CHOICES, _MIN_USERS = 100, 30  # of a group that is compared
_LEVEL = 0.05  # of the corrected p-value

Mask = NDArray[np.bool_]


class Groups(NamedTuple):
    """Two groups of choices: users, gains of curiosity by method (NaN if not tested), and who is in each group."""

    users: Int64
    gains: Mapping[str, Float64]
    first: Mask
    second: Mask


def compute(setup: Setup, only: tuple[str, ...] = DATASETS) -> dict[str, Any]:
    """Compare the gain of curiosity between groups of choices, in all conditions that each dataset has."""
    settings = {"datasets": only, "effort": EFFORT, "long_windows": LONG_WINDOWS, "seed": setup.seed}
    datasets = load_datasets(only, setup.folder)
    named = [label_games(each, setup.folder) if each.name == "wikispeedia" else each for each in datasets]
    return compare_datasets(setup, named, settings)


def compare_datasets(setup: Setup, datasets: list[Dataset], settings: dict[str, Any]) -> dict[str, Any]:
    """Compare the groups of choices in each dataset, and correct the p-values for all of them."""
    overall: dict[str, Any] = {}
    num_choices, contrasts = {}, []
    for dataset in datasets:
        groups = rank_groups(replace(setup, engine=setup.keep_in(dataset.name)), dataset, settings)
        everyone = groups["position"]  # all choices with a short history are in one of its groups
        num_choices[dataset.name] = len(everyone.users)
        overall[dataset.name] = {}
        for base in BASES:
            tested = ~np.isnan(everyone.gains[base])
            users = np.unique(everyone.users[tested], return_inverse=True)[1]
            sums = sum_by_user(everyone.gains[base][tested, None], users)
            overall[dataset.name][base] = asdict(estimate_means(sums, np.bincount(users))[0])
        contrasts += [
            {"dataset": dataset.name, "condition": condition, "base": base}
            | contrast_groups(group, base, settings["seed"])
            for condition, group in groups.items()
            for base in BASES
        ]
    corrected = adjust_holm(np.array([each["p"] for each in contrasts]))
    for each, p in zip(contrasts, corrected, strict=True):
        each["corrected_p"] = float(p)
    return {"settings": settings, "choices": num_choices, "overall": overall, "contrasts": contrasts}


def contrast_groups(groups: Groups, base: str, seed: int = 0) -> dict[str, Any]:
    """Return the difference of the mean gain over a method between two groups, with an interval over users."""
    gains = groups.gains[base]
    members = np.column_stack([groups.first, groups.second]) & ~np.isnan(gains)[:, None]
    user_of = np.unique(groups.users, return_inverse=True)[1]
    counts = sum_by_user(members.astype(np.float64), user_of)
    sums = sum_by_user(np.where(members, gains[:, None], 0.0), user_of)
    choices, users = counts.sum(axis=0).astype(int).tolist(), np.count_nonzero(counts, axis=0).tolist()
    with np.errstate(invalid="ignore"):
        means = sums.sum(axis=0) / counts.sum(axis=0)
    difference, p = NO_ESTIMATE, nan
    if min(choices) >= _MIN_CHOICES and min(users) >= _MIN_USERS:
        kept = counts.any(axis=1)
        samples = resample_means(sums[kept], counts[kept], seed)
        differences = samples[:, 0] - samples[:, 1]
        difference, spread = Estimate.from_samples(means[0] - means[1], differences), float(differences.std(ddof=1))
        p = float(2 * norm.sf(abs(difference.value) / spread)) if spread > 0 else float(difference.value == 0)
    return {"choices": choices, "users": users, "gains": means.tolist(), "difference": asdict(difference), "p": p}


def label_games(wikispeedia: Dataset, folder: Path | None) -> Dataset:
    """Return Wikispeedia with sessions named by the kind of the game and the number of earlier games of the player."""
    parts = {kind: load_games(kind, folder)[0] for kind in GAMES}
    numbered = [(kind, part, number) for kind, part in parts.items() for number in range(len(part))]
    users = [part.user(number) for _, part, number in numbered]
    sessions = [f"{kind} {int(str(part.session(number))) - 1}" for kind, part, number in numbered]
    lists = [walk for part in parts.values() for walk in part]
    return replace(wikispeedia, walks=Trajectories.from_walks(lists, users, wikispeedia.graph, sessions=sessions))


def rank_groups(setup: Setup, dataset: Dataset, settings: Mapping[str, Any]) -> dict[str, Groups]:
    """Rank the choices of a dataset by all methods, and return the groups of every condition that it has."""
    effort: Effort = settings["effort"]

    def is_large(choices: ChoiceSet) -> bool:
        return len(choices) >= _MIN_CHOICES and len(np.unique(choices.windows.users)) >= _MIN_USERS

    study = make_study(dataset, replace(CORE_RECIPES[dataset.name], burn_in=SHORT), settings["seed"])
    short = find_linked_choices(study, SHORT, effort.windows)
    if not is_large(short):
        raise WalkError(
            f"{dataset.name}: there are {len(short)} choices along links by {len(np.unique(short.windows.users))} "
            f"users; give walks with {_MIN_CHOICES} choices of {_MIN_USERS} users or more."
        )
    sets = {"short": short}
    long = find_linked_choices(study, LONG, settings["long_windows"])
    if is_large(long):
        last = replace(long.windows, histories=long.windows.histories[:, -SHORT:])
        sets |= {"long": long, "shortened": replace(long, windows=last)}  # the same candidates
    gains = {}
    for name, scored in score_components(study, sets, {}, effort, setup.engine, setup.progress).items():
        without_counts = replace(scored, baselines={})  # which are not compared
        outcome = fit_splits(study, without_counts, effort, name, [], setup.engine, setup.progress)
        gains[name] = {base: outcome.by_choice("igt+cpt") - outcome.by_choice(base) for base in BASES}
    groups = {
        condition: Groups(short.windows.users, gains["short"], first, second)
        for condition, (first, second) in find_groups(study, short).items()
    }
    is_long = np.repeat([True, False], len(long))
    unknown = dict.fromkeys(BASES, np.full(len(long), np.nan))
    both = {base: np.concatenate([gains.get(name, unknown)[base] for name in ("long", "shortened")]) for base in BASES}
    groups["history"] = Groups(np.tile(long.windows.users, 2), both, is_long, ~is_long)
    return {condition: groups[condition] for condition in CONDITIONS if condition in groups}


def find_linked_choices(study: Study, burn_in: int, most: int) -> ChoiceSet:
    """Draw choices among several out-neighbors of the last node, after histories of `burn_in` distinct visits."""
    windows = study.choice_walks.windows(burn_in).along_links(study.graph)
    has_alternatives = ChoiceSet.from_windows(study.graph, windows).candidates.counts > 1
    return ChoiceSet.from_windows(study.graph, windows.rows(has_alternatives).sample(most, study.seed))


def find_groups(study: Study, choices: ChoiceSet) -> dict[str, tuple[Mask, Mask]]:
    """Return which choices are in the first and in the second group of each condition except "history"."""
    walks, visits = study.choice_walks, np.asarray(choices.windows.visits)
    walk_of = np.searchsorted(walks.offsets, visits, side="right") - 1
    begins = walks.offsets[walk_of]
    is_late = visits - begins > np.median(visits - begins)
    groups = {"position": (~is_late, is_late)}
    if study.name == "wikispeedia":
        labels = [str(walks.session(number)).split() for number in walk_of]
        unfinished = np.array([kind == "unfinished" for kind, _ in labels])
        earlier = np.array([int(count) for _, count in labels])
        groups["goal"] = (unfinished, ~unfinished)
        groups["experience"] = (unfinished & (earlier >= _EXPERIENCED), unfinished & (earlier == 0))
    recent = [
        list(dict.fromkeys(walks.nodes[begin:visit][::-1].tolist()))[:LONG][::-1]
        for begin, visit in zip(begins, visits, strict=True)
    ]
    sizes = np.array([len(nodes) for nodes in recent])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    growth = compute_growth(study.graph, np.concatenate(recent).astype(np.int32), offsets)
    for condition, steps in (("gaps", growth.beta1), ("compression", growth.bits)):
        values = pd.Series(steps[offsets[1:] - 1])
        is_above = (values > values.groupby(sizes).transform("median")).to_numpy()
        is_measured = sizes >= _FEWEST_NODES
        groups[condition] = (is_above & is_measured, ~is_above & is_measured)
    return groups


def report(document: dict[str, Any]) -> Report:
    """Show the gain over all choices, and its difference between groups."""
    settings, contrasts = document["settings"], document["contrasts"]
    effort = settings["effort"]
    overall = [
        [TITLES[name], f"{document['choices'][name]:,}", *(interval(gains[base]) for base in BASES)]
        for name, gains in document["overall"].items()
    ]
    tested = [each for each in contrasts if is_known(each["p"])]
    clear = sum(each["corrected_p"] < _LEVEL for each in tested)
    rows = [
        {
            "dataset": TITLES[each["dataset"]],
            "condition": each["condition"],
            "groups": CONDITIONS[each["condition"]],
            "gain over": each["base"],
            "choices": " / ".join(f"{count:,}" for count in each["choices"]),
            "gains": " / ".join("-" if gain is None else f"{gain:+.4f}" for gain in each["gains"]),
            "difference": interval(each["difference"]) if each in tested else "too small",
            "p": f"{each['p']:.2g}" if each in tested else "-",
            "corrected p": f"{each['corrected_p']:.2g}" if each in tested else "-",
        }
        for each in contrasts
    ]
    return Report(
        tables={
            "Gain of igt+cpt over all choices": pd.DataFrame(
                overall, columns=["dataset", "choices", *(f"over {base}" for base in BASES)]
            ),
            "Difference of the gain between two groups of choices": pd.DataFrame(rows),
        },
        figure=_plot(tested),
        text="Gain: percentile rank of a choice by igt+cpt minus that by another method, among the out-neighbors of "
        "the last node, for test users. [The conditions](../replication.md#conditions-stated-before-the-run) were "
        "stated before the run; all of them are listed. Intervals: 95 %, over users; p-values are corrected for all "
        f"differences by the method of Holm. At most {effort['windows']:,} choices with short histories and "
        f"{settings['long_windows']:,} with long ones; {effort['splits']} splits, {effort['trials']} trials per fit, "
        f"{effort['walkers']} walkers per node of up to {effort['steps']} steps, p_g {effort['p_g']}; seed "
        f"{settings['seed']}.",
        remarks=[f"{clear} of {len(tested)} differences are clear of zero after correction."],
    )


def _plot(contrasts: list[dict[str, Any]]) -> Any:
    """Plot the difference of every contrast with its interval, one panel per method."""
    rows = list(dict.fromkeys((each["dataset"], each["condition"]) for each in contrasts))
    figure, panels = create_figure(9.0, 1.2 + 0.32 * max(len(rows), 4), columns=len(BASES))
    for panel, base in zip(panels, BASES, strict=True):
        for each in contrasts:
            if each["base"] == base:
                y, found = rows.index((each["dataset"], each["condition"])), each["difference"]
                color = get_color("mixture") if each["corrected_p"] < _LEVEL else COLORS["muted"]
                panel.plot([found["low"], found["high"]], [y, y], color=color, linewidth=2)
                panel.plot(found["value"], y, "o", color=color)
        panel.axvline(0, color=COLORS["text"], linewidth=0.8)
        panel.set_yticks(range(len(rows)), [f"{TITLES[name]}: {condition}" for name, condition in rows])
        panel.invert_yaxis()
        panel.set_xlabel(f"difference of the gain over {base}")
    panels[1].tick_params(labelleft=False)
    return figure
