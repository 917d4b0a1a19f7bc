"""Where the episodes of the Gymnasium environments start: a graph and a node, drawn or given at reset."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from curiograph.arrays import Int64
from curiograph.errors import SettingError, quote_value
from curiograph.exploration.mdp import Fallback, as_graphs, check_fallback, list_starts, locate_start
from curiograph.graph.graph import Graph
from curiograph.validation import check_choice, check_integer

Sampler: TypeAlias = Callable[[np.random.Generator], Graph]
"""Draws the graph of an episode."""

_SIZE_SEED = 0  # of the graph that a sampler draws when an environment is made, to learn the usual size


@dataclass(frozen=True, eq=False)
class Episode:
    """The start of an episode."""

    graph: Graph
    index: int
    """Index in the list of graphs; the length of the list for any other graph."""
    start: int
    """Position of the first node."""


def read_actions(actions: Any, count: int) -> Int64:
    """Return the actions of `count` environments as an array; raise SettingError unless they are integers.

    >>> read_actions(np.array([2]), 1), read_actions(2, 1)
    (array([2]), array([2]))
    """
    array = np.asarray(actions)
    if array.dtype.kind not in "iu" or array.size != count:
        fix = "one whole number" + (f" for each of the {count} environments" if count > 1 else "")
        raise SettingError(f"the action is {quote_value(actions)}; give {fix}.")
    return array.reshape(count).astype(np.int64)


class EpisodeSource:
    """Draws episodes from one graph, from several graphs or from a sampler.

    Examples
    --------
    >>> from curiograph.graph.toys import cycle
    >>> source = EpisodeSource([cycle(4), cycle(5)], "frontier")
    >>> source.draw(np.random.default_rng(0), {"graph": 1, "start": 3}).start
    3
    """

    def __init__(self, graph: Any, fallback: Any) -> None:
        if graph is None:
            call = 'gymnasium.make("curiograph/Exploration-v0", graph=g)'
            raise SettingError(f"the environment has no graph; give a graph, a list or a function of them: {call}.")
        self.sampler: Sampler | None = graph if callable(graph) and not isinstance(graph, (Graph, type)) else None
        self.graphs: list[Graph] = [] if self.sampler is not None else as_graphs(graph)
        self.fallback: Fallback = check_fallback(fallback)
        typical = self.graphs or as_graphs([graph(np.random.default_rng(_SIZE_SEED))])
        self.num_nodes: int = max(g.num_nodes for g in typical)
        """Nodes of the largest graph; of one sampled graph if there is a sampler."""
        self.num_links: int = max(len(g.indices) for g in typical)
        """Directed edges of the largest graph, an undirected edge counted twice."""

    def draw(self, rng: np.random.Generator, options: dict[str, Any] | None) -> Episode:
        """Draw the graph and the start that `options` does not give."""
        options = options or {}
        for key in options:
            check_choice("option at reset", key, ("start", "graph"))
        start, option, last = options.get("start"), options.get("graph"), len(self.graphs) - 1
        if isinstance(option, Graph) or (option is not None and self.sampler is not None):
            (graph,) = as_graphs(option)
            index = next((place for place, known in enumerate(self.graphs) if known is graph), len(self.graphs))
        elif self.sampler is not None:
            graph, index = as_graphs([self.sampler(rng)])[0], 0
        else:
            if option is None:
                option = rng.integers(len(self.graphs)) if last else 0
            meaning = f"give a graph, or the index of a graph, 0 to {last}"
            index = check_integer("option graph", option, 0, meaning, last)
            graph = self.graphs[index]
        if start is not None:
            return Episode(graph, index, locate_start(graph, start, self.fallback))
        starts = list_starts(graph, self.fallback)
        return Episode(graph, index, int(starts[rng.integers(len(starts))]))
