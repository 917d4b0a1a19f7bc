"""Datasets and settings of the experiments on human choices: `table2`, `diffusion` and `examples`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from curiograph.files import PathLike
from curiograph.human.data.load import load_dataset
from curiograph.human.prediction.predict import FULL, Effort, PredictionRun, prepare_run
from curiograph.parallel import Engine
from curiograph.progress import Progress

DATASETS = ("movielens", "books", "wikispeedia")
TITLES = {"movielens": "MovieLens", "books": "Amazon Books", "wikispeedia": "Wikispeedia"}


@dataclass(frozen=True)
class Settings:
    """Settings of the experiments on human choices."""

    datasets: Sequence[str] = DATASETS
    effort: Effort = FULL
    """Number of splits, trials, training steps and walkers."""
    seed: int = 0


def prepare_predictions(
    settings: Settings, folder: PathLike | None, engine: Engine, progress: Progress
) -> Iterator[PredictionRun]:
    """Prepare the prediction of each dataset, each in its own run folder; load all datasets first."""
    for dataset in [load_dataset(name, folder) for name in settings.datasets]:
        own_engine = replace(engine, run_folder=engine.run_folder and engine.run_folder / dataset.name)
        with own_engine.connect():
            yield prepare_run(dataset, None, None, settings.effort, settings.seed, own_engine, progress)
