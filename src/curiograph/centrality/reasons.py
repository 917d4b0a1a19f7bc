"""Why a node is recommended: where each component ranks it, which gaps it opens or closes, what it does to
compressibility."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import networkx
import numpy as np

from curiograph.graph.container import Graph
from curiograph.graph.rows import Int32
from curiograph.graph.stack import Stack
from curiograph.rewards.cpt import CompressibilityTracker
from curiograph.rewards.igt import GapTracker

RECENT = 50
"""Visited nodes that reasons look at, the last ones: compressibility costs the cube of their number."""


@dataclass(frozen=True)
class Reason:
    """What speaks for a recommendation."""

    node: Hashable
    ranks: Mapping[str, int]
    """Its place among all candidates by each component, 1 for the best; equal scores share the better place."""
    candidates: int
    """How many candidates there were."""
    links: tuple[Hashable, ...]
    """Visited nodes that it is linked to, in either direction."""
    opens: tuple[tuple[Hashable, ...], ...]
    """Gaps that it opens, each as a loop of nodes that begins with it."""
    closes: tuple[Hashable, ...]
    """Gaps that it closes, each by the visited node that opened it."""
    compressibility: float
    """By how many bits the compressibility of what was visited changes."""

    @property
    def story(self) -> str:
        """What it does to the gaps, in words; empty where it does nothing."""
        said = []
        if self.opens:
            loop = " - ".join(str(label) for label in (*self.opens[0], self.node))
            more = f" and {len(self.opens) - 1} more" if len(self.opens) > 1 else ""
            said.append(f"opens the gap {loop}{more}")
        if self.closes:
            said.append("closes " + ", ".join(f"the gap opened by {label}" for label in self.closes))
        return "; ".join(said)

    def __str__(self) -> str:
        """One line for people."""
        ranks = ", ".join(f"{rank} by {name}" for name, rank in self.ranks.items())
        said = [f"of {self.candidates} candidates {ranks}", self.story]
        return "; ".join([*filter(None, said), f"compressibility {self.compressibility:+.3f} bits"])

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def explain(graph: Graph, history: Int32, nodes: Int32, ranks: Mapping[str, Any], candidates: int) -> list[Reason]:
    """A reason for each of `nodes`, given the positions visited and each node's place by each component."""
    recent = history[-RECENT:]
    count, length = len(nodes), len(recent)
    walks = np.full((count, length + 1), -1, np.int32)
    walks[:, :length] = recent
    stack, lengths = Stack.of([graph]), np.full(count, length)
    bits = CompressibilityTracker(stack, walks, lengths)
    after = bits.candidate_values(np.arange(count + 1), nodes)
    before = CompressibilityTracker(stack, walks[:1], lengths[:1]).values()[0] if count else 0.0
    closed = _closed(stack, walks, lengths, nodes)
    visited = _subgraph(graph, recent)
    reasons = []
    for i, v in enumerate(nodes.tolist()):
        links = _links(graph, recent, v)
        reasons.append(
            Reason(
                graph.label(v),
                {name: int(places[i]) for name, places in ranks.items()},
                candidates,
                _labels(graph, links),
                tuple(_labels(graph, loop) for loop in _opened(visited, links, v)),
                _labels(graph, [int(recent[step]) for step in closed[i]]),
                float(after[i] - before),
            )
        )
    return reasons


def _labels(graph: Graph, positions: list[int]) -> tuple[Hashable, ...]:
    return tuple(graph.label(v) for v in positions)


def _closed(stack: Stack, walks: Int32, lengths: Any, nodes: Int32) -> list[list[int]]:
    """Of every new node the gaps that it closes, each by the step that opened it."""
    gaps = GapTracker(stack, walks, lengths)
    gaps.closed.clear()  # what the history closed itself
    gaps.advance(nodes)
    closed: list[list[int]] = [[] for _ in nodes]
    for rows in gaps.closed:
        for walk, opened, _ in rows.tolist():
            closed[walk].append(opened)
    return closed


def _links(graph: Graph, recent: Int32, v: int) -> list[int]:
    rows = graph.skeleton
    around = rows.indices[rows.indptr[v] : rows.indptr[v + 1]]
    return [int(u) for u in recent if u in around]


def _subgraph(graph: Graph, recent: Int32) -> Any:
    """What was visited, as a networkx graph of positions."""
    positions = np.unique(recent)
    inner = graph.skeleton.induced(positions)
    made = networkx.Graph()
    made.add_nodes_from(positions.tolist())
    rows = np.repeat(positions, np.diff(inner.indptr))
    made.add_edges_from(zip(rows.tolist(), positions[inner.indices].tolist(), strict=True))
    return made


def _opened(visited: Any, links: list[int], v: int) -> list[list[int]]:
    """A loop for each gap that `v` opens: from one part of its neighbourhood to the next, the short way round.

    Visited neighbours of `v` that are connected among themselves leave no gap; those that only a longer way through
    what was visited connects do.
    """
    if len(links) < 2:
        return []
    parts = [sorted(part) for part in networkx.connected_components(visited.subgraph(links))]
    loops = []
    for whole in networkx.connected_components(visited):
        mine = [part for part in parts if part[0] in whole]
        tree = networkx.Graph()
        for a, b in combinations(range(len(mine)), 2):
            path = _shortest(visited, mine[a], mine[b])
            tree.add_edge(a, b, weight=len(path), path=path)
        loops += [[v, *tree.edges[edge]["path"]] for edge in networkx.minimum_spanning_edges(tree, data=False)]
    return loops


def _shortest(graph: Any, sources: list[int], targets: list[int]) -> list[int]:
    """The shortest path from any of some nodes to any of others."""
    paths = networkx.multi_source_dijkstra_path(graph, set(sources), weight=None)
    shortest: list[int] = min((paths[t] for t in targets), key=lambda path: len(path))
    return shortest
