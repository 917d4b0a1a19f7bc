"""Features of the planner, computed from sets of nodes as `kernels.lookahead` documents them."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np

from curiograph.kernels import lookahead as names


def compute_features(graph, walk, steps, now, candidates, values, fan):
    """Return a row of features per candidate of one walk, and the unit of their values."""
    near = [set(row.tolist()) for row in np.split(graph.skeleton.indices, graph.skeleton.indptr[1:-1])]
    recent = walk[-names.RECENT :]
    inside = nx.Graph()
    inside.add_nodes_from(recent)
    inside.add_edges_from((u, v) for u in recent for v in recent if v in near[u])
    rows = []
    for v, value in zip(candidates, values, strict=True):
        row = np.zeros(names.NUM_FEATURES)
        left = min(steps - 1 - len(walk), names.HORIZON)
        row[names.STEPS_LEFT] = math.log1p(left)
        row[names.LENGTH] = math.log1p(len(walk))
        row[names.INVERSE_LEFT] = 1 / (1 + left)
        row[names.NUM_CANDIDATES] = math.log1p(len(candidates))
        row[names.ADVANTAGE] = max(values) - np.mean(values)
        row[names.VALUE_PER_NODE] = now / len(walk)
        row[names.DENSITY] = 2 * inside.number_of_edges() / (len(recent) * max(len(recent) - 1, 1))
        row[names.NUM_EDGES] = math.log1p(2 * inside.number_of_edges())
        row[names.BEST_GAIN] = max(values) - now
        links = [u for u in recent if u in near[v]]
        row[names.GAIN] = value - now
        row[names.VALUE] = value / (1 + abs(value))
        row[names.REGRET] = max(values) - value
        row[names.LINKS] = len(links)
        row[names.PIECES] = nx.number_connected_components(inside.subgraph(links))
        row[names.DEGREE] = math.log1p(len(near[v]))
        row[names.TRIANGLES] = inside.subgraph(links).number_of_edges()
        row[names.INNER_DEGREE] = np.mean([inside.degree(u) for u in links]) if links else 0
        out = graph.indices[graph.indptr[v] : graph.indptr[v + 1]].tolist()
        read = [out[(s * len(out)) // min(len(out), fan)] for s in range(min(len(out), fan))]
        _describe_free_neighbors(row, [x for x in read if x not in walk], v, links, near, inside, recent)
        scale = len(out) / max(len(read), 1)
        for name in (names.FREE, names.NUM_OPENERS, names.NUM_LINKED, names.SUM_OPENED):
            row[name] = math.log1p(int(row[name] * scale))
        for age, u in enumerate(reversed(recent[-names.AGES :])):
            row[names.LINKED + age] = u in links
            row[names.COMMON + age] = math.log1p(int(row[names.COMMON + age] * scale))
        rows.append(row)
    return np.array(rows), max(1.0, max(values) - now)


def _describe_free_neighbors(row, free, v, links, near, inside, recent):
    row[names.FREE] = len(free)
    row[names.HAS_FREE] = bool(free)
    if not free:
        return
    found = []
    for x in free:
        own = [u for u in recent if u in near[x]]
        if own:
            link = inside.subgraph(own).copy()
            link.add_edges_from((v, u) for u in own if u in links)
            link.add_node(v)
            parts = nx.number_connected_components(link)
            cycles = link.number_of_edges() - link.number_of_nodes() + parts
            found.append((set(own), parts - 1, cycles))
    row[names.LOOSE_SHARE] = 1 - len(found) / len(free)
    row[names.FREE_DEGREE] = np.mean([math.log1p(len(near[x])) for x in free])
    row[names.MEAN_LINKS] = sum(len(own) for own, _, _ in found) / len(free)
    row[names.MOST_LINKS] = max((len(own) for own, _, _ in found), default=0)
    row[names.LOG_MOST_LINKS] = math.log1p(row[names.MOST_LINKS])
    row[names.MEAN_SHARED] = sum(len(own & set(links)) for own, _, _ in found) / len(free)
    row[names.MEAN_OPENED] = sum(opened for _, opened, _ in found) / len(free)
    row[names.MOST_OPENED] = max((opened for _, opened, _ in found), default=0)
    openers = sum(opened > cycles for _, opened, cycles in found)
    row[names.OPENER_SHARE] = openers / len(free)
    row[names.NUM_OPENERS] = openers
    row[names.BEST_NET] = max((max(opened - cycles, -3) for _, opened, cycles in found), default=0)
    row[names.MEAN_CYCLES] = sum(cycles for _, _, cycles in found) / len(free)
    row[names.NESTED_SHARE] = sum(own <= set(links) for own, _, _ in found) / len(free)
    row[names.NUM_LINKED] = len(found)
    row[names.SUM_OPENED] = sum(opened for _, opened, _ in found)
    row[names.REACHED] = math.log1p(len(set().union(*(own for own, _, _ in found))))
    for age, u in enumerate(reversed(recent[-names.AGES :])):
        row[names.COMMON + age] = sum(u in own for own, _, _ in found)
