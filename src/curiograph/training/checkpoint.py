"""Where a training run stands, as one file that is replaced whole: arrays as safetensors, a few facts in its header."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from curiograph.errors import FileFormatError
from curiograph.files import open_atomic
from curiograph.messages import shorten_text
from curiograph.training.restoring import State

_FACTS: dict[str, tuple[type, ...]] = {
    "finished": (bool,),
    "best": (int, float),
    "best_step": (int,),
    "stale": (int,),
    "seconds": (int, float),
}
"""Where a run stood, apart from its arrays."""


def save_checkpoint(path: Path, state: State, facts: dict[str, Any]) -> None:
    """Replace the checkpoint at `path`; a process killed on the way leaves the one before."""
    from safetensors.numpy import save

    arrays = {name: np.asarray(array, order="C") for name, array in state.items()}
    known = facts | {"sha256": _digest(arrays)}
    with open_atomic(path) as stream:
        stream.write(save(arrays, metadata={"curiograph": json.dumps(known)}))


def load_checkpoint(path: Path) -> tuple[State, dict[str, Any]]:
    """The arrays and facts of a checkpoint."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="numpy") as file:
            facts = json.loads((file.metadata() or {})["curiograph"])
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
            _check(arrays, facts)
            return arrays, facts
    except (SafetensorError, OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise make_checkpoint_error(path, error) from None


def make_checkpoint_error(path: Path, error: Exception) -> FileFormatError:
    """What is wrong with a checkpoint, and the way out."""
    return FileFormatError(
        f"{path}: is not a usable checkpoint ({shorten_text(error, 120)}); delete it to train from the start."
    )


def _check(arrays: State, facts: Any) -> None:
    """Raise ValueError for facts that are not those of a checkpoint, and for arrays that have changed since."""
    if not isinstance(facts, dict) or not all(_fits(facts.get(name), kinds) for name, kinds in _FACTS.items()):
        raise ValueError("its header does not say where the training stood")
    if facts.pop("sha256", None) not in (None, _digest(arrays)):  # older ones have none
        raise ValueError("it is damaged: its checksum does not match")


def _fits(value: Any, kinds: tuple[type, ...]) -> bool:
    return isinstance(value, kinds) and isinstance(value, bool) == (bool in kinds)


def _digest(arrays: State) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(array.data)
    return digest.hexdigest()
