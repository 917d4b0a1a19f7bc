"""What all ways of learning share: the walks in progress, the optimiser, and a state that can be saved and restored.

Chance is a function of (seed, purpose, step): there is no generator to save, and a restored learner goes on to the bit.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from curiograph import kernels
from curiograph.agents.layers import Weights
from curiograph.agents.pretrained import TrainedAgent
from curiograph.arrays import Float64, Int64
from curiograph.exploration.mdp import Exploration, begin, list_starts
from curiograph.graph.graph import Graph
from curiograph.rewards.base import Reward
from curiograph.training.config import TrainingSettings
from curiograph.training.replay import Replay
from curiograph.training.restoring import State, check_state


class Learner(ABC):
    """Learns a network step by step. `step` returns what it saw, `agent` acts as the network does now."""

    replay: Replay

    def __init__(
        self, settings: TrainingSettings, network: nn.Module, graphs: list[Graph], reward: Reward, seed: int
    ) -> None:
        self.settings = settings
        self.network = network
        self.seed = seed
        self.step_number = 0
        self.updates = 0
        self.optimiser = torch.optim.Adam(network.parameters(), settings.learning_rate, fused=True)
        self.starts = [list_starts(graph, "frontier") for graph in graphs]
        first = [starts[:1] for starts in self.starts]
        self.exploration = begin(graphs, first, reward, settings.walk_nodes, seed=seed)

    @property
    @abstractmethod
    def agent(self) -> TrainedAgent:
        """Acts as the network does now."""

    @abstractmethod
    def step(self) -> dict[str, float]:
        """Walk on, learn, and report."""

    def new_walks(self, graphs: Int64, steps: int) -> Exploration:
        """Fresh walks of up to `steps` nodes from random starts, one on each of `graphs` (numbers)."""
        count = len(graphs)
        luck = self.draw("start", count)
        first = [self.starts[g][int(u * len(self.starts[g]))] for g, u in zip(graphs, luck, strict=True)]
        nodes = np.full((count, steps), -1, np.int32)
        nodes[:, 0] = first + self.exploration.stack.starts[graphs]
        return replace(
            self.exploration,
            steps=steps,
            graph_of=graphs,
            streams=self._streams("walk", count),
            nodes=nodes,
            lengths=np.ones(count, np.int64),
            rewards=np.full((count, steps - 1), np.nan),
            _kept=[],
        )

    def draw(self, purpose: str, count: int) -> Float64:
        """`count` numbers in [0, 1) for this purpose, step and number of updates."""
        return np.asarray((self._streams(purpose, count) >> np.uint64(11)) * 2.0**-53, np.float64)

    def _streams(self, purpose: str, count: int) -> NDArray[np.uint64]:
        number = int.from_bytes(purpose.encode()[:7].ljust(7), "big")
        stream = kernels.random.draw_bits(np.uint64(self.seed), np.uint64(number), np.uint64(self.updates))
        streams: NDArray[np.uint64] = kernels.random.make_streams(np.uint64(stream), self.step_number, count)
        return streams

    def descend(self, loss: Tensor) -> None:
        """One step of the optimiser down a loss."""
        s = self.settings
        fall = 0.5 * (1 + math.cos(math.pi * min(1.0, self.step_number / s.train_steps)))
        for group in self.optimiser.param_groups:
            group["lr"] = s.learning_rate * (s.final_rate + (1 - s.final_rate) * fall)
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if s.steepest:
            nn.utils.clip_grad_norm_(self.network.parameters(), s.steepest)
        self.optimiser.step()
        self.updates += 1

    def begin_from(self, weights: Weights) -> None:
        """Take over the weights of an agent of the same shape."""
        for network in self.networks().values():
            network.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})

    # ---- to be continued ----------------------------------------------------------------------------------------

    def networks(self) -> dict[str, nn.Module]:
        """Every network whose weights belong to the state."""
        return {"network": self.network}

    def state(self) -> State:
        """Everything that the next step depends on."""
        walks = self.exploration
        state: State = {
            "counts": np.array([self.step_number, self.updates, self.replay.added, walks.steps]),
            "walks.nodes": walks.nodes,
            "walks.lengths": walks.lengths,
            "walks.rewards": walks.rewards,
            "walks.graphs": walks.graph_of,
            "walks.streams": walks.streams,
        }
        for name, network in self.networks().items():
            state |= {f"{name}.{key}": value.numpy() for key, value in network.state_dict().items()}
        for number, entry in self.optimiser.state_dict()["state"].items():
            state |= {f"optimiser.{number}.{key}": value.numpy() for key, value in entry.items()}
        kept = len(self.replay)
        return state | {f"replay.{name}": column[:kept] for name, column in self.replay.columns.items()}

    def restore(self, state: State) -> None:
        """Go back to a state that `state` returned; raises ValueError or KeyError for any other."""
        stack = self.exploration.stack
        check_state(state, self.state(), self.replay.capacity, len(self.starts), int(stack.starts[-1]))
        self.step_number, self.updates, self.replay.added, steps = (int(n) for n in state["counts"])
        self.exploration = replace(
            self.exploration,
            steps=steps,
            nodes=state["walks.nodes"],
            lengths=state["walks.lengths"],
            rewards=state["walks.rewards"],
            graph_of=state["walks.graphs"],
            streams=state["walks.streams"],
            _kept=[],
        )
        for name, network in self.networks().items():
            network.load_state_dict({key: torch.from_numpy(value) for key, value in _under(state, name).items()})
        entries: dict[int, dict[str, Tensor]] = {}
        for key, value in _under(state, "optimiser").items():
            number, _, name = key.partition(".")
            entries.setdefault(int(number), {})[name] = torch.from_numpy(value).clone()
        self.optimiser.load_state_dict({**self.optimiser.state_dict(), "state": entries})
        for name, column in self.replay.columns.items():
            column[: len(self.replay)] = state[f"replay.{name}"]


def _under(state: State, name: str) -> State:
    """The arrays whose names begin with `name` and a dot, without it."""
    return {key.removeprefix(f"{name}."): value for key, value in state.items() if key.startswith(f"{name}.")}
