"""Save and load trained agents, and find the pretrained agents shipped with curiograph.

An agent is a safetensors file with its weights and, in the header, a model card in JSON. The .json file next to it is a
readable copy of the card.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, cast

import numpy as np

from curiograph.agents.base import Agent
from curiograph.agents.beam import BeamAgent
from curiograph.agents.gnn import GnnAgent, GnnShape
from curiograph.agents.horizon import HorizonAgent, HorizonShape
from curiograph.agents.layers import Weights
from curiograph.agents.planner import DEFAULT_WIDTH, PlannerAgent, PlannerShape, SummedValues, ValueBeam, check_width
from curiograph.arrays import Float64
from curiograph.errors import AgentError, CuriographError, FileFormatError, SettingError, UnknownNameError
from curiograph.exploration.mdp import Exploration
from curiograph.files import open_atomic
from curiograph.messages import quote_value, shorten_text
from curiograph.rewards.base import Reward
from curiograph.rewards.combined import list_terms
from curiograph.rewards.registry import REWARDS
from curiograph.tensors import open_tensors, write_tensors
from curiograph.validation import is_integer

TrainedAgent = GnnAgent | HorizonAgent | PlannerAgent

AGENT_FILE = "agent.safetensors"
"""File name of the agent in the folder of a training run."""
SHAPE_LIMITS = {
    **dict.fromkeys(("layers", "hops"), 64),
    **dict.fromkeys(("width", "nodes", "fan", "lookahead", "near", "far_lookahead"), 4096),
}
"""Largest values of the integers in a shape, so that no file makes us allocate or read too much."""

_FORMAT = 1
AGENT_KINDS: dict[str, tuple[type[TrainedAgent], type[Any]]] = {
    "gnn": (GnnAgent, GnnShape),
    "horizon": (HorizonAgent, HorizonShape),
    "planner": (PlannerAgent, PlannerShape),
}
"""Types of the agent and its shape for each kind of trained agent."""
_SUFFIX = ".safetensors"


def shipped_agents() -> list[str]:
    """Return the names of the pretrained agents shipped with curiograph.

    Returns
    -------
    list of str
        Names that `load_agent` and every `agent` argument accept.

    Examples
    --------
    >>> "igt-rg-horizon" in shipped_agents()
    True
    """
    files = _get_shipped_folder().iterdir()
    return sorted(file.name.removesuffix(_SUFFIX) for file in files if file.name.endswith(_SUFFIX))


def _get_shipped_folder() -> Any:
    return resources.files("curiograph.agents") / "shipped"


def load_agent(source: str | Path) -> TrainedAgent:
    """Load a trained agent.

    Parameters
    ----------
    source : str or path
        Name of a shipped agent, a .safetensors file, or the folder of a training run.

    Returns
    -------
    GnnAgent, HorizonAgent or PlannerAgent
        The agent; `card` describes its training.

    Examples
    --------
    >>> load_agent("igt-rg").name
    'igt-rg'
    >>> load_agent("igt-rgg")
    Traceback (most recent call last):
    curiograph.errors.UnknownNameError: there is no shipped agent and no file 'igt-rgg'; ...
    """
    if not isinstance(source, (str, Path)):
        raise SettingError(f"an agent is loaded from a name or a path, not from {quote_value(source)}.")
    if isinstance(source, str) and source in shipped_agents():
        with resources.as_file(_get_shipped_folder() / f"{source}{_SUFFIX}") as file:
            return read_agent(file)
    path = find_agent_file(source)
    if path is None:
        raise UnknownNameError(
            f"there is no shipped agent and no file {str(source)!r}; shipped are {', '.join(shipped_agents())}."
        )
    return read_agent(path)


def find_agent_file(source: str | Path) -> Path | None:
    """Return the file at a path, or the agent in the folder of a training run; None if there is none."""
    path = Path(source)
    try:
        path = path / AGENT_FILE if path.is_dir() else path
        return path if path.is_file() else None
    except (OSError, ValueError):  # the name is too long or contains a null byte
        return None


def read_agent(path: Path) -> TrainedAgent:
    """Read an agent from a file, and check its card, the shapes of its weights and their values."""
    with open_tensors(path, "safetensors file", "an agent is saved by curiograph train") as file:
        kind, shape, card = _parse_card(path, file.metadata.get("curiograph"))
        shapes = shape.weights()
        if file.names != set(shapes):
            name = min(file.names ^ set(shapes))
            problem = "lacks" if name in shapes else "has an unknown"
            raise FileFormatError(
                f"{path}: is not a whole {kind} agent: it {problem} array {shorten_text(name, 60)!r}."
            )
        weights = {}
        for name, expected in shapes.items():
            if file.get_type(name) != ("F32", expected):
                dtype, found = file.get_type(name)
                raise FileFormatError(f"{path}: array {name!r} is {dtype} {found}; its card asks for F32 {expected}.")
            weights[name] = file.read(name)
            if not np.all(np.isfinite(weights[name])):
                raise FileFormatError(f"{path}: array {name!r} holds numbers that are not finite.")
    agent_type = AGENT_KINDS[kind][0]
    return agent_type(shape, weights, str(card.get("name") or path.stem), card)


def _parse_card(path: Path, text: str | None) -> tuple[str, Any, dict[str, Any]]:
    """Return the kind, the shape and the card of an agent from the header of its file."""
    if text is None:
        raise FileFormatError(f"{path}: is a safetensors file, but not of a curiograph agent: its header has no card.")
    try:
        card = json.loads(text)
        kind, settings = card["kind"], card["shape"]
        if card["format"] != _FORMAT:
            raise FileFormatError(
                f"{path}: is an agent of format {quote_value(card['format'])}; this version reads format {_FORMAT}."
            )
        shape_type = AGENT_KINDS[kind][1]
        shape = shape_type(**settings)
    except CuriographError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FileFormatError(
            f"{path}: its card cannot be read ({type(error).__name__}: {shorten_text(error, 80)})."
        ) from None
    for field in fields(shape_type):
        value, default = getattr(shape, field.name), getattr(shape_type(), field.name)
        if isinstance(default, bool):
            valid = isinstance(value, bool)
        elif isinstance(default, int):
            valid = is_integer(value) and 1 <= value <= SHAPE_LIMITS[field.name]
        else:
            valid = value in ("mean", "sum")
        if not valid:
            raise FileFormatError(f"{path}: its card has {field.name} = {quote_value(value)}, which is not supported.")
    return kind, shape, card


def save_agent(agent: TrainedAgent, path: str | Path, card: Mapping[str, Any] | None = None) -> TrainedAgent:
    """Save a trained agent, with its model card in the header and in a .json file next to it.

    Parameters
    ----------
    agent : GnnAgent, HorizonAgent or PlannerAgent
        The agent to save.
    path : str or path
        File to write; its name must end in .safetensors.
    card : mapping, optional
        Model card, JSON values only; the agent's own card by default.

    Returns
    -------
    GnnAgent, HorizonAgent or PlannerAgent
        The agent with the saved card.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     saved = save_agent(load_agent("igt-rg"), f"{folder}/copy.safetensors")
    ...     load_agent(f"{folder}/copy.safetensors").card == saved.card
    True
    """
    if not isinstance(agent, TrainedAgent):
        raise SettingError(f"cannot save {quote_value(agent)}: it is not a trained agent.")
    target = Path(os.fspath(path)) if isinstance(path, (str, os.PathLike)) else Path()
    if target.suffix != _SUFFIX:
        raise SettingError(f"cannot save an agent to {quote_value(path)}: give a file name that ends in {_SUFFIX}.")
    kind = next(name for name, (agent_type, _) in AGENT_KINDS.items() if isinstance(agent, agent_type))
    full_card = dict(agent.card if card is None else card)
    full_card |= {"format": _FORMAT, "kind": kind, "shape": asdict(agent.shape), "name": agent.name}
    try:
        text = json.dumps(full_card, indent=1, ensure_ascii=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise SettingError(f"cannot save agent {agent.name!r}: its card is not plain JSON ({error}).") from None
    weights = {name: np.asarray(array, np.float32) for name, array in agent.network.items()}
    for name, shape in agent.shape.weights().items():
        if name not in weights or weights[name].shape != shape or not np.all(np.isfinite(weights[name])):
            raise SettingError(
                f"cannot save agent {agent.name!r}: its array {name!r} is missing, has another shape or is not finite."
            )
    write_tensors(target, weights, {"curiograph": text})
    with open_atomic(target.with_suffix(".json")) as stream:
        stream.write(f"{text}\n".encode())
    return replace(agent, card=full_card)


def copy_weights(network: Weights) -> Weights:
    """Copy weights, so that later training does not change them."""
    return {name: np.array(array, np.float32) for name, array in network.items()}


class GeneralistAgent(Agent):
    """The agent `horizon`: uses the shipped agent trained on all families for the reward of the exploration."""

    name = "horizon"
    predicts_returns = True

    def scores(self, exploration: Exploration) -> Float64:
        return _load_generalist(exploration.reward.name).scores(exploration)


@cache
def _load_generalist(reward: str) -> TrainedAgent:
    name = f"{reward}-all-horizon"
    if name not in shipped_agents():
        raise AgentError(f"no horizon agent was trained for the reward {reward!r}; train one with curiograph train.")
    return load_agent(name)


@dataclass(frozen=True)
class GeneralistPlanner(Agent):
    """The agent `planner`: uses the shipped values for the reward of the exploration, learned on many kinds of graphs.

    For a sum of rewards, the values of its terms are added. A reward without learned values, such as one of your own,
    is planned for by a plain beam search of the same width.
    """

    width: int = DEFAULT_WIDTH
    """Number of partial walks kept."""

    predicts_returns = True

    def __post_init__(self) -> None:
        check_width(self.width)

    @property
    def name(self) -> str:  # type: ignore[override]
        return "planner" if self.width == DEFAULT_WIDTH else f"planner:{self.width}"

    def scores(self, exploration: Exploration) -> Float64:
        """Predict the return from each candidate on, without search."""
        values = _find_values(exploration.reward)
        return BeamAgent(1).scores(exploration) if values is None else values.scores(exploration)

    def run(self, exploration: Exploration) -> Exploration:
        """Plan every walk once, to its end."""
        values = _find_values(exploration.reward)
        search = BeamAgent(self.width) if values is None else ValueBeam(self.width, values=values)
        return search.run(exploration)

    def with_width(self, width: int) -> GeneralistPlanner:
        """Return the planner with another beam width."""
        return GeneralistPlanner(width)


def _find_values(reward: Reward) -> Any:
    """Return the shipped values for a reward or for the terms of a sum; None if there are none."""
    terms = list_terms(reward)
    # values are those of our own igt and cpt, not of a reward of the same name
    planners = [_load_planner(term.name) if REWARDS.get(term.name) == term else None for _, term in terms]
    if not any(planners):
        return None
    if len(terms) == 1 and terms[0][0] == 1:
        return planners[0]
    return SummedValues([(weight, term, planner) for (weight, term), planner in zip(terms, planners, strict=True)])


@cache
def _load_planner(reward: str) -> PlannerAgent | None:
    name = f"{reward}-all-planner"
    return cast(PlannerAgent, load_agent(name)) if name in shipped_agents() else None
