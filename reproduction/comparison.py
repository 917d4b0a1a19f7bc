"""Agents that the experiments compare, and the graphs on which they walk."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from curiograph.agents.agent_names import as_agent
from curiograph.agents.evaluate import Episodes, Evaluation, evaluate
from curiograph.agents.pretrained import load_agent
from curiograph.arrays import Float64
from curiograph.files import PathLike
from curiograph.graph.generators import FAMILIES, generate_split, read_split
from curiograph.graph.graph import Graph
from curiograph.graph.io.formats import read_graph
from curiograph.human.data.datasets import find_dataset
from curiograph.parallel import IN_PROCESS
from reproduction.published import PublishedTies
from reproduction.report import Setup

REWARDS = ("igt", "cpt")
TITLES = {"igt": "igt: information gaps", "cpt": "cpt: compressibility (bits)"}
_TRAINED = {"gnn-paper": "{}-{}-paper", "gnn": "{}-{}", "planner": "{}-{}-planner"}


def find_agent(column: str, reward: str, family: str) -> str:
    """Return the name of the agent of a column; trained ones are those for the reward and the family.

    >>> find_agent("beam", "igt", "rg"), find_agent("planner", "igt", "rg")
    ('beam', 'igt-rg-planner')
    """
    if column == "best":
        return "exact" if reward == "igt" else "beam"
    return _TRAINED.get(column, column).format(reward, family)


def read_seed_returns(name: str, family: str) -> list[float]:
    """Return the mean returns of an agent on test graphs by training seed, from the card of the shipped agent.

    The first is that of the shipped agent. `scripts/train_all.py` trains the others with the same settings.

    >>> len(read_seed_returns("igt-rg-planner", "rg"))
    3
    """
    card = load_agent(name).card
    seeds = {"0": card.get("returns", {}), **card.get("seeds", {})}
    return [seeds[seed][family]["mean"] for seed in sorted(seeds) if family in seeds[seed]]


def find_published(folder: PathLike | None) -> dict[str, list[Graph]]:
    """Return the published test graphs by family, if they are in the folder or on this machine."""
    place = find_dataset("paper-graphs", folder)
    files = {family: f"synthetic_{family.upper()}_medium.json" for family in FAMILIES}
    return {} if place is None else {family: read_split(place / file).test for family, file in files.items()}


def find_networks(folder: PathLike | None) -> dict[str, Graph]:
    """Return the real networks by name, if they are in the folder or on this machine; NAME-directed.tsv is directed."""
    place = find_dataset("real-networks", folder)
    return {
        path.stem.removesuffix("-directed"): read_graph(path, directed=path.stem.endswith("-directed"))
        for path in (sorted(place.glob("*.tsv")) if place else [])
    }


def generate_tests(family: str, graphs: int, seed: int, nodes: int = 50) -> list[Graph]:
    """Generate test graphs, whose random streams are others than those of training graphs."""
    return generate_split(family, nodes, train=0, val=0, test=graphs, seed=seed).test


class Walks(NamedTuple):
    """Walks of one agent on the test graphs of a family: `episodes` of `steps` nodes on each."""

    agent: str
    reward: str
    family: str
    episodes: Episodes
    graphs: int = 10
    nodes: int = 50
    steps: int = 10
    seed: int = 0
    rules: str = "ours"
    """Ties and dead ends: "ours", or those of the "authors" in the published code."""


def run_all_walks(
    setup: Setup, name: str, tasks: Sequence[Walks], graphs: Mapping[str, list[Graph]]
) -> list[Mapping[str, Any]]:
    """Run walks as a job; `graphs` are given graphs by family, others are generated.

    Returns for each task the `returns` by graph (graphs x walks), and the `milliseconds` per walk, with all walks of
    the task run together.
    """
    agents = [as_agent(agent) for agent in sorted({task.agent for task in tasks})]
    key = [*agents, *(graph for family in graphs.values() for graph in family)]
    return setup.engine.map(_run_walks, dict(graphs), tasks, name=name, key=key, progress=setup.progress)


def _run_walks(shared: Mapping[str, list[Graph]], task: Walks) -> dict[str, Any]:
    graphs = shared.get(task.family) or generate_tests(task.family, task.graphs, task.seed, task.nodes)
    agent, authors = as_agent(task.agent), task.rules == "authors"
    if authors and task.agent in ("max-degree", "min-degree", "greedy"):  # the others have no ties, or search
        agent = PublishedTies(agent)
    common: dict[str, Any] = {"fallback": "anywhere" if authors else "frontier", "engine": IN_PROCESS}
    evaluate(
        agent, graphs, task.reward, 3, 1, seed=task.seed, **common
    )  # compiles and prepares, before the time counts
    start = time.perf_counter()
    result = evaluate(agent, graphs, task.reward, task.steps, task.episodes, seed=task.seed, **common)
    milliseconds = 1000 * (time.perf_counter() - start) / result.episodes
    return {"returns": np.stack(result.returns), "milliseconds": milliseconds}


def describe_returns(returns: Iterable[Float64]) -> dict[str, Any]:
    """Return the mean, its standard errors, and the means by graph, as plain values."""
    found = Evaluation("", "", 0, list(returns))
    by_graph = found.by_graph.tolist()
    errors = {"sem": found.sem, "sem_by_graph": found.sem_by_graph}
    return {"mean": found.mean, **errors, "graphs": len(by_graph), "episodes": found.episodes, "by_graph": by_graph}
