"""Returns of the same agents along an axis: the common part of `lengths` and `sizes`."""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from curiograph.agents.evaluate import Evaluation, evaluate
from curiograph.agents.registry import as_agent
from curiograph.graph.generators import FAMILIES, generate_split
from curiograph.paper.comparison import (
    REWARDS,
    SLOW_COLUMNS,
    TITLES,
    compute_mean_and_error,
    compute_ratio_of_means,
    describe_missing,
    find_agents,
    restore_evaluations,
    select_present,
)
from curiograph.paper.experiment import Experiment, Table, format_number, format_table
from curiograph.parallel import Engine, Job, Result, run_job
from curiograph.parallel.fingerprint import fingerprint
from curiograph.plotting import create_figure, plot_lines
from curiograph.progress import Progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = ("random", "greedy", "gnn", "horizon", "planner", "beam")
"""All columns, in the order of the tables."""
_MAX_LISTED = 8  # points that a sentence lists


@dataclass(frozen=True)
class Settings:
    """Amount of work at each place on the axis."""

    graphs: int = 10
    """Number of generated test graphs per family."""
    episodes: int = 20
    """Walks per graph of each agent except beam."""
    beam_episodes: int = 5
    """Walks per graph of beam."""
    seed: int = 0
    """Seed of the graphs and walks."""


@dataclass(frozen=True)
class Place:
    """A place on the axis."""

    at: int
    """Value on the axis."""
    nodes: int
    """Number of nodes of the graphs."""
    steps: int
    """Nodes per walk, including the start."""
    beam: str = "beam"
    """Name of the plain beam search, with its width if it is not the default."""


@dataclass(frozen=True)
class Point:
    """Results for one reward and family at one place."""

    reward: str
    """Name of the reward."""
    family: str
    """Family of the graphs."""
    at: int
    """Value on the axis."""
    results: dict[str, Evaluation]
    """Results by column; a column is missing if its agent is not shipped."""
    milliseconds: dict[str, float]
    """Time per walk by column, with all walks of an agent run together and rewards included."""

    def compute_mean(self, column: str) -> tuple[float, float]:
        """Return the mean return and its standard error over graphs; NaN if the column has no result."""
        if column not in self.results:
            return math.nan, math.nan
        return self.results[column].mean, self.results[column].sem_by_graph

    def compute_ratio(self, column: str, to: str) -> tuple[float, float]:
        """Return the ratio of the return to that of another column, and its standard error over graphs."""
        if column not in self.results:
            return math.nan, math.nan
        return compute_ratio_of_means(self.results[column].by_graph, self.results[to].by_graph)

    def compute_lead(self, column: str) -> tuple[float, float]:
        """Return the difference to greedy's return from the same starts, and its standard error over graphs."""
        return compute_mean_and_error(self.results[column].by_graph - self.results["greedy"].by_graph)


@dataclass(frozen=True)
class Curves(Experiment):
    """Returns of the same agents at several places on an axis."""

    axis: ClassVar[str]
    """Label of the axis."""

    settings: Any
    """Settings of the run."""
    points: list[Point]
    """Results for each reward, family and place."""

    @property
    @abstractmethod
    def introduction(self) -> str:
        """Description of the walks and graphs."""

    @property
    def columns(self) -> list[str]:
        """The columns that any point has a result for."""
        return select_present(COLUMNS, [point.results for point in self.points])

    @property
    def table(self) -> Table:
        """Returns of all agents, each with its ratio to greedy's."""
        columns, rows = self.columns, []
        for point in self.points:
            row = [point.reward, point.family.upper(), str(point.at)]
            for column in columns:
                mean, error = point.compute_mean(column)
                text = "-" if column not in point.results else f"{mean:.2f} ± {format_number(error)}"
                if column in point.results and column != "greedy":
                    text += f" ({format_number(point.compute_ratio(column, 'greedy')[0])})"
                row.append(text)
            rows.append(row)
        title = "Mean return ± standard error by graph (and its ratio to greedy's)"
        return Table(title, ["reward", "family", self.axis, *columns], rows)

    @property
    def sections(self) -> list[Table | str]:
        return [self.table]

    @property
    def missing(self) -> list[str]:
        """A sentence on agents that are left out, if there are any."""
        return describe_missing(COLUMNS, sorted({point.family for point in self.points}))

    def to_dict(self) -> dict[str, Any]:
        points = []
        for point in self.points:
            results = {
                column: {
                    **result.to_dict(),
                    "ratio_to_greedy": point.compute_ratio(column, "greedy")[0],
                    "ratio_to_beam": point.compute_ratio(column, "beam")[0],
                }
                for column, result in point.results.items()
            }
            points.append({"reward": point.reward, "family": point.family, "at": point.at, "results": results})
        return {"settings": asdict(self.settings), "remarks": self.remarks, "points": points}

    def to_markdown(self) -> str:
        random, beam = (self.points[0].results[column] for column in ("random", "beam"))
        walks = f"{random.episodes} walks on {len(random.returns)} test graphs per point"
        lines = [
            f"{self.introduction} Mean return ± standard error clustered by graph, with its ratio to greedy's in "
            f"brackets; {walks}, {beam.episodes} for beam.",
            *(line for remark in self.remarks for line in ("", remark)),
            "",
            *format_table(self.table.columns, self.table.rows),
        ]
        return "\n".join(lines) + "\n"

    def plot_panels(
        self, compute: Callable[[Point, str], tuple[float, float]], title: str, *, log: bool = False
    ) -> Axes:
        """Plot a value of all agents with error bands, one panel for each reward and family."""
        figure, panels = create_figure(9.0, 11.0, columns=len(REWARDS), rows=len(FAMILIES))
        for column_panels, reward in zip(panels.T, REWARDS, strict=True):
            for panel, (family, model) in zip(column_panels, FAMILIES.items(), strict=True):
                selected = [point for point in self.points if (point.reward, point.family) == (reward, family)]
                series = {}
                for column in replace(self, points=selected).columns:
                    values = [compute(point, column) for point in selected]
                    series[column] = ([value for value, _ in values], [error for _, error in values])
                plot_lines([point.at for point in selected], series, panel)
                panel.set_title(f"{reward}, {model.title}", fontsize=10)
                panel.set_xscale("log" if log else "linear")
                panel.set_ylabel(f"{TITLES[reward]}\n{title}", fontsize=9)
        for panel in panels[-1]:
            panel.set_xlabel(self.axis)
        handles, names = panels[0][0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=-(-len(names) // 2), frameon=False)
        axes: Axes = panels[0][0]
        return axes

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Self:
        points = [
            Point(
                reward=point["reward"],
                family=point["family"],
                at=point["at"],
                results=restore_evaluations(point["results"]),
                milliseconds={},
            )
            for point in document["points"]
        ]
        return cls(document["settings"], points)


class _Task(NamedTuple):
    """Reward, family and place of one point."""

    reward: str
    """Name of the reward."""
    family: str
    """Family of the graphs."""
    place: Place
    """Place on the axis."""


class _Lead(NamedTuple):
    """Difference between the return of an agent and that of greedy at one point."""

    point: Point
    """Results of both agents."""
    mean: float
    """Mean difference."""
    error: float
    """Standard error over graphs."""


def run_points(
    name: str, settings: Settings, places: Sequence[Place], engine: Engine, progress: Progress
) -> list[Point]:
    """Evaluate all agents for each reward and family at each place."""
    tasks = [_Task(reward, family, place) for reward in REWARDS for family in FAMILIES for place in places]
    columns = {(task.reward, task.family): find_agents(COLUMNS, task.reward, task.family) for task in tasks}
    agents = sorted({agent for named in columns.values() for agent in named.values()})
    job = Job(
        name=name,
        function=_evaluate_place,
        shared=(settings, columns),
        tasks=tasks,
        key=lambda: {
            "settings": asdict(settings),
            "places": [asdict(place) for place in places],
            "agents": {agent: fingerprint("agent", as_agent(agent)) for agent in agents},
        },
        describe_task=lambda task: f"{task.reward} on {task.family} at {task.place.at}",
        unit="points",
    )
    points = []
    for task, stored in zip(tasks, run_job(job, engine, progress), strict=True):
        results, milliseconds = {}, {}
        for column in COLUMNS:
            if column in stored:
                agent, steps, ended_early, milliseconds[column] = stored[column]
                results[column] = Evaluation(
                    agent=agent,
                    reward=task.reward,
                    steps=steps,
                    returns=list(stored[f"{column} returns"]),
                    ended_early=ended_early,
                )
        points.append(
            Point(
                reward=task.reward,
                family=task.family,
                at=task.place.at,
                results=results,
                milliseconds=milliseconds,
            )
        )
    return points


def _evaluate_place(shared: tuple[Settings, Mapping[Any, Mapping[str, str]]], task: _Task) -> Result:
    """Return the returns of all agents at a place, and the milliseconds per walk."""
    settings, columns = shared
    reward, family, place = task
    graphs = generate_split(family, place.nodes, train=0, val=0, test=settings.graphs, seed=settings.seed).test
    found: dict[str, Any] = {}
    for column, name in columns[reward, family].items():
        is_beam = column in SLOW_COLUMNS
        agent, episodes = (place.beam, settings.beam_episodes) if is_beam else (name, settings.episodes)
        # compile kernels and prepare graphs before the time is measured
        evaluate(agent, graphs, reward, steps=3, episodes=1, seed=settings.seed, workers=1)
        start = time.perf_counter()
        result = evaluate(agent, graphs, reward, steps=place.steps, episodes=episodes, seed=settings.seed, workers=1)
        seconds = time.perf_counter() - start
        found[f"{column} returns"] = np.stack(result.returns)
        found[column] = [result.agent, result.steps, result.ended_early, 1000 * seconds / result.episodes]
    return found


def compare_with_greedy(points: Sequence[Point], subject: str) -> list[str]:
    """For each trained agent, describe how often it reaches greedy's return and where it falls short most."""
    sentences = []
    for column in ("gnn", "horizon", "planner"):
        leads = [_Lead(point, *point.compute_lead(column)) for point in points if column in point.results]
        below = [lead for lead in leads if lead.mean < 0]
        text = (
            f"{subject}: {column} earns at least as much as greedy in {len(leads) - len(below)} of {len(leads)} cells"
        )
        if below:
            below.sort(key=lambda lead: lead.point.compute_ratio(column, "greedy")[0])
            clear = sum(mean < -2 * error for _, mean, error in below)
            worst = "; ".join(
                f"{point.reward} {point.family.upper()} at {point.at}, {mean:+.2f} ± {format_number(error)}"
                for point, mean, error in below[:_MAX_LISTED]
            )
            text += f", less in the others, by more than two standard errors in {clear} of them (worst: {worst})"
        if leads:
            sentences.append(f"{text}.")
    return sentences
