"""False findings: how often statistics of people find something where there is nothing, and what they find there is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import ttest_ind

import curiograph as cg
from curiograph.graph.graph import Graph
from curiograph.human.people.growth_comparison import QUANTITIES
from curiograph.human.trajectories import Trajectories
from reproduction.report import Report, Setup, average_studies, percent

PEOPLE = (2, 3, 5, 10, 30)
JUMPS = (0.0, 0.1, 0.2)
FAMILIES = ("ba", "rg", "er")
NULLS = ("unbiased", "random-walk")
_NODES, _STEPS, _WALKS = 50, 12, 3  # of the graph, of a walk, of a person
_TABLES: dict[str, tuple[str, dict[str, Any]]] = {
    "Motives of people without any: studies in which some motive is clearly better than chance, or opposed": (
        "motives", {"people": str},
    ),
    "Growth of random walkers: studies in which the interval of a difference excludes 0": (
        "growth", {"people": str, "jumps": percent, "family": str.upper},
    ),
    "Groups: studies that find a difference": ("groups", {"people": str, "effect": str}),
}  # fmt: skip


def compute(setup: Setup, runs: int = 400) -> dict[str, Any]:
    """Count the findings in simulated studies of random walkers and of random numbers."""
    studies: list[tuple[str, dict[str, Any]]] = []
    studies += [("motives", {"people": people}) for people in PEOPLE]
    studies += [("growth", {"people": people, "jumps": 0.1, "family": "ba"}) for people in PEOPLE]
    studies += [("growth", {"people": 30, "jumps": jumps, "family": family}) for jumps in JUMPS for family in FAMILIES]
    studies += [("growth", {"people": 200, "jumps": 0.0, "family": family}) for family in FAMILIES]
    studies += [("groups", {"people": 60, "effect": effect}) for effect in (0.0, 0.5)]
    shares = average_studies(setup, "false_findings", run_study, studies, [runs] * len(studies))
    return {"rows": [{"study": kind, **more, "shares": s} for (kind, more), s in zip(studies, shares, strict=True)]}


def run_study(shared: tuple[list[tuple[str, dict[str, Any]]], int], task: tuple[int, int]) -> dict[str, bool]:
    """Run a replication of a study: return which findings there are."""
    (studies, seed), (number, run) = shared, task
    kind, options = studies[number]
    found: dict[str, bool] = _STUDIES[kind](np.random.default_rng([seed, number, run]), **options)
    return found


def study_motives(rng: np.random.Generator, people: int) -> dict[str, bool]:
    """Test motives on people without any."""
    graph = cg.generate("ba", nodes=_NODES, seed=int(rng.integers(2**31)))
    found = cg.human.hypotheses(graph, draw_walks(graph, people, 0.0, rng), engine=cg.Engine(workers=1))
    return {"better": any(fit.better for fit in found.values()), "opposed": bool(found.opposed)}


def study_growth(rng: np.random.Generator, people: int, jumps: float, family: str) -> dict[str, bool]:
    """Compare random walkers with null models."""
    graph = cg.generate(family, nodes=_NODES, seed=int(rng.integers(2**31)))
    found = cg.human.compare_growth(
        graph, draw_walks(graph, people, jumps, rng), nulls=NULLS, seed=int(rng.integers(2**31)),
        engine=cg.Engine(workers=1),
    )  # fmt: skip
    return {f"{null}: {name}": found.area[null][name].clear for null in NULLS for name in QUANTITIES}


def study_groups(rng: np.random.Generator, people: int, effect: float) -> dict[str, bool]:
    """Compare two groups of random numbers, of which one is shifted by an effect."""
    frame = pd.DataFrame(rng.normal(size=(people, 5)), columns=list("abcde")).assign(user=range(people))
    frame["group"] = np.where(frame["user"] % 2, "one", "other")
    frame.loc[frame["group"] == "one", "a"] += effect
    found = cg.compare_groups(frame, "group", permutations=999).to_frame().set_index("measure")
    halves = [frame["a"][frame["group"] == group] for group in ("one", "other")]
    return {
        "permutation test": bool(found["p"]["a"] < 0.05),
        "t-test": bool(ttest_ind(*halves).pvalue < 0.05),
        "any of 5 (Holm)": bool((found["p_holm"] < 0.05).any()),
    }


_STUDIES: dict[str, Any] = {"motives": study_motives, "growth": study_growth, "groups": study_groups}


def draw_walks(graph: Graph, people: int, jumps: float, rng: np.random.Generator) -> Trajectories:
    """Draw walks of people who take any link to an unvisited node, or jump to any unvisited node."""
    neighbors = [graph.skeleton.indices[a:b] for a, b in zip(graph.skeleton.indptr, graph.skeleton.indptr[1:])]  # noqa: B905
    walks = []
    for _ in range(people * _WALKS):
        walk = [int(rng.integers(graph.num_nodes))]
        while len(walk) < _STEPS:
            near = np.setdiff1d(neighbors[walk[-1]], walk)
            around = near if len(near) else np.setdiff1d(np.concatenate([neighbors[node] for node in walk]), walk)
            jump = rng.random() < jumps or not len(around)
            walk.append(int(rng.choice(np.setdiff1d(np.arange(graph.num_nodes), walk) if jump else around)))
        walks.append(walk)
    return Trajectories.from_walks(walks, [number // _WALKS for number in range(len(walks))], graph)


def report(document: dict[str, Any]) -> Report:
    """Show the share of studies with each finding."""
    tables = {}
    for title, (study, styles) in _TABLES.items():
        cells = [
            {name: style(row[name]) for name, style in styles.items()}
            | {name: percent(share) for name, share in row["shares"].items()}
            for row in document["rows"]
            if row["study"] == study
        ]
        tables[title] = pd.DataFrame(cells).rename(columns={"family": "graph", "effect": "g"})
    return Report(
        tables=tables,
        text=f"Share of {document['settings']['runs']} simulated studies with a finding at the 5 % level. Walkers take "
        f"{_STEPS - 1} random links, or jump, {_WALKS} times each, on a graph of {_NODES} nodes that is drawn for "
        "every study. Where there is nothing to find, 5 % of studies should find something, and at most 7 % of as many "
        "runs may. The last table compares 60 people in two groups: with g = 0.5, a t-test finds the difference in "
        "48 %.",
    )
