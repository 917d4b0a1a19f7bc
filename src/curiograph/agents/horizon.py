"""The horizon agent: a network that reads the graph around the walk and scores all candidates in one pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.agents.base import Agent
from curiograph.agents.layers import SCORE_TOLERANCE, Weights, apply_dense, check_network, limit_blas_threads
from curiograph.arrays import Float32, Float64, Int32, Int64
from curiograph.exploration.mdp import Exploration
from curiograph.graph.batch import GraphBatch
from curiograph.graph.features import PROFILE_SIZE
from curiograph.parallel.chunks import split_by_size

NUM_FEATURES = PROFILE_SIZE + 28  # local degree profile and flags of kernels.neighborhood
_BATCH_ROWS = 1024  # nodes processed at once, to fit in the processor cache; does not change the result
_TYPICAL_ROWS = 50  # nodes read beyond the walk and its candidates, for the size of batches


@dataclass(frozen=True)
class HorizonShape:
    """Size of the network and of the part of the graph it reads."""

    width: int = 48
    """Width of the hidden layers."""
    layers: int = 5
    """Number of message-passing layers."""
    lookahead: int = 9
    """Number of future rewards whose sum is predicted; fewer if the walk ends sooner."""
    near: int = 10
    """Length of a walk from which on `far_lookahead` replaces `lookahead`."""
    far_lookahead: int = 3
    """Number of future rewards whose sum is predicted for walks of `near` nodes or more."""
    hops: int = 5
    """Maximum distance from the walk and its candidates at which nodes are read."""
    nodes: int = 256
    """Maximum number of nodes read beyond the walk and its candidates."""
    fan: int = 64
    """Maximum number of neighbors read per node."""

    def ahead(self, lengths: Int64, steps: int) -> Int64:
        """Return the number of future rewards predicted for walks of these lengths that end at `steps` nodes."""
        return np.minimum(steps - lengths, np.where(lengths < self.near, self.lookahead, self.far_lookahead))

    def weights(self) -> dict[str, tuple[int, ...]]:
        """Return the name and shape of every weight array."""
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
    """Part of the graph around each walk of a batch, in the flat layout of `kernels.neighborhood`."""

    bounds: Int64
    """Bounds of the walks in the arrays of nodes."""
    starts: Int64
    """Bounds of the neighbors of each node in `links`."""
    links: Int32
    """Neighbors of all nodes, as indices of nodes."""
    loose: NDArray[np.bool_]
    """Whether the ends of a link have no neighbor in common among the nodes visited last."""
    features: Float32
    """Input features of every node."""
    lengths: Int64
    """Length of each walk."""
    ahead: Int64
    """Number of future rewards that are predicted for each walk."""
    candidates: Int64
    """Index of each candidate in the arrays of nodes."""
    walks: Int64
    """Index of the walk of each candidate."""

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
        """Read the neighborhoods of walks `nodes`, each with its candidates `v[offsets[i]:offsets[i + 1]]`."""
        csr = stack.skeleton
        bounds, places, starts, links, loose, flags = kernels.neighborhood.read_neighborhood(
            csr.indptr, csr.indices, nodes, lengths, offsets, v, ahead, shape.hops, shape.nodes, shape.fan
        )
        features = np.concatenate([np.log1p(stack.get_profiles(places)), flags], axis=1)
        walks = np.repeat(np.arange(len(lengths)), np.diff(offsets))
        candidates = bounds[walks] + lengths[walks] + np.arange(len(v)) - offsets[walks]
        return cls(
            bounds=bounds,
            starts=starts,
            links=links,
            loose=loose,
            features=features,
            lengths=lengths,
            ahead=ahead,
            candidates=candidates,
            walks=walks,
        )


@dataclass(frozen=True, eq=False)
class HorizonAgent(Agent):
    """Q(S, v) of all candidates v from one pass over the graph around S. Computes no rewards."""

    shape: HorizonShape
    network: Weights = field(repr=False)
    name: str = "horizon"
    card: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Model card of a trained agent: how it was trained and how well it performs."""

    predicts_returns = True
    """Scores are predicted returns, so they can guide a beam search."""

    def scores(self, exploration: Exploration) -> Float64:
        check_network(self.name, self.shape.weights(), self.network)
        candidates, values = exploration.candidates, [np.empty(0)]
        sizes = exploration.lengths + candidates.counts + _TYPICAL_ROWS
        with limit_blas_threads():
            for first, last in split_by_size(sizes, _BATCH_ROWS):
                offsets = candidates.offsets[first : last + 1]
                if offsets[0] == offsets[-1]:
                    continue
                lengths = exploration.lengths[first:last]
                neighborhoods = Neighborhoods.read(
                    self.shape,
                    exploration.stack,
                    exploration.nodes[first:last],
                    lengths,
                    self.shape.ahead(lengths, exploration.steps),
                    offsets - offsets[0],
                    candidates.nodes[offsets[0] : offsets[-1]],
                )
                values.append(self.values(neighborhoods))
        return exploration.merge_ties(np.concatenate(values), SCORE_TOLERANCE)

    def values(self, read: Neighborhoods) -> Float64:
        """Predict the sum of the future rewards through each candidate."""
        weights, d = self.network, self.shape.width
        hidden = apply_dense(weights, "read", read.features)
        gathered = np.empty((len(hidden), 4 * d), np.float32)
        for layer in range(self.shape.layers):
            kernels.neighborhood.gather_messages(
                read.bounds, read.starts, read.links, read.loose, read.lengths, hidden, gathered
            )
            messages = gathered @ weights[f"messages.{layer}.weight"].T
            walk = _average_walks(read, hidden) @ weights[f"walk.{layer}.weight"].T
            kernels.neighborhood.add_walk_relu(read.bounds, walk + weights[f"messages.{layer}.bias"], messages)
            hidden += messages @ weights[f"update.{layer}.weight"].T
        last = np.maximum(read.bounds[:-1] + read.lengths - 1, 0)
        head = [hidden[read.candidates], _average_walks(read, hidden)[read.walks], hidden[last[read.walks]]]
        out = apply_dense(weights, "hidden", np.concatenate(head, axis=1)) @ weights["output.weight"].T
        per_step, spread = weights["scale"].astype(np.float64)
        values: Float64 = per_step * read.ahead[read.walks] + spread * (out + weights["output.bias"])[:, 0]
        return values


def _average_walks(read: Neighborhoods, hidden: Float32) -> Float32:
    """Return the mean hidden state of the visited nodes of each walk."""
    mean: Float32 = kernels.neighborhood.compute_walk_mean(read.bounds, read.lengths, hidden)
    return mean
