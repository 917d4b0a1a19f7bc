"""Figure 4C: distance of unbiased and curious walkers from their start, on the graphs of the three datasets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from curiograph.centrality.walk_statistics import UNBIASED, walk_statistics
from curiograph.human.prediction.methods import REWARDS
from curiograph.plotting import COLORS, create_figure
from reproduction.people import DATASETS, TITLES, list_predictions, train_walkers
from reproduction.report import Report, Setup, plus_minus

P_G = 0.5
"""Parameter of the rank transition: 0 takes the agent's best candidate, 1 any candidate."""
_LINES = {
    UNBIASED: ("pagerank", "-"),
    "igt": ("igt", "-"),
    "cpt": ("cpt", "-"),
    "greedy igt": ("igt", ":"),
    "greedy cpt": ("cpt", ":"),
}  # color and line style of each kind of walkers


def compute(setup: Setup, only: tuple[str, ...] = DATASETS, walks: int = 400, steps: int = 20) -> dict[str, Any]:
    """Run walkers of every kind on every graph from the same starts, with the agents of Table 2's run folder."""
    walkers = {}
    shared: dict[str, Any] = {"walks": walks, "steps": steps, "p_g": P_G, "seed": setup.seed}
    for dataset, settings in list_predictions(setup, only):
        study, agents = train_walkers(dataset, **settings)
        graph = study.graph
        found = {UNBIASED: walk_statistics(graph, None, **shared)}
        for reward in REWARDS:
            found[reward] = walk_statistics(graph, agents[reward], reward=reward, **shared)
            found[f"greedy {reward}"] = walk_statistics(graph, "greedy", reward=reward, **shared)
        walkers[dataset.name] = {kind: each.columns() for kind, each in found.items()}
    return {"walking": {"walks": walks, "steps": steps, "p_g": P_G}, "walkers": walkers}


def report(document: dict[str, Any]) -> Report:
    """Show the distance from the start."""
    walking, walkers = document["walking"], document["walkers"]
    rows, remarks = [], []
    figure, cells = create_figure(9.0, 3.8, columns=len(walkers))
    for ax, (name, kinds) in zip(np.atleast_1d(cells), walkers.items(), strict=True):
        for kind, each in kinds.items():
            ends = [("distance", 3), ("distance", 5), ("distance", -1), ("coverage", -1), ("gaps", -1)]
            values = [plus_minus(each[curve][step], each[f"{curve}_stderr"][step]) for curve, step in ends]
            rows.append([TITLES[name], kind, *values])
            color, style = _LINES[kind]
            mean, error = np.array(each["distance"]), np.array(each["distance_stderr"])
            ax.plot(mean, style, color=COLORS[color], label=kind, linewidth=2)
            ax.fill_between(range(len(mean)), mean - error, mean + error, color=COLORS[color], alpha=0.2, linewidth=0)
        ax.set(title=TITLES[name], xlabel="step", ylabel="distance from the start (links)")
        ordered = sorted((each["distance"][-1], kind) for kind, each in kinds.items())
        order = " < ".join(f"{kind} {distance:.2f}" for distance, kind in ordered)
        remarks.append(f"{TITLES[name]}, links from the start at the end: {order}.")
    figure.axes[0].legend(frameon=False)
    columns = ["dataset", "walker", "after 3 steps", "after 5", "at the end", "distinct nodes", "gaps at the end"]
    return Report(
        tables={"Links from the start": pd.DataFrame(rows, columns=columns)},
        figure=figure,
        text=f"Links on the shortest path from the start, mean ± standard error over {walking['walks']} walkers of "
        f"{walking['steps']} nodes, p_g {walking['p_g']}. Unbiased walkers are those of PageRank and may return to a "
        "node; curious walkers (igt, cpt: agents trained on the graph; greedy: the exact reward of the next step) "
        "remember their path.",
        remarks=[
            *remarks,
            "The paper reports small differences, with cpt closest to the start on MovieLens and Wikispeedia.",
        ],
    )
