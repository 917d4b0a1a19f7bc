"""Walks of 10 nodes on graphs of 10 to 5,000 nodes, by agents trained on 50 nodes."""

from __future__ import annotations

from typing import Any

import pandas as pd

from curiograph.agents.evaluate import Episodes
from reproduction.curves import (
    COLUMNS,
    compare_with_greedy,
    compute_points,
    describe_walks,
    plot_points,
    tabulate_points,
)
from reproduction.report import Report, Setup, number

SIZES = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
"""Numbers of nodes of the graphs."""
_AXIS = "nodes of the graph"


def compute(
    setup: Setup, graphs: int = 10, episodes: Episodes = 20, beam_episodes: Episodes = 5, largest: int = 5000
) -> dict[str, Any]:
    """Evaluate all agents at each size."""
    places = {size: {"nodes": size} for size in SIZES if size <= largest}
    return compute_points(setup, "sizes", places, graphs, episodes, beam_episodes)


def report(document: dict[str, Any]) -> Report:
    """Show returns and times against size."""
    points = document["points"]
    times = [
        [each["reward"], each["family"].upper(), str(each["at"]), *(number(each[column]) for column in COLUMNS)]
        for each in document["milliseconds"]
    ]
    return Report(
        tables={"Mean return (and its ratio to greedy's)": tabulate_points(points, _AXIS)},
        figure=plot_points(points, _AXIS, relative=False),
        text="Walks of 10 nodes on graphs of different sizes and the same mean degree (as far as there are enough "
        "nodes: the smallest RG and ER are nearly complete and have no gaps); gnn and planner were trained on 50 "
        f"nodes. planner keeps 8 walks, beam 256. {describe_walks(points)} Milliseconds are per walk, with all walks "
        "of a point run together and timed once; the rewards along the walk are included, although gnn does not need "
        "them to act.",
        remarks=compare_with_greedy(points, "All sizes"),
        details={"Milliseconds per walk": pd.DataFrame(times, columns=["reward", "family", _AXIS, *COLUMNS])},
    )
