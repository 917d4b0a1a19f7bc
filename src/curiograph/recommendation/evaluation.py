"""`evaluate_recommenders`: compare rankers on held-out events of a log."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from curiograph.arrays import Float64, Int32, Int64
from curiograph.bootstrap import INTERVAL_PERCENTILES, Estimate, draw_weights, make_columns, resample_means
from curiograph.errors import SettingError, WalkError, quote_value
from curiograph.graph.graph import Graph, as_graph
from curiograph.graph.labels import LabelReader
from curiograph.progress import Progress, no_progress
from curiograph.recommendation.count_rankers import FITTED_RANKERS, fit_ranker
from curiograph.recommendation.curious_ranker import CuriousRanker
from curiograph.recommendation.incidence import build_incidence
from curiograph.recommendation.log_split import LogSplit, SplitKind, split_log
from curiograph.recommendation.ranker import Ranker, find_candidates, score_candidates
from curiograph.recommendation.rankers import MixtureRanker, PageRankRanker, as_ranker
from curiograph.results import Table, to_plain
from curiograph.validation import check_choice, check_integer, check_seed

if TYPE_CHECKING:
    from curiograph.human.trajectories import Trajectories

METHODS = (*FITTED_RANKERS, "pagerank", "igt+cpt", "mixture")
"""Names of the rankers; the last three need links."""
USER_MEASURES = ("hit", "recall", "ndcg", "novelty", "serendipity", "diversity")
"""Measures at k that are means over users."""

_FEW_USERS = 100  # below, the answer says so
_BATCH_SCORES = 2**22  # users times items that are scored together; bounds the memory


@dataclass(frozen=True, eq=False, repr=False)
class RecommenderEvaluation(Table):
    """Measures of several rankers on the same held-out events: one row per method."""

    split: str
    """How the log was split: time, user or last."""
    facts: dict[str, Any]
    """Sizes of the split, and the graph."""
    estimates: dict[str, dict[str, Estimate]]
    """Value and 95 % interval by method and measure, such as `ndcg@10`."""
    samples: dict[str, dict[str, Float64]]
    """Bootstrap samples by method and measure; sample i of all methods is of the same users."""
    skipped_methods: dict[str, str]
    """Why a method was left out, by its name."""

    def __repr__(self) -> str:
        return f"RecommenderEvaluation({self.split} split: {self.answer} {', '.join(self.estimates)})"

    @property
    def answer(self) -> str:
        """What the numbers rest on: items, test users, users that could not be tested, and what was left out."""
        items, users, left_out = (self.facts[name] for name in ("items", "test_users", "left_out_users"))
        few = ", too few to compare methods," if users < _FEW_USERS else ""
        cold = f"; {left_out:,} others have no item of the catalog before or after the cut" if left_out else ""
        texts = [f"{users:,} test users{few} and {items:,} items{cold}."]
        if self.facts["graph_knows_test_events"]:
            texts.append("The graph was built from more than the training events, and may know test items.")
        return " ".join([*texts, *(f"Left out: {name}, {why}" for name, why in self.skipped_methods.items())])

    def columns(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {"method": list(self.estimates)}
        for measure in next(iter(self.estimates.values())):
            columns |= make_columns(measure, [each[measure] for each in self.estimates.values()])
        return columns

    def to_dict(self) -> dict[str, Any]:
        facts = {**to_plain(self.facts), "answer": self.answer, "skipped_methods": self.skipped_methods}
        return {**facts, **super().to_dict()}

    def difference(self, method: str, other: str, measure: str) -> Estimate:
        """Return the difference of two methods in a measure, with the interval over the same resampled users."""
        for each in (method, other):
            check_choice("a method", each, tuple(self.estimates))
        check_choice("the measure", measure, tuple(self.estimates[method]))
        value = self.estimates[method][measure].value - self.estimates[other][measure].value
        return _estimate(value, self.samples[method][measure] - self.samples[other][measure])


def evaluate_recommenders(
    walks: Trajectories,
    split: SplitKind = "time",
    *,
    methods: Sequence[Any] | None = None,
    ks: Sequence[int] = (5, 10, 20),
    graph: Graph | Callable[[Trajectories], Graph] | None = None,
    test: float | None = None,
    alpha: float = 0.85,
    item_users: int = 5,
    max_users: int | None = None,
    walkers: int = 256,
    seed: int = 0,
    progress: Progress = no_progress,
) -> RecommenderEvaluation:
    """Compare rankers on held-out events: accuracy, novelty, diversity and coverage, with intervals over users.

    Everything is fitted to training events alone. Every method ranks all items of the catalog that are not in the
    history of the user. Items with equal scores are in order of popularity.

    Parameters
    ----------
    walks : Trajectories
        Events of users.
    split : {"time", "user", "last"}
        "time": all events after one point in time are test events, and nothing after it is used for training. "user":
        all events of some users are held out; the last fifth of the distinct items of each are the test items, the
        events before are the history. "last": the last new item of every user is the test item, and all events before
        it are training events.
    methods : sequence, optional
        Names of methods (also "pagerank:0.9", as in `recommend`), rankers, or classes with `from_walks(graph, walks)`
        that return a ranker. Default: the rankers fitted to people and, with a graph, "pagerank", "igt+cpt", "mixture".
    ks : sequence of int
        Lengths of the lists.
    graph : Graph or callable, optional
        Graph of the items for PageRank and curious walkers, or a function of the training walks that returns one:
        `cg.human.cooccurrence_graph`, which the command takes by default. A graph that was built from all events knows
        the test items, and `answer` says so if the graph has `visitors`.
    test : float, optional
        Share of the events ("time") or of the users ("user") to test on. Default: 0.2. Not for "last".
    alpha : float
        Probability to continue, of PageRank and curious walkers; in the study of the documentation, 0.1 to 0.3 is best.
    item_users : int
        Minimum number of training users of an item of the catalog.
    max_users : int, optional
        Maximum number of test users, drawn at random; the training events stay the same.
    walkers : int
        Number of curious walkers from each node of a history.
    seed : int
        Random seed of test users, ties, walkers and resampling.
    progress : callable
        Called with a message and the completed share.

    Returns
    -------
    RecommenderEvaluation
        A table with one row per method, with `.estimates` and `.difference(method, other, measure)`.

    Examples
    --------
    >>> import curiograph as cg
    >>> lists = [["a", "b", "c"], ["b", "a", "c"], ["c", "a", "b"], ["d", "c", "b"]] * 3
    >>> walks = cg.human.Trajectories.from_walks(lists)
    >>> found = cg.evaluate_recommenders(walks, "last", methods=["popularity", "item-knn"], ks=[1, 2], item_users=1)
    >>> found
    RecommenderEvaluation(last split: 12 test users, too few to compare methods, and 4 items. popularity, item-knn)
    >>> found.estimates["popularity"]["hit@2"].value
    1.0
    """
    if not hasattr(walks, "offsets"):
        raise SettingError(f"the walks are {quote_value(walks)}; give Trajectories, as `walks` of a dataset.")
    if isinstance(ks, (str, bytes)) or not isinstance(ks, Collection) or not len(ks):
        raise SettingError(f"ks is {quote_value(ks)}; give a list of lengths such as [5, 10].")
    lengths = sorted({check_integer("k", k, 1, "give lengths of lists of 1 or more") for k in ks})
    check_integer("walkers", walkers, 1, "give the number of walkers, 1 or more")
    if methods is None:
        methods = METHODS if graph is not None else FITTED_RANKERS
    if isinstance(methods, str) or not isinstance(methods, Sequence) or not methods:
        raise SettingError(f"methods is {quote_value(methods)}; give a list of names such as {', '.join(METHODS)}.")
    named: dict[str, Any] = {}
    for method in methods:
        if isinstance(method, str):
            check_choice("a method", "pagerank" if method.startswith("pagerank:") else method, METHODS)
        name = method if isinstance(method, str) else getattr(method, "name", getattr(method, "__name__", None))
        if named.setdefault(str(name), method) is not method:
            raise SettingError(f"two methods are named {name!r}; give them different names (name=).")
    found = split_log(walks, split, test=test, item_users=item_users, max_users=max_users, seed=check_seed(seed))
    catalog = Catalog.from_split(found, seed)
    no_items = np.empty(0, np.int64)
    items, knows_more = Graph.from_arrays(no_items, no_items, names=found.train.names), None
    no_links = "it needs links; give graph=cg.human.cooccurrence_graph."
    if graph is not None and not named.keys() <= set(FITTED_RANKERS):
        try:
            items = _link_catalog(items, graph(found.train) if callable(graph) else as_graph(graph))
            if items.visitors is not None:
                knows_more = bool((items.visitors > catalog.visitors).any())
        except WalkError as error:
            if not callable(graph):
                raise
            no_links = str(error)
    curious = {
        reward: CuriousRanker("greedy", reward, alpha, walks=walkers, seed=seed, name=reward)
        for reward in ("igt", "cpt")
    }
    linked = {
        "igt+cpt": MixtureRanker(curious, name="igt+cpt"),
        "mixture": MixtureRanker({"pagerank": PageRankRanker(alpha), **curious}),
        **{
            name: as_ranker(name, alpha=alpha)
            for name in methods
            if isinstance(name, str) and name.startswith("pagerank")
        },
    }
    estimates, samples, skipped = {}, {}, {}
    for number, (name, method) in enumerate(named.items()):
        progress(f"fitting and ranking: {name}", number / len(named))
        try:
            if isinstance(method, str):
                ranker = linked[name] if name in linked else fit_ranker(name, items, found.train)
            else:
                is_fitted = isinstance(method, type) and hasattr(method, "from_walks")
                ranker = as_ranker(method.from_walks(items, found.train) if is_fitted else method)
        except SettingError as error:  # such as too many items for EASE: one method does not end the comparison
            skipped[name] = str(error)
            continue
        if items.num_edges == 0 and any(part.zero_is_unreached for part in ranker.parts().values()):
            skipped[name] = no_links
            continue
        estimates[name], samples[name] = _measure_ranker(ranker, items, found, catalog, lengths, seed)
    if not estimates:
        raise SettingError(f"no method is left to compare: {' '.join(dict.fromkeys(skipped.values()))}")
    facts = found.facts | {"graph_knows_test_events": knows_more, "graph": None, "items_with_links": None}
    if items.num_edges > 0:
        facts |= {"graph": repr(items), "items_with_links": int(np.count_nonzero(items.degrees))}
    return RecommenderEvaluation(split, facts, estimates, samples, skipped)


def _link_catalog(catalog: Graph, graph: Graph) -> Graph:
    """Return the catalog with the links of a graph, whose labels are matched as by `LabelReader`."""
    reader = LabelReader(catalog)
    places = [reader.find(label) for label in graph.labels]
    found = np.array([-1 if place is None else place for place in places])
    source = found[np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))]
    target = found[graph.indices]
    inside = (source >= 0) & (target >= 0)
    if not graph.directed:
        inside &= source < target
    if not inside.any():
        raise WalkError("the graph links no two items of the catalog; give a graph with the items of the log.")
    weights, visitors = None if graph.weights is None else graph.weights[inside], None
    if graph.visitors is not None:
        visitors = np.bincount(found[found >= 0], graph.visitors[found >= 0], minlength=catalog.num_nodes)
    given: Any = {"directed": graph.directed, "names": catalog.names, "visitors": visitors}
    return Graph.from_arrays(source[inside], target[inside], weights, **given)


# ---- measures -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Catalog:
    """What the measures need to know of the training events."""

    popular: Int32
    """All items, those with most training users first; items with equally many are in random order."""
    visitors: Int64
    """Number of training users of every item."""
    information: Float64
    """Self-information of each item in bits: -log2 of the share of training users who visited it."""
    vectors: Any
    """Items x training users, a scipy csr_array with rows of length 1: products are cosine similarities."""

    @classmethod
    def from_split(cls, split: LogSplit, seed: int = 0) -> Catalog:
        """Count the training users of every item."""
        by_user = build_incidence(split.train, split.train.users)
        counts = by_user.sum(axis=0)
        order = np.random.default_rng([seed, 2]).permutation(len(counts))
        return cls(
            popular=order[np.argsort(-counts[order], kind="stable")].astype(np.int32),
            visitors=counts,
            information=-np.log2(counts / by_user.shape[0]),
            vectors=by_user.T.multiply(1 / np.sqrt(counts)[:, None]).tocsr(),
        )


def rank_items(ranker: Ranker, graph: Graph, split: LogSplit, catalog: Catalog, k: int) -> tuple[Int32, Int32, Float64]:
    """Rank all unvisited items for every test user; items of equal score are in order of popularity.

    Returns
    -------
    top, popular : ndarray
        Users x k: the best items by the ranker, and by popularity; -1 if the catalog has fewer.
    reciprocal : ndarray
        Reciprocal rank of the best-ranked target of every user.
    """
    histories, size = split.histories, len(catalog.popular)
    top, popular = (np.full((len(histories), k), -1, np.int32) for _ in range(2))
    reciprocal = np.zeros(len(histories))
    by_item, together = np.empty(size), max(1, _BATCH_SCORES // size)
    for first in range(0, len(histories), together):
        batch = histories[first : first + together]
        candidates = find_candidates(graph, batch, "all")
        scores = score_candidates(ranker, graph, batch, candidates)
        for user, history in enumerate(batch, start=first):
            own = slice(*candidates.offsets[user - first : user - first + 2])
            by_item[candidates.nodes[own]] = scores[own]
            unseen = catalog.popular[~np.isin(catalog.popular, history)]
            order = unseen[np.argsort(-by_item[unseen], kind="stable")]
            count = min(k, len(order))
            top[user, :count], popular[user, :count] = order[:count], unseen[:count]
            reciprocal[user] = 1 / (1 + np.argmax(np.isin(order, split.targets[user])))
    return top, popular, reciprocal


def measure_users(top: Int32, popular: Int32, targets: Sequence[Int32], catalog: Catalog) -> Float64:
    """Return users x `USER_MEASURES` of lists of k items; `popular` are the k most popular unvisited items."""
    k, listed = top.shape[1], top >= 0
    relevant = np.stack([np.isin(row, target) for row, target in zip(top, targets, strict=True)]) & listed
    expected = np.stack([np.isin(row, items) for row, items in zip(top, popular, strict=True)])
    counts = np.array([len(target) for target in targets])
    gains = 1 / np.log2(np.arange(2, k + 2))
    lengths = listed.sum(axis=1)
    # the similarities of all pairs of a list add up to half of |sum of the vectors|^2 - the number of items
    total = (count_items(top, len(catalog.popular)) @ catalog.vectors).power(2).sum(axis=1)
    pairs = lengths * (lengths - 1.0)
    diversity = np.divide(pairs - (total - lengths), pairs, out=np.full(len(top), np.nan), where=pairs > 0)
    return np.column_stack(
        [
            relevant.any(axis=1),
            relevant.sum(axis=1) / counts,
            relevant @ gains / np.cumsum(gains)[np.minimum(counts, k) - 1],
            np.where(listed, catalog.information[top], 0).sum(axis=1) / np.maximum(lengths, 1),
            (relevant & ~expected).sum(axis=1) / k,
            diversity,
        ]
    )


def count_items(top: Int32, num_items: int) -> Any:
    """Return users x items, a scipy csr_array with ones for the listed items."""
    rows, columns = np.nonzero(top >= 0)
    return scipy.sparse.csr_array((np.ones(len(rows)), (rows, top[rows, columns])), shape=(len(top), num_items))


def measure_gini(counts: Float64) -> Float64:
    """Return the Gini coefficient of each row: 0 if all items are recommended equally often, near 1 if one is."""
    ordered, size = np.sort(counts, axis=-1), counts.shape[-1]
    return np.asarray((2 * np.arange(1, size + 1) - size - 1) @ ordered.T / (size * ordered.sum(axis=-1)))


def _measure_ranker(
    ranker: Ranker, graph: Graph, split: LogSplit, catalog: Catalog, ks: Sequence[int], seed: int
) -> tuple[dict[str, Estimate], dict[str, Float64]]:
    """Return the estimates and bootstrap samples of all measures; the same seed draws the same users."""
    top, popular, reciprocal = rank_items(ranker, graph, split, catalog, max(ks))
    estimates: dict[str, Estimate] = {}
    samples: dict[str, Float64] = {}
    for k in ks:
        values = measure_users(top[:, :k], popular[:, :k], split.targets, catalog)
        names = [f"{measure}@{k}" for measure in USER_MEASURES]
        if k == ks[0]:
            values, names = np.column_stack([reciprocal, values]), ["mrr", *names]
        known = ~np.isnan(values)
        means = resample_means(np.where(known, values, 0), known.astype(np.float64), seed)
        for name, own, is_known, drawn in zip(names, values.T, known.T, means.T, strict=True):
            mean = float(np.mean(own[is_known])) if is_known.any() else float("nan")
            estimates[name], samples[name] = _estimate(mean, drawn), drawn
        lists = count_items(top[:, :k], len(catalog.popular))
        counts, num_items = lists.sum(axis=0), lists.shape[1]
        blocks = []
        for times in draw_weights(len(values), seed):
            for block in np.array_split(times, max(1, len(times) * num_items // _BATCH_SCORES)):
                listed = np.asarray(block @ lists)
                blocks.append([np.count_nonzero(listed, axis=1) / num_items, measure_gini(listed)])
        overall = (np.count_nonzero(counts) / num_items, float(measure_gini(counts)))
        for name, value, drawn in zip(("coverage", "gini"), overall, np.concatenate(blocks, axis=1), strict=True):
            # of users drawn with replacement fewer are distinct and cover fewer items, so only deviations count
            samples[f"{name}@{k}"] = drawn - drawn.mean() + value
            estimates[f"{name}@{k}"] = _estimate(value, np.clip(samples[f"{name}@{k}"], 0, 1))
    return estimates, samples


def _estimate(value: float, samples: Float64) -> Estimate:
    """Return an estimate with its interval from bootstrap samples."""
    if np.isnan(samples).any():
        return Estimate(value, float("nan"), float("nan"))
    low, high = np.percentile(samples, INTERVAL_PERCENTILES).tolist()
    return Estimate(value, min(low, value), max(high, value))
