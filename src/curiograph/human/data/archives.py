"""Unpack archives safely: only the wanted files, only regular files, and at most a given number of bytes."""

from __future__ import annotations

import stat
import tarfile
import zipfile
from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, NamedTuple

from curiograph.errors import CuriographError, FileFormatError
from curiograph.files import check_file
from curiograph.messages import quote_value, shorten_text

_BLOCK = 2**20  # bytes


class _Member(NamedTuple):
    """A file in an archive."""

    name: str
    """Path in the archive."""
    is_regular: bool
    """Whether it is a regular file, not a link or a device."""
    open: Callable[[], IO[bytes]]
    """Open the file for reading."""


def unpack_archive(path: Path, folder: Path, wanted: Collection[str], max_bytes: int) -> None:
    """Write the wanted files of a zip or tar archive into a folder, without subfolders.

    A file that is not an archive is copied if it is wanted. An archive with a link, a device, or a path that leads out
    of it is rejected as a whole.
    """
    check_file(path)
    try:
        for name, is_regular, open_member in _iterate_members(path):
            parts = PureWindowsPath(name)  # splits at / and \ alike
            if parts.drive or parts.root or ".." in parts.parts:
                raise FileFormatError(
                    f"{path}: its entry {quote_value(name)} leads out of the archive; do not use this archive."
                )
            if not is_regular:
                raise FileFormatError(
                    f"{path}: its entry {quote_value(name)} is a link or a device; do not use this archive."
                )
            target = folder / PurePosixPath(name).name
            if target.name not in wanted:
                continue
            if target.exists():
                raise FileFormatError(f"{path}: contains {target.name} twice; get another copy.")
            with open_member() as stream, open(target, "xb") as out:
                while block := stream.read(_BLOCK):
                    max_bytes -= len(block)
                    if max_bytes < 0:
                        raise FileFormatError(
                            f"{path}: unpacks to more than the size of this dataset; do not use this archive."
                        )
                    out.write(block)
    except (CuriographError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:  # such as a full disk: not a fault of the archive
            raise
        reason = shorten_text(error, 200) or type(error).__name__
        raise FileFormatError(f"{path}: cannot be unpacked ({reason}); get another copy.") from error


def _iterate_members(path: Path) -> Iterator[_Member]:
    """Yield the files of an archive, or the file itself if it is not an archive."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as zip_file:
            for info in zip_file.infolist():
                if not info.is_dir():
                    is_regular = stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG)
                    yield _Member(info.filename, is_regular, partial(zip_file.open, info))
    elif tarfile.is_tarfile(path):
        with tarfile.open(path) as tar_file:
            for entry in tar_file:
                if not entry.isdir():
                    yield _Member(entry.name, entry.isreg(), partial(tar_file.extractfile, entry))  # type: ignore[arg-type]
    else:
        yield _Member(path.name, True, lambda: path.open("rb"))
