"""Compute the measures of many walks as plain arrays."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import SettingError
from curiograph.graph.csr import build_csr, concatenate_ranges, freeze_array
from curiograph.graph.graph import Graph
from curiograph.growth.compute import OPEN, compute_growth
from curiograph.growth.first_visits import select_first_visits
from curiograph.human.people.measure_catalog import COUNTS
from curiograph.parallel.chunks import split_by_size
from curiograph.rewards.cpt import compute_step_compressibility

# measures in the columns of kernels, which have constants of the same names
_SUBGRAPH = (
    "edges", "clustering", "path_length", "efficiency", "modularity", "participation", "core_periphery", "entropy",
)  # fmt: skip
_LINKS = ("edge_weight", "weighted_clustering", "weighted_path_length")
_REWIRINGS, _SWAPS = 20, 10  # rewired networks of each walk, attempted swaps per edge of each
_SEQUENCE = ("revisits", "heaps", "zipf", "visit_entropy", "entropy_rate")
_MAX_PAIRS = 2**20  # pairs of visits whose similarity is computed together: bounds the memory
_MAX_SIMILARITY = 1 + 1e-6  # cosines of float32 vectors may exceed 1 by rounding


@runtime_checkable
class PairSimilarity(Protocol):
    """Similarity of nodes, as of titles or texts."""

    def compute_pairs(self, first: NDArray[Any], second: NDArray[Any], /) -> NDArray[Any]:
        """Return the similarity, at most 1, of the nodes at each of the given pairs of positions."""
        ...


def compute_measures(graph: Graph, nodes: Int32, offsets: Int64, measures: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Compute measures of walks on an undirected graph without weights, an array for each measure.

    The visits of walk i, with returns, are `nodes[offsets[i]:offsets[i + 1]]`, at least one.
    """
    wanted = set(measures)
    walks = freeze_array(nodes), freeze_array(offsets)
    first = _freeze_first_visits(nodes, offsets)
    visits, sizes = np.diff(offsets), np.diff(first[1]).astype(np.float64)
    lasts = first[1][1:] - 1
    sub, seq = kernels.subgraph_measures, kernels.sequences
    small_world = bool(wanted & {"relative_clustering", "small_worldness"})
    distances = small_world or bool(wanted & {"path_length", "efficiency"})
    communities = bool(wanted & {"modularity", "participation"})
    subgraph = sub.measure_subgraphs(graph.indptr, graph.indices, *first, distances, communities).T
    found: dict[str, NDArray[Any]] = {name: subgraph[getattr(sub, name.upper())] for name in _SUBGRAPH}
    density = _divide(2 * found["edges"], sizes * (sizes - 1))
    found |= {"visits": visits, "nodes": sizes, "density": density}
    if wanted & {"beta0", "beta1", "opened", "closed", "dimension", "conformable"}:
        grown = compute_growth(graph, *first, compressibility=False)
        walk, _, closed = grown.gaps.T
        found |= {
            "beta0": grown.beta0[lasts],
            "beta1": grown.beta1[lasts],
            "opened": np.bincount(walk, minlength=len(sizes)),
            "closed": np.bincount(walk[closed != OPEN], minlength=len(sizes)),
            "dimension": grown.dimension[lasts],
            "conformable": grown.conformable[lasts],
        }
    if wanted & {"compressibility", "normalized_compressibility"}:
        bits = compute_step_compressibility(graph, *first, last_only=True)[lasts]
        found |= {"compressibility": bits, "normalized_compressibility": _divide(bits, found["entropy"])}
    if wanted & {"step_length", "step_exponent"}:
        lengths = seq.compute_step_lengths(graph.indptr, graph.indices, *walks)
        found["step_length"], found["step_exponent"] = seq.summarize_steps(lengths, offsets).T  # type: ignore[no-untyped-call]
    if wanted & {"revisit_share", *_SEQUENCE}:
        sequence = seq.measure_sequences(*walks).T
        found |= {name: sequence[getattr(seq, name.upper())] for name in _SEQUENCE}
        found["revisit_share"] = found["revisits"] / visits
    if small_world:
        found |= _compare_rewired(graph, *first, found["clustering"], found["path_length"])
    return {name: found[name].astype(np.int64 if name in COUNTS else np.float64) for name in measures}


def _compare_rewired(
    graph: Graph, nodes: Int32, offsets: Int64, clustering: Float64, path_length: Float64
) -> dict[str, Float64]:
    """Return clustering relative to networks with the same degrees and swapped links, and small-worldness."""
    edges = kernels.subgraph_measures.list_edges(graph.indptr, graph.indices, nodes, offsets)
    ends = edges[:, 1:].astype(np.int64)
    indptr, indices, _ = build_csr(ends.ravel(), ends[:, ::-1].ravel(), None, len(nodes))
    rows, places = (freeze_array(indptr), freeze_array(indices)), freeze_array(np.arange(len(nodes), dtype=np.int32))
    means = np.zeros((2, len(offsets) - 1))
    for number in range(_REWIRINGS):
        streams = freeze_array(kernels.random.make_streams(np.uint64(number), 0, len(offsets) - 1))
        swapped = freeze_array(kernels.rewire.swap_edges(*rows, offsets, _SWAPS, streams))
        values = kernels.subgraph_measures.measure_subgraphs(rows[0], swapped, places, offsets, True, False).T
        means += values[[kernels.subgraph_measures.CLUSTERING, kernels.subgraph_measures.PATH_LENGTH]] / _REWIRINGS
    relative = _divide(clustering, means[0])
    return {"relative_clustering": relative, "small_worldness": _divide(relative * means[1], path_length)}


def _freeze_first_visits(nodes: Int32, offsets: Int64) -> tuple[Int32, Int64]:
    first_nodes, first_offsets = select_first_visits(nodes, offsets)
    return freeze_array(first_nodes), freeze_array(first_offsets)


def _divide(values: NDArray[Any], by: NDArray[Any]) -> Float64:
    """Return quotients; NaN where the divisor is not above zero."""
    return np.asarray(np.divide(values, by, out=np.full(len(values), np.nan), where=by > 0))


def are_similarities(weights: NDArray[Any] | None) -> bool:
    """Return whether there are weights and all are from 0 to 1, so that they can be taken as similarities."""
    return weights is not None and len(weights) > 0 and bool(weights.min() >= 0 and weights.max() <= 1)


def measure_similarity(
    graph: Graph, nodes: Int32, offsets: Int64, similarity: PairSimilarity | None, measures: Sequence[str]
) -> dict[str, Float64]:
    """Compute those of `measures` that are of the similarity of linked or successive nodes, by default their weight."""
    found: dict[str, Float64] = {}
    count, visits = len(offsets) - 1, np.diff(offsets)
    if set(_LINKS) & set(measures):
        csr = graph.skeleton
        first = _freeze_first_visits(nodes, offsets)
        edges = kernels.subgraph_measures.list_edges(csr.indptr, csr.indices, *first)
        ends = first[0][edges[:, 1:]]
        parts = [ends[k : k + _MAX_PAIRS] for k in range(0, len(ends), _MAX_PAIRS)]
        values = np.concatenate([np.empty(0), *(_compute_pairs(graph, similarity, *part.T) for part in parts)])
        found = dict(zip(_LINKS, _measure_links(edges, values, first[1]).T, strict=True))
    if "forward_flow" in measures:
        flow = np.zeros(count)
        begins = np.repeat(offsets[:-1], visits)
        places = np.arange(len(nodes)) - begins
        for first_walk, last_walk in split_by_size(visits.astype(float) ** 2, _MAX_PAIRS):
            part = np.arange(offsets[first_walk], offsets[last_walk])
            later, earlier = np.repeat(part, places[part]), concatenate_ranges(begins[part], places[part])
            distances = 1.0 - _compute_pairs(graph, similarity, nodes[earlier], nodes[later])
            distances[nodes[earlier] == nodes[later]] = 0.0
            walk = np.repeat(np.arange(count), visits)[later]
            flow += np.bincount(walk, distances / places[later], count)
        found["forward_flow"] = _divide(flow, visits - 1)
    return {name: values for name, values in found.items() if name in measures}


def _measure_links(edges: NDArray[Any], values: Float64, offsets: Int64) -> Float64:
    """Return mean weight, clustering and path length of the links of every walk, a row each; NaN where not defined.

    Clustering is the mean over nodes of the geometric means of the weights of triangles (Onnela et al. 2005), path
    length the mean over connected pairs of the shortest sum of 1 / weight. Links with a weight of zero or below are
    absent. Edges are rows (walk, place, place), sorted by walk, with places from `offsets[walk]` on.
    """
    from scipy.sparse.csgraph import shortest_path

    sizes = np.diff(offsets)
    out = np.full((len(sizes), 3), np.nan)
    bounds = np.searchsorted(edges[:, 0], np.arange(len(offsets)))
    for walk, (first, last) in enumerate(pairwise(bounds.tolist())):
        if first == last:
            out[walk, 1] = 0.0 if sizes[walk] >= 3 else np.nan
            continue
        u, v = edges[first:last, 1:].T - offsets[walk]
        weights = np.zeros((sizes[walk], sizes[walk]))
        weights[u, v] = weights[v, u] = np.maximum(values[first:last], 0.0)
        out[walk, 0] = values[first:last].mean()
        if sizes[walk] >= 3:
            degrees, roots = np.count_nonzero(weights, axis=1), np.cbrt(weights)
            triangles = (roots @ roots * roots).sum(axis=1)  # each twice
            out[walk, 1] = (triangles / np.maximum(degrees * (degrees - 1), 1)).mean()
        lengths = shortest_path(np.divide(1.0, weights, out=np.zeros_like(weights), where=weights > 0), directed=False)
        is_path = np.triu(np.isfinite(lengths), 1)
        out[walk, 2] = lengths[is_path].mean() if is_path.any() else np.nan
    return out


def _compute_pairs(
    graph: Graph, similarity: PairSimilarity | None, first: NDArray[Any], second: NDArray[Any]
) -> Float64:
    """Return the weights of pairs of nodes, or similarities, which must be one number, at most 1, for each pair."""
    if similarity is None:
        return graph.find_weights(first, second)
    values = np.asarray(similarity.compute_pairs(first, second), np.float64)
    if values.shape != first.shape or np.isnan(values).any() or values.max(initial=0) > _MAX_SIMILARITY:
        raise SettingError(
            f"similarity.compute_pairs returned an array of shape {values.shape} for {len(first):,} pairs, with "
            f"{np.count_nonzero(np.isnan(values)):,} NaN and a largest value of {np.nanmax(values, initial=0):g}; "
            "return one similarity of at most 1 for each pair."
        )
    return np.minimum(values, 1.0)
