"""Learning of `horizon` from the planner: its beam values every candidate of the states that the agent comes to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from curiograph.agents.beam import BeamAgent
from curiograph.agents.horizon import HorizonAgent, Neighborhoods
from curiograph.arrays import Float64, Int64
from curiograph.exploration.mdp import Candidates, Exploration
from curiograph.graph.graph import Graph
from curiograph.rewards.base import Reward
from curiograph.training.config import ExpertIterationSettings
from curiograph.training.learner import Learner
from curiograph.training.networks import HorizonNetwork, view_weights
from curiograph.training.replay import Replay

_FAR_CHANCE = 0.1  # share of the steps of long walks taken at random


class ExpertIterationLearner(Learner):
    """Expert iteration: the agent walks, now and then at random or as the planner would; the planner says what each
    candidate on the way was worth; the network learns to say the same at a glance."""

    settings: ExpertIterationSettings
    network: HorizonNetwork

    def __init__(self, settings: ExpertIterationSettings, graphs: list[Graph], reward: Reward, seed: int) -> None:
        torch.manual_seed(seed)
        super().__init__(settings, HorizonNetwork(settings.shape), graphs, reward, seed)
        wide = max(settings.walk_nodes, settings.far_nodes)
        kinds: dict[str, Any] = {
            "nodes": ((wide,), np.int32), "length": ((), np.int64), "ahead": ((), np.int64),
            "count": ((), np.int64), "options": ((settings.options,), np.int32),
            "values": ((settings.options,), np.float32),
        }  # fmt: skip
        self.replay = Replay(settings.buffer, kinds)
        self.exploration = self._fresh_walks(settings.walks, settings.walk_nodes)
        self._agent = HorizonAgent(settings.shape, view_weights(self.network))

    @property
    def agent(self) -> HorizonAgent:
        return self._agent

    def step(self) -> dict[str, float]:
        s = self.settings
        report: dict[str, float] = {}
        if s.far_every and self.step_number % s.far_every == s.far_every - 1 and self._walking:
            self._value(self._far_states())
        else:
            report |= self._walk_on()
        if self.step_number >= s.warmup and len(self.replay):
            if not self._walking:
                self._set_scale()
            report["loss"] = float(np.mean([self._update() for _ in range(s.updates)]))
        self.step_number += 1
        return report

    @property
    def _walking(self) -> bool:
        """Whether the agent has learned anything, so that its own choices mean something."""
        return float(self.network.scale[0]) != 0.0

    # ---- walking ------------------------------------------------------------------------------------------------

    def _fresh_walks(self, count: int, steps: int) -> Exploration:
        graphs = (self.draw("graph", count) * len(self.starts)).astype(np.int64)
        return self.new_walks(graphs, steps)

    def _walk_on(self) -> dict[str, float]:
        s, report = self.settings, {}
        if self.exploration.finished:
            report["return"] = float(self.exploration.returns.mean())
            self.exploration = self._fresh_walks(s.walks, s.walk_nodes)
        here = self.exploration
        values = self._value(here)
        wish = self._agent.scores(here) if self._walking else values
        luck = self.draw("policy", len(here.lengths))[here.candidates.walks]
        wish = np.where(luck < s.chance, self.draw("choice", len(wish)), wish)
        wish = np.where(luck > 1 - s.follow, values, wish)
        self.exploration = here.step(here.best(wish))
        return report | {"transitions": float(len(here.lengths))}

    def _far_states(self) -> Exploration:
        """States of long walks by the agent as it is, each stopped somewhere on its way."""
        s = self.settings
        walks = self._fresh_walks(s.far_walks, s.far_nodes)
        last = s.walk_nodes + int(self.draw("far", 1)[0] * (s.far_nodes - s.walk_nodes))
        for step in range(last - 1):
            if walks.finished:
                break
            scores = self._agent.scores(walks)
            luck = self.draw(f"far{step}", len(walks.lengths))[walks.candidates.walks]
            walks = walks.step(walks.best(np.where(luck < _FAR_CHANCE, self.draw(f"any{step}", len(scores)), scores)))
        return walks

    # ---- the planner --------------------------------------------------------------------------------------------

    def _value(self, here: Exploration) -> Float64:
        """Let the planner value every candidate (of very many, some), remember it all, and return the values."""
        s = self.settings
        some = self._some_options(here)
        ahead = s.shape.ahead(here.lengths, here.steps)
        deepest = int(ahead[some.counts > 0].max(initial=1))
        # walks that can go on are equally long; the planner sees no further than the network will
        limited = replace(here, steps=int(here.lengths.max() + deepest), _kept=[])
        limited.__dict__["candidates"] = some  # only these are to be valued
        values = BeamAgent(_width(s.beam, deepest)).scores(limited)
        self._remember(here, some, ahead, values)
        if len(some.nodes) == len(here.candidates.nodes):
            return values
        every = np.full(len(here.candidates.nodes), values.min(initial=0.0))
        every[self._places(here.candidates, some)] = values
        return every

    def _some_options(self, here: Exploration) -> Candidates:
        every, most = here.candidates, self.settings.options
        if every.counts.max(initial=0) <= most:
            return every
        luck = self.draw("options", len(every.nodes))
        order = np.lexsort((luck, every.walks))
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order)) - every.offsets[:-1][every.walks[order]]
        keep = rank < most
        return Candidates(np.concatenate([[0], np.cumsum(np.minimum(every.counts, most))]), every.nodes[keep])

    @staticmethod
    def _places(every: Candidates, some: Candidates) -> Int64:
        keys = every.walks * 2**32 + every.nodes
        return np.searchsorted(keys, some.walks * 2**32 + some.nodes)

    def _remember(self, here: Exploration, some: Candidates, ahead: Int64, values: Float64) -> None:
        s, rows = self.settings, np.flatnonzero(some.counts > 0)
        place = np.arange(len(some.nodes)) - some.offsets[:-1][some.walks]
        options = np.zeros((len(some.counts), s.options), np.int32)
        worth = np.zeros((len(some.counts), s.options), np.float32)
        options[some.walks, place], worth[some.walks, place] = some.nodes, values
        nodes = np.full((len(rows), self.replay.columns["nodes"].shape[1]), -1, np.int32)
        nodes[:, : here.nodes.shape[1]] = here.nodes[rows]
        self.replay.add(
            {
                "nodes": nodes, "length": here.lengths[rows], "ahead": ahead[rows],
                "count": some.counts[rows], "options": options[rows], "values": worth[rows],
            }
        )  # fmt: skip

    # ---- learning -----------------------------------------------------------------------------------------------

    def _set_scale(self) -> None:
        """Values are learned in units of their spread among the candidates of a walk, above their mean per reward."""
        rows = self.replay.rows(np.arange(len(self.replay)))
        filled = np.arange(self.settings.options) < rows["count"][:, None]
        mean = (rows["values"] * filled).sum(1) / rows["count"]
        spread = np.sqrt((((rows["values"] - mean[:, None]) * filled) ** 2).sum(1) / rows["count"]).mean()
        self.network.scale.copy_(
            torch.tensor([max(float((mean / rows["ahead"]).mean()), 1e-6), max(float(spread), 1e-6)])
        )

    def _update(self) -> float:
        s = self.settings
        rows = self.replay.rows((self.draw("batch", s.batch) * len(self.replay)).astype(np.int64))
        filled = np.arange(s.options) < rows["count"][:, None]
        offsets = np.concatenate([[0], np.cumsum(rows["count"])])
        longest = int(rows["length"].max())
        read = Neighborhoods.read(
            s.shape, self.exploration.stack, np.ascontiguousarray(rows["nodes"][:, :longest]), rows["length"],
            rows["ahead"], offsets, rows["options"][filled],
        )  # fmt: skip
        per_step, spread = self.network.scale.tolist()
        goals = (rows["values"][filled] - per_step * rows["ahead"][read.walks]) / spread
        loss = self._loss(self.network(read), torch.from_numpy(goals.astype(np.float32)), read)
        self.descend(loss)
        return loss.item()

    def _loss(self, values: Tensor, goals: Tensor, read: Neighborhoods) -> Tensor:
        """Huber loss of the differences between a walk's candidates, which decide, and lightly of their mean."""
        walks = torch.from_numpy(read.walks)
        count = len(read.lengths)
        counts = torch.bincount(walks, minlength=count).clamp(min=1)
        error = values - goals
        mean = error.new_zeros(count).index_add(0, walks, error) / counts
        within = nn.functional.huber_loss(error - mean[walks], torch.zeros_like(error), reduction="none")
        per_walk = error.new_zeros(count).index_add(0, walks, within) / counts
        far = torch.from_numpy(read.lengths >= self.settings.shape.near)
        per_walk = torch.where(far, self.settings.far_weight * per_walk, per_walk)
        level = nn.functional.huber_loss(mean, torch.zeros_like(mean))
        return per_walk.mean() + self.settings.level * level


def _width(beam: int, ahead: int) -> int:
    """How wide the planner searches: the more rewards ahead, the easier it is misled by what lies near."""
    return 4 * beam if ahead > 6 else beam if ahead > 4 else max(1, beam // 4)
