"""Whether slates that bridge to regions not yet visited contain more items of new interests at equal accuracy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.cluster.vq import kmeans2
from scipy.sparse.linalg import svds

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.bootstrap import Estimate, resample_means
from curiograph.exploration.mdp import Candidates
from curiograph.graph.graph import Graph
from curiograph.human.data.cooccurrence import cooccurrence_graph
from curiograph.human.data.datasets import find_dataset
from curiograph.recommendation.count_rankers import ItemKnn
from curiograph.recommendation.incidence import build_incidence
from curiograph.recommendation.ranker import Ranker, find_candidates
from curiograph.recommendation.rankers import PageRankRanker
from curiograph.recommendation.selection import Selection, select_best
from reproduction.core_graphs import core
from reproduction.people import TITLES, load_datasets
from reproduction.recommenders import Als
from reproduction.report import Report, Setup, interval

PROTOCOL = """Written before the runs. Logs: MovieLens (films with 10 users, users with 10 of them) and Amazon Books
(20, 10). The last fifth of the items of every user is held out; everything is fitted to the rest. Interests are genres
of films, and for books 50 clusters (k-means of vectors of a singular value decomposition of training events, without a
graph). An interest is new for a user if less than 5 % of the history has it. Recall of new: share of the held-out items
with a new interest that are in the list of ten, over users who have any. Half of the users choose the settings for the
other half, and the reverse: first the settings of the base (PageRank on `cooccurrence_graph`, or item-kNN) and of ALS
by NDCG@10, then the strength of each method, with the highest recall of new of those that keep 95 % of the NDCG@10 of
the base. MMR: `diversity`. Discount: the score divided by a power of the number of users. ALS: a mixture of the scores
of the base and of ALS, each divided by its maximum, up to ALS alone. Bridge: of the 100 best items, a slate that keeps
a floor, a share of the sum of the ten best scores, and covers most, selected greedily: each item must leave a slate
above the floor within reach. Covered are, by an item that is linked to a visited one, either pairs (interest, region)
of communities, where the item is in a region with less than 5 % of the history and linked to a visited item of an
interest with more; or items that are not linked to the history and are linked to the item, or are it. Both are what can
become a gap: the number of loops itself is not submodular, because two items can open a loop that neither opens alone.
Without a floor a greedy slate covers at least 1 - 1/e of the best (Nemhauser et al. 1978); with the floor only a tenth
is guaranteed, so the share that the marginal gains certify is reported. Slates are in the order of the base. Bridge
wins if, over PageRank, its recall of new is clearly above that of all three others on one log, and clearly below none
on the other. Intervals: 95 %, paired, over users.""".replace("\n", " ")
CHANGES = """Changed after a first run, which had the same verdict: the graph is weighted, and ALS has other settings.
Held-out books have few training users, which favors a discount.""".replace("\n", " ")
K, RARE, KEPT, CLUSTERS, POOL = 10, 0.05, 0.95, 50, 100
CORES = {"movielens": (10, 10), "books": (20, 10)}
ALS = ((32, 1), (32, 10), (128, 1), (128, 10))  # factors, regularization
ALPHAS, NEIGHBORS = (0.1, 0.3, 0.5, 0.7, 0.85), (20, 50, 100, 200)
FLOORS = (0.99, 0.98, 0.95, 0.92, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5)
STRENGTHS: dict[str, list[Any]] = {
    "base": [None],
    "mmr": [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9],
    "discount": [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0],
    "als": [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0],
    "bridge": [(cover, floor) for cover in ("pairs", "items") for floor in FLOORS],
}
SLATES = [(method, strength) for method, strengths in STRENGTHS.items() for strength in strengths]
MEASURES = ("NDCG@10", "recall of new")


class Log(NamedTuple):
    """The graph with numbers of users, and for tested users the history, the held-out items, and which are new."""

    graph: Graph
    usage: Float64
    communities: Int64
    histories: list[Int32]
    targets: list[Int32]
    is_new: Any


def split_events(name: str, setup: Setup, users: int) -> tuple[Log, dict[str, dict[Any, Float64]]]:
    """Hold out items; return the log, and the scores (-inf: visited) of tested users by ALS and bases by setting."""
    rng = np.random.default_rng([setup.seed, 1])
    walks = core(load_datasets([name], setup.folder)[0].walks, *CORES[name])
    place = np.arange(len(walks.nodes)) - np.repeat(walks.offsets[:-1], walks.lengths)
    is_early = place < np.repeat(walks.lengths - np.round(walks.lengths / 5), walks.lengths)
    graph = cooccurrence_graph(walks.select_visits(is_early))
    early, late = (walks.select_visits(some).on(graph) for some in (is_early, ~is_early))
    tested = rng.permutation(np.flatnonzero((early.lengths > 0) & (late.lengths > 0)))[:users]
    visits: Any = build_incidence(early, np.arange(len(early.lengths))).astype(np.float64)
    usage = visits.sum(axis=0)
    if (path := find_dataset(name, setup.folder)) and name == "movielens":
        genres = pd.read_csv(path.with_name("movies.csv")).drop_duplicates("title").set_index("title").genres
        dummies = genres.reindex(list(map(str, graph.labels)), fill_value="").str.get_dummies("|")
        interests = dummies.drop(columns="(no genres listed)", errors="ignore").to_numpy(float)
    else:
        _, sizes, vectors = svds(visits / np.sqrt(usage), 64, rng=rng)
        vectors = vectors.T * sizes / np.linalg.norm(vectors.T * sizes, axis=1, keepdims=True)
        interests = np.eye(CLUSTERS)[kmeans2(vectors, CLUSTERS, iter=50, minit="++", rng=rng)[1]]
    is_new = (visits[tested] @ interests < RARE * early.lengths[tested, None]) @ interests.T > 0
    parts = (np.split(some.nodes, some.offsets[1:-1]) for some in (early, late))
    histories, targets = ([part[user] for user in tested] for part in parts)
    communities = kernels.communities.find_communities(graph.skeleton.indptr, graph.skeleton.indices, 1)[0]
    candidates = find_candidates(graph, histories, "all")

    def score(ranker: Ranker) -> Float64:
        scores = np.full(is_new.shape, -np.inf)
        scores[candidates.walks, candidates.nodes] = ranker.scores(graph, histories, candidates)
        return scores

    scored: dict[str, dict[Any, Float64]] = {
        "pagerank": {alpha: score(PageRankRanker(alpha)) for alpha in ALPHAS},
        "item-knn": {count: score(ItemKnn.from_walks(graph, early, count, by_user=True)) for count in NEIGHBORS},
        "als": {setting: score(Als.from_walks(graph, early, *setting)) for setting in ALS},
    }
    return Log(graph, usage, communities, histories, targets, is_new), scored


def cover_elements(log: Log, history: Int32, nodes: Int64, kind: str) -> Float64:
    """Return nodes x elements: which pairs of communities, or which items, each node covers."""
    links = log.graph.skeleton.to_scipy().tocsr()
    linked = links[nodes][:, history].toarray() != 0
    if kind == "items":
        reached = links[nodes].toarray() != 0
        reached[np.arange(len(nodes)), nodes] = True
        reached[:, np.union1d(history, links[history].indices)] = False
        covered = reached & linked.any(axis=1, keepdims=True)
    else:
        members = np.eye(log.communities.max() + 1, dtype=bool)[log.communities]
        is_interest = members[history].mean(axis=0) >= RARE
        interests, regions = (linked @ members[history]) & is_interest, members[nodes] & ~is_interest
        covered = (interests[:, :, None] & regions[:, None, :]).reshape(len(nodes), -1)
    return np.asarray(covered[:, covered.any(axis=0)], np.float64)


def select_bridge(scores: Float64, covers: Float64, floor: float, k: int = K) -> tuple[list[int], float]:
    """Select k of the items, which are in order of their scores; return them, and the certified share of the best.

    >>> select_bridge(np.array([4.0, 3.0, 3.0]), np.array([[1.0, 0], [1, 0], [0, 1]]), 0.9, 2)
    ([0, 2], 1.0)
    """
    least, rest, chosen = floor * scores[:k].sum() * (1 - 1e-9), list(range(len(scores))), list[int]()
    is_open, most = np.ones(covers.shape[1]), np.inf
    may_be_chosen = scores[: k - 1].sum() + scores >= least
    for left in reversed(range(min(k, len(rest)))):
        own, gains = scores[rest], covers @ is_open
        most = min(most, (1 - is_open).sum() + np.sort(gains[may_be_chosen])[-k:].sum())
        completed = scores[chosen].sum() + own[:left].sum() + np.minimum(own, own[left])
        chosen.append(rest.pop(int(np.argmax(np.where(completed >= least, gains[rest], -1)))))
        is_open[covers[chosen[-1]] > 0] = 0
    return sorted(chosen), float((1 - is_open).sum() / most) if most else 1.0


def measure_slates(log: Log, place: int, scores: Float64, als: Float64) -> Iterator[tuple[float, float, float]]:
    """Yield NDCG@10, recall of new and the certified share of every method and strength for a user."""
    nodes, offered = np.arange(len(scores), dtype=np.int32), np.isfinite(scores)
    scores, als = (np.where(offered, each, 0) / each.max() for each in (scores, als))
    items = Candidates(np.array([0, len(nodes)]), nodes)
    (best,) = select_best(log.graph, items, scores, offered, [Selection()], POOL)
    gains = 1 / np.log2(np.arange(2, K + 2))
    targets, covers = log.targets[place], dict[str, Float64]()
    new = targets[log.is_new[place, targets]]
    for method, strength in SLATES:
        values, certified, diversity = scores, 1.0, strength if method == "mmr" else 0.0
        if method == "discount":
            values = scores / log.usage**strength
        elif method == "als":
            values = (1 - strength) * scores + strength * als
        (slate,) = select_best(log.graph, items, values, offered, [Selection(diversity=diversity)], K)
        if method == "mmr":
            slate = slate[np.argsort(-scores[slate], kind="stable")]
        elif method == "bridge":
            kind, floor = strength
            if kind not in covers:
                covers[kind] = cover_elements(log, log.histories[place], best, kind)
            chosen, certified = select_bridge(scores[best], covers[kind], floor)
            slate = best[chosen]
        ndcg = np.isin(slate, targets) @ gains[: len(slate)] / gains[: len(targets)].sum()
        yield ndcg, np.isin(new, slate).mean() if len(new) else np.nan, certified


def choose_setting(log: Log, scored: dict[Any, Float64], places: Int64) -> Any:
    """Return the setting with the highest NDCG@10 of some users."""

    def measure(scores: Float64) -> float:
        return float(np.mean([next(measure_slates(log, i, scores[i], scores[i]))[0] for i in places.tolist()]))

    return max(scored, key=lambda setting: measure(scored[setting]))


def compute(setup: Setup, only: tuple[str, ...] = tuple(CORES), users: int = 2_000) -> dict[str, Any]:
    """Compare bridges with the other methods on at most `users` users of each log."""
    results: list[dict[str, Any]] = []
    for name, base in ((name, base) for name in only for base in ("pagerank", "item-knn")):
        setup.progress(f"{name}, {base}", len(results) / (2 * len(only)))
        if base == "pagerank":
            log, scored = split_events(name, setup, users)
        places, chosen = np.arange(len(log.targets)), {method: list[str]() for method in STRENGTHS}
        values = np.empty((len(places), 3, len(STRENGTHS)))
        for testing in (places % 2 == 0, places % 2 == 1):  # users are in random order
            settings = {model: choose_setting(log, scored[model], places[~testing]) for model in (base, "als")}
            scores, als = (scored[model][setting] for model, setting in settings.items())
            found = np.array([list(measure_slates(log, i, scores[i], als[i])) for i in places.tolist()])
            ndcg, recall, _ = np.nanmean(found[~testing], axis=0).T
            for column, method in enumerate(STRENGTHS):
                own = [place for place, (each, _) in enumerate(SLATES) if each == method]
                kept = [place for place in own if ndcg[place] >= KEPT * ndcg[0]]
                best = max(kept or own[:1], key=lambda place: recall[place])
                values[testing, :, column] = found[testing, best]
                details = {"base": settings[base], "als": (SLATES[best][1], *settings["als"])}
                chosen[method].append(str(details.get(method, SLATES[best][1])))
        known = ~np.isnan(values)
        flat = np.nan_to_num(values).reshape(len(values), -1), known.reshape(len(values), -1).astype(float)
        samples, means = resample_means(*flat, setup.seed).reshape(-1, *values.shape[1:]), np.nanmean(values, axis=0)
        methods: dict[str, Any] = {method: {"settings": own} for method, own in chosen.items()}
        for column, method in enumerate(STRENGTHS):
            for place, measure in enumerate(MEASURES):
                mean, drawn = means[place, column], samples[:, place, column]
                gain = Estimate.from_samples(means[place, -1] - mean, samples[:, place, -1] - drawn)
                methods[method][measure] = asdict(Estimate.from_samples(mean, drawn))
                methods[method][f"bridge: gain in {measure}"] = asdict(gain)
        sizes = {"items": log.graph.num_nodes, "users": len(values), "users with new items": known[:, 1, 0].sum()}
        sizes["median_users"] = [np.median(log.usage[np.concatenate(some)]) for some in (log.histories, log.targets)]
        results.append({"log": name, "base": base, **sizes, "certified": means[2, -1], "methods": methods})
    return {"results": results}


def report(document: dict[str, Any]) -> Report:
    """Show accuracy and recall of new items, and the gain of bridges against every other method."""
    tables, remarks, above, below = {}, [], [], []
    for found in document["results"]:
        sizes = ", ".join(f"{found[size]:,} {size}" for size in ("items", "users", "users with new items"))
        title, methods = f"{TITLES[found['log']]}, {found['base']}, {sizes}", pd.DataFrame(found["methods"]).T
        shown = methods.drop(columns="settings").map(lambda cell: interval(cell, ".4f"))
        shown.insert(0, "settings", methods["settings"].map("; ".join).str.replace(r"[()']", "", regex=True))
        tables[title] = shown.reset_index(names="method")
        remarks.append(f"{title}: bridges cover at least {found['certified']:.0%} of what the best slates cover.")
        if found["base"] == "pagerank":
            gains = methods["bridge: gain in recall of new"][["mmr", "discount", "als"]]
            above.append(all(gain["low"] > 0 for gain in gains))
            below.append(any(gain["high"] < 0 for gain in gains))
            visited, held_out = found["median_users"]
            remarks[-1] += f" Training users of an item, median: {visited:.0f} visited, {held_out:.0f} held out."
    verdict = "wins" if any(above) and not any(below) else "does not win, so that the package has no such option"
    return Report(tables=tables, text=f"{PROTOCOL} {CHANGES}", remarks=[f"Bridge {verdict}.", *remarks])
