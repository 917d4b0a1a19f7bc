"""What a page shows: the picture of a graph; the growth and gaps of a walk, and the effect of every next node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from curiograph.arrays import Int32, Int64
from curiograph.graph.batch import GraphBatch
from curiograph.growth.gap_loops import Adjacency, find_components, find_opened_loops, gap_loops
from curiograph.growth.measure import measure
from curiograph.rewards.cpt import CompressibilityTracker
from curiograph.service import schemas
from curiograph.service.computations import view_next
from curiograph.service.json_labels import encode_label, encode_labels
from curiograph.service.places import is_dense, lay_out_walk
from curiograph.service.step_view import MOTIVES
from curiograph.service.store import OpenGraph

MAX_DRAWN = 3_000
"""Maximum number of nodes of a graph that is drawn as a whole; of a larger one, a picture has the density of nodes."""
_SHADE = (96, 64)
"""Columns and rows of the density."""
MAX_CANDIDATES = 200
"""Maximum number of candidates listed, the best first."""
_MAX_FANNED = 10
"""Maximum number of candidates around the last node of a walk with a layout of its own."""
_MAX_COMPRESSED = 100
"""Nodes of a walk up to which compressibility is computed after every step, in 20 ms."""
_MAX_NAMES = 6


def draw_graph(opened: OpenGraph) -> bytes:
    """Return a `PictureResponse` of a graph as JSON."""
    graph, places = opened.graph, opened.places
    starts = np.flatnonzero(graph.degrees)
    share = 0.01 if graph.num_nodes > MAX_DRAWN else 0  # few nodes far away would make the rest small
    picture: dict[str, Any] = {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "directed": graph.directed,
        "weighted": graph.weights is not None,
        "dense": is_dense(graph),
        "start": encode_label(graph.label(int(starts[np.argmax(graph.degrees[starts])]))) if len(starts) else None,
        "area": np.quantile(places, [share, 1 - share], axis=0).round(3).ravel().tolist(),
    }
    if graph.num_nodes <= MAX_DRAWN:
        source, target, _ = graph.skeleton.get_edges()
        picture["labels"], picture["titles"] = encode_labels(graph.labels), graph.titles and list(graph.titles)
        picture["places"] = places.round(3).tolist()
        picture["links"] = [] if picture["dense"] else np.column_stack([source, target]).tolist()
    else:
        x, y = places.T
        counts = np.histogram2d(x, y, bins=_SHADE, range=np.reshape(picture["area"], (2, 2)).T)[0]
        picture["shade"] = counts.T.astype(int).tolist()
    return schemas.PictureResponse.model_validate(picture).model_dump_json(exclude_none=True).encode()


def view_walk(opened: OpenGraph, request: schemas.ViewRequest) -> bytes:
    """Return a `ViewResponse` as JSON."""
    graph, walk = opened.graph, opened.labels.walk(request.walk)
    step = view_next(opened, request, MOTIVES if request.more else ("igt", "degree"))
    visited = graph.positions(walk)
    growth = measure(graph, walk, compressibility=False)
    links = _find_links(opened, visited)
    adjacency: dict[int, list[int]] = {i: [] for i in range(len(visited))}
    for a, b in links.tolist():
        adjacency[a].append(b)
        adjacency[b].append(a)
    component = find_components(adjacency, range(len(visited)))
    listed = step.order_candidates(request.reward)[:MAX_CANDIDATES]
    positions = graph.positions([step.nodes[i] for i in listed])
    candidates = []
    for i, position in zip(listed.tolist(), positions.tolist(), strict=True):
        near = graph.skeleton.indices[graph.skeleton.indptr[position] : graph.skeleton.indptr[position + 1]]
        linked = np.flatnonzero(np.isin(visited, near)).tolist()
        joined = len({component[u] for u in linked})  # components of the walk, which no loop joins
        opens = len(set(find_components(adjacency, linked).values())) - joined
        change = int(step.values["igt"][i] - step.igt)
        candidates.append(
            {
                "node": step.nodes[i],
                "values": {motive: values[i] for motive, values in step.values.items()},
                "opens": opens,
                "closes": opens - change,
                "linked": linked,
            }
        )
    position_of = {node: i for i, node in enumerate(walk)}
    gaps = [
        {"loop": [position_of[node] for node in loop], "opened_at": gap.opened_at, "closed_at": gap.closed_at}
        for gap, loop in zip(growth.gaps, gap_loops(graph, walk), strict=True)
    ]
    bits = None
    if request.more and len(visited) <= _MAX_COMPRESSED:
        prefixes = np.tile(visited, (len(visited), 1)), np.arange(1, len(visited) + 1)
        bits = CompressibilityTracker(GraphBatch.of([graph]), *prefixes).values().tolist()
    if is_dense(graph):
        places = lay_out_walk(len(visited), links, min(len(positions), _MAX_FANNED))
    else:
        places = opened.places[np.concatenate([visited, positions])]
    shown = [graph.title(int(v)) for v in np.concatenate([visited, positions])]
    response = vars(step) | {
        "walk": walk,
        "titles": None if graph.titles is None else shown,
        "beta1": growth.beta1.tolist(),
        "compressibility": bits,
        "links": links.tolist(),
        "gaps": gaps,
        "candidates": candidates,
        "total": len(step.nodes),
        "reason": None if step.choice is None else _explain(candidates[0], shown, adjacency),
        "places": places.round(3).tolist(),
        "map": opened.places[visited].round(2).tolist() if is_dense(graph) else None,
    }
    return schemas.ViewResponse.model_validate(response).model_dump_json(exclude_none=True).encode()


def _find_links(opened: OpenGraph, visited: Int32) -> Int64:
    """Return the links between visited nodes as pairs of steps, the earlier first."""
    order = np.argsort(visited)
    source, target, _ = opened.graph.skeleton.induced(visited[order]).get_edges()
    return np.asarray(np.sort(np.column_stack([order[source], order[target]]), axis=1))


def _explain(choice: dict[str, Any], titles: Sequence[str], adjacency: Adjacency) -> str:
    """Return what the choice of the agent does, in one sentence whose numbers are those of the candidate."""
    opens, closes = choice["opens"], choice["closes"]
    effects = [
        f"{verb} {count} gap{'' if count == 1 else 's'}"
        for verb, count in (("opens", opens), ("closes", closes))
        if count
    ]
    if not effects:
        return "It changes no gap now, but prepares later ones."
    sentence = f"It {' and '.join(effects)}"
    if opens:
        steps = len(adjacency)  # the number of the choice as a step
        names = [titles[i] for i in next(find_opened_loops(adjacency, choice["linked"], steps))]
        if len(names) > _MAX_NAMES:
            names = [*names[: _MAX_NAMES - 2], "...", names[-1]]
        sentence += f": {' - '.join(names)}"
    return f"{sentence}."
