"""horizon: our agent. It reads the graph around the walk and scores all candidates in one pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.agents.base import Agent
from curiograph.agents.layers import SCORE_TOLERANCE, Weights, apply_dense, check_network, limit_blas_threads
from curiograph.arrays import Float64, Int32, Int64
from curiograph.exploration.mdp import Exploration
from curiograph.graph.batch import GraphBatch
from curiograph.graph.features import PROFILE_SIZE, Float32
from curiograph.parallel.chunks import split_by_size

NUM_FEATURES = PROFILE_SIZE + 28  # local degree profile, and the flags of kernels.surroundings
_ROWS_AT_ONCE = 1024  # nodes whose states stay in the processor's cache together; does not change the result
_TYPICAL_ROWS = 50  # nodes read beyond walk and candidates


@dataclass(frozen=True)
class HorizonShape:
    """How far the network looks and how wide it is."""

    width: int = 48
    layers: int = 5
    lookahead: int = 9
    """Rewards ahead that it predicts the sum of; fewer where the walk ends sooner,"""
    near: int = 10
    """and in walks of this many nodes or more"""
    far_lookahead: int = 3
    """only so many."""
    hops: int = 5
    """How far it reads beyond the walk and its candidates,"""
    nodes: int = 256
    """how many nodes,"""
    fan: int = 64
    """and how many neighbours of each."""

    def ahead(self, lengths: Int64, steps: int) -> Int64:
        """Rewards ahead that count for walks of these lengths that go on to `steps` nodes."""
        return np.minimum(steps - lengths, np.where(lengths < self.near, self.lookahead, self.far_lookahead))

    def weights(self) -> dict[str, tuple[int, ...]]:
        """The name and shape of every array of weights."""
        d = self.width
        shapes: dict[str, tuple[int, ...]] = {"read.weight": (d, NUM_FEATURES), "read.bias": (d,)}
        for layer in range(self.layers):
            shapes[f"messages.{layer}.weight"] = (d, 4 * d)
            shapes[f"messages.{layer}.bias"] = (d,)
            shapes[f"walk.{layer}.weight"] = (d, d)
            shapes[f"update.{layer}.weight"] = (d, d)
        return shapes | {
            "hidden.weight": (d, 3 * d),
            "hidden.bias": (d,),
            "output.weight": (1, d),
            "output.bias": (1,),
            "scale": (2,),
        }


@dataclass(frozen=True, eq=False)
class Neighborhoods:
    """What is read around each of some walks, as the kernels lay it out."""

    bounds: Int64
    starts: Int64
    links: Int32
    loose: NDArray[np.bool_]
    features: Float32
    lengths: Int64
    ahead: Int64
    """Rewards ahead that count, for each walk."""
    candidates: Int64
    """Where each candidate stands in the lists."""
    walks: Int64
    """The walk of each candidate."""

    @classmethod
    def read(
        cls,
        shape: HorizonShape,
        stack: GraphBatch,
        nodes: Int32,
        lengths: Int64,
        ahead: Int64,
        offsets: Int64,
        v: Int32,
    ) -> Neighborhoods:
        """The surroundings of walks `nodes` with candidates `v`, with so many rewards `ahead`."""
        rows = stack.skeleton
        bounds, places, starts, links, loose, flags = kernels.neighborhood.read_neighborhood(
            rows.indptr, rows.indices, nodes, lengths, offsets, v, ahead, shape.hops, shape.nodes, shape.fan
        )
        features = np.concatenate([np.log1p(stack.get_profiles(places)), flags], axis=1)
        walks = np.repeat(np.arange(len(lengths)), np.diff(offsets))
        candidates = bounds[walks] + lengths[walks] + np.arange(len(v)) - offsets[walks]
        return cls(bounds, starts, links, loose, features, lengths, ahead, candidates, walks)


@dataclass(frozen=True, eq=False)
class HorizonAgent(Agent):
    """Q(S, v) of all candidates v from one reading of the graph around S. Computes no reward."""

    shape: HorizonShape
    network: Weights = field(repr=False)
    name: str = "horizon"
    card: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """How the agent came to be, for one that was trained."""

    foresees = True
    """Scores are returns ahead, so they can guide a beam."""

    def scores(self, exploration: Exploration) -> Float64:
        check_network(self.name, self.shape.weights(), self.network)
        rows = exploration.lengths + exploration.candidates.counts + _TYPICAL_ROWS
        with limit_blas_threads():
            values = [self._part(exploration, first, last) for first, last in split_by_size(rows, _ROWS_AT_ONCE)]
        return exploration.merge_ties(np.concatenate([np.empty(0), *values]), SCORE_TOLERANCE)

    def _part(self, exploration: Exploration, first: int, last: int) -> Float64:
        """Values of the candidates of some walks."""
        offsets = exploration.candidates.offsets[first : last + 1]
        some = exploration.candidates.nodes[offsets[0] : offsets[-1]]
        if len(some) == 0:
            return np.empty(0)
        nodes, lengths = exploration.nodes[first:last], exploration.lengths[first:last]
        ahead = self.shape.ahead(lengths, exploration.steps)
        read = Neighborhoods.read(self.shape, exploration.stack, nodes, lengths, ahead, offsets - offsets[0], some)
        return self.values(read)

    def values(self, read: Neighborhoods) -> Float64:
        """The predicted sum of the rewards ahead, through each candidate."""
        weights, d = self.network, self.shape.width
        hidden = apply_dense(weights, "read", read.features)
        beside = np.empty((len(hidden), 4 * d), np.float32)
        for layer in range(self.shape.layers):
            kernels.neighborhood.gather_messages(
                read.bounds, read.starts, read.links, read.loose, read.lengths, hidden, beside
            )
            news = beside @ weights[f"messages.{layer}.weight"].T
            walk = self._walk_mean(read, hidden) @ weights[f"walk.{layer}.weight"].T
            kernels.neighborhood.add_walk_relu(read.bounds, walk + weights[f"messages.{layer}.bias"], news)
            hidden += news @ weights[f"update.{layer}.weight"].T
        last = np.maximum(read.bounds[:-1] + read.lengths - 1, 0)
        head = [hidden[read.candidates], self._walk_mean(read, hidden)[read.walks], hidden[last[read.walks]]]
        out = apply_dense(weights, "hidden", np.concatenate(head, axis=1)) @ weights["output.weight"].T
        per_step, spread = weights["scale"].astype(np.float64)
        values: Float64 = per_step * read.ahead[read.walks] + spread * (out + weights["output.bias"])[:, 0]
        return values

    def _walk_mean(self, read: Neighborhoods, hidden: Float32) -> Float32:
        mean: Float32 = kernels.neighborhood.compute_walk_mean(read.bounds, read.lengths, hidden)
        return mean
