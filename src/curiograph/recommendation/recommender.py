"""Recommendations of nodes to visit next, with reasons."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from curiograph.arrays import Float64, Int32, Int64
from curiograph.centrality.history import History, is_history_batch
from curiograph.errors import SettingError, UnknownNameError, UnknownNodeError, WalkError
from curiograph.exploration.mdp import Candidates
from curiograph.files import PathLike
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph, as_graph, require_edges
from curiograph.graph.label_reader import LabelReader
from curiograph.messages import quote_value
from curiograph.notebook import render_result
from curiograph.parallel import Engine, resolve_engine
from curiograph.progress import Progress, no_progress
from curiograph.recommendation.prepared import (
    CuriousRanker,
    find_missing,
    load_parts,
    load_unaffected_parts,
    prepare_parts,
    save_parts,
)
from curiograph.recommendation.ranker import (
    CandidateSet,
    Ranker,
    RankerLike,
    adapt_ranker,
    check_candidate_set,
    check_ranker_scores,
    find_candidates,
    score_candidates,
)
from curiograph.recommendation.rankers import MixtureRanker, PageRankRanker, compute_popularity
from curiograph.recommendation.reasons import Reason, explain_recommendations
from curiograph.recommendation.selection import EVERYTHING, Filter, Selection, Unknown, check_unknown, read_history
from curiograph.validation import check_integer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

T = TypeVar("T", bound=Ranker)

RANKERS = ("mixture", "pagerank", "igt", "cpt")

_FEW_SCORES = 16  # number of scores up to which counting is faster than sorting
_FEW_PAIRS = 2_000  # pairs of scores up to which comparing all at once is faster
_BATCH_ENTRIES = 2**22  # users times nodes of a batch; bounds the memory, does not change the result
_BATCH_USERS = 1024  # users of a batch whose candidates are neighbors only
_PROGRESS_USERS = 256  # users between two progress updates
_DEFAULT_ALPHA = 0.85


def as_ranker(
    ranker: RankerLike = "mixture",
    *,
    alpha: float = 0.85,
    weights: Mapping[str, float] | None = None,
    seed: int = 0,
) -> Ranker:
    """Return the ranker that a name or an object refers to.

    The names are "pagerank"; "igt" and "cpt", PageRank of greedy walkers for that reward; and "mixture" of these three.
    An object needs a method `scores(graph, histories, candidates)`.

    >>> as_ranker("mixture", weights={"pagerank": 1, "igt": 2}).name
    'mixture'
    """
    if weights is not None and not (isinstance(ranker, str) and ranker == "mixture"):
        raise SettingError(
            f"weights are for the mixture; the ranker is {quote_value(ranker)} (a MixtureRanker has its own weights)."
        )
    if isinstance(ranker, str):
        if ranker == "pagerank":
            return PageRankRanker(alpha)
        if ranker in ("igt", "cpt"):
            return CuriousRanker("greedy", ranker, alpha, seed=seed, name=ranker)
        if ranker == "mixture":
            return MixtureRanker({name: as_ranker(name, alpha=alpha, seed=seed) for name in RANKERS[1:]}, weights)
    adapted = adapt_ranker(ranker)
    if adapted is None:
        raise UnknownNameError(
            f"there is no ranker {quote_value(ranker)}; the rankers are {', '.join(RANKERS)}, or an object with a "
            "method scores(graph, histories, candidates)."
        )
    return adapted


class Recommendations(list[tuple[Hashable, float]]):
    """Recommended nodes as (label, score), best first, with reasons.

    Examples
    --------
    >>> import curiograph as cg
    >>> top = cg.recommend(cg.toys.library(), history=["music", "physics", "chemistry"], k=2)
    >>> len(top), top.components
    (2, ['pagerank', 'igt', 'cpt'])
    """

    def __init__(
        self,
        graph: Graph,
        history: History,
        nodes: Int32,
        scores: Float64,
        errors: Float64,
        ranks: Mapping[str, Any],
        candidates: int,
        stack: GraphBatch | None = None,
    ) -> None:
        super().__init__((graph.label(int(v)), float(s)) for v, s in zip(nodes, scores, strict=True))
        self.graph = graph
        self.stderr: list[float] = errors.tolist()
        """Standard errors of the scores; zero if no walkers were sampled."""
        self.candidates = candidates
        """Number of candidates, before any were excluded or filtered out."""
        self.skipped: list[Hashable] = []
        """Labels of the history that the graph does not have, which were skipped."""
        self._history, self._nodes, self._ranks, self._stack = history, nodes, ranks, stack

    @property
    def cold_start(self) -> bool:
        """Whether the history is empty, so that the scores are PageRank without a history."""
        return len(self._history.nodes) == 0

    @property
    def components(self) -> list[str]:
        """Names of the components whose ranks the reasons give."""
        return list(self._ranks)

    @property
    def history(self) -> list[Hashable]:
        """Distinct labels of the history, in order of first visit."""
        return [self.graph.label(int(v)) for v in self._history.nodes]

    @cached_property
    def reasons(self) -> list[Reason]:
        """A reason for each recommendation."""
        return explain_recommendations(
            self.graph, self._history, self._nodes, self._ranks, self.candidates, self._stack
        )

    def _repr_html_(self) -> str:
        columns: dict[str, list[Any]] = {
            "node": [label for label, _ in self],
            "score": [score for _, score in self],
            "reason": [str(reason) for reason in self.reasons],
        }
        title = f"Recommendations({len(self)} of {self.candidates:,} candidates)"
        return render_result(title, columns, {"score": [score for _, score in self]})

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, including the reasons."""
        return {
            "history": self.history,
            "skipped": self.skipped,
            "candidates": self.candidates,
            "recommendations": [
                {"score": score, "stderr": stderr, **reason.to_dict()}
                for (_, score), stderr, reason in zip(self, self.stderr, self.reasons, strict=True)
            ],
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the history, the recommended nodes and their links; without `ax`, also their ranks by component."""
        from curiograph.plotting import create_figure, plot_places, plot_recommendations

        labels = [label for label, _ in self]
        count = len(self._ranks)
        if ax is None and count > 1 and labels:
            _, (ax, right) = create_figure(7.6 + 1.2 * count, 5.6, columns=2, widths=(6, 1 + count))
            ranks = {"mixture": range(1, len(labels) + 1), **self._ranks}
            plot_places([str(label) for label in labels], ranks, right)
        return plot_recommendations(self.graph.skeleton, self.history, labels, ax)


class Recommender:
    """Recommendations for many users of one graph; intermediate results are kept for later users.

    Parameters
    ----------
    graph : Graph
        Graph with at least one edge.
    ranker : str, Ranker or object
        Ranker, as for `recommend`.
    alpha, weights, seed
        As for `recommend`.

    Examples
    --------
    >>> import curiograph as cg
    >>> recommender = cg.Recommender(cg.toys.library())
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
        self.curious_rankers = _find_components(self.ranker, CuriousRanker)
        """Curious rankers among the components, by name."""
        self.labels = LabelReader(graph)
        """Finds the nodes of labels, as numbers or as text."""

    @cached_property
    def _stack(self) -> GraphBatch:
        """The graph as the only one of a batch, for reasons."""
        return GraphBatch.of([self.graph])

    def prepare(
        self,
        labels: Sequence[Hashable] | None = None,
        *,
        engine: Any = "local",
        workers: int | None = 1,
        address: str | None = None,
        run: PathLike | None = None,
        progress: Progress = no_progress,
    ) -> None:
        """Compute in advance what users who visited these nodes need; by default all nodes.

        Parameters
        ----------
        labels : list, optional
            Labels of nodes. For a large graph, begin with the nodes that most users visit.
        engine, workers, address
            Execution backend, "local" or "ray", its number of processes, and the address of a cluster. One local
            process uses threads.
        run : path, optional
            Folder that keeps finished nodes, so that a stopped preparation resumes.
        progress : callable
            Called with a message and the share done.
        """
        self.prepare_curious(labels, engine=engine, workers=workers, address=address, run=run, progress=progress)
        labels = self.graph.labels if labels is None else self.labels.walk(labels)
        for plain in _find_components(self.ranker, PageRankRanker).values():
            plain.prepare(self.graph, labels)
        for label in list(labels)[:1]:
            _ = self.recommend([label], 1).reasons  # compiles kernels and computes cached properties of the graph

    def prepare_curious(
        self,
        labels: Sequence[Hashable] | None = None,
        *,
        engine: Any = "local",
        workers: int | None = 1,
        address: str | None = None,
        run: PathLike | None = None,
        progress: Progress = no_progress,
    ) -> None:
        """Prepare only what `save` writes, the parts of curious walkers; the parameters are those of `prepare`."""
        if isinstance(labels, (str, bytes)):
            raise SettingError(f"the labels to prepare are {quote_value(labels)}; give a list of them.")
        backend = resolve_engine(engine, None if isinstance(engine, Engine) else workers, address, run)
        nodes: Sequence[int] = range(self.graph.num_nodes)
        if labels is not None:
            nodes = sorted({self.labels.position(label) for label in labels})
        if self.curious_rankers:
            prepare_parts(self.graph, self.curious_rankers, nodes, backend, progress)

    def prepare_loaded(self) -> None:
        """Prepare what `load` does not restore, PageRank, for the nodes whose parts were loaded."""
        prepared = [set(ranker.kept.get(self.graph, {})) for ranker in self.curious_rankers.values()]
        nodes = set.intersection(*prepared) if prepared else set()
        self.prepare([self.graph.label(v) for v in sorted(nodes)])

    @property
    def num_prepared(self) -> int:
        """Number of parts computed or loaded, over all components."""
        return sum(len(ranker.kept.get(self.graph, {})) for ranker in self.curious_rankers.values())

    def is_prepared(self, history: History) -> bool:
        """Return whether everything needed for a history has been computed or loaded."""
        return not self.find_missing(history.nodes.tolist())

    def find_missing(self, nodes: Iterable[int]) -> list[int]:
        """Return those of some nodes (positions) that are not prepared for all curious components."""
        return find_missing(self.graph, self.curious_rankers, nodes)

    def save(self, path: PathLike, *, overwrite: bool = False) -> None:
        """Write prepared parts to a .safetensors file; other parts of this graph that it holds are kept.

        With `overwrite`, a file of another graph or of other settings is replaced, as after `load_unaffected`.
        """
        save_parts(path, self.graph, self._require_curious(), overwrite=overwrite)

    def load(self, path: PathLike) -> None:
        """Read parts that were prepared with the same graph, agents and settings."""
        load_parts(path, self.graph, self._require_curious())

    def load_unaffected(self, path: PathLike) -> int:
        """Read the parts of an earlier version of the graph, except those that changed links affect.

        `prepare` then computes the affected parts, and the result is that of a full preparation. Nodes that are added
        at the end of the list of nodes affect few parts; if nodes were removed or inserted elsewhere, all are affected.

        Returns
        -------
        int
            Number of affected parts.
        """
        return load_unaffected_parts(path, self.graph, self._require_curious())

    def _require_curious(self) -> dict[str, CuriousRanker]:
        if not self.curious_rankers:
            raise SettingError(f"the ranker {self.ranker.name!r} has no parts to keep in a file; only curious ones do.")
        return self.curious_rankers

    def recommend(
        self,
        history: Any,
        k: int = 10,
        *,
        candidates: CandidateSet = "all",
        exclude: Iterable[Hashable] = (),
        filter: Filter = None,
        unknown: Unknown = "error",
        diversity: float = 0.0,
    ) -> Any:
        """Return the `k` best candidates for a user, or a list of such lists for a list of histories.

        The arguments are those of the function `recommend`.
        """
        if is_history_batch(self.graph, history):
            return self.recommend_many(
                history,
                k,
                candidates=candidates,
                exclude=exclude,
                filter=filter,
                unknown=unknown,
                diversity=diversity,
            )
        k = check_integer("k", k, 1, "ask for 1 recommendation or more")
        selection = Selection.create(self.labels, exclude, filter, diversity)
        visited, skipped = read_history(self.labels, history, check_unknown(unknown))
        (top,) = self.recommend_visited([visited], k, check_candidate_set(candidates), [selection])
        top.skipped = skipped
        return top

    def recommend_many(
        self,
        histories: Iterable[Any],
        k: int = 10,
        *,
        candidates: CandidateSet = "all",
        exclude: Iterable[Hashable] = (),
        filter: Filter = None,
        unknown: Unknown = "skip",
        diversity: float = 0.0,
        progress: Progress = no_progress,
    ) -> list[Recommendations]:
        """Return the `k` best candidates for each of many users.

        The arguments are those of the function `recommend_many`.
        """
        k = check_integer("k", k, 1, "ask for 1 recommendation or more")
        check_candidate_set(candidates)
        check_unknown(unknown)
        if isinstance(histories, (str, bytes)) or not isinstance(histories, Iterable):
            raise WalkError(f"the histories are {quote_value(histories)}; give a list of lists of node labels.")
        selection = Selection.create(self.labels, exclude, filter, diversity)
        parsed: list[History] = []
        skipped: list[list[Hashable]] = []
        for number, history in enumerate(histories):
            try:
                visited, left_out = read_history(self.labels, history, unknown)
            except (UnknownNodeError, WalkError) as error:
                raise type(error)(f"history {number}: {error}") from None
            parsed.append(visited)
            skipped.append(left_out)
        results: list[Recommendations] = []
        for first in range(0, len(parsed), _PROGRESS_USERS):
            progress(f"recommending to user {first:,} of {len(parsed):,}", first / len(parsed))
            batch = parsed[first : first + _PROGRESS_USERS]
            results += self.recommend_visited(batch, k, candidates, [selection] * len(batch))
        for top, left_out in zip(results, skipped, strict=True):
            top.skipped = left_out
        return results

    def recommend_visited(
        self,
        histories: Sequence[History],
        k: int,
        candidates: CandidateSet,
        selections: Sequence[Selection] | None = None,
    ) -> list[Recommendations]:
        """Return the `k` best candidates for each of several parsed histories, each with its own selection."""
        selections = [EVERYTHING] * len(histories) if selections is None else selections
        size = max(1, _BATCH_ENTRIES // self.graph.num_nodes) if candidates == "all" else _BATCH_USERS
        found: dict[int, Recommendations] = {}
        warm = [user for user, history in enumerate(histories) if len(history.nodes)]
        for first in range(0, len(warm), size):
            users = warm[first : first + size]
            batch = self._recommend_batch([histories[u] for u in users], k, candidates, [selections[u] for u in users])
            found.update(zip(users, batch, strict=True))
        return [
            found[user] if user in found else self._recommend_popular(history, k, selections[user])
            for user, history in enumerate(histories)
        ]

    def _recommend_batch(
        self, histories: Sequence[History], k: int, candidate_set: CandidateSet, selections: Sequence[Selection]
    ) -> Iterator[Recommendations]:
        positions = [history.nodes_last_at_end for history in histories]
        candidates = find_candidates(self.graph, positions, candidate_set)
        parts = self.ranker.parts()
        by_part = {name: score_candidates(part, self.graph, positions, candidates) for name, part in parts.items()}
        scores = check_ranker_scores(self.ranker, self.ranker.joined(by_part), candidates)
        if candidate_set == "all" and all(part.zero_is_unreached for part in parts.values()):
            offered = np.any([each != 0 for each in by_part.values()], axis=0)
        else:
            offered = np.ones(len(scores), bool)
        bounds = list(pairwise(candidates.offsets.tolist()))
        best = [
            selection.select(self.graph, candidates.nodes[a:b], scores[a:b], offered[a:b], k)
            for selection, (a, b) in zip(selections, bounds, strict=True)
        ]
        chosen = Candidates(
            np.cumsum([0, *map(len, best)]),
            np.concatenate([candidates.nodes[a:b][top] for (a, b), top in zip(bounds, best, strict=True)]),
        )
        errors = self.ranker.errors(self.graph, positions, chosen)
        chosen_bounds = pairwise(chosen.offsets)
        for history, (a, b), top, (c, d) in zip(histories, bounds, best, chosen_bounds, strict=True):
            yield Recommendations(
                graph=self.graph,
                history=history,
                nodes=chosen.nodes[c:d],
                scores=scores[a:b][top],
                errors=errors[c:d],
                ranks={name: compute_ranks(each[a:b], top) for name, each in by_part.items()},
                candidates=b - a,
                stack=self._stack,
            )

    def _recommend_popular(self, history: History, k: int, selection: Selection) -> Recommendations:
        """Return the nodes of the highest PageRank without a history, for a user who has visited nothing."""
        alphas = [each.alpha for each in _find_components(self.ranker, PageRankRanker).values()]
        alphas += [each.alpha for each in self.curious_rankers.values()]
        scores = compute_popularity(self.graph, alphas[0] if alphas else _DEFAULT_ALPHA)
        nodes = np.arange(self.graph.num_nodes, dtype=np.int32)
        best = selection.select(self.graph, nodes, scores, np.ones(len(nodes), bool), k)
        return Recommendations(
            graph=self.graph,
            history=history,
            nodes=nodes[best],
            scores=scores[best],
            errors=np.zeros(len(best)),
            ranks={"pagerank": compute_ranks(scores, best)},
            candidates=len(nodes),
        )


def recommend(
    graph: Graph,
    history: Any,
    k: int = 10,
    *,
    candidates: CandidateSet = "all",
    exclude: Iterable[Hashable] = (),
    filter: Filter = None,
    unknown: Unknown = "error",
    diversity: float = 0.0,
    ranker: RankerLike = "mixture",
    alpha: float = 0.85,
    weights: Mapping[str, float] | None = None,
    seed: int = 0,
) -> Any:
    """Recommend nodes to visit next, never a visited one.

    For repeated calls on the same graph, use a `Recommender`, which keeps intermediate results.

    Parameters
    ----------
    graph : Graph
        Graph with at least one edge.
    history : list
        Labels of visited nodes, the last visit at the end; a list of lists for several users. A number denotes the node
        that has it as label or, if there is none, as text, and the other way round. For an empty history, nodes are
        ranked by PageRank without a history, whatever the ranker.
    k : int
        Number of recommendations.
    candidates : {"all", "last", "history"}
        Nodes that may be recommended: all unvisited nodes; the unvisited out-neighbors of the last node, or of the
        whole history if it has none; or the unvisited out-neighbors of the whole history.
    exclude : list
        Labels that are never recommended; those that the graph does not have make no difference.
    filter : callable or list, optional
        A function of a label that returns whether it may be recommended, or a collection of all labels that may be.
        A function is called for the best candidates first, until enough of them are accepted.
    unknown : {"error", "skip"}
        What to do with labels of the history that the graph does not have: raise UnknownNodeError, or leave them out
        and list them in `.skipped`.
    diversity : float
        From 0, the ranking by score, to 1, the nodes that share the fewest neighbors with each other: maximal marginal
        relevance among the 10 k best candidates, with the Jaccard index of neighborhoods as similarity.
    ranker : {"mixture", "pagerank", "igt", "cpt"}, Ranker or object
        PageRank, curious PageRank for igt or cpt, a mixture of the three, or a custom ranker.
    alpha : float
        Probability to continue instead of teleporting to the history. Custom rankers have their own.
    weights : dict, optional
        Weights of the components of the mixture by name; only their proportions matter.
    seed : int
        Seed of curious walkers. Custom rankers have their own.

    Returns
    -------
    Recommendations
        A list of (label, score), best first, with `.reasons` and `.skipped`; a list of them for several users.

    Examples
    --------
    >>> import curiograph as cg
    >>> top = cg.recommend(cg.toys.library(), history=["music", "physics"], k=3)
    >>> [label for label, score in top]
    ['mathematics', 'computing', 'poetry']
    >>> top = cg.recommend(cg.toys.library(), ["music", "moon"], k=2, unknown="skip", exclude=["mathematics"])
    >>> [label for label, score in top], top.skipped
    (['poetry', 'physics'], ['moon'])
    """
    return Recommender(graph, ranker, alpha=alpha, weights=weights, seed=seed).recommend(
        history,
        k,
        candidates=candidates,
        exclude=exclude,
        filter=filter,
        unknown=unknown,
        diversity=diversity,
    )


def recommend_many(
    graph: Graph,
    histories: Iterable[Any],
    k: int = 10,
    *,
    candidates: CandidateSet = "all",
    exclude: Iterable[Hashable] = (),
    filter: Filter = None,
    unknown: Unknown = "skip",
    diversity: float = 0.0,
    ranker: RankerLike = "mixture",
    alpha: float = 0.85,
    weights: Mapping[str, float] | None = None,
    seed: int = 0,
    progress: Progress = no_progress,
) -> list[Recommendations]:
    """Recommend nodes to many users; unknown labels in one history do not affect the others.

    Parameters
    ----------
    graph : Graph
        Graph with at least one edge.
    histories : iterable of lists
        Labels of the nodes that each user visited, the last visit at the end.
    unknown : {"skip", "error"}
        What to do with labels that the graph does not have, as for `recommend`; by default they are left out and listed
        in `.skipped`. A user without any known label gets the nodes of the highest PageRank.
    progress : callable
        Function of a message and the completed share, called every few users.
    k, candidates, exclude, filter, diversity, ranker, alpha, weights, seed
        As for `recommend`.

    Returns
    -------
    list of Recommendations
        One per history.

    Examples
    --------
    >>> import curiograph as cg
    >>> tops = cg.recommend_many(cg.toys.library(), [["music"], ["moon"], []], k=1, ranker="pagerank")
    >>> [(top[0][0], top.skipped) for top in tops]
    [('mathematics', []), ('philosophy', ['moon']), ('philosophy', [])]
    """
    return Recommender(graph, ranker, alpha=alpha, weights=weights, seed=seed).recommend_many(
        histories,
        k,
        candidates=candidates,
        exclude=exclude,
        filter=filter,
        unknown=unknown,
        diversity=diversity,
        progress=progress,
    )


def _find_components(ranker: Ranker, kind: type[T], prefix: str = "") -> dict[str, T]:
    """Return all components of a type, including those of nested mixtures, by dotted name."""
    found: dict[str, T] = {}
    for name, part in ranker.parts().items():
        if isinstance(part, kind):
            found[prefix + name] = part
        elif part is not ranker:
            found |= _find_components(part, kind, f"{prefix}{name}.")
    return found


def compute_ranks(scores: Float64, indices: Int64) -> Int64:
    """Return the ranks of some scores among all, 1 for the highest; ties share the better rank.

    >>> compute_ranks(np.array([1.0, 3.0, 3.0, 9.0]), np.array([0, 2])).tolist()
    [4, 2]
    """
    if len(indices) * len(scores) <= _FEW_PAIRS:
        return np.asarray(1 + (scores > scores[indices][:, None]).sum(axis=1))
    if len(indices) <= _FEW_SCORES:
        return np.asarray([1 + np.count_nonzero(scores > score) for score in scores[indices].tolist()], np.int64)
    return np.asarray(1 + len(scores) - np.searchsorted(np.sort(scores), scores[indices], side="right"))
