"""Base class of the learning algorithms: walks in progress, replay buffer, optimizer, and a state to save and restore.

Random numbers are a function of (seed, purpose, step, updates): there is no generator state to save, and a restored
learner continues bit for bit.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from curiograph import kernels
from curiograph.agents.layers import Weights
from curiograph.agents.pretrained import TrainedAgent
from curiograph.arrays import Float64, Int64
from curiograph.exploration.mdp import WALK_FIELDS, Exploration, begin, list_starts
from curiograph.files import hash_chunks
from curiograph.graph.graph import Graph
from curiograph.rewards.reward import Reward
from curiograph.tensors import open_tensors, write_tensors
from curiograph.training.training_settings import TrainingSettings

State = dict[str, NDArray[Any]]
"""Arrays by name."""

_VERSION = "2"  # of checkpoints


class Replay:
    """A ring buffer of rows with named columns; when it is full, new rows overwrite the oldest.

    >>> replay = Replay(3, value=((), np.float32))
    >>> for number in range(4):
    ...     replay.add(value=np.array([number], np.float32))
    >>> replay.columns["value"].tolist(), len(replay)
    ([3.0, 1.0, 2.0], 3)
    """

    def __init__(self, capacity: int, **columns: tuple[tuple[int, ...], Any]) -> None:
        self.capacity = capacity
        self.added = 0
        self.columns: State = {name: np.zeros((capacity, *shape), dtype) for name, (shape, dtype) in columns.items()}

    def __len__(self) -> int:
        return min(self.added, self.capacity)

    def add(self, **rows: NDArray[Any]) -> None:
        """Append rows, at most `capacity` of them."""
        count = len(next(iter(rows.values())))
        places = (self.added + np.arange(count)) % self.capacity
        for name, column in self.columns.items():
            column[places] = rows[name]
        self.added += count

    def rows(self, places: NDArray[Any]) -> State:
        """Return the rows at some places."""
        return {name: column[places] for name, column in self.columns.items()}


class Learner(ABC):
    """Trains a network step by step."""

    final_rate = 0.02
    """Final learning rate as a share of the initial one, reached by cosine decay."""
    max_norm = 10.0
    """Maximum gradient norm; 0 disables clipping."""
    replay: Replay

    def __init__(
        self, settings: TrainingSettings, network: nn.Module, graphs: list[Graph], reward: Reward, seed: int
    ) -> None:
        self.settings = settings
        self.network = network
        self.seed = seed
        self.step_number = 0
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
        decay = 0.5 * (1 + math.cos(math.pi * min(1.0, self.step_number / self.settings.train_steps)))
        for group in self.optimizer.param_groups:
            group["lr"] = self.settings.learning_rate * (self.final_rate + (1 - self.final_rate) * decay)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if self.max_norm:
            nn.utils.clip_grad_norm_(self.network.parameters(), self.max_norm)
        self.optimizer.step()
        self.updates += 1

    # ---- state ----------------------------------------------------------------------------------------------------

    def get_networks(self) -> dict[str, nn.Module]:
        """Return all networks that belong to the state, by name."""
        return {"network": self.network}

    def load_weights(self, weights: Weights) -> None:
        """Copy the weights of an agent of the same shape into all networks."""
        for network in self.get_networks().values():
            network.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})

    def get_state(self) -> State:
        """Return everything that the next step depends on."""
        walks, filled = self.exploration, len(self.replay)
        state: State = {"counts": np.array([self.step_number, self.updates, self.replay.added, walks.steps])}
        state |= {f"walks.{name}": getattr(walks, name) for name in WALK_FIELDS}
        state |= {f"replay.{name}": column[:filled] for name, column in self.replay.columns.items()}
        for name, network in self.get_networks().items():
            state |= {f"{name}.{key}": value.numpy() for key, value in network.state_dict().items()}
        for number, entry in self.optimizer.state_dict()["state"].items():
            state |= {f"optimizer.{number}.{key}": value.numpy() for key, value in entry.items()}
        return state

    def restore_state(self, state: State) -> None:
        """Restore a state returned by `get_state`."""
        self.step_number, self.updates, self.replay.added, steps = (int(n) for n in state["counts"])
        walks: dict[str, Any] = {name: state[f"walks.{name}"] for name in WALK_FIELDS}
        self.exploration = replace(self.exploration, steps=steps, **walks)
        for name, column in self.replay.columns.items():
            column[: len(self.replay)] = state[f"replay.{name}"]
        for name, network in self.get_networks().items():
            network.load_state_dict({key: torch.from_numpy(state[f"{name}.{key}"]) for key in network.state_dict()})
        entries: dict[int, dict[str, Tensor]] = {}
        for key, value in state.items():
            if key.startswith("optimizer."):
                _, number, name = key.split(".")
                entries.setdefault(int(number), {})[name] = torch.from_numpy(value).clone()
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": entries})


def view_weights(network: nn.Module) -> Weights:
    """Return the weights of a network as arrays that share its memory."""
    return {name: tensor.detach().numpy() for name, tensor in network.state_dict().items()}


def save_checkpoint(path: Path, state: State) -> None:
    """Write the arrays of a state atomically, with a checksum."""
    write_tensors(path, state, {"version": _VERSION, "sha256": _hash_arrays(state)})


def load_checkpoint(path: Path) -> State:
    """Read the arrays of a state; raise FileFormatError if the file is damaged or of another version."""
    with open_tensors(path, "checkpoint", "delete it to train from the start") as file:
        state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
        metadata = file.metadata()
        if metadata.get("version") != _VERSION:
            raise ValueError(f"its version is {metadata.get('version')}, not {_VERSION}")
        if metadata["sha256"] != _hash_arrays(state):
            raise ValueError("its checksum does not match")
    return state


def _hash_arrays(arrays: State) -> str:
    ordered = [(name, np.ascontiguousarray(arrays[name])) for name in sorted(arrays)]
    return hash_chunks(chunk for name, a in ordered for chunk in (f"{name} {a.dtype} {a.shape}", a.data))
