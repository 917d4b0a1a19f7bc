"""Where a training run stands, as one file that is replaced whole: arrays as safetensors, a few facts in its header."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from curiograph.errors import FileFormatError
from curiograph.graph.storage import replacing, shortened
from curiograph.training.learner import State


def save_checkpoint(path: Path, state: State, facts: dict[str, Any]) -> None:
    """Replace the checkpoint at `path`; a process killed on the way leaves the one before."""
    from safetensors.numpy import save

    arrays = {name: np.asarray(array, order="C") for name, array in state.items()}
    with replacing(path) as stream:
        stream.write(save(arrays, metadata={"curiograph": json.dumps(facts)}))


def load_checkpoint(path: Path) -> tuple[State, dict[str, Any]]:
    """The arrays and facts of a checkpoint."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="numpy") as file:
            facts = json.loads((file.metadata() or {})["curiograph"])
            return {name: file.get_tensor(name) for name in file.keys()}, facts  # noqa: SIM118 - not a dict
    except (SafetensorError, OSError, ValueError, KeyError) as error:
        raise FileFormatError(
            f"{path}: is not a usable checkpoint ({shortened(error, 120)}); delete it to train from the start."
        ) from None
