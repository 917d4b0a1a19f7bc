"""Trained agents as files: weights as safetensors, and a card that says what they are. Nothing is ever unpickled.

The card travels in the header of the weights; the .json file beside them is a copy for people.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from curiograph.agents.gnn import GnnAgent, GnnShape
from curiograph.agents.horizon import HorizonAgent, HorizonShape
from curiograph.agents.layers import Weights
from curiograph.errors import CuriographError, FileFormatError, SettingError, UnknownNameError
from curiograph.files import open_atomic
from curiograph.graph.features import Float32
from curiograph.messages import quote_value, shorten_text

TrainedAgent = GnnAgent | HorizonAgent

_FORMAT = 1
_KINDS: dict[str, tuple[type[TrainedAgent], type[Any]]] = {
    "gnn": (GnnAgent, GnnShape),
    "horizon": (HorizonAgent, HorizonShape),
}
_OTHERS = dict.fromkeys(("width", "nodes", "fan", "lookahead", "near", "far_lookahead"), 4096)
SHAPE_LIMITS = {"layers": 64, "hops": 64} | _OTHERS
"""Of the numbers in a shape: no file makes us reserve or read more."""
_SUFFIX = ".safetensors"
AGENT_FILE = f"agent{_SUFFIX}"


def shipped_agents() -> list[str]:
    """Names of the agents that come with curiograph.

    >>> "igt-rg-horizon" in shipped_agents()
    True
    """
    return sorted(entry.name.removesuffix(_SUFFIX) for entry in _shelf().iterdir() if entry.name.endswith(_SUFFIX))


def _shelf() -> Any:
    return resources.files("curiograph.agents") / "shipped"


def load_agent(source: str | Path) -> TrainedAgent:
    """A trained agent: a shipped one by name, a file, or the folder of a training run.

    >>> load_agent("igt-rg").name
    'igt-rg'
    >>> load_agent("igt-rgg")
    Traceback (most recent call last):
    curiograph.errors.UnknownNameError: there is no shipped agent and no file 'igt-rgg'; ...
    """
    if not isinstance(source, (str, Path)):
        raise SettingError(f"an agent is loaded from a name or a path, not from {quote_value(source)}.")
    if isinstance(source, str) and source in shipped_agents():
        with resources.as_file(_shelf() / f"{source}{_SUFFIX}") as file:
            return read_agent(file)
    path = find_agent_file(source)
    if path is None:
        raise UnknownNameError(
            f"there is no shipped agent and no file {str(source)!r}; shipped are {', '.join(shipped_agents())}."
        )
    return read_agent(path)


def find_agent_file(source: str | Path) -> Path | None:
    """The file that a path means: itself, or the agent in a folder of a training run; None if there is none."""
    path = Path(source)
    try:
        path = path / AGENT_FILE if path.is_dir() else path
        return path if path.is_file() else None
    except (OSError, ValueError):  # a name too long, or with a null byte, for any file
        return None


def read_agent(path: Path) -> TrainedAgent:
    """The agent in a file, checked from its header to its last number."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="numpy") as file:
            header = file.metadata() or {}
            kind, shape, card = _card(path, header.get("curiograph"))
            wanted = shape.weights()
            _check_names(path, kind, set(file.keys()), set(wanted))
            weights = {name: _weights(path, file, name, size) for name, size in wanted.items()}
    except (SafetensorError, OSError, UnicodeDecodeError, TypeError) as error:
        reason = shorten_text(error, 120)
        raise FileFormatError(
            f"{path}: is not a usable safetensors file ({reason}); an agent is saved by curiograph train."
        ) from None
    return _KINDS[kind][0](shape, weights, str(card.get("name") or path.stem), card)


def _card(path: Path, text: str | None) -> tuple[str, Any, dict[str, Any]]:
    if text is None:
        raise FileFormatError(
            f"{path}: is a safetensors file, but not of a curiograph agent: its header holds no card."
        )
    try:
        card = json.loads(text)
        kind, given = card["kind"], card["shape"]
        if card["format"] != _FORMAT:
            raise FileFormatError(
                f"{path}: is an agent of format {quote_value(card['format'])}; this version reads format {_FORMAT}."
            )
        shape_type = _KINDS[kind][1]
        shape = shape_type(**given)
    except CuriographError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FileFormatError(
            f"{path}: its card cannot be read ({type(error).__name__}: {shorten_text(error, 80)})."
        ) from None
    for field in fields(shape_type):
        _check_setting(path, field.name, getattr(shape, field.name), getattr(shape_type(), field.name))
    return kind, shape, card


def _check_setting(path: Path, name: str, value: Any, example: Any) -> None:
    if isinstance(example, bool):
        right = isinstance(value, bool)
    elif isinstance(example, int):
        right = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= SHAPE_LIMITS[name]
    else:
        right = value in ("mean", "sum")
    if not right:
        raise FileFormatError(f"{path}: its card says {name} = {quote_value(value)}, which no agent of ours has.")


def _check_names(path: Path, kind: str, found: set[str], wanted: set[str]) -> None:
    if found != wanted:
        odd = sorted(found ^ wanted)[0]
        how = "lacks" if odd in wanted else "has an unknown"
        raise FileFormatError(f"{path}: is not a whole {kind} agent: it {how} array {shorten_text(odd, 60)!r}.")


def _weights(path: Path, file: Any, name: str, wanted: tuple[int, ...]) -> Any:
    piece = file.get_slice(name)
    if tuple(piece.get_shape()) != wanted or piece.get_dtype() != "F32":
        raise FileFormatError(
            f"{path}: array {name!r} is {piece.get_dtype()} {tuple(piece.get_shape())}; its card asks for F32 {wanted}."
        )
    array = file.get_tensor(name)
    if not np.all(np.isfinite(array)):
        raise FileFormatError(f"{path}: array {name!r} holds numbers that are not finite.")
    return array


def save_agent(agent: TrainedAgent, path: str | Path, card: Mapping[str, Any] | None = None) -> TrainedAgent:
    """Write an agent to `path` (.safetensors), with its card in the header and as .json beside it."""
    from safetensors.numpy import save

    if not isinstance(agent, TrainedAgent):
        raise SettingError(f"cannot save {quote_value(agent)}: it is not a trained agent.")
    target = Path(os.fspath(path)) if isinstance(path, (str, os.PathLike)) else Path()
    if target.suffix != _SUFFIX:
        raise SettingError(f"cannot save an agent to {quote_value(path)}: give a file name that ends in {_SUFFIX}.")
    kind = next(name for name, (made, _) in _KINDS.items() if isinstance(agent, made))
    given = dict(agent.card if card is None else card)
    whole = given | {"format": _FORMAT, "kind": kind, "shape": asdict(agent.shape), "name": agent.name}
    try:
        text = json.dumps(whole, indent=1, ensure_ascii=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise SettingError(f"cannot save agent {agent.name!r}: its card is not plain JSON ({error}).") from None
    weights = {name: np.asarray(array, np.float32, order="C") for name, array in agent.network.items()}
    wrong = [name for name, size in agent.shape.weights().items() if not _whole(weights.get(name), size)]
    if wrong:
        raise SettingError(f"cannot save agent {agent.name!r}: its array {wrong[0]!r} is missing, odd or not finite.")
    with open_atomic(target) as stream:
        stream.write(save(weights, metadata={"curiograph": text}))
    with open_atomic(target.with_suffix(".json")) as stream:
        stream.write(f"{text}\n".encode())
    return replace(agent, card=whole)


def _whole(array: Float32 | None, size: tuple[int, ...]) -> bool:
    return array is not None and array.shape == size and bool(np.all(np.isfinite(array)))


def copy_weights(network: Weights) -> Weights:
    """A copy that later training does not change."""
    return {name: np.array(array, np.float32) for name, array in network.items()}
