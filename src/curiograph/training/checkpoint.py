"""Checkpoints: the state of a learner, from which an interrupted training resumes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from curiograph.files import hash_chunks
from curiograph.tensors import open_tensors, write_tensors
from curiograph.training.learner import State

_VERSION = "2"


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
