"""Train many agents: every combination of rewards, agents, presets, seeds and settings, each as a task of a job."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from curiograph.agents.gnn import GnnAgent
from curiograph.agents.horizon import HorizonAgent
from curiograph.agents.pretrained import AGENT_FILE, save_agent
from curiograph.errors import AgentError, JobError, SettingError
from curiograph.files import PathLike
from curiograph.graph.graph import Graph
from curiograph.graph.splits import Split
from curiograph.messages import quote_value
from curiograph.optional import import_optional
from curiograph.parallel import Engine, EngineName, Job, Result, lock_run_folder, resolve_engine, run_job
from curiograph.parallel.fingerprint import fingerprint, hash_graph
from curiograph.parallel.memory import check_memory
from curiograph.progress import Progress, no_progress
from curiograph.rewards.base import Reward
from curiograph.rewards.registry import RewardLike, as_reward
from curiograph.training.config import TrainingSettings, make_settings
from curiograph.training.facts import Start, as_start, check_run_folder, describe_run
from curiograph.training.trainer import as_split, check_start, train
from curiograph.training.trainings import Training, Trainings
from curiograph.training.watching import watch_logs
from curiograph.validation import check_seed, resolve_workers

_KINDS = {"gnn": GnnAgent, "horizon": HorizonAgent}
_LEARNING = 450 * 2**20  # bytes that torch, TensorBoard, pictures and a learner take beside those of any worker
_COPIES = 3  # of the replay, while a checkpoint is written
_NAMED = 5  # failed trainings that a warning names


@dataclass(frozen=True)
class _Task:
    """One training."""

    name: str
    varied: Mapping[str, Any]
    """What tells it from the others: reward, agent, preset, seed, and settings that were given as lists."""
    changes: Mapping[str, Any]
    """All settings that were given."""
    settings: TrainingSettings


@dataclass(frozen=True, eq=False)
class _Shared:
    sets: Split
    rewards: Mapping[str, Reward]
    out: Path
    start: Start | None
    command: str | None


def train_many(
    sets: Split | Sequence[Graph] | Graph,
    reward: RewardLike | Sequence[RewardLike] = "igt",
    *,
    out: PathLike,
    agent: str | Sequence[str] = "gnn",
    preset: str | Sequence[str] = "best",
    seed: int | Sequence[int] = 0,
    start: str | Path | None = None,
    command: str | None = None,
    engine: EngineName | Engine = "local",
    workers: int | None = None,
    address: str | None = None,
    progress: Progress = no_progress,
    **changes: Any,
) -> Trainings:
    """Train an agent for every combination of what is given as lists, on the same graphs.

    Each training is the one that `train` does: what it gives depends on its own settings and seed, not on the others.
    One whose loss does not stay finite is told in a warning and in `.failed`; the others go on.

    Parameters
    ----------
    sets, start, command : as for `train`; the same for all.
    reward, agent, preset, seed : as for `train`, or a list of them, as `seed=range(5)`.
    out : folder with a folder for each training, such as igt-gnn-best-seed0-discount0.8, and with what is finished: a
        killed job goes on where it stopped, its trainings from their checkpoints. Where machines of a cluster share it,
        so do theirs; where they do not, their agents are brought home to it.
    engine : "local", processes of this machine; or "ray", a cluster. The result is the same.
    workers : trainings at a time; None for one per processor.
    address : of the cluster; without it one is started on this machine for the job.
    progress : told how far the trainings are.
    changes : any setting by name, as for `train`, or a list of values, as `discount=[0.8, 0.9]`.
    """
    import_optional("torch", "train", "Training agents")
    if not isinstance(out, (str, os.PathLike)):
        raise SettingError(f"out is {quote_value(out)}; give the path of a folder.")
    home = Path(out)
    graphs = as_split(sets)
    rewards = {made.name: made for made in map(as_reward, _as_list("reward", reward))}
    tasks = _tasks(_as_list("reward", reward), agent, preset, seed, changes)
    begun = as_start(start)
    for task in tasks:
        check_start(begun, task.settings, rewards[task.varied["reward"]])
    used_engine = resolve_engine(engine, workers, address, home)
    if used_engine.name == "local":  # trainings are long enough for processes
        used_engine = replace(used_engine, workers=resolve_workers(used_engine.workers))
        num_parallel = min(resolve_workers(used_engine.workers), len(tasks))
        replay_bytes = max(task.settings.replay_bytes for task in tasks)
        check_memory(num_parallel * replay_bytes, "lower buffer, or use fewer workers")
    job = Job(
        name="train",
        function=_trained,
        shared=_Shared(graphs, rewards, home.absolute(), begun, command),
        tasks=tasks,
        key=lambda: _about(graphs, rewards, tasks, begun),
        describe_task=lambda task: task.name,
        unit="trainings",
    )
    with (
        lock_run_folder(home),
        watch_logs([(home / task.name, task.settings.train_steps) for task in tasks], progress) as tell,
    ):
        _check_folders(home, graphs, rewards, tasks, begun)
        results = run_job(job, used_engine, tell)
        return _gathered(tasks, results, home)


# ---- what is trained --------------------------------------------------------------------------------------------


def _tasks(
    rewards: list[RewardLike],
    agent: str | Sequence[str],
    preset: str | Sequence[str],
    seed: int | Sequence[int],
    changes: Mapping[str, Any],
) -> list[_Task]:
    lists = {name: _as_list(name, value) for name, value in changes.items() if _is_list(value)}
    alike = {name: value for name, value in changes.items() if name not in lists}
    tasks = []
    for made, kind, base, *values, number in product(
        map(as_reward, rewards),
        _as_list("agent", agent),
        _as_list("preset", preset),
        *lists.values(),
        map(check_seed, _as_list("seed", seed)),
    ):
        its = dict(zip(lists, values, strict=True))
        varied = {"reward": made.name, "agent": kind, "preset": base, "seed": number, **its}
        tasks.append(_Task(_name(varied), varied, alike | its, make_settings(kind, base, alike | its)))
    _check_names([task.name for task in tasks])
    return tasks


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple, range, np.ndarray))


def _as_list(name: str, value: Any) -> list[Any]:
    """The values that were given, be it one.

    >>> _as_list("seed", range(3)), _as_list("agent", "gnn")
    ([0, 1, 2], ['gnn'])
    """
    if not _is_list(value):
        return [value]
    if len(value) == 0:
        raise SettingError(f"{name} is {quote_value(value)}; give at least one.")
    return value.tolist() if isinstance(value, np.ndarray) else list(value)


def _name(varied: Mapping[str, Any]) -> str:
    """What a training and its folder are called.

    >>> _name({"reward": "igt", "agent": "gnn", "preset": "best", "seed": 0, "learning_rate": 1e-3, "double": True})
    'igt-gnn-best-seed0-learning_rate0.001-doubletrue'
    """
    parts = [str(varied[name]) for name in ("reward", "agent", "preset")]
    parts += [f"{name}{_text(value)}" for name, value in varied.items() if name not in ("reward", "agent", "preset")]
    return re.sub(r"[^\w.+-]+", "_", "-".join(parts))


def _text(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value).lower()


def _check_names(names: list[str]) -> None:
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise SettingError(f"{twice} would be trained twice; give every seed and setting once, rewards by other names.")


def _about(graphs: Split, rewards: Mapping[str, Reward], tasks: Sequence[_Task], begun: Start | None) -> dict[str, Any]:
    """What tells this job from any other."""
    return {
        "train": [hash_graph(graph) for graph in graphs.train],
        "val": [hash_graph(graph) for graph in graphs.val],
        "rewards": {name: fingerprint("reward", reward) for name, reward in rewards.items()},
        "start": None if begun is None else fingerprint("agent", begun.agent),
        "trainings": [{**task.varied, "settings": asdict(task.settings)} for task in tasks],
    }


def _check_folders(
    home: Path, graphs: Split, rewards: Mapping[str, Reward], tasks: Sequence[_Task], begun: Start | None
) -> None:
    """Raise before anything is trained where the folder of one holds another."""
    for task in tasks:
        if (home / task.name).is_dir():
            varied = task.varied
            reward = rewards[varied["reward"]]
            facts = describe_run(graphs, reward, varied["agent"], task.settings, varied["seed"], begun)
            check_run_folder(home / task.name, facts)


# ---- what comes of it -------------------------------------------------------------------------------------------


def _trained(shared: _Shared, task: _Task) -> Result:
    """Train an agent, in its folder where this machine has that. A loss that explodes is a result like any other."""
    varied = task.varied
    try:
        agent = train(
            shared.sets, shared.rewards[varied["reward"]], agent=varied["agent"], preset=varied["preset"],
            seed=varied["seed"], start=shared.start, out=shared.out / task.name if shared.out.is_dir() else None,
            name=task.name, command=shared.command, **task.changes,
        )  # fmt: skip
    except AgentError as error:
        return {"failed": str(error)}
    return {"card": dict(agent.card), **agent.network}


def _gathered(tasks: Sequence[_Task], results: Sequence[Result], home: Path) -> Trainings:
    failed = {task.name: found["failed"] for task, found in zip(tasks, results, strict=True) if "failed" in found}
    if failed:
        named = "; ".join(f"{name}: {reason.rstrip('.')}" for name, reason in list(failed.items())[:_NAMED])
        more = f"; and {len(failed) - _NAMED:,} more" if len(failed) > _NAMED else ""
        text = f"{len(failed):,} of {len(tasks):,} trainings failed: {named}{more}."
        if len(failed) == len(tasks):
            raise JobError(text, failed)
        warnings.warn(text, stacklevel=3)
    return Trainings(list(_rows(tasks, results, home)), failed)


def _rows(tasks: Sequence[_Task], results: Sequence[Result], home: Path) -> Iterator[Training]:
    """The trainings that came to their end. Their agents are saved here as well: some were trained elsewhere."""
    for task, found in zip(tasks, results, strict=True):
        if "failed" in found:
            continue
        network = {name: array for name, array in found.items() if name != "card"}
        shape: Any = task.settings.shape  # type: ignore[attr-defined]
        made: Any = _KINDS[task.varied["agent"]]
        folder = home / task.name
        folder.mkdir(exist_ok=True)
        agent = save_agent(made(shape, network, task.name, found["card"]), folder / AGENT_FILE)
        yield Training(task.name, task.varied, agent, folder)
