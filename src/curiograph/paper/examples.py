"""Paths of real people with titles, and what PageRank and curious PageRank would have offered next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from curiograph.arrays import Float64
from curiograph.files import PathLike
from curiograph.human.prediction.components import PAGERANK, Components
from curiograph.human.prediction.predict import PredictionRun, mixture_from_dict
from curiograph.human.prediction.results import Prediction
from curiograph.paper.comparison import format_table
from curiograph.paper.people import TITLES, Settings, prepare_predictions
from curiograph.parallel import IN_PROCESS, Engine
from curiograph.plotting import MARKERS, create_figure, get_color, save_figure
from curiograph.progress import Progress, no_progress

_OFFERED = 5


@dataclass(frozen=True)
class Example:
    """One choice of a person whom nothing was fitted on."""

    dataset: str
    history: list[str]
    choice: str
    candidates: int
    offers: dict[str, list[str]]
    """The first five by method."""
    percentiles: dict[str, float]
    """Of the true choice, by method."""


def run(
    settings: Settings,
    count: int,
    folder: PathLike | None,
    engine: Engine = IN_PROCESS,
    progress: Progress = no_progress,
) -> list[Example]:
    """So many choices of each dataset, drawn at random among those that the first split tests."""
    found = []
    for job in prepare_predictions(settings, folder, engine, progress):
        prediction = job.complete()
        found += list(_examples(job, prediction, count))
    return found


def _examples(job: PredictionRun, prediction: Prediction, count: int) -> Iterator[Example]:
    scored, outcome = job.scored["last"], prediction["last"]
    tested = np.flatnonzero(job.study.split(0, scored.windows.users) & (scored.candidates.counts > _OFFERED))
    drawn = np.random.default_rng(job.seed).choice(tested, min(count, len(tested)), replace=False)
    mixes = {name: mixture_from_dict(outcome.fits[name][0]) for name in (PAGERANK, "igt+cpt")}
    scores = {name: scored.scores(mix) for name, mix in mixes.items()}
    ranks = {name: scored.ranks(mix).percentile for name, mix in mixes.items()}
    for window in np.sort(drawn).tolist():
        yield _example(job, scored, scores, {name: float(each[window]) for name, each in ranks.items()}, window)


def _example(
    job: PredictionRun, scored: Components, scores: dict[str, Float64], percentiles: dict[str, float], window: int
) -> Example:
    names, windows = job.study.graph.names, scored.windows
    mine = slice(scored.candidates.offsets[window], scored.candidates.offsets[window + 1])
    nodes = scored.candidates.nodes[mine]
    best = {name: np.argsort(-values[mine], kind="stable")[:_OFFERED] for name, values in scores.items()}
    offers = {name: [_title(names[int(node)]) for node in nodes[first]] for name, first in best.items()}
    return Example(
        job.study.name,
        [_title(names[int(node)]) for node in windows.histories[window]],
        _title(names[int(windows.nexts[window])]),
        len(nodes),
        offers,
        percentiles,
    )


def _title(label: Any) -> str:
    return str(label).replace("_", " ")


def to_markdown(examples: Sequence[Example]) -> str:
    """A table for each dataset."""
    lines = [
        "Choices drawn at random among those of people whom nothing was fitted on. Bold: what the person went to. "
        "Percentile: of the true choice among the candidates, 1 is best.",
        "",
    ]
    for name in dict.fromkeys(example.dataset for example in examples):
        rows = [_row(example) for example in examples if example.dataset == name]
        head = ["visited", "went to", "candidates", "PageRank offers", "percentile", "igt+cpt offers", "percentile"]
        lines += [f"## {TITLES[name]}", "", *format_table(head, rows), ""]
    return "\n".join(lines).rstrip() + "\n"


def _row(example: Example) -> list[str]:
    cells = [" → ".join(map(_safe, example.history)), f"**{_safe(example.choice)}**", str(example.candidates)]
    for name, offered in example.offers.items():
        marked = [f"**{_safe(label)}**" if label == example.choice else _safe(label) for label in offered]
        cells += ["<br>".join(marked), f"{example.percentiles[name]:.2f}"]
    return cells


def _safe(text: str) -> str:
    """A title that cannot break the table."""
    return text.replace("|", "\\|").replace("<", "&lt;")


def to_dict(examples: Sequence[Example], settings: Settings) -> dict[str, Any]:
    """Everything as plain values."""
    return {"settings": asdict(settings), "examples": [asdict(example) for example in examples]}


def save_plot(examples: Sequence[Example], path: Path) -> None:
    """The percentile of every true choice: by PageRank on the left, by igt+cpt on the right."""
    _, ax = create_figure(6.4, 0.45 * len(examples) + 1.2)
    for row, example in enumerate(examples):
        ax.plot(list(example.percentiles.values()), [row, row], color="#AAAAAA", zorder=1)
    for name, marker in zip(examples[0].percentiles, (MARKERS["pagerank"], MARKERS["mixture"]), strict=True):
        ranks = [example.percentiles[name] for example in examples]
        ax.scatter(ranks, range(len(examples)), marker=marker, color=get_color(name), label=name)
    ax.set_yticks(range(len(examples)), [f"{TITLES[e.dataset]}: {e.choice[:40]}" for e in examples], fontsize=7)
    ax.invert_yaxis()
    ax.set_xlabel("percentile rank of the true choice")
    ax.legend(frameon=False, fontsize=8)
    save_figure(ax, path)
