"""Represent gaps as loops of nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import islice, pairwise

import numpy as np

from curiograph.arrays import Int32
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph, as_graph
from curiograph.growth.first_visits import find_first_visits
from curiograph.rewards.igt import GapTracker

Loop = list[int]
"""Nodes around a gap; the last is a neighbor of the first."""
Adjacency = Mapping[int, Sequence[int]]
"""Visited neighbors of every visited node."""


def gap_loops(graph: Graph, walk: Sequence[Hashable]) -> list[list[Hashable]]:
    """Find a short loop around every 1-dimensional gap of `measure(graph, walk).gaps`, in the same order.

    A loop shows a gap as it was opened: it starts with the node that opened the gap and continues through nodes visited
    before; its last node is a neighbor of its first. After every step, the loops of the open gaps are a basis of H_1 of
    the visited subgraph over GF(2).

    Parameters
    ----------
    graph : Graph
        The graph that was walked on.
    walk : sequence of labels, or Walk
        The visited nodes; revisits are skipped.

    Returns
    -------
    list of lists of labels
        One loop per gap.

    Examples
    --------
    >>> from curiograph.graph.toys import cycle
    >>> gap_loops(cycle(4), [0, 1, 2, 3])
    [[3, 2, 1, 0]]
    """
    visits = find_first_visits(as_graph(graph), walk)
    # the order of `measure`: by opening, then by closing, open gaps last
    found = sorted(_track_loops(graph, visits), key=lambda item: item[1:])
    return [[graph.label(int(visits[step])) for step in loop] for loop, _, _ in found]


def _track_loops(graph: Graph, visits: Int32) -> Iterator[tuple[Loop, int, int]]:
    """Yield a loop of steps per gap, with the steps that opened and closed it (`len(visits)` if it stays open)."""
    tracker = GapTracker(GraphBatch.of([graph]), visits[None, :], np.zeros(1, np.int64))
    csr = graph.skeleton
    step_of: dict[int, int] = {}
    adjacency: dict[int, list[int]] = {}
    open_loops: dict[int, list[Loop]] = {}
    for step, v in enumerate(visits.tolist()):
        neighbors = csr.indices[csr.indptr[v] : csr.indptr[v + 1]].tolist()
        links = sorted(step_of[u] for u in neighbors if u in step_of)
        num_gaps = int(tracker.values()[0])
        tracker.closed.clear()
        tracker.advance(visits[step : step + 1])
        closed = Counter(opened for rows in tracker.closed for _, opened, _ in rows.tolist())
        for opened, count in closed.items():
            loops = open_loops.pop(opened)
            remaining = _select_independent(loops, tracker, opened) if count < len(loops) else []
            yield from ((loop, opened, step) for loop in loops if loop not in remaining)
            if remaining:
                open_loops[opened] = remaining
        num_opened = int(tracker.values()[0]) - num_gaps + closed.total()
        if num_opened:
            open_loops[step] = list(islice(find_opened_loops(adjacency, links, step), num_opened))
        step_of[v] = step
        adjacency[step] = links
        for u in links:
            adjacency[u].append(step)
    yield from ((loop, opened, len(visits)) for opened, loops in open_loops.items() for loop in loops)


def _select_independent(loops: list[Loop], tracker: GapTracker, opened: int) -> list[Loop]:
    """Select loops opened at one step that are still independent of each other and of all older loops.

    The annotations of the gaps opened at that step are reduced over GF(2). By the elder rule they suffice to
    distinguish these gaps from older ones, and the number of independent loops equals the number of these gaps that are
    open.
    """
    annotations = tracker.edge_annotations(0, opened)
    pivots: dict[int, int] = {}
    selected = []
    for loop in loops:
        bits = 0
        for a, b in pairwise([*loop, loop[0]]):
            bits ^= annotations.get((min(a, b), max(a, b)), 0)
        while bits and bits.bit_length() in pivots:
            bits ^= pivots[bits.bit_length()]
        if bits:
            pivots[bits.bit_length()] = bits
            selected.append(loop)
    return selected


def find_opened_loops(adjacency: Adjacency, links: Sequence[int], v: int) -> Iterator[Loop]:
    """Yield a loop for each gap that visiting `v` opens, shorter loops first.

    Components of the subgraph induced by `links` are joined along shortest paths through the visited subgraph, as in
    Kruskal's algorithm. Every path that joins two components, closed by `v`, is a loop.

    Parameters
    ----------
    adjacency : mapping of int to sequence of int
        Visited neighbors of every visited node.
    links : sequence of int
        Visited neighbors of `v`.
    v : int
        Node to visit next.

    Yields
    ------
    list of int
        `v` and the path between two of its neighbors.
    """
    component = find_components(adjacency, links)
    merged = {name: name for name in component.values()}
    parents: dict[int, int | None] = dict.fromkeys(component)
    frontier = list(component)
    while frontier and len(set(merged.values())) > 1:
        frontier, contacts = _expand(adjacency, frontier, component, parents)
        for u, w in contacts:
            one, other = merged[component[u]], merged[component[w]]
            if one != other:
                yield [v, *reversed(_trace_path(parents, u)), *_trace_path(parents, w)]
                merged = {name: one if now == other else now for name, now in merged.items()}


def find_components(adjacency: Adjacency, nodes: Sequence[int]) -> dict[int, int]:
    """Return the component of each node in the subgraph induced by `nodes`, named by one of its nodes."""
    component: dict[int, int] = {}
    members = set(nodes)
    for first in nodes:
        stack = [] if first in component else [first]
        while stack:
            u = stack.pop()
            if u not in component:
                component[u] = first
                stack += [w for w in adjacency[u] if w in members]
    return component


def _expand(
    adjacency: Adjacency, frontier: list[int], component: dict[int, int], parents: dict[int, int | None]
) -> tuple[list[int], list[tuple[int, int]]]:
    """Expand all components by one step of breadth-first search; every reached node joins the nearest component.

    Return the next frontier and the edges between different components: first those within the old frontier, then
    those from it to the new one, whose paths are one edge longer.
    """
    old, new = set(frontier), set[int]()
    near, far = [], []
    for u in frontier:
        for w in adjacency[u]:
            if w not in component:
                component[w], parents[w] = component[u], u
                new.add(w)
            elif component[w] != component[u]:
                if w in new:
                    far.append((u, w))
                elif w < u and w in old:
                    near.append((u, w))
    return sorted(new), near + far


def _trace_path(parents: Mapping[int, int | None], u: int | None) -> Loop:
    """Return the path from a node back to the component that it was reached from."""
    path = []
    while u is not None:
        path.append(u)
        u = parents[u]
    return path
