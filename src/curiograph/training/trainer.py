"""Train an agent: the loop around a learner, with validation, reports, checkpoints and an early stop."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from curiograph.agents.evaluate import evaluate
from curiograph.agents.layers import limit_blas_threads
from curiograph.agents.pretrained import AGENT_FILE, TrainedAgent, copy_weights, read_agent, save_agent
from curiograph.errors import AgentError, FileFormatError, SettingError
from curiograph.exploration.mdp import as_graphs
from curiograph.files import open_atomic
from curiograph.graph.graph import Graph
from curiograph.graph.splits import Split
from curiograph.optional import import_optional
from curiograph.parallel import lock_run_folder
from curiograph.rewards.base import Reward
from curiograph.rewards.registry import RewardLike, as_reward
from curiograph.training.config import TrainingSettings, make_settings
from curiograph.training.facts import RUN_FILE, Start, as_start, check_run_folder, describe_run
from curiograph.validation import check_seed

Progress = Callable[[dict[str, Any]], None]

_CHECKPOINT = "checkpoint.safetensors"
_BETWEEN_CHECKPOINTS = 20.0  # seconds, at least; where a run resumes does not change its result


def train(
    sets: Split | Sequence[Graph] | Graph,
    reward: RewardLike = "igt",
    *,
    agent: str = "gnn",
    preset: str = "best",
    start: str | Path | Start | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    name: str | None = None,
    command: str | None = None,
    progress: Progress | None = None,
    **changes: Any,
) -> TrainedAgent:
    """Train an agent to collect a reward, and return the best one by validation.

    Parameters
    ----------
    sets : training and validation graphs; from a list or a single graph, both are taken.
    agent : "gnn", the paper's, which sees the visited subgraph; or "horizon", which sees the graph around the walk.
    preset : "best", or for gnn "paper", the published setting.
    start : a trained agent of the same shape (a name or a path) to go on from.
    out : folder for checkpoints, log, curves and the agent. If it holds a checkpoint of this training, training goes on
        from there and ends as if it had never stopped.
    name, command : what the agent is called, and how to train it again, for its card.
    progress : called with every report.
    changes : any setting by name, as `train_steps=5000`; see `DqnSettings` and `PlanSettings`.
    """
    import_optional("torch", "train", "Training agents")
    if out is not None and not isinstance(out, (str, Path)):
        raise SettingError(f"out is {out!r}; give the path of a folder.")
    graphs = as_split(sets)
    settings = make_settings(agent, preset, changes)
    made_reward = as_reward(reward)
    begun = as_start(start)
    facts = describe_run(graphs, made_reward, agent, settings, check_seed(seed), begun)
    with use_one_torch_thread(), limit_blas_threads():
        learner = _learner(agent, settings, graphs.train, made_reward, seed, begun)
        run = _Run(learner, graphs.val, made_reward, facts, name, command, progress or (lambda report: None))
        return run.complete(None if out is None else Path(out))


def as_split(sets: Any) -> Split:
    """Graphs to learn on and to choose by, checked; from a list or a single graph, both are taken."""
    if isinstance(sets, Split):
        return Split(as_graphs(sets.train), as_graphs(sets.val or sets.train), [])
    graphs = as_graphs(sets)
    return Split(graphs, graphs, [])


@contextmanager
def use_one_torch_thread() -> Iterator[None]:
    """The same bits everywhere, and no threads that get in the way of a second training."""
    torch = import_optional("torch", "train", "Training agents")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _learner(
    agent: str, settings: TrainingSettings, graphs: list[Graph], reward: Reward, seed: int, begun: Start | None
) -> Any:
    from curiograph.training.dqn import DqnLearner
    from curiograph.training.expert_iteration import ExpertIterationLearner

    check_start(begun, settings, reward)
    made: Any = {"gnn": DqnLearner, "horizon": ExpertIterationLearner}[agent]
    learner = made(settings, graphs, reward, seed)
    if begun is not None:
        learner.begin_from(begun.agent.network)
    return learner


def check_start(begun: Start | None, settings: TrainingSettings, reward: Reward) -> None:
    """Raise if a training with these settings cannot go on from an agent."""
    if begun is None:
        return
    wanted: Any = settings.shape  # type: ignore[attr-defined]
    agent = begun.agent
    if agent.shape != wanted:
        raise SettingError(f"cannot start from {agent.name!r}: it is a {agent.shape}, not a {wanted}.")
    if agent.card.get("reward") != reward.name:
        raise SettingError(f"cannot start from {agent.name!r}: it was trained for {agent.card.get('reward')!r}.")


@dataclass
class _Best:
    value: float = -np.inf
    step: int = 0
    stale: int = 0
    """Validations since."""


class _Run:
    """One training run, from its first or a later step to its end."""

    def __init__(
        self, learner: Any, val: list[Graph], reward: Reward, facts: dict[str, Any], name: str | None,
        command: str | None, tell: Progress,
    ) -> None:  # fmt: skip
        self.learner, self.val, self.reward, self.facts, self.tell = learner, val, reward, facts, tell
        self.settings: TrainingSettings = learner.settings
        self.name, self.command = name, command
        self.best = _Best()
        self.best_weights = copy_weights(learner.agent.network)
        self.seconds = 0.0

    def complete(self, out: Path | None) -> TrainedAgent:
        """Train to the end."""
        if out is None:
            for _ in self._reports():
                pass
            return self._agent()
        with lock_run_folder(out):
            return self._open(out) or self._train_in(out)

    def _train_in(self, out: Path) -> TrainedAgent:
        from curiograph.training.logging import TrainingLog, save_curves

        log = TrainingLog(out, self.learner.step_number)
        saved = time.monotonic()
        for report in self._reports():
            log.add(report)
            if report["step"] == self.best.step:
                save_agent(self._agent(), out / AGENT_FILE)
            if time.monotonic() - saved > _BETWEEN_CHECKPOINTS:
                self._save(out)
                saved = time.monotonic()
        log.close()
        agent = save_agent(self._agent(), out / AGENT_FILE)
        if log.reports:
            save_curves(log.reports, out / "curves.png", f"{agent.name}: {self.facts['agent']}, {self.reward.name}")
        self._save(out, finished=True)
        return agent

    # ---- steps --------------------------------------------------------------------------------------------------

    def _reports(self) -> Any:
        """Step on to the end; yield a report at every validation."""
        s = self.settings
        seen: dict[str, list[float]] = {}
        begun = time.monotonic() - self.seconds
        while self.learner.step_number < s.train_steps and not (s.patience and self.best.stale >= s.patience):
            for key, value in self.learner.step().items():
                if key == "loss" and not math.isfinite(value):
                    raise AgentError(f"the loss is {value} at step {self.learner.step_number}: lower learning_rate.")
                seen.setdefault(key, []).append(value)
            step = self.learner.step_number
            if step % s.validate_every == 0 or step == s.train_steps:
                self.seconds = time.monotonic() - begun
                report = self._report(seen)
                report["left"] = (s.train_steps - step) * self.seconds / step
                self.tell(report)
                yield report
                seen = {}

    def _report(self, seen: dict[str, list[float]]) -> dict[str, Any]:
        s, step = self.settings, self.learner.step_number
        value = evaluate(
            self.learner.agent, self.val, self.reward, s.walk_nodes, s.validation_walks, seed=self.facts["seed"]
        ).mean
        if value > self.best.value:
            self.best = _Best(value, step)
            self.best_weights = copy_weights(self.learner.agent.network)
        elif self.learner.updates:
            self.best.stale += 1
        means = {key: float(np.mean(seen[key])) if key in seen else None for key in ("loss", "return", "epsilon")}
        transitions = float(np.sum(seen.get("transitions", [0.0])))
        return {"step": step, **means, "validation": value, "best": self.best.value, "transitions": transitions,
                "updates": self.learner.updates, "seconds": round(self.seconds, 3)}  # fmt: skip

    def _agent(self) -> TrainedAgent:
        card = {
            "reward": self.reward.name,
            "command": self.command,
            "training": self.facts,
            "steps": self.learner.step_number,
            "validation": {"return": self.best.value, "step": self.best.step},
            "licence": "MIT",
        }
        agent: TrainedAgent = self.learner.agent
        name = self.name or f"{self.reward.name}-{self.facts['agent']}"
        return replace(agent, network=self.best_weights, name=name, card={"name": name} | card)

    # ---- folder -------------------------------------------------------------------------------------------------

    def _open(self, out: Path) -> TrainedAgent | None:
        """Resume what is in the folder, if anything; the agent if that run has finished."""
        from curiograph.training.checkpoint import load_checkpoint, make_checkpoint_error

        check_run_folder(out, self.facts)
        for name in (RUN_FILE, _CHECKPOINT, AGENT_FILE, "agent.json", "log.jsonl", "curves.png"):
            for part in out.glob(f".{name}.*.part"):  # what a killed process was writing
                part.unlink()
        with open_atomic(out / RUN_FILE) as stream:
            stream.write(json.dumps(self.facts, indent=1).encode())
        checkpoint = out / _CHECKPOINT
        if not checkpoint.is_file():
            return None
        state, stood = load_checkpoint(checkpoint)
        self.best = _Best(stood["best"], stood["best_step"], stood["stale"])
        self.seconds = stood["seconds"]
        best = {k.removeprefix("best."): state.pop(k) for k in list(state) if k.startswith("best.")}
        try:
            if {name: array.shape for name, array in best.items()} != self.learner.agent.shape.weights():
                raise ValueError("it does not hold the best agent")
            if not stood["finished"]:
                self.learner.restore(state)
        except (ValueError, KeyError, TypeError, RuntimeError) as error:
            raise make_checkpoint_error(checkpoint, error) from None
        self.best_weights = best
        return self._finished(out) if stood["finished"] else None

    def _finished(self, out: Path) -> TrainedAgent:
        """The agent of a finished run; where its file is lost or damaged, made again from what the checkpoint holds."""
        from curiograph.training.logging import read_log

        try:
            return read_agent(out / AGENT_FILE)
        except FileFormatError:
            reports = read_log(out / "log.jsonl")
            self.learner.step_number = reports[-1]["step"] if reports else self.settings.train_steps
            return save_agent(self._agent(), out / AGENT_FILE)

    def _save(self, out: Path, finished: bool = False) -> None:
        from curiograph.training.checkpoint import save_checkpoint

        state = {} if finished else self.learner.state()
        state |= {f"best.{name}": array for name, array in self.best_weights.items()}
        stood = {"finished": finished, "best": self.best.value, "best_step": self.best.step, "stale": self.best.stale,
                 "seconds": self.seconds}  # fmt: skip
        save_checkpoint(out / _CHECKPOINT, state, stood)
