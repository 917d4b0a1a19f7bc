"""Recommendations of nodes to visit next."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, get_args

import numpy as np

from curiograph.arrays import Int32
from curiograph.centrality.history import History, list_labels, read_each
from curiograph.errors import SettingError, WalkError, quote_value
from curiograph.exploration.mdp import Candidates
from curiograph.files import PathLike
from curiograph.graph.graph import Graph, as_graph, require_edges
from curiograph.graph.labels import LabelReader
from curiograph.parallel import Engine, EngineName, as_engine
from curiograph.progress import Progress, no_progress
from curiograph.recommendation.parts import PartRanker, score_reached
from curiograph.recommendation.parts_file import load_parts, prepare_file, prepare_parts
from curiograph.recommendation.ranker import CandidateSet, Ranker, RankerLike, find_candidates, score_candidates
from curiograph.recommendation.rankers import MixtureRanker, PopularPageRank, as_ranker
from curiograph.recommendation.reasons import Reason
from curiograph.recommendation.recommended import Recommendations
from curiograph.recommendation.selection import Filter, Selection, Unknown, read_history, select_best
from curiograph.validation import check_choice, check_integer

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
        self.settings: Any = None
        """Arguments that make the ranker, or None if it was made before."""
        if isinstance(ranker, str):
            self.settings = {"ranker": ranker, "alpha": alpha, "weights": weights and dict(weights), "seed": seed}
        self.part_rankers = _find_part_rankers(self.ranker)
        """Components that can be prepared, by name."""
        alphas = [each.alpha for each in self.part_rankers.values()]
        name = "pagerank" if graph.visitors is None else "visitors"
        self._popular = PopularPageRank(alphas[0] if alphas else 0.85, name)
        self.labels = LabelReader(graph)
        """Finds the nodes of labels, as numbers or as text."""

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
        theory: bool = False,
    ) -> Any:
        """Return the `k` best candidates for a user, or a list of such lists for a list of histories.

        The arguments are those of the function `recommend`.
        """
        k = min(check_integer("k", k, 1, "ask for 1 recommendation or more"), self.graph.num_nodes)
        check_choice("candidates", candidates, get_args(CandidateSet))
        check_choice("unknown", unknown, get_args(Unknown))
        selection = Selection.create(self.labels, exclude, filter, diversity)
        users, is_batch = read_each(self.graph, history, lambda each: read_history(self.labels, each, unknown))
        visited = [each for each, _ in users]
        tops = self.recommend_visited(visited, k, candidates, [selection] * len(users), theory=theory)
        for top, (_, skipped) in zip(tops, users, strict=True):
            top.skipped = skipped
        return tops if is_batch else tops[0]

    def recommend_visited(
        self,
        histories: Sequence[History],
        k: int,
        candidates: CandidateSet,
        selections: Sequence[Selection] | None = None,
        *,
        explained: bool = True,
        theory: bool = False,
    ) -> list[Recommendations]:
        """Return the `k` best candidates for each of several parsed histories, each with its own selection.

        If they are not `explained`, they have no ranks, which the reasons need.
        A user who has visited nothing gets the nodes of most visitors, or of the highest PageRank without a history.
        """
        graph, selections = self.graph, selections or [Selection()] * len(histories)
        tops: dict[int, Recommendations] = {}
        for is_new in (False, True):
            users = [user for user, history in enumerate(histories) if (len(history.nodes) == 0) == is_new]
            ranker = self._popular if is_new else self.ranker
            which: CandidateSet = "all" if is_new else candidates
            parts = ranker.parts()
            only_reached = which == "all" and all(part.zero_is_unreached for part in parts.values())
            fitting = max(1, _BATCH_ENTRIES // graph.num_nodes) if which == "all" else _BATCH_USERS
            size = min(fitting, _BATCH_USERS)
            for batch in (users[first : first + size] for first in range(0, len(users), size)):
                visited = [histories[user].by_last_visit for user in batch]
                reached = score_reached(parts.values(), graph, visited) if only_reached else None
                if reached is None:
                    found = find_candidates(graph, visited, which)
                    by_part = {name: score_candidates(part, graph, visited, found) for name, part in parts.items()}
                else:
                    found, by_part = reached[0], dict(zip(parts, reached[1], strict=True))
                scores = ranker.joined(by_part)
                offered = np.ones(len(scores), bool)
                if only_reached and reached is None:
                    offered = np.any([each != 0 for each in by_part.values()], axis=0)
                best = select_best(graph, found, scores, offered, [selections[user] for user in batch], k)
                bounds = pairwise(found.offsets.tolist())
                for user, history, (a, b), top in zip(batch, visited, bounds, best, strict=True):
                    nodes, selection = found.nodes[top], selections[user]
                    is_filtered = selection.allowed is not None or selection.accept is not None
                    if only_reached and len(top) < k and (is_filtered or len(top) == 0):
                        nodes = np.append(nodes, self._find_unreached(history, selection, nodes, k - len(top)))
                    zeros, ranks = np.zeros(len(nodes) - len(top)), {}
                    for name, each in by_part.items() if explained else ():
                        own = np.append(each[top], zeros)
                        above = np.sort(each[a:b][each[a:b] > own.min(initial=np.inf)])
                        # 1 for the highest score of all candidates; ties share the better rank
                        ranks[name] = 1 + len(above) - above.searchsorted(own, side="right")
                    count = graph.num_nodes - len(history) if which == "all" else b - a
                    own_scores = np.append(scores[top], zeros)
                    given = histories[user], nodes, own_scores, ranks, count, theory
                    tops[user] = Recommendations(graph, ranker, *given)
        return [tops[user] for user in range(len(histories))]

    def _find_unreached(self, history: Int32, selection: Selection, reached: Int32, count: int) -> Int32:
        """Return the most popular nodes that a filter accepts and that are neither visited nor reached."""
        allowed = np.arange(self.graph.num_nodes) if selection.allowed is None else selection.allowed
        nodes = np.setdiff1d(allowed, np.concatenate([history, reached, selection.excluded])).astype(np.int32)
        popularity = self._popular.scores(self.graph, [], Candidates(np.array([0, len(nodes)]), nodes))
        nodes = nodes[np.argsort(-popularity, kind="stable")]
        return nodes[replace(selection, diversity=0.0).choose(self.graph, nodes, popularity, count)]

    def explain(self, history: Any, items: Any, *, theory: bool = False) -> list[Reason]:
        """Return the reason for each of some items; the arguments are those of the function `explain`."""
        visited, _ = read_history(self.labels, history, "error")
        labels = list_labels("items", items)
        nodes = np.asarray([self.labels.position(label) for label in labels], np.int32)
        for label, v in zip(labels, nodes, strict=True):
            if v in visited.nodes:
                raise WalkError(f"the item {quote_value(label)} is in the history; leave it out of the items.")
        (top,) = self.recommend_visited([visited], len(nodes), "all", [Selection(allowed=nodes)], theory=theory)
        reasons = {reason.node: reason for reason in top.reasons}
        return [reasons[self.graph.names[v]] for v in nodes.tolist()]

    # ---- preparation ------------------------------------------------------------------------------------------------

    def prepare(
        self,
        labels: Sequence[Hashable] | None = None,
        *,
        file: PathLike | None = None,
        engine: EngineName | Engine = "local",
        progress: Progress = no_progress,
    ) -> None:
        """Compute in advance what users who visited these nodes need; by default all nodes.

        Parameters
        ----------
        labels : list, optional
            Labels of nodes. For a large graph, begin with the nodes that most users visit.
        file : path, optional
            File, .safetensors, that is written instead of keeping the parts in memory, and then loaded.
        engine : {"local", "ray"} or Engine
            Where the parts are computed. "local" uses the threads of this process; an Engine has workers, and a run
            folder with which a stopped preparation resumes.
        progress : callable
            Called with a message and the share done.
        """
        if isinstance(labels, (str, bytes)) or not isinstance(labels, Iterable | None):
            raise SettingError(f"the labels to prepare are {quote_value(labels)}; give a list of them.")
        backend = Engine("local", 1) if engine == "local" else as_engine(engine)
        nodes: Sequence[int] = range(self.graph.num_nodes)
        if labels is not None:
            nodes = sorted({self.labels.position(label) for label in labels})
        if not nodes:
            raise SettingError("there are no nodes to prepare; name some, or none for all.")
        if file is not None:
            prepare_file(file, self.graph, self._require_parts(), nodes, backend, progress, self.settings)
            self.load(file)
            return
        if missing := self.find_missing(nodes):
            prepare_parts(self.graph, self.part_rankers, missing, backend, progress)
        self._fill_caches(nodes[0])

    def _fill_caches(self, node: int) -> None:
        """Compile kernels and compute what is cached per graph."""
        _ = self.recommend([self.graph.label(node)], 1).reasons

    @property
    def num_prepared(self) -> int:
        """Number of parts computed or loaded, over all components."""
        return sum(len(ranker.kept.get(self.graph, {})) for ranker in self.part_rankers.values())

    def find_missing(self, nodes: Iterable[int]) -> list[int]:
        """Return those of some nodes (positions) that are not prepared for all components."""
        kept = [ranker.kept.get(self.graph, {}) for ranker in self.part_rankers.values()]
        kept = [parts for parts in kept if len(parts) < self.graph.num_nodes]
        return [v for v in nodes if not all(v in parts for parts in kept)]

    def load(self, path: PathLike) -> None:
        """Map parts into memory that were prepared with the same graph, agents and settings."""
        rankers = self._require_parts()
        load_parts(path, self.graph, rankers)
        self._fill_caches(next(iter(next(iter(rankers.values())).kept[self.graph])))

    def _require_parts(self) -> dict[str, PartRanker]:
        if not self.part_rankers:
            raise SettingError(f"the ranker {self.ranker.name!r} has no parts to keep in a file; nothing is prepared.")
        return self.part_rankers

    def replace_parts(self, make: Callable[[PartRanker], Ranker]) -> Recommender:
        """Return the same recommender with each component that can be prepared replaced by what a function returns."""
        parts = self.ranker.parts()
        made = {name: make(part) if isinstance(part, PartRanker) else part for name, part in parts.items()}
        if parts.get(self.ranker.name) is self.ranker:
            return Recommender(self.graph, made[self.ranker.name])
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
    theory: bool = False,
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
        A function is called for the best candidates first, until enough of them are accepted. If fewer than `k` are
        reached, the most popular others follow, with a score of 0.
    unknown : {"error", "skip"}
        What to do with labels of the history that the graph does not have: raise UnknownNodeError, or leave them out
        and list them in `.skipped`.
    diversity : float
        From 0, the ranking by score, to 1, the nodes that share the fewest neighbors with each other: maximal marginal
        relevance among the 10 k best candidates, with the Jaccard index of neighborhoods as similarity.
    theory : bool
        Whether reasons also have the gaps that a node opens and closes, and the change of compressibility.
    ranker : {"mixture", "pagerank", "igt", "cpt"}, Ranker or object
        PageRank (with "pagerank:0.9", a visit has 0.9 times the weight of the next one), curious PageRank for igt or
        cpt, a mixture of the three, a ranker that `fit_ranker` fitted to people, or a custom one.
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
        theory=theory,
    )


def explain(
    graph: Graph,
    history: Any,
    items: Any,
    *,
    ranker: RankerLike = "pagerank",
    alpha: float = 0.85,
    weights: Mapping[str, float] | None = None,
    seed: int = 0,
    theory: bool = False,
) -> list[Reason]:
    """Explain why each of some items fits a history, such as the recommendations of any other model.

    Parameters
    ----------
    graph : Graph
        Graph with at least one edge.
    history : list
        Labels of the visited nodes.
    items : list
        Labels of nodes that are not in the history.
    ranker : {"mixture", "pagerank", "igt", "cpt"}, Ranker or object
        Ranker whose scores the visited nodes have shares of.
    alpha, weights, seed, theory
        As for `recommend`.

    Returns
    -------
    list of Reason
        The reason for each item: its sentence, the shares of the visited nodes, and its rank among all candidates.

    Examples
    --------
    >>> import curiograph as cg
    >>> for reason in cg.explain(cg.toys.library(), ["music", "physics"], ["poetry", "chemistry"]):
    ...     print(f"{reason.node}: {reason}")
    poetry: Because of music (68 %).
    chemistry: Because of physics (68 %).
    """
    recommender = Recommender(graph, ranker, alpha=alpha, weights=weights, seed=seed)
    return recommender.explain(history, items, theory=theory)


def _find_part_rankers(ranker: Ranker, prefix: str = "") -> dict[str, PartRanker]:
    """Return all components that can be prepared, including those of nested mixtures, by dotted name."""
    found: dict[str, PartRanker] = {}
    for name, part in ranker.parts().items():
        if isinstance(part, PartRanker):
            found[prefix + name] = part
        elif part is not ranker:
            found |= _find_part_rankers(part, f"{prefix}{name}.")
    return found
