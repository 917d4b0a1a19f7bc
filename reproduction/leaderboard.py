"""Agents on the frozen suite of tasks: shares of the ceiling, scores at budgets of time, tracks and times."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from curiograph.agents.suite import BUDGETS, SuiteResult, suite
from curiograph.graph.generators import FAMILIES
from curiograph.progress import split_progress
from reproduction.comparison import REWARDS
from reproduction.report import Report, Setup, number, percent

AGENTS = (
    "random", "greedy", "beam:1", "beam:8", "beam:64", "planner:1", "planner", "planner:32", "gnn", "gnn-paper",
)  # fmt: skip
"""Agents of our table; gnn and gnn-paper are the shipped agents of each family, on the graphs of the family."""
ENDINGS = {"gnn": "", "gnn-paper": "-paper"}
"""Endings of the names of shipped agents that are trained for a reward and a family."""
TITLES = {"families": "50 nodes", "sizes": "500 and 5,000 nodes", "real": "real networks"}


def compute(setup: Setup, agents: tuple[str, ...] = AGENTS, add: tuple[str, ...] = ()) -> dict[str, Any]:
    """Evaluate agents on all tasks, and add results that `curiograph evaluate --suite` or `SuiteResult.save` wrote."""
    results = [SuiteResult.load(path, data=setup.folder, progress=setup.progress) for path in add]
    for name, stage in zip(agents, split_progress(setup.progress, [1] * len(agents)), strict=True):
        agent: Any = name
        if name in ENDINGS:
            starts = [f"{reward}-{family}" for reward in REWARDS for family in FAMILIES]
            agent = {start: start + ENDINGS[name] for start in starts}
        results.append(replace(suite(agent, data=setup.folder, progress=stage), agent=name))
    results.sort(key=lambda result: -result.score())
    differences = [None, *(lower.compare(upper).iloc[-1].to_dict() for upper, lower in pairwise(results))]
    return {"agents": [{**result.to_dict(), "difference": d} for result, d in zip(results, differences, strict=True)]}


def report(document: dict[str, Any]) -> Report:
    """Show mean shares by group, length and reward, best agent first."""
    table = []
    for agent in document["agents"]:
        frame = pd.DataFrame(agent["rows"])
        cells = frame.groupby(["group", "steps", "reward"])["share"].mean()
        row = {"agent": agent["agent"], "track": agent["track"], "score": percent(agent["score"])}
        row |= {f"at {budget:,} µs": percent(agent["scores"][str(budget)]) for budget in BUDGETS}
        for group, title in TITLES.items():
            for steps in (10, 50, 200) if group != "families" else (10,):
                shares = [percent(cells.get((group, steps, reward))).removesuffix(" %") for reward in REWARDS]
                row[f"{title}, {steps}"] = " / ".join(shares)
        difference = agent["difference"] or {"difference": None, "sem": None}
        row["to the row above"] = percent(difference["difference"], difference["sem"])
        row["µs"] = number(np.exp(np.log(frame["microseconds"]).mean()), 1)
        table.append({**row, "tasks": str(len(frame))})
    return Report(
        tables={"Shares of the ceiling": pd.DataFrame(table)},
        text="Agents on the frozen suite, best first. Share: (agent - random) / (ceiling - random), the mean over the "
        "tasks of a group and length of walks, in %, igt / cpt; the ceiling is the highest return known from the same "
        "start. Score: the mean share over groups, lengths and rewards; tasks that were not run count as 0, and at a "
        "budget those that take more CPU time per decision too. To the row above: difference of shares on the tasks of "
        "both, paired by walk, with its standard error clustered by graph. µs: CPU time per decision of the first run, "
        "geometric mean over tasks. Track: learned agents decide without computing rewards. [Extend](../extend.md) "
        "shows how to add a row.",
    )
