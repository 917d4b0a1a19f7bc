"""Gaps as loops of nodes, to point at and to draw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any

import numpy as np

from curiograph.arrays import Int32
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph, as_graph
from curiograph.growth.measure import by_opening, first_visits
from curiograph.rewards.igt import GapTracker

Loop = list[int]
Neighbours = Mapping[int, Sequence[int]]


def gap_loops(graph: Graph, walk: Sequence[Hashable]) -> list[list[Hashable]]:
    """A short loop of labels around every 1-dimensional gap of `measure(graph, walk).gaps`, in the same order.

    A loop begins with the node that opened the gap and runs through nodes visited before; its last node is linked to
    its first. It shows the gap as it was opened. After every step, the loops of the gaps then open are independent and
    as many as there are gaps: together a basis of H_1 of the visited subgraph over GF(2).

    >>> from curiograph.graph.toys import cycle
    >>> gap_loops(cycle(4), [0, 1, 2, 3])
    [[3, 2, 1, 0]]
    """
    as_graph(graph)
    visits = first_visits(graph, getattr(walk, "nodes", walk))
    found = sorted(_lives(graph, visits), key=lambda life: by_opening(life[1:]))
    return [[graph.label(int(visits[step])) for step in loop] for loop, _, _ in found]


def _lives(graph: Graph, visits: Int32) -> Iterator[tuple[Loop, int, int | None]]:
    """Of every gap a loop, as steps of the walk, the step that opened it and the step that closed it."""
    tracker = GapTracker(GraphBatch.of([graph]), visits[None, :], np.zeros(1, np.int64))
    visited: dict[int, list[int]] = {}
    alive: dict[int, list[Loop]] = {}
    for step, links in enumerate(_links(graph, visits)):
        before = int(tracker.values()[0])
        tracker.closed.clear()
        tracker.advance(visits[step : step + 1])
        closed = Counter(opened for rows in tracker.closed for _, opened, _ in rows.tolist())
        for opened, count in closed.items():
            loops = alive.pop(opened)
            left = _independent(loops, tracker, opened) if count < len(loops) else []
            yield from ((loop, opened, step) for loop in loops if loop not in left)
            if left:
                alive[opened] = left
        count = int(tracker.values()[0]) - before + closed.total()
        if count:
            alive[step] = list(islice(find_opened_loops(visited, links, step), count))
        visited[step] = links
        for u in links:
            visited[u].append(step)
    yield from ((loop, opened, None) for opened, loops in alive.items() for loop in loops)


def _links(graph: Graph, visits: Int32) -> Iterator[list[int]]:
    """For every step the earlier steps that its node is linked to."""
    rows = graph.skeleton
    place: dict[int, int] = {}
    for step, v in enumerate(visits.tolist()):
        around = rows.indices[rows.indptr[v] : rows.indptr[v + 1]].tolist()
        yield sorted(place[u] for u in around if u in place)
        place[v] = step


def _independent(loops: list[Loop], tracker: GapTracker, opened: int) -> list[Loop]:
    """Of loops opened at one step, as many as are still independent of each other and of all older ones.

    By the elder rule a gap is told from older ones by the bits of its own step alone, and as many of these are left as
    gaps of that step.
    """
    bits = tracker.running_through(0, opened)
    pivots: dict[int, int] = {}
    left = []
    for loop in loops:
        rest = 0
        for a, b in pairwise([*loop, loop[0]]):
            rest ^= bits.get((min(a, b), max(a, b)), 0)
        while rest and rest.bit_length() in pivots:
            rest ^= pivots[rest.bit_length()]
        if rest:
            pivots[rest.bit_length()] = rest
            left.append(loop)
    return left


def find_opened_loops(visited: Neighbours, links: Sequence[int], v: int) -> Iterator[Loop]:
    """A loop for each gap that `v` opens: from one part of its neighbourhood to another, the short way round.

    `visited` holds the visited neighbours of every visited node, `links` those of `v`. Links that are connected among
    themselves leave no gap; those that only a longer way through what was visited connects do. The parts grow together
    (as in Kruskal's algorithm) along the shortest ways between them, and each way that joins two is a loop; short ones
    come first.
    """
    home = _parts(visited, links)
    joined = {name: name for name in home.values()}
    before: dict[int, int | None] = dict.fromkeys(home)
    ring = list(home)
    while ring and len(set(joined.values())) > 1:
        ring, meetings = _spread(visited, ring, home, before)
        for u, w in meetings:
            one, other = joined[home[u]], joined[home[w]]
            if one != other:
                yield [v, *reversed(_back(before, u)), *_back(before, w)]
                joined = {name: one if now == other else now for name, now in joined.items()}


def _parts(visited: Neighbours, links: Sequence[int]) -> dict[int, int]:
    """Which of the links are connected among themselves: a number for each, the same for those that are."""
    part: dict[int, int] = {}
    linked = set(links)
    for first in links:
        todo = [] if first in part else [first]
        while todo:
            u = todo.pop()
            if u not in part:
                part[u] = first
                todo += [w for w in visited[u] if w in linked]
    return part


def _spread(
    visited: Neighbours, ring: list[int], home: dict[int, int], before: dict[int, int | None]
) -> tuple[list[int], list[tuple[int, int]]]:
    """Let all parts spread by a ring at once, so that every visited node belongs to the nearest.

    Returns the next ring, and the edges over which territories meet: within the ring first, then from it to the next,
    which makes the way one longer.
    """
    inside, beyond = set(ring), set[int]()
    near, far = [], []
    for u in ring:
        mine = home[u]
        for w in visited[u]:
            other = home.get(w)
            if other is None:
                home[w], before[w] = mine, u
                beyond.add(w)
            elif other != mine:
                if w in beyond:
                    far.append((u, w))
                elif w < u and w in inside:
                    near.append((u, w))
    return sorted(beyond), near + far


def _back(before: Mapping[int, Any], u: int | None) -> Loop:
    """The way from a node to the part that it was reached from."""
    way = []
    while u is not None:
        way.append(u)
        u = before[u]
    return way
