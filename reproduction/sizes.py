"""Walks of 10 nodes on graphs of 10 to 5,000 nodes, by agents trained on 50 nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from curiograph.agents.evaluate import Episodes
from curiograph.arrays import Float64
from curiograph.graph.generators import FAMILIES
from reproduction.comparison import REWARDS, Walks, describe_returns, find_agent, run_all_walks
from reproduction.report import Report, Setup, number, plus_minus
from reproduction.timing import compute_mean_and_error, compute_ratio_of_means

SIZES = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
AGENTS = ("random", "greedy", "gnn", "planner", "beam")
_KEYS = ["reward", "family", "nodes of the graph"]


def compute(
    setup: Setup, graphs: int = 10, episodes: Episodes = 20, beam_episodes: Episodes = 5, largest: int = 5000
) -> dict[str, Any]:
    """Evaluate all agents for each reward and family at each size."""
    sizes = [size for size in SIZES if size <= largest]
    cells = [(reward, family, size) for reward in REWARDS for family in FAMILIES for size in sizes]
    tasks = [
        Walks(find_agent(name, reward, family), reward, family, count, graphs, nodes=size, seed=setup.seed)
        for reward, family, size in cells
        for name, count in ((name, beam_episodes if name == "beam" else episodes) for name in AGENTS)
    ]
    found = iter(run_all_walks(setup, "sizes", tasks, {}))
    points, times = [], []
    for reward, family, size in cells:
        own, place = dict(zip(AGENTS, found, strict=False)), {"reward": reward, "family": family, "at": size}
        points.append(place | {"results": {name: describe_returns(each["returns"]) for name, each in own.items()}})
        times.append(place | {name: each["milliseconds"] for name, each in own.items()})
    return {"points": points, "milliseconds": times}


def report(document: dict[str, Any]) -> Report:
    """Show returns and times against size."""
    points, rows = document["points"], []
    for point in points:
        cells = []
        for name, result in point["results"].items():
            ratio = compute_ratio_of_means(*_list_returns(point, name))[0]
            brackets = "" if name == "greedy" else f" ({number(ratio)})"
            cells.append(plus_minus(result["mean"], result["sem_by_graph"]) + brackets)
        rows.append([point["reward"], point["family"].upper(), str(point["at"]), *cells])
    spent = [[number(each[name]) for name in AGENTS] for each in document["milliseconds"]]
    times = [[*row[:3], *cells] for row, cells in zip(rows, spent, strict=True)]
    remarks = []
    for name in ("gnn", "planner"):
        leads = [compute_mean_and_error(np.subtract(*_list_returns(point, name))) for point in points]
        remarks.append(
            f"All sizes: {name} earns at least as much as greedy in {sum(mean >= 0 for mean, _ in leads)} of "
            f"{len(leads)} cells, and less by more than two standard errors in "
            f"{sum(mean < -2 * error for mean, error in leads)}."
        )
    random, beam = (points[0]["results"][name] for name in ("random", "beam"))
    return Report(
        tables={"Mean return (and its ratio to greedy's)": pd.DataFrame(rows, columns=[*_KEYS, *AGENTS])},
        text="Walks of 10 nodes on graphs of different sizes and the same mean degree (as far as there are enough "
        "nodes: the smallest RG and ER are nearly complete and have no gaps); gnn and planner were trained on 50 "
        "nodes. planner keeps 8 walks, beam 256. Mean return ± standard error clustered by graph, with its ratio to "
        f"greedy's in brackets; {random['episodes']} walks on {random['graphs']} test graphs per point, "
        f"{beam['episodes']} for beam. Milliseconds are per walk, with all walks of a point run together and timed "
        "once; the rewards along the walk are included, although gnn does not need them to act.",
        remarks=remarks,
        details={"Milliseconds per walk": pd.DataFrame(times, columns=[*_KEYS, *AGENTS])},
    )


def _list_returns(point: dict[str, Any], name: str) -> list[Float64]:
    """Return the returns of an agent and of greedy, by graph."""
    return [np.array(point["results"][each]["by_graph"]) for each in (name, "greedy")]
