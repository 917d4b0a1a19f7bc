"""Recommendations of nodes to visit next."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, TypeVar, get_args

import numpy as np

from curiograph.centrality.history import History, is_history_batch
from curiograph.errors import SettingError, UnknownNodeError, WalkError, quote_value
from curiograph.exploration.mdp import Candidates
from curiograph.files import PathLike
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph, as_graph, require_edges
from curiograph.graph.labels import LabelReader
from curiograph.parallel import Engine, EngineName, as_engine
from curiograph.progress import Progress, no_progress
from curiograph.recommendation.curious_ranker import CuriousRanker
from curiograph.recommendation.parts_file import load_parts, prepare_parts, save_parts
from curiograph.recommendation.ranker import CandidateSet, Ranker, RankerLike, find_candidates, score_candidates
from curiograph.recommendation.rankers import MixtureRanker, PageRankRanker, PopularPageRank, as_ranker
from curiograph.recommendation.recommended import Recommendations
from curiograph.recommendation.selection import EVERYTHING, Filter, Selection, Unknown, read_history
from curiograph.validation import check_choice, check_integer

T = TypeVar("T", bound=Ranker)

_BATCH_ENTRIES = 2**22  # users times nodes of a batch; bounds the memory, does not change the result
_BATCH_USERS = 256  # users of a batch at most


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
        alphas = [each.alpha for each in _find_components(self.ranker, PageRankRanker).values()]
        alphas += [each.alpha for each in self.curious_rankers.values()]
        name = "pagerank" if graph.visitors is None else "visitors"
        self._popular = PopularPageRank(alphas[0] if alphas else 0.85, name)
        self.labels = LabelReader(graph)
        """Finds the nodes of labels, as numbers or as text."""

    @cached_property
    def _stack(self) -> GraphBatch:
        """The graph as the only one of a batch, for reasons."""
        return GraphBatch.of([self.graph])

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
        k = check_integer("k", k, 1, "ask for 1 recommendation or more")
        check_choice("candidates", candidates, get_args(CandidateSet))
        check_choice("unknown", unknown, get_args(Unknown))
        selection = Selection.create(self.labels, exclude, filter, diversity)
        is_batch = is_history_batch(self.graph, history)
        users, skipped = [], []
        for number, each in enumerate(history if is_batch else [history]):
            try:
                visited, left_out = read_history(self.labels, each, unknown)
            except (UnknownNodeError, WalkError) as error:
                raise (type(error)(f"history {number}: {error}") if is_batch else error) from None
            users.append(visited)
            skipped.append(left_out)
        tops = self.recommend_visited(users, k, candidates, [selection] * len(users))
        for top, left_out in zip(tops, skipped, strict=True):
            top.skipped = left_out
        return tops if is_batch else tops[0]

    def recommend_visited(
        self,
        histories: Sequence[History],
        k: int,
        candidates: CandidateSet,
        selections: Sequence[Selection] | None = None,
    ) -> list[Recommendations]:
        """Return the `k` best candidates for each of several parsed histories, each with its own selection.

        A user who has visited nothing gets the nodes of most visitors, or of the highest PageRank without a history.
        """
        graph, selections = self.graph, selections or [EVERYTHING] * len(histories)
        tops: dict[int, Recommendations] = {}
        for is_new in (False, True):
            users = [user for user, history in enumerate(histories) if (len(history.nodes) == 0) == is_new]
            ranker = self._popular if is_new else self.ranker
            which: CandidateSet = "all" if is_new else candidates
            parts = ranker.parts()
            fitting = max(1, _BATCH_ENTRIES // graph.num_nodes) if which == "all" else _BATCH_USERS
            size = min(fitting, _BATCH_USERS)
            for batch in (users[first : first + size] for first in range(0, len(users), size)):
                visited = [histories[user].nodes if is_new else histories[user].nodes_last_at_end for user in batch]
                found = find_candidates(graph, visited, which)
                by_part = {name: score_candidates(part, graph, visited, found) for name, part in parts.items()}
                scores = ranker.joined(by_part)
                offered = np.ones(len(scores), bool)
                if which == "all" and all(part.zero_is_unreached for part in parts.values()):
                    offered = np.any([each != 0 for each in by_part.values()], axis=0)
                bounds = list(pairwise(found.offsets.tolist()))
                best = [
                    a + selections[user].select(graph, found.nodes[a:b], scores[a:b], offered[a:b], k)
                    for user, (a, b) in zip(batch, bounds, strict=True)
                ]
                chosen = Candidates(np.array([0, *accumulate(map(len, best))]), found.nodes[np.concatenate(best)])
                errors = ranker.errors(graph, visited, chosen)
                own = pairwise(chosen.offsets.tolist())
                for user, (a, b), top, (c, d) in zip(batch, bounds, best, own, strict=True):
                    ranks = {}  # 1 for the highest score of all candidates; ties share the better rank
                    for name, each in by_part.items():
                        above = np.sort(each[a:b][each[a:b] > each[top].min(initial=np.inf)])
                        ranks[name] = 1 + len(above) - above.searchsorted(each[top], side="right")
                    tops[user] = Recommendations(
                        graph, histories[user], chosen.nodes[c:d], scores[top], errors[c:d], ranks, b - a, self._stack
                    )
        return [tops[user] for user in range(len(histories))]

    # ---- preparation ------------------------------------------------------------------------------------------------

    def prepare(
        self,
        labels: Sequence[Hashable] | None = None,
        *,
        engine: EngineName | Engine = "local",
        progress: Progress = no_progress,
    ) -> None:
        """Compute in advance what users who visited these nodes need; by default all nodes.

        Parameters
        ----------
        labels : list, optional
            Labels of nodes. For a large graph, begin with the nodes that most users visit.
        engine : {"local", "ray"} or Engine
            Where the walkers are simulated. "local" uses the threads of this process; an Engine has workers, and a run
            folder with which a stopped preparation resumes.
        progress : callable
            Called with a message and the share done.
        """
        if isinstance(labels, (str, bytes)):
            raise SettingError(f"the labels to prepare are {quote_value(labels)}; give a list of them.")
        backend = Engine("local", 1) if engine == "local" else as_engine(engine)
        nodes: Sequence[int] = range(self.graph.num_nodes)
        if labels is not None:
            nodes = sorted({self.labels.position(label) for label in labels})
        missing = self.find_missing(nodes)
        if missing:
            prepare_parts(self.graph, self.curious_rankers, missing, backend, progress)
        if nodes:
            for plain in _find_components(self.ranker, PageRankRanker).values():
                plain.prepare(self.graph, nodes)
            _ = self.recommend([self.graph.label(nodes[0])], 1).reasons  # compiles kernels, fills caches of the graph

    @property
    def num_prepared(self) -> int:
        """Number of parts computed or loaded, over all components."""
        return sum(len(ranker.kept.get(self.graph, {})) for ranker in self.curious_rankers.values())

    def find_missing(self, nodes: Iterable[int]) -> list[int]:
        """Return those of some nodes (positions) that are not prepared for all curious components."""
        kept = [ranker.kept.get(self.graph, {}) for ranker in self.curious_rankers.values()]
        return [v for v in nodes if not all(v in parts for parts in kept)]

    def save(self, path: PathLike) -> None:
        """Write prepared parts to a .safetensors file; those of other rankers on this graph that it holds are kept."""
        save_parts(path, self.graph, self._require_curious())

    def load(self, path: PathLike) -> list[Hashable]:
        """Read parts that were prepared with the same graph, agents and settings.

        Returns
        -------
        list
            Labels of the nodes that are now prepared, except for PageRank: `prepare` takes them.
        """
        rankers = self._require_curious()
        load_parts(path, self.graph, rankers)
        prepared = set.intersection(*(set(ranker.kept.get(self.graph, {})) for ranker in rankers.values()))
        return [self.graph.label(v) for v in sorted(prepared)]

    def _require_curious(self) -> dict[str, CuriousRanker]:
        if not self.curious_rankers:
            raise SettingError(f"the ranker {self.ranker.name!r} has no parts to keep in a file; only curious ones do.")
        return self.curious_rankers

    def replace_curious(self, make: Callable[[CuriousRanker], Ranker]) -> Recommender:
        """Return the same recommender with each curious component replaced by what a function makes of it."""
        parts = self.ranker.parts()
        made = {name: make(part) if isinstance(part, CuriousRanker) else part for name, part in parts.items()}
        return Recommender(self.graph, MixtureRanker(made, getattr(self.ranker, "weights", None)))


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
        ranked by the number of their visitors if the graph has it (`cg.human.cooccurrence_graph`), and else by PageRank
        without a history, whatever the ranker.
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
        PageRank, curious PageRank for igt or cpt, a mixture of the three, a ranker that `fit_ranker` fitted to people,
        or a custom one.
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
        history, k, candidates=candidates, exclude=exclude, filter=filter, unknown=unknown, diversity=diversity
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
