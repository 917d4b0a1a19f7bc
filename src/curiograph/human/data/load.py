"""`load_dataset`: find a data set by its name or path, and read it."""

from __future__ import annotations

import os
from pathlib import Path

from curiograph.errors import FileFormatError, SettingError, UnknownNameError
from curiograph.files import PathLike, as_path
from curiograph.human.data.dataset import Dataset
from curiograph.human.data.registry import ALIASES, READERS, SOURCES, DatasetReader
from curiograph.human.data.trajectory_file import read_trajectories
from curiograph.messages import quote_value


def load_dataset(name_or_path: PathLike, folder: PathLike | None = None, *, lenient: bool = False) -> Dataset:
    """Load walks by people.

    Parameters
    ----------
    name_or_path : `wikispeedia`, `movielens`, one release such as `movielens-25m`, `books`; or a folder with the files
        of one of them; or a file that `read_trajectories` reads.
    folder : where to look for a name: the folder of the data set, or a folder of data sets. Without it, the folder
        that the variable CURIOGRAPH_DATA names, then the cache that `curiograph data get` fills.
    lenient : skip bad rows and say so in `skipped`, instead of raising FileFormatError.

    >>> load_dataset("wikispedia")
    Traceback (most recent call last):
    curiograph.errors.UnknownNameError: there is no data set and no file 'wikispedia'; ...
    """
    name = ALIASES.get(str(name_or_path), str(name_or_path))
    if name in READERS or name in SOURCES:
        place = find_dataset(name, folder)
        if place is None:
            raise FileFormatError(_not_found(name, folder))
        return _kind(name).read(place, lenient=lenient)
    path = as_path(name_or_path)
    if not path.exists():
        known = ", ".join(dict.fromkeys([*READERS, *SOURCES]))
        raise UnknownNameError(f"there is no data set and no file {quote_value(name)}; the data sets are {known}.")
    if folder is not None:
        raise SettingError(f"{path} is a path, and a folder to look in is for names; leave out one of them.")
    if path.is_dir():
        return _load_folder(path, lenient)
    kind = next((kind for kind in READERS.values() if path.name in kind.entries), None)
    return read_trajectories(path, lenient=lenient) if kind is None else kind.read(path, lenient=lenient)


def find_dataset(name: str, folder: PathLike | None = None) -> Path | None:
    """What to read for a data set by that name, or None if it is not here."""
    kind = _kind(name)
    for root in _roots(folder):
        places = _places(root, kind)
        if name not in READERS and (folder is None or kind.find(root) is None):  # one release among several
            places = [place for place in places if _folder(place).name == Path(SOURCES[name].home).name]
        if len(places) > 1:
            found = ", ".join(_folder(place).name for place in places)
            raise FileFormatError(f"{root}: holds several of {name} ({found}); give the folder of one.")
        if places:
            return places[0]
    return None


def get_cache_folder() -> Path:
    """Where downloads are kept; raises SettingError for somebody without a home."""
    given = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if given.startswith("~"):
        raise SettingError("there is no home folder to keep data sets in; set XDG_CACHE_HOME, or give the folder.")
    return Path(given, "curiograph", "data")


def _kind(name: str) -> DatasetReader:
    return READERS[name] if name in READERS else SOURCES[name].kind


def _roots(folder: PathLike | None) -> list[Path]:
    if folder is not None:
        if not as_path(folder).is_dir():
            raise FileFormatError(f"{folder}: there is no such folder; check its name.")
        return [as_path(folder)]
    given = os.environ.get("CURIOGRAPH_DATA")
    try:
        return [*([Path(given)] if given else []), get_cache_folder()]
    except SettingError:
        if given is None:
            raise
        return [Path(given)]


def _places(root: Path, kind: DatasetReader) -> list[Path]:
    """What a reader can read in a folder, or else in its home there, or else one level below either."""
    for folders in ([root], [root / kind.home], [*_inside(root), *_inside(root / kind.home)]):
        if places := [place for folder in folders if (place := kind.find(folder))]:
            return places
    return []


def _inside(folder: Path) -> list[Path]:
    """The folders in a folder, but for hidden ones: a killed `data get` leaves half of a data set in such."""
    try:
        inside = sorted(folder.iterdir()) if folder.is_dir() else []
    except OSError as error:
        raise FileFormatError(f"{folder}: cannot be read ({error.strerror}).") from None
    return [path for path in inside if path.is_dir() and not path.name.startswith(".")]


def _folder(place: Path) -> Path:
    return place if place.is_dir() else place.parent


def _load_folder(folder: Path, lenient: bool) -> Dataset:
    found = [(kind, place) for kind in READERS.values() for place in _places(folder, kind)]
    if not found:
        files = "; ".join(f"{kind.name}: {', '.join(kind.entries)}" for kind in READERS.values())
        raise FileFormatError(f"{folder}: holds no data set; looked for the files of {files}.")
    if len(found) > 1:
        raise FileFormatError(
            f"{folder}: holds several data sets ({', '.join(_folder(place).name for _, place in found)}); "
            "give the folder of one."
        )
    kind, place = found[0]
    return kind.read(place, lenient=lenient)


def _not_found(name: str, folder: PathLike | None) -> str:
    looked = ", ".join(map(str, _roots(folder)))
    get = name if name in SOURCES else next(source.name for source in SOURCES.values() if source.kind.name == name)
    return (
        f"the data set {name} is not in {looked}; run `curiograph data get {get}`, "
        "give its folder with --from DIR, or set CURIOGRAPH_DATA."
    )
