"""Expert iteration for `horizon`: the network learns the values that beam search assigns to all candidates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from curiograph.agents.beam import BeamAgent
from curiograph.agents.horizon import HorizonAgent, Neighborhoods
from curiograph.arrays import Float64
from curiograph.exploration.mdp import Candidates, Exploration
from curiograph.graph.graph import Graph
from curiograph.rewards.base import Reward
from curiograph.training.config import ExpertIterationSettings
from curiograph.training.learner import Learner
from curiograph.training.networks import HorizonNetwork, view_weights
from curiograph.training.replay import Replay

_LONG_WALK_EPSILON = 0.1  # share of random moves in long walks


class ExpertIterationLearner(Learner):
    """Expert iteration with beam search as the expert ("planner").

    Walks follow the current agent, with some moves at random and some by the planner. The planner evaluates every
    candidate on the way, and the network learns to predict these values in one forward pass. A replayed state is a walk
    with its length, the number of rewards ahead, and its candidates (`options`) with their values.
    """

    settings: ExpertIterationSettings
    network: HorizonNetwork

    def __init__(self, settings: ExpertIterationSettings, graphs: list[Graph], reward: Reward, seed: int) -> None:
        torch.manual_seed(seed)
        super().__init__(settings, HorizonNetwork(settings.shape), graphs, reward, seed)
        self.replay = Replay(
            settings.buffer,
            nodes=((max(settings.walk_nodes, settings.far_nodes),), np.int32),
            length=((), np.int64),
            ahead=((), np.int64),
            count=((), np.int64),
            options=((settings.options,), np.int32),
            values=((settings.options,), np.float32),
        )
        self.exploration = self._start_random_walks(settings.walks, settings.walk_nodes)
        self._agent = HorizonAgent(settings.shape, view_weights(self.network))

    @property
    def agent(self) -> HorizonAgent:
        return self._agent

    @property
    def _has_learned(self) -> bool:
        """Whether the network was updated, so that its choices are meaningful."""
        return float(self.network.scale[0]) != 0.0

    def step(self) -> dict[str, float]:
        s = self.settings
        metrics: dict[str, float] = {}
        if s.far_every and self.step_number % s.far_every == s.far_every - 1 and self._has_learned:
            self._evaluate_candidates(self._sample_long_walks())
        else:
            if self.exploration.finished:
                metrics["return"] = float(self.exploration.returns.mean())
                self.exploration = self._start_random_walks(s.walks, s.walk_nodes)
            self._advance_walks()
            metrics["transitions"] = float(len(self.exploration.lengths))
        if self.step_number >= s.warmup and len(self.replay):
            if not self._has_learned:
                self._set_scale()
            metrics["loss"] = float(np.mean([self._update() for _ in range(s.updates)]))
        self.step_number += 1
        return metrics

    # ---- acting -------------------------------------------------------------------------------------------------

    def _start_random_walks(self, count: int, steps: int) -> Exploration:
        return self.start_walks((self.draw("graph", count) * len(self.starts)).astype(np.int64), steps)

    def _advance_walks(self) -> None:
        """Move every walk: at random with probability `chance`, by the planner with `follow`, else by the agent."""
        s, walks = self.settings, self.exploration
        values = self._evaluate_candidates(walks)
        scores = self._agent.scores(walks) if self._has_learned else values
        draws = self.draw("policy", len(walks.lengths))[walks.candidates.walks]
        scores = np.where(draws < s.chance, self.draw("choice", len(scores)), scores)
        scores = np.where(draws > 1 - s.follow, values, scores)
        self.exploration = walks.step(walks.best(scores))

    def _sample_long_walks(self) -> Exploration:
        """Return long walks of the current agent, stopped at a random length."""
        s = self.settings
        walks = self._start_random_walks(s.far_walks, s.far_nodes)
        length = s.walk_nodes + int(self.draw("far", 1)[0] * (s.far_nodes - s.walk_nodes))
        for step in range(length - 1):
            if walks.finished:
                break
            scores = self._agent.scores(walks)
            explore = self.draw(f"far{step}", len(walks.lengths))[walks.candidates.walks] < _LONG_WALK_EPSILON
            walks = walks.step(walks.best(np.where(explore, self.draw(f"any{step}", len(scores)), scores)))
        return walks

    # ---- planner ------------------------------------------------------------------------------------------------

    def _evaluate_candidates(self, walks: Exploration) -> Float64:
        """Evaluate the candidates of all walks by beam search, store the states, and return the values.

        Candidates beyond `options` per walk are not evaluated; they get the lowest value of all.
        """
        s = self.settings
        candidates, sample = walks.candidates, self._sample_candidates(walks.candidates)
        ahead = s.shape.ahead(walks.lengths, walks.steps)
        depth = int(ahead[sample.counts > 0].max(initial=1))
        # Walks that can continue are equally long; the planner sees no further than the network will.
        limited = replace(walks, steps=int(walks.lengths.max() + depth))
        limited.__dict__["candidates"] = sample  # evaluate only these
        width = 4 * s.beam if depth > 6 else s.beam if depth > 4 else max(1, s.beam // 4)
        values = BeamAgent(width).scores(limited)

        rows = np.flatnonzero(sample.counts > 0)
        column = np.arange(len(sample.nodes)) - sample.offsets[:-1][sample.walks]
        options = np.zeros((len(sample.counts), s.options), np.int32)
        option_values = np.zeros((len(sample.counts), s.options), np.float32)
        options[sample.walks, column], option_values[sample.walks, column] = sample.nodes, values
        nodes = np.full((len(rows), self.replay.columns["nodes"].shape[1]), -1, np.int32)
        nodes[:, : walks.nodes.shape[1]] = walks.nodes[rows]
        self.replay.add(
            nodes=nodes,
            length=walks.lengths[rows],
            ahead=ahead[rows],
            count=sample.counts[rows],
            options=options[rows],
            values=option_values[rows],
        )
        if sample is candidates:
            return values
        all_values = np.full(len(candidates.nodes), values.min(initial=0.0))
        keys = candidates.walks * 2**32 + candidates.nodes
        all_values[np.searchsorted(keys, sample.walks * 2**32 + sample.nodes)] = values
        return all_values

    def _sample_candidates(self, candidates: Candidates) -> Candidates:
        """Return at most `options` candidates of each walk, drawn at random from larger sets."""
        most = self.settings.options
        if candidates.counts.max(initial=0) <= most:
            return candidates
        draws = self.draw("options", len(candidates.nodes))
        order = np.lexsort((draws, candidates.walks))
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order)) - candidates.offsets[:-1][candidates.walks[order]]
        offsets = np.concatenate([[0], np.cumsum(np.minimum(candidates.counts, most))])
        return Candidates(offsets, candidates.nodes[rank < most])

    # ---- learning -----------------------------------------------------------------------------------------------

    def _set_scale(self) -> None:
        """Set the units of the network's output: mean value per reward ahead, and spread among a walk's candidates."""
        rows = self.replay.rows(np.arange(len(self.replay)))
        filled = np.arange(self.settings.options) < rows["count"][:, None]
        mean = (rows["values"] * filled).sum(1) / rows["count"]
        spread = np.sqrt((((rows["values"] - mean[:, None]) * filled) ** 2).sum(1) / rows["count"]).mean()
        self.network.scale.copy_(
            torch.tensor([max(float((mean / rows["ahead"]).mean()), 1e-6), max(float(spread), 1e-6)])
        )

    def _update(self) -> float:
        """Replay a batch and make one gradient update; return the loss."""
        s = self.settings
        rows = self.replay.rows((self.draw("batch", s.batch) * len(self.replay)).astype(np.int64))
        filled = np.arange(s.options) < rows["count"][:, None]
        neighborhoods = Neighborhoods.read(
            s.shape,
            self.exploration.stack,
            np.ascontiguousarray(rows["nodes"][:, : int(rows["length"].max())]),
            rows["length"],
            rows["ahead"],
            np.concatenate([[0], np.cumsum(rows["count"])]),
            rows["options"][filled],
        )
        per_reward, spread = self.network.scale.tolist()
        targets = (rows["values"][filled] - per_reward * rows["ahead"][neighborhoods.walks]) / spread
        loss = self._compute_loss(
            self.network(neighborhoods), torch.from_numpy(targets.astype(np.float32)), neighborhoods
        )
        self.minimize(loss)
        return loss.item()

    def _compute_loss(self, values: Tensor, targets: Tensor, neighborhoods: Neighborhoods) -> Tensor:
        """Return the Huber loss of the differences between a walk's candidates, plus `level` times that of their mean.

        The differences decide which candidate is chosen, the mean does not.
        """
        walks = torch.from_numpy(neighborhoods.walks)
        count = len(neighborhoods.lengths)
        counts = torch.bincount(walks, minlength=count).clamp(min=1)
        error = values - targets
        mean = error.new_zeros(count).index_add(0, walks, error) / counts
        within = nn.functional.huber_loss(error - mean[walks], torch.zeros_like(error), reduction="none")
        per_walk = error.new_zeros(count).index_add(0, walks, within) / counts
        far = torch.from_numpy(neighborhoods.lengths >= self.settings.shape.near)
        per_walk = torch.where(far, self.settings.far_weight * per_walk, per_walk)
        level = nn.functional.huber_loss(mean, torch.zeros_like(mean))
        return per_walk.mean() + self.settings.level * level
