"""Walks of 10 to 200 nodes on generated graphs of 500 nodes and on real networks: planner against plain beam search."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from curiograph.agents.agent_names import as_agent
from curiograph.graph.generators import FAMILIES
from curiograph.graph.graph import Graph
from reproduction.comparison import REWARDS, find_networks, generate_tests
from reproduction.report import Report, Setup
from reproduction.timing import compute_ratio_of_means, time_on_graphs

NODES = 500
"""Number of nodes of the generated graphs."""
STARTS = {"igt": {10: 20, 25: 20, 50: 20, 100: 20, 200: 20}, "cpt": {10: 20, 25: 20, 50: 10, 100: 3}}
"""Number of starts by reward and length; cpt takes time with the third power of the length."""
WIDTHS = {10: (8, 16, 20, 24, 32), 25: (8, 12, 16, 20), 50: (8, 10, 12, 16), 100: (8, 10, 12), 200: (8, 10, 12)}
"""Widths of plain beams by length; that with the time nearest to planner's is the one at equal time."""
GROUPS = ("real networks", f"{NODES} nodes")
"""Names of the networks, and of the families, which are in capital letters."""


def compute(setup: Setup, starts: int = 20, longest: int = 200, repeats: int = 3) -> dict[str, Any]:
    """Compare the agents at all lengths, on graphs with at least twice as many nodes; one start per generated graph."""
    graphs = {family.upper(): generate_tests(family, starts, setup.seed, NODES) for family in FAMILIES}
    graphs |= {name: [graph] for name, graph in find_networks(setup.folder).items()}
    tasks = [
        (reward, steps, name, min(starts, most))
        for reward in REWARDS
        for steps, most in STARTS[reward].items()
        for name, own in graphs.items()
        if steps <= longest and own[0].num_nodes >= 2 * steps
    ]
    key, shared = [as_agent("planner"), repeats, setup.seed], (graphs, repeats, setup.seed)
    key += [graph for own in graphs.values() for graph in own]
    found = setup.engine.map(_compare, shared, tasks, name="lengths", key=key, progress=setup.progress)
    names = ("reward", "nodes", "graphs", "starts")
    return {"rows": [{**dict(zip(names, task, strict=True)), **each} for task, each in zip(tasks, found, strict=True)]}


def _compare(shared: tuple[Mapping[str, list[Graph]], int, int], task: tuple[str, int, str, int]) -> dict[str, Any]:
    (graphs, repeats, seed), (reward, steps, name, starts) = shared, task
    own = graphs[name][:starts]
    agents = {name: name for name in ("planner", *(f"beam:{width}" for width in WIDTHS[steps]))}
    timed = time_on_graphs(agents, own, reward, starts // len(own), repeats, seed, steps, enough=1e-3)
    planner, beams = timed.pop("planner"), {}
    for beam, each in timed.items():
        lead, error = compute_ratio_of_means(planner.walks.returns - each.walks.returns, each.walks.returns)
        beams[beam] = {"lead": lead, "error": error, "time": planner.seconds / each.seconds}
    return {"mean": float(planner.walks.returns.mean()), "microseconds": 1e6 * planner.seconds, "beams": beams}


def report(document: dict[str, Any]) -> Report:
    """Count the rows in which planner is at or above the plain beams, and show all rows."""
    records, details, summary, remarks = [], [], [], []
    for row in document["rows"]:
        beams, group = row["beams"], GROUPS[row["graphs"].isupper()]
        equal = min(beams, key=lambda beam: abs(math.log(beams[beam]["time"])))
        eight, near = beams["beam:8"], beams[equal]
        records.append([row["reward"], group, row["nodes"], row["graphs"], eight["lead"], eight["time"], near["lead"]])
        records[-1] += [near["time"], near["lead"] < -2 * (near["error"] or 0)]
        details.append([row["reward"], row["graphs"], f"{row['nodes']}", f"{row['starts']}", f"{row['mean']:,.2f}"])
        details[-1] += [f"{row['microseconds']:,.0f}", _format_lead(eight), f"{_format_lead(near)} ({equal})"]
    where = ["reward", "group", "nodes"]
    frame = pd.DataFrame(records, columns=[*where, "graphs", "lead", "time", "near", "near_time", "clear"])
    for place, own in frame.groupby(where, sort=False):
        cells = [[_count(own[lead]), f"{100 * own[lead].mean():+.1f} %"] for lead in ("lead", "near")]
        times = own[["time", "near_time"]].mean()
        summary.append([*map(str, place), *cells[0], f"{times.iloc[0]:.2f}", *cells[1], f"{times.iloc[1]:.2f}"])
    for (reward, group), own in frame[frame["nodes"] > 10].groupby(where[:2], sort=False):
        remarks.append(
            f"{reward}, {group}, walks of more than 10 nodes: planner is at or above beam:8 in {_count(own['lead'])} "
            f"rows, and at or above the beam of equal time in {_count(own['near'])}; below the latter by more than two "
            f"standard errors in {own['clear'].sum()}."
        )
    columns = ["reward", "graphs", "nodes of the walk"]
    counted = [f"{name} {beam}" for beam in ("beam:8", "equal time") for name in ("at or above", "lead to", "time /")]
    rows = [*columns, "starts", "return", "us", "lead to beam:8, time ratio", "at equal time"]
    return Report(
        tables={"planner against plain beam search": pd.DataFrame(summary, columns=[*columns, *counted])},
        text="planner (width 8, trained on walks of 10 nodes and on none of these graphs) against plain beam search of "
        "width 8, and of the measured width whose CPU time per decision is nearest to planner's; where planner is "
        "faster than beam:8, the narrowest, this is beam:8 with more time. Lead: mean difference over the same starts, "
        "relative to the return of the beam, ± standard error over starts. A row is a reward, a length and a family or "
        f"network with at least twice as many nodes; families have {NODES} nodes and one start on each graph. Times "
        "are planner's relative to the beam's: the median of several runs with all agents in turns, but one run, which "
        "other work on the machine can distort, above 1 ms. cpt has few starts on long walks, which are slow.",
        remarks=remarks,
        details={"All rows": pd.DataFrame(details, columns=rows)},
    )


def _count(leads: pd.Series) -> str:
    return f"{(leads >= -1e-9).sum()} of {len(leads)}"


def _format_lead(found: Mapping[str, Any]) -> str:
    return f"{100 * found['lead']:+.1f} ± {100 * (found['error'] or 0):.1f} %, {found['time']:.2f}"
