"""Random walks that leave from the same places as human walks and jump at the same steps.

A human walk is given by its distinct nodes in order of first visit and the origin of each of them: k >= 0 if it was
reached along a link from the k-th visited node, and -1 - k if it was reached from there without a link, by a jump. A
matched walk takes a random link from its own k-th node, or jumps to a random node that has no link from it. Without an
unvisited node at the end of a link, it takes one next to any visited node.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.adjacency import has_edge
from curiograph.kernels.jit import inner_kernel, kernel
from curiograph.kernels.random import draw_uniform

_MAX_DRAWS = 1000  # of the target of a jump, before all nodes are allowed that are not visited


@kernel
def find_origins(indptr, indices, nodes, offsets, steps):
    """Return the origins of the first `steps` distinct nodes of walks with returns, walks x steps; 0 for the start.

    A visit next to any visited node counts as a link if no link leads from the last node to an unvisited one.
    """
    count = offsets.shape[0] - 1
    origins = np.zeros((count, steps), np.int32)
    place = np.full(indptr.shape[0] - 1, -1, np.int64)  # order of first visit in the current walk
    for i in range(count):
        found = 0
        for visit in range(offsets[i], offsets[i + 1]):
            v = nodes[visit]
            if place[v] >= 0 or found == steps:
                continue
            if found > 0:
                last = nodes[visit - 1]
                linked = has_edge(indptr, indices, last, v)
                if not linked and _count_unvisited(indptr, indices, last, place) == 0:
                    for earlier in range(offsets[i], visit):
                        linked = linked or has_edge(indptr, indices, nodes[earlier], v)
                origins[i, found] = place[last] if linked else -1 - place[last]
            place[v] = found
            found += 1
        for visit in range(offsets[i], offsets[i + 1]):
            place[nodes[visit]] = -1
    return origins


@kernel
def sum_preferences(indptr, indices, visits, origins, values, slope):
    """Return the first two derivatives of the log-likelihood of all links that were followed.

    The probability of a candidate is proportional to exp(slope * its value). Links without an alternative, and those
    taken where there was none, have no effect.
    """
    place = np.full(indptr.shape[0] - 1, -1, np.int64)
    gradient = curvature = 0.0
    for i in range(visits.shape[0]):
        place[visits[i, 0]] = 0
        for t in range(1, visits.shape[1]):
            chosen = visits[i, t]
            origin = origins[i, t]
            if origin >= 0 and has_edge(indptr, indices, visits[i, origin], chosen):
                total = first = second = 0.0
                for slot in range(indptr[visits[i, origin]], indptr[visits[i, origin] + 1]):
                    v = indices[slot]
                    if place[v] < 0:
                        weight = np.exp(slope * (values[v] - values[chosen]))
                        total += weight
                        first += weight * values[v]
                        second += weight * values[v] ** 2
                gradient += values[chosen] - first / total
                curvature += second / total - (first / total) ** 2
            place[chosen] = t
        for t in range(visits.shape[1]):
            place[visits[i, t]] = -1
    return gradient, curvature


@kernel
def sample_matched_walks(indptr, indices, visits, origins, preferences, streams):
    """Return random walks, walks x steps, that start and leave like those given by `visits` and `origins`.

    A link to v is taken with a probability proportional to `preferences[v]`.
    """
    walks = visits.copy()
    place = np.full(indptr.shape[0] - 1, -1, np.int64)
    for i in range(visits.shape[0]):
        place[visits[i, 0]] = 0
        for t in range(1, visits.shape[1]):
            origin = origins[i, t]
            if origin < 0:
                v = _draw_jump(indptr, indices, walks[i, -1 - origin], place, streams[i], t)
            else:
                luck = draw_uniform(streams[i], t, 0)
                v = _draw_link(indptr, indices, walks[i], origin, origin + 1, place, preferences, luck)
                if v < 0:
                    v = _draw_link(indptr, indices, walks[i], 0, t, place, preferences, luck)
                if v < 0:
                    v = _draw_jump(indptr, indices, walks[i, t - 1], place, streams[i], t)
            walks[i, t] = v
            place[v] = t
        for t in range(visits.shape[1]):
            place[walks[i, t]] = -1
    return walks


@inner_kernel
def _count_unvisited(indptr, indices, u, place):
    count = 0
    for slot in range(indptr[u], indptr[u + 1]):
        count += place[indices[slot]] < 0
    return count


@inner_kernel
def _draw_link(indptr, indices, walk, first, last, place, preferences, luck):
    """Return an unvisited node at the end of a link from one of `walk[first:last]`; -1 if there is none."""
    chosen = -1
    total = 0.0
    for is_choice in range(2):  # sum the preferences, then choose
        left = luck * total
        for t in range(first, last):
            for slot in range(indptr[walk[t]], indptr[walk[t] + 1]):
                v = indices[slot]
                if place[v] >= 0:
                    continue
                repeated = False  # a candidate of several nodes of the walk counts once
                for earlier in range(first, t):
                    repeated = repeated or has_edge(indptr, indices, walk[earlier], v)
                if repeated:
                    continue
                if is_choice == 0:
                    total += preferences[v]
                else:
                    chosen = v
                    left -= preferences[v]
                    if left < 0.0:
                        return chosen
    return chosen


@inner_kernel
def _draw_jump(indptr, indices, u, place, stream, t):
    """Return a random unvisited node without a link from `u`, or any unvisited node if such nodes are rare."""
    count = place.shape[0]
    draw = 0
    while True:
        draw += 1
        v = int(draw_uniform(stream, t, draw) * count)
        if place[v] < 0 and (draw > _MAX_DRAWS or not has_edge(indptr, indices, u, v)):
            return v
