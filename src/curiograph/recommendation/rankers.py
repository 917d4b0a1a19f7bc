"""Built-in rankers by name, personalized PageRank, and mixtures of rankers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int32
from curiograph.centrality.history import Teleport, check_alpha, make_uniform_teleport
from curiograph.centrality.mixture import normalize_weights
from curiograph.centrality.pagerank import compute_flow_scales, compute_pagerank_rows
from curiograph.centrality.push import MAX_EDGES, push_scores
from curiograph.errors import SettingError, UnknownNameError, quote_value
from curiograph.exploration.mdp import Candidates
from curiograph.graph.csr import concatenate_ranges
from curiograph.graph.graph import Graph
from curiograph.recommendation.curious_ranker import CuriousRanker
from curiograph.recommendation.ranker import AdaptedRanker, Ranker, RankerLike, score_candidates
from curiograph.validation import is_number

RANKERS = ("mixture", "pagerank", "igt", "cpt")

MAX_EXACT_NODES = 50_000
"""Size up to which PageRank is solved on the whole graph; on larger graphs, by local push around the history."""

_SCORE_STEP = 1e-10  # PageRanks closer than this are ties: far above the solver's errors, which depend on the batch
_PUSH_NODES = 64  # nodes whose scores local push makes precise
_BATCH_SIZE = 64  # histories solved together; bounds the memory
_MAX_KEPT = 2**25  # numbers kept per graph by `prepare`: a quarter of a gigabyte


def as_ranker(
    ranker: RankerLike, *, alpha: float = 0.85, weights: Mapping[str, float] | None = None, seed: int = 0
) -> Ranker:
    """Return the ranker that a name or an object refers to.

    The names are "pagerank"; "igt" and "cpt", PageRank of greedy walkers for that reward; and "mixture" of these three.
    An object needs a method `scores(graph, histories, candidates)`.
    """
    if weights is not None and not (isinstance(ranker, str) and ranker == "mixture"):
        raise SettingError(f"weights are for the mixture, and the ranker is {quote_value(ranker)}; leave them out.")
    if isinstance(ranker, str):
        if ranker == "pagerank":
            return PageRankRanker(alpha)
        if ranker in ("igt", "cpt"):
            return CuriousRanker("greedy", ranker, alpha, seed=seed, name=ranker)
        if ranker == "mixture":
            return MixtureRanker({name: as_ranker(name, alpha=alpha, seed=seed) for name in RANKERS[1:]}, weights)
    if isinstance(ranker, Ranker):
        return ranker
    if callable(getattr(ranker, "scores", None)) and not isinstance(ranker, type):
        return AdaptedRanker(ranker)
    raise UnknownNameError(
        f"there is no ranker {quote_value(ranker)}; the rankers are {', '.join(RANKERS)}, what fit_ranker returns, or "
        "an object with a method scores(graph, histories, candidates)."
    )


@dataclass(frozen=True)
class PageRankRanker(Ranker):
    """Personalized PageRank: exact on graphs of up to 50,000 nodes, by local push to a few percent on larger ones.

    Examples
    --------
    >>> import curiograph as cg
    >>> top = cg.recommend(cg.toys.library(), ["music"], k=2, ranker=cg.PageRankRanker(alpha=0.5))
    >>> [label for label, score in top]
    ['poetry', 'physics']
    """

    alpha: float = 0.85
    """Probability to follow a link instead of teleporting to the history."""
    recency: float = 1.0
    """Weight of a visited node in the teleport distribution, relative to the node that was visited next."""
    name: str = "pagerank"
    _kept: dict[Graph, dict[int, tuple[Float64, float]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """Expected visits of every node before the first teleport, and their sum, by graph and start: the sum of visits
    over a history is proportional to its PageRank."""
    zero_is_unreached = True

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        if not is_number(self.recency) or not 0 < self.recency <= 1:
            raise SettingError(f"recency is {quote_value(self.recency)}; give a number above 0, and at most 1.")

    def make_teleport(self, history: Int32) -> Teleport:
        """Return the teleport distribution of a history."""
        weights = self.recency ** np.arange(len(history))[::-1]
        return Teleport(history, weights / weights.sum())

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        wanted = [candidates.nodes[a:b] for a, b in pairwise(candidates.offsets)]
        if graph.num_nodes > MAX_EXACT_NODES:
            pairs = zip(histories, wanted, strict=True)
            return np.concatenate([np.zeros(0), *(self._push(graph, *pair) for pair in pairs)])
        scores = np.empty(len(candidates.nodes))
        kept, unprepared = self._kept.get(graph, {}), []
        for user, (history, nodes) in enumerate(zip(histories, wanted, strict=True)):
            if kept and all(v in kept for v in history.tolist()):
                shares = self.make_teleport(history).probabilities.tolist()
                own = [(share, *kept[v]) for share, v in zip(shares, history.tolist(), strict=True)]
                if 2 * len(nodes) > graph.num_nodes:
                    found = np.asarray(sum(share * visits for share, visits, _ in own))[nodes]
                else:
                    found = np.asarray(sum(share * visits[nodes] for share, visits, _ in own))
                found = found / sum(share * total for share, _, total in own)
                scores[candidates.offsets[user] : candidates.offsets[user + 1]] = found
            else:
                unprepared.append(user)
        for first in range(0, len(unprepared), _BATCH_SIZE):
            users = unprepared[first : first + _BATCH_SIZE]
            rows = compute_pagerank_rows(graph, self.alpha, [self.make_teleport(histories[user]) for user in users])
            for user, row in zip(users, rows, strict=True):
                scores[candidates.offsets[user] : candidates.offsets[user + 1]] = row[wanted[user]]
        return _round_scores(scores)

    def prepare(self, graph: Graph, nodes: Sequence[int]) -> None:
        """Solve for some start nodes in advance, as many as fit into memory; histories of them need no solving."""
        if graph.num_nodes > MAX_EXACT_NODES:
            return
        kept = self._kept.setdefault(graph, {})
        new = [v for v in nodes if v not in kept][: max(0, _MAX_KEPT // graph.num_nodes - len(kept))]
        for first in range(0, len(new), _BATCH_SIZE):
            starts = new[first : first + _BATCH_SIZE]
            teleports = [make_uniform_teleport(np.asarray([v], np.int32)) for v in starts]
            rows = compute_pagerank_rows(graph, self.alpha, teleports)
            totals = compute_flow_scales(graph, self.alpha, rows)
            rows *= totals[:, None]
            for start, visits, total in zip(starts, rows, totals.tolist(), strict=True):
                kept[start] = visits, total

    def _push(self, graph: Graph, history: Int32, wanted: Int32) -> Float64:
        """Return scores of some nodes by local push, reading only the graph around the history and around them."""
        result = push_scores(graph, self.make_teleport(history), self.alpha, _PUSH_NODES, max_edges=MAX_EDGES)
        order = np.argsort(result.nodes)
        nodes = result.nodes[order]
        # The mass not yet pushed has spread far, so it is distributed like PageRank without a history, which is the
        # stationary distribution if the graph is undirected.
        if graph.directed:
            spread = _solve_global_pagerank(graph, self.alpha)[nodes]
        else:
            spread = graph.transition.get_strength(nodes) / max(graph.transition.total, 1e-300)
        known = result.scores[order] + max(0.0, 1 - result.scores.sum()) * spread
        near = np.ones(len(wanted), bool) if len(wanted) <= len(nodes) else np.isin(wanted, nodes)
        scores = np.zeros(len(wanted))
        scores[near] = np.maximum(
            look_up_values(nodes, known, wanted[near]), _propagate(graph, self.alpha, nodes, known, wanted[near])
        )
        return scores


@dataclass(frozen=True)
class PopularPageRank(Ranker):
    """Visitors if the graph has them, else PageRank without a history, for users who have visited nothing yet."""

    alpha: float
    name: str = "pagerank"

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        if graph.visitors is not None:
            return graph.visitors[candidates.nodes].astype(np.float64)
        return _round_scores(_solve_global_pagerank(graph, self.alpha))[candidates.nodes]


def _solve_global_pagerank(graph: Graph, alpha: float) -> Float64:
    """Return PageRank without a history, solved once per graph."""
    known = graph.transition.pagerank_by_alpha
    if alpha not in known:
        uniform = make_uniform_teleport(np.arange(graph.num_nodes, dtype=np.int32))
        known[alpha] = compute_pagerank_rows(graph, alpha, [uniform])[0]
    return known[alpha]


def look_up_values(nodes: Int32, values: NDArray[Any], wanted: NDArray[Any]) -> Float64:
    """Return the values of the wanted nodes, given those of other nodes in ascending order; zero if unknown."""
    if len(nodes) == 0:
        return np.zeros(len(wanted))
    place = nodes.searchsorted(wanted)
    found = values.take(place, mode="clip").astype(np.float64)
    found[nodes.take(place, mode="clip") != wanted] = 0.0
    return found


def _propagate(graph: Graph, alpha: float, known: Int32, scores: Float64, nodes: Int32) -> Float64:
    """Return the score that arrives at some nodes in one step from known ones: more precise than their pushed score."""
    indptr, indices, weights = graph.transition.rows
    starts, ends = indptr[nodes].astype(np.int64), indptr[nodes + 1].astype(np.int64)
    counts = ends - starts
    places = concatenate_ranges(starts, counts)
    sources = indices[places].astype(np.int32)
    flows = look_up_values(known, scores, sources) * graph.transition.get_share(sources)
    if weights is not None:
        flows *= weights[places]
    return np.asarray(alpha * np.bincount(np.repeat(np.arange(len(nodes)), counts), flows, len(nodes)), np.float64)


def _round_scores(scores: Float64) -> Float64:
    """Round scores so that ties do not depend on the order of summation; small scores stay above zero."""
    steps = np.round(scores / _SCORE_STEP)
    return np.where(steps > 0, steps * _SCORE_STEP, scores)


@dataclass(frozen=True, eq=False)
class MixtureRanker(Ranker):
    """Weighted sum of rankers, with weights scaled to the unit sphere.

    The scores of every built-in ranker add up to 1 over all nodes; those of a custom one should as well.

    Examples
    --------
    >>> import curiograph as cg
    >>> components = {"pagerank": cg.PageRankRanker(), "igt": cg.CuriousRanker("greedy", "igt")}
    >>> top = cg.recommend(cg.toys.library(), ["music"], k=2, ranker=cg.MixtureRanker(components, {"pagerank": 1}))
    >>> [label for label, score in top]
    ['mathematics', 'physics']
    """

    components: Mapping[str, Ranker]
    """Rankers, or objects with a method `scores`, by name."""
    weights: Mapping[str, float] | None = None
    """Weights by name; equal if None. A component without a weight gets zero."""
    name: str = "mixture"
    _unit: Mapping[str, float] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.components, Mapping) or not self.components:
            raise SettingError(f"the components are {quote_value(self.components)}; give rankers by name.")
        rankers = {str(name): as_ranker(component) for name, component in self.components.items()}
        object.__setattr__(self, "components", rankers)
        object.__setattr__(self, "_unit", normalize_weights(self.components, self.weights))

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        parts = self.components.items()
        return self.joined({name: score_candidates(part, graph, histories, candidates) for name, part in parts})

    def errors(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        parts = self.components.items()
        squares = [(self._unit[name] * part.errors(graph, histories, candidates)) ** 2 for name, part in parts]
        return np.asarray(np.sqrt(np.sum(squares, axis=0)))

    def parts(self) -> Mapping[str, Ranker]:
        return self.components

    def joined(self, scores: Mapping[str, Float64]) -> Float64:
        return np.asarray(sum(weight * scores[name] for name, weight in self._unit.items()))
