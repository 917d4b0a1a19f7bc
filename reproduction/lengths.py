"""Walks of 5 to 50 nodes on 50-node graphs, by agents trained on walks of 10 nodes."""

from __future__ import annotations

from typing import Any

from curiograph.agents.evaluate import Episodes
from reproduction.curves import compare_with_greedy, compute_points, describe_walks, plot_points, tabulate_points
from reproduction.report import Report, Setup

LENGTHS = (5, 10, 15, 20, 30, 40, 50)
"""Numbers of nodes of the walks."""
_AXIS = "nodes of the walk"


def compute(
    setup: Setup, graphs: int = 10, episodes: Episodes = 20, beam_episodes: Episodes = 5, longest: int = 50
) -> dict[str, Any]:
    """Evaluate all agents at each length."""
    places = {n: {"steps": n, "beam": "beam" if n <= 10 else "beam:32"} for n in LENGTHS if n <= longest}
    return compute_points(setup, "lengths", places, graphs, episodes, beam_episodes)


def report(document: dict[str, Any]) -> Report:
    """Show returns relative to beam's, since returns grow steeply with length."""
    points = document["points"]
    longest = max(point["at"] for point in points)
    last = [point for point in points if point["at"] == longest]
    return Report(
        tables={"Mean return (and its ratio to greedy's)": tabulate_points(points, _AXIS)},
        figure=plot_points(points, _AXIS, relative=True),
        text="Walks of different lengths on 50-node graphs; gnn was trained on walks of 10 nodes. planner, trained on "
        f"the family, keeps 8 walks. beam keeps 256 walks up to 10 nodes and 32 beyond. {describe_walks(points)}",
        remarks=compare_with_greedy(last, f"Walks of {longest} nodes"),
    )
