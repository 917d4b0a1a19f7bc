"""What makes a training this one and no other: a folder that holds another is not gone on with."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from curiograph.agents.pretrained import TrainedAgent, load_agent
from curiograph.errors import FileFormatError, SettingError
from curiograph.graph.splits import Split
from curiograph.messages import quote_value
from curiograph.parallel.fingerprint import fingerprint
from curiograph.rewards.base import Reward
from curiograph.training.config import TrainingSettings

RUN_FILE = "run.json"


@dataclass(frozen=True, eq=False)
class Start:
    """A trained agent to go on from."""

    text: str
    """As it was given: a path may lead nowhere on another machine."""
    agent: TrainedAgent


def as_start(start: str | Path | Start | None) -> Start | None:
    """The agent meant by a name or a path, if any."""
    return start if start is None or isinstance(start, Start) else Start(str(start), load_agent(start))


def describe_run(
    graphs: Split, reward: Reward, agent: str, settings: TrainingSettings, seed: int, start: Start | None
) -> dict[str, Any]:
    """What tells a training from all others, as JSON holds it."""
    facts = {
        "agent": agent,
        "reward": reward.name,
        "seed": seed,
        "start": None if start is None else f"{start.text}, sha256 {_network_digest(start.agent)}",
        "graphs": {"train": len(graphs.train), "val": len(graphs.val), "sha256": _graphs_digest(graphs)},
        "settings": asdict(settings),
    }
    if getattr(reward, "fingerprint", None) is not None:  # ours have none, and so have runs that are older than this
        facts["fingerprint"] = fingerprint("reward", reward)
    plain: dict[str, Any] = json.loads(json.dumps(facts))
    return plain


def _graphs_digest(graphs: Split) -> str:
    digest = hashlib.sha256()
    for graph in [*graphs.train, *graphs.val]:
        digest.update(graph.indptr.tobytes() + graph.indices.tobytes())
        if graph.directed:
            digest.update(b"directed")
        if graph.weights is not None:
            digest.update(graph.weights.tobytes())
    return digest.hexdigest()


def _network_digest(agent: TrainedAgent) -> str:
    digest = hashlib.sha256()
    for name, array in agent.network.items():
        digest.update(name.encode() + array.tobytes())
    return digest.hexdigest()


def check_run_folder(out: Path, facts: Mapping[str, Any]) -> None:
    """Raise where a folder holds another training than this."""
    if not (out / RUN_FILE).is_file():
        return
    known = read_run_file(out / RUN_FILE)
    if known != facts:
        raise SettingError(
            f"{out} holds another training: {_difference(known, facts)}; choose another folder or delete it."
        )


def _difference(known: Any, asked: Mapping[str, Any]) -> str:
    """The first thing in which two trainings differ."""
    before, now = _flat(known), _flat(asked)
    names = (name for name in (*now, *before) if name not in before or name not in now or before[name] != now[name])
    odd = next(names, "origin")
    if odd == "graphs":
        return "its graphs are not those asked for"
    return f"its {odd} is {quote_value(before.get(odd))}, not {quote_value(now.get(odd))}"


def _flat(facts: Any) -> dict[str, Any]:
    """Facts and settings, of the agent's shape too, side by side.

    >>> _flat({"seed": 0, "settings": {"batch": 8, "shape": {"width": 4}}})
    {'seed': 0, 'batch': 8, 'width': 4}
    """
    if not isinstance(facts, dict):
        return {"origin": facts}
    for inner in ("settings", "shape"):
        if isinstance(facts.get(inner), dict):
            facts = {name: value for name, value in facts.items() if name != inner} | facts[inner]
    return dict(facts)


def read_run_file(path: Path) -> Any:
    """The facts in a folder of a training."""
    try:
        return json.loads(path.read_text())
    except (ValueError, OSError, RecursionError):
        raise FileFormatError(f"{path}: is not what a training wrote; choose another folder or delete it.") from None
