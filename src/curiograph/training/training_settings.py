"""Training settings and their presets."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from curiograph.errors import SettingError, UnknownNameError
from curiograph.validation import check_integer, is_number


@dataclass(frozen=True)
class TrainingSettings:
    """Settings of a training; what else distinguishes the presets is in the classes of the learners."""

    train_steps: int = 12_000
    """Number of training steps. A step of `gnn` advances the walks on all training graphs by one node and makes one
    gradient update; a step of `planner` evaluates 64 walks by beam search and makes 40 updates."""
    walk_nodes: int = 10
    """Nodes of a training walk, the start included."""
    learning_rate: float = 1e-3
    """Initial learning rate of Adam."""
    batch: int = 128
    """Transitions (`gnn`) or states (`planner`) per update."""
    buffer: int = 50_000
    """Capacity of the replay buffer, in transitions or states."""
    warmup: int = 40
    """Steps before the first update."""
    validate_every: int = 250
    """Steps between validations, at most a third of the training; the best agent is kept."""
    validation_walks: int = 20
    """Walks per validation graph."""
    discount: float = 0.9
    """Discount factor of future rewards; for `gnn` only."""
    beam: int = 32
    """Width of the beam search whose returns are learned, half of it once the planner searches; for `planner` only."""
    far_nodes: int = 10
    """Maximum length of training walks, if it is above `walk_nodes`; for `planner` only."""
    far_share: float = 0.5
    """Share of the steps with walks of other lengths, from 5 to `far_nodes` nodes; for `planner` only."""


PRESETS = {
    "gnn": {
        "best": TrainingSettings(),
        "paper": TrainingSettings(
            train_steps=50_000, validate_every=1000, learning_rate=3e-4, batch=32, warmup=320, discount=0.75
        ),
    },
    "planner": {
        "best": TrainingSettings(
            train_steps=400, validate_every=50, learning_rate=3e-3, batch=64, buffer=40_000, warmup=10
        )
    },
}
"""Settings by agent and preset; "paper" is close to the published code."""

_MAX_INTEGER = 10**7
_MINIMA = {"warmup": 0, "walk_nodes": 2, "far_nodes": 2}


def make_settings(agent: str, preset: str, changes: dict[str, Any]) -> TrainingSettings:
    """Return the settings of a preset with validated changes.

    >>> make_settings("gnn", "paper", {"train_steps": 10}).discount
    0.75
    >>> make_settings("gnn", "best", {"discout": 1})
    Traceback (most recent call last):
    curiograph.errors.SettingError: there is no setting 'discout'; the settings are train_steps, ...
    """
    if agent not in tuple(PRESETS):
        raise UnknownNameError(f"cannot train an agent {agent!r}; the trainable agents are {', '.join(PRESETS)}.")
    if preset not in tuple(PRESETS[agent]):
        raise UnknownNameError(f"{agent} has no preset {preset!r}; its presets are {', '.join(PRESETS[agent])}.")
    defaults, checked = asdict(PRESETS[agent][preset]), dict[str, Any]()
    for name, value in changes.items():
        if name not in defaults:
            raise SettingError(f"there is no setting {name!r}; the settings are {', '.join(defaults)}.")
        if isinstance(defaults[name], int):
            least = _MINIMA.get(name, 1)
            meaning = f"give a whole number from {least} to {_MAX_INTEGER:,}"
            checked[name] = check_integer(name, value, least, meaning, _MAX_INTEGER)
        elif is_number(value) and 0 <= value <= (1_000_000 if name == "learning_rate" else 1):
            checked[name] = float(value)
        else:
            raise SettingError(f"{name} is {value!r}; give a number from 0 to 1.")
    if agent == "planner" and checked.get("walk_nodes", 3) < 3:
        raise SettingError(f"walk_nodes is {checked['walk_nodes']}; to learn what follows a step, give 3 or more.")
    return replace(PRESETS[agent][preset], **checked)
