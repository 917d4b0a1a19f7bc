"""`recommend`: what to visit next, labels in and labels out, with reasons; and the `Recommender` behind a service."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from curiograph import kernels
from curiograph.centrality.history import are_many, visited, visited_each
from curiograph.centrality.parts import CuriousRanker
from curiograph.centrality.rankers import AdaptedRanker, MixtureRanker, PageRankRanker, Ranker, checked_ranks
from curiograph.centrality.reasons import Reason, explain
from curiograph.errors import SettingError, UnknownNameError
from curiograph.exploration.batch import Candidates
from curiograph.graph.container import Graph, as_graph, require_edges
from curiograph.graph.rows import Float64, Int32
from curiograph.graph.storage import PathLike, quoted
from curiograph.settings import whole_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CandidateSet = Literal["last", "history", "all"]
RankerLike: TypeAlias = str | Ranker | Any

RANKERS = ("mixture", "pagerank", "igt", "cpt")


def as_ranker(
    ranker: RankerLike = "mixture", *, alpha: float = 0.85, weights: Mapping[str, float] | None = None
) -> Ranker:
    """The ranker that a name means: "pagerank"; "igt" or "cpt", PageRank walked greedily for that reward; their
    "mixture"; or an object with a method `scores(graph, histories, candidates)`.

    >>> as_ranker("mixture", weights={"pagerank": 1, "igt": 2}).name
    'mixture'
    """
    if weights is not None and ranker != "mixture":
        raise SettingError(f"weights are for the mixture; the ranker is {quoted(ranker)}.")
    if isinstance(ranker, Ranker):
        return ranker
    if ranker == "pagerank":
        return PageRankRanker(alpha)
    if ranker in ("igt", "cpt"):
        return CuriousRanker("greedy", ranker, alpha, name=str(ranker))
    if ranker == "mixture":
        return MixtureRanker({name: as_ranker(name, alpha=alpha) for name in RANKERS[1:]}, weights)
    if callable(getattr(ranker, "scores", None)) and not isinstance(ranker, type):
        return AdaptedRanker(ranker)
    raise UnknownNameError(
        f"there is no ranker {quoted(ranker)}; the rankers are {', '.join(RANKERS)}, or an object with a method "
        "scores(graph, histories, candidates)."
    )


class Recommendations(list[tuple[Hashable, float]]):
    """Pairs (label, score), best first; `reasons` says why.

    >>> from curiograph.graph.toys import library
    >>> top = recommend(library(), history=["music", "physics", "chemistry"], k=2)
    >>> print(top.reasons[0])  # doctest: +SKIP
    """

    def __init__(
        self, graph: Graph, history: Int32, nodes: Int32, scores: Float64, places: Mapping[str, Any], candidates: int
    ) -> None:
        super().__init__((graph.label(int(v)), float(s)) for v, s in zip(nodes, scores, strict=True))
        self.graph = graph
        self._history, self._nodes, self._places, self._candidates = history, nodes, places, candidates

    @property
    def components(self) -> list[str]:
        """Names of the components whose ranks the reasons give."""
        return list(self._places)

    @property
    def history(self) -> list[Hashable]:
        """Labels that the user visited, each once."""
        return [self.graph.label(int(v)) for v in self._history]

    @cached_property
    def reasons(self) -> list[Reason]:
        """Why, for each recommendation."""
        return explain(self.graph, self._history, self._nodes, self._places, self._candidates)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, reasons included."""
        return {
            "history": self.history,
            "candidates": self._candidates,
            "recommendations": [
                {"score": score, **reason.to_dict()} for (_, score), reason in zip(self, self.reasons, strict=True)
            ],
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw what was visited, what is recommended, and how they are linked."""
        from curiograph.plotting import plot_recommendations

        return plot_recommendations(self.graph.skeleton, self.history, [label for label, _ in self], ax)


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
    ) -> None:
        require_edges(as_graph(graph))
        self.graph = graph
        self.ranker = as_ranker(ranker, alpha=alpha, weights=weights)

    @property
    def _curious(self) -> dict[str, CuriousRanker]:
        parts = self.ranker.parts().items()
        return {name: part for name, part in parts if isinstance(part, CuriousRanker)}

    def prepare(self, labels: Sequence[Hashable] | None = None) -> None:
        """Compute ahead what users who have visited these nodes will need; all nodes without a list."""
        for ranker in self._curious.values():
            ranker.prepare(self.graph, self.graph.labels if labels is None else labels)

    def save(self, path: PathLike) -> None:
        """Write what has been prepared to a .safetensors file."""
        from curiograph.centrality.parts_file import save_parts

        save_parts(path, self.graph, self._curious)

    def load(self, path: PathLike) -> None:
        """Read what was prepared in another process with the same graph, agents and settings."""
        from curiograph.centrality.parts_file import load_parts

        load_parts(path, self.graph, self._curious)

    def recommend(self, history: Any, k: int = 10, *, candidates: CandidateSet = "all") -> Any:
        """The `k` best candidates for a user, or a list of such lists for a list of histories."""
        k = whole_number("k", k, 1, "ask for 1 recommendation or more")
        many = are_many(self.graph, history)
        histories = visited_each(self.graph, history) if many else [visited(self.graph, history)]
        found = candidate_set(self.graph, histories, candidates)
        by_part = {
            name: checked_ranks(part, self.graph, histories, found) for name, part in self.ranker.parts().items()
        }
        scores = self.ranker.joined(by_part)
        tops = [self._top(histories[i], k, found, scores, by_part, i) for i in range(len(histories))]
        return tops if many else tops[0]

    def _top(
        self, history: Int32, k: int, found: Candidates, scores: Float64, by_part: Mapping[str, Float64], user: int
    ) -> Recommendations:
        mine = slice(found.offsets[user], found.offsets[user + 1])
        nodes, own = found.nodes[mine], scores[mine]
        reached = np.any([each[mine] != 0 for each in by_part.values()], axis=0)
        best = np.lexsort((nodes, -own, ~reached))[: min(k, np.count_nonzero(reached))]
        places = {
            name: 1 + np.sum(each[mine][None, :] > each[mine][best][:, None], axis=1) for name, each in by_part.items()
        }
        return Recommendations(self.graph, history, nodes[best], own[best], places, len(nodes))


def recommend(
    graph: Graph,
    history: Any,
    k: int = 10,
    *,
    candidates: CandidateSet = "all",
    ranker: RankerLike = "mixture",
    alpha: float = 0.85,
    weights: Mapping[str, float] | None = None,
) -> Any:
    """What to visit next: a list of (label, score), best first, never a visited node.

    Parameters
    ----------
    history : labels that the user visited, the last one last; a list of lists for several users, answered by a list.
    candidates : "all" unvisited nodes; unvisited out-neighbours of the "last" node (of all that was visited, where it
        has none); or those of the whole "history".
    ranker : "mixture" of PageRank with curious PageRank for igt and cpt; one of "pagerank", "igt", "cpt"; or your own.
    alpha : chance of a walker to go on instead of teleporting to the history.
    weights : of the components of the mixture, by name; only their proportions matter.

    A service keeps a `Recommender` instead, which answers faster from what it has prepared.

    >>> from curiograph.graph.toys import library
    >>> top = recommend(library(), history=["music", "physics"], k=3)
    >>> [label for label, score in top]
    ['mathematics', 'computing', 'poetry']
    """
    made = Recommender(graph, ranker, alpha=alpha, weights=weights)
    return made.recommend(history, k, candidates=candidates)


def candidate_set(graph: Graph, histories: Sequence[Int32], which: CandidateSet) -> Candidates:
    """What may be recommended to each user."""
    if which not in get_args(CandidateSet):
        raise UnknownNameError(f"candidates is {quoted(which)}; the choices are {', '.join(get_args(CandidateSet))}.")
    if which == "last":
        return _next_to_last(graph, histories)
    everything = np.arange(graph.num_nodes, dtype=np.int32)
    sets = []
    for history in histories:
        rows = [graph.indices[graph.indptr[v] : graph.indptr[v + 1]] for v in history]
        around = np.unique(np.concatenate(rows)) if which == "history" else everything
        sets.append(np.setdiff1d(around, history, assume_unique=True).astype(np.int32))
    return Candidates(np.cumsum([0, *(len(s) for s in sets)]), np.concatenate(sets))


def _next_to_last(graph: Graph, histories: Sequence[Int32]) -> Candidates:
    """A(S) as in exploration."""
    lengths = np.asarray([len(history) for history in histories])
    nodes = np.full((len(histories), int(lengths.max())), -1, np.int32)
    for row, history in zip(nodes, histories, strict=True):
        row[: len(history)] = history
    low, high = np.zeros(len(lengths), np.int64), np.full(len(lengths), graph.num_nodes)
    found = kernels.walks.candidates(graph.indptr, graph.indices, nodes, lengths, low, high, kernels.walks.FRONTIER)
    return Candidates(*found)
