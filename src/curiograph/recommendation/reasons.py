"""Reasons for recommendations: ranks by component, information gaps opened and closed, change of compressibility."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
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
"""Number of last visited nodes that reasons consider: compressibility takes cubic time."""


@dataclass(frozen=True)
class Reason:
    """Reason for one recommendation.

    Examples
    --------
    >>> import curiograph as cg
    >>> (top,) = cg.recommend(cg.toys.cycle(4), [0, 1, 2], ranker="pagerank").reasons
    >>> top.node, top.links, top.opens
    (3, (0, 2), ((3, 2, 1, 0),))
    """

    node: Hashable
    """Label of the recommended node."""
    ranks: Mapping[str, int]
    """Rank among all candidates by each component, 1 for the best; ties share the better rank."""
    candidates: int
    """Number of candidates."""
    links: tuple[Hashable, ...]
    """Visited nodes linked to it, in either direction."""
    opens: tuple[tuple[Hashable, ...], ...]
    """Gaps that it opens, each as a loop of nodes that begins with it."""
    closes: tuple[Hashable, ...]
    """Gaps that it closes, each given by the visited node that opened it."""
    compressibility: float
    """Change of the compressibility of the visited subgraph, in bits."""

    @property
    def story(self) -> str:
        """Gaps opened and closed, as text; empty if there are none."""
        sentences = []
        if self.opens:
            loop = " - ".join(str(label) for label in (*self.opens[0], self.node))
            more = f" and {len(self.opens) - 1} more" if len(self.opens) > 1 else ""
            sentences.append(f"opens the gap {loop}{more}")
        if self.closes:
            sentences.append("closes " + ", ".join(f"the gap opened by {label}" for label in self.closes))
        return "; ".join(sentences)

    def __str__(self) -> str:
        """Return a summary in one line."""
        ranks = ", ".join(f"{rank} by {name}" for name, rank in self.ranks.items())
        sentences = [f"of {self.candidates} candidates {ranks}", self.story]
        return "; ".join([*filter(None, sentences), f"compressibility {self.compressibility:+.3f} bits"])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def explain_recommendations(
    graph: Graph, history: History, nodes: Int32, ranks: Mapping[str, Any], candidates: int
) -> list[Reason]:
    """Return a reason for each of `nodes`, given the ranks of all nodes by component."""
    if len(nodes) == 0:
        return []
    recent = history.nodes
    if len(recent) > MAX_RECENT_NODES:
        recent = recent[np.isin(recent, history.nodes_last_at_end[-MAX_RECENT_NODES:])]
    count, length = len(nodes), len(recent)
    walks = np.full((count, length + 1), -1, np.int32)
    walks[:, :length] = recent
    stack, lengths = GraphBatch.of([graph]), np.full(count, length)
    after = CompressibilityTracker(stack, walks, lengths).candidate_values(np.arange(count + 1), nodes)
    before = CompressibilityTracker(stack, walks[:1], lengths[:1]).values()[0]

    gaps = GapTracker(stack, walks, lengths)
    gaps.closed.clear()  # gaps that the history itself closed
    gaps.advance(nodes)
    closed_by: list[list[int]] = [[] for _ in nodes]
    for rows in gaps.closed:
        for walk, opened_at, _ in rows.tolist():
            closed_by[walk].append(int(recent[opened_at]))

    skeleton, positions = graph.skeleton, np.sort(recent)
    induced = skeleton.induced(positions)
    visited_neighbors = {
        int(v): positions[induced.indices[a:b]].tolist()
        for v, (a, b) in zip(positions, pairwise(induced.indptr.tolist()), strict=True)
    }

    def label_all(some: Iterable[int]) -> tuple[Hashable, ...]:
        return tuple(graph.label(v) for v in some)

    reasons = []
    for i, v in enumerate(nodes.tolist()):
        neighbors = skeleton.indices[skeleton.indptr[v] : skeleton.indptr[v + 1]]
        links: list[int] = []  # in order of visit
        if len(neighbors):
            place = np.searchsorted(neighbors, recent)
            links = recent[neighbors.take(place, mode="clip") == recent].tolist()
        reasons.append(
            Reason(
                node=graph.label(v),
                ranks={name: int(by_component[i]) for name, by_component in ranks.items()},
                candidates=candidates,
                links=label_all(links),
                opens=tuple(label_all(loop) for loop in find_opened_loops(visited_neighbors, links, v)),
                closes=label_all(closed_by[i]),
                compressibility=float(after[i] - before),
            )
        )
    return reasons
