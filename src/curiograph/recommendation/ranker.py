"""The ranker contract: scores of candidates for users, given their histories; and its checks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Float64, Int32
from curiograph.errors import RankerError, quote_value
from curiograph.exploration.mdp import Candidates
from curiograph.graph.graph import Graph, as_graph, require_edges
from curiograph.graph.toys import library
from curiograph.validation import check_seed

CandidateSet = Literal["last", "history", "all"]

_RELATIVE_TOLERANCE = 1e-6  # of score comparisons, relative to the largest: rankers may use single precision


class Ranker(ABC):
    """Scores candidates for many users at once; higher is better.

    A custom ranker needs a `name` and `scores`; it may inherit from this class or not. `check_ranker` checks whether it
    fulfills the contract.

    Examples
    --------
    >>> import curiograph as cg
    >>> class Popular(cg.Ranker):
    ...     name = "popular"
    ...     def scores(self, graph, histories, candidates):
    ...         return graph.degrees[candidates.nodes].astype(float)
    >>> cg.check_ranker(Popular())
    """

    name: str = "ranker"
    """Name of the ranker."""
    zero_is_unreached: ClassVar[bool] = False
    """Whether a score of zero means that the candidate is unreachable and should not be recommended."""
    is_personal: ClassVar[bool] = True
    """Whether scores depend on the history."""

    @abstractmethod
    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        """Return a finite score for each candidate.

        Parameters
        ----------
        graph : Graph
            Graph of the nodes.
        histories : list of ndarray
            Distinct visited positions of each user, the last visit at the end.
        candidates : Candidates
            Candidates of all users; those of user i are at `offsets[i]:offsets[i + 1]`.
        """

    def contributions(self, graph: Graph, history: Int32, nodes: Int32) -> Float64 | None:
        """Return what each visited node (row) contributes to the score of each of `nodes` (column).

        The sum of a column is the score. None if the scores are not sums over the history.
        """
        return None

    def parts(self) -> Mapping[str, Ranker]:
        """Return the components of this ranker by name."""
        return {self.name: self}

    def joined(self, scores: Mapping[str, Float64]) -> Float64:
        """Return the scores of this ranker from those of its components."""
        return scores[self.name]


RankerLike: TypeAlias = str | Ranker | Any
"""A ranker, its name, or an object with a method `scores(graph, histories, candidates)`."""


class AdaptedRanker(Ranker):
    """Adapter for objects with a method `scores` that do not inherit from `Ranker`."""

    def __init__(self, scorer: Any) -> None:
        self._scorer = scorer
        self.name = str(getattr(scorer, "name", type(scorer).__name__))

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        scores: Float64 = self._scorer.scores(graph, histories, candidates)
        return scores


def score_candidates(ranker: Ranker, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
    """Return the scores of a ranker; raise RankerError unless they are one finite number per candidate."""
    given, expected = ranker.scores(graph, histories, candidates), (len(candidates.nodes),)
    try:
        scores = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise RankerError(f"ranker {ranker.name!r} gave {quote_value(given)}; give one number per candidate.") from None
    if scores.shape != expected:
        raise RankerError(f"ranker {ranker.name!r} gave scores of shape {scores.shape}; it must give {expected}.")
    if not np.all(np.isfinite(scores)):
        bad = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise RankerError(f"ranker {ranker.name!r} gave {scores[bad]} for candidate {bad}; scores are finite numbers.")
    return scores


def find_candidates(graph: Graph, histories: Sequence[Int32], which: CandidateSet) -> Candidates:
    """Return the candidates of each user.

    "last" is A(S) as in exploration, "history" the unvisited out-neighbors of the whole history, "all" all unvisited
    nodes.
    """
    if which == "last":
        lengths = np.asarray([len(history) for history in histories])
        nodes = np.full((len(histories), int(lengths.max())), -1, np.int32)
        for row, history in zip(nodes, histories, strict=True):
            row[: len(history)] = history
        low, high = np.zeros(len(lengths), np.int64), np.full(len(lengths), graph.num_nodes)
        mode = kernels.candidates.FRONTIER
        return Candidates(
            *kernels.candidates.find_candidates(graph.indptr, graph.indices, nodes, lengths, low, high, mode)
        )
    sets = []
    for history in histories:
        if which == "history":
            rows = [graph.indices[graph.indptr[v] : graph.indptr[v + 1]] for v in history]
            sets.append(np.setdiff1d(np.concatenate(rows), history))
        else:
            sets.append(np.delete(np.arange(graph.num_nodes, dtype=np.int32), history))
    return Candidates(np.array([0, *accumulate(map(len, sets))]), np.concatenate(sets))


# ---- contract check -------------------------------------------------------------------------------------------------


def check_ranker(ranker: RankerLike, graph: Graph | None = None, *, seed: int = 0) -> None:
    """Raise RankerError unless a ranker fulfills its contract.

    A ranker must give one finite number per candidate. The scores must be the same in repeated calls, for a user alone
    and among others, for a candidate alone and among others, and when joined from the components; contributions must
    sum to them. Histories and candidates must not be modified.

    Parameters
    ----------
    ranker : str, Ranker or object
        Ranker to check.
    graph : Graph, optional
        Graph to check on. Default: two toy graphs, one of them directed.
    seed : int
        Seed of the random histories.

    Examples
    --------
    >>> import curiograph as cg
    >>> cg.check_ranker("pagerank")
    """
    from curiograph.recommendation.rankers import as_ranker  # which imports this module

    checked_ranker = as_ranker(ranker)
    rng = np.random.default_rng(check_seed(seed))
    one_way = Graph.from_edges([(v, v + step) for v in range(9) for step in (1, 3)], directed=True)  # with dead ends
    for each in (library(), one_way) if graph is None else (as_graph(graph),):
        require_edges(each)
        starts = np.flatnonzero(each.degrees > 0)
        histories = [
            rng.permutation(starts)[: int(rng.integers(1, min(4, len(starts)) + 1))].astype(np.int32) for _ in range(4)
        ]
        for which in get_args(CandidateSet):
            _check_scoring(checked_ranker, each, histories, find_candidates(each, histories, which))


def _check_scoring(ranker: Ranker, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> None:
    given: list[NDArray[Any]] = [*histories, candidates.offsets, candidates.nodes]
    before = [array.copy() for array in given]
    scores = score_candidates(ranker, graph, histories, candidates)
    if not all(np.array_equal(a, b) for a, b in zip(before, given, strict=True)):
        raise RankerError(f"ranker {ranker.name!r} modifies its input; it must leave histories and candidates as is.")
    if not np.array_equal(scores, score_candidates(ranker, graph, histories, candidates)):
        raise RankerError(f"ranker {ranker.name!r} gives different scores in a repeated call; they must be the same.")
    parts = {name: score_candidates(part, graph, histories, candidates) for name, part in ranker.parts().items()}
    if not _are_close(np.asarray(ranker.joined(parts)), scores):
        raise RankerError(f"ranker {ranker.name!r} joins the scores of its parts to others than its own.")

    def score_alone(history: Int32, nodes: Int32) -> Float64:
        return score_candidates(ranker, graph, [history], Candidates(np.array([0, len(nodes)]), nodes))

    for user, history in enumerate(histories):
        own = slice(candidates.offsets[user], candidates.offsets[user + 1])
        nodes = candidates.nodes[own]
        if not _are_close(score_alone(history, nodes), scores[own]):
            raise RankerError(f"ranker {ranker.name!r} scores user {user} differently alone than among others.")
        if not _are_close(score_alone(history, nodes[::2]), scores[own][::2]):
            raise RankerError(
                f"ranker {ranker.name!r} scores candidates of user {user} differently when there are fewer of them."
            )
        rows = ranker.contributions(graph, history, nodes)
        if rows is not None and not _are_close(np.asarray(rows).sum(axis=0), scores[own]):
            raise RankerError(f"ranker {ranker.name!r} gives contributions that do not sum to scores of user {user}.")


def _are_close(scores: Float64, expected: Float64) -> bool:
    tolerance = _RELATIVE_TOLERANCE * max(1e-300, np.abs(expected).max(initial=0))
    return scores.shape == expected.shape and bool(np.allclose(scores, expected, rtol=0, atol=tolerance))
