"""Draw the figures and fill the tables of README and docs from stored runs; run by `make results`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import networkx
import numpy as np
from curiograph.human.profile.styles import RELIABLE
from curiograph.plotting.profile import plot_styles
from show_replication import (
    format_agreement,
    format_bounds,
    format_claims,
    format_conditions,
    format_controls,
    format_frame,
    format_multiverse,
    format_seeds,
    format_sums,
    format_table1_answer,
)
from show_replication import (
    format_table as format_rows,
)
from show_scale import format_plan, format_scale, format_sizes, format_walks
from sklearn.metrics import roc_auc_score

import curiograph as cg
from benchmarks.mixed_load import format_value
from benchmarks.report import format_ratio, format_seconds
from benchmarks.sizing import Sizing
from curiograph.plotting import COLORS, create_figure, save_figure
from curiograph.plotting.growth import build_step_curve
from reproduction.__main__ import EXPERIMENTS, read_report
from reproduction.meaning import report as report_meaning
from reproduction.motives import report as report_motives
from reproduction.report import write_report

DOCS = Path(__file__).parent
RESULTS = DOCS / "results"
README = DOCS.parent / "README.md"
EXAMPLES = DOCS.parent / "examples"

HISTORY = ["Myriel", "Valjean", "Fantine", "Marius"]
RANKERS = ("pagerank", "igt", "cpt", "mixture")


# ---- figures -------------------------------------------------------------------------------------------------------


def draw_walks() -> None:
    """Draw walks of greedy and horizon from one start, and the number of gaps of four agents over the steps."""
    graph = cg.generate("rg", nodes=50, seed=3)
    figure, panels = create_figure(9, 7.4, columns=2, rows=2, heights=(5, 3))
    for panel, agent in zip(panels[0], ("greedy", "igt-rg-horizon"), strict=True):
        walk = cg.explore(graph, agent=agent, reward="igt", start=7, steps=12, seed=0)
        walk.plot(panel)
        gaps = int(walk.growth.beta1[-1])
        counted = f"{gaps} gap{'' if gaps == 1 else 's'} after 12 nodes"
        panel.set_title(f"{agent}: {counted}, return {walk.total:.0f}", fontsize=11)
    curves = figure.add_subplot(panels[1, 0].get_gridspec()[1, :])
    for panel in panels[1]:
        panel.remove()
    styles = {"beam": ("beam", "-"), "igt-rg-horizon": ("horizon", "-."), "greedy": ("greedy", "--")}
    for agent, (color, dash) in (styles | {"random": ("random", ":")}).items():
        walk = cg.explore(graph, agent=agent, reward="igt", start=7, steps=25, seed=0)
        steps, gaps_by_step = build_step_curve(walk.growth.beta1)
        curves.plot(steps, gaps_by_step, dash, drawstyle="steps-post", color=COLORS[color], lw=2, label=agent)
    curves.set_xlabel("nodes visited")
    curves.set_ylabel("information gaps")
    curves.legend(frameon=False)
    save_figure(curves, RESULTS / "walks.png")


def animate_walk() -> None:
    """Animate a walk that maximizes information gaps."""
    graph = cg.generate("rg", nodes=50, seed=33)
    cg.explore(graph, "igt-rg-horizon", "igt", start=36, steps=24, seed=0).animate(RESULTS / "walk.gif")


def draw_recommendations(tops: dict[str, Any]) -> None:
    """Draw a history and its recommendations by the mixture, and list those of each ranker."""
    _, (left, right) = create_figure(9, 10.4, rows=2, heights=(5.6, 4.8))
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
            right.text(x, 0.857 - 0.092 * place, f"{score:.3f}", color="#555555", fontsize=9, transform=right.transAxes)
    right.set_title("ten recommendations by each; bold: by no other component", fontsize=10)
    save_figure(left, RESULTS / "recommendations.png")


def draw_walkers() -> None:
    """Draw the diffusion of unbiased and greedy walkers on one graph."""
    graph = cg.generate("ws", nodes=500, seed=0)
    greedy = {reward: cg.walk_statistics(graph, "greedy", reward=reward, walks=300) for reward in ("igt", "cpt")}
    unbiased = {"unbiased": cg.walk_statistics(graph, walks=300)}
    drawn = cg.WalkComparison(unbiased | greedy).plot()
    save_figure(drawn.axes[0], RESULTS / "walkers.png")


def copy_example_figures() -> None:
    """Run the examples whose figures the pages show, and copy the figures."""
    figures = {"gaps_of_a_walk": "gaps.png", "click_log": "growth.png", "three_theories": "three_theories.png"}
    for name, written in figures.items():
        with TemporaryDirectory() as folder:
            subprocess.run([sys.executable, EXAMPLES / f"{name}.py", folder], check=True, stdout=subprocess.DEVNULL)
            (RESULTS / f"{name}.png").write_bytes((Path(folder) / written).read_bytes())


def draw_log_to_figure() -> None:
    """Draw the figure of the page "From a log to a figure" with the code of this page."""
    block = re.findall(r"```python\n(.*?)```", (DOCS / "log-to-figure.md").read_text(), re.DOTALL)[0]
    with TemporaryDirectory() as folder:
        subprocess.run([sys.executable, EXAMPLES / "reading_log.py", folder], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([sys.executable, "-c", block], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        (RESULTS / "log_to_figure.svg").write_bytes((Path(folder) / "groups.svg").read_bytes())


def draw_persistence() -> None:
    """Draw the figure of the page "Meaning beside topology" with the code of this page."""
    block = re.findall(r"```python\n(.*?)```", (DOCS / "meaning.md").read_text(), re.DOTALL)[0]
    with TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", block], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        (RESULTS / "persistence.png").write_bytes((Path(folder) / "persistence.png").read_bytes())


def simulate_people(strength: float, family: str = "ws") -> tuple[cg.human.Styles, list[bool]]:
    """Return the estimated styles of 200 simulated people of 50 visits, and whether each is a planted hunter."""
    graph = cg.generate(family, nodes=200, seed=0)
    people = cg.human.simulate_styles(graph, people=200, visits=50, strength=strength, seed=1)
    found = cg.profile(graph, people, measures="structure").styles()
    return found, [style == "hunter" for style in people.user_columns["planted"]]


def draw_styles() -> None:
    """Draw the scores of simulated people by planted style, and the reliability of the scores."""
    found, planted = simulate_people(0.5)
    colors = [COLORS["igt"] if hunter else COLORS["cpt"] for hunter in planted]
    curve = tuple(np.asarray(found.curve[name]) for name in ("visits", "reliability", "low", "high"))
    figure = plot_styles((found.scores, found.low, found.high), curve, RELIABLE, colors)
    save_figure(figure.axes[0], RESULTS / "styles.png")


def draw_figures() -> None:
    """Draw all figures, those of stored runs from the stored data."""
    draw_walks()
    animate_walk()
    draw_walkers()
    copy_example_figures()
    draw_log_to_figure()
    draw_persistence()
    draw_styles()
    for name in EXPERIMENTS:
        if (RESULTS / f"{name}.json").exists():
            write_report(read_report(name, RESULTS), name, RESULTS)


# ---- tables --------------------------------------------------------------------------------------------------------


def format_recommendations(tops: dict[str, Any]) -> list[str]:
    """Format the recommendations of the mixture with their reasons."""
    head = ["", "recommended", "rank by pagerank", "by igt", "by cpt", "gaps opened", "bits"]
    lines = [f"| {' | '.join(head)} |", "|---:|---|---:|---:|---:|---|---:|"]
    for place, reason in enumerate(tops["mixture"].reasons, start=1):
        ranks = " | ".join(str(reason.ranks[name]) for name in RANKERS[:3])
        loops = "; ".join(" - ".join(map(str, (*loop, reason.node))) for loop in reason.opens)
        lines.append(f"| {place} | {reason.node} | {ranks} | {loops} | {reason.compressibility:+.2f} |")
    return lines


def format_styles() -> list[str]:
    """Format how well planted styles are recovered, by strength."""
    lines = [
        "| graph | strength | AUC | reliability | visits for a reliability of 0.7 | interval excludes 0 | labeled |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for family in ("ws", "rg"):
        for strength in (0.0, 0.1, 0.2, 0.3, 0.5, 0.8):
            found, planted = simulate_people(strength, family)
            shortest = "-" if found.shortest is None else found.shortest
            area = roc_auc_score(planted, found.scores)
            excluded = np.mean((found.low > 0) | (found.high < 0))
            labeled = np.mean([label != "unclear" for label in found.labels])
            lines.append(
                f"| {family.upper()} | {strength} | {area:.3f} | {found.reliability} | {shortest} | {excluded:.1%} | "
                f"{labeled:.1%} |"
            )
    return lines


def format_summary(run: dict[str, Any]) -> list[str]:
    """Format Table 1 for README: the main agents, and the mean share of the attainable return."""
    known = run["cells"][0]["results"]
    agents = [name for name in ("random", "greedy", "gnn", "horizon", "planner", "beam") if name in known]
    lines = [
        f"| reward | graphs | random | greedy | GNN of the paper | {' | '.join(agents[2:])} |",
        "|---|---|---:|---:|---:" + "|---:" * len(agents[2:]) + "|",
    ]
    for cell in run["cells"]:
        results = [cell["results"][name] for name in agents]
        columns = [f"{result['mean']:.2f} ± {result['sem_by_graph']:.2f}" for result in results]
        columns.insert(2, f"{cell['paper']['gnn']['mean']:.2f}")
        lines.append(f"| {cell['reward']} | {cell['family'].upper()} | {' | '.join(columns)} |")
    shares = [[cell["shares"][name]["share"] for name in agents[1:-1]] for cell in run["cells"]]
    greedy, *trained = (sum(column) / len(column) for column in zip(*shares, strict=True))
    paper = sum(cell["paper_shares"]["gnn"] for cell in run["cells"]) / len(run["cells"])
    means = " | ".join(f"{share:.0%}" for share in (0, greedy, paper, *trained, 1))
    return [*lines, f"| mean share | | {means} |"]


def format_table1(run: dict[str, Any]) -> list[str]:
    """Format Table 1: our means, and those of the paper in parentheses for the same agents."""
    agents = list(run["cells"][0]["results"])
    head = ["reward", "family", *agents, "GNN of the paper"]
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


def format_shares(run: dict[str, Any]) -> list[str]:
    """Format the share of the attainable return of every agent, per cell and on average."""
    agents = list(run["cells"][0]["shares"])
    head = ["reward", "family", "greedy of the paper", "GNN of the paper", *agents]
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


def format_bench(run: dict[str, Any]) -> list[str]:
    """Format the benchmark: time or memory, the comparison, the ratio and its target."""
    lines = ["| what | size | curiograph | compared with | | ratio | target |", "|---|---|---:|---|---:|---:|---:|"]
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
        "The ratio compares with another library or with the allowed time or memory. It should be at least the target "
        "(the exponent of cpt at most).",
        "",
        *lines,
        "",
        f"{machine['processor']}, Python {machine['python']}, numba {machine['numba']}; one core, except where the "
        "size column lists all cores, and for 256 histories per call.",
    ]


def format_table2(run: dict[str, Any]) -> list[str]:
    """Format Table 2: r of each theory with its interval, and the value of the paper in parentheses."""
    theories = ("igt", "cpt", "igt+cpt")
    lines = [
        f"| dataset | graph | PageRank | {' | '.join(theories)} | memory | best count-based baseline "
        "| effect of adding curiosity to all other components |",
        "|---|---|---:|---:|---:|---:|---:|---|---|",
    ]
    for found in run["predictions"]:
        rows = {row["method"]: row for row in found["methods"] if row["candidates"] == "last"}
        kind = "own links" if found["name"] == "wikispeedia" else found["recipe"]["keep"]
        cells = [f"{_format_r(rows[name])} ({run['paper'][found['name']][name][0]:+.1%})" for name in theories]
        counting = [rows[name] for name in ("popularity", "markov", "item-knn", "rp3beta")]
        best, added = max(counting, key=lambda row: row["percentile"]), found["curiosity_adds"]["last"]
        lines.append(
            f"| {found['name']} | {kind} | {rows['pagerank']['percentile']:.3f} | {' | '.join(cells)} "
            f"| {_format_r(rows['memory'])} | {best['method']} {best['percentile']:.3f} "
            f"| {added['value']:+.4f} ({added['low']:+.4f} to {added['high']:+.4f}) |"
        )
    return [
        *lines,
        "",
        "In parentheses after r: the value of the paper. PageRank and best baseline: mean percentile rank.",
    ]


def format_meaning(run: dict[str, Any]) -> list[str]:
    """Format what the theories add to models with and without similarity."""
    found = report_meaning(run)
    size = f"{run['choices']:,} choices by {run['users']:,} users, {run['candidates']:.0f} candidates on average"
    head = f"Bits per choice of held-out users, with 95 % intervals over users; {size}."
    return [head, "", *format_frame(next(iter(found.tables.values()))), "", *found.remarks]


def _format_r(row: dict[str, Any]) -> str:
    return f"{row['r']:+.1%} ± {row['r_spread']:.1%}, {row['r_low']:+.1%} to {row['r_high']:+.1%}"


def format_motives(run: dict[str, Any]) -> list[str]:
    """Format the weights of motives."""
    (table,) = report_motives(run).tables.values()
    size = f"{run['choices']:,} choices by {run['users']:,} players; 95 % intervals in parentheses."
    return [*format_frame(table), "", f"{size} {run['answer']}"]


def format_pairs(run: dict[str, Any]) -> list[str]:
    """Format the compressibility and the time of every pair heuristic by family."""
    families = list(dict.fromkeys(row["family"] for row in run["rows"]))
    names = list(dict.fromkeys(row["pairs"] for row in run["rows"]))
    cells = {(row["pairs"], row["family"]): f"{row['bits']:.2f} ({row['seconds']:.2g} s)" for row in run["rows"]}
    lines = ["| bits (time) | " + " | ".join(f"`{family}`" for family in families) + " |"]
    lines += ["|---" + "|---:" * len(families) + "|"]
    lines += [f"| `{name}` | " + " | ".join(cells[name, family] for family in families) + " |" for name in names]
    return [*lines, "", f"Generated graphs of {run['nodes']:,} nodes, seed {run['seed']}; one core."]


def format_load(run: dict[str, Any]) -> list[str]:
    """Format the load test, one line per candidate set."""
    first = run["loads"][0]
    lines = [
        "| candidates | requests/s | p50 | p99 | errors | memory, first second | last second | maximum |",
        "|---" + "|---:" * 7 + "|",
    ]
    for load in run["loads"]:
        memory = [f"{load[f'memory_{when}'] / 2**20:.0f} MiB" for when in ("first", "last", "max")]
        times = [f"{1e3 * load[each]:.1f} ms" for each in ("p50", "p99")]
        candidates = f"{load['candidates']}, with reasons" if load["reasons"] else load["candidates"]
        cells = [candidates, f"{load['requests_per_second']:.0f}", *times, str(load["errors"]), *memory]
        lines.append(f"| {' | '.join(cells)} |")
    runs = f", slowest of {first['runs']} loads in a row" if first.get("runs", 1) > 1 else ""
    return [*lines, "", f"{first['graph']}, {first['connections']} connections, {first['seconds']:.0f} s{runs}."]


def format_load_checks(run: dict[str, Any]) -> list[str]:
    """Format what one client notices of the others."""
    lines = ["| | measured | target |", "|---|---:|---:|"]
    for check in run.get("checks", []):
        value, target = (format_value(check[each], check["unit"]) for each in ("value", "target"))
        lines.append(f"| {check['name']} | {value} | {target} |")
    return lines


def format_sizing(run: dict[str, Any]) -> list[str]:
    """Format the memory of a service and its requests per core."""
    names = {field.name for field in fields(Sizing)}
    sizing = Sizing(**{name: value for name, value in run.items() if name in names})
    lines = ["| | |", "|---|---:|", *(f"| {name} | {value} |" for name, value in sizing.list_rows())]
    source = f"A random graph of {sizing.items:,} items and {sizing.links:,} links, {run['sample']} of them prepared."
    return [*lines, "", source]


def format_page(run: dict[str, Any]) -> list[str]:
    """Format the response times of the web page."""
    lines = ["| in headless Chromium | median | maximum | target |", "|---|---:|---:|---:|"]
    for timing in run["page"]:
        target = "" if timing["target"] is None else f"{timing['target']:.0f} ms"
        lines.append(f"| {timing['what']} | {timing['median']:.0f} ms | {max(timing['times']):.0f} ms | {target} |")
    return lines


def format_graph_coverage(run: dict[str, Any]) -> list[str]:
    """Format which share of items and events each kind of item graph covers."""
    lines = [
        "| log | graph | items | items with 5 or more users | events | next visits along a link | mean degree "
        "| maximum | CPU | memory |",
        "|---|---" + "|---:" * 8 + "|",
    ]
    for row in run["graphs"]:
        shares = [
            f"{row[f'covered_{name}']:,} of {row[name]:,} ({row[f'covered_{name}'] / row[name]:.1%})"
            for name in ("items", "supported_items", "events")
        ]
        cost = [f"{row['cpu_seconds']:.1f} s", f"{row['peak_bytes'] / 2**20:.0f} MiB"]
        degrees = [f"{row['mean_degree']:.1f}", f"{row['max_degree']:,}"]
        cells = [row["dataset"], row["kind"], *shares, f"{row['linked_share']:.1%}", *degrees, *cost]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def format_recommenders(run: dict[str, Any]) -> list[str]:
    """Format what curiosity adds to PageRank, and to re-ranking at equal accuracy, for each dataset."""
    rows = []
    for name, study in run["datasets"].items():
        methods = study["methods"]
        best = max(methods, key=lambda method: methods[method]["ndcg@10"][0])
        measures = ("ndcg@10", "novelty@10", "coverage@10")
        changes = [
            " → ".join(f"{methods[each][measure][0]:.3f}" for each in ("pagerank", "mixture")) for measure in measures
        ]
        differences = [row["difference"] for row in study["equal_accuracy"]]
        higher, lower = sum(each["low"] > 0 for each in differences), sum(each["high"] < 0 for each in differences)
        counts = f"{higher} / {len(differences) - higher - lower} / {lower}"
        rows.append([name, f"{best} {methods[best]['ndcg@10'][0]:.3f}", *changes, counts])
    columns = ["data, split", "best NDCG@10", "NDCG@10", "novelty@10 (bits)", "coverage@10", "higher / level / lower"]
    return format_rows(columns, rows)


TABLES: list[tuple[str, str, Callable[[dict[str, Any]], list[str]], Path]] = [
    ("table1 summary", "table1", format_summary, README),
    ("table1", "table1", format_table1, DOCS / "reproduce.md"),
    ("shares", "table1", format_shares, DOCS / "reproduce.md"),
    ("table2", "table2", format_table2, DOCS / "prediction.md"),
    ("table2 knn", "table2_knn", format_table2, DOCS / "graphs-from-logs.md"),
    ("recommenders", "recommenders", format_recommenders, README),
    ("graph coverage", "graph_coverage", format_graph_coverage, DOCS / "graphs-from-logs.md"),
    ("load", "load", format_load, DOCS / "serve.md"),
    ("load checks", "load", format_load_checks, DOCS / "serve.md"),
    ("soak", "soak", format_load_checks, DOCS / "serve.md"),
    ("sizing", "sizing", format_sizing, DOCS / "production.md"),
    ("page", "page", format_page, DOCS / "serve.md"),
    ("scale", "scale", format_scale, DOCS / "scale.md"),
    ("scale sizes", "scale", format_sizes, DOCS / "scale.md"),
    ("scale walks", "scale", format_walks, DOCS / "scale.md"),
    ("scale plan", "scale", format_plan, DOCS / "scale.md"),
    ("meaning", "meaning", format_meaning, DOCS / "meaning.md"),
    ("pairs", "pairs", format_pairs, DOCS / "measure.md"),
    ("motives", "motives", format_motives, DOCS / "weights.md"),
    ("replication bounds", "table2", format_bounds, DOCS / "replication.md"),
    ("replication table1", "table1", format_table1_answer, DOCS / "replication.md"),
    ("replication claims", "table2", format_claims, DOCS / "replication.md"),
    ("replication agreement", "table2", format_agreement, DOCS / "replication.md"),
    ("replication sums", "table2", format_sums, DOCS / "replication.md"),
    ("replication controls", "table2", format_controls, DOCS / "replication.md"),
    ("replication multiverse", "multiverse", format_multiverse, DOCS / "replication.md"),
    ("replication conditions", "conditions", format_conditions, DOCS / "replication.md"),
    ("replication seeds", "table1", format_seeds, DOCS / "replication.md"),
]
"""The marker of each table, the stored run, the function that formats it, and the page."""


def replace_table(marker: str, lines: list[str], page: Path) -> None:
    """Replace the text between two markers of a page."""
    text = page.read_text()
    block = "\n".join([f"<!-- {marker} -->", *lines, f"<!-- end of {marker} -->"])
    page.write_text(re.sub(f"<!-- {marker} -->.*<!-- end of {marker} -->", lambda _: block, text, flags=re.DOTALL))


def load_run(name: str) -> dict[str, Any] | None:
    """Load a stored run; print a message and return None if there is none."""
    path = RESULTS / f"{name}.json"
    if path.exists():
        run: dict[str, Any] = json.loads(path.read_text())
        return run
    print(f"show_results: no {path.relative_to(DOCS.parent)}; its table is not changed", file=sys.stderr)
    return None


def fill_tables() -> None:
    """Write every stored run between its markers, and the page of the benchmark."""
    for marker, name, format_lines, page in TABLES:
        run = load_run(name)
        if run is not None:
            replace_table(marker, format_lines(run), page)
    replace_table("ablation", (RESULTS / "ablation.md").read_text().splitlines(), DOCS / "learning.md")
    bench = load_run("bench")
    if bench is not None:
        (RESULTS / "bench.md").write_text("\n".join([*format_bench(bench), ""]))


if __name__ == "__main__":
    draw_figures()
    characters = cg.Graph.from_edges(list(networkx.les_miserables_graph().edges))  # Knuth 1993
    recommended = {ranker: cg.recommend(characters, HISTORY, 10, ranker=ranker) for ranker in RANKERS}
    draw_recommendations(recommended)
    replace_table("recommendations", format_recommendations(recommended), DOCS / "ranking.md")
    replace_table("styles", format_styles(), DOCS / "styles.md")
    fill_tables()
