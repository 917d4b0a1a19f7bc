"""Table 1: mean return of walks by agent, reward and graph family, compared with the paper."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from curiograph.agents.evaluate import Episodes
from curiograph.errors import FileFormatError
from curiograph.graph.generators import FAMILIES
from curiograph.plotting import COLORS, create_figure, get_color
from curiograph.validation import check_choice
from reproduction.comparison import (
    REWARDS,
    TITLES,
    Walks,
    describe_returns,
    find_agent,
    find_published,
    read_seed_returns,
    run_all_walks,
)
from reproduction.published import TABLE1
from reproduction.report import Report, Setup, add_legend, is_known, percent, plus_minus
from reproduction.timing import compute_ratio_of_means

BASELINES = ("random", "max-degree", "min-degree", "greedy")
"""Columns of agents that are neither trained nor search; the paper has results for all of them."""
COLUMNS = (*BASELINES, "gnn-paper", "gnn", "planner", "best")
"""All columns, in the order of the table; the best walks are proven (igt) or those of beam (cpt)."""
NORMALIZED = ("greedy", "gnn-paper", "gnn", "planner")
"""Columns whose normalized return (random = 0, best = 1) is given."""
PAPER_COLUMNS = {**{column: column for column in BASELINES}, "gnn-paper": "gnn"}
"""The paper's agents of columns."""
RULES = {
    "ours": "ties at random, dead ends to the neighbors of the walk",
    "authors": "those of the published code (ties in the order of a Python set, dead ends to any node)",
}
PAPER_AGENTS = {"greedy": "paper's greedy", "gnn": "paper's GNN"}
"""Titles of the paper's agents whose normalized return is given."""


def compute(
    setup: Setup,
    graphs: int = 10,
    episodes: Episodes = 100,
    best_episodes: Episodes = 20,
    seeds: int = 1,
    environments: str = "",
    rules: str = "ours",
) -> dict[str, Any]:
    """Evaluate all agents on sets of test graphs with `seeds` seeds, or on those of the paper in a folder."""
    check_choice("rules", rules, tuple(RULES))
    given = find_published(environments) if environments else {}
    if environments and not given:
        raise FileFormatError(f"{environments}: has no graphs of the paper; run `curiograph data get paper-graphs`.")
    tasks = {
        (reward, family, column, seed): Walks(
            agent=find_agent(column, reward, family),
            reward=reward,
            family=family,
            episodes=best_episodes if column == "best" else episodes,
            graphs=graphs,
            seed=seed,
            rules=rules,
        )
        for reward, family, column in product(REWARDS, FAMILIES, COLUMNS)
        for seed in range(setup.seed, setup.seed + seeds)
    }
    returns: dict[tuple[str, ...], list[Any]] = {}
    for (*place, _), result in zip(tasks, run_all_walks(setup, "table1", list(tasks.values()), given), strict=True):
        returns.setdefault(tuple(map(str, place)), []).append(result["returns"])
    axis = 1 if given else 0  # walks on the same graph stay together
    pooled = {place: describe_returns(np.concatenate(found, axis=axis)) for place, found in returns.items()}
    cells = [
        _make_cell(reward, family, bool(given), {column: pooled[reward, family, column] for column in COLUMNS})
        for reward, family in product(REWARDS, FAMILIES)
    ]
    generated = f"generated, 50 nodes, seeds {setup.seed} to {setup.seed + seeds - 1}"
    return {"source": "those of the paper" if given else generated, "cells": cells}


def _make_cell(reward: str, family: str, same_graphs: bool, results: dict[str, Any]) -> dict[str, Any]:
    """Return the results of a reward and family, and what follows from them."""
    trained = {column: find_agent(column, reward, family) for column in ("gnn-paper", "gnn", "planner")}
    paper = TABLE1[reward, family]
    by_graph = {column: np.array(result["by_graph"]) for column, result in results.items()}
    random, best = by_graph["random"], by_graph["best"]
    shares = {column: compute_ratio_of_means(by_graph[column] - random, best - random) for column in NORMALIZED}
    attainable = results["best"]["mean"] - paper["random"][0]
    theirs = {column: paper[name] for column, name in PAPER_COLUMNS.items() if same_graphs}
    return {
        "reward": reward,
        "family": family,
        "results": results,
        "z": {column: (results[column]["mean"] - mean) / error for column, (mean, error) in theirs.items()},
        "training_seeds": {column: read_seed_returns(agent, family) for column, agent in trained.items()},
        "paper": {name: {"mean": mean, "sem": error} for name, (mean, error) in paper.items()},
        "shares": {column: {"share": share, "sem_by_graph": error} for column, (share, error) in shares.items()},
        "paper_shares": {name: (paper[name][0] - paper["random"][0]) / attainable for name in PAPER_AGENTS},
    }


def report(document: dict[str, Any]) -> Report:
    """Show the returns and their differences from the paper, the normalized returns, and the spread over seeds."""
    cells = document["cells"]
    tables = {"Mean return ± standard error by graph": _tabulate_returns(cells)}
    tables["Normalized return (random = 0, best = 1) ± standard error over graphs"] = tabulate_shares(cells)
    tables["Mean return ± standard deviation over training seeds (number of seeds)"] = tabulate_seeds(cells)
    gnn = [cell["results"]["gnn"]["mean"] for cell in cells]
    above_paper = sum(mean > cell["paper"]["gnn"]["mean"] for mean, cell in zip(gnn, cells, strict=True))
    above_greedy = sum(mean > cell["results"]["greedy"]["mean"] for mean, cell in zip(gnn, cells, strict=True))
    planner = {f"{c['reward']} {c['family'].upper()}": c["shares"]["planner"]["share"] for c in cells}
    known = {cell: share for cell, share in planner.items() if is_known(share)}
    worst = min(known, key=known.__getitem__)
    sizes = cells[0]["results"]
    walks = f"{sizes['random']['episodes']:,} ({sizes['best']['episodes']:,} for best)"
    remarks = [
        f"gnn earns more than the paper's GNN in {above_paper} of {len(cells)} cells, and more than our greedy in "
        f"{above_greedy}.",
        f"planner reaches {percent(sum(known.values()) / len(known))} of the attainable on average, "
        f"{percent(known[worst])} in the worst cell ({worst}).",
    ]
    if z := [abs(cell["z"][column]) for cell in cells for column in BASELINES[1:] if cell["z"]]:
        remarks.append(
            f"max-degree, min-degree and greedy are at most {max(z):.2f} standard errors from the paper in all "
            f"{len(z)} cells. z is the difference from the paper over the paper's standard error (1,000 random starts)."
        )
    return Report(
        tables=tables,
        figure=_plot(cells),
        text=f"Walks of 10 nodes. Graphs per family: {sizes['random']['graphs']} ({document['source']}); walks per "
        f"family: {walks}. Rules: {RULES[document['settings']['rules']]}. Best: the proven optimum for igt (`exact`), "
        "beam 256 for cpt. Normalized returns of the paper's agents are with the paper's random and our best. Training "
        "seeds: on 30 generated test graphs; another seed draws other training graphs (except for gnn-paper, which is "
        "trained on those of the paper) and other random numbers. Agents of seed 0 are shipped and used in the other "
        "tables.",
        remarks=remarks,
    )


def _tabulate_returns(cells: list[dict[str, Any]]) -> pd.DataFrame:
    """Return rewards and agents x families; the paper's results are below ours, and z if the graphs are the same."""
    rows = []
    for reward, column in product(REWARDS, COLUMNS):
        own = [cell for cell in cells if cell["reward"] == reward]
        results = [cell["results"][column] for cell in own]
        rows.append([reward, column, *(plus_minus(result["mean"], result["sem_by_graph"]) for result in results)])
        if theirs := PAPER_COLUMNS.get(column):
            values = [plus_minus(cell["paper"][theirs]["mean"], cell["paper"][theirs]["sem"]) for cell in own]
            rows.append([reward, f"{theirs} of the paper", *values])
            if own[0]["z"]:
                rows.append([reward, f"z of {column}", *(f"{cell['z'][column]:+.1f}" for cell in own)])
    return pd.DataFrame(rows, columns=["reward", "agent", *map(str.upper, FAMILIES)])


def tabulate_shares(cells: list[dict[str, Any]]) -> pd.DataFrame:
    """Return the normalized returns of cells x agents, with means by reward and over all cells."""
    groups = {(cell["reward"], cell["family"].upper()): [cell] for cell in cells}
    groups |= {(reward, "mean"): [cell for cell in cells if cell["reward"] == reward] for reward in REWARDS}
    rows = []
    for (reward, family), members in {**groups, ("both", "mean"): cells}.items():
        row = [reward, family]
        for column in NORMALIZED:
            shares = [cell["shares"][column] for cell in members if is_known(cell["shares"][column]["share"])]
            error = math.hypot(*(share["sem_by_graph"] for share in shares)) / max(len(shares), 1)
            row.append(percent(np.mean([share["share"] for share in shares]) if shares else None, error))
        paper = [percent(np.mean([cell["paper_shares"][name] for cell in members])) for name in PAPER_AGENTS]
        rows.append([*row, *paper])
    return pd.DataFrame(rows, columns=["reward", "family", *NORMALIZED, *PAPER_AGENTS.values()])


def tabulate_seeds(cells: list[dict[str, Any]]) -> pd.DataFrame:
    """Return the mean returns over training seeds of cells x agents."""

    def describe(found: list[float]) -> str:
        spread = f" ± {np.std(found, ddof=1):.3f}" if len(found) > 1 else ""
        return f"{np.mean(found):.2f}{spread} ({len(found)})"

    return pd.DataFrame(
        {"reward": cell["reward"], "family": cell["family"].upper()}
        | {column: describe(found) for column, found in cell["training_seeds"].items()}
        for cell in cells
    )


def _plot(cells: list[dict[str, Any]]) -> Any:
    """Plot bars for all agents in one panel per reward, with the paper's results as diamonds."""
    figure, panels = create_figure(9.0, 7.6, rows=2)
    width = 0.8 / len(COLUMNS)
    diamond = {"linestyle": "", "marker": "D", "color": COLORS["paper"], "markersize": 4}
    for panel, reward in zip(panels, REWARDS, strict=True):
        chosen = [cell for cell in cells if cell["reward"] == reward]
        for place, column in enumerate(COLUMNS):
            x = np.arange(len(chosen)) + (place - (len(COLUMNS) - 1) / 2) * width
            heights, errors = ([cell["results"][column][key] for cell in chosen] for key in ("mean", "sem_by_graph"))
            panel.bar(
                x, heights, width, yerr=errors, color=get_color(column, default="beam"), label=column, ecolor="#555555"
            )
            if column in PAPER_COLUMNS:
                marks = [cell["paper"][PAPER_COLUMNS[column]]["mean"] for cell in chosen]
                panel.plot(x, marks, **diamond, markeredgecolor="white", zorder=3)
        panel.plot([], [], **diamond, label="paper")
        panel.set_xticks(np.arange(len(chosen)), [cell["family"].upper() for cell in chosen])
        panel.set_title(TITLES[reward])
        panel.set_ylabel("mean return of a 10-node walk")
    add_legend(figure, 5)
    return figure
