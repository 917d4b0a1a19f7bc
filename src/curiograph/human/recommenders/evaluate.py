"""`evaluate_recommenders`: compare recommenders on held-out events of a log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from curiograph.arrays import Float64, Int32
from curiograph.bootstrap import Estimate
from curiograph.errors import MissingExtraError, SettingError, WalkError
from curiograph.graph.graph import Graph
from curiograph.human.data.dataset import Dataset
from curiograph.human.recommenders.methods import (
    SIGNED_METHODS,
    Training,
    check_graph,
    check_methods,
    list_link_methods,
    make_catalog_graph,
    make_empty_graph,
)
from curiograph.human.recommenders.metrics import (
    LIST_MEASURES,
    MRR,
    USER_MEASURES,
    Catalog,
    Lists,
    make_estimate,
    measure_coverage,
    measure_gini,
    rank_items,
    resample_measures,
)
from curiograph.human.recommenders.rankers import Blend, Discounted, Sampled
from curiograph.human.recommenders.results import MethodResult, RecommenderEvaluation
from curiograph.human.recommenders.splits import Split, SplitKind, split_log
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value
from curiograph.progress import Progress, no_progress
from curiograph.recommendation.ranker import Ranker, find_candidates, score_candidates
from curiograph.validation import check_integer, check_seed

PATHS: dict[str, tuple[float, ...]] = {
    "curious": (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0),
    "discounted": (0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0),
    "sampled": (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8),
}
"""Ways to change the lists of a method, and their strengths: weight of curiosity, exponent, and temperature."""

_BATCH_SCORES = 2**22  # users times items that are scored together; bounds the memory


def evaluate_recommenders(
    walks: Trajectories | Dataset,
    split: SplitKind = "time",
    *,
    methods: Sequence[Any] | None = None,
    ks: Sequence[int] = (5, 10, 20),
    graph: Graph | None = None,
    test: float | None = None,
    item_users: int = 5,
    max_users: int | None = None,
    walkers: int = 256,
    bases: Sequence[str] = (),
    seed: int = 0,
    progress: Progress = no_progress,
    **graph_options: Any,
) -> RecommenderEvaluation:
    """Compare recommenders on held-out events: accuracy, novelty, diversity and coverage, with intervals over users.

    Everything is fitted to training events alone. Every method ranks all items of the catalog that are not in the
    history of the user. Items with equal scores are in order of popularity.

    Parameters
    ----------
    walks : Trajectories or Dataset
        Events of users; a time split needs their times.
    split : {"time", "user", "last"}
        How training and test events are divided, as for `split_log`.
    methods : sequence, optional
        Names of methods, rankers, or classes with `from_walks(graph, walks)` that return a ranker. Default: popularity,
        markov, item-knn, rp3beta, ease, als, pagerank, igt+cpt and mixture.
    ks : sequence of int
        Lengths of the lists.
    graph : Graph, optional
        Graph of the items for PageRank, curious walkers and methods of your own. Default: that of the dataset, or else
        `cooccurrence_graph` of the training events; if it would have no links, these methods are left out.
    test : float, optional
        Share of events (time) or users (user) to test on. Default: 0.2. Not for the last split.
    item_users : int
        Minimum number of training users of an item of the catalog.
    max_users : int, optional
        Maximum number of test users, drawn at random.
    walkers : int
        Number of curious walkers from each node of a history.
    bases : sequence of str
        Methods whose lists are also re-ranked step by step: blended with curious walkers, discounted by popularity, and
        sampled at random. Their scores must be zero or above, so that ease and als are not possible.
    seed : int
        Random seed of test users, ties, walkers and resampling.
    progress : callable
        Called with a message and the completed share.
    **graph_options
        Options of `cooccurrence_graph`. Default of `fewest`: 5, or `item_users` if this is less.

    Returns
    -------
    RecommenderEvaluation
        Estimates of all measures by method, with `to_frame`, `to_dict`, `plot` and `compare_paths`.

    Examples
    --------
    >>> walks = Trajectories.from_walks([["a", "b", "c"], ["b", "a", "c"], ["c", "a", "b"], ["d", "c", "b"]] * 3)
    >>> found = evaluate_recommenders(walks, "last", methods=["popularity", "item-knn"], ks=[1, 2], item_users=1)
    >>> found
    RecommenderEvaluation(last split, 12 users, 4 items, popularity, item-knn)
    >>> found["popularity"]["hit@2"].value
    1.0
    """
    uses_graph = graph is not None or bool(graph_options)
    if isinstance(walks, Dataset):
        graph = walks.graph if graph is None else graph
        walks = walks.walks
    if not isinstance(walks, Trajectories):
        raise SettingError(f"the walks are {quote_value(walks)}; give Trajectories or a Dataset.")
    check_seed(seed)
    fits = check_methods(methods)
    lengths = _check_lengths(ks)
    check_integer("walkers", walkers, 1, "give the number of walkers, 1 or more")
    check_graph(graph, graph_options)
    _check_bases(bases, list(fits))
    found = split_log(walks, split, test=test, item_users=item_users, max_users=max_users, seed=seed)
    skipped: dict[str, str] = {}
    linked = list_link_methods(fits)
    catalog_graph = make_empty_graph(found.train)
    uses_graph = uses_graph or bool(bases or linked)
    if uses_graph:
        try:
            catalog_graph = make_catalog_graph(found.train, graph, {"fewest": min(5, item_users)} | graph_options)
        except WalkError as error:  # no links among the training events
            if graph is not None or bases:
                raise
            uses_graph = False
            skipped = dict.fromkeys(linked, str(error))
    training = Training(
        walks=found.train,
        graph=catalog_graph,
        catalog=Catalog.from_split(found, seed),
        walks_per_node=walkers,
        seed=seed,
    )
    measured = _Measured(found, training.catalog, training.graph, lengths, seed)
    results: dict[str, MethodResult] = {}
    rankers: dict[str, Ranker] = {}
    steps = len(fits) + sum(map(len, PATHS.values())) * len(bases)
    for name, fit in fits.items():
        if name in skipped:
            continue
        progress(f"fitting and ranking: {name}", len(results) / steps)
        try:
            rankers[name] = fit(training)
        except (MissingExtraError, SettingError) as error:  # one method does not end the comparison
            skipped[name] = str(error)
            continue
        results[name] = measured.measure(name, rankers[name], lengths)
    if not results:
        raise SettingError(f"no method is left to compare: {' '.join(dict.fromkeys(skipped.values()))}")
    paths: dict[str, dict[str, list[MethodResult]]] = {}
    k = 10 if 10 in lengths else lengths[0]
    for base in bases:
        if base not in rankers:
            continue
        paths[base] = {}
        for kind, strengths in PATHS.items():
            paths[base][kind] = []
            for strength in strengths:
                done = len(results) + sum(len(each) for path in paths.values() for each in path.values())
                progress(f"re-ranking {base}: {kind} {strength}", min(1.0, done / steps))
                ranker: Ranker
                if kind == "curious":
                    ranker = Blend(rankers[base], training.curiosity, strength)
                elif kind == "discounted":
                    ranker = Discounted(rankers[base], measured.catalog.counts, strength)
                else:
                    ranker = Sampled(rankers[base], strength, seed)
                paths[base][kind].append(measured.measure(f"{kind} {strength:g}", ranker, [k]))
    facts = {
        **found.facts,
        "graph": repr(training.graph) if uses_graph else None,
        "items_with_links": int(np.count_nonzero(training.graph.degrees)) if uses_graph else None,
        "settings": {
            "test": found.test,
            "item_users": item_users,
            "max_users": max_users,
            "walkers": walkers,
            "seed": seed,
        },
    }
    return RecommenderEvaluation(
        split=split, ks=lengths, facts=facts, results=results, skipped_methods=skipped, paths=paths, path_k=k
    )


class _Measured:
    """Ranks the catalog for all test users and measures the lists."""

    def __init__(self, split: Split, catalog: Catalog, graph: Graph, ks: Sequence[int], seed: int) -> None:
        self.split, self.catalog, self.graph, self.seed = split, catalog, graph, seed
        self.popular = [catalog.list_popular(history, max(ks)) for history in split.histories]

    def rank(self, ranker: Ranker, k: int) -> Lists:
        """Rank all unvisited items for every test user."""
        histories, targets = self.split.histories, self.split.targets
        top = np.full((len(histories), k), -1, np.int32)
        reciprocal: Float64 = np.zeros(len(histories))
        size = max(1, _BATCH_SCORES // self.split.num_items)
        for first in range(0, len(histories), size):
            batch: list[Int32] = histories[first : first + size]
            candidates = find_candidates(self.graph, batch, "all")
            scores = score_candidates(ranker, self.graph, batch, candidates)
            for row, history in enumerate(batch):
                own = slice(candidates.offsets[row], candidates.offsets[row + 1])
                by_item = np.full(self.split.num_items, -np.inf)
                by_item[candidates.nodes[own]] = scores[own]
                order = rank_items(by_item, history, self.catalog)
                best = order[:k]
                top[first + row, : len(best)] = best
                reciprocal[first + row] = 1 / (1 + np.argmax(np.isin(order, targets[first + row])))
        return Lists(top, reciprocal)

    def measure(self, name: str, ranker: Ranker, ks: Sequence[int]) -> MethodResult:
        """Return the estimates and bootstrap samples of all measures."""
        lists = self.rank(ranker, max(ks))
        estimates: dict[str, Estimate] = {}
        samples: dict[str, Float64] = {}
        for k in ks:
            values = lists.measure_users(k, self.split.targets, self.popular, self.catalog)
            columns = [f"{measure}@{k}" for measure in USER_MEASURES]
            if k == ks[0]:
                values, columns = np.column_stack([lists.reciprocal, values]), [MRR, *columns]
            counts = lists.count_items(k, self.split.num_items)
            means, listed = resample_measures(values, counts, seed=self.seed)
            total = np.asarray(counts.sum(axis=0)).ravel()
            for column, own, drawn in zip(columns, values.T, means.T, strict=True):
                estimates[column] = make_estimate(_average(own), drawn)
                samples[column] = drawn
            for measure, value in zip(LIST_MEASURES, (measure_coverage(total), measure_gini(total)), strict=True):
                column = f"{measure}@{k}"
                # of users drawn with replacement fewer are distinct and cover fewer items, so only deviations count
                samples[column] = listed[measure] - listed[measure].mean() + float(value)
                estimates[column] = make_estimate(float(value), np.clip(samples[column], 0, 1))
        return MethodResult(name=name, estimates=estimates, samples=samples)


def _average(values: Float64) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def _check_lengths(ks: Any) -> tuple[int, ...]:
    """Return the distinct lengths of lists, ascending."""
    if isinstance(ks, (str, bytes)) or not isinstance(ks, Sequence) or not len(ks):
        raise SettingError(f"ks is {quote_value(ks)}; give a list of lengths such as [5, 10].")
    return tuple(sorted({check_integer("k", k, 1, "give lengths of lists of 1 or more") for k in ks}))


def _check_bases(bases: Any, methods: Sequence[str]) -> None:
    """Raise SettingError unless the bases are methods that are compared, with scores of zero or above."""
    if isinstance(bases, (str, bytes)) or not isinstance(bases, Sequence):
        raise SettingError(f"bases is {quote_value(bases)}; give a list of methods such as ['pagerank'].")
    for base in bases:
        if not isinstance(base, str) or base not in methods:
            raise SettingError(f"bases is {quote_value(base)}; give methods that are compared: {', '.join(methods)}.")
        if base in SIGNED_METHODS:
            raise SettingError(
                f"bases is {base!r}, whose scores may be negative, and those cannot be blended, discounted or sampled "
                "in proportion; give a method with scores of zero or above, such as pagerank or item-knn."
            )
