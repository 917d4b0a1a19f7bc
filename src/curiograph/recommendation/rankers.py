"""What a ranker is: something that scores candidates for users, given what they have visited."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int32
from curiograph.centrality.history import check_alpha, make_uniform_teleport
from curiograph.centrality.mixture import normalize_weights
from curiograph.centrality.pagerank import compute_flow_scales, compute_pagerank_rows
from curiograph.centrality.push import MAX_EDGES, push_scores
from curiograph.errors import RankerError, SettingError
from curiograph.exploration.mdp import Candidates
from curiograph.graph.csr import concatenate_ranges
from curiograph.graph.graph import Graph
from curiograph.messages import quote_value

_STEP = 1e-10  # PageRanks closer than this are equal: far above its errors, which depend on who is solved together
MAX_EXACT_NODES = 50_000  # nodes up to which PageRank is solved on the whole graph; beyond, around the history alone
_PUSHED = 64  # nodes whose scores are made as good as they get there
_EDGES = MAX_EDGES  # read for that at most
_AT_ONCE = 64  # histories solved together: bounds the memory
_KEPT = 2**25  # numbers that are kept of the nodes of a graph: a quarter of a gigabyte


class Ranker(ABC):
    """Scores candidates for many users at once: the higher, the sooner it is offered.

    Your own ranker needs a `name` and `scores`; inherit from this class or not. `check_ranker` tells whether it keeps
    the contract.

    >>> class Popular(Ranker):
    ...     name = "popular"
    ...     def scores(self, graph, histories, candidates):
    ...         return graph.degrees[candidates.nodes].astype(float)
    """

    name: str = "ranker"
    zero_is_unreached: ClassVar[bool] = False
    """Whether a score of zero says that nobody gets there, so that the candidate is not worth offering."""

    @abstractmethod
    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        """A finite number for each of `candidates`: those of user i stand at `offsets[i]:offsets[i + 1]`.

        `histories[i]` are the positions that user i visited, each once, the last one last.
        """

    def errors(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        """The standard error of each score; zero for a ranker that draws nothing."""
        return np.zeros(len(candidates.nodes))

    def parts(self) -> Mapping[str, Ranker]:
        """The rankers that this one is made of, by name."""
        return {self.name: self}

    def joined(self, scores: Mapping[str, Float64]) -> Float64:
        """The scores of this ranker, given those of its parts."""
        return scores[self.name]


def score_candidates(ranker: Ranker, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
    """The ranker's scores, or a `RankerError` that says what is wrong with them."""
    return check_ranker_scores(ranker, ranker.scores(graph, histories, candidates), candidates)


def check_ranker_scores(ranker: Ranker, given: Any, candidates: Candidates) -> Float64:
    """What a ranker gave, if that is one finite number per candidate."""
    wanted = (len(candidates.nodes),)
    try:
        scores = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise RankerError(
            f"ranker {ranker.name!r} gave {quote_value(given)}; it must give one number per candidate."
        ) from None
    if scores.shape != wanted:
        raise RankerError(f"ranker {ranker.name!r} gave scores of shape {scores.shape}; it must give {wanted}.")
    if not np.all(np.isfinite(scores)):
        bad = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise RankerError(f"ranker {ranker.name!r} gave {scores[bad]} for candidate {bad}; scores are finite numbers.")
    return scores


class _Flow(NamedTuple):
    """Visits from one node on until the first teleport."""

    visits: Float64
    """One number per node."""
    total: float


@dataclass(frozen=True)
class PageRankRanker(Ranker):
    """Personalised PageRank: exact on graphs of up to 50,000 nodes; beyond, by local push, to a few percent."""

    alpha: float = 0.85
    name: str = "pagerank"
    _kept: dict[Graph, dict[int, _Flow]] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Flows from single nodes, by graph and position: their sum over a history is in proportion to its PageRank."""
    zero_is_unreached = True

    def __post_init__(self) -> None:
        check_alpha(self.alpha)

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        wanted = [candidates.nodes[a:b] for a, b in pairwise(candidates.offsets)]
        if graph.num_nodes > MAX_EXACT_NODES:
            return _joined([self._around(graph, *each) for each in zip(histories, wanted, strict=True)])
        kept = self._kept.get(graph, {})
        scores = [_summed(kept, *each) for each in zip(histories, wanted, strict=True)]
        missing = [user for user, found in enumerate(scores) if found is None]
        for first in range(0, len(missing), _AT_ONCE):
            some = missing[first : first + _AT_ONCE]
            rows = compute_pagerank_rows(graph, self.alpha, [make_uniform_teleport(histories[user]) for user in some])
            for user, row in zip(some, rows, strict=True):
                scores[user] = row[wanted[user]]
        return _stepped(_joined([found for found in scores if found is not None]))

    def prepare(self, graph: Graph, labels: Sequence[Any]) -> None:
        """Solve ahead for single nodes, as many as there is memory for; histories of such nodes need no solving."""
        if graph.num_nodes > MAX_EXACT_NODES:
            return
        kept = self._kept.setdefault(graph, {})
        new = [v for v in dict.fromkeys(graph.positions(labels).tolist()) if v not in kept]
        new = new[: max(0, _KEPT // graph.num_nodes - len(kept))]
        for first in range(0, len(new), _AT_ONCE):
            some = new[first : first + _AT_ONCE]
            rows = compute_pagerank_rows(
                graph, self.alpha, [make_uniform_teleport(np.asarray([v], np.int32)) for v in some]
            )
            totals = compute_flow_scales(graph, self.alpha, rows)
            rows *= totals[:, None]
            kept.update((v, _Flow(*flow)) for v, *flow in zip(some, rows, totals.tolist(), strict=True))

    def _around(self, graph: Graph, history: Int32, wanted: Int32) -> Float64:
        """Scores of some nodes; reads no more of the graph than what is around the history and around them."""
        found = push_scores(graph, make_uniform_teleport(history), self.alpha, _PUSHED, max_edges=_EDGES)
        order = np.argsort(found.nodes)
        nodes = found.nodes[order]
        missing = max(0.0, 1 - found.scores.sum())  # what still waits is spread by then, so it ends up as from anywhere
        known = found.scores[order] + missing * self._from_anywhere(graph, nodes)
        worth = np.ones(len(wanted), bool) if len(wanted) <= len(nodes) else np.isin(wanted, nodes)
        some = wanted[worth]
        scores = np.zeros(len(wanted))
        scores[worth] = np.maximum(look_up_values(nodes, known, some), _arriving(graph, self.alpha, nodes, known, some))
        return scores

    def _from_anywhere(self, graph: Graph, nodes: Int32) -> Float64:
        """PageRank of some nodes for a walker who has long forgotten where it started."""
        steps = graph.transition
        if not graph.directed:
            return steps.get_strength(nodes) / max(steps.total, 1e-300)
        if self.alpha not in steps.pagerank_by_alpha:  # solved once for a graph
            everyone = make_uniform_teleport(np.arange(graph.num_nodes, dtype=np.int32))
            steps.pagerank_by_alpha[self.alpha] = compute_pagerank_rows(graph, self.alpha, [everyone])[0]
        return steps.pagerank_by_alpha[self.alpha][nodes]


def look_up_values(nodes: Int32, values: NDArray[Any], wanted: NDArray[Any]) -> Float64:
    """The values of some nodes, given those of others in ascending order: zero where there is none.

    >>> look_up_values(np.array([2, 5]), np.array([0.25, 0.5], np.float32), np.array([5, 3]))
    array([0.5, 0. ])
    """
    if len(nodes) == 0:
        return np.zeros(len(wanted))
    place = nodes.searchsorted(wanted)
    found = values.take(place, mode="clip").astype(np.float64)
    found[nodes.take(place, mode="clip") != wanted] = 0.0
    return found


def _arriving(graph: Graph, alpha: float, known: Int32, scores: Float64, nodes: Int32) -> Float64:
    """What arrives at some nodes in one step from known ones: closer to their score than what has been pushed on.

    >>> from curiograph.graph.toys import cycle
    >>> _arriving(cycle(4), 0.5, np.array([0, 3]), np.array([0.6, 0.2]), np.array([1, 0]))
    array([0.15, 0.05])
    """
    indptr, indices, weights = graph.transition.rows
    starts, ends = indptr[nodes].astype(np.int64), indptr[nodes + 1].astype(np.int64)
    counts = ends - starts
    places = concatenate_ranges(starts, counts)
    sources = indices[places].astype(np.int32)
    flows = look_up_values(known, scores, sources) * graph.transition.get_share(sources)
    if weights is not None:
        flows *= weights[places]
    return np.asarray(alpha * np.bincount(np.repeat(np.arange(len(nodes)), counts), flows, len(nodes)), np.float64)


def _summed(kept: Mapping[int, _Flow], history: Int32, wanted: Int32) -> Float64 | None:
    """The scores of some nodes from kept flows; None where those of the history are not all kept."""
    flows = [kept.get(v) for v in history.tolist()] if kept else [None]
    known = [flow for flow in flows if flow is not None]
    if len(known) < len(flows):
        return None
    total = sum(flow.total for flow in known)
    if 2 * len(wanted) > len(known[0].visits):
        return np.asarray(sum(flow.visits for flow in known))[wanted] / total
    return np.asarray(sum(flow.visits[wanted] for flow in known) / total)


def _stepped(scores: Float64) -> Float64:
    """Scores in steps, so that equal ones stay equal whatever the order of sums; small ones stay above zero.

    >>> _stepped(np.array([0.25 + 1e-13, 1e-30, 0.0])).tolist()
    [0.25, 1e-30, 0.0]
    """
    steps = np.round(scores / _STEP)
    return np.where(steps > 0, steps * _STEP, scores)


def _joined(scores: list[Float64]) -> Float64:
    return np.concatenate(scores) if scores else np.zeros(0)


@dataclass(frozen=True, eq=False)
class MixtureRanker(Ranker):
    """A weighted sum of rankers, the weights scaled to the unit sphere; each has its own alpha."""

    components: Mapping[str, Ranker]
    weights: Mapping[str, float] | None = None
    name: str = "mixture"
    _unit: Mapping[str, float] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.components, Mapping) or not self.components:
            raise SettingError(
                f"the components are {quote_value(self.components)}; give rankers by name, at least one."
            )
        adapted = {str(name): _adapted(name, part) for name, part in self.components.items()}
        object.__setattr__(self, "components", adapted)
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


class AdaptedRanker(Ranker):
    """A user's object that scores candidates without being a `Ranker`."""

    def __init__(self, scorer: Any) -> None:
        self._scorer = scorer
        self.name = str(getattr(scorer, "name", type(scorer).__name__))

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        scores: Float64 = self._scorer.scores(graph, histories, candidates)
        return scores


def is_scorer(value: Any) -> bool:
    """Whether an object can be asked as a ranker is."""
    return callable(getattr(value, "scores", None)) and not isinstance(value, type)


def _adapted(name: Any, part: Any) -> Ranker:
    if isinstance(part, Ranker):
        return part
    if is_scorer(part):
        return AdaptedRanker(part)
    raise SettingError(
        f"component {name!r} of the mixture is {quote_value(part)}; give an object with a method "
        "scores(graph, histories, candidates), such as PageRankRanker()."
    )
