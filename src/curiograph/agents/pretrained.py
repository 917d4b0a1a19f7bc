"""Save and load trained agents, and find the pretrained agents shipped with curiograph.

An agent is a safetensors file with its weights and, in the header, a model card in JSON. The .json file next to it is a
readable copy of the card.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from curiograph.agents.gnn import GnnAgent, GnnShape
from curiograph.agents.planner import PlannerAgent, PlannerShape
from curiograph.errors import SettingError, UnknownNameError, quote_value
from curiograph.files import open_atomic
from curiograph.tensors import open_tensors, write_tensors

TrainedAgent = GnnAgent | PlannerAgent

AGENT_FILE = "agent.safetensors"
"""File name of the agent in the folder of a training run."""
AGENT_KINDS: dict[str, tuple[type[TrainedAgent], type[Any]]] = {
    "gnn": (GnnAgent, GnnShape),
    "planner": (PlannerAgent, PlannerShape),
}
"""Types of the agent and its shape for each kind of trained agent."""
SHIPPED_FOLDER = Path(__file__).parent / "shipped"
"""Folder of the shipped agents."""
_FORMAT = 1


def shipped_agents() -> list[str]:
    """Return the names of the pretrained agents shipped with curiograph.

    Returns
    -------
    list of str
        Names that `load_agent` and every `agent` argument accept.

    Examples
    --------
    >>> "igt-rg-planner" in shipped_agents()
    True
    """
    return sorted(file.stem for file in SHIPPED_FOLDER.glob("*.safetensors"))


def load_agent(source: str | Path) -> TrainedAgent:
    """Load a trained agent.

    Parameters
    ----------
    source : str or path
        Name of a shipped agent, a .safetensors file, or the folder of a training run.

    Returns
    -------
    GnnAgent or PlannerAgent
        The agent; `card` describes its training.

    Examples
    --------
    >>> load_agent("igt-rg").name
    'igt-rg'
    >>> load_agent("igt-rgg")
    Traceback (most recent call last):
    curiograph.errors.UnknownNameError: there is no shipped agent and no file 'igt-rgg'; ...
    """
    path = find_agent_file(source)
    if path is None:
        raise UnknownNameError(
            f"there is no shipped agent and no file {quote_value(str(source))}; shipped are "
            f"{', '.join(shipped_agents())}."
        )
    with open_tensors(path, "agent", "save it again with this version of curiograph") as file:
        card = json.loads(file.metadata()["curiograph"])
        if card["format"] != _FORMAT:
            raise ValueError(f"its format is {card['format']!r}, not {_FORMAT}")
        agent_type, shape_type = AGENT_KINDS[card["kind"]]
        shape = shape_type(**card["shape"])
        slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118 - not a dict
        found = {name: (each.get_dtype(), tuple(each.get_shape())) for name, each in slices.items()}
        if found != {name: ("F32", size) for name, size in shape.weights().items()}:
            raise ValueError("its weights do not have the shape on its card")
        weights = {name: file.get_tensor(name) for name in shape.weights()}
        if not all(np.all(np.isfinite(array)) for array in weights.values()):
            raise ValueError("its weights are not finite")
    return agent_type(shape, weights, str(card["name"]), card)


def find_agent_file(source: str | Path) -> Path | None:
    """Return the file of a shipped agent, the file at a path, or that in the folder of a training; None if none is."""
    try:
        for path in (SHIPPED_FOLDER / f"{source}.safetensors", Path(source), Path(source) / AGENT_FILE):
            if path.is_file():
                return path
    except (OSError, ValueError, TypeError):  # the name is too long, contains a null byte, or is no name
        pass
    return None


def save_agent(agent: TrainedAgent, path: str | Path, card: Mapping[str, Any] | None = None) -> TrainedAgent:
    """Save a trained agent, with its model card in the header and in a .json file next to it.

    Parameters
    ----------
    agent : GnnAgent or PlannerAgent
        The agent to save.
    path : str or path
        File to write; its name must end in .safetensors.
    card : mapping, optional
        Model card, JSON values only; the agent's own card by default.

    Returns
    -------
    GnnAgent or PlannerAgent
        The agent with the saved card.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     saved = save_agent(load_agent("igt-rg"), f"{folder}/copy.safetensors")
    ...     load_agent(f"{folder}/copy.safetensors").card == saved.card
    True
    """
    if not isinstance(agent, TrainedAgent) or not agent.network:
        raise SettingError(f"cannot save {quote_value(agent)}: it is not a trained agent.")
    if not str(path).endswith(".safetensors"):
        raise SettingError(f"cannot save an agent to {quote_value(path)}: give a file name that ends in .safetensors.")
    kind = next(name for name, (agent_type, _) in AGENT_KINDS.items() if isinstance(agent, agent_type))
    full_card = dict(agent.card if card is None else card)
    full_card |= {"format": _FORMAT, "kind": kind, "shape": asdict(agent.shape), "name": agent.name}
    text = json.dumps(full_card, indent=1)
    weights = {name: np.asarray(array, np.float32) for name, array in agent.network.items()}
    write_tensors(path, weights, {"curiograph": text})
    with open_atomic(Path(path).with_suffix(".json")) as stream:
        stream.write(f"{text}\n".encode())
    saved: TrainedAgent = AGENT_KINDS[kind][0](agent.shape, agent.network, agent.name, full_card)  # type: ignore[arg-type]
    return saved
