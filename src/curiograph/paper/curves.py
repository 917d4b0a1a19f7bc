"""What `lengths` and `sizes` have in common: returns of the same agents at one place after another along an axis."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from curiograph.agents.evaluate import Evaluation, evaluate
from curiograph.agents.registry import as_agent
from curiograph.graph.generators import FAMILIES, generate_split
from curiograph.paper.comparison import (
    PLANNERS,
    REWARDS,
    TITLES,
    compute_mean_and_error,
    compute_ratio_of_means,
    describe_missing,
    find_agents,
    format_number,
    format_table,
    select_present,
)
from curiograph.parallel import IN_PROCESS, Engine, Job, Result, run_job
from curiograph.parallel.fingerprint import fingerprint
from curiograph.plotting import create_figure, plot_lines, save_figure
from curiograph.progress import Progress

COLUMNS = ("random", "greedy", "gnn", "horizon", "beam")
_MOST_GAPS = 8  # that a sentence lists


@dataclass(frozen=True)
class Settings:
    """How much is run at every place."""

    graphs: int = 10
    """Generated test graphs per family."""
    episodes: int = 20
    """Walks per graph of every agent but the planner."""
    beam_episodes: int = 5
    """Walks per graph of the planner."""
    seed: int = 0


@dataclass(frozen=True)
class Place:
    """A place on the axis, and what is walked there."""

    at: int
    nodes: int
    """Of the graphs."""
    steps: int
    """Nodes of the walks."""
    planner: str = "beam"


@dataclass(frozen=True)
class Point:
    """A reward on a family at a place."""

    reward: str
    family: str
    at: int
    results: dict[str, Evaluation]
    """By column; a trained agent that is not shipped has none."""
    milliseconds: dict[str, float]
    """Per walk, all walks of an agent at once, its rewards counted."""

    @property
    def where(self) -> str:
        """The point as a reader calls it."""
        return f"{self.reward} {self.family.upper()} at {self.at}"

    def mean(self, column: str) -> tuple[float, float]:
        """Mean return, and its standard error over graphs; NaN where there is none."""
        if column not in self.results:
            return math.nan, math.nan
        return self.results[column].mean, self.results[column].sem_by_graph

    def ratio(self, column: str, to: str) -> tuple[float, float]:
        """Return divided by that of another column, and its standard error over graphs; NaN where that is nothing."""
        if column not in self.results:
            return math.nan, math.nan
        return compute_ratio_of_means(self.results[column].by_graph, self.results[to].by_graph)

    def above_greedy(self, column: str) -> tuple[float, float]:
        """Return minus greedy's from the same starts, and its standard error over graphs."""
        return compute_mean_and_error(self.results[column].by_graph - self.results["greedy"].by_graph)


Value = Callable[[Point, str], tuple[float, float]]
"""Of a column at a point, with its standard error."""


def run(
    name: str,
    settings: Settings,
    places: Sequence[Place],
    progress: Progress,
    engine: Engine = IN_PROCESS,
) -> list[Point]:
    """All points: by reward, family and place."""
    tasks = [(reward, family, place) for reward in REWARDS for family in FAMILIES for place in places]
    columns = {task[:2]: find_agents(COLUMNS, *task[:2]) for task in tasks}
    job = Job(
        name=name,
        function=_walked,
        shared=(settings, columns),
        tasks=tasks,
        key=lambda: {
            "settings": asdict(settings),
            "places": [asdict(place) for place in places],
            "agents": {agent: fingerprint("agent", as_agent(agent)) for agent in _agents(columns.values())},
        },
        describe_task=lambda task: f"{task[0]} on {task[1]} at {task[2].at}",
        unit="points",
    )
    results = run_job(job, engine, progress)
    return [_point(*task, result) for task, result in zip(tasks, results, strict=True)]


def _agents(columns: Iterable[Mapping[str, str]]) -> list[str]:
    return sorted({agent for named in columns for agent in named.values()})


def _walked(shared: tuple[Settings, Mapping[Any, Mapping[str, str]]], task: tuple[str, str, Place]) -> Result:
    """Returns of every agent at a place, and the milliseconds that a walk took it."""
    settings, columns = shared
    reward, family, place = task
    graphs = generate_split(family, place.nodes, train=0, val=0, test=settings.graphs, seed=settings.seed).test
    found: dict[str, Any] = {}
    for column, name in columns[reward, family].items():
        planner = column in PLANNERS
        agent, episodes = (place.planner, settings.beam_episodes) if planner else (name, settings.episodes)
        evaluate(agent, graphs, reward, 3, 1, seed=settings.seed, workers=1)  # kernels and graphs are ready from now on
        start = time.perf_counter()
        result = evaluate(agent, graphs, reward, place.steps, episodes, seed=settings.seed, workers=1)
        seconds = time.perf_counter() - start
        found[f"{column} returns"] = np.stack(result.returns)
        found[column] = [result.agent, result.steps, result.ended_early, 1000 * seconds / result.episodes]
    return found


def _point(reward: str, family: str, place: Place, found: Result) -> Point:
    results, milliseconds = {}, {}
    for column in COLUMNS:
        if column in found:
            agent, steps, short, milliseconds[column] = found[column]
            results[column] = Evaluation(agent, reward, steps, list(found[f"{column} returns"]), short)
    return Point(reward, family, place.at, results, milliseconds)


def columns_of(points: Sequence[Point]) -> list[str]:
    """The columns that any point has a result for."""
    return select_present(COLUMNS, [point.results for point in points])


def table(points: Sequence[Point], along: str) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the table of returns, each with its ratio to greedy's."""
    columns = columns_of(points)
    rows = [
        [point.reward, point.family.upper(), str(point.at), *(_return_text(point, column) for column in columns)]
        for point in points
    ]
    return ["reward", "family", along, *columns], rows


def _return_text(point: Point, column: str) -> str:
    if column not in point.results:
        return "-"
    mean, error = point.mean(column)
    text = f"{mean:.2f} ± {format_number(error)}"
    return text if column == "greedy" else f"{text} ({format_number(point.ratio(column, 'greedy')[0])})"


def to_markdown(points: Sequence[Point], along: str, intro: str, remarks: Sequence[str]) -> str:
    """The table under what is said of it."""
    counts = points[0].results
    walks = f"{counts['random'].episodes} walks on {len(counts['random'].returns)} test graphs per point"
    lines = [
        f"{intro} Mean return ± standard error clustered by graph, and in brackets its ratio to greedy's; {walks}, "
        f"of the planner {counts['beam'].episodes}.",
        *(line for remark in remarks for line in ("", remark)),
        "",
        *format_table(*table(points, along)),
    ]
    return "\n".join(lines) + "\n"


def against_greedy(points: Sequence[Point], what: str) -> Iterator[str]:
    """For each trained agent, how often it does at least as well as greedy, and where it does worst."""
    for column in ("gnn", "horizon"):
        tried = [point for point in points if column in point.results]
        below = [point for point in tried if point.above_greedy(column)[0] < 0]
        text = f"{what}: {column} earns at least as much as greedy in {len(tried) - len(below)} of {len(tried)} cells"
        if below:
            below.sort(key=lambda point: point.ratio(column, "greedy")[0])
            clear = sum(mean < -2 * error for mean, error in (point.above_greedy(column) for point in below))
            gaps = "; ".join(_gap_text(point, column) for point in below[:_MOST_GAPS])
            text += f", less in the others, by more than two standard errors in {clear} of them (worst: {gaps})"
        if tried:
            yield f"{text}."


def _gap_text(point: Point, column: str) -> str:
    mean, error = point.above_greedy(column)
    return f"{point.where}, {mean:+.2f} ± {format_number(error)}"


def missing_line(points: Sequence[Point]) -> list[str]:
    """The line that says what is left out, if anything is."""
    line = describe_missing(COLUMNS, sorted({point.family for point in points}))
    return [line] if line else []


def to_dict(points: Sequence[Point], settings: Settings, remarks: Sequence[str]) -> dict[str, Any]:
    """Everything as plain values."""
    return {
        "settings": asdict(settings),
        "remarks": list(remarks),
        "points": [
            {
                "reward": point.reward,
                "family": point.family,
                "at": point.at,
                "results": {
                    column: {
                        **result.to_dict(),
                        "ratio_to_greedy": point.ratio(column, "greedy")[0],
                        "ratio_to_beam": point.ratio(column, "beam")[0],
                    }
                    for column, result in point.results.items()
                },
            }
            for point in points
        ],
    }


def save_plot(
    points: Sequence[Point], value: Value, title: str, along: str, path: str | Path, *, log: bool = False
) -> None:
    """A value of every agent, with bands; a row of panels for each reward, a column for each family."""
    made, panels = create_figure(13.0, 6.0, columns=len(FAMILIES), rows=len(REWARDS))
    for row, reward in zip(panels, REWARDS, strict=True):
        for panel, (family, model) in zip(row, FAMILIES.items(), strict=True):
            some = [point for point in points if (point.reward, point.family) == (reward, family)]
            series = {column: _line(some, value, column) for column in columns_of(some)}
            plot_lines([point.at for point in some], series, panel)
            panel.set_title(f"{reward}, {model.title}", fontsize=10)
            panel.set_xscale("log" if log else "linear")
        row[0].set_ylabel(f"{TITLES[reward]}\n{title}", fontsize=9)
    for panel in panels[-1]:
        panel.set_xlabel(along)
    handles, names = panels[0][0].get_legend_handles_labels()
    made.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
    save_figure(panels[0][0], path)


def _line(points: Sequence[Point], value: Value, column: str) -> tuple[list[float], list[float]]:
    heights, errors = zip(*(value(point, column) for point in points), strict=True)
    return list(heights), list(errors)
