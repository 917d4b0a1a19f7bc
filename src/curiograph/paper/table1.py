"""Table 1: mean return of walks by agent, reward and graph family, compared with the paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from curiograph.agents.evaluate import Episodes, Evaluation, Rollouts, evaluate_all
from curiograph.agents.registry import AgentLike, as_agent
from curiograph.errors import SettingError
from curiograph.exploration.mdp import Fallback
from curiograph.graph.generators import FAMILIES, generate_split
from curiograph.graph.graph import Graph
from curiograph.graph.splits import read_split
from curiograph.paper.comparison import (
    REWARDS,
    SLOW_COLUMNS,
    TITLES,
    compute_ratio_of_means,
    describe_missing,
    find_agents,
    read_seed_returns,
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
"""Columns of agents that are neither trained nor search; the paper has results for all of them."""
COLUMNS = (*BASELINES, "gnn-paper", "gnn", "horizon", "horizon+beam", "planner", "beam")
"""All columns, in the order of the table."""
NORMALIZED_COLUMNS = ("greedy", "gnn-paper", "gnn", "horizon", "horizon+beam", "planner")
"""Columns whose normalized return (random = 0, beam = 1) is given."""
TRAINED_COLUMNS = ("gnn-paper", "gnn", "horizon", "planner")
"""Columns of trained agents, whose training seeds are compared."""
PAPER_AGENTS = {"greedy": "paper's greedy", "gnn": "paper's GNN"}
"""Titles of the paper's agents whose normalized return is given."""


@dataclass(frozen=True)
class Settings:
    """Settings of the experiment."""

    episodes: Episodes = 100
    """Walks per graph of each agent except the slow ones; "all" starts one walk at every node."""
    beam_episodes: Episodes = 100
    """Walks per graph of horizon+beam and beam, which take a hundred times as long."""
    graphs: int = 10
    """Number of generated test graphs per family and seed."""
    seeds: int = 1
    """Number of independent sets of test graphs and walks to pool: `seed`, `seed` + 1, ..."""
    nodes: int = 50
    """Number of nodes of the graphs."""
    steps: int = 10
    """Nodes per walk, including the start."""
    seed: int = 0
    """Seed of the first set of test graphs and of the walks on it."""


@dataclass(frozen=True)
class Cell:
    """Results for one reward and family: a row of the table."""

    reward: str
    """Name of the reward."""
    family: str
    """Family of the graphs."""
    source: str
    """Origin of the test graphs: the settings of the generator, or the name of the file."""
    results: dict[str, Evaluation]
    """Results by column; a column is missing if its agent is not shipped."""
    published_rules: dict[str, Evaluation]
    """Results by column under the rules of the published code: ties are broken in the order of a Python set, and
    walks continue at any unvisited node after a dead end."""
    training_seeds: dict[str, list[float]] = field(default_factory=dict)
    """Mean returns by training seed on 30 test graphs by column, from the cards of the shipped agents."""

    @property
    def paper(self) -> dict[str, tuple[float, float]]:
        """The paper's mean and standard error by agent."""
        return TABLE1[self.reward, self.family]

    def normalize_return(self, column: str) -> tuple[float, float]:
        """Return the normalized return (random = 0, beam = 1) of an agent, and its standard error over graphs."""
        if column not in self.results:
            return math.nan, math.nan
        random = self.results["random"].by_graph
        return compute_ratio_of_means(self.results[column].by_graph - random, self.results["beam"].by_graph - random)

    def normalize_paper_return(self, name: str) -> float:
        """Return the normalized return of an agent of the paper, with the paper's random and our beam."""
        random, beam = self.paper["random"][0], self.results["beam"].mean
        return (self.paper[name][0] - random) / (beam - random) if beam != random else math.nan

    def is_gnn_above(self, other: float) -> bool:
        """Return whether our gnn has a higher mean return than `other`."""
        return self.results["gnn"].mean > other

    def format_paper(self, name: str) -> str:
        """Format the paper's result of an agent."""
        mean, error = self.paper[name]
        return f"{mean:.2f} ± {error:.2f}"

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain values."""
        normalized = {column: self.normalize_return(column) for column in NORMALIZED_COLUMNS if column in self.results}
        has_gnn = "gnn" in self.results
        return {
            "reward": self.reward,
            "family": self.family,
            "source": self.source,
            "results": {name: result.to_dict() for name, result in self.results.items()},
            "published_rules": {name: result.to_dict() for name, result in self.published_rules.items()},
            "training_seeds": self.training_seeds,
            "paper": {name: {"mean": mean, "sem": error} for name, (mean, error) in self.paper.items()},
            "shares": _encode_shares(normalized),
            "paper_shares": {name: self.normalize_paper_return(name) for name in PAPER_AGENTS},
            "gnn_above_paper": self.is_gnn_above(self.paper["gnn"][0]) if has_gnn else None,
            "gnn_above_greedy": self.is_gnn_above(self.results["greedy"].mean) if has_gnn else None,
        }


@dataclass(frozen=True)
class NormalizedReturns:
    """Normalized returns (random = 0, beam = 1) in one cell, or their means over several cells."""

    reward: str
    """Name of the reward, or "both" for the mean over all cells."""
    family: str
    """Family in capitals, or "mean" for a mean over cells."""
    ours: dict[str, tuple[float, float]]
    """Normalized return and its standard error over graphs by column."""
    paper: dict[str, float]
    """Normalized returns of the paper's greedy and GNN."""


def _encode_shares(normalized: dict[str, tuple[float, float]]) -> dict[str, dict[str, float]]:
    """Return normalized returns as plain values, which are called shares in the stored documents."""
    return {column: {"share": value, "sem_by_graph": error} for column, (value, error) in normalized.items()}


@dataclass(frozen=True)
class Table1(Experiment):
    """Mean returns of all agents for both rewards and all families."""

    name = "table1"

    settings: Settings
    """Settings of the run."""
    cells: list[Cell]
    """Results, ordered by reward and family."""

    @property
    def columns(self) -> list[str]:
        """The columns that any cell has a result for."""
        return select_present(COLUMNS, [cell.results for cell in self.cells])

    @property
    def normalized_returns(self) -> list[NormalizedReturns]:
        """Normalized returns in each cell."""
        columns = [column for column in NORMALIZED_COLUMNS if column in self.columns]
        return [
            NormalizedReturns(
                reward=cell.reward,
                family=cell.family.upper(),
                ours={column: cell.normalize_return(column) for column in columns},
                paper={name: cell.normalize_paper_return(name) for name in PAPER_AGENTS},
            )
            for cell in self.cells
        ]

    @property
    def mean_normalized_returns(self) -> list[NormalizedReturns]:
        """Means of the normalized returns by reward, then over all cells."""
        rows = self.normalized_returns
        means = [_average_rows([row for row in rows if row.reward == reward], reward) for reward in REWARDS]
        return [*means, _average_rows(rows, "both")]

    @property
    def seed_table(self) -> Table:
        """Mean returns over training seeds, with their standard deviation."""
        columns = select_present(TRAINED_COLUMNS, [cell.training_seeds for cell in self.cells])
        rows = [
            [cell.reward, cell.family.upper(), *(_format_seeds(cell.training_seeds.get(name, ())) for name in columns)]
            for cell in self.cells
        ]
        title = "Mean return ± standard deviation over training seeds (number of seeds)"
        return Table(title, ["reward", "family", *columns], rows)

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
        normalized = [*self.normalized_returns, *self.mean_normalized_returns]
        rows = [
            [column, *(format_percent(returns.ours[column][0]) for returns in normalized)]
            for column in normalized[0].ours
        ]
        for name, title in PAPER_AGENTS.items():
            rows.append([title, *(format_percent(returns.paper[name]) for returns in normalized)])
        columns = ["agent", *(f"{returns.reward} {returns.family}" for returns in normalized)]
        sections.append(Table("Normalized return (random = 0, beam = 1)", columns, rows))
        return [*sections, self.seed_table]

    @property
    def remarks(self) -> list[str]:
        sentences = []
        with_gnn = [cell for cell in self.cells if "gnn" in cell.results]
        if with_gnn:
            above_paper = sum(cell.is_gnn_above(cell.paper["gnn"][0]) for cell in with_gnn)
            above_greedy = sum(cell.is_gnn_above(cell.results["greedy"].mean) for cell in with_gnn)
            sentences.append(
                f"gnn earns more than the paper's GNN in {above_paper} of {len(with_gnn)} cells, "
                f"and more than our greedy in {above_greedy}."
            )
        for column in ("horizon", "horizon+beam", "planner"):
            normalized = {
                f"{cell.reward} {cell.family.upper()}": cell.normalize_return(column)[0]
                for cell in self.cells
                if column in cell.results
            }
            known = {cell: value for cell, value in normalized.items() if not math.isnan(value)}
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
                row.reward: {"ours": _encode_shares(row.ours), "paper": row.paper}
                for row in self.mean_normalized_returns
            },
            "remarks": self.remarks,
        }

    def to_markdown(self) -> str:
        graphs = {len(result.returns) for cell in self.cells for result in cell.results.values()}
        sources = sorted({cell.source for cell in self.cells})
        num_walks = {cell.results["random"].episodes for cell in self.cells}
        num_slow_walks = {cell.results["beam"].episodes for cell in self.cells}
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
        normalized = [*self.normalized_returns, *self.mean_normalized_returns]
        normalized_rows = [
            [
                returns.reward,
                returns.family,
                *(format_percent(value, error) for value, error in returns.ours.values()),
                *(f"*{format_percent(value)}*" for value in returns.paper.values()),
            ]
            for returns in normalized
        ]
        lines = [
            "Mean return ± standard error over episodes (± clustered by graph); the paper's results in italics. "
            f"Graphs per family: {_format_counts(graphs)} ({'; '.join(sources)}); walks "
            f"per family: {_format_counts(num_walks)} ({_format_counts(num_slow_walks)} for "
            f"{' and '.join(SLOW_COLUMNS)}).",
            "",
            *format_table(["reward", "family", *columns, "paper's GNN"], rows),
            "",
            "Normalized return (random = 0, beam = 1), ± standard error over graphs; for the agents of the paper, with",
            "the paper's random and our beam.",
            "",
            *format_table(["reward", "family", *normalized[0].ours, *PAPER_AGENTS.values()], normalized_rows),
            *(line for remark in self.remarks for line in ("", remark)),
            "",
            f"{self.seed_table.title}, on 30 generated test graphs. Another seed draws",
            "other training graphs and other random numbers; `horizon` and `planner` start from their generalists of",
            "seed 0. The agents of seed 0 are shipped and used in the tables above.",
            "",
            *format_table(self.seed_table.columns, self.seed_table.rows),
            "",
            "Effect of the rules: ties at random and dead ends to the frontier (ours), against ties in the order of a",
            "Python set and dead ends anywhere (the published code).",
            "",
            *format_table(
                ["reward", "family", "agent", "our rules", "z", "published rules", "z", "paper"],
                [_format_rules(cell, name) for cell in self.cells for name in BASELINES],
            ),
            "",
            "z: difference from the paper in standard errors. The two tables use different graphs, so the error is",
            "that of the mean over graphs (the paper gives no such error; its 10 graphs are assumed to vary as ours",
            "do). With few graphs this error is itself uncertain, and it means little where most returns are zero.",
        ]
        return "\n".join(lines) + "\n"

    def plot(self) -> Axes:
        """Plot bars for all agents in one panel per reward, with the paper's results as diamonds."""
        figure, panels = create_figure(9.0, 7.6, rows=2)
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
            panel.set_ylabel(f"mean return of a {self.settings.steps}-node walk")
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=-(-len(names) // 2), frameon=False)
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
                training_seeds=cell["training_seeds"],
            )
            for cell in document["cells"]
        ]
        return cls(Settings(**document["settings"]), cells)


def _average_rows(rows: Sequence[NormalizedReturns], reward: str) -> NormalizedReturns:
    """Average normalized returns over cells; NaN values are left out."""
    ours = {}
    for column in rows[0].ours:
        known = [row.ours[column] for row in rows if not math.isnan(row.ours[column][0])]
        mean = sum(value for value, _ in known) / len(known) if known else math.nan
        # the variance of a sum of independent values is the sum of their variances
        error = math.hypot(*(error for _, error in known)) / len(known) if known else math.nan
        ours[column] = (mean, error)
    paper = {}
    for name in rows[0].paper:
        values = [row.paper[name] for row in rows if not math.isnan(row.paper[name])]
        paper[name] = sum(values) / len(values) if values else math.nan
    return NormalizedReturns(reward=reward, family="mean", ours=ours, paper=paper)


def _format_seeds(returns: Sequence[float]) -> str:
    """Format the mean and the standard deviation of returns over training seeds."""
    if len(returns) < 2:
        return "-" if not returns else f"{returns[0]:.2f} (1)"
    return f"{np.mean(returns):.2f} ± {np.std(returns, ddof=1):.3f} ({len(returns)})"


def _format_counts(counts: set[int]) -> str:
    return ", ".join(f"{count:,}" for count in sorted(counts))


def _format_rules(cell: Cell, name: str) -> list[str]:
    """Format the row of an agent in the table that compares our rules with the published ones."""
    row = [cell.reward, cell.family.upper(), name]
    for result in (cell.results[name], cell.published_rules.get(name)):
        if result is None:
            row += ["", ""]
            continue
        # variance of the difference: s²/n + s²/m = s²/n (1 + n/m) for n graphs of ours and m graphs of the paper
        error = result.sem_by_graph * math.sqrt(1 + len(result.returns) / TABLE1_GRAPHS)
        z = f"{(result.mean - cell.paper[name][0]) / error:+.1f}" if error > 0 else ""
        row += [f"{result.mean:.2f}", z]
    return [*row, cell.format_paper(name)]


@dataclass(frozen=True)
class _TestSets:
    """Test graphs of a family, and the seeds of the walks on them."""

    family: str
    """Family of the graphs."""
    source: str
    """Origin of the graphs."""
    graphs_by_seed: dict[int, list[Graph]]
    """Graphs of each set by the seed of the walks on them."""
    same_graphs: bool
    """Whether all sets contain the same graphs."""

    def create_rollouts(
        self, agent: AgentLike, reward: str, steps: int, episodes: Episodes, fallback: Fallback = "frontier"
    ) -> list[Rollouts]:
        """Create the walks of an agent on each set."""
        return [
            Rollouts.create(agent, graphs, reward=reward, steps=steps, episodes=episodes, fallback=fallback, seed=seed)
            for seed, graphs in self.graphs_by_seed.items()
        ]

    def pool(self, evaluations: Sequence[Evaluation]) -> Evaluation:
        """Pool the evaluations of all sets; walks on the same graph stay together, as they are correlated."""
        returns = [evaluation.returns for evaluation in evaluations]
        if self.same_graphs:
            pooled = [np.concatenate(walks) for walks in zip(*returns, strict=True)]
        else:
            pooled = [walks for part in returns for walks in part]
        ended_early = sum(evaluation.ended_early for evaluation in evaluations)
        return replace(evaluations[0], returns=pooled, ended_early=ended_early)


class _Request(NamedTuple):
    """Walks to run, and where their evaluation belongs."""

    results: dict[str, Evaluation]
    """Dictionary that receives the evaluation."""
    column: str
    """Key of the evaluation in `results`."""
    test_sets: _TestSets
    """Test graphs of the walks."""
    rollouts: list[Rollouts]
    """Walks on each set."""


def run(
    settings: Settings,
    environments: Sequence[str | Path] = (),
    engine: Engine = IN_PROCESS,
    progress: Progress = no_progress,
) -> Table1:
    """Evaluate all agents on generated graphs, or on the test graphs of published environment files."""
    check_integer("seeds", settings.seeds, 1, "a whole number of sets of test graphs, 1 or more")
    cells: list[Cell] = []
    requests: list[_Request] = []
    for test_sets in _read_test_sets(settings, environments) if environments else _generate_test_sets(settings):
        for reward in REWARDS:
            cell = Cell(reward=reward, family=test_sets.family, source=test_sets.source, results={}, published_rules={})
            cells.append(cell)
            agents = find_agents(COLUMNS, reward, test_sets.family)
            for column in TRAINED_COLUMNS:
                if column in agents:
                    cell.training_seeds[column] = read_seed_returns(agents[column], test_sets.family)
            for column, agent in agents.items():
                episodes = settings.beam_episodes if column in SLOW_COLUMNS else settings.episodes
                rollouts = test_sets.create_rollouts(agent, reward, settings.steps, episodes)
                requests.append(_Request(cell.results, column, test_sets, rollouts))
                if column in BASELINES[1:]:  # not random: without random ties it would be deterministic
                    with_ties = PublishedTies(as_agent(agent))
                    rollouts = test_sets.create_rollouts(with_ties, reward, settings.steps, episodes, "anywhere")
                    requests.append(_Request(cell.published_rules, column, test_sets, rollouts))
    all_rollouts = [rollouts for request in requests for rollouts in request.rollouts]
    evaluations = iter(evaluate_all(all_rollouts, engine, progress, "table1"))
    for request in requests:
        evaluated = [next(evaluations) for _ in request.rollouts]
        request.results[request.column] = request.test_sets.pool(evaluated)
    cells.sort(key=lambda cell: (REWARDS.index(cell.reward), list(FAMILIES).index(cell.family)))
    return Table1(settings, cells)


def _generate_test_sets(settings: Settings) -> list[_TestSets]:
    """Generate the test graphs of all families, other ones for each seed."""
    seeds = range(settings.seed, settings.seed + settings.seeds)
    label = f"seed {settings.seed}" if settings.seeds == 1 else f"seeds {seeds[0]} to {seeds[-1]}"
    test_sets = []
    for family in FAMILIES:
        # test graphs use other random streams than training graphs, for every seed
        graphs_by_seed = {
            seed: generate_split(family, settings.nodes, train=0, val=0, test=settings.graphs, seed=seed).test
            for seed in seeds
        }
        source = f"generated, {settings.nodes} nodes, {label}"
        test_sets.append(_TestSets(family=family, source=source, graphs_by_seed=graphs_by_seed, same_graphs=False))
    return test_sets


def _read_test_sets(settings: Settings, environments: Sequence[str | Path]) -> list[_TestSets]:
    """Read the test graphs of environment files, the same ones for each seed."""
    seeds = range(settings.seed, settings.seed + settings.seeds)
    by_family: dict[str, _TestSets] = {}
    for path in environments:
        graphs = read_split(path).test
        named = [family for family in FAMILIES if f"_{family}_" in f"_{Path(path).stem.lower()}_"]
        if len(named) != 1:
            raise SettingError(
                f"{path}: the file name must contain exactly one graph family between underscores "
                f"({', '.join(FAMILIES)}), as in synthetic_RG_small.json."
            )
        family = named[0]
        if family in by_family:
            raise SettingError(f"{path}: there is another file of the family {family}; give one per family.")
        by_family[family] = _TestSets(
            family=family, source=Path(path).name, graphs_by_seed=dict.fromkeys(seeds, graphs), same_graphs=True
        )
    return list(by_family.values())
