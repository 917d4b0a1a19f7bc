"""Datasets and settings of the experiments on human choices: `table2`, `diffusion` and `examples`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from curiograph.files import PathLike
from curiograph.human.data.cooccurrence import Keep
from curiograph.human.data.load import load_dataset
from curiograph.human.prediction.predict import FULL, Effort, PredictionRun, prepare_run
from curiograph.human.prediction.protocol import get_recipe
from curiograph.parallel import Engine
from curiograph.progress import Progress, split_progress

DATASETS = ("movielens", "books", "wikispeedia")
"""Datasets of the paper."""
TITLES = {"movielens": "MovieLens", "books": "Amazon Books", "wikispeedia": "Wikispeedia"}
"""Titles of the datasets."""


@dataclass(frozen=True)
class Settings:
    """Settings of the experiments on human choices."""

    datasets: Sequence[str] = DATASETS
    """Names of the datasets."""
    effort: Effort = FULL
    """Number of splits, trials, training steps and walkers."""
    seed: int = 0
    """Seed of the splits, agents, walkers and fits."""
    item_graphs: Sequence[Keep] = ("highest",)
    """Kinds of item graphs, for datasets without their own links."""


def prepare_predictions(
    settings: Settings, folder: PathLike | None, engine: Engine, progress: Progress
) -> Iterator[PredictionRun]:
    """Prepare the prediction of each dataset and item graph, each in its own run folder; load all datasets first."""
    predictions = [
        (dataset, keep)
        for dataset in [load_dataset(name, folder) for name in settings.datasets]
        for keep in (settings.item_graphs if dataset.graph is None else settings.item_graphs[:1])
    ]
    stages = split_progress(progress, [1] * len(predictions))
    for (dataset, keep), stage in zip(predictions, stages, strict=True):
        name = dataset.name if dataset.graph is not None or keep == "highest" else f"{dataset.name}-{keep}"
        own_engine = replace(engine, run=engine.run and engine.run / name)
        with own_engine.connect():
            yield prepare_run(
                dataset,
                recipe=get_recipe(dataset.name, keep),
                effort=settings.effort,
                seed=settings.seed,
                engine=own_engine,
                progress=stage,
            )
