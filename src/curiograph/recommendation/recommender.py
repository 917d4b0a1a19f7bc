"""`recommend`: what to visit next, labels in and labels out, with reasons; and the `Recommender` behind a service."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.centrality.history import History, is_history_batch, parse_histories, parse_history
from curiograph.errors import SettingError, UnknownNameError
from curiograph.exploration.mdp import Candidates
from curiograph.files import PathLike
from curiograph.graph.graph import Graph, as_graph, require_edges
from curiograph.messages import quote_value
from curiograph.recommendation.prepared import CuriousRanker
from curiograph.recommendation.rankers import (
    AdaptedRanker,
    MixtureRanker,
    PageRankRanker,
    Ranker,
    check_ranker_scores,
    is_scorer,
    score_candidates,
)
from curiograph.recommendation.reasons import Reason, explain_recommendations
from curiograph.validation import check_integer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CandidateSet = Literal["last", "history", "all"]
RankerLike: TypeAlias = str | Ranker | Any

Prepared = TypeVar("Prepared", bound=Ranker)

RANKERS = ("mixture", "pagerank", "igt", "cpt")

_FEW = 16  # places up to which counting is faster than sorting
_ENTRIES = 2**22  # users times nodes answered together: bounds the memory, does not change the answers
_USERS = 1024  # answered together where candidates are only near what was visited


def as_ranker(
    ranker: RankerLike = "mixture",
    *,
    alpha: float = 0.85,
    weights: Mapping[str, float] | None = None,
    seed: int = 0,
) -> Ranker:
    """The ranker that a name means: "pagerank"; "igt" or "cpt", PageRank walked greedily for that reward; their
    "mixture"; or an object with a method `scores(graph, histories, candidates)`.

    >>> as_ranker("mixture", weights={"pagerank": 1, "igt": 2}).name
    'mixture'
    """
    if weights is not None and not (isinstance(ranker, str) and ranker == "mixture"):
        raise SettingError(
            f"weights are for the mixture; the ranker is {quote_value(ranker)} (a MixtureRanker has weights of its own)."
        )
    if isinstance(ranker, Ranker):
        return ranker
    if is_scorer(ranker):
        return AdaptedRanker(ranker)
    if not isinstance(ranker, str):
        raise UnknownNameError(
            f"the ranker is {quote_value(ranker)}; give {', '.join(RANKERS)}, or an object with a method "
            "scores(graph, histories, candidates)."
        )
    if ranker == "pagerank":
        return PageRankRanker(alpha)
    if ranker in ("igt", "cpt"):
        return CuriousRanker("greedy", ranker, alpha, seed=seed, name=ranker)
    if ranker == "mixture":
        return MixtureRanker({name: as_ranker(name, alpha=alpha, seed=seed) for name in RANKERS[1:]}, weights)
    raise UnknownNameError(
        f"there is no ranker {quote_value(ranker)}; the rankers are {', '.join(RANKERS)}, or an object with a method "
        "scores(graph, histories, candidates)."
    )


class Recommendations(list[tuple[Hashable, float]]):
    """Pairs (label, score), best first; `reasons` says why.

    >>> from curiograph.graph.toys import library
    >>> top = recommend(library(), history=["music", "physics", "chemistry"], k=2)
    >>> print(top.reasons[0])  # doctest: +SKIP
    """

    def __init__(
        self,
        graph: Graph,
        seen: History,
        nodes: Int32,
        scores: Float64,
        errors: Float64,
        places: Mapping[str, Any],
        candidates: int,
    ) -> None:
        super().__init__((graph.label(int(v)), float(s)) for v, s in zip(nodes, scores, strict=True))
        self.graph = graph
        self.stderr: list[float] = errors.tolist()
        """Standard errors of the scores; zero where no walkers were drawn."""
        self.candidates = candidates
        """How many candidates there were."""
        self._seen, self._nodes, self._places = seen, nodes, places

    @property
    def components(self) -> list[str]:
        """Names of the components whose ranks the reasons give."""
        return list(self._places)

    @property
    def history(self) -> list[Hashable]:
        """Labels that the user visited, each once, in order of first visit."""
        return [self.graph.label(int(v)) for v in self._seen.nodes]

    @cached_property
    def reasons(self) -> list[Reason]:
        """Why, for each recommendation."""
        return explain_recommendations(self.graph, self._seen, self._nodes, self._places, self.candidates)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, reasons included."""
        return {
            "history": self.history,
            "candidates": self.candidates,
            "recommendations": [
                {"score": score, "stderr": stderr, **reason.to_dict()}
                for (_, score), stderr, reason in zip(self, self.stderr, self.reasons, strict=True)
            ],
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw what was visited, what is recommended, and how they are linked; on a figure of its own, beside it where
        each component ranks what is recommended."""
        from curiograph.plotting import create_figure, plot_places, plot_recommendations

        labels = [label for label, _ in self]
        if ax is None and len(self._places) > 1 and labels:
            _, (ax, beside) = create_figure(
                7.6 + 1.2 * len(self._places), 5.6, columns=2, widths=(6, 1 + len(self._places))
            )
            together = {"mixture": range(1, len(labels) + 1), **self._places}
            plot_places([str(label) for label in labels], together, beside)
        return plot_recommendations(self.graph.skeleton, self.history, labels, ax)


class Recommender:
    """Recommendations for many users of one graph; what is found out for one is kept for the next.

    `prepare` computes ahead of time, `save` and `load` keep it in a file.

    >>> from curiograph.graph.toys import library
    >>> recommender = Recommender(library())
    >>> recommender.prepare()
    >>> [label for label, _ in recommender.recommend(["music", "physics"], k=3, candidates="last")]
    ['mathematics', 'computing', 'chemistry']
    """

    def __init__(
        self,
        graph: Graph,
        ranker: RankerLike = "mixture",
        *,
        alpha: float = 0.85,
        weights: Mapping[str, float] | None = None,
        seed: int = 0,
    ) -> None:
        require_edges(as_graph(graph))
        self.graph = graph
        self.ranker = as_ranker(ranker, alpha=alpha, weights=weights, seed=seed)

    @property
    def _curious(self) -> dict[str, CuriousRanker]:
        return _parts_of(self.ranker, CuriousRanker)

    def prepare(self, labels: Sequence[Hashable] | None = None) -> None:
        """Compute ahead what users who have visited these nodes will need; all nodes without a list.

        On a large graph that takes long: begin with the nodes that most users visit, and `save` now and then.
        """
        for kind in (CuriousRanker, PageRankRanker):
            made: dict[str, Any] = _parts_of(self.ranker, kind)
            for ranker in made.values():
                ranker.prepare(self.graph, self.graph.labels if labels is None else labels)
        for label in list(self.graph.labels if labels is None else labels)[:1]:
            _ = self.recommend([label], 1).reasons  # for what the graph itself computes once, and for compiling

    def prepare_loaded(self) -> None:
        """Prepare the rest for nodes whose parts were loaded: PageRank, which no file keeps."""
        known = [set(ranker.kept.get(self.graph, {})) for ranker in self._curious.values()]
        nodes = set.intersection(*known) if known else set()
        self.prepare([self.graph.label(v) for v in sorted(nodes)])

    @property
    def num_prepared(self) -> int:
        """How many parts have been computed or loaded, over all components."""
        return sum(len(ranker.kept.get(self.graph, {})) for ranker in self._curious.values())

    def knows(self, seen: History) -> bool:
        """Whether all that a user with these visits needs has been computed or loaded."""
        nodes = seen.nodes.tolist()
        kept = (ranker.kept.get(self.graph, {}) for ranker in self._curious.values())
        return all(node in parts for parts in kept for node in nodes)

    def save(self, path: PathLike) -> None:
        """Write what has been prepared to a .safetensors file; what the file holds already of this graph, by the same
        settings or of other components, stays in it."""
        from curiograph.recommendation.prepared_file import save_parts

        save_parts(path, self.graph, self._with_parts())

    def load(self, path: PathLike) -> None:
        """Read what was prepared in another process with the same graph, agents and settings."""
        from curiograph.recommendation.prepared_file import load_parts

        load_parts(path, self.graph, self._with_parts())

    def _with_parts(self) -> dict[str, CuriousRanker]:
        if not self._curious:
            raise SettingError(f"the ranker {self.ranker.name!r} has nothing to keep in a file; only curious ones do.")
        return self._curious

    def recommend(self, history: Any, k: int = 10, *, candidates: CandidateSet = "all") -> Any:
        """The `k` best candidates for a user, or a list of such lists for a list of histories."""
        k = check_integer("k", k, 1, "ask for 1 recommendation or more")
        check_candidate_set(candidates)
        many = is_history_batch(self.graph, history)
        seen = parse_histories(self.graph, history) if many else [parse_history(self.graph, history)]
        tops = self.recommend_visited(seen, k, candidates)
        return tops if many else tops[0]

    def recommend_visited(self, seen: Sequence[History], k: int, candidates: CandidateSet) -> list[Recommendations]:
        """The `k` best candidates for users whose visits are known by position."""
        at_once = max(1, _ENTRIES // self.graph.num_nodes) if candidates == "all" else _USERS
        tops: list[Recommendations] = []
        for first in range(0, len(seen), at_once):
            tops += self._tops(seen[first : first + at_once], k, candidates)
        return tops

    def _tops(self, seen: Sequence[History], k: int, candidates: CandidateSet) -> Iterator[Recommendations]:
        histories = [each.nodes_last_at_end for each in seen]
        found = find_candidates(self.graph, histories, candidates)
        parts = self.ranker.parts()
        by_part = {name: score_candidates(part, self.graph, histories, found) for name, part in parts.items()}
        scores = check_ranker_scores(self.ranker, self.ranker.joined(by_part), found)
        if candidates == "all" and all(part.zero_is_unreached for part in parts.values()):
            offered = np.any([each != 0 for each in by_part.values()], axis=0)
        else:
            offered = np.ones(len(scores), bool)
        bounds = list(pairwise(found.offsets.tolist()))
        best = [select_top(scores[a:b], offered[a:b], k) for a, b in bounds]
        chosen = Candidates(
            np.cumsum([0, *map(len, best)]),
            np.concatenate([found.nodes[a:b][which] for (a, b), which in zip(bounds, best, strict=True)]),
        )
        errors = self.ranker.errors(self.graph, histories, chosen)
        for user, ((a, b), which, (c, d)) in enumerate(zip(bounds, best, pairwise(chosen.offsets), strict=True)):
            places = {name: compute_ranks(each[a:b], which) for name, each in by_part.items()}
            own = scores[a:b][which]
            yield Recommendations(self.graph, seen[user], chosen.nodes[c:d], own, errors[c:d], places, b - a)


def recommend(
    graph: Graph,
    history: Any,
    k: int = 10,
    *,
    candidates: CandidateSet = "all",
    ranker: RankerLike = "mixture",
    alpha: float = 0.85,
    weights: Mapping[str, float] | None = None,
    seed: int = 0,
) -> Any:
    """What to visit next: a list of (label, score), best first, never a visited node.

    Parameters
    ----------
    history : labels that the user visited, the last one last; a list of lists for several users, answered by a list.
    candidates : "all" unvisited nodes; unvisited out-neighbours of the "last" node (of all that was visited, where it
        has none); or those of the whole "history".
    ranker : "mixture" of PageRank with curious PageRank for igt and cpt; one of "pagerank", "igt", "cpt"; or your own.
    alpha : chance of a walker to go on instead of teleporting to the history; a ranker of your own has its own.
    weights : of the components of the mixture, by name; only their proportions matter.
    seed : of the curious walkers; a ranker of your own has its own.

    A service keeps a `Recommender` instead, which answers faster from what it has prepared.

    >>> from curiograph.graph.toys import library
    >>> top = recommend(library(), history=["music", "physics"], k=3)
    >>> [label for label, score in top]
    ['mathematics', 'poetry', 'computing']
    """
    made = Recommender(graph, ranker, alpha=alpha, weights=weights, seed=seed)
    return made.recommend(history, k, candidates=candidates)


def _parts_of(ranker: Ranker, kind: type[Prepared], prefix: str = "") -> dict[str, Prepared]:
    """The rankers of a kind that a ranker is made of, and those that its components are made of."""
    found: dict[str, Prepared] = {}
    for name, part in ranker.parts().items():
        if isinstance(part, kind):
            found[prefix + name] = part
        elif part is not ranker:
            found |= _parts_of(part, kind, f"{prefix}{name}.")
    return found


def select_top(scores: Float64, offered: NDArray[np.bool_], k: int) -> Int64:
    """Where the k highest of the offered scores stand, best first, equal ones in order.

    >>> select_top(np.array([1.0, 3.0, 3.0, 9.0]), np.array([True, True, True, False]), 2).tolist()
    [1, 2]
    """
    some = np.flatnonzero(offered)
    if len(some) > k:
        least = np.partition(scores[some], len(some) - k)[len(some) - k]
        some = some[scores[some] >= least]
    return some[np.argsort(-scores[some], kind="stable")][:k]


def compute_ranks(scores: Float64, which: Int64) -> Int64:
    """The place of some scores among all, 1 for the highest; equal ones share the better place."""
    if len(which) <= _FEW:
        return np.asarray([1 + np.count_nonzero(scores > score) for score in scores[which].tolist()], np.int64)
    return np.asarray(1 + len(scores) - np.searchsorted(np.sort(scores), scores[which], side="right"))


def check_candidate_set(which: Any) -> CandidateSet:
    """One of the sets of candidates; raises for anything else."""
    if not isinstance(which, str) or which not in get_args(CandidateSet):
        raise UnknownNameError(
            f"candidates is {quote_value(which)}; the choices are {', '.join(get_args(CandidateSet))}."
        )
    choice: Any = which
    return choice  # type: ignore[no-any-return]


def find_candidates(graph: Graph, histories: Sequence[Int32], which: CandidateSet) -> Candidates:
    """What may be recommended to each user."""
    if which == "last":
        return _next_to_last(graph, histories)
    sets = [_next_to_any(graph, history) if which == "history" else _unvisited(graph, history) for history in histories]
    return Candidates(np.cumsum([0, *(len(s) for s in sets)]), np.concatenate(sets))


def _unvisited(graph: Graph, history: Int32) -> Int32:
    new = np.ones(graph.num_nodes, bool)
    new[history] = False
    return np.flatnonzero(new).astype(np.int32)


def _next_to_any(graph: Graph, history: Int32) -> Int32:
    """Unvisited out-neighbours of what was visited; reads no more of the graph than their rows."""
    rows = [graph.indices[graph.indptr[v] : graph.indptr[v + 1]] for v in history]
    return np.setdiff1d(np.concatenate(rows), history)


def _next_to_last(graph: Graph, histories: Sequence[Int32]) -> Candidates:
    """A(S) as in exploration."""
    lengths = np.asarray([len(history) for history in histories])
    nodes = np.full((len(histories), int(lengths.max())), -1, np.int32)
    for row, history in zip(nodes, histories, strict=True):
        row[: len(history)] = history
    low, high = np.zeros(len(lengths), np.int64), np.full(len(lengths), graph.num_nodes)
    found = kernels.candidates.find_candidates(
        graph.indptr, graph.indices, nodes, lengths, low, high, kernels.candidates.FRONTIER
    )
    return Candidates(*found)
