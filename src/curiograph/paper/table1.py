"""Table 1: mean return of 10-node walks by agent, reward and graph family, compared with the paper."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from curiograph.agents.evaluate import Episodes, Evaluation, Rollouts, evaluate_all
from curiograph.agents.registry import AgentLike, as_agent
from curiograph.errors import SettingError
from curiograph.exploration.mdp import Fallback
from curiograph.graph.generators import FAMILIES, generate_split
from curiograph.graph.graph import Graph
from curiograph.graph.splits import read_split
from curiograph.paper.comparison import (
    PLANNERS,
    REWARDS,
    TITLES,
    compute_ratio_of_means,
    describe_missing,
    find_agents,
    restore_evaluations,
    select_present,
)
from curiograph.paper.experiment import Experiment, Table, format_percent, format_table
from curiograph.paper.published import TABLE1, TABLE1_GRAPHS, PublishedTies
from curiograph.parallel import IN_PROCESS, Engine
from curiograph.plotting import create_figure, plot_bars
from curiograph.progress import Progress, no_progress
from curiograph.validation import check_integer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BASELINES = ("random", "max-degree", "min-degree", "greedy")
COLUMNS = (*BASELINES, "gnn-paper", "gnn", "horizon", "horizon+beam", "beam")
SHARE_COLUMNS = ("greedy", "gnn-paper", "gnn", "horizon", "horizon+beam")
"""Columns whose share of the attainable return is given."""


@dataclass(frozen=True)
class Settings:
    """Settings of the experiment."""

    episodes: Episodes = 100
    """Walks per graph of each agent that does not plan; "all" starts one walk at every node."""
    beam_episodes: Episodes = 100
    """Walks per graph of the planners, which take a hundred times as long."""
    graphs: int = 10
    """Number of generated test graphs per family and seed."""
    seeds: int = 1
    """Number of independent sets of test graphs and walks to pool: `seed`, `seed` + 1, ..."""
    nodes: int = 50
    """Number of nodes of the graphs."""
    steps: int = 10
    """Number of nodes of the walks."""
    seed: int = 0


@dataclass(frozen=True)
class Cell:
    """Results for one reward and family: a row of the table."""

    reward: str
    family: str
    source: str
    """Origin of the test graphs."""
    results: dict[str, Evaluation]
    """Results by column, without trained agents that are not shipped."""
    published_rules: dict[str, Evaluation]
    """Results under the rules of the published code: ties in the order of a Python set, dead ends go anywhere."""

    @property
    def paper(self) -> dict[str, tuple[float, float]]:
        """The paper's mean and standard error by agent."""
        return TABLE1[self.reward, self.family]

    def compute_share(self, column: str) -> tuple[float, float]:
        """Return (agent - random) / (beam - random), the share of the attainable, and its error over graphs."""
        if column not in self.results:
            return math.nan, math.nan
        random = self.results["random"].by_graph
        return compute_ratio_of_means(self.results[column].by_graph - random, self.results["beam"].by_graph - random)

    def compute_paper_share(self, name: str) -> float:
        """Return the share of an agent of the paper, from its figures and the return of our planner."""
        random, attainable = self.paper["random"][0], self.results["beam"].mean
        return (self.paper[name][0] - random) / (attainable - random) if attainable != random else math.nan

    def is_gnn_above(self, other: float) -> bool | None:
        """Whether our gnn has a higher return than `other`; None without a gnn."""
        return self.results["gnn"].mean > other if "gnn" in self.results else None

    def format_paper(self, name: str) -> str:
        """Format the paper's result of an agent."""
        mean, error = self.paper[name]
        return f"{mean:.2f} ± {error:.2f}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        shares = {column: self.compute_share(column) for column in SHARE_COLUMNS if column in self.results}
        return {
            "reward": self.reward,
            "family": self.family,
            "source": self.source,
            "results": {name: result.to_dict() for name, result in self.results.items()},
            "published_rules": {name: result.to_dict() for name, result in self.published_rules.items()},
            "paper": {name: {"mean": mean, "sem": error} for name, (mean, error) in self.paper.items()},
            "shares": _convert_shares(shares),
            "paper_shares": {name: self.compute_paper_share(name) for name in ("greedy", "gnn")},
            "gnn_above_paper": self.is_gnn_above(self.paper["gnn"][0]),
            "gnn_above_greedy": self.is_gnn_above(self.results["greedy"].mean),
        }


@dataclass(frozen=True)
class ShareRow:
    """Shares of the attainable return in one cell, or their mean over several cells."""

    reward: str
    family: str
    shares: dict[str, tuple[float, float]]
    """Share and standard error by column."""
    paper: dict[str, float]
    """Shares of the paper's greedy and GNN."""


def _convert_shares(shares: dict[str, tuple[float, float]]) -> dict[str, dict[str, float]]:
    return {column: {"share": share, "sem_by_graph": error} for column, (share, error) in shares.items()}


@dataclass(frozen=True)
class Table1(Experiment):
    """Mean returns of all agents for both rewards and all families."""

    name = "table1"

    settings: Settings
    cells: list[Cell]

    @property
    def columns(self) -> list[str]:
        """The columns that any cell has a result for."""
        return select_present(COLUMNS, [cell.results for cell in self.cells])

    @property
    def share_rows(self) -> list[ShareRow]:
        """Shares in each cell, then their means by reward and over all cells."""
        columns = [column for column in SHARE_COLUMNS if column in self.columns]
        rows = [
            ShareRow(
                reward=cell.reward,
                family=cell.family.upper(),
                shares={column: cell.compute_share(column) for column in columns},
                paper={name: cell.compute_paper_share(name) for name in ("greedy", "gnn")},
            )
            for cell in self.cells
        ]
        means = [_average_shares([row for row in rows if row.reward == reward], reward) for reward in REWARDS]
        return [*rows, *means, _average_shares(rows, "both")]

    @property
    def sections(self) -> list[Table | str]:
        sections: list[Table | str] = []
        for reward in REWARDS:
            cells = [cell for cell in self.cells if cell.reward == reward]
            rows = []
            for column in self.columns:
                row = [column]
                for cell in cells:
                    result = cell.results.get(column)
                    text = "-" if result is None else f"{result.mean:.2f} ± {result.sem_by_graph:.2f}"
                    if result is not None and column in cell.paper and column != "gnn":
                        text += f"\n{cell.format_paper(column)}"
                    row.append(text)
                rows.append(row)
            rows.append(["paper's GNN", *(cell.format_paper("gnn") for cell in cells)])
            title = f"{reward}: mean return ± standard error by graph, and the paper's below"
            sections.append(Table(title, ["agent", *(cell.family.upper() for cell in cells)], rows))
        parts = self.share_rows
        rows = [[column, *(format_percent(part.shares[column][0]) for part in parts)] for column in parts[0].shares]
        for title, name in (("paper's greedy", "greedy"), ("paper's GNN", "gnn")):
            rows.append([title, *(format_percent(part.paper[name]) for part in parts)])
        columns = ["agent", *(f"{part.reward} {part.family}" for part in parts)]
        sections.append(Table("Share of the attainable, (agent - random) / (beam - random)", columns, rows))
        return sections

    @property
    def remarks(self) -> list[str]:
        sentences = []
        tried = [cell for cell in self.cells if "gnn" in cell.results]
        if tried:
            above_paper = sum(bool(cell.is_gnn_above(cell.paper["gnn"][0])) for cell in tried)
            above_greedy = sum(bool(cell.is_gnn_above(cell.results["greedy"].mean)) for cell in tried)
            sentences.append(
                f"gnn earns more than the paper's GNN in {above_paper} of {len(tried)} cells, "
                f"and more than our greedy in {above_greedy}."
            )
        for column in ("horizon", "horizon+beam"):
            shares = {
                f"{cell.reward} {cell.family.upper()}": cell.compute_share(column)[0]
                for cell in self.cells
                if column in cell.results
            }
            known = {cell: share for cell, share in shares.items() if not math.isnan(share)}
            if known:
                worst = min(known, key=known.__getitem__)
                mean = sum(known.values()) / len(known)
                sentences.append(
                    f"{column} reaches {format_percent(mean)} of the attainable on average, "
                    f"{format_percent(known[worst])} in the worst cell ({worst})."
                )
        return [*sentences, *describe_missing(COLUMNS, sorted({cell.family for cell in self.cells}))]

    def to_dict(self) -> dict[str, Any]:
        return {
            "settings": asdict(self.settings),
            "cells": [cell.to_dict() for cell in self.cells],
            "mean_shares": {
                row.reward: {"ours": _convert_shares(row.shares), "paper": row.paper}
                for row in self.share_rows
                if row.family == "mean"
            },
            "remarks": self.remarks,
        }

    def to_markdown(self) -> str:
        graphs = {len(result.returns) for cell in self.cells for result in cell.results.values()}
        walks, planned = ({cell.results[column].episodes for cell in self.cells} for column in ("random", "beam"))
        columns, rows = self.columns, []
        for cell in self.cells:
            row = [cell.reward, cell.family.upper()]
            for column in columns:
                result = cell.results.get(column)
                text = "-" if result is None else f"{result.mean:.2f} ± {result.sem:.2f} (± {result.sem_by_graph:.2f})"
                if result is not None and column in BASELINES:
                    text += f"<br>*{cell.format_paper(column)}*"
                row.append(text)
            rows.append([*row, f"*{cell.format_paper('gnn')}*"])
        shares = self.share_rows
        share_cells = [
            [
                row.reward,
                row.family,
                *(format_percent(*share) for share in row.shares.values()),
                *(f"*{format_percent(share)}*" for share in row.paper.values()),
            ]
            for row in shares
        ]
        lines = [
            "Mean return ± standard error over episodes (± clustered by graph); the paper's results in italics. "
            f"Graphs per family: {_format_counts(graphs)} ({'; '.join(sorted({c.source for c in self.cells}))}); walks "
            f"per family: {_format_counts(walks)}, of the planners ({' and '.join(PLANNERS)}): "
            f"{_format_counts(planned)}.",
            "",
            *format_table(["reward", "family", *columns, "paper's GNN"], rows),
            "",
            "Share of the attainable: (agent - random) / (beam - random), ± standard error over graphs; the paper's",
            "from its own figures, with our beam as the attainable.",
            "",
            *format_table(["reward", "family", *shares[0].shares, "paper's greedy", "paper's GNN"], share_cells),
            *(line for remark in self.remarks for line in ("", remark)),
            "",
            "Effect of the rules: ties at random and dead ends to the frontier (ours), against ties in the order of a",
            "Python set and dead ends anywhere (the published code).",
            "",
            *format_table(
                ["reward", "family", "agent", "our rules", "z", "published rules", "z", "paper"],
                [_list_rules(cell, name) for cell in self.cells for name in BASELINES],
            ),
            "",
            "z: difference from the paper in standard errors. Both tables use different graphs, so the error is that",
            "of the mean over graphs (the paper gives no such error; its 10 graphs are assumed to vary as ours do).",
            "With few graphs this error is itself uncertain, and it means little where most returns are zero.",
        ]
        return "\n".join(lines) + "\n"

    def plot(self) -> Axes:
        """Plot bars for all agents in one panel per reward, with the paper's results as diamonds."""
        figure, panels = create_figure(13.0, 4.2, columns=2)
        published = {column: column for column in BASELINES} | {"gnn-paper": "gnn"}
        for panel, reward in zip(panels, REWARDS, strict=True):
            cells = [cell for cell in self.cells if cell.reward == reward]
            series, marks = {}, {}
            for column in self.columns:
                results = [cell.results.get(column) for cell in cells]
                series[column] = (
                    [result.mean if result else math.nan for result in results],
                    [result.sem_by_graph if result else math.nan for result in results],
                )
                if column in published:
                    marks[column] = [cell.paper[published[column]][0] for cell in cells]
            plot_bars([cell.family for cell in cells], series, panel, marks)
            panel.set_title(TITLES[reward])
            panel.set_ylabel("mean return of a 10-node walk")
        panels[1].set_ylim(bottom=5)  # random walks already reach most of the bits
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
        axes: Axes = panels[0]
        return axes

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Self:
        cells = [
            Cell(
                reward=cell["reward"],
                family=cell["family"],
                source=cell["source"],
                results=restore_evaluations(cell["results"]),
                published_rules={},
            )
            for cell in document["cells"]
        ]
        return cls(Settings(**document["settings"]), cells)


def _average_shares(rows: Sequence[ShareRow], reward: str) -> ShareRow:
    """Average shares over cells, with the standard error of a mean of independent values; NaN values are left out."""
    shares = {}
    for column in rows[0].shares:
        known = [row.shares[column] for row in rows if not math.isnan(row.shares[column][0])]
        mean = sum(share for share, _ in known) / len(known) if known else math.nan
        error = math.hypot(*(error for _, error in known)) / len(known) if known else math.nan
        shares[column] = (mean, error)
    paper = {}
    for name in rows[0].paper:
        values = [row.paper[name] for row in rows if not math.isnan(row.paper[name])]
        paper[name] = sum(values) / len(values) if values else math.nan
    return ShareRow(reward, "mean", shares, paper)


def _format_counts(counts: set[int]) -> str:
    return ", ".join(f"{count:,}" for count in sorted(counts))


def _list_rules(cell: Cell, name: str) -> list[str]:
    """Cells of the table that compares our rules with the published ones, for one agent."""
    row = [cell.reward, cell.family.upper(), name]
    for result in (cell.results[name], cell.published_rules.get(name)):
        if result is None:
            row += ["", ""]
            continue
        error = result.sem_by_graph * math.sqrt(1 + len(result.returns) / TABLE1_GRAPHS)
        z = f"{(result.mean - cell.paper[name][0]) / error:+.1f}" if error > 0 else ""
        row += [f"{result.mean:.2f}", z]
    return [*row, cell.format_paper(name)]


@dataclass(frozen=True)
class _TestSets:
    """Test graphs of a family, and the seeds of the walks on them."""

    family: str
    source: str
    """Origin of the graphs."""
    sets: list[tuple[int, list[Graph]]]
    """Seed and graphs of each set."""
    same_graphs: bool
    """Whether all sets hold the same graphs."""

    def create_rollouts(
        self, agent: AgentLike, reward: str, steps: int, episodes: Episodes, fallback: Fallback = "frontier"
    ) -> list[Rollouts]:
        """Create the walks of an agent on each set."""
        return [Rollouts.create(agent, graphs, reward, steps, episodes, fallback, seed) for seed, graphs in self.sets]

    def pool(self, evaluations: Sequence[Evaluation]) -> Evaluation:
        """Pool the evaluations of all sets; walks on the same graph stay together, as they are correlated."""
        returns = [evaluation.returns for evaluation in evaluations]
        if self.same_graphs:
            pooled = [np.concatenate(walks) for walks in zip(*returns, strict=True)]
        else:
            pooled = [walks for part in returns for walks in part]
        ended_early = sum(evaluation.ended_early for evaluation in evaluations)
        return replace(evaluations[0], returns=pooled, ended_early=ended_early)


def run(
    settings: Settings,
    environments: Sequence[str | Path] = (),
    engine: Engine = IN_PROCESS,
    progress: Progress = no_progress,
) -> Table1:
    """Evaluate all agents on generated graphs, or on the test graphs of published environment files."""
    check_integer("seeds", settings.seeds, 1, "a whole number of sets of test graphs, 1 or more")
    cells: list[Cell] = []
    requests: list[tuple[dict[str, Evaluation], str, _TestSets, list[Rollouts]]] = []
    for tests in _load_test_sets(settings, environments):
        for reward in REWARDS:
            cell = Cell(reward, tests.family, tests.source, results={}, published_rules={})
            cells.append(cell)
            for column, agent in find_agents(COLUMNS, reward, tests.family).items():
                episodes = settings.beam_episodes if column in PLANNERS else settings.episodes
                rollouts = tests.create_rollouts(agent, reward, settings.steps, episodes)
                requests.append((cell.results, column, tests, rollouts))
                if column in BASELINES[1:]:
                    ties = PublishedTies(as_agent(agent))
                    rollouts = tests.create_rollouts(ties, reward, settings.steps, episodes, "anywhere")
                    requests.append((cell.published_rules, column, tests, rollouts))
    everything = [each for *_, rollouts in requests for each in rollouts]
    evaluations = iter(evaluate_all(everything, engine, progress, "table1"))
    for results, column, tests, rollouts in requests:
        results[column] = tests.pool([next(evaluations) for _ in rollouts])
    cells.sort(key=lambda cell: (REWARDS.index(cell.reward), list(FAMILIES).index(cell.family)))
    return Table1(settings, cells)


def _load_test_sets(settings: Settings, environments: Sequence[str | Path]) -> Iterator[_TestSets]:
    seeds = range(settings.seed, settings.seed + settings.seeds)
    if not environments:
        label = f"seed {settings.seed}" if settings.seeds == 1 else f"seeds {seeds[0]} to {seeds[-1]}"
        for family in FAMILIES:
            # test graphs use other random streams than training graphs, for every seed
            sets = [
                (seed, generate_split(family, settings.nodes, train=0, val=0, test=settings.graphs, seed=seed).test)
                for seed in seeds
            ]
            yield _TestSets(family, f"generated, {settings.nodes} nodes, {label}", sets, same_graphs=False)
    seen: set[str] = set()
    for path in environments:
        graphs = read_split(path).test
        named = [family for family in FAMILIES if f"_{family}_" in f"_{Path(path).stem.lower()}_"]
        if len(named) != 1:
            raise SettingError(
                f"{path}: the name does not contain the family; put one of {', '.join(FAMILIES)} between underscores, "
                "as in synthetic_RG_small.json."
            )
        family = named[0]
        if family in seen:
            raise SettingError(f"{path}: there is another file of the family {family}; give one per family.")
        seen.add(family)
        yield _TestSets(family, Path(path).name, [(seed, graphs) for seed in seeds], same_graphs=True)
