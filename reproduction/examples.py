"""Walks of real people, and the next nodes that PageRank and curious PageRank rank first."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from curiograph.files import PathLike
from curiograph.human.prediction.components import PAGERANK, Mixture
from curiograph.human.prediction.predict import Effort, PredictionRun
from curiograph.paper.experiment import Experiment, Table, format_table
from curiograph.paper.people import TITLES, Settings, prepare_predictions
from curiograph.parallel import IN_PROCESS, Engine
from curiograph.plotting import MARKERS, create_figure, get_color
from curiograph.progress import Progress, no_progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NUM_OFFERS = 5  # candidates listed for each method


@dataclass(frozen=True)
class Example:
    """A choice of a test user."""

    dataset: str
    """Name of the dataset."""
    history: list[str]
    """Titles of the visited nodes."""
    choice: str
    """Title of the chosen node."""
    candidates: int
    """Number of candidates."""
    offers: dict[str, list[str]]
    """Titles of the five best candidates by method."""
    percentiles: dict[str, float]
    """Percentile rank of the choice by method."""


@dataclass(frozen=True)
class Examples(Experiment):
    """Randomly drawn choices of test users."""

    name = "examples"

    settings: Settings
    """Datasets, effort and seed."""
    examples: list[Example]
    """Drawn choices, by dataset."""

    @property
    def sections(self) -> list[Table | str]:
        paragraphs: list[Table | str] = []
        for example in self.examples:
            lines = [" > ".join(example.history), f"  went to {example.choice} (of {example.candidates} candidates)"]
            for name, offers in example.offers.items():
                rank = f"percentile of the choice {example.percentiles[name]:.2f}"
                lines.append(f"  {name} offers {', '.join(offers)}; {rank}")
            paragraphs.append("\n".join(lines))
        return paragraphs

    def to_dict(self) -> dict[str, Any]:
        return {"settings": asdict(self.settings), "examples": [asdict(example) for example in self.examples]}

    def to_markdown(self) -> str:
        lines = [
            "Choices drawn at random among those of test users. Bold: the node that the person chose. "
            "Percentile: rank of the choice among the candidates, 1 is best.",
            "",
        ]
        head = ["visited", "went to", "candidates", "PageRank offers", "percentile", "igt+cpt offers", "percentile"]
        for dataset in dict.fromkeys(example.dataset for example in self.examples):
            rows = []
            for example in self.examples:
                if example.dataset != dataset:
                    continue
                choice = _escape(example.choice)
                row = [" → ".join(map(_escape, example.history)), f"**{choice}**", str(example.candidates)]
                for name, offers in example.offers.items():
                    titles = [_escape(title) for title in offers]
                    marked = [f"**{title}**" if title == choice else title for title in titles]
                    row += ["<br>".join(marked), f"{example.percentiles[name]:.2f}"]
                rows.append(row)
            lines += [f"## {TITLES[dataset]}", "", *format_table(head, rows), ""]
        return "\n".join(lines).rstrip() + "\n"

    def plot(self) -> Axes:
        """Plot the percentile rank of each choice by both methods."""
        count = len(self.examples)
        _, ax = create_figure(6.4, 0.45 * count + 1.2)
        for row, example in enumerate(self.examples):
            ax.plot(list(example.percentiles.values()), [row, row], color="#AAAAAA", zorder=1)
        methods = list(self.examples[0].percentiles)
        for method, marker in zip(methods, (MARKERS["pagerank"], MARKERS["mixture"]), strict=True):
            ranks = [example.percentiles[method] for example in self.examples]
            ax.scatter(ranks, range(count), marker=marker, color=get_color(method), label=method)
        names = [f"{TITLES[example.dataset]}: {example.choice[:40]}" for example in self.examples]
        ax.set_yticks(range(count), names, fontsize=7)
        ax.invert_yaxis()
        ax.set_xlabel("percentile rank of the true choice")
        ax.legend(frameon=False, fontsize=8)
        axes: Axes = ax
        return axes

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Self:
        settings = document["settings"]
        return cls(
            Settings(datasets=settings["datasets"], effort=Effort(**settings["effort"]), seed=settings["seed"]),
            [Example(**example) for example in document["examples"]],
        )


def _escape(text: str) -> str:
    """Escape the characters of a title that would break a Markdown table."""
    return text.replace("|", "\\|").replace("<", "&lt;")


def run(
    settings: Settings,
    count: int,
    folder: PathLike | None,
    engine: Engine = IN_PROCESS,
    progress: Progress = no_progress,
) -> Examples:
    """Draw `count` choices of each dataset at random among those of the test users of the first split."""
    examples = []
    for prediction in prepare_predictions(settings, folder, engine, progress):
        examples += _draw_examples(prediction, count)
    return Examples(settings, examples)


def _draw_examples(prediction: PredictionRun, count: int) -> list[Example]:
    outcome = prediction.complete()["last"]
    scored = prediction.scored["last"]
    windows, candidates = scored.choices.windows, scored.choices.candidates
    labels = prediction.study.graph.names
    tested = np.flatnonzero(prediction.study.split(0, windows.users) & (candidates.counts > _NUM_OFFERS))
    drawn = np.random.default_rng(prediction.seed).choice(tested, min(count, len(tested)), replace=False)
    mixtures = {name: Mixture(**outcome.fits[name][0]) for name in (PAGERANK, "igt+cpt")}
    scores = {name: scored.score_mixture(mixture) for name, mixture in mixtures.items()}
    percentiles = {name: scored.rank_choices(mixture).percentile for name, mixture in mixtures.items()}

    def get_title(node: int) -> str:
        return str(labels[int(node)]).replace("_", " ")

    examples = []
    for window in np.sort(drawn).tolist():
        own = slice(candidates.offsets[window], candidates.offsets[window + 1])
        nodes = candidates.nodes[own]
        best = {name: np.argsort(-values[own], kind="stable")[:_NUM_OFFERS] for name, values in scores.items()}
        examples.append(
            Example(
                dataset=prediction.study.name,
                history=[get_title(node) for node in windows.histories[window]],
                choice=get_title(windows.nexts[window]),
                candidates=len(nodes),
                offers={name: [get_title(node) for node in nodes[indices]] for name, indices in best.items()},
                percentiles={name: float(values[window]) for name, values in percentiles.items()},
            )
        )
    return examples
