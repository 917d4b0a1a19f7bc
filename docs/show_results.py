"""Draw the pictures of README and put the tables of stored runs between its markers; run by `make results`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx
from show_scale import brief_lines, plan_lines, scale_lines, size_lines, walk_lines

import curiograph as cg
from benchmarks.report import format_ratio, format_seconds
from curiograph.paper.experiment import redraw_figures
from curiograph.plotting import COLORS, create_figure, save_figure
from curiograph.plotting.growth import build_step_curve

DOCS = Path(__file__).parent
RESULTS = DOCS / "results"
README = DOCS.parent / "README.md"


def draw_walks() -> None:
    """One graph, one start: where greedy and horizon go for gaps, and what their walks grow."""
    graph = cg.generate("rg", nodes=50, seed=3)
    _, panels = create_figure(13, 4.2, columns=3)
    for panel, agent in zip(panels, ("greedy", "igt-rg-horizon"), strict=False):
        walk = cg.explore(graph, agent=agent, reward="igt", start=7, steps=12, seed=0)
        walk.plot(panel)
        gaps = int(walk.growth.beta1[-1])
        counted = f"{gaps} gap{'' if gaps == 1 else 's'} after 12 nodes"
        panel.set_title(f"{agent}: {counted}, return {walk.total:.0f}", fontsize=11)
    lines = {"beam": ("beam", "-"), "igt-rg-horizon": ("horizon", "-."), "greedy": ("greedy", "--")}
    for agent, (colour, dash) in (lines | {"random": ("random", ":")}).items():
        walk = cg.explore(graph, agent=agent, reward="igt", start=7, steps=25, seed=0)
        steps, gaps_by_step = build_step_curve(walk.growth.beta1)
        panels[2].plot(steps, gaps_by_step, dash, drawstyle="steps-post", color=COLORS[colour], lw=2, label=agent)
    panels[2].set_xlabel("nodes visited")
    panels[2].set_ylabel("information gaps")
    panels[2].legend(frameon=False)
    save_figure(panels[0], RESULTS / "walks.png")


def animate_walk() -> None:
    """A walk for gaps, node by node."""
    graph = cg.generate("rg", nodes=50, seed=33)
    cg.explore(graph, "igt-rg-horizon", "igt", start=36, steps=24, seed=0).animate(RESULTS / "walk.gif")


HISTORY = ["Myriel", "Valjean", "Fantine", "Marius"]
RANKERS = ("pagerank", "igt", "cpt", "mixture")


def characters() -> cg.Graph:
    """Who appears with whom in Les Miserables (Knuth 1993, as networkx ships it)."""
    return cg.Graph.from_edges(list(networkx.les_miserables_graph().edges))


def draw_recommendations(tops: dict[str, Any]) -> None:
    """One history on a small real graph, and the ten recommendations of each ranker."""
    _, (left, right) = create_figure(13, 6, columns=2)
    tops["mixture"].plot(left)
    left.set_title("visited (squares) and recommended by the mixture (circles)", fontsize=10)
    right.set_axis_off()
    for column, (ranker, top) in enumerate(tops.items()):
        x = column / len(tops)
        right.text(x, 0.97, ranker, color=COLORS[ranker], weight="bold", fontsize=12, transform=right.transAxes)
        for place, (label, score) in enumerate(top):
            own = all(label not in dict(other) for name, other in tops.items() if name not in (ranker, "mixture"))
            right.text(x, 0.89 - 0.092 * place, f"{place + 1}. {label}", weight="bold" if own else "normal",
                       fontsize=11, transform=right.transAxes)  # fmt: skip
            right.text(x, 0.857 - 0.092 * place, f"{score:.3f}", color="#777777", fontsize=7, transform=right.transAxes)
    right.set_title("ten recommendations by each; bold: by no other component", fontsize=10)
    save_figure(left, RESULTS / "recommendations.png")


def recommendation_lines(tops: dict[str, Any]) -> list[str]:
    """The recommendations of the mixture with their reasons."""
    head = ["", "mixture offers", "by pagerank", "by igt", "by cpt", "opens", "bits"]
    lines = [f"| {' | '.join(head)} |", "|---:|---|---:|---:|---:|---|---:|"]
    for place, reason in enumerate(tops["mixture"].reasons, start=1):
        ranks = " | ".join(str(reason.ranks[name]) for name in RANKERS[:3])
        loops = "; ".join(" - ".join(map(str, (*loop, reason.node))) for loop in reason.opens)
        lines.append(f"| {place} | {reason.node} | {ranks} | {loops} | {reason.compressibility:+.2f} |")
    return lines


def draw_walkers() -> None:
    """How unbiased walkers and greedy ones for either reward spread over one graph."""
    graph = cg.generate("ws", nodes=500, seed=0)
    greedy = {reward: cg.walk_statistics(graph, "greedy", reward=reward, walks=300) for reward in ("igt", "cpt")}
    unbiased = {"unbiased": cg.walk_statistics(graph, walks=300)}
    drawn = cg.WalkComparison(unbiased | greedy).plot()
    save_figure(drawn.axes[0], RESULTS / "walkers.png")


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
        ours, theirs = (format_seconds(result[key]) if result[key] is not None else "" for key in ("ours", "peers"))
        target = "" if result["target"] is None else f"{result['target']:,g}"
        lines.append(
            f"| {result['what']} | {result['size']} | {ours or result['note']} | {result['peer']} | {theirs} "
            f"| {format_ratio(result['ratio'])} | {target} |"
        )
    machine = run["machine"]
    return [
        *lines,
        "",
        f"{machine['processor']}, Python {machine['python']}, numba {machine['numba']}; one core but where it says all "
        "cores, and for histories 256 a call.",
    ]


def table2_lines(run: dict[str, Any]) -> list[str]:
    """r of each theory with its interval, and the paper's in brackets."""
    theories = ("igt", "cpt", "igt+cpt")
    lines = [f"| dataset | PageRank | {' | '.join(theories)} | memory | best other | curiosity on top of all others |"]
    lines.append("|---|---:|---:|---:|---:|---:|---|---|")
    for found in run["predictions"]:
        rows = {row["method"]: row for row in found["methods"] if row["candidates"] == "last"}
        cells = [f"{_r(rows[name])} ({run['paper'][found['name']][name][0]:+.1%})" for name in theories]
        counting = [rows[name] for name in ("popularity", "markov", "item-knn", "rp3beta")]
        best, added = max(counting, key=lambda row: row["percentile"]), found["curiosity_adds"]["last"]
        lines.append(
            f"| {found['name']} | {rows['pagerank']['percentile']:.3f} | {' | '.join(cells)} | {_r(rows['memory'])} "
            f"| {best['method']} {best['percentile']:.3f} "
            f"| {added['value']:+.4f} ({added['low']:+.4f} to {added['high']:+.4f}) |"
        )
    return [*lines, "", "In brackets behind r: the paper's. PageRank and best other: mean percentile rank."]


def load_lines(run: dict[str, Any]) -> list[str]:
    """Requests under load, a line for each set of candidates."""
    first = run["loads"][0]
    lines = [
        "| candidates | requests/s | p50 | p99 | errors | memory, first second | last | most |",
        "|---" + "|---:" * 7 + "|",
    ]
    for load in run["loads"]:
        memory = [f"{load[f'memory_{when}'] / 2**20:.0f} MiB" for when in ("first", "last", "max")]
        times = [f"{1e3 * load[each]:.1f} ms" for each in ("p50", "p99")]
        asked = f"{load['candidates']}, with reasons" if load["reasons"] else load["candidates"]
        cells = [asked, f"{load['requests_per_second']:.0f}", *times, str(load["errors"]), *memory]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, "", f"{first['graph']}, {first['connections']} connections, {first['seconds']:.0f} s."]


def page_lines(run: dict[str, Any]) -> list[str]:
    """How quick the page is."""
    lines = ["| in chromium, without a window | median | slowest | promised |", "|---|---:|---:|---:|"]
    for timed in run["page"]:
        promised = "" if timed["promised"] is None else f"{timed['promised']:.0f} ms"
        lines.append(f"| {timed['what']} | {timed['median']:.0f} ms | {max(timed['times']):.0f} ms | {promised} |")
    return lines


def _r(row: dict[str, Any]) -> str:
    return f"{row['r']:+.1%} ± {row['r_spread']:.1%}, {row['r_low']:+.1%} to {row['r_high']:+.1%}"


def put(name: str, lines: list[str], page: Path = README) -> None:
    """Replace what stands between the markers `name` in a page."""
    text = page.read_text()
    block = "\n".join([f"<!-- {name} -->", *lines, f"<!-- end of {name} -->"])
    page.write_text(re.sub(f"<!-- {name} -->.*<!-- end of {name} -->", lambda _: block, text, flags=re.DOTALL))


def stored(name: str) -> dict[str, Any] | None:
    """A stored run; without one, says so, and what it would fill stays as it is."""
    path = RESULTS / f"{name}.json"
    if path.exists():
        found: dict[str, Any] = json.loads(path.read_text())
        return found
    print(f"show_results: there is no {path.relative_to(DOCS.parent)}; its table stays as it is", file=sys.stderr)
    return None


TABLES: list[tuple[str, str, Callable[[dict[str, Any]], list[str]], Path]] = [
    ("table1", "table1", table1_lines, README),
    ("shares", "table1", share_lines, README),
    ("table2", "table2", table2_lines, README),
    ("bench", "bench", bench_lines, README),
    ("load", "load", load_lines, DOCS / "serve.md"),
    ("page", "page", page_lines, DOCS / "serve.md"),
    ("scale in brief", "scale", brief_lines, README),
    ("scale", "scale", scale_lines, DOCS / "scale.md"),
    ("scale sizes", "scale", size_lines, DOCS / "scale.md"),
    ("scale walks", "scale", walk_lines, DOCS / "scale.md"),
    ("scale plan", "scale", plan_lines, DOCS / "scale.md"),
]
"""Markers, the run between them, how it is written, and the page."""


def put_tables() -> None:
    """Put every stored run between its markers."""
    for name, run, lines, page in TABLES:
        found = stored(run)
        if found is not None:
            put(name, lines(found), page)
    put("ablation", (RESULTS / "ablation.md").read_text().splitlines(), DOCS / "learning.md")


def draw_pictures() -> None:
    """Draw all pictures again, those of stored runs from what is stored."""
    draw_walks()
    animate_walk()
    draw_walkers()
    for name in redraw_figures(RESULTS):
        print(f"show_results: drew {name}.png from {name}.json", file=sys.stderr)


if __name__ == "__main__":
    draw_pictures()
    found = {ranker: cg.recommend(characters(), HISTORY, 10, ranker=ranker) for ranker in RANKERS}
    draw_recommendations(found)
    put("recommendations", recommendation_lines(found))
    put_tables()
