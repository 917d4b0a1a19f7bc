"""Deep Q-learning of `gnn`: all training graphs advance together, one node per step; then a batch is replayed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from curiograph import kernels
from curiograph.agents.gnn import NUM_LAYERS, GnnAgent, GnnShape, Subgraphs
from curiograph.arrays import Float64, Int64
from curiograph.exploration.mdp import Exploration
from curiograph.graph.graph import Graph
from curiograph.rewards.reward import Reward
from curiograph.training.learner import Learner, Replay, view_weights
from curiograph.training.training_settings import TrainingSettings


class _Messages(torch.autograd.Function):
    """Concatenate the state of every node with the mean (or sum) over its neighbors.

    Messages are computed on ragged lists by a numba kernel, forward and backward: links are undirected, so the gradient
    of a sum over neighbors is again a sum over neighbors. Inputs of matrix products are allocated by torch, because its
    products are bit-identical only for arrays aligned to 64 bytes, which numpy does not guarantee.
    """

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
        messages: Any = _Messages.apply
        for layer in self.layers:
            hidden = torch.relu(layer(messages(hidden, read, self.shape.aggregation == "mean")))
        owners = torch.from_numpy(np.repeat(np.arange(len(read.bounds) - 1), np.diff(read.bounds)))
        pooled = hidden.new_zeros(len(read.bounds) - 1, self.shape.width).index_add(0, owners, hidden)
        return cast(Tensor, self.output(torch.relu(self.hidden(pooled)))[:, 0])


class DqnLearner(Learner):
    """Deep Q-learning with Q(S, v) = net(S + v), where the state S is the visited subgraph.

    A replayed transition is a walk, its length after the step (`length`), its length when the last counted reward was
    earned (`counted`), and the discounted sum of the rewards between (`gained`).
    """

    shape = GnnShape(log_features=True, inner_degree=True, inner_triangles=True, aggregation="sum")
    returns = 9
    """Number of rewards in an n-step return before bootstrapping."""
    target_every = 100
    """Updates between copies of the online network into the target network."""
    epsilon_first, epsilon_last = 1.0, 0.05
    """First and last probability of a random action."""
    epsilon_steps = 0.5
    """Share of the training over which epsilon decays linearly."""
    loss: Any = staticmethod(nn.functional.huber_loss)
    scales_returns = True
    """Whether targets are divided by the standard deviation of the returns seen during warm-up."""
    acts_with_target = False
    """Whether the target network acts during training and is kept as the agent, instead of the online network."""
    network: GnnNetwork

    def __init__(self, settings: TrainingSettings, graphs: list[Graph], reward: Reward, seed: int) -> None:
        torch.manual_seed(seed)
        super().__init__(settings, GnnNetwork(self.shape), graphs, reward, seed)
        self.target = GnnNetwork(self.shape)
        self.target.load_state_dict(self.network.state_dict())
        self.replay = Replay(
            settings.buffer,
            nodes=((settings.walk_nodes,), np.int32),
            length=((), np.int64),
            gained=((), np.float64),
            counted=((), np.int64),
        )
        self.exploration = self.start_walks(np.arange(len(graphs)), settings.walk_nodes)
        self.target_agent = GnnAgent(self.shape, view_weights(self.target))
        self._agent = self.target_agent if self.acts_with_target else GnnAgent(self.shape, view_weights(self.network))

    @property
    def agent(self) -> GnnAgent:
        return self._agent

    @property
    def epsilon(self) -> float:
        """Current probability of a random action."""
        progress = min(1.0, self.step_number / max(1.0, self.epsilon_steps * self.settings.train_steps))
        return self.epsilon_first + (self.epsilon_last - self.epsilon_first) * progress

    def step(self) -> dict[str, float]:
        metrics: dict[str, float] = {}
        if self.exploration.finished:
            metrics["return"] = float(self.exploration.returns.mean())
            self.exploration = self.start_walks(np.arange(len(self.starts)), self.settings.walk_nodes)
        before = self.exploration
        self.exploration = before.step(self._choose_actions(before))
        self._store_transitions(np.flatnonzero(self.exploration.lengths > before.lengths))
        if self.step_number >= self.settings.warmup and len(self.replay):
            metrics["loss"] = self._update()
        self.step_number += 1
        return metrics | {"epsilon": self.epsilon}

    def _choose_actions(self, exploration: Exploration) -> Int64:
        """Choose a candidate for each walk, epsilon-greedily; only greedy choices evaluate the network."""
        explore = self.draw("explore", len(exploration.lengths)) < self.epsilon
        candidates = exploration.candidates
        chosen = exploration.best(self.draw("choice", len(candidates.nodes)))
        greedy = np.flatnonzero(~explore & (candidates.counts > 0))
        if len(greedy):
            part = exploration.rows(greedy)
            best = part.best(self.agent.scores(part))
            chosen[greedy] = best - part.candidates.offsets[:-1] + candidates.offsets[:-1][greedy]
        return chosen

    def _store_transitions(self, moved: Int64) -> None:
        """Store the n-step transitions that the latest step completed, for the walks that moved.

        A transition is complete when `returns` rewards followed it, or when its walk ended.
        """
        walks = self.exploration
        length = int(walks.lengths[moved].max(initial=0))  # all walks that can move are equally long
        oldest = length - self.returns + 1
        ended = walks.candidates.counts[moved] == 0
        for rows, last in ((moved[~ended], oldest), (moved[ended], length)):
            for first in range(max(2, oldest), last + 1) if len(rows) else ():
                rewards = walks.rewards[rows, first - 2 : length - 1]
                self.replay.add(
                    nodes=walks.nodes[rows],
                    length=np.full(len(rows), first),
                    gained=rewards @ self.settings.discount ** np.arange(rewards.shape[1]),
                    counted=np.full(len(rows), length),
                )

    def _update(self) -> float:
        """Replay a batch and make one gradient update; return the loss."""
        if self.scales_returns and float(self.network.scale) == 1.0:  # not set yet, here or by the initial agent
            scale = max(1e-6, float(self.replay.columns["gained"][: len(self.replay)].std()))
            self.network.scale.fill_(scale)
            self.target.scale.fill_(scale)
        batch = self.settings.batch
        rows = self.replay.rows((self.draw("batch", batch) * len(self.replay)).astype(np.int64))
        nodes, last = rows["nodes"], rows["length"] - 1
        subgraphs = Subgraphs.read(
            self.shape, self.exploration.stack, nodes, last, np.arange(batch + 1), nodes[np.arange(batch), last]
        )
        targets = torch.from_numpy(self.compute_targets(rows).astype(np.float32)) / self.network.scale
        loss: Tensor = self.loss(self.network(subgraphs), targets)
        self.minimize(loss)
        if self.updates % self.target_every == 0:
            self.target.load_state_dict(self.network.state_dict())
        return loss.item()

    def compute_targets(self, rows: dict[str, Any]) -> Float64:
        """Return the rewards gained plus the discounted value of the best next node, by the target network."""
        stack, nodes, lengths = self.exploration.stack, rows["nodes"], rows["counted"]
        graph_of = np.searchsorted(stack.starts, nodes[:, 0], side="right") - 1
        candidates = replace(self.exploration, graph_of=graph_of, nodes=nodes, lengths=lengths).candidates
        targets: Float64 = rows["gained"].copy()
        ongoing = np.flatnonzero(candidates.counts > 0)
        if len(ongoing):
            values = self.target_agent.values(stack, nodes, lengths, candidates.offsets, candidates.nodes)
            best = np.maximum.reduceat(values, candidates.offsets[:-1][ongoing]).astype(np.float64)
            targets[ongoing] += self.settings.discount ** (lengths[ongoing] - rows["length"][ongoing] + 1) * best
        return targets

    def get_networks(self) -> dict[str, nn.Module]:
        return {"network": self.network, "target": self.target}


class PaperDqnLearner(DqnLearner):
    """Deep Q-learning with settings close to the published code; docs/learning.md lists the differences."""

    shape = GnnShape()
    returns = 1
    target_every = 16
    epsilon_last = 0.1
    epsilon_steps = 1.0
    loss = staticmethod(nn.functional.mse_loss)
    scales_returns = False
    acts_with_target = True
    final_rate = 1.0
    max_norm = 0.0
