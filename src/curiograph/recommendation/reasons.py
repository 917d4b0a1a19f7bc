"""Reasons for recommendations: ranks by component, information gaps opened and closed, change of compressibility."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
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
_MAX_NAMES = 6  # titles of a loop that a sentence lists; of a longer loop, only its ends


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
    links: tuple[Hashable, ...] = ()
    """Visited nodes linked to it, in either direction."""
    opens: tuple[tuple[Hashable, ...], ...] = ()
    """Gaps that it opens, each as a loop of nodes that begins with it."""
    closes: tuple[Hashable, ...] = ()
    """Gaps that it closes, each given by the visited node that opened it."""
    compressibility: float = 0.0
    """Change of the compressibility of the visited subgraph, in bits."""
    sentence: str = ""
    """The main reason as one sentence for users: the loop that it closes or opens, or what it is linked to."""

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
    graph: Graph,
    history: History,
    nodes: Int32,
    ranks: Mapping[str, Any],
    candidates: int,
    stack: GraphBatch | None = None,
) -> list[Reason]:
    """Return a reason for each of `nodes`, given their ranks by component and the number of candidates.

    `stack` is the batch of the graph alone, to create it once for many calls.
    """
    indptr, indices = graph.skeleton.indptr, graph.skeleton.indices
    recent = history.nodes
    if len(recent) > MAX_RECENT_NODES:
        recent = recent[np.isin(recent, history.nodes_last_at_end[-MAX_RECENT_NODES:])]
    labels = {v: graph.names[v] for v in (*recent.tolist(), *nodes.tolist())}
    titles = {v: str(label) if graph.titles is None else graph.titles[v] for v, label in labels.items()}

    def make_reason(place: int, **why: Any) -> Reason:
        by_component = {name: int(each[place]) for name, each in ranks.items()}
        return Reason(labels[int(nodes[place])], by_component, candidates, **why)

    if len(history.nodes) == 0:
        popular = [f"Popular: linked with {n:,} other{'' if n == 1 else 's'}." for n in np.diff(indptr)[nodes].tolist()]
        if graph.visitors is not None:
            visitors = graph.visitors[nodes].tolist()
            popular = [f"Popular: visited by {n:,} {'person' if n == 1 else 'people'}." for n in visitors]
        return [make_reason(place, sentence=text) for place, text in enumerate(popular)]
    if len(nodes) == 0:
        return []
    stack = GraphBatch.of([graph]) if stack is None else stack
    length = len(recent)
    compressibility = CompressibilityTracker(stack, recent[None, :].astype(np.int32), np.asarray([length]))
    after = compressibility.candidate_values(np.asarray([0, len(nodes)]), nodes)
    changes = (after - compressibility.values()[0]).tolist()

    def find_links(v: int) -> list[int]:
        """Return the recent nodes linked to a node, in order of visit."""
        neighbors = indices[indptr[v] : indptr[v + 1]]
        if len(neighbors) == 0:
            return []
        found: list[int] = recent[neighbors.take(neighbors.searchsorted(recent), mode="clip") == recent].tolist()
        return found

    links = [find_links(v) for v in nodes.tolist()]
    closed: dict[int, list[int]] = {}  # openers of the gaps that a recommendation closes, by its place
    # a node with a single link neither opens nor closes a gap
    several = np.asarray([i for i, linked in enumerate(links) if len(linked) > 1])
    if len(several):
        walks = np.full((len(several), length + 1), -1, np.int32)
        walks[:, :length] = recent
        gaps = GapTracker(stack, walks, np.full(len(several), length))
        gaps.closed.clear()  # gaps that the history itself closed
        gaps.advance(nodes[several])
        for rows in gaps.closed:
            for place, opened_at, _ in rows.tolist():
                closed.setdefault(int(several[place]), []).append(int(recent[opened_at]))
    visited_neighbors = {v: find_links(v) for v in recent.tolist()} if len(several) else {}

    def label_all(some: Iterable[int]) -> tuple[Hashable, ...]:
        return tuple(labels[v] for v in some)

    def join_titles(some: Sequence[int]) -> str:
        """Return the titles around a loop as text; of a long loop, its ends."""
        names = [titles[v] for v in some]
        return " - ".join(names if len(names) <= _MAX_NAMES else [*names[:3], "...", names[-1]])

    reasons = []
    for i, v in enumerate(nodes.tolist()):
        opened = list(find_opened_loops(visited_neighbors, links[i], v)) if len(links[i]) > 1 else []
        if i in closed:
            # the loop of the first gap; if its opener opened several, the one with the largest share of links
            opener, order = closed[i][0], recent.tolist()
            earlier = set(order[: order.index(opener)])
            before = {u: [w for w in visited_neighbors[u] if w in earlier] for u in earlier}
            loops = find_opened_loops(before, [u for u in visited_neighbors[opener] if u in earlier], opener)
            closed_loop = max(loops, key=lambda loop: len(set(loop) & set(links[i])) / len(loop))
            sentence = f"Closes the loop {join_titles(closed_loop)}."
        elif opened:
            sentence = f"Opens a loop with {join_titles(opened[0][1:])}."
        elif history.last in links[i]:
            sentence = f"Linked to what you visited last, {titles[history.last]}."
        elif links[i]:
            sentence = f"Linked to what you visited earlier, {titles[links[i][-1]]}."
        else:
            sentence = "Within reach of what you visited."
        linked, closes, opens = label_all(links[i]), label_all(closed.get(i, ())), tuple(map(label_all, opened))
        why = {"links": linked, "opens": opens, "closes": closes, "compressibility": changes[i], "sentence": sentence}
        reasons.append(make_reason(i, **why))
    return reasons
