"""Table 2: how much higher curious PageRank places people's choices than PageRank does, beside the paper's figures; all
other methods; and every choice by both (Figure 4B)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from curiograph.files import PathLike
from curiograph.human.choices.bootstrap import Estimate
from curiograph.human.prediction.results import CANDIDATE_LABELS, MEMORY, Outcome, Prediction
from curiograph.paper.comparison import format_table
from curiograph.paper.people import DATASETS, PAPER, THEORIES, TITLES, Settings, prepare_predictions
from curiograph.parallel import IN_PROCESS, Engine
from curiograph.plotting import COLORS, create_figure, get_color, save_figure
from curiograph.progress import Progress, no_progress

DIFFERENCES = (
    "What differs from the paper. Its text leaves open n_burn-in, the candidates, how movies and books are linked and "
    "what the error is; the choices made here are listed under each dataset. Candidates are the out-neighbours of the "
    "last node (below also all nodes). Ties share their mean rank. Walkers teleport after at most so many steps as are "
    "fitted, beside alpha and the weights; p_g is fixed. igt, cpt and igt+cpt take, in each split, the greedy or the "
    "trained agents, whichever does better on the people fitted on. Makers of the graph, people fitted on and people "
    "tested on are three groups. ± is the standard deviation over splits; the interval is over users (bootstrap). "
    "The data are the copies at hand: MovieLens latest-small, a sample of Amazon Books, Wikispeedia.",
    "memory is the control: walkers that remember their path, as curious ones do, but choose at random. What it gains "
    "is not due to curiosity: weights may be negative, as in the paper, and a mixture of walkers that stay near less a "
    "PageRank of where anyone ends up holds back hubs, which PageRank alone cannot.",
)


def run(
    settings: Settings,
    folder: PathLike | None,
    engine: Engine = IN_PROCESS,
    progress: Progress = no_progress,
) -> list[Prediction]:
    """Predict the choices of each dataset."""
    return [job.complete() for job in prepare_predictions(settings, folder, engine, progress)]


def summary(predictions: Sequence[Prediction]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the table itself: r among the out-neighbours, ours and the paper's."""
    columns = ["dataset", "PageRank", *(text for theory in THEORIES for text in (theory, "paper")), MEMORY]
    rows = []
    for prediction in predictions:
        outcome, paper = prediction["last"], PAPER[prediction.name]
        cells = [
            text for theory in THEORIES for text in (str(outcome.improvement(theory)), _paper_text(*paper[theory]))
        ]
        base = f"{outcome.mean('pagerank')['percentile']:.3f}"
        rows.append([TITLES[prediction.name], base, *cells, str(outcome.improvement(MEMORY))])
    return columns, rows


def _paper_text(value: float, error: float) -> str:
    return f"{value:+.1%} ± {error:.1%}"


def remarks(predictions: Sequence[Prediction]) -> Iterator[str]:
    """What the table says, in sentences."""
    for prediction in predictions:
        outcome, paper = prediction["last"], PAPER[prediction.name]["igt+cpt"][0]
        r, control = outcome.improvement("igt+cpt"), outcome.improvement(MEMORY)
        clear = "clear of zero" if r.clear else "not clear of zero"
        reached = "at or above" if r.value >= paper else f"{paper - r.value:.1%} below"
        yield (
            f"{TITLES[prediction.name]}: igt+cpt {r.value:+.1%}, {clear}, {reached} the paper's {paper:+.1%}; walkers "
            f"without curiosity {control.value:+.1%}. {_above(outcome)}"
        )


def _above(outcome: Outcome) -> str:
    return (
        f"In percentile ranks, curiosity is {_points(outcome.by_curiosity)} above them, and adds "
        f"{_points(outcome.added)} to counts, PageRank and them together."
    )


def _points(found: Estimate) -> str:
    clear = "clear of zero" if found.clear else "not clear of zero"
    return f"{found.value:+.4f} ({found.low:+.4f} to {found.high:+.4f}, {clear})"


def to_markdown(predictions: Sequence[Prediction]) -> str:
    """The table, all methods of each dataset, and what differs."""
    lines = [
        "r: by how much the percentile ranks of people's choices are higher than by PageRank, among the "
        "out-neighbours of the last node; ± over splits (95 % interval over users).",
        "",
        *format_table(*summary(predictions)),
        "",
        *(f"- {line}" for line in remarks(predictions)),
        "",
        *(line for text in DIFFERENCES for line in (text, "")),
    ]
    for prediction in predictions:
        lines += [f"## {TITLES[prediction.name]}", "", _about(prediction), ""]
        for outcome in prediction.outcomes.values():
            lines += [
                f"Among {CANDIDATE_LABELS[outcome.among]}, {len(outcome.users):,} choices:",
                "",
                *_methods(outcome),
                "",
            ]
    return "\n".join(lines).rstrip() + "\n"


def _about(prediction: Prediction) -> str:
    study, recipe, effort = (prediction.facts[key] for key in ("study", "recipe", "effort"))
    made = "its own links" if prediction.name == "wikispeedia" else f"{recipe['similarity']} co-occurrence of makers"
    return (
        f"{study['graph']} by {made}; {study['users']['makers']:,} makers, {study['users']['others']:,} others; "
        f"n_burn-in {recipe['burn_in']}; {study['along_edges']:.1%} of choices follow an edge; {effort['splits']} "
        f"splits, {effort['trials']} trials a fit, {effort['walkers']} walkers a node ({effort['trained_walkers']} of "
        f"trained agents) of up to {effort['steps']} steps, p_g {effort['p_g']}; seed {prediction.facts['seed']}."
    )


def _methods(outcome: Outcome) -> list[str]:
    rows = []
    for method in outcome:
        means = [f"{value:.3f}" for value in outcome.mean(method).values()]
        rows.append([method, *means, str(outcome.improvement(method))])
    return format_table(["method", "percentile", "reciprocal rank", "hit@10", "NDCG@10", "r"], rows)


def to_dict(predictions: Sequence[Prediction], settings: Settings) -> dict[str, Any]:
    """Everything as plain values."""
    return {
        "settings": asdict(settings),
        "paper": {name: PAPER[name] for name in DATASETS},
        "predictions": [prediction.to_dict() for prediction in predictions],
        "remarks": list(remarks(predictions)),
    }


def save_plot(predictions: Sequence[Prediction], path: Path) -> None:
    """r with intervals beside the paper's, and every choice of each dataset by PageRank and by igt+cpt."""
    _, cells = create_figure(4.2 * (1 + len(predictions)), 4.0, columns=1 + len(predictions))
    bars, *choices = cells.flat
    width = 0.8 / (len(THEORIES) + 1)
    for place, theory in enumerate((*THEORIES, MEMORY)):
        found = [prediction["last"].improvement(theory) for prediction in predictions]
        x = [row + (place - 1.5) * width for row in range(len(predictions))]
        ends = [[r.value - r.low for r in found], [r.high - r.value for r in found]]
        bars.bar(x, [r.value for r in found], width, yerr=[[max(0, e) for e in end] for end in ends], label=theory,
                 color=get_color(theory), ecolor="#555555", capsize=2)  # fmt: skip
        if theory != MEMORY:
            marks = [PAPER[prediction.name][theory][0] for prediction in predictions]
            bars.plot(x, marks, "D", color=COLORS["paper"], markersize=4, markeredgecolor="white", zorder=3)
    bars.plot([], [], "D", color=COLORS["paper"], markersize=4, label="paper")
    bars.set_xticks(range(len(predictions)), [TITLES[prediction.name] for prediction in predictions])
    bars.axhline(0, color="#555555", linewidth=0.8)
    bars.yaxis.set_major_formatter(lambda value, _: f"{value:+.0%}")
    bars.set_ylabel("r over PageRank")
    bars.legend(frameon=False, fontsize=8)
    for ax, prediction in zip(choices, predictions, strict=True):
        prediction["last"].plot_choices(ax=ax)
        ax.set_title(TITLES[prediction.name], fontsize=10)
    save_figure(bars, path)
