"""Files of a training run: the description that identifies it, and the checkpoint from which it resumes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.agents.pretrained import TrainedAgent, load_agent
from curiograph.errors import FileFormatError, SettingError
from curiograph.graph.splits import Split
from curiograph.hashing import hash_chunks
from curiograph.messages import quote_value
from curiograph.parallel.fingerprint import fingerprint
from curiograph.rewards.base import Reward
from curiograph.tensors import open_tensors, write_tensors
from curiograph.training.config import TrainingSettings, describe_settings

RUN_FILE = "run.json"

CHECKPOINT_FIX = "delete it to train from the start"

State = dict[str, NDArray[Any]]
"""Arrays of a learner's state by name."""

_PROGRESS_TYPES: dict[str, tuple[type, ...]] = {
    "finished": (bool,),
    "best": (int, float),
    "best_step": (int,),
    "stale": (int,),
    "seconds": (int, float),
}


@dataclass(frozen=True, eq=False)
class InitialAgent:
    """A trained agent whose weights a training starts from."""

    source: str
    """Name or path as given; a path may not exist on other machines."""
    agent: TrainedAgent


def as_initial_agent(start: str | Path | InitialAgent | None) -> InitialAgent | None:
    """Load the agent that a name or path refers to, if any."""
    return start if start is None or isinstance(start, InitialAgent) else InitialAgent(str(start), load_agent(start))


# ---- description of a run -------------------------------------------------------------------------------------------


def describe_run(
    graphs: Split, reward: Reward, agent: str, settings: TrainingSettings, seed: int, start: InitialAgent | None
) -> dict[str, Any]:
    """Return everything that determines the result of a training, as plain JSON values."""
    graph_bytes = (
        graph.indptr.tobytes()
        + graph.indices.tobytes()
        + (b"directed" if graph.directed else b"")
        + (b"" if graph.weights is None else graph.weights.tobytes())
        for graph in [*graphs.train, *graphs.val]
    )
    description = {
        "agent": agent,
        "reward": reward.name,
        "seed": seed,
        "start": None,
        "graphs": {"train": len(graphs.train), "val": len(graphs.val), "sha256": hash_chunks(graph_bytes)},
        "settings": describe_settings(settings),
    }
    if start is not None:
        weight_bytes = (name.encode() + array.tobytes() for name, array in start.agent.network.items())
        description["start"] = f"{start.source}, sha256 {hash_chunks(weight_bytes)}"
    if getattr(reward, "fingerprint", None) is not None:  # built-in rewards and older runs have none
        description["fingerprint"] = fingerprint("reward", reward)
    plain: dict[str, Any] = json.loads(json.dumps(description))
    return plain


def check_run_folder(out: Path, description: Mapping[str, Any]) -> None:
    """Raise SettingError if a folder holds a training with a different description."""
    if not (out / RUN_FILE).is_file():
        return
    found = read_run_file(out / RUN_FILE)
    if found == description:
        return
    old, new = _flatten_settings(found), _flatten_settings(description)
    name = next((name for name in (*new, *old) if old.get(name, ...) != new.get(name, ...)), "origin")
    if name == "graphs":
        difference = "its graphs are not those requested"
    else:
        difference = f"its {name} is {quote_value(old.get(name))}, not {quote_value(new.get(name))}"
    raise SettingError(f"{out} holds another training: {difference}; choose another folder or delete it.")


def read_run_file(path: Path) -> Any:
    """Read the description of a training from its folder."""
    try:
        return json.loads(path.read_text())
    except (ValueError, OSError, RecursionError):
        raise FileFormatError(f"{path}: was not written by a training; choose another folder or delete it.") from None


def _flatten_settings(description: Any) -> dict[str, Any]:
    """Return the entries of a description with its settings, and those of the agent's shape, on the same level.

    >>> _flatten_settings({"seed": 0, "settings": {"batch": 8, "shape": {"width": 4}}})
    {'seed': 0, 'batch': 8, 'width': 4}
    """
    if not isinstance(description, dict):
        return {"origin": description}
    for inner in ("settings", "shape"):
        if isinstance(description.get(inner), dict):
            description = {name: value for name, value in description.items() if name != inner} | description[inner]
    return dict(description)


# ---- checkpoints ----------------------------------------------------------------------------------------------------


def save_checkpoint(path: Path, state: State, progress: dict[str, Any]) -> None:
    """Write a checkpoint atomically: arrays as safetensors, with `progress` in the header."""
    header = progress | {"sha256": _hash_arrays(state)}
    write_tensors(path, state, {"curiograph": json.dumps(header)})


def load_checkpoint(path: Path) -> tuple[State, dict[str, Any]]:
    """Read the arrays and the progress of a checkpoint; raise FileFormatError if it is damaged."""
    with open_tensors(path, "checkpoint", CHECKPOINT_FIX) as file:
        progress = json.loads(file.metadata["curiograph"])
        arrays = file.read_all()
        if not isinstance(progress, dict):
            raise ValueError("its header is not a JSON object")
        for name, types in _PROGRESS_TYPES.items():
            value = progress.get(name)
            if not isinstance(value, types) or isinstance(value, bool) != (bool in types):
                raise ValueError(f"its header has no valid {name}")
        if progress.pop("sha256", None) not in (None, _hash_arrays(arrays)):  # older checkpoints have no checksum
            raise ValueError("it is damaged: its checksum does not match")
    return arrays, progress


def check_state(state: State, expected: State, capacity: int, num_graphs: int, num_nodes: int) -> None:
    """Raise ValueError or KeyError if a state does not fit a learner: kernels do not check bounds.

    Parameters
    ----------
    state : state to check.
    expected : current state of the learner, which gives types and shapes.
    capacity : capacity of the replay buffer.
    num_graphs, num_nodes : number of training graphs, and of nodes of all of them.
    """
    for name, array in expected.items():
        first = 1 if name.startswith("replay.") else 0  # the number of replayed rows may differ
        if state[name].dtype != array.dtype or state[name].shape[first:] != array.shape[first:]:
            raise ValueError(f"its {name} is {state[name].dtype} {state[name].shape}")
    *counts, steps = state["counts"].tolist()
    if min(counts) < 0 or steps != expected["counts"][-1]:
        raise ValueError(f"its counts are {counts}, with {steps} steps per walk")
    rows = {len(state[name]) for name in expected if name.startswith("replay.")}
    if rows != {min(counts[-1], capacity)}:
        raise ValueError(f"it holds {sorted(rows)} replayed rows of {counts[-1]}")
    longest = expected["replay.nodes" if "replay.nodes" in expected else "walks.nodes"].shape[1]
    options = next((expected[name] for name in ("replay.options", "replay.slopes") if name in expected), None)
    bounds = {
        "walks.lengths": (1, longest),
        "walks.graphs": (0, num_graphs - 1),
        "replay.length": (1, longest),
        "replay.counted": (1, longest),
        "replay.ahead": (0, longest),
        "replay.count": (0, 0 if options is None else options.shape[1]),
        "replay.options": (0, num_nodes - 1),
    }
    for name, (least, most) in bounds.items():
        if name in expected and np.any((state[name] < least) | (state[name] > most)):
            raise ValueError(f"its {name} is not from {least} to {most}")
    all_walks = [(state["walks.nodes"], state["walks.lengths"])]
    if "replay.nodes" in expected:
        all_walks.append((state["replay.nodes"], state.get("replay.counted", state["replay.length"])))
    for walks, lengths in all_walks:
        visited = np.arange(walks.shape[1]) < lengths[:, None]
        if np.any(visited & ((walks < 0) | (walks >= num_nodes))):
            raise ValueError("its walks visit nodes that the graphs do not have")


def _hash_arrays(arrays: State) -> str:
    ordered = [(name, np.ascontiguousarray(arrays[name])) for name in sorted(arrays)]
    return hash_chunks(chunk for name, a in ordered for chunk in (f"{name} {a.dtype} {a.shape}", a.data))
