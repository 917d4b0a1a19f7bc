"""10-node walks on graphs of 10 to 5,000 nodes, by agents that were trained on 50 nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curiograph.paper import curves
from curiograph.paper.comparison import format_number, format_table
from curiograph.paper.curves import Place, Point
from curiograph.parallel import IN_PROCESS, Engine
from curiograph.progress import Progress, no_progress

ALONG = "nodes of the graph"
SIZES = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
_SMALLER, _LARGER = 500, 5000  # between which the cost of a walk by horizon should hardly grow


@dataclass(frozen=True)
class Settings(curves.Settings):
    """What is run."""

    sizes: tuple[int, ...] = SIZES
    steps: int = 10


def run(settings: Settings, progress: Progress = no_progress, engine: Engine = IN_PROCESS) -> list[Point]:
    """All points."""
    places = [Place(n, n, settings.steps) for n in settings.sizes]
    return curves.run("sizes", settings, places, progress, engine)


def remarks(points: Sequence[Point]) -> list[str]:
    """What the sizes say, and what is left out."""
    return [*curves.against_greedy(points, "All sizes"), *_costs(points), *curves.missing_line(points)]


def _costs(points: Sequence[Point]) -> Iterator[str]:
    """How much more a walk by horizon costs on a graph of ten times the size."""
    spent = {(p.reward, p.family, p.at): p.milliseconds["horizon"] for p in points if "horizon" in p.milliseconds}
    ratios = {
        f"{reward} {family.upper()}": spent[reward, family, _LARGER] / cost
        for (reward, family, at), cost in spent.items()
        if at == _SMALLER and (reward, family, _LARGER) in spent
    }
    if ratios:
        most = max(ratios, key=ratios.__getitem__)
        yield (
            f"A walk by horizon on {_LARGER:,} nodes takes {min(ratios.values()):.2f} to {ratios[most]:.2f} times as "
            f"long as on {_SMALLER} (most: {most})."
        )


def to_markdown(points: Sequence[Point], settings: Settings) -> str:
    """The table of returns and that of times, and what they say."""
    intro = (
        f"Walks of {settings.steps} nodes on graphs of different sizes and the same mean degree (as far as there are "
        "nodes enough: the smallest RG and ER are nearly complete and have no gaps); gnn and horizon were trained on "
        "50 nodes. The planner, beam, keeps 256 walks."
    )
    columns = curves.columns_of(points)
    times = [
        [p.reward, p.family.upper(), p.at, *(format_number(p.milliseconds.get(c, float("nan"))) for c in columns)]
        for p in points
    ]
    lines = [
        "",
        "Milliseconds per walk, all walks of a point at once, timed once; with them the rewards that are earned on the "
        "way, which gnn and horizon need not know to act.",
        "",
        *format_table(["reward", "family", ALONG, *columns], times),
    ]
    return curves.to_markdown(points, ALONG, intro, remarks(points)) + "\n".join(lines) + "\n"


def to_dict(points: Sequence[Point], settings: Settings) -> dict[str, Any]:
    """Everything as plain values."""
    times = [{"reward": p.reward, "family": p.family, "at": p.at, **p.milliseconds} for p in points]
    return curves.to_dict(points, settings, remarks(points)) | {"milliseconds": times}


def save_plot(points: Sequence[Point], path: str | Path) -> None:
    """Returns against size."""
    curves.save_plot(points, Point.mean, "mean return", ALONG, path, log=True)
