"""Whether slates that bridge to regions not yet visited contain more items of new interests at equal accuracy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.bootstrap import Estimate, resample_means
from curiograph.graph.graph import Graph
from curiograph.human.data.cooccurrence import cooccurrence_graph
from curiograph.human.data.datasets import find_dataset
from curiograph.recommendation.count_rankers import ItemKnn
from curiograph.recommendation.incidence import build_incidence
from curiograph.recommendation.ranker import Ranker, find_candidates
from curiograph.recommendation.rankers import PageRankRanker
from curiograph.recommendation.selection import Selection
from reproduction.core_graphs import core
from reproduction.people import TITLES, load_datasets
from reproduction.report import Report, Setup, interval

PROTOCOL = """Written before the runs. Logs: MovieLens (films with 10 users, users with 10 of them) and Amazon Books
(20, 10). The last fifth of the items of every user is held out; everything is fitted to the rest. Interests are genres
of films, and for books 50 clusters (k-means of vectors of a singular value decomposition of training events, without
a graph). An interest is new for a user if less than 5 % of the history has it. Recall of new: share of the held-out
items with a new interest that are in the list of ten, over users who have any. Half of the users choose the settings
for the other half, and the reverse: first the settings of the base (PageRank on `cooccurrence_graph`, or item-kNN) and
of ALS by NDCG@10, then the strength of each method, with the highest recall of new of those that keep 95 % of the
NDCG@10 of the base. MMR: `diversity`. Discount: the score divided by a power of the number of users. ALS: a mixture of
the scores of the base and of ALS, each divided by its maximum, up to ALS alone. Bridge: of the 100 best items, a slate
that keeps a floor, a share of the sum of the ten best scores, and covers most, selected greedily: each item must leave
a slate above the floor within reach. Covered are, by an item that is linked to a visited one, either pairs (interest,
region) of communities, where the item is in a region with less than 5 % of the history and linked to a visited item of
an interest with more; or items that are not linked to the history and are linked to the item, or are it. Both are what
can become a gap: the number of loops itself is not submodular, because two items can open a loop that neither opens
alone. Without a floor a greedy slate covers at least 1 - 1/e of the best (Nemhauser et al. 1978); with the floor only
a tenth is guaranteed, so the share that the marginal gains certify is reported. Slates are in the order of the base.
Bridge wins if, over PageRank, its recall of new is clearly above that of all three others on one log, and clearly below
none on the other. Intervals: 95 %, paired, over users.""".replace("\n", " ")
K, RARE, KEPT, CLUSTERS, POOL = 10, 0.05, 0.95, 50, 100
CORES = {"movielens": (10, 10), "books": (20, 10)}
BASES: dict[str, tuple[float, ...]] = {"pagerank": (0.1, 0.3, 0.5, 0.7, 0.85), "item-knn": (20, 50, 100, 200)}
"""Settings of the bases: alpha, and the number of neighbors."""
ALS = ((32, 3.0), (32, 15.0), (96, 3.0), (96, 15.0))
"""Settings of ALS: number of factors, and weight of a visit."""
FLOORS = (0.99, 0.98, 0.95, 0.92, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5)
METHODS: dict[str, list[Any]] = {
    "mmr": [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9],
    "discount": [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0],
    "als": [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0],
    "bridge": [(cover, floor) for cover in ("pairs", "items") for floor in FLOORS],
}
"""Strengths of the methods."""


@dataclass(frozen=True, eq=False)
class Log:
    """Training events of all users, and the held-out items of those who are tested."""

    graph: Graph
    walks: Any
    visits: scipy.sparse.csr_array
    tested: Int64
    targets: list[Int32]
    is_new: NDArray[np.bool_]
    communities: Int64

    def history(self, place: int) -> Int32:
        """Return the training items of a tested user."""
        user = self.tested[place]
        return self.walks.nodes[self.walks.offsets[user] : self.walks.offsets[user + 1]]


def split_events(name: str, setup: Setup, users: int) -> Log:
    """Hold out the last fifth of the items of every user, and find which items have a new interest for whom."""
    (data,) = load_datasets([name], setup.folder)
    walks = core(data.walks, *CORES[name])
    place = np.arange(len(walks.nodes)) - np.repeat(walks.offsets[:-1], walks.lengths)
    is_early = place < np.repeat(walks.lengths - np.round(walks.lengths / 5), walks.lengths)
    graph = cooccurrence_graph(walks.select_visits(is_early))
    early, late = (walks.select_visits(some).on(graph) for some in (is_early, ~is_early))
    rng = np.random.default_rng([setup.seed, 1])
    able = np.flatnonzero((early.lengths > 0) & (late.lengths > 0))
    tested = rng.permutation(able)[:users]
    visits = build_incidence(early, np.arange(len(early.lengths))).astype(np.float64)
    if name == "movielens":
        movies = pd.read_csv(find_dataset(name, setup.folder).with_name("movies.csv")).drop_duplicates("title")
        texts = movies.set_index("title").genres.reindex(list(map(str, graph.labels)), fill_value="")
        interests = texts.str.get_dummies("|").drop(columns="(no genres listed)", errors="ignore").to_numpy(float)
    else:
        scaled = visits / np.sqrt(np.maximum(visits.sum(axis=0), 1))
        _, sizes, vectors = scipy.sparse.linalg.svds(scaled, 64, rng=rng)
        vectors = vectors.T * sizes
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        interests = np.eye(CLUSTERS)[kmeans2(vectors, CLUSTERS, iter=50, minit="++", rng=rng)[1]]
    own = visits[tested]
    new = (own @ interests) < RARE * own.sum(axis=1)[:, None]
    targets = [late.nodes[late.offsets[user] : late.offsets[user + 1]] for user in tested]
    skeleton = graph.skeleton
    communities = kernels.communities.find_communities(skeleton.indptr, skeleton.indices, 1)[0]
    return Log(graph, early, visits, tested, targets, new @ interests.T > 0, communities)


def fit_als(visits: scipy.sparse.csr_array, factors: int, weight: float, seed: int, l2: float = 5.0) -> Float64:
    """Return users x items: scores of alternating least squares for implicit feedback (Hu et al. 2008)."""

    def solve(rows: Any, others: Float64) -> Float64:
        gram, solved = others.T @ others + l2 * np.eye(factors), np.empty((rows.shape[0], factors))
        for row, (start, stop) in enumerate(zip(rows.indptr, rows.indptr[1:], strict=False)):
            own = others[rows.indices[start:stop]]
            solved[row] = np.linalg.solve(gram + weight * own.T @ own, (1 + weight) * own.sum(axis=0))
        return solved

    items, by_item = np.random.default_rng(seed).normal(0, 0.1, (visits.shape[1], factors)), visits.T.tocsr()
    for _ in range(10):
        users = solve(visits, items)
        items = solve(by_item, users)
    return solve(visits, items) @ items.T


def score_base(log: Log, name: str, setting: float) -> Float64:
    """Return users x items: scores of the base, -1 for visited items."""
    histories = [log.history(place) for place in range(len(log.tested))]
    fitted: Ranker = (
        PageRankRanker(setting)
        if name == "pagerank"
        else ItemKnn.from_walks(log.graph, log.walks, int(setting), by_user=True)
    )
    candidates = find_candidates(log.graph, histories, "all")
    scores = np.full((len(histories), log.graph.num_nodes), -1.0)
    scores[candidates.walks, candidates.nodes] = fitted.scores(log.graph, histories, candidates)
    return scores


def cover_items(log: Log, history: Int32, nodes: Int64, kind: str) -> Float64:
    """Return nodes x elements: what each node covers, as described in the protocol."""
    links, size = log.graph.skeleton.to_scipy().tocsr(), log.graph.num_nodes
    linked = (links[nodes][:, history] != 0).toarray()
    if kind == "items":
        known = np.zeros(size, bool)
        known[history] = known[links[history].indices] = True
        reached = links[nodes].toarray() != 0
        reached[np.arange(len(nodes)), nodes] = True
        covered = reached[:, ~known] & linked.any(axis=1, keepdims=True)
    else:
        member, num = log.communities, log.communities.max() + 1
        is_interest = np.bincount(member[history], minlength=num) >= RARE * len(history)
        interests = (linked @ np.eye(num)[member[history]] > 0) & is_interest
        regions = np.eye(num, dtype=bool)[member[nodes]] & ~is_interest
        covered = (interests[:, :, None] & regions[:, None, :]).reshape(len(nodes), -1)
    return covered[:, covered.any(axis=0)].astype(np.float64)


def select_bridge(scores: Float64, covers: Float64, floor: float, k: int = K) -> tuple[list[int], float]:
    """Select k of the items, which are in order of their scores; return them, and the certified share of the best.

    >>> select_bridge(np.array([4.0, 3.0, 3.0]), np.array([[1.0, 0], [1, 0], [0, 1]]), 0.9, 2)
    ([0, 2], 1.0)
    """
    least, rest, chosen = floor * scores[:k].sum() * (1 - 1e-9), list(range(len(scores))), list[int]()
    is_open, bound = np.ones(covers.shape[1]), np.inf
    may_be_chosen = scores[: k - 1].sum() + scores >= least
    for left in range(min(k, len(rest)) - 1, -1, -1):
        own, gains = scores[rest], covers @ is_open
        bound = min(bound, (1 - is_open).sum() + np.sort(gains[may_be_chosen])[-k:].sum())
        reach = scores[chosen].sum() + own[:left].sum() + np.minimum(own, own[left])
        best = rest[int(np.argmax(np.where(reach >= least, gains[rest], -1)))]
        chosen.append(best)
        rest.remove(best)
        is_open[covers[best] > 0] = 0
    return sorted(chosen), 1.0 if bound == 0 else float((1 - is_open).sum() / bound)


def select_slates(log: Log, place: int, scores: Float64, als: Float64, usage: Float64) -> Iterator[tuple[Int64, float]]:
    """Yield the list of the base and of each method and strength for a user, with the certified share of bridges."""
    unseen, slates = scores >= 0, Selection()
    nodes = np.arange(len(scores), dtype=np.int32)
    mixed = np.where(unseen, als, 0) / max(als[unseen].max(), 1e-12), scores / scores.max()

    def select(values: Float64, diversity: float = 0.0) -> Int64:
        return Selection(diversity=diversity).select(log.graph, nodes, values, unseen, K)

    def sort(chosen: Int64) -> Int64:
        return chosen[np.argsort(-scores[chosen], kind="stable")]

    best = slates.select(log.graph, nodes, scores, unseen, POOL)
    covers = {kind: cover_items(log, log.history(place), best, kind) for kind in ("pairs", "items")}
    yield best[:K], 1.0
    for method, strengths in METHODS.items():
        for strength in strengths:
            if method == "mmr":
                yield sort(select(scores, strength)), 1.0
            elif method == "discount":
                yield select(scores / usage**strength), 1.0
            elif method == "als":
                yield select(strength * mixed[0] + (1 - strength) * mixed[1]), 1.0
            else:
                chosen, certified = select_bridge(scores[best], covers[strength[0]], strength[1])
                yield best[chosen], certified


def measure(log: Log, place: int, top: Int64) -> tuple[float, float]:
    """Return NDCG@10 and the recall of new items of a list; NaN for a user without held-out new items."""
    targets, gains = log.targets[place], 1 / np.log2(np.arange(2, K + 2))
    new = targets[log.is_new[place, targets]]
    accuracy = np.isin(top, targets) @ gains / gains[: len(targets)].sum()
    return float(accuracy), float(np.isin(new, top).mean()) if len(new) else np.nan


def compute(setup: Setup, only: tuple[str, ...] = ("movielens", "books"), users: int = 2_000) -> dict[str, Any]:
    """Compare bridges with the other methods on at most `users` users of each log."""
    results = []
    names = [("base", None), *((method, strength) for method, some in METHODS.items() for strength in some)]
    for log_name in only:
        log = split_events(log_name, setup, users)
        usage, places = np.maximum(log.visits.sum(axis=0), 1), range(len(log.tested))
        halves = [np.arange(half, len(places), 2) for half in (0, 1)]  # the tested users are in random order

        def find_best(scored: dict[Any, Float64], log: Log = log, places: Any = places, halves: Any = halves) -> Any:
            tops = {name: np.argsort(-scores, axis=1, kind="stable")[:, :K] for name, scores in scored.items()}
            ndcg = {name: np.array([measure(log, i, top[i])[0] for i in places]) for name, top in tops.items()}
            return [max(ndcg, key=lambda name: ndcg[name][half].mean()) for half in halves]

        factors = {setting: fit_als(log.visits, *setting, setup.seed)[log.tested] for setting in ALS}
        seen = log.visits[log.tested].toarray() > 0
        best_als = find_best({setting: np.where(seen, -np.inf, scores) for setting, scores in factors.items()})
        for base, settings in BASES.items():
            scored = {setting: score_base(log, base, setting) for setting in settings}
            best_base = find_best(scored)
            values, certified = np.empty((len(places), len(METHODS) + 1, 2)), []
            chosen: dict[str, list[Any]] = {name: [] for name in ("base", *METHODS)}
            for half, (setting, als) in enumerate(zip(best_base, best_als, strict=True)):
                setup.progress(f"{log_name}, {base}", half / 2)
                lists = [list(select_slates(log, i, scored[setting][i], factors[als][i], usage)) for i in places]
                found = np.array([[measure(log, i, top) for top, _ in lists[i]] for i in places])
                ndcg, recall = np.nanmean(found[halves[half]], axis=0).T
                other = halves[1 - half]
                for column, method in enumerate(chosen):
                    own = [k for k, (name, _) in enumerate(names) if name == method]
                    kept = [k for k in own if ndcg[k] >= KEPT * ndcg[0]] or own[:1]
                    best = max(kept, key=lambda k: recall[k])
                    values[other, column] = found[other, best]
                    detail = {"base": setting, "als": [names[best][1], *als]}
                    chosen[method].append(detail.get(method, names[best][1]))
                    if method == "bridge":
                        certified += [lists[i][best][1] for i in other]
            known = ~np.isnan(values)
            counts = known.reshape(len(places), -1).astype(float)
            drawn = resample_means(np.nan_to_num(values).reshape(len(places), -1), counts, setup.seed)
            samples, means = drawn.reshape(-1, *values.shape[1:]), np.nanmean(values, axis=0)
            rows = {}
            for column, method in enumerate(chosen):
                rows[method] = {"settings": chosen[method]}
                for place, kind in enumerate(("ndcg", "recall")):
                    own, ours = samples[:, column, place], samples[:, -1, place]
                    rows[method][kind] = asdict(Estimate.from_samples(means[column, place], own))
                    change = Estimate.from_samples(means[-1, place] - means[column, place], ours - own)
                    rows[method][f"bridge_{kind}"] = asdict(change)
            sizes = {"users": len(places), "users_with_new": int(known[:, 0, 1].sum()), "items": log.graph.num_nodes}
            results.append({"log": log_name, "base": base, **sizes, "certified": np.mean(certified), "methods": rows})
    return {"results": results}


def report(document: dict[str, Any]) -> Report:
    """Show accuracy and recall of new items, and what bridges change against every other method."""
    tables, remarks, verdicts = {}, [], []
    for found in document["results"]:
        title = (
            f"{TITLES[found['log']]}, {found['base']}, {found['items']:,} items, {found['users']:,} users, "
            f"{found['users_with_new']:,} with new items"
        )
        tables[title] = pd.DataFrame(
            [
                [
                    method,
                    "; ".join(str(each).strip("[]()").replace("'", "") for each in row["settings"]),
                    *(interval(row[kind], ".4f") for kind in ("ndcg", "recall")),
                    *("-" if method == "bridge" else interval(row[f"bridge_{kind}"]) for kind in ("ndcg", "recall")),
                ]
                for method, row in found["methods"].items()
            ],
            columns=["method", "settings", "NDCG@10", "recall of new", "bridge: NDCG@10", "bridge: recall of new"],
        )
        changes = [found["methods"][method]["bridge_recall"] for method in ("mmr", "discount", "als")]
        if found["base"] == "pagerank":
            verdicts.append([min(each["low"] for each in changes) > 0, min(each["high"] for each in changes) < 0])
        remarks.append(f"{title}: bridges cover at least {found['certified']:.0%} of the best slate on average.")
    wins = any(above for above, _ in verdicts) and not any(below for _, below in verdicts)
    remarks.insert(0, f"Bridge {'wins' if wins else 'does not win'} by the rule of the protocol.")
    return Report(tables=tables, text=PROTOCOL, remarks=remarks)
