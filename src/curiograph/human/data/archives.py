"""Unpacking: only the files that are wanted, only plain files, and never more than was agreed."""

from __future__ import annotations

import shutil
import stat
import tarfile
import zipfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import FileIO
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, BinaryIO

from curiograph.errors import CuriographError, FileFormatError
from curiograph.files import check_file
from curiograph.messages import quote_value, shorten_text

_BLOCK = 2**20


@dataclass(frozen=True)
class _Member:
    name: str
    plain: bool
    open: Callable[[], IO[bytes] | None]


def unpack_archive(path: Path, folder: Path, wanted: Collection[str], most_bytes: int) -> None:
    """Write the wanted files of a zip or tar archive into a folder, side by side; a wanted file itself is copied.

    An archive with a path that leads out of it, with a link or a device is refused whole.
    """
    check_file(path)
    budget = most_bytes
    with _readable(path):
        for member in _members(path):
            _check(path, member)
            target = folder / PurePosixPath(member.name).name
            if target.name not in wanted:
                continue
            if target.exists():
                raise FileFormatError(f"{path}: holds {target.name} twice; get another copy.")
            stream = member.open()
            if stream is not None:
                with stream, open(target, "xb") as out:
                    budget -= _copy(stream, out, budget, path)


def copy_files(origin: Path, folder: Path, wanted: Collection[str]) -> None:
    """Copy the wanted files of one folder into another."""
    for name in wanted:
        if (origin / name).is_file():
            shutil.copyfile(origin / name, folder / name)


def _members(path: Path) -> Iterator[_Member]:
    """The files in an archive, or the file itself if it is none."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as zipped:
            for info in zipped.infolist():
                if not info.is_dir():
                    plain = stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG)
                    yield _Member(info.filename, plain, partial(zipped.open, info))
    elif tarfile.is_tarfile(path):
        with tarfile.open(path) as taped:
            for entry in taped:
                if not entry.isdir():
                    yield _Member(entry.name, entry.isreg(), partial(taped.extractfile, entry))
    else:
        yield _Member(path.name, True, partial(FileIO, path))


def _check(path: Path, member: _Member) -> None:
    parts = PureWindowsPath(member.name)  # splits at / and \ alike
    if parts.drive or parts.root or ".." in parts.parts:
        raise FileFormatError(
            f"{path}: its entry {quote_value(member.name)} leads out of the archive; do not trust it."
        )
    if not member.plain:
        raise FileFormatError(f"{path}: its entry {quote_value(member.name)} is a link or a device; do not trust it.")


def _copy(stream: IO[bytes], out: BinaryIO, most: int, path: Path) -> int:
    size = 0
    while block := stream.read(_BLOCK):
        size += len(block)
        if size > most:
            raise FileFormatError(f"{path}: unpacks to more than this data set can be; do not trust it.")
        out.write(block)
    return size


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn whatever the libraries stumble over in a damaged archive into one sentence."""
    try:
        yield
    except (CuriographError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:  # a full disk is not the archive's fault
            raise
        reason = shorten_text(error, 200) or type(error).__name__
        raise FileFormatError(f"{path}: cannot be unpacked ({reason}); get another copy.") from error
