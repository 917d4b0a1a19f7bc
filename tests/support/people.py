"""Synthetic human walks: random walks on known graphs, and visits of similar items."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from curiograph.agents.agent_names import AgentLike, as_agent
from curiograph.centrality.walk_statistics import simulate_biased_walks
from curiograph.exploration.mdp import begin
from curiograph.graph.generators import generate
from curiograph.graph.graph import Graph
from curiograph.human.data.datasets import Dataset
from curiograph.human.prediction.predict import Effort
from curiograph.human.trajectories import Trajectories

SMALL = Effort(splits=2, trials=4, train_steps=4, walkers=20, trained_walkers=10, steps=3, windows=80, all_windows=30)
"""Effort of a prediction that takes seconds."""


def walkers(users: int = 40, visits: int = 12, seed: int = 0) -> Dataset:
    """Return random walks on a known graph."""
    graph = generate("ws", nodes=60, seed=seed)
    rng = np.random.default_rng(seed)
    walks = []
    for _ in range(users):
        walk = [int(rng.integers(60))]
        while len(walk) < visits:
            walk.append(int(rng.choice(graph.neighbors(walk[-1]))))
        walks.append(walk)
    return Dataset(Trajectories.from_walks(walks, graph=graph), graph, "walkers")


def follow_agent(
    graph: Graph,
    agent: AgentLike,
    reward: str,
    p_g: float,
    walks: int = 200,
    steps: int = 9,
    seed: int = 0,
    users: Sequence[str] | None = None,
) -> Trajectories:
    """Simulate walks of people who follow an agent with the rank transition."""
    starts = np.random.default_rng(seed).choice(np.flatnonzero(graph.degrees > 0), walks)
    nodes = simulate_biased_walks(begin([graph], [starts], reward, steps, seed=seed), as_agent(agent), p_g, steps)
    labels = [[graph.label(int(node)) for node in walk if node >= 0] for walk in nodes]
    return Trajectories.from_walks(labels, users, graph)


def tastes(users: int = 80, items: int = 60, visits: int = 30, seed: int = 0) -> list[tuple[str, str, int]]:
    """Return events (user, item, time) of users who visit near a preferred item on a ring, from different times on."""
    rng = np.random.default_rng(seed)
    events = []
    for user in range(users):
        near = (rng.integers(items) + np.rint(rng.normal(0, items / 6, 4 * visits))).astype(int) % items
        for time, item in enumerate(list(dict.fromkeys(near.tolist()))[:visits]):
            events.append((f"u{user}", f"i{item}", user % 5 + time))
    return events


def ratings(events: list[tuple[str, str, int]]) -> Dataset:
    """Return events as a dataset without a graph."""
    by_user: dict[str, list[str]] = {}
    for user, item, _ in events:
        by_user.setdefault(user, []).append(item)
    return Dataset(Trajectories.from_walks(by_user.values(), users=list(by_user)), name="ratings")


def ml_100k(folder: Path, events: list[tuple[str, str, int]]) -> Path:
    """Write events in the layout of ml-100k."""
    folder.mkdir(exist_ok=True)
    items = sorted({item for _, item, _ in events})
    lines = [f"{user[1:]}\t{items.index(item) + 1}\t3\t{time}" for user, item, time in events]
    (folder / "u.data").write_text("\n".join(lines) + "\n")
    titles = [f"{number}|Film {item} (1999)|01-Jan-1999||{'|0' * 19}" for number, item in enumerate(items, start=1)]
    (folder / "u.item").write_text("\n".join(titles) + "\n", encoding="latin-1")
    return folder
