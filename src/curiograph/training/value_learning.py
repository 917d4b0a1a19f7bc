"""Value learning for `planner`: the networks learn what beam search still earns through every candidate."""

from __future__ import annotations

from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from curiograph.agents.beam import BeamAgent
from curiograph.agents.planner import (
    NUM_FEATURES,
    NUM_SCREENED,
    SCREEN_WIDTH,
    SECOND_WIDTH,
    WIDTH,
    PlannerAgent,
    PlannerShape,
    compute_features,
)
from curiograph.arrays import Float64, Int64
from curiograph.exploration.mdp import Exploration
from curiograph.graph.graph import Graph
from curiograph.kernels.lookahead import HORIZON
from curiograph.rewards.reward import Reward
from curiograph.training.learner import Learner, Replay, view_weights
from curiograph.training.training_settings import TrainingSettings

_SHORTEST_WALK = 5


class PlannerNetwork(nn.Module):
    """The two networks of a planner; both predict the residual of a candidate in units of `scale`."""

    mean: Tensor
    deviation: Tensor
    scale: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.screen = nn.Sequential(nn.Linear(NUM_SCREENED, SCREEN_WIDTH), nn.ReLU(), nn.Linear(SCREEN_WIDTH, 1))
        self.value = nn.Sequential(
            nn.Linear(NUM_FEATURES, WIDTH),
            nn.ReLU(),
            nn.Linear(WIDTH, SECOND_WIDTH),
            nn.ReLU(),
            nn.Linear(SECOND_WIDTH, 1),
        )
        self.register_buffer("mean", torch.zeros(NUM_FEATURES))
        self.register_buffer("deviation", torch.ones(NUM_FEATURES))
        self.register_buffer("scale", torch.tensor([0.0, 0.0]))

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return the outputs of both networks for rows of features."""
        inputs = (features - self.mean) / self.deviation
        return self.screen(inputs[:, :NUM_SCREENED])[:, 0], self.value(inputs)[:, 0]


class ValueLearner(Learner):
    """Learns values of partial walks from the walks that beam search finds.

    Every step sends walks from random starts to random lengths, by the current planner with noise or at random. There,
    beam search measures what some candidates still earn beyond their reward repeated to the end. With s steps left,
    this residual is learned as a slope: divided by s (s + 1) / 2 and by the best gain among the candidates, which makes
    it comparable between graphs. At first the beam is plain and wide; later the planner searches itself, which is both
    faster and better.
    """

    shape = PlannerShape()
    walks = 64
    """Walks per step, each on a randomly drawn training graph; fewer if they are longer than `walk_nodes`."""
    options = 12
    """Maximum number of candidates evaluated per walk: half of them the best by reward, the others at random."""
    updates_per_step = 40
    random_share = 0.3
    """Share of walks that move at random; the others follow the planner, with noise."""
    within = 2.0
    """Weight in the loss of the differences between a walk's candidates, relative to their values."""
    network: PlannerNetwork

    def __init__(self, settings: TrainingSettings, graphs: list[Graph], reward: Reward, seed: int) -> None:
        torch.manual_seed(seed)
        super().__init__(settings, PlannerNetwork(), graphs, reward, seed)
        self.replay = Replay(
            settings.buffer,
            features=((self.options, NUM_FEATURES), np.float32),
            slopes=((self.options,), np.float32),
            count=((), np.int64),
        )

    @property
    def agent(self) -> PlannerAgent:
        return PlannerAgent(self.shape, view_weights(self.network))

    @property
    def _has_learned(self) -> bool:
        """Whether the network was updated, so that its predictions are meaningful."""
        return float(self.network.scale[1]) != 0.0

    def step(self) -> dict[str, float]:
        s = self.settings
        metrics: dict[str, float] = {}
        self._collect_states()
        if self.step_number + 1 >= min(s.warmup, max(1, s.train_steps // 3)) and len(self.replay):
            if not self._has_learned:
                self._set_scale()
            metrics["loss"] = float(np.mean([self._update() for _ in range(self.updates_per_step)]))
        self.step_number += 1
        return metrics

    # ---- states and their values --------------------------------------------------------------------------------

    def _collect_states(self) -> None:
        """Send walks to random lengths and store the values of their candidates."""
        s = self.settings
        steps = s.walk_nodes
        if s.far_nodes > steps and self.draw("far", 1)[0] < s.far_share:
            longest = np.log(s.far_nodes / _SHORTEST_WALK)
            steps = int(_SHORTEST_WALK * np.exp(longest * self.draw("steps", 1)[0]))
        scale = max(1.0, steps / s.walk_nodes)  # fewer longer walks, searched by a narrower beam, for equal cost
        count, width = max(4, int(self.walks / scale)), max(2, int(s.beam / scale))
        walks = self.start_walks((self.draw("graph", count) * len(self.starts)).astype(np.int64), steps)
        agent = self.agent if self._has_learned else None
        expert = BeamAgent(width) if agent is None else agent.with_width(max(1, width // 2))
        shortest = max(1, steps - 1 - HORIZON)  # values are learned for at most this number of steps
        stop = shortest + (self.draw("stop", count) * (steps - 1 - shortest)).astype(np.int64)
        policy = self.draw("policy", count)
        while True:
            counts = walks.candidates.counts
            here = np.flatnonzero((walks.lengths == stop) & (counts > 0))
            if len(here):
                self.store_values(walks.rows(here), expert)
            onward = np.flatnonzero((walks.lengths < stop) & (counts > 0))
            if not len(onward):
                return
            walks, stop, policy = walks.rows(onward), stop[onward], policy[onward]
            walks = walks.step(walks.best(self._score_moves(walks, agent, policy)))

    def _score_moves(self, walks: Exploration, agent: PlannerAgent | None, policy: Float64) -> Float64:
        """Return scores of the candidates: random for a share `chance` of the walks, otherwise noisy predictions.

        The noise of a walk is 0, 0.5 or 2 times the standard deviation of its predictions.
        """
        candidates, length = walks.candidates, int(walks.lengths[0])
        scores = None if agent is None else agent.estimate_returns(walks)
        if scores is None:
            scores = walks.candidate_values * (walks.steps - walks.lengths)[candidates.walks]
        divisor = np.maximum(candidates.counts, 1)
        mean = np.bincount(candidates.walks, scores, len(divisor)) / divisor
        spread = np.sqrt(np.bincount(candidates.walks, (scores - mean[candidates.walks]) ** 2, len(divisor)) / divisor)
        noise = -np.log(-np.log(self.draw(f"n{length}", len(scores)).clip(1e-12, 1 - 1e-12)))
        level = np.select([policy > 0.8, policy > 0.55], [0.0, 2.0], 0.5)
        scores = scores + noise * ((spread + 1e-9) * level)[candidates.walks]
        return np.where((policy < self.random_share)[candidates.walks], self.draw(f"r{length}", len(scores)), scores)

    def store_values(self, walks: Exploration, expert: BeamAgent) -> None:
        """Store the features of some candidates, with the values that the expert finds by search."""
        features, unit = compute_features(walks, self.shape.fan)
        picked = self.sample_candidates(walks)
        owners = walks.candidates.walks[picked]
        children = walks.branch(owners, picked)
        gained = expert.search(children)[1]
        left = (children.steps - children.lengths).astype(np.float64)
        reward = children.rewards[np.arange(len(picked)), children.lengths - 2]
        slopes = (gained - reward * left) / (left * (left + 1) / 2) / unit[picked]
        counts = np.bincount(owners, minlength=len(walks.lengths))
        column = np.arange(len(picked)) - np.repeat(np.cumsum(counts) - counts, counts)
        stored_features = np.zeros((len(counts), self.options, NUM_FEATURES), np.float32)
        stored_slopes = np.zeros((len(counts), self.options), np.float32)
        stored_features[owners, column], stored_slopes[owners, column] = features[picked], slopes
        self.replay.add(features=stored_features, slopes=stored_slopes, count=counts)

    def sample_candidates(self, walks: Exploration) -> Int64:
        """Return at most `options` candidates of each walk: half of them the best by reward, the others at random."""
        candidates, most = walks.candidates, self.options
        draws = self.draw(f"c{int(walks.lengths[0])}", len(candidates.nodes))

        def rank(keys: Float64) -> Int64:
            order = np.lexsort((keys, candidates.walks))
            ranks = np.empty(len(order), np.int64)
            ranks[order] = np.arange(len(order)) - candidates.offsets[:-1][candidates.walks[order]]
            return ranks

        best = rank(-walks.candidate_values) < most // 2
        return np.flatnonzero(rank(np.where(best, -1.0, draws)) < most)

    # ---- learning -----------------------------------------------------------------------------------------------

    def _set_scale(self) -> None:
        """Set the scales of inputs and outputs from the states seen so far."""
        rows = self.replay.rows(np.arange(len(self.replay)))
        filled = np.arange(self.options) < rows["count"][:, None]
        features, slopes = rows["features"][filled], rows["slopes"][filled]
        deviation = features.std(axis=0)
        self.network.mean.copy_(torch.from_numpy(features.mean(axis=0)))
        self.network.deviation.copy_(torch.from_numpy(np.where(deviation > 1e-3, deviation, 1.0)))
        self.network.scale.copy_(torch.tensor([float(slopes.mean()), max(float(slopes.std()), 1e-6)]))

    def _update(self) -> float:
        """Replay a batch and make one gradient update of both networks; return the loss."""
        places = (self.draw("batch", self.settings.batch) * len(self.replay)).astype(np.int64)
        rows = self.replay.rows(places)
        filled = np.arange(self.options) < rows["count"][:, None]
        mean, spread = self.network.scale.tolist()
        targets = torch.from_numpy((rows["slopes"][filled] - mean) / spread)
        states = torch.from_numpy(np.repeat(np.arange(len(filled)), rows["count"]))
        outputs = self.network(torch.from_numpy(rows["features"][filled]))
        loss = cast(Tensor, sum(self._compute_loss(values, targets, states, len(filled)) for values in outputs))
        self.minimize(loss)
        return loss.item()

    def _compute_loss(self, values: Tensor, targets: Tensor, states: Tensor, count: int) -> Tensor:
        """Return the Huber loss of all values, plus `within` times that of differences between a walk's candidates."""
        error = values - targets
        sums = error.new_zeros(count).index_add(0, states, error)
        mean = sums / torch.bincount(states, minlength=count).clamp(min=1)
        zeros = torch.zeros_like(error)
        level = nn.functional.smooth_l1_loss(error, zeros)
        return level + self.within * nn.functional.smooth_l1_loss(error - mean[states], zeros, beta=0.3)
