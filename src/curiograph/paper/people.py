"""What Table 2, `diffusion` and `examples` share: the paper's three datasets, and its figures for them."""

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
THEORIES = ("igt", "cpt", "igt+cpt")
PAPER: dict[str, dict[str, tuple[float, float]]] = {
    "movielens": {"igt": (0.042, 0.021), "cpt": (0.051, 0.015), "igt+cpt": (0.079, 0.017)},
    "books": {"igt": (0.054, 0.019), "cpt": (0.046, 0.016), "igt+cpt": (0.096, 0.019)},
    "wikispeedia": {"igt": (0.029, 0.029), "cpt": (0.122, 0.032), "igt+cpt": (0.322, 0.077)},
}
"""r and its error, Table 2 of the paper."""


@dataclass(frozen=True)
class Settings:
    """What is run."""

    datasets: Sequence[str] = DATASETS
    effort: Effort = FULL
    seed: int = 0


def prepare_predictions(
    settings: Settings, folder: PathLike | None, engine: Engine, progress: Progress
) -> Iterator[PredictionRun]:
    """A prepared prediction of each dataset, each with a run folder of its own. All data is looked for first."""
    found = [load_dataset(name, folder) for name in settings.datasets]
    for data in found:
        folder_of_data = engine.run_folder and engine.run_folder / data.name
        used_engine = replace(engine, run_folder=folder_of_data)
        with used_engine.connect():
            yield prepare_run(data, None, None, settings.effort, settings.seed, used_engine, progress)
