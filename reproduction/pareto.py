"""Mean return against CPU time per decision: learned agents and plain beam search."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from curiograph.graph.generators import FAMILIES
from curiograph.graph.graph import Graph
from curiograph.human.data.datasets import find_dataset, load_dataset
from curiograph.plotting import COLORS, create_figure
from reproduction.comparison import REWARDS, TITLES, find_networks, find_published, generate_tests
from reproduction.report import Report, Setup, number, plus_minus
from reproduction.timing import compute_mean_and_error, time_on_graphs

PLAIN_WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
PLANNER_WIDTHS = (1, 2, 4, 8, 16, 32, 64)
BUDGETS = {False: (50, 100, 200, 400), True: (100, 300, 1000)}
"""Microseconds per decision at which agents are compared on the published families, and on real networks."""
ABOVE, LEVEL, BELOW, NONE = ("above", "level", "below", "-")
_LEVEL_SHARE = 0.99  # "level" requires a plain beam with at least this share of the widest one's return
_SERIES = {
    "plain beam": ("beam", "D", "--"),
    "planner, trained on many kinds of graphs": ("planner", "o", "-"),
    "planner, trained on the family": ("planner", "^", ":"),
    "gnn": ("planner", "s", ""),
}  # color, marker and line style of each series of the figure; all learned agents have one color
_KINDS = dict(zip(("beam", "planner", "special", "gnn"), _SERIES, strict=True))

Measurements = Mapping[str, Mapping[str, Any]]
"""Whether the agent is `learned`, its `microseconds` and its `returns` by graph or start, by agent."""


def compute(
    setup: Setup,
    episodes: int = 20,
    real_episodes: int = 30,
    widest: int = 256,
    repeats: int = 3,
    no_real: bool = False,
) -> dict[str, Any]:
    """Measure all agents on the published test graphs or generated ones, and on real networks if they are found."""
    published = find_published(setup.folder)
    families = published or {family: generate_tests(family, 10, setup.seed) for family in FAMILIES}
    work: list[tuple[str, bool, list[Graph]]] = [(family, False, graphs) for family, graphs in families.items()]
    if not no_real:
        work += [(name, True, [graph]) for name, graph in find_networks(setup.folder).items()]
        if find_dataset("wikispeedia", setup.folder) and (graph := load_dataset("wikispeedia", setup.folder).graph):
            work.append(("wikispeedia", True, [graph]))
    fronts: list[dict[str, Any]] = []
    for reward in REWARDS:
        for name, real, graphs in work:
            setup.progress(f"{reward} on {name}", len(fronts) / (len(work) * len(REWARDS)))
            agents = {f"beam:{width}": f"beam:{width}" for width in PLAIN_WIDTHS if width <= widest}
            widths = [width for width in PLANNER_WIDTHS if width <= widest]
            agents |= {f"planner:{width}": f"planner:{width}" for width in widths}
            if not real:
                agents |= {f"special:{width}": f"{reward}-{name}-planner:{width}" for width in widths}
                agents["gnn"] = f"{reward}-{name}"
            count, enough = real_episodes if real else episodes, 2e-6 * max(BUDGETS[real])
            found = {}
            for key, each in time_on_graphs(agents, graphs, reward, count, repeats, setup.seed, enough=enough).items():
                returns = each.walks.returns  # by start, or means by graph
                if not real:
                    returns = returns.reshape(len(graphs), count).mean(axis=1)
                mean, error = compute_mean_and_error(returns)
                measured = {"learned": not key.startswith("beam"), "microseconds": 1e6 * each.seconds}
                found[key] = {**measured, "mean": mean, "error": error, "returns": returns}
            fronts.append({"reward": reward, "graphs": name, "real": real, "measurements": found})
    source = "published test graphs" if published else f"10 generated test graphs of 50 nodes each, seed {setup.seed}"
    return {"source": source, "fronts": fronts}


def compare_agents(measured: Measurements, budget: float) -> dict[str, Any]:
    """Compare the best learned agent with the best plain beam of at most a cost, in microseconds per decision.

    `above`: the learned agent has the higher mean return, or no plain beam is fast enough. `level`: it has not, but the
    difference is within its standard error and the plain beam has 99 % of the return of the widest one.
    """

    def find_best(learned: bool) -> str:
        names = [name for name, m in measured.items() if m["learned"] == learned and m["microseconds"] <= budget]
        return max(names, key=lambda name: measured[name]["mean"], default="")

    learned, plain = find_best(True), find_best(False)
    found = {"budget": budget, "learned": learned, "plain": plain, "difference": math.nan, "error": math.nan}
    if not learned or not plain:
        return found | {"verdict": NONE if learned == plain else BELOW if plain else ABOVE}
    difference, error = compute_mean_and_error(np.subtract(measured[learned]["returns"], measured[plain]["returns"]))
    saturated = measured[plain]["mean"] >= _LEVEL_SHARE * measured[_find_widest(measured)]["mean"]
    within = abs(difference) <= (0.0 if math.isnan(error) else error)
    verdict = ABOVE if difference > 0 else LEVEL if saturated and within else BELOW
    return found | {"difference": difference, "error": error, "verdict": verdict}


def _find_widest(measured: Measurements) -> str:
    return max((name for name in measured if name.startswith("beam")), key=lambda name: int(name.partition(":")[2]))


def report(document: dict[str, Any]) -> Report:
    """Show the comparisons at all budgets, and return against time on the families."""
    fronts, tables, remarks = document["fronts"], {}, []
    for real, title in ((False, "Published families"), (True, "Real networks")):
        own = [front for front in fronts if front["real"] == real]
        if not own:
            continue
        verdicts: list[str] = []
        rows = []
        for front in own:
            measured = front["measurements"]
            compared = [compare_agents(measured, budget) for budget in BUDGETS[real]]
            verdicts += [found["verdict"] for found in compared]
            widest = measured[_find_widest(measured)]
            last = f"{widest['mean']:.2f} at {widest['microseconds']:,.0f}"
            name = front["graphs"] if real else front["graphs"].upper()
            rows.append([front["reward"], name, *(_format_comparison(measured, found) for found in compared), last])
        columns = ["reward", "graphs", *(f"{budget:,} us" for budget in BUDGETS[real]), "widest beam, return at us"]
        tables[title] = pd.DataFrame(rows, columns=columns)
        counts = ", ".join(f"{verdict} in {verdicts.count(verdict)}" for verdict in (ABOVE, LEVEL, BELOW))
        missing = f" ({verdicts.count(NONE)} without an agent)" if NONE in verdicts else ""
        remarks.append(
            f"{title}: the best learned agent is {counts} of {len(verdicts)} comparisons with the best plain "
            f"beam{missing}."
        )
    return Report(
        tables=tables,
        figure=_plot([front for front in fronts if not front["real"]]),
        text="Best learned agent against best plain beam of at most the given CPU time per decision on one core: mean "
        "return of the learned agent, its difference to the plain beam ± standard error, and the verdict. Walks of 10 "
        f"nodes; families: {document['source']}. Nothing is interpolated: an agent counts from its measured time on. "
        "**Above**: higher mean return. **Level**: not higher, but within the standard error of the difference (over "
        "graphs; on one network over starts), where the plain beam has 99 % of the return of the widest one. Times are "
        "the median of several runs of all walks, with all agents in turns. Learned: `planner:WIDTH` (trained on many "
        "kinds of graphs), `special:WIDTH` (planner trained on the family) and `gnn`.",
        remarks=remarks,
    )


def _format_comparison(measured: Measurements, found: Mapping[str, Any]) -> str:
    if found["verdict"] == NONE:
        return "-"
    if not found["learned"]:
        return f"{BELOW} (no learned agent)"
    text = f"{number(measured[found['learned']]['mean'])} {found['learned']}"
    if found["plain"]:
        text += (
            f", {'+' * (found['difference'] > 0)}{plus_minus(found['difference'], found['error'])} to {found['plain']}"
        )
    return f"{text}: {found['verdict']}"


def _plot(fronts: list[dict[str, Any]]) -> Any:
    """Plot return against time, one panel for each reward and family."""
    figure, panels = create_figure(9.0, 9.6, columns=len(REWARDS), rows=len(FAMILIES))
    handles: dict[str, Any] = {}
    for front in fronts:
        panel = panels[list(FAMILIES).index(front["graphs"]), REWARDS.index(front["reward"])]
        for series, (color, marker, line) in _SERIES.items():
            chosen = [m for name, m in front["measurements"].items() if _KINDS[name.partition(":")[0]] == series]
            chosen.sort(key=lambda m: m["microseconds"])
            values = [[m[key] or 0.0 for m in chosen] for key in ("microseconds", "mean", "error")]
            face = "white" if marker == "^" else COLORS[color]
            style = {"marker": marker, "markersize": 4, "linestyle": line, "markerfacecolor": face}
            handles[series] = panel.errorbar(*values[:2], yerr=values[2], color=COLORS[color], elinewidth=0.8, **style)
        panel.set_xscale("log")
        panel.set_title(f"{front['reward']}, {FAMILIES[front['graphs']]}", fontsize=10)
        panel.set_ylabel(f"{TITLES[front['reward']]}\nmean return", fontsize=9)
    for panel in panels[-1]:
        panel.set_xlabel("microseconds per decision, one core")
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=2, frameon=False)
    return figure
