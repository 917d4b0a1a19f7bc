"""Compute the measures of many walks as plain arrays, in tasks of a parallel job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import SettingError
from curiograph.graph.batch import GraphBatch
from curiograph.graph.csr import concatenate_ranges, freeze_array
from curiograph.graph.graph import Graph
from curiograph.growth.compute import OPEN, compute_growth
from curiograph.human.profile.measures import COUNTS
from curiograph.parallel import Job, Result
from curiograph.parallel.chunks import split_by_size
from curiograph.parallel.fingerprint import hash_graph, hash_values
from curiograph.rewards.cct import compute_step_flexibility, count_conformable
from curiograph.rewards.cpt import compute_final_compressibility

_TASK_COST = 5e7  # sum of the cubes of lengths: a task of walks of 50 visits takes about a second
_MAX_PAIRS = 2**20  # pairs of visits whose similarity is computed together: bounds the memory
_MAX_SIMILARITY = 1 + 1e-6  # cosines of float32 vectors may exceed 1 by rounding
_GAPS = {"beta0", "beta1", "beta2", "opened", "closed", "gap_lifetime"}


@runtime_checkable
class PairSimilarity(Protocol):
    """Similarity of nodes, as of titles or texts."""

    def compute_pairs(self, first: NDArray[Any], second: NDArray[Any], /) -> NDArray[Any]:
        """Return the similarity, at most 1, of the nodes at each of the given pairs of positions."""
        ...


@dataclass(frozen=True, eq=False)
class Sequences:
    """Visits of several walks in a flat array; those of walk i are `nodes[offsets[i]:offsets[i + 1]]`."""

    nodes: Int32
    """Positions of the visited nodes, with returns."""
    offsets: Int64
    """Bounds of the walks in `nodes`."""

    def select(self, first: int, last: int) -> Sequences:
        """Return the walks `first` to `last - 1`."""
        offsets = self.offsets[first : last + 1]
        return Sequences(
            nodes=freeze_array(self.nodes[offsets[0] : offsets[-1]]), offsets=freeze_array(offsets - offsets[0])
        )

    def find_first_visits(self) -> Sequences:
        """Return the first visits of the nodes of each walk, in order.

        >>> first = Sequences(np.array([3, 2, 3, 3], np.int32), np.array([0, 3, 4])).find_first_visits()
        >>> first.nodes.tolist(), first.offsets.tolist()
        ([3, 2, 3], [0, 2, 3])
        """
        walk = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        keys = walk * (int(self.nodes.max(initial=0)) + 1) + self.nodes
        first = np.sort(np.unique(keys, return_index=True)[1])
        counts = np.bincount(walk[first], minlength=len(self.offsets) - 1)
        return Sequences(
            nodes=freeze_array(self.nodes[first]), offsets=freeze_array(np.concatenate([[0], np.cumsum(counts)]))
        )


SharedInput = tuple[Graph, Graph | None, Sequences, tuple[str, ...]]
"""Input of all tasks: the skeleton without labels, the graph with weights if they are used, visits, and measures."""


def make_profile_job(graph: Graph, walks: Sequences, measures: Sequence[str]) -> Job:
    """Create the job that computes the measures of all walks."""
    skeleton = graph.skeleton
    weighted = None
    if graph.weights is not None and {"edge_weight", "forward_flow"} & set(measures):
        weighted = Graph(graph.indptr, graph.indices, graph.weights, directed=graph.directed)
    tasks = list(split_by_size(np.diff(walks.offsets).astype(float) ** 3, _TASK_COST))
    return Job(
        name="profile",
        function=profile_task,
        shared=(Graph(skeleton.indptr, skeleton.indices), weighted, walks, tuple(measures)),
        tasks=tasks,
        key=lambda: {
            "graph": hash_graph(skeleton if weighted is None else weighted),
            "walks": hash_values(walks.nodes, walks.offsets),
            "measures": list(measures),
        },
        describe_task=lambda task: f"walks {task[0]} to {task[1] - 1}",
        unit="walks",
        task_sizes=[last - first for first, last in tasks],
        fix="profile the walks in parts",
    )


def profile_task(shared: SharedInput, task: tuple[int, int]) -> Result:
    """Compute the measures of the walks `task[0]` to `task[1] - 1`."""
    graph, weighted, walks, measures = shared
    return dict(compute_measures(graph, walks.select(*task), measures, weighted=weighted))


def compute_measures(
    graph: Graph, walks: Sequences, measures: Sequence[str], *, weighted: Graph | None = None
) -> dict[str, NDArray[Any]]:
    """Compute measures of walks on an undirected graph without weights, an array for each measure.

    Parameters
    ----------
    graph : Graph
        The graph that was walked on, undirected and without weights.
    walks : Sequences
        Visits of the walks, at least one of each.
    measures : sequence of str
        Names of measures; those of the group `meaning` are left out if there is no weighted graph.
    weighted : Graph, optional
        The same graph with weights, maybe directed.

    Examples
    --------
    >>> from curiograph.graph.toys import cycle
    >>> walks = Sequences(np.array([0, 1, 2, 3, 2], np.int32), np.array([0, 5]))
    >>> found = compute_measures(cycle(4), walks, ["nodes", "edges", "beta1", "revisits"])
    >>> {name: values.tolist() for name, values in found.items()}
    {'nodes': [4], 'edges': [4], 'beta1': [1], 'revisits': [1]}
    """
    wanted = set(measures)
    indptr, indices = graph.indptr, graph.indices
    first = walks.find_first_visits()
    visits, sizes = np.diff(walks.offsets), np.diff(first.offsets).astype(np.float64)
    subgraph = kernels.subgraph_measures.measure_subgraphs(
        indptr,
        indices,
        first.nodes,
        first.offsets,
        bool(wanted & {"path_length", "efficiency"}),
        "modularity" in wanted,
    ).T
    sub = kernels.subgraph_measures
    edges = subgraph[sub.EDGES]
    with np.errstate(divide="ignore", invalid="ignore"):
        density = np.where(sizes > 1, 2 * edges / (sizes * (sizes - 1)), np.nan)
    found: dict[str, NDArray[Any]] = {
        "visits": visits,
        "nodes": sizes,
        "edges": edges,
        "density": density,
        "clustering": subgraph[sub.CLUSTERING],
        "path_length": subgraph[sub.PATH_LENGTH],
        "efficiency": subgraph[sub.EFFICIENCY],
        "modularity": subgraph[sub.MODULARITY],
        "core_periphery": subgraph[sub.CORE_PERIPHERY],
        "entropy": subgraph[sub.ENTROPY],
    }
    if wanted & _GAPS:
        found |= _measure_gaps(graph, first, with_voids="beta2" in wanted)
    if wanted & {"compressibility", "normalized_compressibility"}:
        bits = compute_final_compressibility(GraphBatch.of([graph]), first.nodes, first.offsets)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(found["entropy"] > 0, bits / found["entropy"], np.nan)
        found |= {"compressibility": bits, "normalized_compressibility": ratio}
    if wanted & {"dimension", "conformable"}:
        dimension, freedom = compute_step_flexibility(GraphBatch.of([graph]), first.nodes, first.offsets)
        lasts = first.offsets[1:] - 1
        found |= {"dimension": dimension[lasts], "conformable": count_conformable(dimension, freedom)[lasts]}
    if wanted & {"step_length", "step_exponent"}:
        lengths = kernels.sequences.compute_step_lengths(indptr, indices, walks.nodes, walks.offsets)
        found["step_length"], found["step_exponent"] = kernels.sequences.summarize_steps(lengths, walks.offsets).T
    if wanted & {"revisits", "revisit_share", "heaps", "zipf", "visit_entropy", "entropy_rate"}:
        sequence = kernels.sequences.measure_sequences(walks.nodes, walks.offsets).T
        seq = kernels.sequences
        found |= {
            "revisits": sequence[seq.REVISITS],
            "revisit_share": sequence[seq.REVISITS] / visits,
            "heaps": sequence[seq.HEAPS],
            "zipf": sequence[seq.ZIPF],
            "visit_entropy": sequence[seq.VISIT_ENTROPY],
            "entropy_rate": sequence[seq.ENTROPY_RATE],
        }
    if weighted is not None:
        found["edge_weight"], found["forward_flow"] = kernels.sequences.measure_weights(
            weighted.indptr,
            weighted.indices,
            weighted.weights,
            walks.nodes,
            walks.offsets,
            first.nodes,
            first.offsets,
        ).T
    return {name: found[name].astype(np.int64 if name in COUNTS else np.float64) for name in measures if name in found}


def _measure_gaps(graph: Graph, first: Sequences, *, with_voids: bool) -> dict[str, NDArray[Any]]:
    """Compute Betti numbers at the end of walks, and numbers and mean lifetimes of their gaps of dimension 1."""
    grown = compute_growth(graph, first.nodes, first.offsets, compressibility=False)
    lasts = first.offsets[1:] - 1
    walk, _, opened, closed = grown.gaps.T
    count = len(first.offsets) - 1
    ends = np.where(closed == OPEN, np.diff(first.offsets)[walk] - 1, closed)
    num_opened = np.bincount(walk, minlength=count)
    with np.errstate(invalid="ignore"):
        lifetime = np.bincount(walk, ends - opened, count) / num_opened
    found: dict[str, NDArray[Any]] = {
        "beta0": grown.betti[lasts, 0],
        "beta1": grown.betti[lasts, 1],
        "opened": num_opened,
        "closed": np.bincount(walk[closed != OPEN], minlength=count),
        "gap_lifetime": lifetime,
    }
    if with_voids:
        found["beta2"] = kernels.voids.count_voids(
            graph.indptr, graph.indices, first.nodes, first.offsets, found["beta0"], found["beta1"]
        )
    return found


def are_similarities(weights: NDArray[Any] | None) -> bool:
    """Return whether there are weights and all are from 0 to 1, so that they can be taken as similarities."""
    return weights is not None and len(weights) > 0 and bool(weights.min() >= 0 and weights.max() <= 1)


def measure_similarity(
    graph: Graph, walks: Sequences, similarity: PairSimilarity, measures: Sequence[str]
) -> dict[str, Float64]:
    """Compute the mean similarity of linked pairs and the forward flow of each walk, if they are among `measures`."""
    found: dict[str, Float64] = {}
    count = len(walks.offsets) - 1
    if "edge_weight" in measures:
        first = walks.find_first_visits()
        skeleton = graph.skeleton
        walk, one, other = kernels.subgraph_measures.list_edges(
            skeleton.indptr, skeleton.indices, first.nodes, first.offsets
        ).T
        values = np.concatenate(
            [
                np.zeros(0),
                *(
                    _compute_pairs(similarity, one[k : k + _MAX_PAIRS], other[k : k + _MAX_PAIRS])
                    for k in range(0, len(one), _MAX_PAIRS)
                ),
            ]
        )
        with np.errstate(invalid="ignore"):
            found["edge_weight"] = np.bincount(walk, values, count) / np.bincount(walk, minlength=count)
    if "forward_flow" in measures:
        visits = np.diff(walks.offsets)
        flow = np.zeros(count)
        for begin, end in split_by_size(visits.astype(float) ** 2, _MAX_PAIRS):
            part = walks.select(begin, end)
            before = np.arange(len(part.nodes)) - np.repeat(part.offsets[:-1], np.diff(part.offsets))
            later = np.repeat(np.arange(len(part.nodes)), before)
            earlier = concatenate_ranges(np.repeat(part.offsets[:-1], np.diff(part.offsets)), before)
            distances = 1.0 - _compute_pairs(similarity, part.nodes[earlier], part.nodes[later])
            distances[part.nodes[earlier] == part.nodes[later]] = 0.0
            walk = np.repeat(np.arange(begin, end), np.diff(part.offsets))[later]
            flow += np.bincount(walk, distances / before[later], count)
        with np.errstate(divide="ignore", invalid="ignore"):
            found["forward_flow"] = np.where(visits > 1, flow / (visits - 1), np.nan)
    return found


def _compute_pairs(similarity: PairSimilarity, first: NDArray[Any], second: NDArray[Any]) -> Float64:
    """Return the similarities of pairs of nodes; raise SettingError unless they are one number, at most 1, for each."""
    values = np.asarray(similarity.compute_pairs(first, second), np.float64)
    if values.shape != first.shape or np.isnan(values).any():
        raise SettingError(
            f"similarity.compute_pairs returned an array of shape {values.shape} for {len(first):,} pairs, with "
            f"{np.count_nonzero(np.isnan(values)):,} NaN; return one similarity for each pair."
        )
    if len(values) and values.max() > _MAX_SIMILARITY:
        raise SettingError(
            f"similarity.compute_pairs returned {values.max():g}; similarities are at most 1, so divide them by the "
            "largest one."
        )
    return np.minimum(values, 1.0)
