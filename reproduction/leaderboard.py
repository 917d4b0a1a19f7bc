"""Agents on the frozen suite of tasks: shares of the ceiling, and times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from curiograph.agents.suite import suite
from curiograph.progress import split_progress
from reproduction.report import Report, Setup, is_known, number, percent

AGENTS = ("random", "greedy", "beam:1", "beam:8", "beam:64", "planner:1", "planner:4", "planner", "planner:32")
"""Agents of our table."""
TITLES = {"families": "50 nodes", "sizes": "500 and 5,000 nodes", "lengths": "50-node walks", "real": "real networks"}
"""Titles of the groups of tasks."""
REFERENCE = "greedy"
"""Agent whose time per decision is the unit."""


def compute(setup: Setup, agents: tuple[str, ...] = AGENTS) -> dict[str, Any]:
    """Evaluate agents on all tasks; greedy always, for the unit of times."""
    names = list(dict.fromkeys([REFERENCE, *agents]))
    stages = zip(names, split_progress(setup.progress, [1] * len(names)), strict=True)
    return {"agents": {name: suite(name, data=setup.folder, progress=stage).tasks for name, stage in stages}}


def report(document: dict[str, Any]) -> Report:
    """Show mean shares by group and reward, best agent first."""
    unit = {task["task"]: task["microseconds"] for task in document["agents"][REFERENCE]}
    rows = []
    for agent, tasks in document["agents"].items():
        frame = pd.DataFrame(tasks).astype({"share": float})
        shares = frame.groupby(["group", "reward"], sort=False)["share"].mean()
        cells = [shares.get((group, reward), np.nan) for group in TITLES for reward in ("igt", "cpt")]
        known = [task for task in tasks if is_known(task["share"])]
        worst = min(known, key=lambda task: task["share"])
        ratio = np.exp(np.mean([np.log(task["microseconds"] / unit[task["task"]]) for task in tasks]))
        lowest = f"{percent(worst['share'])} ({worst['task']})"
        rows.append(
            [agent, np.nan_to_num(cells).mean(), *map(percent, cells), lowest, number(ratio, 1), str(len(tasks))]
        )
    rows.sort(key=lambda row: -row[1])
    titles = [f"{title}, {reward}" for title in TITLES.values() for reward in ("igt", "cpt")]
    columns = ["agent", "mean", *titles, "lowest share", "time", "tasks"]
    table = pd.DataFrame([[row[0], percent(row[1]), *row[2:]] for row in rows], columns=columns)
    return Report(
        tables={"Shares of the ceiling": table},
        text="Agents on the frozen suite, best first. Share: (agent - random) / (ceiling - random), the mean over the "
        "tasks of a group; the ceiling is the highest return that wide searches found from the same start. Mean: over "
        "groups and rewards; a group that was not evaluated counts as zero. Time: CPU time per decision, relative to "
        f"{REFERENCE}, geometric mean over tasks. [Extend](../extend.md) shows how to add a row.",
    )
