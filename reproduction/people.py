"""Datasets of the experiments on human choices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from curiograph.graph.graph import Graph
from curiograph.human.data.datasets import Dataset, find_dataset, load_dataset
from curiograph.human.prediction.predict import FULL, Effort, Recipe, Study, find_agents, make_study
from curiograph.human.trajectories import Trajectories
from curiograph.parallel import Engine
from curiograph.progress import Progress, split_progress
from curiograph.validation import check_choice
from reproduction.core_graphs import CoreRecipe
from reproduction.report import Setup

Keep = Literal["highest", "knn"]
"""Graphs of items: the most similar pairs of a dense core, as in the paper, or the nearest items of each."""
DATASETS = ("movielens", "books", "wikispeedia")
TITLES = {"movielens": "MovieLens", "books": "Amazon Books", "wikispeedia": "Wikispeedia"}
CORE_RECIPES = {
    "wikispeedia": CoreRecipe(burn_in=6),
    "movielens": CoreRecipe(burn_in=6, item_users=10, user_items=20),
    "books": CoreRecipe(item_users=25, user_items=10),
}
"""Recipes with graphs of a dense core of items and users, as in the paper."""
GAMES = {"finished": "paths_finished.tsv", "unfinished": "paths_unfinished.tsv"}
"""Files of the games of Wikispeedia; only unfinished ones have players."""


def load_datasets(names: Sequence[str], folder: Path | None) -> list[Dataset]:
    """Load datasets of the paper, all at once, so that a missing one is reported before the work begins."""
    return [load_dataset(check_choice("--only", name, DATASETS), folder) for name in names]


def load_games(kind: str, folder: Path | None) -> tuple[Trajectories, Graph]:
    """Load the finished or the unfinished games of Wikispeedia, and the graph of its articles."""
    place = find_dataset("wikispeedia", folder)
    data = load_dataset("wikispeedia" if place is None else place / GAMES[kind], folder)  # without a place, it raises
    assert data.graph is not None  # Wikispeedia has one
    return data.walks, data.graph


def list_predictions(
    setup: Setup, only: Sequence[str], keep: Keep = "highest"
) -> Iterator[tuple[Dataset, dict[str, Any]]]:
    """Yield each dataset with the settings of its prediction, each in its own run folder."""
    datasets = load_datasets(only, setup.folder)
    for dataset, stage in zip(datasets, split_progress(setup.progress, [1] * len(datasets)), strict=True):
        name = dataset.name if dataset.graph is not None or keep == "highest" else f"{dataset.name}-{keep}"
        yield (
            dataset,
            {
                "recipe": CORE_RECIPES[dataset.name] if keep == "highest" else None,
                "effort": FULL,
                "seed": setup.seed,
                "engine": setup.keep_in(name),
                "progress": stage,
            },
        )


def train_walkers(
    dataset: Dataset, recipe: Recipe | None, effort: Effort, seed: int, engine: Engine, progress: Progress
) -> tuple[Study, dict[str, Any]]:
    """Return the study of a prediction, and the agents trained on its graph; `predict` uses the same."""
    study = make_study(dataset, recipe, seed)
    return study, find_agents(study.graph, "trained", effort.train_steps, seed, engine, progress)
