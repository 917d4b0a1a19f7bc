"""Table 1: mean return of 10-node walks by agent, reward and graph family, beside the paper's figures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

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
    format_percent,
    format_table,
    select_present,
)
from curiograph.paper.published import GRAPHS as PAPER_GRAPHS
from curiograph.paper.published import PAPER, PublishedTies
from curiograph.parallel import IN_PROCESS, Engine
from curiograph.plotting import create_figure, plot_bars, save_figure
from curiograph.progress import Progress, no_progress
from curiograph.validation import check_integer

BASELINES = ("random", "max-degree", "min-degree", "greedy")
COLUMNS = (*BASELINES, "gnn-paper", "gnn", "horizon", "horizon+beam", "beam")
WITH_SHARE = ("greedy", "gnn-paper", "gnn", "horizon", "horizon+beam")
"""Columns whose share of the attainable is given."""


@dataclass(frozen=True)
class Settings:
    """What is run."""

    episodes: Episodes = 100
    """Walks per graph of every agent that does not plan; or "all", one from every node."""
    beam_episodes: Episodes = 100
    """The same for the planners, which need a hundred times longer for each."""
    graphs: int = 10
    """Generated test graphs per family and seed."""
    seeds: int = 1
    """Independent sets of test graphs and walks, which are put together: those of `seed`, `seed` + 1 and so on."""
    nodes: int = 50
    steps: int = 10
    seed: int = 0


@dataclass(frozen=True)
class Cell:
    """One row of the table: a reward on a family."""

    reward: str
    family: str
    source: str
    """Where the graphs come from."""
    results: dict[str, Evaluation]
    """By column; a trained agent that is not shipped has none."""
    published_rules: dict[str, Evaluation]
    """The same under the rules of the published code: ties in the order of a Python set, dead ends go anywhere."""

    @property
    def paper(self) -> dict[str, tuple[float, float]]:
        """The paper's mean and standard error by agent."""
        return PAPER[self.reward, self.family]

    def share(self, column: str) -> tuple[float, float]:
        """Share of the attainable, (agent - random) / (beam - random), and its standard error over graphs."""
        if column not in self.results:
            return math.nan, math.nan
        random = self.results["random"].by_graph
        return compute_ratio_of_means(self.results[column].by_graph - random, self.results["beam"].by_graph - random)

    def paper_share(self, name: str) -> float:
        """The same for an agent of the paper, from its figures and what our planner shows to be attainable."""
        random, attainable = self.paper["random"][0], self.results["beam"].mean
        return (self.paper[name][0] - random) / (attainable - random) if attainable != random else math.nan

    def gnn_above(self, other: float) -> bool | None:
        """Whether our gnn earns more than that; None without a gnn."""
        return self.results["gnn"].mean > other if "gnn" in self.results else None


@dataclass(frozen=True)
class _Tests:
    """The graphs of a family, and the seeds of the walks on them."""

    family: str
    source: str
    sets: list[tuple[int, list[Graph]]]
    """Seed and graphs of each set."""
    same: bool
    """Whether all sets hold the same graphs."""

    def walks(
        self, agent: AgentLike, reward: str, steps: int, episodes: Episodes, fallback: Fallback = "frontier"
    ) -> list[Rollouts]:
        """Walks on each set."""
        return [Rollouts.create(agent, graphs, reward, steps, episodes, fallback, seed) for seed, graphs in self.sets]

    def pooled(self, parts: Sequence[Evaluation]) -> Evaluation:
        """All sets together; walks on the same graph stay together, since they are alike."""
        returns = [part.returns for part in parts]
        if self.same:
            pooled = [np.concatenate(walks) for walks in zip(*returns, strict=True)]
        else:
            pooled = [walks for part in returns for walks in part]
        return replace(parts[0], returns=pooled, ended_early=sum(part.ended_early for part in parts))


def run(
    settings: Settings,
    environments: Sequence[str | Path] = (),
    progress: Progress = no_progress,
    engine: Engine = IN_PROCESS,
) -> list[Cell]:
    """All cells, on generated graphs or on published environment files."""
    check_integer("seeds", settings.seeds, 1, "a whole number of sets of test graphs, 1 or more")
    asked = list(_asked(settings, environments))
    counts = [len(each.walks) for each in asked]
    found = evaluate_all([walks for each in asked for walks in each.walks], engine, progress, "table1")
    cells: dict[tuple[str, str], Cell] = {}
    for each, first in zip(asked, np.cumsum([0, *counts]).tolist(), strict=False):
        cell = cells.setdefault(each.place, Cell(*each.place, each.tests.source, {}, {}))
        results = cell.published_rules if each.published else cell.results
        results[each.column] = each.tests.pooled(found[first : first + len(each.walks)])
    return sorted(cells.values(), key=lambda cell: (REWARDS.index(cell.reward), list(FAMILIES).index(cell.family)))


@dataclass(frozen=True)
class _Asked:
    """A number of the table, and the walks that it takes."""

    tests: _Tests
    reward: str
    column: str
    walks: list[Rollouts]
    published: bool = False
    """By the rules of the published code."""

    @property
    def place(self) -> tuple[str, str]:
        return self.reward, self.tests.family


def _asked(settings: Settings, environments: Sequence[str | Path]) -> Iterator[_Asked]:
    for tests in _test_graphs(settings, environments):
        for reward in REWARDS:
            for column, agent in find_agents(COLUMNS, reward, tests.family).items():
                episodes = settings.beam_episodes if column in PLANNERS else settings.episodes
                yield _Asked(tests, reward, column, tests.walks(agent, reward, settings.steps, episodes))
                if column in BASELINES[1:]:
                    ties = PublishedTies(as_agent(agent))
                    walks = tests.walks(ties, reward, settings.steps, episodes, "anywhere")
                    yield _Asked(tests, reward, column, walks, published=True)


def _test_graphs(settings: Settings, environments: Sequence[str | Path]) -> Iterator[_Tests]:
    seeds = range(settings.seed, settings.seed + settings.seeds)
    named = f"seed {settings.seed}" if settings.seeds == 1 else f"seeds {seeds[0]} to {seeds[-1]}"
    if not environments:
        for family in FAMILIES:
            # drawn from other random streams than any training graphs, whatever the seed
            sets = [
                (seed, generate_split(family, settings.nodes, train=0, val=0, test=settings.graphs, seed=seed).test)
                for seed in seeds
            ]
            yield _Tests(family, f"generated, {settings.nodes} nodes, {named}", sets, same=False)
    seen: set[str] = set()
    for path in environments:
        graphs = read_split(path).test
        family = _family_of(path)
        if family in seen:
            raise SettingError(f"{path}: there is another file of the family {family}; give one per family.")
        seen.add(family)
        yield _Tests(family, Path(path).name, [(seed, graphs) for seed in seeds], same=True)


def _family_of(path: str | Path) -> str:
    """The family that the name of an environment file tells."""
    named = [family for family in FAMILIES if f"_{family}_" in f"_{Path(path).stem.lower()}_"]
    if len(named) != 1:
        raise SettingError(
            f"{path}: cannot tell the family from the name; put one of {', '.join(FAMILIES)} between underscores, "
            "as in synthetic_RG_small.json."
        )
    return named[0]


def columns_of(cells: Sequence[Cell]) -> list[str]:
    """The columns that any cell has a result for."""
    return select_present(COLUMNS, [cell.results for cell in cells])


def to_markdown(cells: Sequence[Cell]) -> str:
    """The table, with the paper's figures in a second line of each cell; the shares; the rules."""
    counts = {len(result.returns) for cell in cells for result in cell.results.values()}
    walks, planned = ({cell.results[column].episodes for cell in cells} for column in ("random", "beam"))
    columns = columns_of(cells)
    rows = [
        [cell.reward, cell.family.upper(), *(_with_paper(cell, column) for column in columns), _paper_text(cell, "gnn")]
        for cell in cells
    ]
    lines = [
        "Mean return ± standard error over episodes (± clustered by graph); the paper's figures in italics. "
        f"Graphs per family: {_listed(counts)} ({'; '.join(sorted({c.source for c in cells}))}); walks per family: "
        f"{_listed(walks)}, of the planners ({' and '.join(PLANNERS)}): {_listed(planned)}.",
        "",
        *format_table(["reward", "family", *columns, "paper's GNN"], rows),
        "",
        *_shares_markdown(cells),
        "",
        *_rules_markdown(cells),
    ]
    return "\n".join(lines) + "\n"


def _listed(counts: set[int]) -> str:
    return ", ".join(f"{count:,}" for count in sorted(counts))


def _paper_text(cell: Cell, name: str) -> str:
    return f"*{cell.paper[name][0]:.2f} ± {cell.paper[name][1]:.2f}*"


def _with_paper(cell: Cell, column: str) -> str:
    if column not in cell.results:
        return "-"
    result = cell.results[column]
    text = f"{result.mean:.2f} ± {result.sem:.2f} (± {result.sem_by_graph:.2f})"
    return text + (f"<br>{_paper_text(cell, column)}" if column in BASELINES else "")


@dataclass(frozen=True)
class ShareRow:
    """Shares of the attainable in one cell, or their mean over several."""

    reward: str
    family: str
    shares: dict[str, tuple[float, float]]
    """By column, with standard error."""
    paper: dict[str, float]
    """Of the paper's greedy and GNN."""


def share_rows(cells: Sequence[Cell]) -> list[ShareRow]:
    """Every cell, then the means by reward and over all."""
    columns = [column for column in WITH_SHARE if column in columns_of(cells)]
    rows = [
        ShareRow(
            cell.reward,
            cell.family.upper(),
            {column: cell.share(column) for column in columns},
            {name: cell.paper_share(name) for name in ("greedy", "gnn")},
        )
        for cell in cells
    ]
    means = [_mean_row([row for row in rows if row.reward == reward], reward) for reward in REWARDS]
    return [*rows, *means, _mean_row(rows, "both")]


def _mean_row(rows: Sequence[ShareRow], reward: str) -> ShareRow:
    shares = {column: _mean_share([row.shares[column] for row in rows]) for column in rows[0].shares}
    paper = {name: _mean_share([(row.paper[name], 0.0) for row in rows])[0] for name in rows[0].paper}
    return ShareRow(reward, "mean", shares, paper)


def _mean_share(shares: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Mean of those that there are, with the error of a mean of independent numbers."""
    known = [(share, error) for share, error in shares if not math.isnan(share)]
    if not known:
        return math.nan, math.nan
    return sum(share for share, _ in known) / len(known), math.hypot(*(error for _, error in known)) / len(known)


def _shares_markdown(cells: Sequence[Cell]) -> Iterator[str]:
    rows = share_rows(cells)
    yield "Share of the attainable: (agent - random) / (beam - random), ± standard error over graphs; the paper's from"
    yield "its own figures, with our beam as the attainable."
    yield ""
    yield from format_table(
        ["reward", "family", *rows[0].shares, "paper's greedy", "paper's GNN"],
        [
            [
                row.reward,
                row.family,
                *(format_percent(*share) for share in row.shares.values()),
                *(f"*{format_percent(share)}*" for share in row.paper.values()),
            ]
            for row in rows
        ],
    )
    for line in remarks(cells):
        yield ""
        yield line


def remarks(cells: Sequence[Cell]) -> Iterator[str]:
    """What the table says of our agents, in sentences; and what is not in it."""
    tried = [cell for cell in cells if "gnn" in cell.results]
    if tried:
        above_paper = sum(bool(cell.gnn_above(cell.paper["gnn"][0])) for cell in tried)
        above_greedy = sum(bool(cell.gnn_above(cell.results["greedy"].mean)) for cell in tried)
        yield (
            f"gnn earns more than the paper's GNN in {above_paper} of {len(tried)} cells, "
            f"and more than our greedy in {above_greedy}."
        )
    for column in ("horizon", "horizon+beam"):
        shares = {f"{c.reward} {c.family.upper()}": c.share(column)[0] for c in cells if column in c.results}
        known = {cell: share for cell, share in shares.items() if not math.isnan(share)}
        if known:
            least = min(known, key=known.__getitem__)
            mean = sum(known.values()) / len(known)
            yield (
                f"{column} reaches {format_percent(mean)} of the attainable on average, "
                f"{format_percent(known[least])} in the worst cell ({least})."
            )
    missing = describe_missing(COLUMNS, sorted({cell.family for cell in cells}))
    if missing:
        yield missing


def _rules_markdown(cells: Sequence[Cell]) -> Iterator[str]:
    yield "How much of a difference the rules make: ties at random and dead ends to the frontier (ours), against"
    yield "ties in the order of a Python set and dead ends anywhere (the published code)."
    yield ""
    yield from format_table(
        ["reward", "family", "agent", "our rules", "z", "published rules", "z", "paper"],
        [_rules_row(cell, name) for cell in cells for name in BASELINES],
    )
    yield ""
    yield "z: difference from the paper in standard errors. Both tables have graphs of their own, so the error is that"
    yield "of the mean over graphs (the paper's 10, for which it gives no such error, are taken to vary as ours do)."
    yield "With few graphs that error is itself uncertain, and where returns are mostly zero it says little."


def _rules_row(cell: Cell, name: str) -> list[str]:
    ours, theirs = cell.results[name], cell.published_rules.get(name)
    mean, error = cell.paper[name]
    other = [f"{theirs.mean:.2f}", _z(theirs, mean)] if theirs else ["", ""]
    paper = f"{mean:.2f} ± {error:.2f}"
    return [cell.reward, cell.family.upper(), name, f"{ours.mean:.2f}", _z(ours, mean), *other, paper]


def _z(result: Evaluation, paper: float) -> str:
    error = result.sem_by_graph * math.sqrt(1 + len(result.returns) / PAPER_GRAPHS)
    return f"{(result.mean - paper) / error:+.1f}" if error > 0 else ""


def to_dict(cells: Sequence[Cell], settings: Settings) -> dict[str, Any]:
    """Everything as plain values."""
    return {
        "settings": asdict(settings),
        "cells": [_cell_dict(cell) for cell in cells],
        "mean_shares": {
            row.reward: {"ours": _share_dict(row.shares), "paper": row.paper}
            for row in share_rows(cells)
            if row.family == "mean"
        },
        "remarks": list(remarks(cells)),
    }


def _cell_dict(cell: Cell) -> dict[str, Any]:
    shares = {column: cell.share(column) for column in WITH_SHARE if column in cell.results}
    return {
        "reward": cell.reward,
        "family": cell.family,
        "source": cell.source,
        "results": {name: result.to_dict() for name, result in cell.results.items()},
        "published_rules": {name: result.to_dict() for name, result in cell.published_rules.items()},
        "paper": {name: {"mean": mean, "sem": error} for name, (mean, error) in cell.paper.items()},
        "shares": _share_dict(shares),
        "paper_shares": {name: cell.paper_share(name) for name in ("greedy", "gnn")},
        "gnn_above_paper": cell.gnn_above(cell.paper["gnn"][0]),
        "gnn_above_greedy": cell.gnn_above(cell.results["greedy"].mean),
    }


def _share_dict(shares: dict[str, tuple[float, float]]) -> dict[str, dict[str, float]]:
    return {column: {"share": share, "sem_by_graph": error} for column, (share, error) in shares.items()}


def save_plot(cells: Sequence[Cell], path: str | Path) -> None:
    """Bars for every agent, a panel for each reward, the paper's figures as diamonds."""
    made, panels = create_figure(13.0, 4.2, columns=2)
    columns = columns_of(cells)
    for panel, reward in zip(panels, REWARDS, strict=True):
        rows = [cell for cell in cells if cell.reward == reward]
        series = {column: _bars(rows, column) for column in columns}
        theirs = {column: column for column in BASELINES} | {"gnn-paper": "gnn"}
        marks = {column: [c.paper[theirs[column]][0] for c in rows] for column in columns if column in theirs}
        plot_bars([c.family for c in rows], series, panel, marks)
        panel.set_title(TITLES[reward])
        panel.set_ylabel("mean return of a 10-node walk")
    panels[1].set_ylim(bottom=5)  # all agents earn most of their bits by walking at all
    handles, names = panels[0].get_legend_handles_labels()
    made.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
    save_figure(panels[0], path)


def _bars(rows: Sequence[Cell], column: str) -> tuple[list[float], list[float]]:
    found = [cell.results.get(column) for cell in rows]
    return [r.mean if r else math.nan for r in found], [r.sem_by_graph if r else math.nan for r in found]
