"""Reasons for recommendations: the share of every visited node in the score, and on request what theories say."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np

from curiograph.arrays import Int32
from curiograph.centrality.history import History
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph
from curiograph.growth.gap_loops import find_components, find_opened_loops
from curiograph.recommendation.ranker import Ranker
from curiograph.rewards.cpt import CompressibilityTracker
from curiograph.rewards.igt import GapTracker

MAX_RECENT_NODES = 50
"""Number of last visited nodes that theories consider: compressibility takes cubic time."""
_NOTABLE = 0.5  # part of the largest share from which a second visited node is named
_THIN = 0.5  # share of the named nodes below which the sentence says that there are others
_ALONE = 0.95  # share from which a visited node is named without it
_SEVERAL = 5  # visitors from which a node that is not linked is said to be visited
_LOOSE = 100, 0.1  # a rank below so many candidates, and such a share of all, is no recommendation


@dataclass(frozen=True)
class Reason:
    """Reason for one recommendation.

    Examples
    --------
    >>> import curiograph as cg
    >>> (top,) = cg.recommend(cg.toys.cycle(5), [0, 1, 2], k=1, ranker="pagerank", theory=True).reasons
    >>> top.sentence
    'Because of 2 (40 %) and 0 (30 %).'
    >>> [(label, round(share, 3)) for label, share in top.shares]
    [(2, 0.404), (0, 0.298), (1, 0.298)]
    >>> top.node, top.links, top.opens
    (3, (2,), ())
    """

    node: Hashable
    """Label of the recommended node."""
    ranks: Mapping[str, int]
    """Rank among all candidates by each component, 1 for the best; ties share the better rank."""
    candidates: int
    """Number of candidates."""
    sentence: str
    """The main reason as one sentence for users: the visited nodes with the largest shares, or what it is linked to."""
    shares: tuple[tuple[Hashable, float], ...] = ()
    """Visited nodes and their shares of the score, largest first; they sum to 1. Empty if the score is not a sum over
    the history."""
    links: tuple[Hashable, ...] = ()
    """Visited nodes linked to it, in either direction."""
    opens: tuple[tuple[Hashable, ...], ...] | None = None
    """With `theory`: gaps that it opens, each as a loop of nodes that begins with it."""
    closes: tuple[Hashable, ...] | None = None
    """With `theory`: gaps that it closes, each given by the visited node that opened it."""
    compressibility: float | None = None
    """With `theory`: change of the compressibility of the visited subgraph, in bits."""

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
        """Return the sentence, and with `theory` the gaps and the change of compressibility."""
        if self.compressibility is None:
            return self.sentence
        bits = round(self.compressibility, 3) + 0.0  # no -0
        text = "; ".join([*filter(None, [self.story]), f"compressibility {bits:+.3f} bits"])
        return f"{self.sentence} {text[0].upper()}{text[1:]}."

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def explain_recommendations(
    graph: Graph,
    ranker: Ranker,
    history: History,
    nodes: Int32,
    ranks: Mapping[str, Any],
    candidates: int,
    *,
    theory: bool = False,
) -> list[Reason]:
    """Return a reason for each of `nodes`, given their ranks by component and the number of candidates."""
    visited, wanted = history.nodes.tolist(), nodes.tolist()
    labels = {v: graph.names[v] for v in (*visited, *wanted)}
    titles = {v: str(label) if graph.titles is None else graph.titles[v] for v, label in labels.items()}
    if not wanted:
        return []
    rows = np.transpose([*ranks.values()]).tolist()
    visitors = getattr(ranker, "visits", graph.visitors)  # those that `Popularity` has counted

    @cache
    def find_interests() -> dict[int, int]:
        """Return the component of each visited node in the visited subgraph."""
        return find_components({v: _find_links(graph, history.nodes, v) for v in visited}, visited)

    def describe_shares(shares: Sequence[tuple[int, float]], links: Sequence[int]) -> str:
        """Name one or two visited nodes with the largest shares, and whether the recommended node links the two."""
        (first, largest), (second, next_share) = (*shares, (-1, 0.0))[:2]
        named = {first: largest} if next_share < _NOTABLE * largest else {first: largest, second: next_share}
        texts = [f"{titles[v]} ({100 * x:.0f} %)" if largest < _ALONE else titles[v] for v, x in named.items()]
        if sum(named.values()) < _THIN:
            return f"Because of {', '.join(texts)} and others."
        is_bridge = len(named) > 1 and first in links and second in links
        is_bridge = is_bridge and find_interests()[first] != find_interests()[second]
        return f"Because of {' and '.join(texts)}{'; it links the two' if is_bridge else ''}."

    def describe_popularity(v: int) -> str:
        if visitors is None:
            count = int(graph.skeleton.degrees[v])
            return f"linked with {count:,} other{'' if count == 1 else 's'}"
        return f"visited by {visitors[v]:,} {'person' if visitors[v] == 1 else 'people'}"

    def describe_links(links: Sequence[int], v: int) -> str:
        if not links:
            is_popular = visitors is not None and visitors[v] >= _SEVERAL
            return f"Not linked to what you visited{f', but {describe_popularity(v)}' if is_popular else ''}."
        last = int(history.by_last_visit[-1])
        is_last = last in links
        which = last if is_last else links[-1]
        return f"Linked to what you visited {'last' if is_last else 'earlier'}, {titles[which]}."

    theories = _apply_theories(graph, history, nodes) if theory and visited else [{}] * len(nodes)
    last_rank = max(_LOOSE[0], _LOOSE[1] * candidates)
    reasons = []
    shares_of_nodes = _compute_shares(graph, ranker, history, nodes)
    for v, row, shares, why in zip(wanted, rows, shares_of_nodes, theories, strict=True):
        links = _find_links(graph, history.nodes, v)
        if not shares:
            sentence = describe_links(links, v) if ranker.is_personal else f"Popular: {describe_popularity(v)}."
        elif min(row) > last_rank:
            sentence = f"Hardly related to what you visited; closest to {titles[shares[0][0]]}."
        else:
            sentence = describe_shares(shares, links)
        named_shares, linked = tuple([(labels[u], x) for u, x in shares]), tuple([labels[u] for u in links])
        by_component = dict(zip(ranks, row, strict=True))
        reasons.append(Reason(labels[v], by_component, candidates, sentence, named_shares, linked, **why))
    return reasons


def _find_links(graph: Graph, visited: Int32, v: int) -> list[int]:
    """Return the visited nodes linked to a node, in order of visit."""
    neighbors = graph.skeleton.indices[graph.skeleton.indptr[v] : graph.skeleton.indptr[v + 1]]
    if len(neighbors) == 0:
        return []
    found: list[int] = visited[neighbors.take(neighbors.searchsorted(visited), mode="clip") == visited].tolist()
    return found


def _compute_shares(graph: Graph, ranker: Ranker, history: History, nodes: Int32) -> list[list[tuple[int, float]]]:
    """Return the visited nodes and their shares of the score of each of `nodes`, largest first.

    There are none if the scores are not sums over the history, or not above zero.
    """
    visited = history.by_last_visit
    parts = ranker.contributions(graph, visited, nodes)
    if parts is None:
        return [[] for _ in nodes]
    sums = parts.sum(axis=0)
    rows = np.round(parts / np.where(sums > 0, sums, np.inf), 7).T.tolist()  # above the errors of parts
    pairs = ([pair for pair in zip(visited.tolist(), row, strict=True) if pair[1]] for row in rows)
    return [sorted(row, key=lambda pair: -pair[1]) for row in pairs]


def _apply_theories(graph: Graph, history: History, nodes: Int32) -> list[dict[str, Any]]:
    """Return the gaps that a visit of each of `nodes` opens and closes, and the change of compressibility."""
    recent = history.nodes
    if len(recent) > MAX_RECENT_NODES:
        recent = recent[np.isin(recent, history.by_last_visit[-MAX_RECENT_NODES:])]
    stack, length = GraphBatch.of([graph]), len(recent)
    compressibility = CompressibilityTracker(stack, recent[None, :].astype(np.int32), np.asarray([length]))
    after = compressibility.candidate_values(np.asarray([0, len(nodes)]), nodes)
    changes = (after - compressibility.values()[0]).tolist()
    walks = np.full((len(nodes), length + 1), -1, np.int32)
    walks[:, :length] = recent
    gaps = GapTracker(stack, walks, np.full(len(nodes), length))
    gaps.closed.clear()  # gaps that the history itself closed
    gaps.advance(nodes)
    closed: list[list[int]] = [[] for _ in nodes]
    for place, opened_at, _ in (row for rows in gaps.closed for row in rows.tolist()):
        closed[place].append(int(recent[opened_at]))
    neighbors = {v: _find_links(graph, recent, v) for v in (*recent.tolist(), *nodes.tolist())}
    loops = [find_opened_loops(neighbors, neighbors[v], v) for v in nodes.tolist()]
    return [
        {
            "opens": tuple(tuple(graph.names[v] for v in loop) for loop in opened),
            "closes": tuple(graph.names[v] for v in openers),
            "compressibility": change,
        }
        for opened, openers, change in zip(loops, closed, changes, strict=True)
    ]
