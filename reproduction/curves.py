"""Returns of the same agents along an axis: the common part of `lengths` and `sizes`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from curiograph.agents.evaluate import Episodes
from curiograph.graph.generators import FAMILIES
from curiograph.plotting import create_figure
from reproduction.comparison import (
    REWARDS,
    TITLES,
    Walks,
    describe_returns,
    find_agent,
    run_all_walks,
)
from reproduction.report import Setup, add_legend, number, plot_lines, plus_minus
from reproduction.timing import compute_mean_and_error, compute_ratio_of_means

COLUMNS = ("random", "greedy", "gnn", "planner", "beam")
"""All columns, in the order of the tables."""

Point = dict[str, Any]
"""Results for one `reward` and `family` at one place of the axis, `at`."""


def compute_points(
    setup: Setup, name: str, places: Mapping[int, Mapping[str, Any]], graphs: int, episodes: Episodes, beams: Episodes
) -> dict[str, Any]:
    """Evaluate all agents for each reward and family at each place; `places` are settings of walks by value.

    The setting `beam` is the name of the plain beam search.
    """
    points: list[Point] = [
        {"reward": reward, "family": family, "at": at, "results": {}}
        for reward in REWARDS
        for family in FAMILIES
        for at in places
    ]
    times = [{key: point[key] for key in ("reward", "family", "at")} for point in points]
    work, tasks = [], []
    for point, milliseconds in zip(points, times, strict=True):
        for column in COLUMNS:
            settings = dict(places[point["at"]])
            beam = settings.pop("beam", "beam")
            agent = beam if column == "beam" else find_agent(column, point["reward"], point["family"])
            count = beams if column == "beam" else episodes
            work.append((point, milliseconds, column))
            tasks.append(Walks(agent, point["reward"], point["family"], count, graphs, seed=setup.seed, **settings))
    for (point, milliseconds, column), found in zip(work, run_all_walks(setup, name, tasks, {}), strict=True):
        point["results"][column] = describe_returns(found["returns"]) | {"ended_early": found["ended_early"]}
        milliseconds[column] = found["milliseconds"]
    return {"points": points, "milliseconds": times}


def compute_ratio(point: Point, column: str, to: str) -> tuple[float, float]:
    """Return the ratio of the return of a column to that of another, and its standard error over graphs."""
    return compute_ratio_of_means(*(np.array(point["results"][name]["by_graph"]) for name in (column, to)))


def tabulate_points(points: Sequence[Point], axis: str) -> pd.DataFrame:
    """Return mean returns with their ratios to greedy's: points x agents."""
    rows = []
    for point in points:
        row = [point["reward"], point["family"].upper(), str(point["at"])]
        for column in COLUMNS:
            result = point["results"][column]
            ratio = "" if column == "greedy" else f" ({number(compute_ratio(point, column, 'greedy')[0])})"
            row.append(plus_minus(result["mean"], result["sem_by_graph"]) + ratio)
        rows.append(row)
    return pd.DataFrame(rows, columns=["reward", "family", axis, *COLUMNS])


def describe_walks(points: Sequence[Point]) -> str:
    """Describe the columns and the number of walks."""
    random, beam = (points[0]["results"][column] for column in ("random", "beam"))
    return (
        "Mean return ± standard error clustered by graph, with its ratio to greedy's in brackets; "
        f"{random['episodes']} walks on {random['graphs']} test graphs per point, {beam['episodes']} for beam."
    )


def compare_with_greedy(points: Sequence[Point], subject: str) -> list[str]:
    """For each trained agent, describe how often it reaches greedy's return."""
    sentences = []
    for column in ("gnn", "planner"):
        leads = []
        for point in points:
            ours, greedy = (np.array(point["results"][name]["by_graph"]) for name in (column, "greedy"))
            leads.append(compute_mean_and_error(ours - greedy))
        reached, clear = sum(mean >= 0 for mean, _ in leads), sum(mean < -2 * error for mean, error in leads)
        sentences.append(
            f"{subject}: {column} earns at least as much as greedy in {reached} of {len(leads)} cells, and less by "
            f"more than two standard errors in {clear}."
        )
    return sentences


def plot_points(points: Sequence[Point], axis: str, *, relative: bool) -> Any:
    """Plot returns, or returns relative to beam's, with error bands; one panel for each reward and family."""
    figure, panels = create_figure(9.0, 11.0, columns=len(REWARDS), rows=len(FAMILIES))
    label = "return / beam's" if relative else "mean return"
    for column_panels, reward in zip(panels.T, REWARDS, strict=True):
        for panel, (family, model) in zip(column_panels, FAMILIES.items(), strict=True):
            chosen = [point for point in points if (point["reward"], point["family"]) == (reward, family)]
            series = {}
            for column in COLUMNS:
                results = [point["results"][column] for point in chosen]
                values = [(result["mean"], result["sem_by_graph"]) for result in results]
                if relative:
                    values = [compute_ratio(point, column, "beam") for point in chosen]
                series[column] = ([value for value, _ in values], [error for _, error in values])
            plot_lines([point["at"] for point in chosen], series, panel)
            panel.set_title(f"{reward}, {model.title}", fontsize=10)
            panel.set_xscale("linear" if relative else "log")
            panel.set_ylabel(f"{TITLES[reward]}\n{label}", fontsize=9)
    for panel in panels[-1]:
        panel.set_xlabel(axis)
    add_legend(figure, len(COLUMNS))
    return figure
