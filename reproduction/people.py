"""Datasets of the experiments on human choices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from curiograph.human.data.dataset import Dataset
from curiograph.human.data.load import load_dataset
from curiograph.human.prediction.protocol import get_recipe

from curiograph.graph.graph import Graph
from curiograph.human.data.cooccurrence import Keep
from curiograph.human.data.wikispeedia import read_wikispeedia
from curiograph.human.prediction.predict import FULL, QUICK, PredictionRun, prepare_run
from curiograph.progress import split_progress
from curiograph.validation import check_choice
from reproduction.report import Setup

DATASETS = ("movielens", "books", "wikispeedia")
"""Datasets of the paper."""
TITLES = {"movielens": "MovieLens", "books": "Amazon Books", "wikispeedia": "Wikispeedia"}
"""Titles of the datasets."""
GAMES = {"finished": "paths_finished.tsv", "unfinished": "paths_unfinished.tsv"}
"""Files of the games of Wikispeedia; only unfinished ones have players."""


def load_datasets(names: Sequence[str], folder: Path | None) -> list[Dataset]:
    """Load datasets of the paper, all at once, so that a missing one is reported before the work begins."""
    return [load_dataset(check_choice("--only", name, DATASETS), folder) for name in names]


def load_games(kind: str, folder: Path | None) -> tuple[Dataset, Graph]:
    """Load the finished or the unfinished games of Wikispeedia, and the graph of its articles."""
    games = read_wikispeedia(load_dataset("wikispeedia", folder).source_path / GAMES[kind])
    assert games.graph is not None  # Wikispeedia has one
    return games, games.graph


def prepare_predictions(
    setup: Setup, only: Sequence[str], quick: bool, keep: Keep = "highest"
) -> Iterator[PredictionRun]:
    """Prepare the prediction of each dataset with trained walkers, each in its own run folder."""
    datasets, engine = load_datasets(only, setup.folder), setup.engine
    for dataset, stage in zip(datasets, split_progress(setup.progress, [1] * len(datasets)), strict=True):
        name = dataset.name if dataset.graph is not None or keep == "highest" else f"{dataset.name}-{keep}"
        yield prepare_run(
            dataset,
            recipe=get_recipe(dataset.name, keep),
            effort=QUICK if quick else FULL,
            seed=setup.seed,
            engine=replace(engine, run=engine.run and engine.run / name),
            progress=stage,
        )
