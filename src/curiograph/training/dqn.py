"""Deep Q-learning of `gnn`: all training graphs advance together, one node per step; then a batch is replayed."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from curiograph.agents.gnn import GnnAgent, Subgraphs
from curiograph.arrays import Float64, Int64
from curiograph.exploration.mdp import Exploration, find_candidates
from curiograph.graph.graph import Graph
from curiograph.rewards.base import Reward
from curiograph.training.config import DqnSettings
from curiograph.training.learner import Learner
from curiograph.training.networks import GnnNetwork, view_weights
from curiograph.training.replay import Replay


class DqnLearner(Learner):
    """Deep Q-learning with Q(S, v) = net(S + v), where the state S is the visited subgraph.

    A replayed transition is a walk, its length after the step (`length`), its length when the last counted reward was
    earned (`counted`), and the discounted sum of the rewards between (`gained`).
    """

    settings: DqnSettings
    network: GnnNetwork

    def __init__(self, settings: DqnSettings, graphs: list[Graph], reward: Reward, seed: int) -> None:
        torch.manual_seed(seed)
        super().__init__(settings, GnnNetwork(settings.shape), graphs, reward, seed)
        self.target = GnnNetwork(settings.shape)
        self.target.load_state_dict(self.network.state_dict())
        self.replay = Replay(
            settings.buffer,
            nodes=((settings.walk_nodes,), np.int32),
            length=((), np.int64),
            gained=((), np.float64),
            counted=((), np.int64),
        )
        self.exploration = self.start_walks(np.arange(len(graphs)), settings.walk_nodes)
        self._online_agent = GnnAgent(settings.shape, view_weights(self.network))
        self._target_agent = GnnAgent(settings.shape, view_weights(self.target))

    @property
    def agent(self) -> GnnAgent:
        return self._online_agent if self.settings.act_with == "online" else self._target_agent

    @property
    def epsilon(self) -> float:
        """Current probability of a random action."""
        s = self.settings
        steps = self.step_number / max(1.0, s.epsilon_steps * s.train_steps)
        progress = min(1.0, max(steps, self.time_share / max(s.epsilon_steps, 1e-9)))
        return s.epsilon_first + (s.epsilon_last - s.epsilon_first) * progress

    def step(self) -> dict[str, float]:
        s = self.settings
        metrics: dict[str, float] = {}
        if self.exploration.finished:
            metrics["return"] = float(self.exploration.returns.mean())
            self.exploration = self.start_walks(np.arange(len(self.starts)), s.walk_nodes)
        before = self.exploration
        self.exploration = before.step(self._choose_actions(before))
        self._store_transitions(np.flatnonzero(self.exploration.lengths > before.lengths))
        if self.step_number >= s.warmup and len(self.replay):
            metrics["loss"] = float(np.mean([self._update() for _ in range(s.updates)]))
        self.step_number += 1
        return metrics | {"epsilon": self.epsilon, "transitions": float(len(self.exploration.lengths))}

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
        oldest = length - self.settings.returns + 1
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
        s = self.settings
        if s.scale_returns and float(self.network.scale) == 1.0:  # not set yet, here or by the initial agent
            scale = max(1e-6, float(self.replay.columns["gained"][: len(self.replay)].std()))
            self.network.scale.fill_(scale)
            self.target.scale.fill_(scale)
        rows = self.replay.rows((self.draw("batch", s.batch) * len(self.replay)).astype(np.int64))
        nodes, last = rows["nodes"], rows["length"] - 1
        subgraphs = Subgraphs.read(
            s.shape, self.exploration.stack, nodes, last, np.arange(s.batch + 1), nodes[np.arange(s.batch), last]
        )
        targets = torch.from_numpy(self._compute_targets(rows).astype(np.float32)) / self.network.scale
        compute_loss = nn.functional.mse_loss if s.loss == "mse" else nn.functional.huber_loss
        loss = compute_loss(self.network(subgraphs), targets)
        self.minimize(loss)
        if self.updates % s.target_every == 0:
            self.target.load_state_dict(self.network.state_dict())
        return loss.item()

    def _compute_targets(self, rows: dict[str, Any]) -> Float64:
        """Return the rewards gained plus the discounted value of the best next node."""
        s = self.settings
        stack, nodes, lengths = self.exploration.stack, rows["nodes"], rows["counted"]
        active = np.where(lengths < s.walk_nodes, lengths, 0)
        graph = np.searchsorted(stack.starts, nodes[:, 0], side="right") - 1
        candidates = find_candidates(stack, graph, nodes, active)
        targets: Float64 = rows["gained"].copy()
        counts = candidates.counts
        ongoing = np.flatnonzero(counts > 0)
        if len(ongoing) == 0:
            return targets
        values = self._target_agent.values(stack, nodes, active, candidates.offsets, candidates.nodes)
        first = candidates.offsets[:-1][ongoing]
        if s.double:
            online = self._online_agent.values(stack, nodes, active, candidates.offsets, candidates.nodes)
            highest = np.maximum.reduceat(online, first)
            values = np.where(online == np.repeat(highest, counts[ongoing]), values, -np.inf)
        best = np.maximum.reduceat(values, first).astype(np.float64)
        targets[ongoing] += s.discount ** (lengths[ongoing] - rows["length"][ongoing] + 1) * best
        return targets

    def get_networks(self) -> dict[str, nn.Module]:
        return {"network": self.network, "target": self.target}
