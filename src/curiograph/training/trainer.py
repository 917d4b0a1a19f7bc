"""Train an agent: the loop around a learner, with validation, logging, checkpoints and early stopping."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.agents.evaluate import evaluate
from curiograph.agents.layers import Weights, limit_blas_threads
from curiograph.agents.pretrained import AGENT_FILE, TrainedAgent, copy_weights, read_agent, save_agent
from curiograph.errors import AgentError, FileFormatError, SettingError
from curiograph.exploration.mdp import as_graphs
from curiograph.files import open_atomic
from curiograph.graph.graph import Graph
from curiograph.graph.splits import Split
from curiograph.messages import shorten_text
from curiograph.optional import import_optional
from curiograph.parallel import lock_run_folder
from curiograph.rewards.base import Reward
from curiograph.rewards.combined import list_terms
from curiograph.rewards.registry import REWARDS, RewardLike, as_reward
from curiograph.training.checkpoint import (
    CHECKPOINT_FIX,
    RUN_FILE,
    InitialAgent,
    as_initial_agent,
    check_run_folder,
    describe_run,
    load_checkpoint,
    save_checkpoint,
)
from curiograph.training.config import TrainingSettings, make_settings
from curiograph.training.logging import LOG_FILE, Report, TrainingLog, print_report, read_log, save_curves
from curiograph.training.reward_cost import warn_slow_reward
from curiograph.validation import check_seed

if TYPE_CHECKING:
    from curiograph.training.learner import Learner

_CHECKPOINT_FILE = "checkpoint.safetensors"
_CURVES_FILE = "curves.png"
_PROGRESS = ("best", "best_step", "stale", "seconds")  # what a checkpoint holds of the trainer itself
_CHECKPOINT_SECONDS = 20.0  # minimum time between checkpoints; the result does not depend on where a run resumes


def train(
    sets: Split | Sequence[Graph] | Graph,
    reward: RewardLike = "igt",
    *,
    agent: str = "gnn",
    preset: str = "best",
    start: str | Path | InitialAgent | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    name: str | None = None,
    command: str | None = None,
    progress: Callable[[Report], None] | bool | None = None,
    **changes: Any,
) -> TrainedAgent:
    """Train an agent to collect a reward and return the best one by validation return.

    Parameters
    ----------
    sets : Split, list of Graph or Graph
        Training and validation graphs; a list or a single graph is used for both.
    reward : str, Reward or callable
        Reward to collect, such as "igt", "cpt", "cct" or "igt+0.5*cpt". There is a warning if a function of yours is so
        slow that the training would spend more than two minutes on it.
    agent : {"gnn", "horizon", "planner"}
        Architecture: "gnn", the paper's, reads the visited subgraph; "horizon" reads the graph around the walk;
        "planner" is a beam search with exact rewards and learned values.
    preset : {"best", "paper"}
        Settings to start from; "paper", for gnn only, is close to the published code.
    start : str or Path, optional
        Name or path of a trained agent of the same shape whose weights initialize the network.
    seed : int
        Random seed.
    out : str or Path, optional
        Folder for checkpoints, log, curves and the agent. If it holds a checkpoint of the same training, training
        resumes there, with the same result as without the interruption.
    name : str, optional
        Name of the agent on its card.
    command : str, optional
        Command that reproduces the training, stored on the agent's card. Default: a call of `cg.train`; graphs that are
        not from `generate_split` or `read_split` are called `sets` there, and a function as reward by its name.
    progress : callable or bool, optional
        Called with a dict of metrics at every validation, at least three times; `step`, `validation`, `best`,
        `seconds`, `left` (seconds) and `share` are always present. True prints a line instead.
    **changes
        Settings by name, such as `train_steps=5000`, or `minutes=10` for a time budget; see `DqnSettings`,
        `ExpertIterationSettings` and `ValueSettings`.

    Returns
    -------
    Agent
        The trained agent; it acts without torch.

    Examples
    --------
    >>> import curiograph as cg
    >>> sets = cg.generate_split("er", nodes=14, train=4, val=2, test=0, seed=3)
    >>> agent = cg.train(sets, reward="igt", train_steps=6, walk_nodes=6, warmup=2)
    >>> agent.card["steps"]
    6
    >>> agent.card["command"]
    "cg.train(cg.generate_split('er', nodes=14, train=4, ...), 'igt', train_steps=6, walk_nodes=6, warmup=2)"
    """
    import_optional("torch", "train", "Training agents")
    if out is not None and not isinstance(out, (str, Path)):
        raise SettingError(f"out is {out!r}; give the path of a folder.")
    graphs = as_split(sets)
    settings = make_settings(agent, preset, changes)
    reward = as_reward(reward)
    initial = as_initial_agent(start)
    description = describe_run(graphs, reward, agent, settings, check_seed(seed), initial)
    check_initial_agent(initial, settings, reward)
    report_progress = _as_callback(progress)
    warn_slow_reward(reward, graphs, [settings])
    if command is None:
        given = {"agent": agent, "preset": preset, "start": initial and initial.source, "seed": seed, "name": name}
        command = format_call(graphs, reward, given, changes)

    from curiograph.training.dqn import DqnLearner
    from curiograph.training.expert_iteration import ExpertIterationLearner
    from curiograph.training.value_learning import ValueLearner

    learner_type: Any = {"gnn": DqnLearner, "horizon": ExpertIterationLearner, "planner": ValueLearner}[agent]
    with use_one_torch_thread(), limit_blas_threads():
        learner: Learner = learner_type(settings, graphs.train, reward, seed)
        if initial is not None:
            learner.load_weights(initial.agent.network)
        trainer = _Trainer(
            learner=learner,
            validation_graphs=graphs.val,
            reward=reward,
            description=description,
            name=name or f"{reward.name}-{agent}",
            command=command,
            best_weights=copy_weights(learner.agent.network),
        )
        if out is None:
            return trainer.run(None, report_progress)
        with lock_run_folder(Path(out)):
            return trainer.resume(Path(out)) or trainer.run(Path(out), report_progress)


def format_call(graphs: Split, reward: Reward, given: dict[str, Any], changes: dict[str, Any]) -> str:
    """Return the call of `cg.train` that repeats a training; arguments with default values are left out.

    >>> from curiograph.graph.toys import cycle
    >>> given = {"agent": "gnn", "preset": "paper", "start": None, "seed": 3, "name": None}
    >>> format_call(Split([cycle(4)], [], []), as_reward("igt+cpt"), given, {"discount": 0.8})
    "cg.train(sets, 'igt+cpt', preset='paper', seed=3, discount=0.8)"
    """
    defaults = {"agent": "gnn", "preset": "best", "start": None, "seed": 0, "name": None}
    changed = {key: value for key, value in given.items() if value != defaults[key]}
    changed |= dict(sorted(changes.items()))
    keywords = [f"{key}={value.item() if isinstance(value, np.generic) else value!r}" for key, value in changed.items()]
    terms = [(weight, _format_reward(term)) for weight, term in list_terms(reward)]
    if all(term in REWARDS.values() for _, term in list_terms(reward)):
        rewards = repr(reward.name)
    elif len(terms) == 1 and terms[0][0] == 1:
        rewards = terms[0][1]
    else:
        rewards = "{" + ", ".join(f"{term}: {weight!r}" for weight, term in terms) + "}"
    return f"cg.train({', '.join([graphs.origin or 'sets', rewards, *keywords])})"


def _format_reward(reward: Reward) -> str:
    """Return a reward as a Python expression: the name of a user's function, or `reward` if it has none."""
    if reward in REWARDS.values():
        return repr(reward.name)
    is_name = reward.name.isidentifier() and not iskeyword(reward.name)
    return reward.name if is_name else "reward"


def _as_callback(progress: Any) -> Callable[[Report], None] | None:
    """Return the function that receives reports, or None."""
    if progress is None or isinstance(progress, bool):
        return print_report if progress else None
    if not callable(progress):
        raise SettingError(f"progress is {progress!r}; give a function that takes a dict, or True to print lines.")
    callback: Callable[[Report], None] = progress
    return callback


def as_split(sets: Any) -> Split:
    """Return validated training and validation graphs; a list or a single graph is used for both."""
    if isinstance(sets, Split):
        return Split(as_graphs(sets.train), as_graphs(sets.val or sets.train), [], sets.origin)
    graphs = as_graphs(sets)
    return Split(graphs, graphs, [])


def check_initial_agent(initial: InitialAgent | None, settings: TrainingSettings, reward: Reward) -> None:
    """Raise SettingError if a training with these settings cannot start from an agent."""
    if initial is None:
        return
    shape: Any = settings.shape  # type: ignore[attr-defined]
    agent = initial.agent
    if agent.shape != shape:
        raise SettingError(f"cannot start from {agent.name!r}: it is a {agent.shape}, not a {shape}.")
    if agent.card.get("reward") != reward.name:
        raise SettingError(f"cannot start from {agent.name!r}: it was trained for {agent.card.get('reward')!r}.")


@contextmanager
def use_one_torch_thread() -> Iterator[None]:
    """Limit torch to one thread: results are then bit-identical, and parallel trainings do not compete for cores."""
    torch = import_optional("torch", "train", "Training agents")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@dataclass(eq=False)
class _Trainer:
    """One training run."""

    learner: Learner
    validation_graphs: list[Graph]
    reward: Reward
    description: dict[str, Any]
    name: str
    command: str | None
    best_weights: Weights
    """Weights at the best validation so far."""
    best: float = -np.inf
    """Return of the best validation so far."""
    best_step: int = 0
    stale: int = 0
    """Validations since the best one."""
    seconds: float = 0.0

    def run(self, out: Path | None, progress: Callable[[Report], None] | None) -> TrainedAgent:
        """Train to the end, writing log, checkpoints and the best agent to `out` if given."""
        learner, s = self.learner, self.learner.settings
        log = None if out is None else TrainingLog(out, learner.step_number)
        begun, saved = time.monotonic() - self.seconds, time.monotonic()
        metrics: dict[str, list[float]] = {}
        validated = learner.time_share = self._compute_time_share(self.seconds)
        while learner.share < 1 and not (s.patience and self.stale >= s.patience):
            for key, value in learner.step().items():
                if key == "loss" and not math.isfinite(value):
                    raise AgentError(f"the loss is {value} at step {learner.step_number}: lower learning_rate.")
                metrics.setdefault(key, []).append(value)
            step = learner.step_number
            learner.time_share = self._compute_time_share(time.monotonic() - begun)
            due = learner.time_share >= min(1.0, validated + 1 / 3)
            if step % s.validation_interval and step != s.train_steps and not due:
                continue
            validated = learner.time_share
            self.seconds = time.monotonic() - begun
            report = self._validate(metrics)
            metrics = {}
            if progress is not None:
                progress(report)
            if out is None or log is None:
                continue
            log.add(report)
            if step == self.best_step:
                save_agent(self._make_agent(), out / AGENT_FILE)
            if time.monotonic() - saved > _CHECKPOINT_SECONDS:
                self._save_checkpoint(out)
                saved = time.monotonic()
        if out is None or log is None:
            return self._make_agent()
        log.close()
        agent = save_agent(self._make_agent(), out / AGENT_FILE)
        if log.reports:
            title = f"{agent.name}: {self.description['agent']}, {self.reward.name}"
            save_curves(log.reports, out / _CURVES_FILE, title)
        self._save_checkpoint(out, finished=True)
        return agent

    def _compute_time_share(self, seconds: float) -> float:
        """Return the share of the time budget that is used after some seconds; 0 without a budget."""
        budget = 60 * self.learner.settings.minutes
        return min(1.0, seconds / budget) if budget else 0.0

    def _validate(self, metrics: dict[str, list[float]]) -> Report:
        """Evaluate the current agent, keep it if it is the best, and return a report."""
        learner, s, step = self.learner, self.learner.settings, self.learner.step_number
        seed = self.description["seed"]
        result = evaluate(
            learner.agent, self.validation_graphs, self.reward, s.walk_nodes, s.validation_walks, seed=seed
        )
        if result.mean > self.best:
            self.best, self.best_step, self.stale = result.mean, step, 0
            self.best_weights = copy_weights(learner.agent.network)
        elif learner.updates:
            self.stale += 1
        means = {key: float(np.mean(metrics[key])) if key in metrics else None for key in ("loss", "return", "epsilon")}
        return {
            "step": step,
            **means,
            "validation": result.mean,
            "best": self.best,
            "transitions": float(np.sum(metrics.get("transitions", [0.0]))),
            "updates": learner.updates,
            "seconds": round(self.seconds, 3),
            "left": (1 - learner.share) * self.seconds / learner.share,
            "share": round(learner.share, 6),
        }

    def _make_agent(self) -> TrainedAgent:
        """Return the best agent so far with its card."""
        card = {
            "name": self.name,
            "reward": self.reward.name,
            "command": self.command,
            "training": self.description,
            "steps": self.learner.step_number,
            "validation": {"return": self.best, "step": self.best_step},
            "licence": "MIT",
        }
        return replace(self.learner.agent, network=self.best_weights, name=self.name, card=card)

    def _save_checkpoint(self, out: Path, finished: bool = False) -> None:
        state = {} if finished else self.learner.get_state()
        state |= {f"best.{name}": array for name, array in self.best_weights.items()}
        progress = {name: getattr(self, name) for name in _PROGRESS}
        save_checkpoint(out / _CHECKPOINT_FILE, state, {"finished": finished, **progress})

    def resume(self, out: Path) -> TrainedAgent | None:
        """Restore the checkpoint of a folder, if any; return the agent if that run has finished, otherwise None."""
        check_run_folder(out, self.description)
        for name in (RUN_FILE, _CHECKPOINT_FILE, AGENT_FILE, "agent.json", LOG_FILE, _CURVES_FILE):
            for part in out.glob(f".{name}.*.part"):  # incomplete files of a killed process
                part.unlink()
        with open_atomic(out / RUN_FILE) as stream:
            stream.write(json.dumps(self.description, indent=1).encode())
        checkpoint = out / _CHECKPOINT_FILE
        if not checkpoint.is_file():
            return None
        state, progress = load_checkpoint(checkpoint)
        best = {key.removeprefix("best."): state.pop(key) for key in list(state) if key.startswith("best.")}
        try:
            if {name: array.shape for name, array in best.items()} != self.learner.agent.shape.weights():
                raise ValueError("it does not hold the best agent")
            if not progress["finished"]:
                self.learner.restore_state(state)
        except (ValueError, KeyError, TypeError, RuntimeError) as error:
            reason = shorten_text(error, 120)
            raise FileFormatError(f"{checkpoint}: is not a usable checkpoint ({reason}); {CHECKPOINT_FIX}.") from None
        self.best_weights = best
        for name in _PROGRESS:
            setattr(self, name, progress[name])
        if not progress["finished"]:
            return None
        try:
            return read_agent(out / AGENT_FILE)
        except FileFormatError:  # lost or damaged: restore it from the checkpoint
            reports = read_log(out / LOG_FILE)
            self.learner.step_number = reports[-1]["step"] if reports else self.learner.settings.train_steps
            return save_agent(self._make_agent(), out / AGENT_FILE)
