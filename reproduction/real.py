"""Shares of the best return of 10-node walks on real networks, by agents that have not been trained on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from curiograph.agents.agent_names import as_agent
from curiograph.agents.exact import ExactAgent
from curiograph.errors import FileFormatError
from curiograph.exploration.mdp import begin
from curiograph.graph.graph import Graph
from reproduction.comparison import REWARDS, find_networks
from reproduction.report import Report, Setup, percent
from reproduction.timing import compute_ratio_of_means, time_on_graphs

AGENTS = ("greedy", "beam:8", "planner", "beam:256")
"""Agents whose shares are computed, in the order of the tables."""
STATES = {"igt": 200_000, "cpt": 3000}
"""States that exact search keeps at a step; for cpt it proves nothing, whatever their number."""


def compute(setup: Setup, starts: int = 12, repeats: int = 3) -> dict[str, Any]:
    """Evaluate and time all agents on every network of the folder; with a run folder, finished networks are kept."""
    networks = find_networks(setup.folder)
    if not networks:
        raise FileFormatError("there are no real networks: set CURIOGRAPH_DATA to a folder with real-networks.")
    tasks = [(reward, name) for reward in REWARDS for name in networks]
    key, shared = [as_agent("planner"), STATES, starts, repeats, setup.seed], (networks, starts, repeats, setup.seed)
    key += networks.values()
    found = setup.engine.map(_evaluate, shared, tasks, name="real", key=key, progress=setup.progress)
    return {"results": [{"reward": r, "network": n, **each} for (r, n), each in zip(tasks, found, strict=True)]}


def _evaluate(shared: tuple[Mapping[str, Graph], int, int, int], task: tuple[str, str]) -> dict[str, Any]:
    (networks, starts, repeats, seed), (reward, name) = shared, task
    graph = networks[name]
    agents = {agent: agent for agent in ("random", *AGENTS)}
    timed = time_on_graphs(agents, [graph], reward, starts, repeats, seed)
    first = timed["greedy"].walks.nodes[:, 0]
    found, bounds = ExactAgent(STATES[reward]).prove(begin([graph], [first], reward, 10, seed=seed))
    proven = bounds <= found.returns + 1e-9
    kept = proven if reward == "igt" else np.full(starts, True)
    best = np.max([found.returns, *(each.walks.returns for each in timed.values())], axis=0)[kept]
    shares = {agent: compute_ratio_of_means(each.walks.returns[kept], best) for agent, each in timed.items()}
    return {
        "nodes": graph.num_nodes,
        "starts": starts,
        "proven": int(proven.sum()),
        "best": float(best.mean()),
        "shares": {agent: share for agent, (share, _) in shares.items()},
        "errors": {agent: error for agent, (_, error) in shares.items()},
        "microseconds": {agent: 1e6 * each.seconds for agent, each in timed.items()},
    }


def report(document: dict[str, Any]) -> Report:
    """Show the shares by agent, and on each network."""
    results, summary, remarks = document["results"], [], []
    for reward in REWARDS:
        own = [each for each in results if each["reward"] == reward and each["shares"]["greedy"] is not None]
        for agent in AGENTS:
            worst = min(own, key=lambda each: each["shares"][agent])
            share, random = (np.array([each["shares"][name] for each in own]) for name in (agent, "random"))
            above = np.mean((share - random) / (1 - random))
            time = np.mean([each["microseconds"][agent] for each in own])
            lowest = f"{100 * worst['shares'][agent]:.1f} % ({worst['network']})"
            summary.append(
                [reward, agent, f"{100 * share.mean():.1f} %", lowest, f"{100 * above:.1f} %", f"{time:,.0f}"]
            )
        proven, starts = (
            sum(each[key] for each in results if each["reward"] == reward) for key in ("proven", "starts")
        )
        remarks.append(f"{reward}: the optimum is proven for {proven} of {starts} walks.")
    rows = [
        [each["reward"], each["network"], f"{each['nodes']:,}", f"{each['proven']} of {each['starts']}"]
        + [percent(each["shares"][agent], each["errors"][agent]) for agent in AGENTS]
        + [f"{each['microseconds']['planner']:,.0f}", "-" if each["best"] is None else f"{each['best']:.2f}"]
        for each in results
    ]
    columns = ["reward", "agent", "mean share", "lowest share", "share above random", "us per decision"]
    names = ["reward", "network", "nodes", "proven", *AGENTS, "planner, us", "best return"]
    return Report(
        tables={
            f"Share of the best return on {len(results) // 2} real networks": pd.DataFrame(summary, columns=columns),
            "Shares by network": pd.DataFrame(rows, columns=names),
        },
        text="Return divided by the best return, of 10-node walks from the same starts on each network, ± standard "
        "error over starts. No agent was trained on these networks. igt: the best return is the optimum that "
        f"`exact` has proven with at most {STATES['igt']:,} states a step; walks without a proof are left out. cpt: it "
        f"is the best known, not proven, the highest return of exact:{STATES['cpt']} and all agents here. Share above "
        "random: (agent - random) / (best - random), as in Table 1. Times are CPU times per decision on one core, the "
        "median of several runs with all agents in turns, averaged over networks.",
        remarks=remarks,
    )
