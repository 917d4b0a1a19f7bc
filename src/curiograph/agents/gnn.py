"""The agent of the paper: a graph network that predicts a return from the subgraph of the walk and a candidate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from curiograph import kernels
from curiograph.agents.agent import Agent
from curiograph.agents.layers import Weights, apply_dense, limit_blas_threads
from curiograph.arrays import Float32, Float64, Int32, Int64
from curiograph.exploration.mdp import Exploration
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import PROFILE_SIZE
from curiograph.parallel.chunks import split_by_size

NUM_LAYERS = 3
_SCORE_TOLERANCE = 5e-6  # relative difference below which scores are equal, given the noise of single precision
_BATCH_ROWS = 1024  # nodes of subgraphs processed at once, to fit in the processor cache; does not change the result


@dataclass(frozen=True)
class GnnShape:
    """Input features and size of the network; the defaults are those of the paper."""

    log_features: bool = False
    """Use log(1 + x) of the degree features instead of x."""
    inner_degree: bool = False
    """Add the degree inside the subgraph to the features."""
    inner_triangles: bool = False
    """Add the number of triangles inside the subgraph, which messages alone cannot distinguish from longer loops."""
    aggregation: Literal["mean", "sum"] = "mean"
    """Aggregation of the hidden states of neighbors."""
    width: int = 64
    """Width of the hidden layers."""

    @property
    def features(self) -> int:
        """Number of input features per node."""
        return PROFILE_SIZE + self.inner_degree + self.inner_triangles

    def weights(self) -> dict[str, tuple[int, ...]]:
        """Return the name and shape of every weight array."""
        shapes: dict[str, tuple[int, ...]] = {}
        for layer in range(NUM_LAYERS):
            shapes[f"layers.{layer}.weight"] = (self.width, 2 * (self.width if layer else self.features))
            shapes[f"layers.{layer}.bias"] = (self.width,)
        return shapes | {
            "hidden.weight": (32, self.width),
            "hidden.bias": (32,),
            "output.weight": (1, 32),
            "output.bias": (1,),
            "scale": (1,),
        }


@dataclass(frozen=True, eq=False)
class Subgraphs:
    """Subgraphs S + v of all candidates, in the flat layout of `kernels.subgraphs`."""

    bounds: Int64
    """Bounds of the subgraphs in the arrays of nodes."""
    starts: Int64
    """Bounds of the neighbors of each node in `links`."""
    links: Int32
    """Neighbors of all nodes, as indices of nodes."""
    features: Float32
    """Input features of every node."""

    @classmethod
    def read(
        cls, shape: GnnShape, stack: GraphBatch, nodes: Int32, lengths: Int64, offsets: Int64, v: Int32
    ) -> Subgraphs:
        """Extract the subgraphs of walks `nodes`, each with its candidates `v[offsets[i]:offsets[i + 1]]`."""
        csr = stack.skeleton
        bounds, places, starts, links = kernels.subgraphs.build_subgraphs(
            csr.indptr, csr.indices, nodes, lengths, offsets, v
        )
        profiles = stack.degree_profile[places]
        if shape.log_features:
            profiles = np.log1p(profiles)
        if not (shape.inner_degree or shape.inner_triangles):
            return cls(bounds, starts, links, profiles)
        inner = kernels.subgraphs.count_degrees_and_triangles(bounds, starts, links)
        inner = inner[:, [shape.inner_degree, shape.inner_triangles]]
        return cls(bounds, starts, links, np.hstack([profiles, np.log1p(inner) if shape.log_features else inner]))


@dataclass(frozen=True, eq=False)
class GnnAgent(Agent):
    """Q(S, v) = net(S + v): three GraphSAGE layers, a sum over nodes, two dense layers. Computes no rewards."""

    shape: GnnShape
    network: Weights = field(repr=False)
    name: str = "gnn"
    card: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Model card of a trained agent: how it was trained and how well it performs."""

    def scores(self, exploration: Exploration) -> Float64:
        c = exploration.candidates
        with limit_blas_threads():
            values = self.values(exploration.stack, exploration.nodes, exploration.lengths, c.offsets, c.nodes)
        return exploration.merge_ties(values.astype(np.float64), _SCORE_TOLERANCE)

    def values(self, stack: GraphBatch, nodes: Int32, lengths: Int64, offsets: Int64, candidates: Int32) -> Float32:
        """Compute Q of every candidate of every walk."""
        values = np.empty(len(candidates), np.float32)
        walks = np.repeat(np.arange(len(lengths)), np.diff(offsets))
        for first, last in split_by_size(lengths[walks] + 1, _BATCH_ROWS):
            low, high = walks[first], walks[last - 1] + 1
            part = np.clip(offsets[low : high + 1], first, last) - first
            subgraphs = Subgraphs.read(
                self.shape, stack, nodes[low:high], lengths[low:high], part, candidates[first:last]
            )
            values[first:last] = self._forward(subgraphs)
        return values

    def _forward(self, subgraphs: Subgraphs) -> Float32:
        weights, hidden = self.network, subgraphs.features
        for layer in range(NUM_LAYERS):
            messages = np.empty((len(hidden), 2 * hidden.shape[1]), np.float32)
            mean = self.shape.aggregation == "mean"
            kernels.subgraphs.gather_messages(subgraphs.starts, subgraphs.links, hidden, mean, messages)
            hidden = apply_dense(weights, f"layers.{layer}", messages)
        pooled = kernels.subgraphs.sum_states(subgraphs.bounds, hidden)
        out = apply_dense(weights, "hidden", pooled) @ weights["output.weight"].T + weights["output.bias"]
        values: Float32 = out[:, 0] * weights["scale"][0]
        return values
