"""Train many agents: every combination of rewards, agents, presets, seeds and settings."""

from __future__ import annotations

import os
import re
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from curiograph.agents.pretrained import AGENT_FILE, AGENT_KINDS, save_agent
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
from curiograph.training.checkpoint import InitialAgent, as_initial_agent, check_run_folder, describe_run
from curiograph.training.config import TrainingSettings, describe_settings, make_settings
from curiograph.training.logging import LOG_FILE, read_log
from curiograph.training.reward_cost import warn_slow_reward
from curiograph.training.sweep_results import Training, Trainings
from curiograph.training.trainer import as_split, check_initial_agent, train
from curiograph.validation import check_seed, resolve_workers

_MAX_NAMED = 5  # failed trainings that a message names
_POLL_SECONDS = 1.0  # between two readings of the logs
_MAX_SHOWN = 3  # running trainings that a progress message names
_MAX_SHARE = 0.999  # of progress read from logs; the job itself reports completion


@dataclass(frozen=True)
class _Task:
    """One training."""

    name: str
    varied: Mapping[str, Any]
    """Reward, agent, preset, seed, and the settings that were given as lists."""
    changes: Mapping[str, Any]
    """All settings that were given."""
    settings: TrainingSettings


@dataclass(frozen=True, eq=False)
class _Shared:
    """Input of all trainings."""

    sets: Split
    rewards: Mapping[str, Reward]
    out: Path
    start: InitialAgent | None
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
    """Train an agent for every combination of the arguments that are lists, on the same graphs.

    Each training equals a call of `train`: its result depends on its own settings and seed only. If the loss of a
    training diverges, the training is listed in `.failed` with a warning, and the others continue.

    Parameters
    ----------
    sets : Split, list of Graph or Graph
        Training and validation graphs, as for `train`.
    reward, agent, preset, seed
        As for `train`, or a list of values, such as `seed=range(5)`.
    out : str or Path
        Folder with one subfolder per training, such as igt-gnn-best-seed0-discount0.8. An interrupted sweep resumes
        there. Cluster machines that do not share this folder send their agents back to it.
    start : str or Path, optional
        Initial agent of all trainings, as for `train`.
    command : str, optional
        Command that reproduces the sweep, stored on the agents' cards.
    engine : {"local", "ray"}
        Execution backend: processes of this machine, or a Ray cluster. The result is the same.
    workers : int, optional
        Number of parallel trainings. Default: one per processor.
    address : str, optional
        Address of a Ray cluster. Default: start one on this machine.
    progress : callable, optional
        Called with a message and the completed share.
    **changes
        Settings by name, as for `train`, or a list of values, such as `discount=[0.8, 0.9]`.

    Returns
    -------
    Trainings
        One `Training` per combination, with means over seeds in `.means`.

    Examples
    --------
    >>> import tempfile
    >>> import curiograph as cg
    >>> sets = cg.generate_split("er", nodes=14, train=4, val=2, test=0, seed=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     runs = cg.train_many(sets, seed=[0, 1], out=folder, workers=1, train_steps=6, walk_nodes=6, warmup=2)
    >>> [run.name for run in runs]
    ['igt-gnn-best-seed0', 'igt-gnn-best-seed1']
    """
    import_optional("torch", "train", "Training agents")
    if not isinstance(out, (str, os.PathLike)):
        raise SettingError(f"out is {quote_value(out)}; give the path of a folder.")
    home = Path(out)
    graphs = as_split(sets)
    all_rewards = [as_reward(each) for each in _as_list("reward", reward)]
    rewards = {each.name: each for each in all_rewards}
    tasks = _make_tasks([each.name for each in all_rewards], agent, preset, seed, changes)
    initial = as_initial_agent(start)
    for task in tasks:
        check_initial_agent(initial, task.settings, rewards[task.varied["reward"]])
    for name, each in rewards.items():
        warn_slow_reward(each, graphs, [task.settings for task in tasks if task.varied["reward"] == name])
    used_engine = resolve_engine(engine, workers, address, home)
    if used_engine.backend == "local":  # trainings are long enough for processes
        num_workers = resolve_workers(used_engine.workers)
        used_engine = replace(used_engine, workers=num_workers)
        replay_bytes = max(task.settings.replay_bytes for task in tasks)
        check_memory(min(num_workers, len(tasks)) * replay_bytes, "lower buffer, or use fewer workers")
    job = Job(
        name="train",
        function=_train_task,
        shared=_Shared(graphs, rewards, home.absolute(), initial, command),
        tasks=tasks,
        key=lambda: {
            "train": [hash_graph(graph) for graph in graphs.train],
            "val": [hash_graph(graph) for graph in graphs.val],
            "rewards": {name: fingerprint("reward", each) for name, each in rewards.items()},
            "start": None if initial is None else fingerprint("agent", initial.agent),
            "trainings": [{**task.varied, "settings": describe_settings(task.settings)} for task in tasks],
        },
        describe_task=lambda task: task.name,
        unit="trainings",
    )
    folders = {home / task.name: task.settings.train_steps for task in tasks}
    with lock_run_folder(home), watch_logs(folders, progress) as watched_progress:
        for task in tasks:  # raise before the first training starts
            if (home / task.name).is_dir():
                kind, number = task.varied["agent"], task.varied["seed"]
                description = describe_run(graphs, rewards[task.varied["reward"]], kind, task.settings, number, initial)
                check_run_folder(home / task.name, description)
        return _collect_results(tasks, run_job(job, used_engine, watched_progress), home)


# ---- tasks ----------------------------------------------------------------------------------------------------------


def _make_tasks(
    rewards: list[str],
    agent: str | Sequence[str],
    preset: str | Sequence[str],
    seed: int | Sequence[int],
    changes: Mapping[str, Any],
) -> list[_Task]:
    """Return a task for every combination of values; raise SettingError for bad settings and duplicates."""
    lists = {name: _as_list(name, value) for name, value in changes.items() if _is_list(value)}
    constant = {name: value for name, value in changes.items() if name not in lists}
    tasks: dict[str, _Task] = {}
    for reward, kind, base, *values, number in product(
        rewards,
        _as_list("agent", agent),
        _as_list("preset", preset),
        *lists.values(),
        map(check_seed, _as_list("seed", seed)),
    ):
        listed = dict(zip(lists, values, strict=True))
        varied = {"reward": reward, "agent": kind, "preset": base, "seed": number, **listed}
        task = _Task(_make_name(varied), varied, constant | listed, make_settings(kind, base, constant | listed))
        if task.name in tasks:
            raise SettingError(
                f"{task.name} would be trained twice; give every seed and setting once, and rewards of different names."
            )
        tasks[task.name] = task
    return list(tasks.values())


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple, range, np.ndarray))


def _as_list(name: str, value: Any) -> list[Any]:
    """Return one or several values as a list.

    >>> _as_list("seed", range(3)), _as_list("agent", "gnn")
    ([0, 1, 2], ['gnn'])
    """
    if not _is_list(value):
        return [value]
    if len(value) == 0:
        raise SettingError(f"{name} is {quote_value(value)}; give at least one.")
    return value.tolist() if isinstance(value, np.ndarray) else list(value)


def _make_name(varied: Mapping[str, Any]) -> str:
    """Return the name of a training and its folder.

    >>> varied = {"reward": "igt", "agent": "gnn", "preset": "best", "seed": 0, "learning_rate": 1e-3, "double": True}
    >>> _make_name(varied)
    'igt-gnn-best-seed0-learning_rate0.001-doubletrue'
    """
    parts = []
    for name, value in varied.items():
        text = f"{value:.12g}" if isinstance(value, float) else str(value).lower()
        parts.append(str(value) if name in ("reward", "agent", "preset") else f"{name}{text}")
    return re.sub(r"[^\w.+-]+", "_", "-".join(parts))


def _train_task(shared: _Shared, task: _Task) -> Result:
    """Train an agent, in its folder if this machine has it; a diverging loss is a result, not an error."""
    varied = task.varied
    try:
        agent = train(
            shared.sets,
            shared.rewards[varied["reward"]],
            agent=varied["agent"],
            preset=varied["preset"],
            seed=varied["seed"],
            start=shared.start,
            out=shared.out / task.name if shared.out.is_dir() else None,
            name=task.name,
            command=shared.command,
            **task.changes,
        )
    except AgentError as error:
        return {"failed": str(error)}
    return {"card": dict(agent.card), **agent.network}


def _collect_results(tasks: Sequence[_Task], results: Sequence[Result], home: Path) -> Trainings:
    """Save the agents, which may come from other machines, and return the trainings; warn about failed ones."""
    rows, failed = [], {}
    for task, result in zip(tasks, results, strict=True):
        if "failed" in result:
            failed[task.name] = result["failed"]
            continue
        folder = home / task.name
        folder.mkdir(exist_ok=True)
        network = {name: array for name, array in result.items() if name != "card"}
        shape: Any = task.settings.shape  # type: ignore[attr-defined]
        agent_type, _ = AGENT_KINDS[task.varied["agent"]]
        agent = save_agent(agent_type(shape, network, task.name, result["card"]), folder / AGENT_FILE)
        rows.append(Training(task.name, task.varied, agent, folder))
    if failed:
        named = "; ".join(f"{name}: {reason.rstrip('.')}" for name, reason in list(failed.items())[:_MAX_NAMED])
        more = f"; and {len(failed) - _MAX_NAMED:,} more" if len(failed) > _MAX_NAMED else ""
        message = f"{len(failed):,} of {len(tasks):,} trainings failed: {named}{more}."
        if len(failed) == len(tasks):
            raise JobError(message, failed)
        warnings.warn(message, stacklevel=3)
    return Trainings(rows, failed)


# ---- progress -------------------------------------------------------------------------------------------------------


@contextmanager
def watch_logs(trainings: Mapping[Path, int], progress: Progress) -> Iterator[Progress]:
    """Report the progress of running trainings (steps by folder), read from their logs.

    Yield the callback to which the job reports its own progress.
    """
    if progress is no_progress:
        yield no_progress
        return
    watcher = _LogWatcher(trainings, progress)
    ended = threading.Event()

    def poll() -> None:
        while not ended.wait(_POLL_SECONDS):
            watcher.report()

    thread = threading.Thread(target=poll, daemon=True)
    thread.start()
    try:
        yield watcher
    finally:
        ended.set()
        thread.join()


class _LogWatcher:
    """Combines the job's count of finished trainings with the steps in the logs; the share never decreases."""

    def __init__(self, trainings: Mapping[Path, int], progress: Progress) -> None:
        self._train_steps = trainings
        self._progress = progress
        self._read: dict[Path, tuple[int, int, float]] = {}  # size of each log, its last step and the completed share
        self._first_steps = self._read_steps()
        self._message, self._share = "", 0.0
        self._lock = threading.Lock()

    def __call__(self, message: str, share: float | None = None) -> None:
        self._message, self._share = message, max(self._share, share or 0.0)
        self.report()

    def report(self) -> None:
        """Read the logs and report the progress."""
        with self._lock:
            steps = self._read_steps()
            shares = {folder: self._read.get(folder, (0, 0, 0.0))[2] for folder in self._train_steps}
            running = [
                f"{folder.name} {share:.0%}"
                for folder, share in shares.items()
                if share < 1 and steps[folder] != self._first_steps[folder]
            ]
            self._share = max(self._share, min(_MAX_SHARE, sum(shares.values()) / len(shares)))
            more = f"; {', '.join(running[-_MAX_SHOWN:])}" if running and self._share < 1 else ""
            self._progress(self._message + more, self._share)

    def _read_steps(self) -> dict[Path, int]:
        """Return the last step of every training; a log is read again only when its size has changed."""
        for folder, total in self._train_steps.items():
            try:
                size = (folder / LOG_FILE).stat().st_size
                if size != self._read.get(folder, (0, 0, 0.0))[0]:
                    report = read_log(folder / LOG_FILE)[-1]
                    share = report.get("share", report["step"] / total)  # older logs have no share
                    self._read[folder] = size, report["step"], min(1.0, share)
            except (OSError, ValueError, IndexError):  # no log, or one that the training itself will report as unusable
                self._read.pop(folder, None)
        return {folder: self._read.get(folder, (0, 0, 0.0))[1] for folder in self._train_steps}
