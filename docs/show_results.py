"""Draw the pictures of README and put the tables of stored runs between its markers; run by `make results`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import curiograph as cg
from curiograph.bench.run import ratio_text, seconds_text
from curiograph.plotting import COLOURS, figure, save_figure

DOCS = Path(__file__).parent
RESULTS = DOCS / "results"
README = DOCS.parent / "README.md"


def draw_walks() -> None:
    """One graph, one start: where greedy and horizon go for gaps, and what their walks grow."""
    graph = cg.generate("rg", nodes=50, seed=3)
    _, panels = figure(13, 4.2, columns=3)
    for panel, agent in zip(panels, ("greedy", "igt-rg-horizon"), strict=False):
        walk = cg.explore(graph, agent=agent, reward="igt", start=7, steps=12, seed=0)
        walk.plot(panel)
        panel.set_title(f"{agent}: {walk.growth.beta1[-1]} gaps after 12 nodes, return {walk.total:.0f}")
    for agent, dash in (("beam", "-"), ("horizon", "-."), ("greedy", "--"), ("random", ":")):
        walk = cg.explore(graph, agent=agent, reward="igt", start=7, steps=25, seed=0)
        panels[2].step(range(1, 26), walk.growth.beta1, dash, where="post", color=COLOURS[agent], lw=2, label=agent)
    panels[2].set_xlabel("nodes visited")
    panels[2].set_ylabel("information gaps")
    panels[2].legend(frameon=False)
    save_figure(panels[0], RESULTS / "walks.png")


def table1_lines(run: dict[str, Any]) -> list[str]:
    """Our mean, and the paper's in brackets where it is the same agent."""
    agents = list(run["cells"][0]["results"])
    head = ["reward", "family", *agents, "paper's GNN"]
    lines = [f"| {' | '.join(head)} |", "|---|---|" + "---:|" * (len(agents) + 1)]
    for cell in run["cells"]:
        columns = []
        for name in agents:
            result, paper = cell["results"][name], cell["paper"].get(name)
            text = f"{result['mean']:.2f} ± {result['sem_by_graph']:.2f}"
            columns.append(text + (f" ({paper['mean']:.2f})" if paper and name != "gnn" else ""))
        gnn = cell["paper"]["gnn"]["mean"]
        lines.append(f"| {cell['reward']} | {cell['family'].upper()} | {' | '.join(columns)} | {gnn:.2f} |")
    return lines


def share_lines(run: dict[str, Any]) -> list[str]:
    """The share of the attainable that every agent collects, cell by cell and on average."""
    agents = list(run["cells"][0]["shares"])
    head = ["reward", "family", "paper's greedy", "paper's GNN", *agents]
    lines = [f"| {' | '.join(head)} |", "|---|---|" + "---:|" * (len(agents) + 2)]
    rows = [
        [
            *(cell["paper_shares"][name] for name in ("greedy", "gnn")),
            *(cell["shares"][name]["share"] for name in agents),
        ]
        for cell in run["cells"]
    ]
    for cell, row in zip(run["cells"], rows, strict=True):
        lines.append(f"| {cell['reward']} | {cell['family'].upper()} | {' | '.join(f'{100 * x:.0f} %' for x in row)} |")
    means = [sum(column) / len(column) for column in zip(*rows, strict=True)]
    return [*lines, f"| mean | | {' | '.join(f'{100 * x:.0f} %' for x in means)} |"]


def bench_lines(run: dict[str, Any]) -> list[str]:
    """Everything that was promised, and whether it holds."""
    lines = ["| what | size | curiograph | peer | | ratio | promised |", "|---|---|---:|---|---:|---:|---:|"]
    for result in run["results"]:
        if result["ratio"] is None:
            continue
        ours, theirs = (seconds_text(result[key]) if result[key] is not None else "" for key in ("ours", "peers"))
        target = "" if result["target"] is None else f"{result['target']:,g}"
        lines.append(
            f"| {result['what']} | {result['size']} | {ours or result['note']} | {result['peer']} | {theirs} "
            f"| {ratio_text(result['ratio'])} | {target} |"
        )
    machine = run["machine"]
    return [*lines, "", f"One core of {machine['processor']}, Python {machine['python']}, numba {machine['numba']}."]


def put(name: str, lines: list[str], page: Path = README) -> None:
    """Replace what stands between the markers `name` in a page."""
    text = page.read_text()
    block = "\n".join([f"<!-- {name} -->", *lines, f"<!-- end of {name} -->"])
    page.write_text(re.sub(f"<!-- {name} -->.*<!-- end of {name} -->", lambda _: block, text, flags=re.DOTALL))


if __name__ == "__main__":
    draw_walks()
    table1 = json.loads((RESULTS / "table1.json").read_text())
    put("table1", table1_lines(table1))
    put("shares", share_lines(table1))
    put("bench", bench_lines(json.loads((RESULTS / "bench.json").read_text())))
    put("ablation", (RESULTS / "ablation.md").read_text().splitlines(), DOCS / "learning.md")
