"""Base class of the learning algorithms: walks in progress, optimizer, and a state that can be saved and restored.

Random numbers are a function of (seed, purpose, step, updates): there is no generator state to save, and a restored
learner continues bit for bit.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

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
from curiograph.training.checkpoint import State, check_state
from curiograph.training.config import TrainingSettings
from curiograph.training.replay import Replay

_WALK_FIELDS = {name: name for name in ("nodes", "lengths", "rewards", "streams")} | {"graphs": "graph_of"}
"""Fields of the walks in progress by their names in a checkpoint."""


class Learner(ABC):
    """Trains a network step by step.

    Parameters
    ----------
    settings : settings of the algorithm.
    network : network to train.
    graphs : training graphs.
    reward : reward of the walks.
    seed : seed of all random numbers.
    """

    replay: Replay

    def __init__(
        self, settings: TrainingSettings, network: nn.Module, graphs: list[Graph], reward: Reward, seed: int
    ) -> None:
        self.settings = settings
        self.network = network
        self.seed = seed
        self.step_number = 0
        self.time_share = 0.0
        """Share of the time budget that is used; the trainer sets it."""
        self.updates = 0
        self.optimizer = torch.optim.Adam(network.parameters(), settings.learning_rate, fused=True)
        self.starts = [list_starts(graph, "frontier") for graph in graphs]
        self.exploration = begin(graphs, [s[:1] for s in self.starts], reward, settings.walk_nodes, seed=seed)

    @property
    @abstractmethod
    def agent(self) -> TrainedAgent:
        """Agent with the current weights of the network."""

    @abstractmethod
    def step(self) -> dict[str, float]:
        """Advance the walks, update the network, and return metrics."""

    @property
    def share(self) -> float:
        """Share of the training that is done: of its steps, or of its time budget if that is more."""
        return max(self.step_number / self.settings.train_steps, self.time_share)

    def start_walks(self, graphs: Int64, steps: int) -> Exploration:
        """Return new walks of up to `steps` nodes from random starts, one on each of `graphs` (indices)."""
        count = len(graphs)
        draws = self.draw("start", count)
        first = [self.starts[g][int(u * len(self.starts[g]))] for g, u in zip(graphs, draws, strict=True)]
        nodes = np.full((count, steps), -1, np.int32)
        nodes[:, 0] = first + self.exploration.stack.starts[graphs]
        return replace(
            self.exploration,
            steps=steps,
            graph_of=graphs,
            streams=self._make_streams("walk", count),
            nodes=nodes,
            lengths=np.ones(count, np.int64),
            rewards=np.full((count, steps - 1), np.nan),
        )

    def draw(self, purpose: str, count: int) -> Float64:
        """Draw `count` numbers in [0, 1) for this purpose, step and number of updates."""
        return np.asarray((self._make_streams(purpose, count) >> np.uint64(11)) * 2.0**-53, np.float64)

    def _make_streams(self, purpose: str, count: int) -> NDArray[np.uint64]:
        number = int.from_bytes(purpose.encode()[:7].ljust(7), "big")
        stream = kernels.random.draw_bits(np.uint64(self.seed), np.uint64(number), np.uint64(self.updates))
        streams: NDArray[np.uint64] = kernels.random.make_streams(np.uint64(stream), self.step_number, count)
        return streams

    def minimize(self, loss: Tensor) -> None:
        """Make one optimizer step with cosine learning-rate decay and gradient clipping."""
        s = self.settings
        decay = 0.5 * (1 + math.cos(math.pi * min(1.0, self.share)))
        for group in self.optimizer.param_groups:
            group["lr"] = s.learning_rate * (s.final_rate + (1 - s.final_rate) * decay)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if s.steepest:
            nn.utils.clip_grad_norm_(self.network.parameters(), s.steepest)
        self.optimizer.step()
        self.updates += 1

    def load_weights(self, weights: Weights) -> None:
        """Copy the weights of an agent of the same shape into all networks."""
        for network in self.get_networks().values():
            network.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})

    def get_networks(self) -> dict[str, nn.Module]:
        """Return all networks that belong to the state, by name."""
        return {"network": self.network}

    def get_state(self) -> State:
        """Return everything that the next step depends on."""
        walks = self.exploration
        state: State = {
            "counts": np.array([self.step_number, self.updates, self.replay.added, walks.steps]),
            **{f"walks.{name}": getattr(walks, field) for name, field in _WALK_FIELDS.items()},
        }
        for name, network in self.get_networks().items():
            state |= {f"{name}.{key}": value.numpy() for key, value in network.state_dict().items()}
        for number, entry in self.optimizer.state_dict()["state"].items():
            # The spelling of the key is part of the file format.
            state |= {f"optimiser.{number}.{key}": value.numpy() for key, value in entry.items()}
        filled = len(self.replay)
        return state | {f"replay.{name}": column[:filled] for name, column in self.replay.columns.items()}

    def restore_state(self, state: State) -> None:
        """Restore a state returned by `get_state`; raise ValueError or KeyError if it does not fit this learner."""
        num_nodes = int(self.exploration.stack.starts[-1])
        check_state(state, self.get_state(), self.replay.capacity, len(self.starts), num_nodes)
        self.step_number, self.updates, self.replay.added, steps = (int(n) for n in state["counts"])
        walks: dict[str, Any] = {field: state[f"walks.{name}"] for name, field in _WALK_FIELDS.items()}
        self.exploration = replace(self.exploration, steps=steps, **walks)
        for name, network in self.get_networks().items():
            weights = _select_prefix(state, f"{name}.")
            network.load_state_dict({key: torch.from_numpy(value) for key, value in weights.items()})
        entries: dict[int, dict[str, Tensor]] = {}
        for key, value in _select_prefix(state, "optimiser.").items():
            number, _, name = key.partition(".")
            entries.setdefault(int(number), {})[name] = torch.from_numpy(value).clone()
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": entries})
        for name, column in self.replay.columns.items():
            column[: len(self.replay)] = state[f"replay.{name}"]


def _select_prefix(state: State, prefix: str) -> State:
    """Return the arrays whose names start with `prefix`, by the rest of their names."""
    return {key.removeprefix(prefix): value for key, value in state.items() if key.startswith(prefix)}
