"""The tables of docs/scale.md, from what `curiograph bench --scale` has measured."""

from __future__ import annotations

from typing import Any


def scale_lines(run: dict[str, Any]) -> list[str]:
    """What was measured of engines, speed-ups and the batch, beside what was promised."""
    lines = ["| what | measured | promised |", "|---|---|---|"]
    shown = [row for row in run["rows"] if ",000 nodes" not in row["what"] and row["promised"]]
    lines += [f"| {row['what']} | {row['measured']} | {row['promised']} |" for row in shown]
    return [*lines, "", f"{run['processors']} processors, seed {run['seed']}."]


def brief_lines(run: dict[str, Any]) -> list[str]:
    """The same in a few lines, for README."""
    wanted = ("2 workers over 1", "walks of", "memory", "greedy, igt on 1,", "pagerank, last on 1,")
    shown = [row for row in run["rows"] if any(words in row["what"] for words in wanted)]
    lines = ["| on two cores | measured | promised |", "|---|---|---|"]
    return lines + [_row(row["what"], row["measured"], row["promised"]) for row in shown]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _hours(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def size_lines(run: dict[str, Any]) -> list[str]:
    """Decisions and recommendations by the number of nodes."""
    sizes = run["sizes"]
    lines = [_row("", *(f"{size['nodes']:,} nodes" for size in sizes)), "|---" + "|---:" * len(sizes) + "|"]
    lines += [
        _row(_WHAT.get(name, f"decision: {name}"), *(_number(size[kind][name]) for size in sizes))
        for kind in ("decisions", "recommendations")
        for name in sizes[0][kind]
    ]
    return [*lines, _row("open the file", *(f"{size['seconds']:.2f} s" for size in sizes))]


_WHAT = {
    "pagerank, last": "recommend by PageRank, among the neighbours of the last node",
    "pagerank, history": "the same among those of the history",
    "mixture, last": "recommend by the mixture, nothing prepared, among the neighbours of the last node",
    "mixture, history": "the same among those of the history",
    "pagerank_top": "`pagerank_top`, ten best nodes",
    "curious_pagerank": "`curious_pagerank` of one history",
}


_BY_DEGREE = (
    ("decisions", "greedy, igt"),
    ("decisions", "horizon, igt"),
    ("recommendations", "mixture, last"),
    ("recommendations", "curious_pagerank"),
)


def walk_lines(run: dict[str, Any]) -> list[str]:
    """What a walk costs to measure, by length and by degree; and what other things cost by degree."""
    lengths, degrees = run["lengths"], run["degrees"]
    lines = [
        _row("nodes of the walk", *(str(each["nodes"]) for each in lengths)),
        "|---" + "|---:" * len(lengths) + "|",
        _row("gaps and bits after every step, ms", *(f"{each['milliseconds']:.3g}" for each in lengths)),
        _row("gaps alone, ms", *(f"{each['igt']:.3g}" for each in lengths)),
        "",
        _row("mean degree", *(str(each["degree"]) for each in degrees)),
        "|---" + "|---:" * len(degrees) + "|",
        _row("a walk of 50 nodes measured, ms", *(f"{each['measured']:.3g}" for each in degrees)),
    ]
    for kind, name in _BY_DEGREE:
        told = _WHAT.get(name, f"decision: {name}")
        lines.append(_row(f"{told}, ms", *(_number(each[kind][name]) for each in degrees)))
    memory, walks = run["batch"]["memory"] / 2**30, run["batch"]["walks"]
    lines += ["", f"Memory: {walks:,} walks of {run['batch']['nodes']} nodes, their results and all processes together "
              f"took {memory:.1f} GiB at most; a worker takes about 0.2 GiB beside what it shares."]  # fmt: skip
    return lines


READERS, WALK, ARTICLES, LINKS = 500_000, 30, 7_000_000, 200_000_000
CORES, PRICE = 64, 0.05  # of the plan: processors, and dollars for an hour of one


def plan_lines(run: dict[str, Any]) -> list[str]:
    """Hours and money for half a million readers, from what things cost here."""
    degree = run["degrees"][-1]
    walk = next(each for each in run["lengths"] if each["nodes"] == WALK)["milliseconds"]
    walk *= degree["measured"] / next(each for each in run["degrees"] if each["degree"] == 20)["measured"]
    works = {
        f"measure a walk of {WALK} articles for each": walk,
        f"a greedy walk of {WALK} from the same start, to compare": degree["decisions"]["greedy, igt"] * (WALK - 1),
        "hypotheses: six motives for each choice": run["hypotheses"]["milliseconds"] * (WALK - 4),
        "curious PageRank of each reader's history": degree["recommendations"]["curious_pagerank"],
        "ten recommendations by the mixture, nothing prepared": degree["recommendations"]["mixture, last"],
    }
    lines = [
        f"English Wikipedia has about {ARTICLES / 1e6:.0f} million articles and {LINKS / 1e6:.0f} million links; say",
        f"that every reader visited {WALK} articles. From the figures above (those of mean degree "
        f"{degree['degree']}, the closest",
        f"to Wikipedia's {2 * LINKS / ARTICLES:.0f}), at {PRICE:.2f} dollars for an hour of a processor:",
        "",
        f"| for {READERS:,} readers | ms each | processor hours | hours on {CORES} processors | dollars |",
        "|---|---:|---:|---:|---:|",
    ]
    total = 0.0
    for what, milliseconds in works.items():
        hours = READERS * milliseconds / 3.6e6
        total += hours
        lines.append(
            f"| {what} | {_number(milliseconds)} | {_hours(hours)} | {_hours(hours / CORES)} | {hours * PRICE:.2f} |"
        )
    lines.append(f"| together | | {total:.0f} | {total / CORES:.1f} | {total * PRICE:.0f} |")
    file = (8 * ARTICLES + 4 * LINKS) + (8 * ARTICLES + 4 * 2 * LINKS) + 40 * ARTICLES
    results = READERS * WALK * 60
    return [
        *lines,
        "",
        f"- **Machines**: four of 16 processors and 32 GiB. The graph with its skeleton and titles is a file of about "
        f"{file / 2**30:.1f} GiB, which every machine holds once.",
        f"- **Driver**: the measured walks are {results / 2**30:.1f} GiB. Curious PageRank of all nodes would be "
        f"{READERS * ARTICLES * 16 / 2**40:.0f} TiB: refused; ask for recommendations, or for histories in parts.",
        "- **First bottleneck**: the driver. Results pass through it one by one and stay in its memory, so readers are "
        "best given in parts of 50,000, each with a run folder. Then hubs: an article with 100,000 links has as many "
        "candidates, and a walker that passes it looks at all of them.",
        "- **Not measured**: links of Wikipedia are not those of a generated graph; hubs make walkers dearer (see "
        '`generate_large("pl")`). Take the hours of the last two lines as a lower bound, and try 1,000 readers first: '
        "the bar tells the rest.",
    ]
