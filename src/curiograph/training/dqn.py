"""Deep Q-learning of `gnn`: all training graphs advance together, one node a step; then a batch is learned from."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from curiograph import kernels
from curiograph.agents.gnn import GnnAgent, Subgraphs
from curiograph.arrays import Float64, Int64
from curiograph.exploration.mdp import Exploration
from curiograph.graph.graph import Graph
from curiograph.rewards.base import Reward
from curiograph.training.config import DqnSettings
from curiograph.training.learner import Learner
from curiograph.training.networks import GnnNetwork, view_weights
from curiograph.training.replay import Replay


class DqnLearner(Learner):
    """State: the visited subgraph. Q(S, v) = net(S + v). A transition is a walk, its length after the step, and what
    the step earned: the state before and all that follows can be read off the walk."""

    settings: DqnSettings
    network: GnnNetwork

    def __init__(self, settings: DqnSettings, graphs: list[Graph], reward: Reward, seed: int) -> None:
        torch.manual_seed(seed)
        super().__init__(settings, GnnNetwork(settings.shape), graphs, reward, seed)
        self.target = GnnNetwork(settings.shape)
        self.target.load_state_dict(self.network.state_dict())
        nodes = settings.walk_nodes
        kinds: dict[str, Any] = {
            "nodes": ((nodes,), np.int32), "length": ((), np.int64),
            "gained": ((), np.float64), "counted": ((), np.int64),
        }  # fmt: skip
        self.replay = Replay(settings.buffer, kinds)
        self.exploration = self.new_walks(np.arange(len(graphs)), nodes)
        self._online = GnnAgent(settings.shape, view_weights(self.network))
        self._fixed = GnnAgent(settings.shape, view_weights(self.target))

    @property
    def agent(self) -> GnnAgent:
        return self._online if self.settings.act_with == "online" else self._fixed

    @property
    def epsilon(self) -> float:
        s = self.settings
        done = min(1.0, self.step_number / max(1.0, s.epsilon_steps * s.train_steps))
        return s.epsilon_first + (s.epsilon_last - s.epsilon_first) * done

    def step(self) -> dict[str, float]:
        ended = self._walk_on()
        losses = []
        if self.step_number >= self.settings.warmup and len(self.replay):
            losses = [self._update() for _ in range(self.settings.updates)]
        self.step_number += 1
        report = {"epsilon": self.epsilon, "transitions": float(len(self.exploration.lengths))}
        if losses:
            report["loss"] = float(np.mean(losses))
        if ended is not None:
            report["return"] = ended
        return report

    def _walk_on(self) -> float | None:
        """Every walk takes a step, at random with probability epsilon; mean return of the walks that ended by it."""
        ended = None
        if self.exploration.finished:
            ended = float(self.exploration.returns.mean())
            self.exploration = self.new_walks(np.arange(len(self.starts)), self.settings.walk_nodes)
        before = self.exploration
        self.exploration = before.step(self._choices(before))
        self._remember(self.exploration, moved=np.flatnonzero(self.exploration.lengths > before.lengths))
        return ended

    def _choices(self, exploration: Exploration) -> Int64:
        """The best candidate of each walk; a random one where epsilon says so, which needs no network."""
        count = len(exploration.lengths)
        by_chance = self.draw("explore", count) < self.epsilon
        random = self.draw("choice", len(exploration.candidates.nodes))
        chosen = exploration.best(random)
        thinking = np.flatnonzero(~by_chance & (exploration.candidates.counts > 0))
        if len(thinking):
            part = exploration.rows(thinking)
            best = part.best(self.agent.scores(part))
            chosen[thinking] = best - part.candidates.offsets[:-1] + exploration.candidates.offsets[:-1][thinking]
        return chosen

    def _remember(self, exploration: Exploration, moved: Int64) -> None:
        """Store the transitions that have seen `returns` rewards; of walks at their end, those that saw fewer too."""
        length = int(exploration.lengths[moved].max(initial=0))
        oldest = length - self.settings.returns + 1
        ended = exploration.candidates.counts[moved] == 0
        self._store(exploration, moved[~ended], range(max(2, oldest), oldest + 1), length)
        self._store(exploration, moved[ended], range(max(2, oldest), length + 1), length)

    def _store(self, exploration: Exploration, walks: Int64, lengths: range, counted: int) -> None:
        """Store the steps that made `walks` this long, with all rewards from there to the length `counted`."""
        if len(walks) == 0:
            return
        for length in lengths:
            rewards = exploration.rewards[walks, length - 2 : counted - 1]
            self.replay.add(
                {
                    "nodes": exploration.nodes[walks],
                    "length": np.full(len(walks), length),
                    "gained": rewards @ self.settings.discount ** np.arange(rewards.shape[1]),
                    "counted": np.full(len(walks), counted),
                }
            )

    def _update(self) -> float:
        s = self.settings
        if s.scale_returns and float(self.network.scale) == 1.0:  # not yet set, here or by the agent begun from
            spread = max(1e-6, float(self.replay.columns["gained"][: len(self.replay)].std()))
            self.network.scale.fill_(spread)
            self.target.scale.fill_(spread)
        rows = self.replay.rows((self.draw("batch", s.batch) * len(self.replay)).astype(np.int64))
        values = self._q(self.network, rows["nodes"], rows["length"])
        targets = torch.from_numpy(self._targets(rows).astype(np.float32)) / self.network.scale
        loss = nn.functional.mse_loss(values, targets) if s.loss == "mse" else nn.functional.huber_loss(values, targets)
        self.descend(loss)
        if self.updates % s.target_every == 0:
            self.target.load_state_dict(self.network.state_dict())
        return loss.item()

    def _q(self, network: GnnNetwork, nodes: Any, lengths: Int64) -> Tensor:
        """Q(S, v) of walks whose last node is v."""
        every = np.arange(len(lengths))
        read = Subgraphs.read(
            self.settings.shape,
            self.exploration.stack,
            nodes,
            lengths - 1,
            np.arange(len(lengths) + 1),
            nodes[every, lengths - 1],
        )
        value: Tensor = network(read)
        return value

    def _targets(self, rows: dict[str, Any]) -> Float64:
        """What was gained, and the discounted value of the best that can follow."""
        s = self.settings
        stack, nodes, lengths = self.exploration.stack, rows["nodes"], rows["counted"]
        active = np.where(lengths < s.walk_nodes, lengths, 0)
        graph = np.searchsorted(stack.starts, nodes[:, 0], side="right") - 1
        low, high = stack.starts[graph], stack.starts[graph + 1]
        offsets, candidates = kernels.candidates.find_candidates(
            stack.out.indptr, stack.out.indices, nodes, active, low, high, kernels.candidates.FRONTIER
        )
        gained: Float64 = rows["gained"].copy()
        going = np.flatnonzero(np.diff(offsets) > 0)
        if len(going) == 0:
            return gained
        values = self._fixed.values(stack, nodes, active, offsets, candidates)
        first = offsets[:-1][going]
        if s.double:
            picked = self._online.values(stack, nodes, active, offsets, candidates)
            top = np.maximum.reduceat(picked, first)
            values = np.where(picked == np.repeat(top, np.diff(offsets)[going]), values, -np.inf)
        best = np.maximum.reduceat(values, first).astype(np.float64)
        gained[going] += s.discount ** (lengths[going] - rows["length"][going] + 1) * best
        return gained

    def networks(self) -> dict[str, nn.Module]:
        return {"network": self.network, "target": self.target}
