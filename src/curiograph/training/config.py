"""Everything that can be set when an agent is trained, and the named presets."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from curiograph.agents.gnn import GnnShape
from curiograph.agents.horizon import HorizonShape
from curiograph.agents.pretrained import SHAPE_LIMITS
from curiograph.errors import SettingError, UnknownNameError
from curiograph.validation import check_integer


@dataclass(frozen=True)
class TrainingSettings:
    """What every way of learning has in common."""

    train_steps: int
    """Steps of training."""
    walk_nodes: int = 10
    """Nodes of a training walk."""
    learning_rate: float = 1e-3
    final_rate: float = 1.0
    """Share of the learning rate that is left at the end; it falls along half a cosine."""
    steepest: float = 10.0
    """Longest gradient that is followed as it is, longer ones are cut; 0 follows any."""
    validate_every: int = 250
    """Steps between two validations; the best model by validation return is kept."""
    patience: int = 0
    """Stop after this many validations without a better one; 0 trains to the end."""
    validation_walks: int = 20
    """Walks per validation graph."""

    @property
    def replay_bytes(self) -> int:
        """What the replay buffer takes, about."""
        return 0


@dataclass(frozen=True)
class DqnSettings(TrainingSettings):
    """Deep Q-learning of `gnn`. A step: all training graphs advance one node, then `updates` updates."""

    train_steps: int = 12_000
    learning_rate: float = 1e-3
    final_rate: float = 0.02
    shape: GnnShape = field(default_factory=lambda: GnnShape(True, True, True, "sum"))
    discount: float = 0.9
    loss: Literal["mse", "huber"] = "huber"
    scale_returns: bool = True
    """Learn returns in units of their spread during the warm-up."""
    double: bool = False
    """The online network picks the next node, the target network values it."""
    returns: int = 9
    """Rewards counted before the network's own estimate takes over."""
    batch: int = 128
    """Transitions per update."""
    updates: int = 1
    """Updates per step."""
    buffer: int = 50_000
    """Transitions kept."""
    warmup: int = 40
    """Steps before the first update."""
    target_every: int = 100
    """Updates between two copies into the target network."""
    epsilon_first: float = 1.0
    epsilon_last: float = 0.05
    epsilon_steps: float = 0.5
    """Share of the training over which epsilon falls, linearly."""
    act_with: Literal["online", "target"] = "online"
    """The network that walks, and that is kept."""

    @property
    def replay_bytes(self) -> int:
        return self.buffer * (4 * self.walk_nodes + 24)

    @classmethod
    def paper(cls) -> DqnSettings:
        """The published setting."""
        return cls(
            train_steps=50_000, validate_every=1000, learning_rate=3e-4, final_rate=1.0, steepest=0.0, shape=GnnShape(),
            discount=0.75, loss="mse", scale_returns=False, double=False, returns=1, batch=32, updates=1,
            buffer=50_000, warmup=320, target_every=16, epsilon_first=1.0, epsilon_last=0.1, epsilon_steps=1.0,
            act_with="target",
        )  # fmt: skip


@dataclass(frozen=True)
class ExpertIterationSettings(TrainingSettings):
    """Learning of `horizon` from the planner. A step: `walks` walks advance one node, the planner values all their
    candidates, then `updates` updates."""

    train_steps: int = 4_000
    learning_rate: float = 1e-3
    final_rate: float = 0.02
    shape: HorizonShape = field(default_factory=HorizonShape)
    walks: int = 16
    """Walks that advance together, each on a training graph drawn for it."""
    beam: int = 32
    """Width of the planner's beam for each candidate, five or six rewards before the end: four times as wide earlier,
    where it is easily misled, a quarter later."""
    options: int = 32
    """Most candidates of a walk that are valued; of more, some at random."""
    far_every: int = 4
    """Every so many steps, long walks instead: the planner values states beyond `walk_nodes` nodes; 0 for never."""
    far_walks: int = 4
    far_nodes: int = 50
    """Nodes of the longest of them."""
    far_weight: float = 1.0
    """Weight of these states in the loss; their candidates differ less than those of short walks."""
    batch: int = 128
    """States per update."""
    updates: int = 2
    """Updates per step."""
    buffer: int = 60_000
    """States kept."""
    warmup: int = 40
    """Steps before the first update."""
    chance: float = 0.25
    """Share of steps taken at random,"""
    follow: float = 0.2
    """and of those that follow the planner; the others follow the agent as it is."""
    level: float = 0.1
    """Weight of the mean over a walk's candidates in the loss, against their differences."""

    @property
    def replay_bytes(self) -> int:
        return self.buffer * (4 * max(self.walk_nodes, self.far_nodes) + 8 * self.options + 24)


def make_settings(agent: str, preset: str, changes: dict[str, Any]) -> TrainingSettings:
    """The settings of a preset with some changed, checked.

    >>> make_settings("gnn", "paper", {"train_steps": 10}).discount
    0.75
    >>> make_settings("gnn", "best", {"discout": 1})
    Traceback (most recent call last):
    curiograph.errors.SettingError: there is no setting 'discout' of gnn; the settings are train_steps, ...
    """
    presets: dict[tuple[str, str], Any] = {
        ("gnn", "best"): DqnSettings, ("gnn", "paper"): DqnSettings.paper, ("horizon", "best"): ExpertIterationSettings,
    }  # fmt: skip
    if agent not in ("gnn", "horizon"):
        raise UnknownNameError(f"cannot train an agent {agent!r}; those that learn are gnn and horizon.")
    if (agent, preset) not in presets:
        its = ", ".join(p for a, p in presets if a == agent)
        raise UnknownNameError(f"{agent} has no preset {preset!r}; its presets are {its}.")
    base = presets[agent, preset]()
    known = {field.name: getattr(base, field.name) for field in fields(base) if field.name != "shape"}
    shape = {field.name: getattr(base.shape, field.name) for field in fields(base.shape)}
    changes = dict(changes)
    for name, value in list(changes.items()):
        if name not in known and name not in shape:
            raise SettingError(f"there is no setting {name!r} of {agent}; the settings are {', '.join(known | shape)}.")
        changes[name] = _checked(name, value, (known | shape)[name])
    base = replace(base, **{name: value for name, value in changes.items() if name in known})
    inner = {name: value for name, value in changes.items() if name in shape and name not in known}
    settings: TrainingSettings = replace(base, shape=replace(base.shape, **inner))
    return settings


_ZERO = ("patience", "far_every", "warmup")
_SHARES = ("discount", "final_rate", "epsilon_first", "epsilon_last", "epsilon_steps", "chance", "follow", "level")
_CHOICES = {"loss": ("mse", "huber"), "act_with": ("online", "target"), "aggregation": ("mean", "sum")}


def _checked(name: str, value: Any, example: Any) -> Any:
    if isinstance(example, bool):
        if not isinstance(value, bool):
            raise SettingError(f"{name} is {value!r}; give True or False.")
    elif isinstance(example, int):
        least = 0 if name in _ZERO else 2 if name in ("walk_nodes", "far_nodes") else 1
        most = SHAPE_LIMITS.get(name, 10**7)
        return check_integer(name, value, least, f"give a whole number from {least} to {most}", most)
    elif isinstance(example, float):
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        largest = 1 if name in _SHARES else 1_000_000
        if not number or not 0 <= value <= largest:
            raise SettingError(f"{name} is {value!r}; give a number from 0 to {largest:,}.")
    elif isinstance(example, str) and value not in _CHOICES[name]:
        raise SettingError(f"{name} is {value!r}; the choices are {', '.join(_CHOICES[name])}.")
    return value
