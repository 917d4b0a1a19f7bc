"""Recommenders on held-out events of MovieLens, Books and Wikispeedia: accuracy, novelty, diversity and coverage."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from curiograph.human.data.cooccurrence import cooccurrence_graph
from curiograph.plotting import create_figure
from curiograph.progress import split_progress
from curiograph.recommendation.evaluation import evaluate_recommenders
from curiograph.recommendation.log_split import SplitKind
from reproduction.core_graphs import core
from reproduction.people import DATASETS, TITLES, load_datasets, load_games
from reproduction.report import Report, Setup, add_legend

SPLITS: dict[str, tuple[SplitKind, ...]] = {"movielens": ("time", "last"), "books": ("last",), "wikispeedia": ("user",)}
"""How each dataset is split: only MovieLens has times of all events."""
MEASURES = (
    "ndcg@10", "recall@10", "hit@10", "mrr", "novelty@10", "serendipity@10", "diversity@10", "coverage@10", "gini@10",
)  # fmt: skip
"""Measures of the tables."""


def compute(setup: Setup, only: tuple[str, ...] = DATASETS, users: int = 1_000, walkers: int = 256) -> dict[str, Any]:
    """Evaluate all methods on at most `users` test users of each dataset."""
    documents = {}
    studies = [(data, split) for data in load_datasets(only, setup.folder) for split in SPLITS[data.name]]
    for (data, split), stage in zip(studies, split_progress(setup.progress, [1] * len(studies)), strict=True):
        walks, graph = data.walks, data.graph
        if data.name == "wikispeedia":
            walks = load_games("finished", setup.folder)[0]
        elif data.name == "books":
            walks = core(walks, 20, 10)  # readers of each book, and books of each reader
        settings: dict[str, Any] = {"item_users": 10, "max_users": users, "walkers": walkers, "seed": setup.seed}
        settings["graph"] = cooccurrence_graph if graph is None else graph
        found = evaluate_recommenders(walks, split, ks=(10,), progress=stage, **settings)
        rows = found.to_frame().set_index("method")
        methods = {
            method: {measure: [row[measure], row[f"{measure}_low"], row[f"{measure}_high"]] for measure in MEASURES}
            for method, row in rows.iterrows()
        }
        sizes = {"test_users": found.facts["test_users"], "items": found.facts["items"]}
        documents[f"{TITLES[data.name]}, {split}"] = {**sizes, "methods": methods}
    return {"datasets": documents}


def report(document: dict[str, Any]) -> Report:
    """Show accuracy against novelty, coverage and diversity."""
    tables, remarks, documents = {}, [], document["datasets"]
    figure, cells = create_figure(9.6, 1.4 + 3.0 * len(documents), columns=3, rows=len(documents))
    for panels, (name, found) in zip(np.reshape(cells, (-1, 3)), documents.items(), strict=True):
        methods = found["methods"]
        rows = [
            [method, *("{:.3f} ({:.3f} to {:.3f})".format(*values[measure]) for measure in MEASURES)]
            for method, values in methods.items()
        ]
        title = f"{name} split, {found['test_users']:,} test users, {found['items']:,} items"
        tables[title] = pd.DataFrame(rows, columns=["method", *MEASURES])
        best = max(methods, key=lambda method: methods[method]["ndcg@10"][0])
        shown = dict.fromkeys([best, "pagerank", "mixture"])
        accuracy = ", ".join(f"{method} {methods[method]['ndcg@10'][0]:.3f}" for method in shown if method in methods)
        remarks.append(f"{name} split: NDCG@10 of {accuracy}.")
        for panel, measure in zip(panels, ("novelty@10", "coverage@10", "diversity@10"), strict=True):
            for method, values in methods.items():
                x, y = values[measure], values["ndcg@10"]
                errors = [[[each[0] - each[1]], [each[2] - each[0]]] for each in (x, y)]
                errors = np.maximum(errors, 0).tolist()
                panel.errorbar(x[0], y[0], xerr=errors[0], yerr=errors[1], fmt="D", label=method, elinewidth=0.7)
            panel.set(xlabel=measure, ylabel="NDCG@10")
        panels[0].set_title(f"{name} split", loc="left", fontsize=10)
    add_legend(figure, 5)
    return Report(
        tables=tables,
        figure=figure,
        text="[Recommenders](../recommenders.md) on held-out events: accuracy, novelty, serendipity, intra-list "
        "diversity, coverage and Gini coefficient of lists of ten. MovieLens: all events after one point in time are "
        "test events; only few users are active both before and after it, so that the last new film of every user is "
        "tested as well, with films that others rated later among the training events. Books: the last new book of "
        "every reader; the file has the order of reviews but no times. Wikispeedia: finished games, each counted as a "
        "user; the last fifth of the pages of held-out games, and the published links as the graph. All other graphs "
        "are `cooccurrence_graph` of the training events. Hyperparameters are the defaults of the methods and were not "
        "tuned on any of the datasets. Every method ranks all unvisited items of the catalog. Intervals: 95 %, over "
        "test users.",
        remarks=remarks,
    )
