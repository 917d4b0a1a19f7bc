"""The tasks of the suite: graphs, starts, walk lengths and rewards, all fixed by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curiograph.agents.evaluate import draw_starts
from curiograph.exploration.mdp import Exploration, begin, list_starts
from curiograph.graph.generators import FAMILIES, generate_split
from curiograph.graph.graph import Graph
from curiograph.leaderboard.networks import read_network

REWARDS = ("igt", "cpt")
"""Rewards of the tasks."""
FAMILIES_GROUP, SIZES_GROUP, LENGTHS_GROUP, REAL_GROUP = GROUPS = ("families", "sizes", "lengths", "real")
"""Groups of tasks: published families, larger graphs, longer walks, real networks."""
_SEED = 20_260_000  # of test graphs, starts and ties; the seeds of our trainings and tables are small numbers
_WIDE = {"igt": ["beam:1024", "planner:128"], "cpt": ["beam:512", "planner:128"]}  # ceilings of 10-node walks
_WIDE_LONG = {"igt": ["beam:256", "planner:64"], "cpt": ["beam:64", "planner:16"]}  # ceilings of 50-node walks


@dataclass(frozen=True)
class Task:
    """Walks with one reward on fixed graphs from fixed starts."""

    name: str
    """Unique name: reward, graphs, and number of nodes or steps, such as `igt-rg-50`."""
    group: str
    """One of `GROUPS`."""
    reward: str
    """Name of the reward."""
    steps: int
    """Nodes per walk, including the start."""
    episodes: int
    """Walks per graph."""
    ceiling: list[str]
    """Agents of which the best return of each walk is the ceiling, beside greedy."""
    family: str = ""
    """Family of generated graphs; empty for a real network."""
    nodes: int = 0
    """Number of nodes of generated graphs."""
    graphs: int = 1
    """Number of graphs."""
    network: str = ""
    """Name of the real network; empty for generated graphs."""

    def load_graphs(self, networks: Mapping[str, Path]) -> list[Graph]:
        """Generate the graphs, or read the real network from its file."""
        if self.network:
            return [read_network(networks[self.network])]
        return generate_split(self.family, self.nodes, train=0, val=0, test=self.graphs, seed=_SEED).test

    def begin_walks(self, graphs: list[Graph]) -> Exploration:
        """Return all walks at their starts; walks of the same graph are consecutive."""
        starts = [
            draw_starts(list_starts(graph, "frontier"), self.episodes, _SEED, number)
            for number, graph in enumerate(graphs)
        ]
        return begin(graphs, starts, self.reward, self.steps, seed=_SEED)


def list_generated_tasks() -> list[Task]:
    """Return the tasks on generated graphs: families of 50 nodes, larger graphs, and longer walks."""
    tasks = []
    for reward in REWARDS:
        wide = _WIDE[reward]
        for family in FAMILIES:
            common: dict[str, Any] = {"reward": reward, "family": family}
            tasks.append(
                Task(name=f"{reward}-{family}-50", group=FAMILIES_GROUP, steps=10, episodes=20, ceiling=wide,
                     nodes=50, graphs=10, **common)
            )  # fmt: skip
            tasks += [
                Task(name=f"{reward}-{family}-{nodes}", group=SIZES_GROUP, steps=10, episodes=10, ceiling=wide,
                     nodes=nodes, graphs=4, **common)
                for nodes in (500, 5000)
            ]  # fmt: skip
            tasks.append(
                Task(name=f"{reward}-{family}-500-long", group=LENGTHS_GROUP, steps=50, episodes=2,
                     ceiling=_WIDE_LONG[reward], nodes=500, graphs=4, **common)
            )  # fmt: skip
    return sorted(tasks, key=lambda task: GROUPS.index(task.group))


def list_real_tasks(names: list[str]) -> list[Task]:
    """Return the tasks on real networks."""
    return [
        Task(name=f"{reward}-{name}", group=REAL_GROUP, reward=reward, steps=10, episodes=40, ceiling=_WIDE[reward],
             network=name)
        for reward in REWARDS
        for name in names
    ]  # fmt: skip
