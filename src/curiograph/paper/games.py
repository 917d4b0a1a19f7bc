"""Games of Wikispeedia for the experiments `motives` and `returns`."""

from __future__ import annotations

from dataclasses import replace

from curiograph.errors import FileFormatError
from curiograph.files import PathLike
from curiograph.graph.graph import Graph
from curiograph.human.data.dataset import Dataset
from curiograph.human.data.load import find_dataset, load_dataset
from curiograph.human.data.wikispeedia import BackClicks

UNFINISHED = "paths_unfinished.tsv"
"""Game file with users, times and back clicks."""


def load_games(
    file: str, max_games: int | None, folder: PathLike | None, back_clicks: BackClicks = "resolve"
) -> tuple[Dataset, Graph]:
    """Load the first games of one file of Wikispeedia, and the graph of its articles."""
    place = find_dataset("wikispeedia", folder)
    source = None if place is None else place / file
    # without the dataset, load_dataset raises an error that says how to get it
    dataset = load_dataset("wikispeedia", folder) if source is None else load_dataset(source, back_clicks=back_clicks)
    if dataset.graph is None:
        raise FileFormatError(f"{file}: has no graph; give the unpacked folder of Wikispeedia.")
    return replace(dataset, walks=dataset.walks.rows(slice(max_games))), dataset.graph
