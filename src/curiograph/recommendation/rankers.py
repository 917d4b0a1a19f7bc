"""Built-in rankers by name, personalized PageRank, and mixtures of rankers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from curiograph import kernels
from curiograph.arrays import Float64, Int32
from curiograph.centrality.history import Teleport, make_uniform_teleport
from curiograph.centrality.mixture import normalize_weights
from curiograph.centrality.pagerank import compute_pagerank_rows, iterate_visits
from curiograph.errors import SettingError, UnknownNameError, quote_value
from curiograph.exploration.mdp import Candidates
from curiograph.graph.graph import Graph
from curiograph.recommendation.curious_ranker import CuriousRanker
from curiograph.recommendation.parts import Part, PartRanker, compute_in_threads, score_parts
from curiograph.recommendation.ranker import AdaptedRanker, Ranker, RankerLike, score_candidates
from curiograph.validation import is_number

MAX_EXACT_NODES = 50_000
"""Size up to which PageRank is solved on the whole graph unless it is prepared; on larger graphs, by local push."""
MAX_SOLVED_NODES = 10_000
"""Size up to which parts are solved: for all nodes this is faster than local push from each."""

_SCORE_STEP = 1e-10  # PageRanks closer than this are ties: far above the solver's errors, which depend on the batch
_PUSHED_VISITS = 2e-6  # expected visits per link, as a share of all, that local push follows
_BATCH_SIZE = 64  # histories solved together; bounds the memory


def as_ranker(
    ranker: RankerLike, *, alpha: float = 0.85, weights: Mapping[str, float] | None = None, seed: int = 0
) -> Ranker:
    """Return the ranker that a name or an object refers to.

    The names are "pagerank", or "pagerank:0.9" for a recency of 0.9; "igt" and "cpt", PageRank of greedy walkers for
    that reward; and "mixture" of these three. An object needs a method `scores(graph, histories, candidates)`.
    """
    if weights is not None and not (isinstance(ranker, str) and ranker == "mixture"):
        raise SettingError(f"weights are for the mixture, and the ranker is {quote_value(ranker)}; leave them out.")
    if isinstance(ranker, str):
        name, colon, text = ranker.partition(":")
        if name == "pagerank":
            recency: Any = text if colon else 1.0
            with suppress(ValueError):
                recency = float(recency)
            return PageRankRanker(alpha, recency)  # which refuses text
        if ranker in ("igt", "cpt"):
            return CuriousRanker("greedy", ranker, alpha, seed=seed, name=ranker)
        if ranker == "mixture":
            names = ("pagerank", "igt", "cpt")
            return MixtureRanker({name: as_ranker(name, alpha=alpha, seed=seed) for name in names}, weights)
    if isinstance(ranker, Ranker):
        return ranker
    if callable(getattr(ranker, "scores", None)) and not isinstance(ranker, type):
        return AdaptedRanker(ranker)
    raise UnknownNameError(
        f"there is no ranker {quote_value(ranker)}; the rankers are mixture, pagerank, pagerank:RECENCY, igt, cpt, "
        "what fit_ranker returns, or an object with a method scores(graph, histories, candidates)."
    )


@dataclass(frozen=True)
class PageRankRanker(PartRanker):
    """Personalized PageRank: exact on graphs of up to 50,000 nodes, otherwise and once prepared a sum of parts.

    Parts are exact on graphs of up to 10,000 nodes, except that they omit the least visited nodes, and by local push,
    to a few percent, on larger ones.

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

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_number(self.recency) or not 0 < self.recency <= 1:
            raise SettingError(f"recency is {quote_value(self.recency)}; give a number above 0, and at most 1.")

    def weigh_visits(self, graph: Graph, history: Int32) -> Float64:
        return np.asarray(super().weigh_visits(graph, history) * self.recency ** np.arange(len(history))[::-1])

    def make_teleport(self, graph: Graph, history: Int32) -> Teleport:
        """Return the teleport distribution of a history."""
        weights = self.weigh_visits(graph, history)
        return Teleport(history, weights / weights.sum())

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        found = self.find_parts(graph, histories)
        scores = score_parts(graph, found, candidates)
        solved = [user for user, parts in enumerate(found) if parts is None]
        for first in range(0, len(solved), _BATCH_SIZE):
            users = solved[first : first + _BATCH_SIZE]
            teleports = [self.make_teleport(graph, histories[user]) for user in users]
            for user, row in zip(users, compute_pagerank_rows(graph, self.alpha, teleports), strict=True):
                own = slice(candidates.offsets[user], candidates.offsets[user + 1])
                scores[own] = _round_scores(row[candidates.nodes[own]])
        return scores

    def contributions(self, graph: Graph, history: Int32, nodes: Int32) -> Float64:
        if graph.num_nodes > MAX_EXACT_NODES or self.find_parts(graph, [history])[0] is not None:
            return super().contributions(graph, history, nodes)
        is_backward = not graph.directed and 0 < len(nodes) < len(history)
        starts, ends = (nodes, history) if is_backward else (history, nodes)
        solved = [(row[ends], total) for row, total in iterate_visits(graph, self.alpha, starts)]
        visits, totals = (np.array(each) for each in zip(*solved, strict=True))
        if is_backward:  # undirected walks are reversible: strength(u) visits(u, v) = strength(v) visits(v, u)
            strength = graph.transition.strength[history]
            visits = visits.T * graph.transition.strength[nodes] / np.maximum(strength, 1e-300)[:, None]
            totals = np.where(strength > 0, 1 / (1 - self.alpha), 1.0)
        shares = self.make_teleport(graph, history).probabilities
        return np.asarray(visits * shares[:, None] / (totals @ shares))

    def find_parts(self, graph: Graph, histories: Sequence[Int32]) -> list[dict[int, Part] | None]:
        kept = self.kept.get(graph, {})
        found: list[dict[int, Part] | None] = []
        for history in histories:
            nodes = history.tolist()
            parts = {v: part for v in nodes if (part := kept.get(v)) is not None} if kept else {}
            missing = [v for v in nodes if v not in parts] if self.simulates or not parts else []
            if missing and graph.num_nodes <= MAX_EXACT_NODES:
                found.append(None)
                continue
            if missing:
                parts |= dict(zip(missing, self._push_parts(graph, missing), strict=True))
            found.append(self.weigh_parts(graph, history, parts))
        return found

    def compute_parts(self, graph: Graph, nodes: Sequence[int]) -> list[Part]:
        if graph.num_nodes > MAX_SOLVED_NODES:
            return compute_in_threads(partial(self._push_parts, graph), nodes, self.workers)
        everywhere = np.arange(graph.num_nodes, dtype=np.int32)
        solved = iterate_visits(graph, self.alpha, nodes)
        return [Part.of_most_visited(graph, everywhere, visits, total) for visits, total in solved]

    def _push_parts(self, graph: Graph, nodes: Sequence[int]) -> list[Part]:
        """Compute the parts of some positions by local push."""
        indptr, indices, weights = graph.transition.out_rows
        share = None if weights is None else graph.transition.share
        workspaces = graph.transition.push_workspaces
        workspace = workspaces.pop(self.alpha, None)  # so that no other thread uses it
        if workspace is None:
            workspace = kernels.visit_push.allocate_workspace(indptr, _PUSHED_VISITS / (1 - self.alpha))
        # what is not pushed is spread like PageRank without a history: if undirected, in proportion to strength
        spread, scale = graph.transition.strength, max(graph.transition.total, 1e-300)
        if graph.directed:
            spread, scale = _solve_global_pagerank(graph, self.alpha), 1.0
        settings = indptr, indices, weights, share, self.alpha, spread, scale
        found = (kernels.visit_push.push_visits(*settings, node, *workspace) for node in nodes)
        parts = [Part.of_most_visited(graph, *each) for each in found]
        workspaces[self.alpha] = workspace
        return parts

    def describe(self, graph: Graph) -> dict[str, Any]:
        return {**super().describe(graph), "alpha": self.alpha}


@dataclass(frozen=True)
class PopularPageRank(Ranker):
    """Visitors if the graph has them, else PageRank without a history, for users who have visited nothing yet."""

    alpha: float
    name: str = "pagerank"
    is_personal = False

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


def _round_scores(scores: Float64) -> Float64:
    """Round scores so that ties do not depend on the order of summation; small scores stay above zero."""
    steps = np.round(scores / _SCORE_STEP)
    return np.where(steps > 0, steps * _SCORE_STEP, scores)


@dataclass(frozen=True, eq=False)
class MixtureRanker(Ranker):
    """Weighted sum of rankers, with weights scaled to the unit sphere; a ranker of weight zero is left out.

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
    """Weights by name; equal if None. A component without a weight is left out."""
    name: str = "mixture"
    _unit: Mapping[str, float] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.components, Mapping) or not self.components:
            raise SettingError(f"the components are {quote_value(self.components)}; give rankers by name.")
        rankers = {str(name): as_ranker(component) for name, component in self.components.items()}
        unit = {name: weight for name, weight in normalize_weights(rankers, self.weights).items() if weight}
        object.__setattr__(self, "components", {name: rankers[name] for name in unit})
        object.__setattr__(self, "weights", self.weights and {name: self.weights[name] for name in unit})
        object.__setattr__(self, "_unit", unit)

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        parts = self.components.items()
        return self.joined({name: score_candidates(part, graph, histories, candidates) for name, part in parts})

    def contributions(self, graph: Graph, history: Int32, nodes: Int32) -> Float64 | None:
        total = np.zeros((len(history), len(nodes)))
        for name, weight in self._unit.items():
            part = self.components[name].contributions(graph, history, nodes)
            if part is None:
                return None
            total += weight * part
        return total

    def parts(self) -> Mapping[str, Ranker]:
        return self.components

    def joined(self, scores: Mapping[str, Float64]) -> Float64:
        return np.asarray(sum(weight * scores[name] for name, weight in self._unit.items()))
