"""Training settings and their presets."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from curiograph.agents.gnn import GnnShape
from curiograph.agents.horizon import HorizonShape
from curiograph.agents.planner import NUM_FEATURES, PlannerShape
from curiograph.agents.pretrained import SHAPE_LIMITS
from curiograph.errors import SettingError, UnknownNameError
from curiograph.validation import check_integer


@dataclass(frozen=True)
class TrainingSettings:
    """Settings common to all learning algorithms."""

    train_steps: int
    """Number of training steps."""
    walk_nodes: int = 10
    """Nodes of a training walk, the start included."""
    learning_rate: float = 1e-3
    """Initial learning rate of Adam."""
    final_rate: float = 0.02
    """Final learning rate as a share of the initial one, reached by cosine decay."""
    steepest: float = 10.0
    """Maximum gradient norm; 0 disables clipping."""
    validate_every: int = 250
    """Steps between validations; the model with the best validation return is kept."""
    patience: int = 0
    """Validations without improvement before training stops early; 0 disables early stopping."""
    validation_walks: int = 20
    """Walks per validation graph."""
    minutes: float = 0.0
    """Time budget in minutes: training ends then, or after `train_steps` if that is given and comes first; 0 for none.
    Learning rate and epsilon decay over the time budget. How many steps fit depends on the machine, so that the same
    seed does not give the same agent."""

    @property
    def validation_interval(self) -> int:
        """Steps between validations: `validate_every`, or fewer so that a run is validated at least three times."""
        return min(self.validate_every, max(1, self.train_steps // 3))

    @property
    def replay_bytes(self) -> int:
        """Approximate size of the replay buffer in bytes."""
        return 0


@dataclass(frozen=True)
class DqnSettings(TrainingSettings):
    """Settings of deep Q-learning, which trains `gnn`.

    One step advances the walks on all training graphs by one node, then makes `updates` gradient updates.
    """

    train_steps: int = 12_000
    shape: GnnShape = field(
        default_factory=lambda: GnnShape(log_features=True, inner_degree=True, inner_triangles=True, aggregation="sum")
    )
    """Architecture of the network; its fields are settings too."""
    discount: float = 0.9
    """Discount factor of future rewards."""
    loss: Literal["mse", "huber"] = "huber"
    """Loss function of the temporal-difference error."""
    scale_returns: bool = True
    """Divide targets by the standard deviation of the returns seen during warm-up."""
    double: bool = False
    """Use double Q-learning: the online network selects the next node, the target network evaluates it."""
    returns: int = 9
    """Number of rewards in an n-step return before bootstrapping."""
    batch: int = 128
    """Transitions per update."""
    updates: int = 1
    """Updates per step."""
    buffer: int = 50_000
    """Capacity of the replay buffer, in transitions."""
    warmup: int = 40
    """Steps before the first update."""
    target_every: int = 100
    """Updates between copies of the online network into the target network."""
    epsilon_first: float = 1.0
    """Initial probability of a random action."""
    epsilon_last: float = 0.05
    """Final probability of a random action."""
    epsilon_steps: float = 0.5
    """Share of the training over which epsilon decays linearly."""
    act_with: Literal["online", "target"] = "online"
    """Network that acts during training and is kept as the agent."""

    @property
    def replay_bytes(self) -> int:
        return self.buffer * (4 * self.walk_nodes + 24)

    @classmethod
    def paper(cls) -> DqnSettings:
        """Return the settings of the published code, except for its mistake in the decay of epsilon."""
        return cls(
            train_steps=50_000, validate_every=1000, learning_rate=3e-4, final_rate=1.0, steepest=0.0, shape=GnnShape(),
            discount=0.75, loss="mse", scale_returns=False, double=False, returns=1, batch=32, updates=1,
            buffer=50_000, warmup=320, target_every=16, epsilon_first=1.0, epsilon_last=0.1, epsilon_steps=1.0,
            act_with="target",
        )  # fmt: skip


@dataclass(frozen=True)
class ExpertIterationSettings(TrainingSettings):
    """Settings of expert iteration, which trains `horizon`.

    One step advances `walks` walks by one node, evaluates all their candidates with beam search (the expert), then
    makes `updates` gradient updates.
    """

    train_steps: int = 4_000
    shape: HorizonShape = field(default_factory=HorizonShape)
    """Architecture of the network; its fields are settings too."""
    walks: int = 16
    """Walks that advance together, each on a randomly drawn training graph."""
    beam: int = 32
    """Beam width of the expert per candidate with five or six rewards ahead; four times as wide with more, where
    short-sighted choices mislead it most, and a quarter with fewer."""
    options: int = 32
    """Maximum number of candidates evaluated per walk; a random subset of larger candidate sets."""
    far_every: int = 4
    """Interval, in steps, at which states of long walks (beyond `walk_nodes` nodes) are evaluated; 0 for never."""
    far_walks: int = 4
    """Number of long walks."""
    far_nodes: int = 50
    """Maximum number of nodes of a long walk."""
    far_weight: float = 1.0
    """Weight of long-walk states in the loss; their candidates differ less than those of short walks."""
    batch: int = 128
    """States per update."""
    updates: int = 2
    """Updates per step."""
    buffer: int = 60_000
    """Capacity of the replay buffer, in states."""
    warmup: int = 40
    """Steps before the first update."""
    chance: float = 0.25
    """Share of moves chosen at random."""
    follow: float = 0.2
    """Share of moves chosen by the expert; the agent chooses the others."""
    level: float = 0.1
    """Weight in the loss of the mean over a walk's candidates, relative to the differences between them."""

    @property
    def replay_bytes(self) -> int:
        return self.buffer * (4 * max(self.walk_nodes, self.far_nodes) + 8 * self.options + 24)


@dataclass(frozen=True)
class ValueSettings(TrainingSettings):
    """Settings of value learning, which trains `planner`.

    One step sends `walks` walks to random lengths, measures by beam search what their candidates still earn, then makes
    `updates` gradient updates.
    """

    train_steps: int = 400
    learning_rate: float = 3e-3
    validate_every: int = 50
    shape: PlannerShape = field(default_factory=PlannerShape)
    """What the planner reads; its field `fan` is a setting too."""
    walks: int = 64
    """Walks per step, each on a randomly drawn training graph."""
    beam: int = 32
    """Beam width of the expert; half as wide once the planner itself is the expert."""
    options: int = 12
    """Maximum number of candidates evaluated per walk: half of them the best by reward, the others at random."""
    far_nodes: int = 10
    """Maximum length of training walks; has an effect only above `walk_nodes`."""
    far_share: float = 0.5
    """Share of the steps with walks of other lengths than `walk_nodes`: from 5 to `far_nodes` nodes."""
    batch: int = 64
    """States per update."""
    updates: int = 40
    """Updates per step."""
    buffer: int = 40_000
    """Capacity of the replay buffer, in states."""
    warmup: int = 10
    """Steps before the first update, at most a third of the training."""
    chance: float = 0.3
    """Share of walks that move at random; the others follow the planner, with noise."""
    within: float = 2.0
    """Weight in the loss of the differences between a walk's candidates, relative to their values."""

    @property
    def replay_bytes(self) -> int:
        return self.buffer * (4 * self.options * (NUM_FEATURES + 1) + 8)


def describe_settings(settings: TrainingSettings) -> dict[str, Any]:
    """Return the settings as plain values; `minutes` only if there is a time budget, as older runs do not have it.

    >>> "minutes" in describe_settings(DqnSettings()), describe_settings(DqnSettings(minutes=5.0))["minutes"]
    (False, 5.0)
    """
    values = asdict(settings)
    return values if settings.minutes else {name: value for name, value in values.items() if name != "minutes"}


def make_settings(agent: str, preset: str, changes: dict[str, Any]) -> TrainingSettings:
    """Return the settings of a preset with validated changes.

    >>> make_settings("gnn", "paper", {"train_steps": 10}).discount
    0.75
    >>> make_settings("gnn", "best", {"discout": 1})
    Traceback (most recent call last):
    curiograph.errors.SettingError: there is no setting 'discout' of gnn; the settings are train_steps, ...
    """
    presets: dict[str, dict[str, Any]] = {
        "gnn": {"best": DqnSettings, "paper": DqnSettings.paper},
        "horizon": {"best": ExpertIterationSettings},
        "planner": {"best": ValueSettings},
    }
    if agent not in tuple(presets):
        raise UnknownNameError(f"cannot train an agent {agent!r}; the trainable agents are {', '.join(presets)}.")
    if preset not in tuple(presets[agent]):
        raise UnknownNameError(f"{agent} has no preset {preset!r}; its presets are {', '.join(presets[agent])}.")
    base = presets[agent][preset]()
    own = asdict(base)
    shape = {name: value for name, value in own.pop("shape").items() if name not in own}
    defaults = own | shape
    for name in changes:
        if name not in defaults:
            raise SettingError(f"there is no setting {name!r} of {agent}; the settings are {', '.join(defaults)}.")
    checked = {name: _check_setting(name, value, defaults[name]) for name, value in changes.items()}
    if checked.get("minutes"):
        checked.setdefault("train_steps", _MAX_INTEGER)
    new_shape = replace(base.shape, **{name: checked.pop(name) for name in changes if name in shape})
    settings: TrainingSettings = replace(base, shape=new_shape, **checked)
    return settings


_MAX_INTEGER = 10**7
_MINIMA = {"patience": 0, "far_every": 0, "warmup": 0, "walk_nodes": 2, "far_nodes": 2}
_SHARES = (
    "discount",
    "final_rate",
    "epsilon_first",
    "epsilon_last",
    "epsilon_steps",
    "chance",
    "follow",
    "level",
    "far_share",
)
_CHOICES = {"loss": ("mse", "huber"), "act_with": ("online", "target"), "aggregation": ("mean", "sum")}


def _check_setting(name: str, value: Any, default: Any) -> Any:
    """Return `value` if it has the type of `default` and is within bounds."""
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise SettingError(f"{name} is {value!r}; give True or False.")
    elif isinstance(default, int):
        least, most = _MINIMA.get(name, 1), SHAPE_LIMITS.get(name, _MAX_INTEGER)
        return check_integer(name, value, least, f"give a whole number from {least} to {most}", most)
    elif isinstance(default, float):
        largest = 1 if name in _SHARES else 1_000_000
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value <= largest:
            raise SettingError(f"{name} is {value!r}; give a number from 0 to {largest:,}.")
    elif isinstance(default, str) and value not in _CHOICES[name]:
        raise SettingError(f"{name} is {value!r}; the choices are {', '.join(_CHOICES[name])}.")
    return value
