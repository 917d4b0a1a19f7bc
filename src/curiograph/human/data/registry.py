"""The data sets that curiograph knows: how each kind is read, where it comes from, on what terms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from curiograph.errors import UnknownNameError
from curiograph.human.data import books, movielens, wikispeedia
from curiograph.human.data.dataset import Dataset


@dataclass(frozen=True)
class DatasetReader:
    """Data sets that one reader reads."""

    name: str
    home: str
    """Its folder among other data."""
    find: Callable[[Path], Path | None]
    """What to read in a folder, if the folder has it."""
    read: Callable[..., Dataset]
    entries: tuple[str, ...]
    """Names of files that stand for the data set."""
    files: tuple[str, ...]
    """Names of all files that belong to one."""


READERS = {
    kind.name: kind
    for kind in (
        DatasetReader(
            "wikispeedia",
            "wikispeedia",
            wikispeedia.find_wikispeedia,
            wikispeedia.read_wikispeedia,
            tuple(wikispeedia.GAME_FILES),
            wikispeedia.FILES,
        ),
        DatasetReader(
            "movielens",
            "movielens",
            movielens.find_movielens,
            movielens.read_movielens,
            tuple(movielens.LAYOUTS),
            movielens.FILES,
        ),
        DatasetReader("books", "amazon-books", books.find_books, books.read_books, books.FILES, books.FILES),
    )
}


@dataclass(frozen=True)
class DatasetSource:
    """A data set that can be downloaded."""

    name: str
    kind: DatasetReader
    home: str
    """Its folder among other data."""
    url: str
    license: str
    citation: str
    megabytes: int
    """To download, roughly."""
    most_megabytes: int
    """Unpacked: anything larger is not this data set."""
    md5: bool = False
    """Whether the publisher gives the sum at the same address with `.md5` added."""


def _movielens(version: str, megabytes: int, most_megabytes: int) -> DatasetSource:
    return DatasetSource(
        f"movielens-{version}",
        READERS["movielens"],
        f"movielens/ml-{version}",
        f"https://files.grouplens.org/datasets/movielens/ml-{version}.zip",
        "GroupLens: research use, no commercial use; redistribution under the same terms",
        "F. M. Harper and J. A. Konstan (2015), The MovieLens Datasets: History and Context, ACM TiiS 5 (4) 19",
        megabytes,
        most_megabytes,
        md5=True,
    )


SOURCES = {
    source.name: source
    for source in (
        DatasetSource(
            "wikispeedia",
            READERS["wikispeedia"],
            "wikispeedia",
            "https://snap.stanford.edu/data/wikispeedia/wikispeedia_paths-and-graph.tar.gz",
            "SNAP: cite when publishing",
            "R. West and J. Leskovec (2012), Human Wayfinding in Information Networks, WWW; R. West, J. Pineau and "
            "D. Precup (2009), Wikispeedia: An Online Game for Inferring Semantic Distances between Concepts, IJCAI",
            10,
            200,
        ),
        _movielens("latest-small", 1, 50),
        _movielens("100k", 5, 50),
        _movielens("1m", 6, 100),
        _movielens("25m", 262, 4_000),
        _movielens("32m", 239, 4_000),
        DatasetSource(
            "books",
            READERS["books"],
            "amazon-books",
            "https://snap.stanford.edu/data/amazon/productGraph/categoryFiles/ratings_Books.csv",
            "McAuley lab: research use with citation",
            "R. He and J. McAuley (2016), Ups and Downs: Modeling the Visual Evolution of Fashion Trends with "
            "One-Class Collaborative Filtering, WWW",
            916,
            4_000,
        ),
    )
}
ALIASES = {"amazon-books": "books"}


def get_source(name: str) -> DatasetSource:
    """The source of that name.

    >>> get_source("amazon-books").name
    'books'
    """
    known = ALIASES.get(name, name)
    if known not in SOURCES:
        raise UnknownNameError(f"there is no data set {name!r} to get; there are {', '.join(SOURCES)}.")
    return SOURCES[known]
