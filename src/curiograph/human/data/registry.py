"""The known datasets: how each kind is read, where it can be downloaded, and under what license."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from curiograph.errors import UnknownNameError
from curiograph.human.data import books, movielens, wikispeedia
from curiograph.human.data.dataset import Dataset


@dataclass(frozen=True)
class DatasetReader:
    """Reader of one kind of dataset."""

    name: str
    """Name of the kind of dataset."""
    folder: str
    """Name of its folder in a folder of datasets."""
    find: Callable[[Path], Path | None]
    """Return what to read in a folder, or None if the folder does not contain the dataset."""
    read: Callable[..., Dataset]
    """Read the dataset from a path; takes the keyword argument `lenient`."""
    entry_files: tuple[str, ...]
    """Names of files that can be given in place of the folder."""
    files: tuple[str, ...]
    """Names of all files of the dataset."""


@dataclass(frozen=True)
class DatasetSource:
    """A dataset that can be downloaded."""

    name: str
    """Name of the dataset."""
    reader: DatasetReader
    """Reader of this kind of dataset."""
    folder: str
    """Path of its folder in a folder of datasets."""
    url: str
    """Address of the archive or file."""
    license: str
    """Publisher and terms of use."""
    citation: str
    """Publications to cite."""
    megabytes: int
    """Approximate size of the download."""
    max_unpacked_megabytes: int
    """Limit of the unpacked size; anything larger is not this dataset."""
    md5: bool = False
    """Whether the publisher provides the md5 sum at the same address with `.md5` appended."""


READERS = {
    "wikispeedia": DatasetReader(
        name="wikispeedia",
        folder="wikispeedia",
        find=wikispeedia.find_wikispeedia,
        read=wikispeedia.read_wikispeedia,
        entry_files=tuple(wikispeedia.GAME_FILES),
        files=wikispeedia.FILES,
    ),
    "movielens": DatasetReader(
        name="movielens",
        folder="movielens",
        find=movielens.find_movielens,
        read=movielens.read_movielens,
        entry_files=tuple(movielens.LAYOUTS),
        files=movielens.FILES,
    ),
    "books": DatasetReader(
        name="books",
        folder="amazon-books",
        find=books.find_books,
        read=books.read_books,
        entry_files=books.FILES,
        files=books.FILES,
    ),
}
"""Readers by name."""


def _make_movielens_source(version: str, megabytes: int, max_unpacked_megabytes: int) -> DatasetSource:
    return DatasetSource(
        name=f"movielens-{version}",
        reader=READERS["movielens"],
        folder=f"movielens/ml-{version}",
        url=f"https://files.grouplens.org/datasets/movielens/ml-{version}.zip",
        license="GroupLens: research use, no commercial use; redistribution under the same terms",
        citation="F. M. Harper and J. A. Konstan (2015), The MovieLens Datasets: History and Context, ACM TiiS 5 (4) "
        "19",
        megabytes=megabytes,
        max_unpacked_megabytes=max_unpacked_megabytes,
        md5=True,
    )


_SOURCES = (
    DatasetSource(
        name="wikispeedia",
        reader=READERS["wikispeedia"],
        folder="wikispeedia",
        url="https://snap.stanford.edu/data/wikispeedia/wikispeedia_paths-and-graph.tar.gz",
        license="SNAP: cite when publishing",
        citation="R. West and J. Leskovec (2012), Human Wayfinding in Information Networks, WWW; R. West, J. Pineau "
        "and D. Precup (2009), Wikispeedia: An Online Game for Inferring Semantic Distances between Concepts, IJCAI",
        megabytes=10,
        max_unpacked_megabytes=200,
    ),
    _make_movielens_source("latest-small", 1, 50),
    _make_movielens_source("100k", 5, 50),
    _make_movielens_source("1m", 6, 100),
    _make_movielens_source("25m", 262, 4_000),
    _make_movielens_source("32m", 239, 4_000),
    DatasetSource(
        name="books",
        reader=READERS["books"],
        folder="amazon-books",
        url="https://snap.stanford.edu/data/amazon/productGraph/categoryFiles/ratings_Books.csv",
        license="McAuley lab: research use with citation",
        citation="R. He and J. McAuley (2016), Ups and Downs: Modeling the Visual Evolution of Fashion Trends with "
        "One-Class Collaborative Filtering, WWW",
        megabytes=916,
        max_unpacked_megabytes=4_000,
    ),
)
SOURCES = {source.name: source for source in _SOURCES}
"""Datasets that can be downloaded, by name."""
ALIASES = {"amazon-books": "books"}
"""Other names of datasets."""


def get_source(name: str) -> DatasetSource:
    """Return the source with this name.

    >>> get_source("amazon-books").name
    'books'
    """
    known = ALIASES.get(name, name)
    if known not in SOURCES:
        raise UnknownNameError(f"there is no dataset {name!r} to get; the datasets are {', '.join(SOURCES)}.")
    return SOURCES[known]
