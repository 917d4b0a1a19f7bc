"""Figure 4C: how far unbiased and curious walkers get from where they start, on the graphs of the three datasets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from curiograph.centrality.walk_statistics import UNBIASED, WalkComparison, walk_statistics
from curiograph.files import PathLike
from curiograph.human.prediction.predict import REWARDS
from curiograph.paper.comparison import format_table
from curiograph.paper.people import TITLES, Settings, prepare_predictions
from curiograph.parallel import IN_PROCESS, Engine
from curiograph.plotting import COLORS, create_figure, save_figure
from curiograph.progress import Progress, no_progress

Spread = Mapping[str, WalkComparison]
"""By dataset: unbiased walkers, trained ones and greedy ones for either reward."""


@dataclass(frozen=True)
class Walking:
    """Who walks."""

    walks: int = 400
    """Walkers of each kind."""
    steps: int = 20
    """Nodes of a walk."""
    p_g: float = 0.5


def run(
    settings: Settings,
    walking: Walking,
    folder: PathLike | None,
    engine: Engine = IN_PROCESS,
    progress: Progress = no_progress,
) -> dict[str, WalkComparison]:
    """Walkers of every kind on every graph, all from the same starts; agents come from the run folder of Table 2."""
    found = {}
    for job in prepare_predictions(settings, folder, engine, progress):
        graph, how = job.study.graph, {**asdict(walking), "seed": settings.seed}
        progress(f"{job.study.name}: unbiased walkers")
        walkers = {UNBIASED: walk_statistics(graph, None, **how)}
        for reward in REWARDS:
            progress(f"{job.study.name}: walkers for {reward}")
            walkers[reward] = walk_statistics(graph, job.agents[reward], reward=reward, **how)
            walkers[f"greedy {reward}"] = walk_statistics(graph, "greedy", reward=reward, **how)
        found[job.study.name] = WalkComparison(walkers)
    return found


def table(spread: Spread) -> tuple[list[str], list[list[str]]]:
    """Distance from the start after a few steps and at the end."""
    columns = ["dataset", "walker", "after 3 steps", "after 5", "at the end", "distinct nodes", "gaps at the end"]
    rows = []
    for name, walkers in spread.items():
        for kind, found in walkers.items():
            places = [_at(found.distance, step) for step in (3, 5, len(found) - 1)]
            rows.append([TITLES[name], kind, *places, _at(found.coverage, -1), _at(found.gaps, -1)])
    return columns, rows


def _at(curve: Any, step: int) -> str:
    return f"{curve.mean[step]:.2f} ± {curve.stderr[step]:.2f}"


def remarks(spread: Spread) -> Iterator[str]:
    """Whether cpt stays closer than igt and than unbiased walkers, as the paper reports for two of the datasets."""
    for name, walkers in spread.items():
        ends = {kind: found.distance.mean[-1] for kind, found in walkers.items()}
        order = " < ".join(f"{kind} {ends[kind]:.2f}" for kind in sorted(ends, key=ends.__getitem__))
        yield f"{TITLES[name]}, links from the start at the end: {order}."


def to_markdown(spread: Spread, walking: Walking) -> str:
    """The table and what it says."""
    lines = [
        f"Links on the shortest path from the start, mean ± standard error over {walking.walks} walkers of "
        f"{walking.steps} nodes, p_g {walking.p_g}. Unbiased walkers are PageRank's and may come back; curious ones "
        "(igt, cpt: agents trained on the graph; greedy: the exact reward of the next step) remember their path.",
        "",
        *format_table(*table(spread)),
        "",
        *(f"- {line}" for line in remarks(spread)),
        "",
        "The paper reports small differences, with cpt closest to the start on MovieLens and Wikispeedia.",
    ]
    return "\n".join(lines) + "\n"


def to_dict(spread: Spread, settings: Settings, walking: Walking) -> dict[str, Any]:
    """Everything as plain values."""
    return {
        "settings": asdict(settings),
        "walking": asdict(walking),
        "walkers": {name: walkers.to_dict() for name, walkers in spread.items()},
        "remarks": list(remarks(spread)),
    }


def save_plot(spread: Spread, path: Path) -> None:
    """A panel for each dataset: distance against steps."""
    _, cells = create_figure(4.4 * len(spread), 3.8, columns=len(spread))
    panels = list(getattr(cells, "flat", [cells]))
    styles = {UNBIASED: ("pagerank", "-"), "igt": ("igt", "-"), "cpt": ("cpt", "-"), "greedy igt": ("igt", ":"),
              "greedy cpt": ("cpt", ":")}  # fmt: skip
    for ax, (name, walkers) in zip(panels, spread.items(), strict=True):
        for kind, found in walkers.items():
            colour, dash = COLORS[styles[kind][0]], styles[kind][1]
            mean, error = found.distance.mean, found.distance.stderr
            ax.plot(mean, dash, color=colour, label=kind, linewidth=2)
            ax.fill_between(range(len(mean)), mean - error, mean + error, color=colour, alpha=0.2, linewidth=0)
        ax.set_title(TITLES[name], fontsize=10)
        ax.set_xlabel("step")
    panels[0].set_ylabel("distance from the start (links)")
    panels[0].legend(frameon=False, fontsize=8)
    save_figure(panels[0], path)
