"""Format the tables of docs/scale.md from the run that `make scale` stores."""

from __future__ import annotations

from typing import Any

READERS, WALK, ARTICLES, LINKS = 500_000, 30, 7_000_000, 200_000_000
CORES, PRICE = 64, 0.05  # of the estimate: number of cores, and dollars per core hour

_NAMES = {
    "pagerank, last": "recommend by PageRank, candidates: neighbors of the last node",
    "pagerank, history": "recommend by PageRank, candidates: neighbors of the history",
    "mixture, last": "recommend by the mixture, not prepared, candidates: neighbors of the last node",
    "mixture, history": "recommend by the mixture, not prepared, candidates: neighbors of the history",
    "pagerank_top": "`pagerank_top`, ten nodes",
    "curious_pagerank": "`curious_pagerank` of one history",
}
_BY_DEGREE = (
    ("decisions", "greedy, igt"),
    ("decisions", "horizon, igt"),
    ("recommendations", "mixture, last"),
    ("recommendations", "curious_pagerank"),
)


def format_scale(run: dict[str, Any]) -> list[str]:
    """Format overhead, speed-up and the large batch, with their targets."""
    rows = [row for row in run["rows"] if ",000 nodes" not in row["what"] and row["target"]]
    lines = ["| what | measured | target |", "|---|---|---|"]
    lines += [_join_cells(row["what"], row["measured"], row["target"]) for row in rows]
    return [*lines, "", f"{run['processors']} cores, seed {run['seed']}."]


def format_sizes(run: dict[str, Any]) -> list[str]:
    """Format decisions and recommendations by the number of nodes."""
    sizes = run["sizes"]
    lines = [_join_cells("", *(f"{size['nodes']:,} nodes" for size in sizes)), "|---" + "|---:" * len(sizes) + "|"]
    lines += [
        _join_cells(_NAMES.get(name, f"decision: {name}"), *(_format_number(size[kind][name]) for size in sizes))
        for kind in ("decisions", "recommendations")
        for name in sizes[0][kind]
    ]
    compared = [row for row in run["rows"] if " times that on " in row["measured"]]
    targets = " or ".join(sorted({row["target"] for row in compared}))
    return [
        *lines,
        _join_cells("open the file", *(f"{size['seconds']:.2f} s" for size in sizes)),
        "",
        f"Target: at most {targets} the time on {sizes[0]['nodes']:,} nodes; met by "
        f"{sum(row['met'] for row in compared)} of {len(compared)} measurements.",
    ]


def format_walks(run: dict[str, Any]) -> list[str]:
    """Format the cost of measuring a walk by its length, and of other tasks by the mean degree."""
    lengths, degrees, batch = run["lengths"], run["degrees"], run["batch"]
    lines = [
        _join_cells("nodes of the walk", *(str(each["nodes"]) for each in lengths)),
        "|---" + "|---:" * len(lengths) + "|",
        _join_cells(
            "gaps and compressibility after every step, ms", *(f"{each['milliseconds']:.3g}" for each in lengths)
        ),
        _join_cells("gaps only, ms", *(f"{each['igt']:.3g}" for each in lengths)),
        "",
        _join_cells("mean degree", *(str(each["degree"]) for each in degrees)),
        "|---" + "|---:" * len(degrees) + "|",
        _join_cells("measure a walk of 50 nodes, ms", *(f"{each['measured']:.3g}" for each in degrees)),
    ]
    for kind, name in _BY_DEGREE:
        label = _NAMES.get(name, f"decision: {name}")
        lines.append(_join_cells(f"{label}, ms", *(_format_number(each[kind][name]) for each in degrees)))
    return [
        *lines,
        "",
        f"Memory: {batch['walks']:,} walks of {batch['nodes']} nodes, their results and all processes together took at "
        f"most {batch['memory'] / 2**30:.1f} GiB; a worker takes about 0.2 GiB in addition to shared memory.",
    ]


def format_plan(run: dict[str, Any]) -> list[str]:
    """Format the estimated time and price for all readers, from the measured costs."""
    degree = run["degrees"][-1]
    walk = next(each for each in run["lengths"] if each["nodes"] == WALK)["milliseconds"]
    walk *= degree["measured"] / next(each for each in run["degrees"] if each["degree"] == 20)["measured"]
    tasks = {
        f"measure one walk of {WALK} articles": walk,
        f"one greedy walk of {WALK} articles from the same start, for comparison": degree["decisions"]["greedy, igt"]
        * (WALK - 1),
        "hypotheses: six motives for each choice": run["hypotheses"]["milliseconds"] * (WALK - 4),
        "curious PageRank of one history": degree["recommendations"]["curious_pagerank"],
        "ten recommendations by the mixture, not prepared": degree["recommendations"]["mixture, last"],
    }
    lines = [
        f"English Wikipedia has about {ARTICLES / 1e6:.0f} million articles and {LINKS / 1e6:.0f} million links.",
        f"Assume that every reader visited {WALK} articles. The estimate uses the measurements above at mean degree "
        f"{degree['degree']},",
        f"the closest to the {2 * LINKS / ARTICLES:.0f} of Wikipedia, at {PRICE:.2f} dollars per core hour:",
        "",
        f"| for each of {READERS:,} readers | ms each | core hours | hours on {CORES} cores | dollars |",
        "|---|---:|---:|---:|---:|",
    ]
    total = 0.0
    for task, milliseconds in tasks.items():
        hours = READERS * milliseconds / 3.6e6
        total += hours
        cells = _format_number(milliseconds), _format_hours(hours), _format_hours(hours / CORES), f"{hours * PRICE:.2f}"
        lines.append(_join_cells(task, *cells))
    lines.append(f"| total | | {total:.0f} | {total / CORES:.1f} | {total * PRICE:.0f} |")
    file = (8 * ARTICLES + 4 * LINKS) + (8 * ARTICLES + 4 * 2 * LINKS) + 40 * ARTICLES
    results = READERS * WALK * 60
    return [
        *lines,
        "",
        f"- **Machines**: four machines with 16 cores and 32 GiB each. The file of the graph, with its undirected copy "
        f"and titles, has about {file / 2**30:.1f} GiB and is stored once per machine.",
        f"- **Main process**: the measured walks take {results / 2**30:.1f} GiB. Curious PageRank scores of all nodes "
        f"would take {READERS * ARTICLES * 16 / 2**40:.0f} TiB and are rejected; request recommendations, or split the "
        "histories.",
        "- **First bottleneck**: the main process. Results pass through it one by one and stay in its memory, so "
        "process readers in parts of 50,000, each with its own run folder. The next bottleneck is hubs: an article "
        "with 100,000 links has as many candidates, and a walker that visits it evaluates all of them.",
        "- **Not measured**: the links of Wikipedia differ from those of a generated graph, and hubs make walkers more "
        'expensive (see `generate_large("pl")`). The hours of the last two lines are a lower bound. Try 1,000 readers '
        "first; the progress bar estimates the rest.",
    ]


def _format_number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _format_hours(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def _join_cells(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
