"""Fidelity of reasons: what removing the named item from a history does to a recommendation."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pandas as pd

from curiograph.centrality.history import History
from curiograph.human.data.cooccurrence import cooccurrence_graph
from curiograph.progress import split_progress
from curiograph.recommendation.recommender import Recommender
from curiograph.recommendation.selection import Selection
from reproduction.core_graphs import core
from reproduction.people import TITLES, load_datasets
from reproduction.report import Report, Setup, percent

K = 5
"""Length of the lists."""
REMOVED = ("named", "true", "random")
"""Which item is removed: the first that the sentence names, the one whose removal lowers the score most, or any."""


def compute(
    setup: Setup, only: tuple[str, ...] = ("movielens", "books"), users: int = 300, visits: int = 20
) -> dict[str, Any]:
    """Remove items of the last `visits` items of some users, and count recommendations that leave the list."""
    found = {}
    datasets = load_datasets(only, setup.folder)
    for data, stage in zip(datasets, split_progress(setup.progress, [1] * len(datasets)), strict=True):
        walks = core(data.walks, 20, 10) if data.name == "books" else data.walks
        graph, rng = cooccurrence_graph(walks), np.random.default_rng(setup.seed)
        own = walks.on(graph)
        chosen, each = rng.permutation(np.flatnonzero(own.lengths >= 2))[:users], np.split(own.nodes, own.offsets[1:-1])
        histories = [History.from_visits(each[user][-visits:].tolist()) for user in chosen]
        for ranker in ("pagerank", "mixture"):
            recommender = Recommender(graph, ranker, seed=setup.seed)
            recommender.prepare([graph.label(v) for v in np.unique(np.concatenate([each.nodes for each in histories]))])
            left: dict[str, list[float]] = defaultdict(list)
            for number, history in enumerate(histories):
                stage(f"{data.name}, {ranker}: removing items", number / len(histories))
                for kind, shares in remove_items(recommender, history, rng).items():
                    left[kind] += shares
            found[f"{TITLES[data.name]}, {ranker}"] = {
                "histories": len(histories),
                "recommendations": len(left["named"]),
                **{kind: float(np.mean(shares)) for kind, shares in left.items()},
            }
    return {"datasets": found}


def remove_items(recommender: Recommender, history: History, rng: np.random.Generator) -> dict[str, list[float]]:
    """Return, for every recommendation of a history, whether it leaves the list when each kind of item is removed."""
    visited = history.nodes
    top = recommender.recommend_visited([history], K, "all")[0]
    nodes = recommender.graph.positions([label for label, _ in top])
    named = [int(np.flatnonzero(visited == recommender.graph.position(each.shares[0][0]))[0]) for each in top.reasons]
    shorter = [History.from_visits(visited[visited != v].tolist()) for v in visited]
    # the removed item is excluded: it is not visited any more, and would take a place itself
    without = [Selection(excluded=np.asarray([v], np.int32)) for v in visited]
    lists = [[label for label, _ in each] for each in recommender.recommend_visited(shorter, K, "all", without)]
    again = recommender.recommend_visited(shorter, K, "all", [Selection(allowed=nodes)] * len(visited))
    scores = np.asarray([[dict(each)[label] for label, _ in top] for each in again])
    removed = {"named": named, "true": scores.argmin(axis=0), "random": rng.integers(len(visited), size=len(top))}
    return {
        kind: [label not in lists[place] for (label, _), place in zip(top, places, strict=True)]
        for kind, places in removed.items()
    }


def report(document: dict[str, Any]) -> Report:
    """Show how often recommendations leave the list, by removed item."""
    rows = [
        [name, f"{each['histories']:,}", f"{each['recommendations']:,}", *(percent(each[kind]) for kind in REMOVED)]
        for name, each in document["datasets"].items()
    ]
    columns = ["log, ranker", "histories", "recommendations", *(f"{kind} item" for kind in REMOVED)]
    return Report(
        tables={
            f"Recommendations that leave the {K} best when an item is removed": pd.DataFrame(rows, columns=columns)
        },
        text="Whether the [reasons](../recommenders.md#reasons) of recommendations are true: an item is removed from a "
        "history, and the list is computed again. If the reason is the true one, the recommendation leaves the list as "
        "often as without the true largest contributor, the item whose removal lowers its score most, which is found "
        "by removing every item. The named item is the first in the sentence, the random item any of the history. "
        f"Histories are the last {document['settings']['visits']} items of people; the graphs are `cooccurrence_graph` "
        "of each log.",
    )
