"""Table 1: mean return of 10-node walks by agent, reward and graph family, beside the paper's figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from curiograph.agents.contract import Agent
from curiograph.agents.registry import as_agent
from curiograph.agents.running import Evaluation, evaluate
from curiograph.errors import SettingError
from curiograph.exploration.batch import Exploration
from curiograph.graph.container import Graph
from curiograph.graph.environments import read_split
from curiograph.graph.families import FAMILIES, generate_split
from curiograph.graph.rows import Float64
from curiograph.plotting import figure, plot_bars, save_figure

REWARDS = ("igt", "cpt")
AGENTS = ("random", "max-degree", "min-degree", "greedy", "beam")
_PAPER_GRAPHS = 10

PAPER: dict[tuple[str, str], dict[str, tuple[float, float]]] = {
    ("igt", "rg"): {"random": (0.312, 0.034), "max-degree": (0.010, 0.007), "min-degree": (0.144, 0.027),
                    "greedy": (1.495, 0.079), "gnn": (2.308, 0.092)},
    ("igt", "ws"): {"random": (1.141, 0.068), "max-degree": (1.048, 0.068), "min-degree": (1.586, 0.082),
                    "greedy": (2.707, 0.103), "gnn": (3.303, 0.106)},
    ("igt", "ba"): {"random": (7.593, 0.145), "max-degree": (2.565, 0.083), "min-degree": (3.932, 0.115),
                    "greedy": (19.332, 0.206), "gnn": (21.970, 0.169)},
    ("igt", "er"): {"random": (9.197, 0.144), "max-degree": (9.638, 0.162), "min-degree": (4.953, 0.127),
                    "greedy": (25.20, 0.164), "gnn": (24.058, 0.183)},
    ("cpt", "rg"): {"random": (8.607, 0.027), "max-degree": (8.928, 0.027), "min-degree": (7.864, 0.033),
                    "greedy": (9.615, 0.014), "gnn": (9.271, 0.017)},
    ("cpt", "ws"): {"random": (7.117, 0.021), "max-degree": (6.788, 0.025), "min-degree": (6.937, 0.021),
                    "greedy": (7.668, 0.012), "gnn": (7.174, 0.014)},
    ("cpt", "ba"): {"random": (6.926, 0.023), "max-degree": (8.526, 0.015), "min-degree": (5.899, 0.016),
                    "greedy": (8.669, 0.016), "gnn": (8.556, 0.010)},
    ("cpt", "er"): {"random": (6.767, 0.020), "max-degree": (6.931, 0.019), "min-degree": (6.022, 0.017),
                    "greedy": (8.262, 0.016), "gnn": (7.880, 0.015)},
}  # fmt: skip
"""Mean and standard error, from Table 1 of Patankar, Ouellet et al. (LoG 2023): 10 graphs x 100 episodes."""


@dataclass(frozen=True)
class Settings:
    """What is run."""

    episodes: int = 100
    """Walks per graph of every agent but the planner."""
    beam_episodes: int = 100
    """Walks per graph of the planner, which needs a thousand times longer for each."""
    graphs: int = 10
    """Generated test graphs per family."""
    nodes: int = 50
    steps: int = 10
    seed: int = 0


@dataclass(frozen=True)
class Cell:
    """One row of the table: a reward on a family."""

    reward: str
    family: str
    source: str
    """Where the graphs come from."""
    results: dict[str, Evaluation]
    published_rules: dict[str, Evaluation]
    """The same under the rules of the published code: ties in the order of a Python set, dead ends go anywhere."""

    @property
    def paper(self) -> dict[str, tuple[float, float]]:
        """The paper's mean and standard error by agent."""
        return PAPER[self.reward, self.family]


class _PublishedTies(Agent):
    """Another agent with its ties broken as in the published code, which takes the first candidate of a Python set.

    The order of a set of small integers is fixed but odd (8 comes before 1), and it matters: on Barabasi-Albert graphs
    it lifts greedy cpt by more than ten of the paper's standard errors.
    """

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self.name = agent.name

    def scores(self, exploration: Exploration) -> Float64:
        scores = self._agent.scores(exploration)
        ranks = np.empty(len(scores))
        offsets, first = exploration.candidates.offsets, exploration.stack.starts[exploration.graph_of]
        for walk, (low, high) in enumerate(pairwise(offsets)):
            nodes = (exploration.candidates.nodes[low:high] - first[walk]).tolist()
            seen = {node: place for place, node in enumerate(set(nodes))}
            keys = [(-score, seen[node]) for score, node in zip(scores[low:high], nodes, strict=True)]
            best_first = sorted(range(len(nodes)), key=keys.__getitem__)
            ranks[low + np.asarray(best_first, np.int64)] = -np.arange(len(nodes))
        return ranks


def run(
    settings: Settings,
    environments: Sequence[str | Path] = (),
    progress: Callable[[str], None] = lambda message: None,
) -> list[Cell]:
    """All cells, on generated graphs or on published environment files."""
    cells = []
    for family, source, graphs in list(_test_graphs(settings, environments)):
        for reward in REWARDS:
            results, published = {}, {}
            for name in AGENTS:
                progress(f"{reward} on {family}: {name}")
                episodes = settings.beam_episodes if name == "beam" else settings.episodes
                results[name] = evaluate(name, graphs, reward, settings.steps, episodes, seed=settings.seed)
                if name in ("max-degree", "min-degree", "greedy"):
                    published[name] = evaluate(
                        _PublishedTies(as_agent(name)), graphs, reward, settings.steps, episodes,
                        fallback="anywhere", seed=settings.seed,
                    )  # fmt: skip
            cells.append(Cell(reward, family, source, results, published))
    return sorted(cells, key=lambda cell: (REWARDS.index(cell.reward), list(FAMILIES).index(cell.family)))


def _test_graphs(settings: Settings, environments: Sequence[str | Path]) -> Iterator[tuple[str, str, list[Graph]]]:
    if not environments:
        for family in FAMILIES:
            split = generate_split(family, settings.nodes, train=0, val=0, test=settings.graphs, seed=settings.seed)
            yield family, f"generated, {settings.nodes} nodes, seed {settings.seed}", split.test
    seen: set[str] = set()
    for path in environments:
        graphs = read_split(path).test
        named = [family for family in FAMILIES if f"_{family}_" in f"_{Path(path).stem.lower()}_"]
        if len(named) != 1:
            raise SettingError(
                f"{path}: cannot tell the family from the name; put one of {', '.join(FAMILIES)} between underscores, "
                "as in synthetic_RG_small.json."
            )
        if named[0] in seen:
            raise SettingError(f"{path}: there is another file of the family {named[0]}; give one per family.")
        seen.add(named[0])
        yield named[0], Path(path).name, graphs


def to_markdown(cells: Sequence[Cell]) -> str:
    """The table, with the paper's figures in a second line of each cell."""
    counts = {len(result.returns) for cell in cells for result in cell.results.values()}
    lines = [
        "Mean return ± standard error over episodes (± clustered by graph); the paper's figures in italics. "
        f"Graphs per family: {', '.join(map(str, sorted(counts)))} ({'; '.join(sorted({c.source for c in cells}))}).",
        "",
        "| reward | family | " + " | ".join(AGENTS) + " | paper's GNN |",
        "|---|---|" + "---|" * (len(AGENTS) + 1),
    ]
    for cell in cells:
        columns = [_with_paper(cell, name) for name in AGENTS]
        gnn = cell.paper["gnn"]
        lines.append(
            f"| {cell.reward} | {cell.family.upper()} | {' | '.join(columns)} | *{gnn[0]:.2f} ± {gnn[1]:.2f}* |"
        )
    return "\n".join([*lines, "", *_rules_markdown(cells)]) + "\n"


def _with_paper(cell: Cell, name: str) -> str:
    result = cell.results[name]
    text = f"{result.mean:.2f} ± {result.sem:.2f} (± {result.sem_by_graph:.2f})"
    return text + (f"<br>*{cell.paper[name][0]:.2f} ± {cell.paper[name][1]:.2f}*" if name in cell.paper else "")


def _rules_markdown(cells: Sequence[Cell]) -> Iterator[str]:
    yield "How much of a difference the rules make: ties at random and dead ends to the frontier (ours), against"
    yield "ties in the order of a Python set and dead ends anywhere (the published code)."
    yield ""
    yield "| reward | family | agent | our rules | z | published rules | z | paper |"
    yield "|---|---|---|---|---|---|---|---|"
    for cell in cells:
        for name in AGENTS[:-1]:
            ours, theirs = cell.results[name], cell.published_rules.get(name)
            mean, error = cell.paper[name]
            other = f"{theirs.mean:.2f} | {_z(theirs, mean)}" if theirs else " | "
            row = f"{ours.mean:.2f} | {_z(ours, mean)} | {other} | {mean:.2f} ± {error:.2f}"
            yield f"| {cell.reward} | {cell.family.upper()} | {name} | {row} |"
    yield ""
    yield "z: difference from the paper in standard errors. Both tables have graphs of their own, so the error is that"
    yield "of the mean over graphs (the paper's 10, for which it gives no such error, are taken to vary as ours do)."
    yield "With few graphs that error is itself uncertain, and where returns are mostly zero it says little."


def _z(result: Evaluation, paper: float) -> str:
    error = result.sem_by_graph * math.sqrt(1 + len(result.returns) / _PAPER_GRAPHS)
    return f"{(result.mean - paper) / error:+.1f}" if error > 0 else ""


def to_dict(cells: Sequence[Cell], settings: Settings) -> dict[str, Any]:
    """Everything as plain values."""
    return {
        "settings": asdict(settings),
        "cells": [
            {
                "reward": cell.reward,
                "family": cell.family,
                "source": cell.source,
                "results": {name: result.to_dict() for name, result in cell.results.items()},
                "published_rules": {name: result.to_dict() for name, result in cell.published_rules.items()},
                "paper": {name: {"mean": mean, "sem": error} for name, (mean, error) in cell.paper.items()},
            }
            for cell in cells
        ],
    }


def save_plot(cells: Sequence[Cell], path: str | Path) -> None:
    """Bars for every agent, a panel for each reward, the paper's figures as diamonds."""
    made, panels = figure(11.0, 3.8, columns=2)
    for panel, reward in zip(panels, REWARDS, strict=True):
        rows = [cell for cell in cells if cell.reward == reward]
        series = {
            name: ([c.results[name].mean for c in rows], [c.results[name].sem_by_graph for c in rows])
            for name in AGENTS
        }
        marks = {name: [c.paper[name][0] for c in rows] for name in AGENTS if name in rows[0].paper}
        plot_bars([c.family for c in rows], series, panel, marks)
        panel.set_title({"igt": "igt: information gaps", "cpt": "cpt: compressibility (bits)"}[reward])
        panel.set_ylabel("mean return of a 10-node walk")
    panels[1].set_ylim(bottom=5)  # all agents earn most of their bits by walking at all
    handles, names = panels[0].get_legend_handles_labels()
    made.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
    save_figure(panels[0], path)
