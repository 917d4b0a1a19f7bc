"""Shares of the attainable return on real networks, by agents that have not been trained on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from curiograph.errors import FileFormatError
from curiograph.graph.graph import Graph
from curiograph.plotting import create_figure, get_color
from reproduction.comparison import REWARDS, TITLES, find_networks
from reproduction.report import Report, Setup, add_legend, is_known, percent
from reproduction.timing import compute_ratio_of_means, time_on_graphs

REFERENCE = "beam:64"
"""Agent whose return is the attainable one, and whose time is the unit of times."""
AGENTS = ("greedy", "planner", "planner:4")
"""Agents whose shares are computed, in the order of the table."""
TOLERANCE = 0.02
"""An agent counts as below greedy if its share is lower by more than this."""


def compute(setup: Setup, episodes: int = 50, repeats: int = 3) -> dict[str, Any]:
    """Evaluate and time all agents on every network of the folder."""
    networks = find_networks(setup.folder)
    if not networks:
        raise FileFormatError("there are no real networks: set CURIOGRAPH_DATA to a folder with real-networks.")
    work = [(reward, name) for reward in REWARDS for name in networks]
    results = []
    for done, (reward, name) in enumerate(work):
        setup.progress(f"{reward} on {name}", done / len(work))
        found = _evaluate_network(networks[name], reward, episodes, repeats, setup.seed)
        results.append({"reward": reward, "network": name, **found})
    return {"results": results}


def _evaluate_network(graph: Graph, reward: str, episodes: int, repeats: int, seed: int) -> dict[str, Any]:
    names = ("random", *AGENTS, REFERENCE)
    timed = time_on_graphs({name: name for name in names}, [graph], reward, episodes, repeats, seed)
    returns = {name: found.walks.returns for name, found in timed.items()}
    random = returns["random"]
    shares = {name: compute_ratio_of_means(returns[name] - random, returns[REFERENCE] - random) for name in AGENTS}
    return {
        "nodes": graph.num_nodes,
        "means": {name: float(returns[name].mean()) for name in names},
        "shares": {name: share for name, (share, _) in shares.items()},
        "errors": {name: error for name, (_, error) in shares.items()},
        "microseconds": {name: 1e6 * timed[name].seconds for name in names},
    }


def report(document: dict[str, Any]) -> Report:
    """Show the shares on each network, and by agent."""
    results = document["results"]
    below: dict[str, list[str]] = {agent: [] for agent in AGENTS}
    summary = []
    for reward in REWARDS:
        own = [result for result in results if result["reward"] == reward]
        for agent in AGENTS:
            known = [result for result in own if is_known(result["shares"][agent])]
            worst = min(known, key=lambda result: result["shares"][agent])
            lower = [each for each in known if each["shares"][agent] < each["shares"]["greedy"] - TOLERANCE]
            below[agent] += [f"{reward} {each['network']}" for each in lower]
            share = percent(np.mean([result["shares"][agent] for result in known]))
            time = percent(np.mean([each["microseconds"][agent] / each["microseconds"][REFERENCE] for each in own]))
            lowest = f"{percent(worst['shares'][agent])} ({worst['network']})"
            summary.append([reward, agent, share, lowest, time, str(len(lower))])
    rows = [
        [each["reward"], each["network"], f"{each['nodes']:,}"]
        + [percent(each["shares"][agent], each["errors"][agent]) for agent in AGENTS]
        + [f"{each['means'][REFERENCE]:.2f} at {each['microseconds'][REFERENCE]:,.0f} us"]
        for each in results
    ]
    columns = ["reward", "agent", "mean share", "lowest share", f"time / {REFERENCE}'s", "networks below greedy"]
    return Report(
        tables={
            f"Share of {REFERENCE} on {len(results) // 2} real networks": pd.DataFrame(summary, columns=columns),
            "Shares by network": pd.DataFrame(
                rows, columns=["reward", "network", "nodes", *AGENTS, f"{REFERENCE}, return"]
            ),
        },
        figure=_plot(results),
        text=f"Share of the attainable return, (agent - random) / ({REFERENCE} - random), of 10-node walks from "
        f"{document['settings']['episodes']} starts on each network, ± standard error over starts. No agent was "
        f"trained on these networks. Times are CPU times per decision on one core, relative to {REFERENCE}, the median "
        f"of several runs with all agents in turns. An agent is below greedy if its share is lower by more than "
        f"{100 * TOLERANCE:.0f} points.",
        remarks=[
            f"{agent} is below greedy by more than {100 * TOLERANCE:.0f} points on {len(lower)} of {len(results)}"
            + (f": {', '.join(lower)}." if lower else ".")
            for agent, lower in below.items()
            if agent != "greedy"
        ],
    )


def _plot(results: list[dict[str, Any]]) -> Any:
    """Plot the share of every agent on every network, one panel for each reward."""
    figure, panels = create_figure(9.0, 1.2 + 0.14 * len(results), columns=len(REWARDS))
    for panel, reward in zip(panels, REWARDS, strict=True):
        own = [result for result in results if result["reward"] == reward]
        for agent, marker in zip(AGENTS, "sov", strict=True):
            color = get_color(agent)
            shares = [np.nan if each["shares"][agent] is None else each["shares"][agent] for each in own]
            fill = "none" if ":" in agent else color
            panel.plot(shares, range(len(own)), marker, color=color, markerfacecolor=fill, markersize=6, label=agent)
        panel.axvline(1.0, color=get_color("beam"), linewidth=0.8, linestyle="--")
        panel.set_yticks(range(len(own)), [result["network"] for result in own])
        panel.invert_yaxis()
        panel.set_xlabel(f"share of {REFERENCE}")
        panel.set_title(TITLES[reward], fontsize=10)
    panels[1].tick_params(labelleft=False)  # the same networks
    add_legend(figure, len(AGENTS))
    return figure
