"""gnn: the paper's agent. A graph network reads the visited subgraph with a candidate, and says what it promises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from curiograph import kernels
from curiograph.agents.base import Agent
from curiograph.agents.layers import SCORE_TOLERANCE, Weights, apply_dense, check_network, limit_blas_threads
from curiograph.arrays import Float64, Int32, Int64
from curiograph.exploration.mdp import Exploration
from curiograph.graph.batch import GraphBatch
from curiograph.graph.csr import freeze_array
from curiograph.graph.features import PROFILE_SIZE, Float32
from curiograph.parallel.chunks import split_by_size

NUM_LAYERS = 3
_ROWS_AT_ONCE = 1024  # nodes of subgraphs that stay in the processor's cache together; does not change the result


@dataclass(frozen=True)
class GnnShape:
    """What the network reads and how it adds up; the defaults are the paper's."""

    log_features: bool = False
    """Read the logarithm of 1 + degree and so on, instead of the plain numbers."""
    inner_degree: bool = False
    """Also read the degree inside the subgraph,"""
    inner_triangles: bool = False
    """and the number of triangles there: messages alone cannot tell a triangle from a longer loop."""
    aggregation: Literal["mean", "sum"] = "mean"
    """How the states of neighbours are put together."""
    width: int = 64

    @property
    def features(self) -> int:
        """Numbers read per node."""
        return PROFILE_SIZE + self.inner_degree + self.inner_triangles

    def weights(self) -> dict[str, tuple[int, ...]]:
        """The name and shape of every array of weights."""
        shapes: dict[str, tuple[int, ...]] = {}
        wide = self.features
        for layer in range(NUM_LAYERS):
            shapes[f"layers.{layer}.weight"] = (self.width, 2 * wide)
            shapes[f"layers.{layer}.bias"] = (self.width,)
            wide = self.width
        return shapes | {
            "hidden.weight": (32, self.width),
            "hidden.bias": (32,),
            "output.weight": (1, 32),
            "output.bias": (1,),
            "scale": (1,),
        }


@dataclass(frozen=True, eq=False)
class Subgraphs:
    """S + v of every candidate, side by side, as the kernels lay them out."""

    bounds: Int64
    starts: Int64
    links: Int32
    features: Float32

    @classmethod
    def read(
        cls, shape: GnnShape, stack: GraphBatch, nodes: Int32, lengths: Int64, offsets: Int64, v: Int32
    ) -> Subgraphs:
        """The subgraphs of walks `nodes`, each with its candidates `v[offsets[i]:offsets[i + 1]]`."""
        rows = stack.skeleton
        bounds, places, starts, links = kernels.subgraphs.build_subgraphs(
            rows.indptr, rows.indices, nodes, lengths, offsets, v
        )
        profiles = stack.get_log_profiles(places) if shape.log_features else stack.get_profiles(places)
        if not (shape.inner_degree or shape.inner_triangles):
            return cls(bounds, starts, links, profiles)
        inner = kernels.subgraphs.count_degrees_and_triangles(bounds, starts, links)
        features = kernels.subgraphs.build_features(
            freeze_array(profiles),
            np.arange(len(places), dtype=np.int32),
            inner,
            shape.inner_degree,
            shape.inner_triangles,
            shape.log_features,
        )
        return cls(bounds, starts, links, features)


@dataclass(frozen=True, eq=False)
class GnnAgent(Agent):
    """Q(S, v) = net(S + v): three GraphSAGE layers, a sum over the nodes, two dense layers. Computes no reward."""

    shape: GnnShape
    network: Weights = field(repr=False)
    name: str = "gnn"
    card: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """How the agent came to be, for one that was trained."""

    def scores(self, exploration: Exploration) -> Float64:
        check_network(self.name, self.shape.weights(), self.network)
        c = exploration.candidates
        with limit_blas_threads():
            values = self.values(exploration.stack, exploration.nodes, exploration.lengths, c.offsets, c.nodes)
        return exploration.merge_ties(values.astype(np.float64), SCORE_TOLERANCE)

    def values(self, stack: GraphBatch, nodes: Int32, lengths: Int64, offsets: Int64, candidates: Int32) -> Float32:
        """Q of every candidate of every walk."""
        values = np.empty(len(candidates), np.float32)
        walks = np.repeat(np.arange(len(lengths)), np.diff(offsets))
        for first, last in split_by_size(lengths[walks] + 1, _ROWS_AT_ONCE):
            low, high = walks[first], walks[last - 1] + 1
            part = np.clip(offsets[low : high + 1], first, last) - first
            read = Subgraphs.read(self.shape, stack, nodes[low:high], lengths[low:high], part, candidates[first:last])
            values[first:last] = self._forward(read)
        return values

    def _forward(self, read: Subgraphs) -> Float32:
        hidden, mean = read.features, self.shape.aggregation == "mean"
        for layer in range(NUM_LAYERS):
            beside = np.empty((len(hidden), 2 * hidden.shape[1]), np.float32)
            kernels.subgraphs.gather_messages(read.starts, read.links, hidden, mean, beside)
            hidden = apply_dense(self.network, f"layers.{layer}", beside)
        pooled = kernels.subgraphs.sum_states(read.bounds, hidden)
        out = (
            apply_dense(self.network, "hidden", pooled) @ self.network["output.weight"].T + self.network["output.bias"]
        )
        values: Float32 = out[:, 0] * self.network["scale"][0]
        return values
