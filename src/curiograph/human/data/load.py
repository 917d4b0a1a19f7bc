"""`load_dataset`: find a dataset by its name or path and read it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from curiograph.errors import FileFormatError, SettingError, UnknownNameError
from curiograph.files import PathLike, as_path
from curiograph.human.data.dataset import Dataset
from curiograph.human.data.registry import ALIASES, READERS, SOURCES, DatasetReader
from curiograph.human.data.trajectory_file import read_trajectories
from curiograph.human.data.wikispeedia import BackClicks
from curiograph.messages import quote_value


def load_dataset(
    name_or_path: PathLike,
    folder: PathLike | None = None,
    *,
    lenient: bool = False,
    back_clicks: BackClicks = "resolve",
    **table: Any,
) -> Dataset:
    """Load recorded human walks.

    Parameters
    ----------
    name_or_path : str or path
        Name of a dataset (`wikispeedia`, `movielens`, `books`, or one release such as `movielens-25m`), a folder with
        its files, or a file that `read_trajectories` reads.
    folder : str or path, optional
        Folder in which to look for a name: that of the dataset, or one that contains datasets. Default: the folder in
        the environment variable CURIOGRAPH_DATA, then the cache that `curiograph data get` fills.
    lenient : bool
        Skip bad rows and report them in `skipped` instead of raising FileFormatError.
    back_clicks : {"resolve", "keep"}
        Back clicks of Wikispeedia: remove the page that was left from the walk, or keep it and visit the page before
        again.
    **table
        Columns, sessions and header of your own file, as for `read_trajectories`.

    Returns
    -------
    Dataset
        The walks, and the graph and titles if the dataset has them.

    Raises
    ------
    UnknownNameError
        If there is no such dataset or file.
    FileFormatError
        If the dataset is missing, ambiguous or malformed.

    Examples
    --------
    >>> load_dataset("wikispedia")
    Traceback (most recent call last):
    curiograph.errors.UnknownNameError: there is no dataset and no file 'wikispedia'; ...
    """
    name = ALIASES.get(str(name_or_path), str(name_or_path))
    if name in READERS or name in SOURCES:
        found = find_dataset(name, folder)
        if found is None:
            downloads = [source.name for source in SOURCES.values() if name in (source.name, source.reader.name)]
            raise FileFormatError(
                f"the dataset {name} is not in {', '.join(map(str, _list_roots(folder)))}; run `curiograph data get "
                f"{downloads[0]}`, give its folder (folder=DIR, or --from DIR on the command line), or set "
                "CURIOGRAPH_DATA."
            )
        _check_no_table(name, table)
        return _read(_get_reader(name), found, lenient, back_clicks)
    path = as_path(name_or_path)
    if not path.exists():
        known = ", ".join(dict.fromkeys([*READERS, *SOURCES]))
        raise UnknownNameError(f"there is no dataset and no file {quote_value(name)}; the datasets are {known}.")
    if folder is not None:
        raise SettingError(
            f"{path} is a path, but a folder was given too; omit the folder, which is for names of datasets."
        )
    if path.is_dir():
        places = [(reader, place) for reader in READERS.values() for place in _find_places(path, reader)]
        if not places:
            files = ", ".join(f"{reader.name} ({', '.join(reader.entry_files)})" for reader in READERS.values())
            raise FileFormatError(f"{path}: contains no dataset; looked for {files}.")
        if len(places) > 1:
            folders = ", ".join(_get_folder(place).name for _, place in places)
            raise FileFormatError(f"{path}: contains several datasets ({folders}); give the folder of one.")
        reader, place = places[0]
        _check_no_table(reader.name, table)
        return _read(reader, place, lenient, back_clicks)
    known_reader = next((reader for reader in READERS.values() if path.name in reader.entry_files), None)
    if known_reader is None or any(value for value in table.values()):
        if back_clicks != "resolve":
            raise SettingError(
                f"back_clicks is {quote_value(back_clicks)}, but {path} is not Wikispeedia; leave it out."
            )
        return read_trajectories(path, lenient=lenient, **table)
    return _read(known_reader, path, lenient, back_clicks)


def _read(reader: DatasetReader, path: Path, lenient: bool, back_clicks: BackClicks) -> Dataset:
    """Read a dataset; raise SettingError if back clicks are to be kept and it has none."""
    if back_clicks == "resolve":
        return reader.read(path, lenient=lenient)
    if reader.name != "wikispeedia":
        raise SettingError(f"back_clicks is {quote_value(back_clicks)}, but {reader.name} has none; leave it out.")
    return reader.read(path, lenient=lenient, back_clicks=back_clicks)


def _check_no_table(name: str, table: dict[str, Any]) -> None:
    """Raise SettingError if columns or sessions are given for a dataset with columns of its own."""
    for option, value in table.items():
        if value:
            raise SettingError(f"{option} is {quote_value(value)}, but {name} has columns of its own; leave it out.")


def find_dataset(name: str, folder: PathLike | None = None) -> Path | None:
    """Return the file or folder to read for a dataset, or None if it is not on this machine."""
    reader = _get_reader(name)
    for root in _list_roots(folder):
        places = _find_places(root, reader)
        if name not in READERS and (folder is None or reader.find(root) is None):  # a release: only its own folder
            places = [place for place in places if _get_folder(place).name == Path(SOURCES[name].folder).name]
        if len(places) > 1:
            found = ", ".join(_get_folder(place).name for place in places)
            raise FileFormatError(f"{root}: contains several {name} datasets ({found}); give the folder of one.")
        if places:
            return places[0]
    return None


def get_cache_folder() -> Path:
    """Return the folder of downloaded datasets; raise SettingError if the user has no home folder."""
    given = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if given.startswith("~"):
        raise SettingError("there is no home folder to keep datasets in; set XDG_CACHE_HOME, or give the folder.")
    return Path(given, "curiograph", "data")


def _get_reader(name: str) -> DatasetReader:
    return READERS[name] if name in READERS else SOURCES[name].reader


def _get_folder(place: Path) -> Path:
    return place if place.is_dir() else place.parent


def _list_roots(folder: PathLike | None) -> list[Path]:
    """Return the folders in which to look for a dataset."""
    if folder is not None:
        if not as_path(folder).is_dir():
            raise FileFormatError(f"{folder}: there is no such folder; check its name.")
        return [as_path(folder)]
    given = os.environ.get("CURIOGRAPH_DATA")
    roots = [Path(given)] if given else []
    try:
        roots.append(get_cache_folder())
    except SettingError:  # without a home folder, CURIOGRAPH_DATA is sufficient
        if not roots:
            raise
    return roots


def _find_places(root: Path, reader: DatasetReader) -> list[Path]:
    """Return the datasets in `root` or in the reader's subfolder; if neither is one, those one level below."""
    folders = (root, root / reader.folder)
    for folder in folders:
        if place := reader.find(folder):
            return [place]
    places: list[Path] = []
    for folder in folders:
        try:
            inside = sorted(folder.iterdir()) if folder.is_dir() else []
        except OSError as error:
            raise FileFormatError(f"{folder}: cannot be read ({error.strerror}).") from None
        # an interrupted `data get` leaves an incomplete dataset in a hidden folder
        visible = [path for path in inside if path.is_dir() and not path.name.startswith(".")]
        places += [place for path in visible if (place := reader.find(path))]
    return places
