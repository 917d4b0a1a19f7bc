"""The recommenders that are compared, by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from curiograph.errors import SettingError, WalkError
from curiograph.graph.graph import Graph, as_graph
from curiograph.graph.label_reader import LabelReader
from curiograph.human.choices.baselines import ItemKnn, Markov, Popularity, RP3beta
from curiograph.human.data.cooccurrence import cooccurrence_graph
from curiograph.human.recommenders.metrics import Catalog
from curiograph.human.recommenders.rankers import Ease, ImplicitAls
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value
from curiograph.recommendation.prepared import CuriousRanker
from curiograph.recommendation.ranker import Ranker, adapt_ranker
from curiograph.recommendation.rankers import MixtureRanker, PageRankRanker


@dataclass(frozen=True, eq=False)
class Training:
    """Everything that methods are fitted to: training events alone, and a graph."""

    walks: Trajectories
    """Training events over the catalog."""
    graph: Graph
    """Graph of the catalog: its nodes are all items; those without links are isolated."""
    catalog: Catalog
    """Training users of the items."""
    walks_per_node: int = 256
    """Number of curious walkers from each node of a history."""
    seed: int = 0
    """Random seed."""

    @cached_property
    def pagerank(self) -> PageRankRanker:
        """Personalized PageRank on the graph."""
        return PageRankRanker()

    @cached_property
    def curious(self) -> dict[str, CuriousRanker]:
        """Curious walkers by reward; they are simulated once and shared by all methods."""
        return {
            reward: CuriousRanker("greedy", reward, walks=self.walks_per_node, seed=self.seed, name=reward)
            for reward in ("igt", "cpt")
        }

    @property
    def curiosity(self) -> MixtureRanker:
        """Equal mixture of the curious walkers, without PageRank."""
        return MixtureRanker(self.curious, name="igt+cpt")

    @property
    def mixture(self) -> MixtureRanker:
        """Equal mixture of PageRank and the curious walkers: what `recommend` serves by default."""
        return MixtureRanker({"pagerank": self.pagerank, **self.curious})


METHODS: dict[str, Callable[[Training], Ranker]] = {
    "popularity": lambda training: Popularity(training.catalog.counts),
    "markov": lambda training: Markov.from_walks(training.graph, training.walks),
    "item-knn": lambda training: ItemKnn.from_walks(training.graph, training.walks, by_user=True),
    "rp3beta": lambda training: RP3beta.from_walks(training.graph, training.walks, by_user=True),
    "ease": lambda training: Ease.from_walks(training.graph, training.walks),
    "als": lambda training: ImplicitAls.from_walks(training.graph, training.walks, seed=training.seed),
    "pagerank": lambda training: training.pagerank,
    "igt+cpt": lambda training: training.curiosity,
    "mixture": lambda training: training.mixture,
}
"""Functions that fit each method to training events."""
LINK_METHODS = ("pagerank", "igt+cpt", "mixture")
"""Methods that use the links of the graph."""
SIGNED_METHODS = ("ease", "als")
"""Methods whose scores may be negative."""


def check_methods(methods: Any) -> dict[str, Callable[[Training], Ranker]]:
    """Return the functions that fit each method; raise SettingError for an unknown one.

    >>> list(check_methods(["popularity", Markov]))
    ['popularity', 'markov']
    """
    if methods is None:
        return dict(METHODS)
    if isinstance(methods, str) or not isinstance(methods, Sequence) or not methods:
        raise SettingError(f"methods is {quote_value(methods)}; give a list of names such as {', '.join(METHODS)}.")
    found: dict[str, Callable[[Training], Ranker]] = {}
    fit: Callable[[Training], Ranker]
    for method in methods:
        if isinstance(method, str) and method in METHODS:
            name, fit = method, METHODS[method]
        elif (ranker := adapt_ranker(method)) is not None:
            name, fit = ranker.name, partial(_return_ranker, ranker)
        elif callable(getattr(method, "from_walks", None)):
            name, fit = str(getattr(method, "name", getattr(method, "__name__", method))), partial(_fit_walks, method)
        else:
            raise SettingError(
                f"methods is {quote_value(method)}; the methods are {', '.join(METHODS)}, or a class with from_walks("
                "graph, walks) that returns a ranker."
            )
        if found.setdefault(name, fit) is not fit:
            raise SettingError(f"two methods are named {name!r}; give them different names (name=).")
    return found


def list_link_methods(fits: Mapping[str, Callable[[Training], Ranker]]) -> list[str]:
    """Return the names of the methods that use the links of the graph: some built-in ones, and all others.

    >>> list_link_methods(check_methods(["popularity", "pagerank", Markov]))
    ['pagerank', 'markov']
    """
    return [name for name, fit in fits.items() if name in LINK_METHODS or fit is not METHODS.get(name)]


def _return_ranker(ranker: Ranker, training: Training) -> Ranker:
    return ranker


def _fit_walks(method: Any, training: Training) -> Ranker:
    ranker = adapt_ranker(method.from_walks(training.graph, training.walks))
    if ranker is None:
        raise SettingError(f"{quote_value(method)} returned no ranker; it must have a method scores.")
    return ranker


def check_graph(graph: Any, options: Mapping[str, Any]) -> None:
    """Raise an error unless `graph` is a Graph, or None and `options` are those of `cooccurrence_graph`.

    >>> check_graph(None, {"neighbours": 3})
    Traceback (most recent call last):
    curiograph.errors.SettingError: there is no option 'neighbours'; the options of the graph are similarity, ...
    """
    known = [name for name in inspect.signature(cooccurrence_graph).parameters if name not in ("walks", "progress")]
    for option in options:
        if option not in known:
            raise SettingError(f"there is no option {option!r}; the options of the graph are {', '.join(known)}.")
    if graph is not None:
        as_graph(graph)
        if options:
            raise SettingError(
                f"options of the co-occurrence graph ({', '.join(options)}) are given, and a graph is given or in the "
                "dataset; leave the options out, or give walks without a graph."
            )


def make_empty_graph(walks: Trajectories) -> Graph:
    """Return a graph of the catalog without links."""
    nothing = np.empty(0, np.int64)
    return Graph.from_arrays(nothing, nothing, names=walks.names)


def make_catalog_graph(walks: Trajectories, graph: Graph | None, options: Mapping[str, Any]) -> Graph:
    """Return a graph of the catalog, with isolated nodes for items without links.

    Parameters
    ----------
    walks : Trajectories
        Training events over the catalog.
    graph : Graph or None
        Given graph of items, whose labels are matched as by `LabelReader`; links to items outside of the catalog are
        left out. None: `cooccurrence_graph` of the training events.
    options : mapping
        Arguments of `cooccurrence_graph`, if there is no given graph.
    """
    if graph is None:
        graph = cooccurrence_graph(walks, **options)
    reader = LabelReader(make_empty_graph(walks))
    places = [reader.find(label) for label in graph.labels]
    found = np.array([-1 if place is None else place for place in places])
    source = found[np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))]
    target = found[graph.indices]
    inside = (source >= 0) & (target >= 0)
    if not graph.directed:
        inside &= source < target
    if not inside.any():
        raise WalkError("the graph links no two items of the catalog; give a graph with the items of the log.")
    weights = None if graph.weights is None else graph.weights[inside]
    return Graph.from_arrays(source[inside], target[inside], weights, directed=graph.directed, names=walks.names)
