"""Train an agent: the loop around a learner, with validation, a log and checkpoints."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from curiograph.agents.evaluate import evaluate
from curiograph.agents.layers import Weights, limit_blas_threads
from curiograph.agents.pretrained import AGENT_FILE, TrainedAgent, load_agent, save_agent
from curiograph.errors import AgentError, SettingError, import_optional, quote_value
from curiograph.exploration.mdp import as_graphs
from curiograph.files import hash_chunks, open_atomic
from curiograph.graph.generators import Split
from curiograph.graph.graph import Graph
from curiograph.parallel.fingerprint import fingerprint
from curiograph.progress import Progress, no_progress
from curiograph.rewards.reward import Reward
from curiograph.rewards.reward_names import RewardLike, as_reward
from curiograph.training.training_settings import TrainingSettings, make_settings
from curiograph.validation import check_seed

CHECKPOINT_FILE = "checkpoint.safetensors"
LOG_FILE = "log.jsonl"


def train(
    sets: Split | Sequence[Graph] | Graph,
    reward: RewardLike = "igt",
    *,
    agent: str = "gnn",
    preset: str = "best",
    start: str | Path | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    name: str | None = None,
    progress: Progress = no_progress,
    **changes: Any,
) -> TrainedAgent:
    """Train an agent to collect a reward and return the best one by validation return.

    Parameters
    ----------
    sets : Split, list of Graph or Graph
        Training and validation graphs; a list or a single graph is used for both.
    reward : str, Reward or callable
        Reward to collect, such as "igt", "cpt", "cct" or "igt+0.5*cpt".
    agent : {"gnn", "planner"}
        "gnn", the paper's, is a network that reads the visited subgraph, trained by deep Q-learning; "planner" is a
        beam search with exact rewards and learned values.
    preset : {"best", "paper"}
        Settings to start from; "paper", for gnn only, is close to the published code.
    start : str or Path, optional
        Name or path of a trained agent of the same shape whose weights initialize the network.
    seed : int
        Random seed.
    out : str or Path, optional
        Folder for checkpoint, log and agent. If it holds a checkpoint of the same training, training resumes there,
        with the same result as without the interruption.
    name : str, optional
        Name of the agent on its card.
    progress : callable
        Called with a message and the completed share at every validation, at least three times.
    **changes
        Settings by name, such as `train_steps=5000`; see `TrainingSettings`.

    Returns
    -------
    GnnAgent or PlannerAgent
        The trained agent; it acts without torch.

    Examples
    --------
    >>> import curiograph as cg
    >>> sets = cg.generate_split("er", nodes=14, train=4, val=2, test=0, seed=3)
    >>> agent = cg.train(sets, reward="igt", train_steps=6, walk_nodes=6, warmup=2)
    >>> agent.card["steps"]
    6
    """
    import_optional("torch", "train", "Training agents")
    from curiograph.training.dqn import DqnLearner, PaperDqnLearner
    from curiograph.training.learner import load_checkpoint, save_checkpoint
    from curiograph.training.value_learning import ValueLearner

    graphs, reward, seed = as_split(sets), as_reward(reward), check_seed(seed)
    settings = make_settings(agent, preset, changes)
    learner_type: Any = {"planner": ValueLearner}.get(agent, PaperDqnLearner if preset == "paper" else DqnLearner)
    initial = None if start is None else load_agent(start)
    if initial is not None and (initial.shape, initial.card.get("reward")) != (learner_type.shape, reward.name):
        raise SettingError(
            f"cannot start from {initial.name!r}, a {initial.shape} for {initial.card.get('reward')!r}; this training "
            f"is that of a {learner_type.shape} for {reward.name!r}."
        )
    description = describe_training(graphs, reward, agent, preset, settings, seed, initial)
    name = name or f"{reward.name}-{agent}"
    folder = None if out is None else Path(out)
    best = None if folder is None else open_folder(folder, description)
    if best is not None and best.card["steps"] == settings.train_steps:
        return best
    interval = min(settings.validate_every, max(1, settings.train_steps // 3))
    with use_one_torch_thread(), limit_blas_threads():
        learner = learner_type(settings, graphs.train, reward, seed)
        if initial is not None:
            learner.load_weights(initial.network)
        if best is not None and folder is not None and (folder / CHECKPOINT_FILE).is_file():
            learner.restore_state(load_checkpoint(folder / CHECKPOINT_FILE))
        log, reports = None if folder is None else folder / LOG_FILE, []
        if log is not None and log.is_file():  # reports of later steps will be repeated
            reports = [json.loads(line) for line in log.read_text().splitlines()]
            reports = [report for report in reports if report["step"] <= learner.step_number]
        metrics: dict[str, list[float]] = {}
        while learner.step_number < settings.train_steps:
            for key, value in learner.step().items():
                if key == "loss" and not math.isfinite(value):
                    raise AgentError(f"the loss is {value} at step {learner.step_number}: lower learning_rate.")
                metrics.setdefault(key, []).append(value)
            step = learner.step_number
            if step % interval and step != settings.train_steps:
                continue
            found = evaluate(
                learner.agent, graphs.val, reward, settings.walk_nodes, settings.validation_walks, seed=seed
            ).mean
            improved = False
            if best is None or found > best.card["validation"]["return"]:
                improved = True
                card = {
                    "name": name,
                    "reward": reward.name,
                    "training": description,
                    "steps": step,
                    "validation": {"return": found, "step": step},
                    "licence": "MIT",
                }
                weights = {key: np.array(array) for key, array in learner.agent.network.items()}
                best = _rebuild(learner.agent, weights, name, card)
            means = {key: float(np.mean(values)) for key, values in metrics.items()}
            report = {"step": step, "updates": learner.updates, **means, "validation": found}
            reports.append(report | {"best": best.card["validation"]["return"]})
            metrics = {}
            if folder is not None:  # in this order: a run that is killed repeats the steps after its last checkpoint
                with open_atomic(folder / LOG_FILE) as stream:
                    stream.write("".join(f"{json.dumps(report)}\n" for report in reports).encode())
                if improved:
                    save_agent(best, folder / AGENT_FILE)
                save_checkpoint(folder / CHECKPOINT_FILE, learner.get_state())
            shown = (f"{key} {value:.4g}" for key, value in reports[-1].items() if key not in ("step", "updates"))
            progress(", ".join([f"step {step:,}", *shown]), step / settings.train_steps)
    assert best is not None  # the last step is validated
    best = _rebuild(best, best.network, name, {**best.card, "steps": settings.train_steps})
    if folder is not None:
        best = save_agent(best, folder / AGENT_FILE)
        (folder / CHECKPOINT_FILE).unlink(missing_ok=True)
    return best


def _rebuild(agent: Any, network: Weights, name: str, card: dict[str, Any]) -> TrainedAgent:
    made: TrainedAgent = type(agent)(agent.shape, network, name, card)
    return made


def as_split(sets: Any) -> Split:
    """Return validated training and validation graphs; a list or a single graph is used for both."""
    if isinstance(sets, Split):
        return Split(as_graphs(sets.train), as_graphs(sets.val or sets.train), [])
    graphs = as_graphs(sets)
    return Split(graphs, graphs, [])


def describe_training(
    graphs: Split,
    reward: Reward,
    agent: str,
    preset: str,
    settings: TrainingSettings,
    seed: int,
    initial: TrainedAgent | None,
) -> dict[str, Any]:
    """Return everything that determines the result of a training, as JSON values."""
    graph_bytes = (
        graph.indptr.tobytes()
        + graph.indices.tobytes()
        + (b"directed" if graph.directed else b"")
        + (b"" if graph.weights is None else graph.weights.tobytes())
        for graph in [*graphs.train, *graphs.val]
    )
    description: dict[str, Any] = {
        "agent": agent,
        "preset": preset,
        "reward": reward.name,
        "seed": seed,
        "start": None,
        "graphs": {"train": len(graphs.train), "val": len(graphs.val), "sha256": hash_chunks(graph_bytes)},
        "settings": asdict(settings),
    }
    if initial is not None:
        weight_bytes = (key.encode() + array.tobytes() for key, array in initial.network.items())
        description["start"] = f"{initial.name}, sha256 {hash_chunks(weight_bytes)}"
    if getattr(reward, "fingerprint", None) is not None:  # built-in rewards have none
        description["fingerprint"] = fingerprint("reward", reward)
    return description


def open_folder(folder: Path, description: dict[str, Any]) -> TrainedAgent | None:
    """Create a folder, or return the best agent so far of the training in it; raise if it is another training."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingError(f"cannot work in {folder}: {error.strerror}.") from None
    if not (folder / AGENT_FILE).is_file():
        return None
    found = load_agent(folder)
    old, new = ({**card.pop("settings"), **card} for card in (dict(found.card["training"]), dict(description)))
    for key in {**new, **old}:
        if old.get(key) != new.get(key):
            raise SettingError(
                f"{folder} holds another training: its {key} is {quote_value(old.get(key))}, not "
                f"{quote_value(new.get(key))}; choose another folder or delete it."
            )
    return found


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
