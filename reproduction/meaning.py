"""What curiosity adds given meaning: nested models of the choices of Wikispeedia, with similarity of articles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from curiograph.arrays import Float64, Int64
from curiograph.bootstrap import estimate_means, sum_by_user
from curiograph.errors import FileFormatError
from curiograph.graph.similarity import Similarity
from curiograph.human.choices.choice_sets import ChoiceSet, find_choices
from curiograph.human.data.datasets import load_dataset
from curiograph.human.motives.catalog import as_motives
from curiograph.human.motives.hypotheses import fit_motives, score_models
from curiograph.human.motives.logit import ChoiceLogit, center_features
from curiograph.parallel import IN_PROCESS, Engine
from curiograph.progress import Progress, no_progress, split_progress
from reproduction.report import Report, Setup, interval

GIVEN = {
    "degree, PageRank": ("degree", "pagerank"),
    "degree, PageRank, similarity": ("degree", "pagerank", "similarity"),
    "degree, PageRank, similarity, similarity-history": ("degree", "pagerank", "similarity", "similarity-history"),
}
"""Motives of the models to which others are added, by title."""
THEORIES = ("igt", "cpt", "cct")
TOGETHER = "all theories"
BURN_IN = 3
"""Number of distinct nodes visited before the first choice."""


def compute(setup: Setup, folds: int = 5) -> dict[str, Any]:
    """Compare nested models of the choices in all games."""
    dataset = load_dataset("wikispeedia", setup.folder)
    graph, walks = dataset.graph, dataset.walks
    if graph is None or not dataset.texts:
        raise FileFormatError("wikispeedia: contains no categories.tsv; get the complete dataset.")
    similarity = Similarity.from_texts(graph, dataset.texts)
    names = list(dict.fromkeys([*(name for motives in GIVEN.values() for name in motives), *THEORIES]))
    choices, _ = find_choices(graph, walks, BURN_IN)
    users, user_of = np.unique(choices.windows.users, return_inverse=True)
    fold_of_user = np.random.default_rng(setup.seed).permutation(len(users)) % folds
    scoring, testing = split_progress(setup.progress, [1, 1])
    columns = compute_features(names, choices, similarity, setup.engine, scoring)
    features = np.column_stack([centered / max(scale, np.finfo(float).tiny) for centered, scale in columns])
    data = ChoiceLogit.from_choices(features, choices.candidates.offsets, choices.chosen, user_of)
    additions = {
        (title, TOGETHER if added == THEORIES else added[0]): (*given, *added)
        for title, given in GIVEN.items()
        for added in (*((theory,) for theory in THEORIES), THEORIES)
    }
    nested = list(dict.fromkeys([*GIVEN.values(), *additions.values()]))
    bits = dict(zip(nested, _test_models(data, nested, names, fold_of_user, testing).T, strict=True))
    gains = [bits[given] for given in GIVEN.values()]
    gains += [bits[model] - bits[GIVEN[title]] for (title, _), model in additions.items()]
    estimates = [asdict(each) for each in estimate_means(np.column_stack(gains), np.bincount(user_of))]
    sources = np.repeat(np.arange(graph.num_nodes), graph.degrees)
    return {
        "choices": len(choices),
        "users": len(users),
        "candidates": float(choices.candidates.counts.mean()),
        "similar_links": float(np.mean(similarity.compute_pairs(sources, graph.indices) > 0)),
        "gains": dict(zip(GIVEN, estimates, strict=False)),
        "weights": dict(zip(names, data.fit_common().tolist(), strict=True)),
        "additions": [
            {"given": title, "added": added, "bits": estimate}
            for (title, added), estimate in zip(additions, estimates[len(GIVEN) :], strict=True)
        ],
    }


def compute_features(
    names: Sequence[str],
    choices: ChoiceSet,
    similarity: Similarity,
    engine: Engine = IN_PROCESS,
    progress: Progress = no_progress,
) -> list[tuple[Float64, float]]:
    """Return the centered scores of all candidates by each motive, fitted to all choices, and their scale."""
    models = fit_motives(as_motives(names, [], "igt", choices, similarity), choices, choices.windows.users * 0, True)
    whole = {key: model for key, model in models.items() if key[1] is None}
    scored = score_models(whole, choices, None, True, engine, progress)
    return [center_features(np.asarray(each.features), choices.candidates) for each in scored.values()]


def _test_models(
    data: ChoiceLogit, models: Sequence[tuple[str, ...]], names: Sequence[str], fold_of_user: Int64, progress: Progress
) -> Float64:
    """Return the bits above the uniform choice of each user, summed over choices, by model (users x models)."""
    sums = np.empty((len(fold_of_user), len(models)))
    for fold in range(int(fold_of_user.max()) + 1):
        test_users = np.flatnonzero(fold_of_user == fold)
        train, test = data.select_people(np.flatnonzero(fold_of_user != fold)), data.select_people(test_users)
        user_of = np.repeat(np.arange(len(test_users)), np.diff(test.bounds))
        for number, model in enumerate(models):
            progress("models of choices", (fold + number / len(models)) / (fold_of_user.max() + 1))
            columns = [names.index(name) for name in model]
            weights = train.with_features(train.features[:, columns]).fit_common()
            every = np.tile(weights, (len(test_users), 1))
            gains = test.with_features(test.features[:, columns]).evaluate_choices(every) + np.log(
                np.diff(test.offsets)
            )
            sums[test_users, number] = sum_by_user(gains[:, None], user_of)[:, 0] / np.log(2)
    return sums


def report(document: dict[str, Any]) -> Report:
    """Show the bits that each theory adds to each model, and the weights of all motives in one model."""
    bits = {(each["given"], each["added"]): each["bits"] for each in document["additions"]}
    added = list(dict.fromkeys(name for _, name in bits))
    rows = [
        [given, interval(gain), *(interval(bits[given, name]) for name in added)]
        for given, gain in document["gains"].items()
    ]
    plain, meaning, _ = GIVEN
    before, after = bits[plain, TOGETHER], bits[meaning, TOGETHER]
    weights = [[name, f"{weight:+.3f}"] for name, weight in document["weights"].items()]
    title = f"Bits per choice of held-out users: {document['choices']:,} choices by {document['users']:,} users"
    return Report(
        tables={
            title: pd.DataFrame(rows, columns=["model", "above chance", *(f"added by {name}" for name in added)]),
            "Weights of all motives in one model": pd.DataFrame(weights, columns=["motive", "weight"]),
        },
        text="Conditional logit of the choices of Wikispeedia, fitted to the choices of other users, among "
        f"{document['candidates']:.0f} candidates on average. Similarity: cosine of TF-IDF vectors of titles and "
        "categories, to the last article (`similarity`) and as a mean over all visited articles "
        "(`similarity-history`). In parentheses: 95 % intervals over users. A weight is per standard deviation of the "
        "score between the candidates of a choice. Players look for a target article, which no model here knows.",
        remarks=[
            f"All theories together add {interval(before)} bits per choice to degree and PageRank, and "
            f"{interval(after)} given the similarity of articles as well; this interval "
            f"{'excludes' if after['low'] > 0 else 'includes'} zero.",
            f"{document['similar_links']:.0%} of the links join articles with a common word in titles and categories.",
        ],
    )
