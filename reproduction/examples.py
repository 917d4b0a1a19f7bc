"""Choices of people, and the next nodes that PageRank and curious PageRank rank first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from curiograph.human.data.datasets import Dataset
from curiograph.human.prediction.methods import PAGERANK, Mixture
from curiograph.human.prediction.predict import draw_choices, fit_splits, score_components
from reproduction.people import DATASETS, TITLES, list_predictions, train_walkers
from reproduction.report import Report, Setup

METHODS = (PAGERANK, "igt+cpt")
_NUM_OFFERS = 5  # candidates listed for each method


def compute(setup: Setup, only: tuple[str, ...] = DATASETS, count: int = 4) -> dict[str, Any]:
    """Draw `count` choices of each dataset at random among those of the test users of the first split."""
    studies = list_predictions(setup, only)
    return {"examples": [each for dataset, settings in studies for each in _draw_examples(dataset, settings, count)]}


def _draw_examples(dataset: Dataset, settings: dict[str, Any], count: int) -> list[dict[str, Any]]:
    (study, agents), effort, engine = train_walkers(dataset, **settings), settings["effort"], settings["engine"]
    scored = score_components(study, draw_choices(study, effort), agents, effort, engine, settings["progress"])["last"]
    outcome = fit_splits(study, scored, effort, "last", [agents], engine, settings["progress"])
    windows, candidates = scored.choices.windows, scored.choices.candidates
    tested = np.flatnonzero(study.split(0, windows.users) & (candidates.counts > _NUM_OFFERS))
    drawn = np.random.default_rng(study.seed).choice(tested, min(count, len(tested)), replace=False)
    mixtures = {name: Mixture(**outcome.fits[name][0]) for name in METHODS}
    scores = {name: scored.score_mixture(mixture) for name, mixture in mixtures.items()}
    percentiles = {name: scored.choices.rank(values).percentile for name, values in scores.items()}
    titles = [str(name).replace("_", " ") for name in study.graph.names]
    examples = []
    for window in np.sort(drawn).tolist():
        own = slice(candidates.offsets[window], candidates.offsets[window + 1])
        nodes = candidates.nodes[own]
        best = {name: nodes[np.argsort(-values[own], kind="stable")[:_NUM_OFFERS]] for name, values in scores.items()}
        examples.append(
            {
                "dataset": study.name,
                "history": [titles[node] for node in windows.histories[window]],
                "choice": titles[windows.nexts[window]],
                "candidates": len(nodes),
                "offers": {name: [titles[node] for node in chosen] for name, chosen in best.items()},
                "percentiles": {name: float(values[window]) for name, values in percentiles.items()},
            }
        )
    return examples


def report(document: dict[str, Any]) -> Report:
    """Show the history, the choice and the offers of both methods."""
    examples = document["examples"]
    rows: dict[str, list[Any]] = {}
    for example in examples:
        row = [
            " → ".join(map(_escape, example["history"])),
            f"**{_escape(example['choice'])}**",
            str(example["candidates"]),
        ]
        for name in METHODS:
            offers = [f"**{_escape(t)}**" if t == example["choice"] else _escape(t) for t in example["offers"][name]]
            row += ["; ".join(offers), f"{example['percentiles'][name]:.2f}"]
        rows.setdefault(TITLES[example["dataset"]], []).append(row)
    columns = ["visited", "went to", "candidates", "PageRank offers", "percentile", "igt+cpt offers", "its percentile"]
    return Report(
        tables={title: pd.DataFrame(own, columns=columns) for title, own in rows.items()},
        text="Choices drawn at random among those of test users. Bold: the node that the person chose. Percentile: "
        "rank of the choice among the candidates, 1 is best.",
    )


def _escape(text: str) -> str:
    """Escape the characters of a title that would break a Markdown table."""
    return text.replace("|", "\\|").replace("<", "&lt;")
