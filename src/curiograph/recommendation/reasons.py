"""Why a node is recommended: where each component ranks it, which gaps it opens or closes, what it does to
compressibility."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from curiograph.arrays import Int32
from curiograph.centrality.history import History
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph
from curiograph.growth.gap_loops import find_opened_loops
from curiograph.rewards.cpt import CompressibilityTracker
from curiograph.rewards.igt import GapTracker

MAX_RECENT_NODES = 50
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


def explain_recommendations(
    graph: Graph, seen: History, nodes: Int32, ranks: Mapping[str, Any], candidates: int
) -> list[Reason]:
    """A reason for each of `nodes`, given what was visited and each node's place by each component."""
    recent = (
        seen.nodes
        if len(seen.nodes) <= MAX_RECENT_NODES
        else seen.nodes[np.isin(seen.nodes, seen.nodes_last_at_end[-MAX_RECENT_NODES:])]
    )
    count, length = len(nodes), len(recent)
    if count == 0:
        return []
    walks = np.full((count, length + 1), -1, np.int32)
    walks[:, :length] = recent
    stack, lengths = GraphBatch.of([graph]), np.full(count, length)
    after = CompressibilityTracker(stack, walks, lengths).candidate_values(np.arange(count + 1), nodes)
    before = CompressibilityTracker(stack, walks[:1], lengths[:1]).values()[0]
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
                tuple(_labels(graph, loop) for loop in find_opened_loops(visited, links, v)),
                _labels(graph, [int(recent[step]) for step in closed[i]]),
                float(after[i] - before),
            )
        )
    return reasons


def _labels(graph: Graph, positions: list[int]) -> tuple[Hashable, ...]:
    return tuple(graph.label(v) for v in positions)


def _closed(stack: GraphBatch, walks: Int32, lengths: Any, nodes: Int32) -> list[list[int]]:
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
    """Visited neighbours of a node in either direction, in order of visit."""
    rows = graph.skeleton
    around = rows.indices[rows.indptr[v] : rows.indptr[v + 1]]
    if len(around) == 0:
        return []
    place = np.minimum(np.searchsorted(around, recent), len(around) - 1)
    linked: list[int] = recent[around[place] == recent].tolist()
    return linked


def _subgraph(graph: Graph, recent: Int32) -> dict[int, list[int]]:
    """What was visited: the visited neighbours of every visited node, by position."""
    positions = np.sort(recent)
    inner = graph.skeleton.induced(positions)
    return {
        int(v): positions[inner.indices[a:b]].tolist()
        for v, (a, b) in zip(positions, pairwise(inner.indptr.tolist()), strict=True)
    }
