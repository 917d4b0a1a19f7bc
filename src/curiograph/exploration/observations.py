"""What a policy sees in the Gymnasium environments: observation spaces, and observations of batches of walks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from curiograph import kernels
from curiograph.arrays import Int64
from curiograph.errors import SettingError
from curiograph.exploration.episodes import EpisodeSource
from curiograph.exploration.mdp import Exploration
from curiograph.graph.graph import PROFILE_SIZE, Graph
from curiograph.validation import check_choice, check_integer

Observation = dict[str, Any]

NODE_FEATURES = (
    "visited", "order", "last", "candidate", "links",
    "degree", "smallest_degree", "largest_degree", "mean_degree", "spread_of_degrees",
)  # fmt: skip
"""Columns of `nodes` in the observation "subgraph"."""

_MAX_FEATURE = 22.0  # no graph has a node of degree 2**31, and log(1 + 2**31) is 21.5
_MAX_ROWS = 256
_MAX_LINKS = 8192


@dataclass(frozen=True, eq=False)
class View:
    """Observation of a batch of walks."""

    observation: Observation
    """Arrays with one row per walk."""
    choices: Int64
    """Index of the candidate that each action selects, walks x actions; -1 for an illegal action."""
    info: dict[str, Any]
    """Further arrays that belong to `info`."""


class WalkObserver:
    """The observation "walk": which node was visited when, by position in the graph.

    `columns` is the maximum number of nodes of a walk that fits into the arrays, `space` the observation space of one
    walk; an action is a position in `action_mask`.
    """

    uses_streams = False
    """Whether observations are partly random, from the random stream of the walk."""

    def __init__(self, source: EpisodeSource, steps: int, max_nodes: int | None) -> None:
        self._size = size = source.num_nodes if max_nodes is None else max_nodes
        self.num_actions = size
        self.columns = min(steps, size)
        self.space = spaces.Dict(
            {
                "action_mask": spaces.MultiBinary(size),
                "visited": spaces.Box(0, self.columns, (size,), np.int32),
                "last": spaces.Discrete(size),
                "graph": spaces.Discrete(len(source.graphs) + 1),
            }
        )

    def check_graph(self, graph: Graph) -> None:
        """Raise SettingError if walks on a graph do not fit into the arrays."""
        if graph.num_nodes > self._size:
            problem = f"a graph has {graph.num_nodes:,} nodes, but the arrays of the environment have {self._size:,}"
            fix = f'make it with max_nodes={graph.num_nodes} or more, or with observation="subgraph"'
            raise SettingError(f"{problem}; {fix}.")

    def observe(self, walks: Exploration, graphs: Int64, count: int) -> View:
        """Observe the first `count` walks; `graphs` are the indices of their graphs in the environment."""
        first = walks.stack.starts[walks.graph_of[:count]]
        choices = np.full((count, self._size), -1, np.int64)
        rows = walks.candidates.walks[: walks.candidates.offsets[count]]
        choices[rows, walks.candidates.nodes[: len(rows)] - first[rows]] = np.arange(len(rows))
        lengths = walks.lengths[:count]
        visited = np.zeros((count, self._size), np.int32)
        rows, steps = np.nonzero(np.arange(walks.nodes.shape[1]) < lengths[:, None])
        visited[rows, walks.nodes[rows, steps] - first[rows]] = steps + 1
        observation = {
            "action_mask": (choices >= 0).astype(np.int8),
            "visited": visited,
            "last": walks.nodes[np.arange(count), lengths - 1] - first,
            "graph": graphs.copy(),
        }
        return View(observation, choices, {})


class SubgraphObserver:
    """The observation "subgraph": visited nodes and candidates as a small graph with features of its nodes."""

    uses_streams = True

    def __init__(self, source: EpisodeSource, steps: int, max_nodes: int | None, max_edges: int | None) -> None:
        if max_nodes is None:
            largest = source.num_nodes if source.sampler is None else max(source.num_nodes, steps)
            max_nodes = min(largest, max(_MAX_ROWS, 2 * steps))
        if max_edges is None:
            max_edges = min(max_nodes * (max_nodes - 1), _MAX_LINKS)
            max_edges = min(max_edges, source.num_links) if source.sampler is None else max_edges
        self._steps, self._rows, self._slots = steps, max_nodes, max_edges
        self.num_actions = max_nodes
        self.columns = min(steps, max_nodes)
        self.space = spaces.Dict(
            {
                "action_mask": spaces.MultiBinary(max_nodes),
                "nodes": spaces.Box(0, _MAX_FEATURE, (max_nodes, len(NODE_FEATURES)), np.float32),
                "node_mask": spaces.MultiBinary(max_nodes),
                "edges": spaces.Box(0, max_nodes - 1, (2, max_edges), np.int64),
                "edge_mask": spaces.MultiBinary(max_edges),
                "steps_left": spaces.Box(0, 1, (1,), np.float32),
            }
        )

    def check_graph(self, graph: Graph) -> None:
        longest = min(self._steps, graph.num_nodes)
        if longest > self._rows:
            problem = f"a walk may visit {longest:,} nodes, but the observation has room for {self._rows:,}"
            raise SettingError(f"{problem}; raise max_nodes or lower steps.")

    def observe(self, walks: Exploration, graphs: Int64, count: int) -> View:
        stack, lengths = walks.stack, walks.lengths[:count]
        low = stack.starts[walks.graph_of[:count]]
        places, links, choices, edges, num_edges = kernels.observation.build_views(
            stack.out.indptr, stack.out.indices, stack.skeleton.indptr, stack.skeleton.indices,
            walks.nodes[:count], lengths, walks.candidates.offsets[: count + 1], walks.candidates.nodes,
            low, walks.streams[:count], self._rows, self._slots,
        )  # fmt: skip
        present = places >= 0
        order = np.arange(1, self._rows + 1, dtype=np.float32)
        visited = order <= lengths[:, None]
        features = np.zeros((count, self._rows, len(NODE_FEATURES)), np.float32)
        features[:, :, 0] = visited
        features[:, :, 1] = np.where(visited, order / self.columns, 0)
        features[np.arange(count), lengths - 1, 2] = 1
        features[:, :, 3] = choices >= 0
        features[:, :, 4] = np.log1p(links)
        features[present, -PROFILE_SIZE:] = np.log1p(stack.degree_profile[places[present]])
        observation = {
            "action_mask": (choices >= 0).astype(np.int8),
            "nodes": features,
            "node_mask": present.astype(np.int8),
            "edges": edges,
            "edge_mask": (np.arange(self._slots) < num_edges[:, None]).astype(np.int8),
            "steps_left": ((self.columns - lengths) / self.columns).astype(np.float32)[:, None],
        }
        return View(observation, choices, {"nodes": np.where(present, places - low[:, None], -1).astype(np.int64)})


Observer = WalkObserver | SubgraphObserver


def make_observer(name: Any, source: EpisodeSource, steps: int, max_nodes: Any, max_edges: Any) -> Observer:
    """Return the observer with a name; raise for bad settings."""
    check_choice("observation", name, ("walk", "subgraph"))
    if max_nodes is not None:
        max_nodes = check_integer("max_nodes", max_nodes, 2, "give a whole number of nodes, 2 or more")
    if max_edges is not None:
        max_edges = check_integer("max_edges", max_edges, 1, "give a whole number of edges, 1 or more")
    observer: Observer = WalkObserver(source, steps, max_nodes)
    if name == "subgraph":
        observer = SubgraphObserver(source, steps, max_nodes, max_edges)
    for graph in source.graphs:
        observer.check_graph(graph)
    return observer
