"""PyTorch networks of `gnn` and `horizon`, used for training only: the agents act in numpy.

Messages between neighbors are computed on ragged lists by a numba kernel, forward and backward: links are undirected,
so the gradient of a sum over neighbors is again a sum over neighbors. Inputs of matrix products are allocated by torch,
because its products are bit-identical only for arrays aligned to 64 bytes, which numpy does not guarantee.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from curiograph import kernels
from curiograph.agents.gnn import NUM_LAYERS, GnnShape, Subgraphs
from curiograph.agents.horizon import HorizonShape, Neighborhoods
from curiograph.agents.layers import Weights


class _SubgraphMessages(torch.autograd.Function):
    """Concatenate the state of every node with the mean (or sum) over its neighbors."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, read: Subgraphs, mean: bool) -> Tensor:
        ctx.read, ctx.mean = read, mean
        out = torch.empty(len(hidden), 2 * hidden.shape[1])
        kernels.subgraphs.gather_messages(read.starts, read.links, hidden.detach().numpy(), mean, out.numpy())
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        gradient = gradients[0].contiguous().numpy()
        back = torch.empty(len(gradient), gradient.shape[1] // 2)
        kernels.subgraphs.gather_gradients(ctx.read.starts, ctx.read.links, gradient, ctx.mean, back.numpy())
        return back, None, None


class _NeighborhoodMessages(torch.autograd.Function):
    """Concatenate the state of every node with the messages of its neighborhood."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, read: Neighborhoods) -> Tensor:
        ctx.read = read
        out = torch.empty(len(hidden), 4 * hidden.shape[1])
        kernels.neighborhood.gather_messages(
            read.bounds, read.starts, read.links, read.loose, read.lengths, hidden.detach().numpy(), out.numpy()
        )
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        read, gradient = ctx.read, gradients[0].contiguous().numpy()
        back = torch.empty(len(gradient), gradient.shape[1] // 4)
        kernels.neighborhood.gather_gradients(
            read.bounds, read.starts, read.links, read.loose, read.lengths, gradient, back.numpy()
        )
        return back, None


def _apply(function: Any, *arguments: Any) -> Tensor:
    return cast(Tensor, function.apply(*arguments))


class GnnNetwork(nn.Module):
    """Q-network of `gnn`: three GraphSAGE layers, sum pooling over the nodes, two dense layers."""

    scale: Tensor

    def __init__(self, shape: GnnShape) -> None:
        super().__init__()
        self.shape = shape
        widths = [shape.features, *[shape.width] * NUM_LAYERS]
        self.layers = nn.ModuleList(nn.Linear(2 * widths[k], widths[k + 1]) for k in range(NUM_LAYERS))
        self.hidden = nn.Linear(shape.width, 32)
        self.output = nn.Linear(32, 1)
        self.register_buffer("scale", torch.ones(1))

    def forward(self, read: Subgraphs) -> Tensor:
        """Return the unscaled Q-value of every subgraph."""
        hidden = torch.from_numpy(read.features).clone()
        for layer in self.layers:
            hidden = torch.relu(layer(_apply(_SubgraphMessages, hidden, read, self.shape.aggregation == "mean")))
        owners = torch.from_numpy(np.repeat(np.arange(len(read.bounds) - 1), np.diff(read.bounds)))
        pooled = hidden.new_zeros(len(read.bounds) - 1, self.shape.width).index_add(0, owners, hidden)
        return cast(Tensor, self.output(torch.relu(self.hidden(pooled)))[:, 0])


class HorizonNetwork(nn.Module):
    """Network of `horizon`: residual message layers over the graph around a walk, then a value per candidate."""

    scale: Tensor

    def __init__(self, shape: HorizonShape) -> None:
        super().__init__()
        self.shape = shape
        d = shape.width
        self.read = nn.Linear(shape.weights()["read.weight"][1], d)
        self.messages = nn.ModuleList(nn.Linear(4 * d, d) for _ in range(shape.layers))
        self.walk = nn.ModuleList(nn.Linear(d, d, bias=False) for _ in range(shape.layers))
        self.update = nn.ModuleList(nn.Linear(d, d, bias=False) for _ in range(shape.layers))
        self.hidden = nn.Linear(3 * d, d)
        self.output = nn.Linear(d, 1)
        self.register_buffer("scale", torch.tensor([0.0, 1.0]))
        for update in self.update:  # start close to the identity
            nn.init.normal_(cast(nn.Linear, update).weight, std=0.3 / np.sqrt(d))

    def forward(self, read: Neighborhoods) -> Tensor:
        """Return the unscaled value of every candidate."""
        owners = torch.from_numpy(np.repeat(np.arange(len(read.lengths)), np.diff(read.bounds)))
        visited = torch.from_numpy(
            np.concatenate([np.arange(b, b + n) for b, n in zip(read.bounds, read.lengths, strict=False)])
        )
        walk_of = torch.from_numpy(np.repeat(np.arange(len(read.lengths)), read.lengths))
        lengths = torch.from_numpy(read.lengths.astype(np.float32))[:, None]
        hidden = torch.relu(self.read(torch.from_numpy(read.features).clone()))

        def walk_mean() -> Tensor:
            total = hidden.new_zeros(len(read.lengths), self.shape.width)
            return total.index_add(0, walk_of, hidden[visited]) / lengths

        for messages, walk, update in zip(self.messages, self.walk, self.update, strict=True):
            update_input = messages(_apply(_NeighborhoodMessages, hidden, read)) + walk(walk_mean())[owners]
            hidden = hidden + update(torch.relu(update_input))
        last = torch.from_numpy((read.bounds[:-1] + read.lengths - 1)[read.walks])
        walks = torch.from_numpy(read.walks)
        head = torch.cat([hidden[torch.from_numpy(read.candidates)], walk_mean()[walks], hidden[last]], dim=1)
        return cast(Tensor, self.output(torch.relu(self.hidden(head)))[:, 0])


def view_weights(network: nn.Module) -> Weights:
    """Return the weights of a network as arrays that share its memory."""
    return {name: tensor.detach().numpy() for name, tensor in network.state_dict().items()}
