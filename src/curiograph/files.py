"""Files of any format: refuse what cannot be one before parsing it, and never leave half a file behind."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import string
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from curiograph.errors import FileFormatError, GraphError
from curiograph.messages import format_bytes, quote_value, shorten_text

PathLike = str | os.PathLike[str]

MAX_FILE_BYTES = 2**28
"""Most bytes of a file that is read whole; edge lists and .npz are not."""

_HEAD = 4096
_STARTS = {
    "JSON": ("{[", "{ or ["),
    "GraphML": ("<", "<"),
    "GML": (f"{string.ascii_letters}#", "a letter or #"),
}

_FOREIGN = {
    b"PK\x03\x04": "a zip archive; unpack it first, or end its name in .npz if curiograph wrote it",
    b"\x1f\x8b": "compressed by gzip; unpack it first",
    b"BZh": "compressed by bzip2; unpack it first",
    b"\xfd7zXZ": "compressed by xz; unpack it first",
    b"%PDF": "a PDF document; export the graph as text",
    b"\x89PNG": "a picture; export the graph as text",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
}


def as_path(path: PathLike) -> Path:
    """The path that text or a path-like object names; raises FileFormatError for anything else."""
    try:
        return Path(path)
    except TypeError:
        raise FileFormatError(
            f"the path is {quote_value(path)}; give the name of a file, as text or as a pathlib.Path."
        ) from None


def check_file(path: PathLike) -> Path:
    """The path of a regular, non-empty file; raises FileFormatError for anything else."""
    path = as_path(path)
    try:
        status = path.stat()
    except FileNotFoundError:
        raise FileFormatError(f"{path}: there is no such file; check its name and folder.") from None
    except (OSError, ValueError) as error:
        raise FileFormatError(f"{path}: cannot be opened ({error}).") from None
    if stat.S_ISDIR(status.st_mode):
        raise FileFormatError(f"{path}: is a folder; give the file inside it.")
    if not stat.S_ISREG(status.st_mode):
        raise FileFormatError(f"{path}: is not a regular file; save its content to a file first.")
    if status.st_size == 0:
        raise FileFormatError(f"{path}: is empty; check that it was written to the end.")
    return path


def check_text(path: Path, head: bytes) -> None:
    """Raise where the first bytes of a file show that it is not text."""
    for magic, meaning in _FOREIGN.items():
        if head.startswith(magic):
            raise FileFormatError(f"{path}: the ending {path.suffix} promises text, but the file is {meaning}.")


def check_start(path: Path, head: bytes, kind: str) -> None:
    """Raise where the first character of a file, blanks aside, shows that it is not JSON, GraphML or GML."""
    characters, meaning = _STARTS[kind]
    first = head.decode("utf-8-sig", "replace").lstrip()[:1]
    if first not in characters:  # nothing but blanks is left to the parser
        raise FileFormatError(
            f"{path}: is not {kind}: it begins with {first!r}, not with {meaning}; check its content and its ending."
        )


def read_bytes(path: PathLike, kind: str | None = None, *, limit: int = MAX_FILE_BYTES) -> bytes:
    """All bytes of a text file of any encoding; `kind` is JSON, GraphML or GML where it has to begin like that."""
    path = check_file(path)
    try:
        with open(path, "rb") as stream:
            head = stream.read(_HEAD)
            check_text(path, head)
            if kind is not None:
                check_start(path, head, kind)
            size = os.fstat(stream.fileno()).st_size
            if size > limit:
                raise FileFormatError(
                    f"{path}: is {format_bytes(size)}; files of this format are read whole, at most {format_bytes(limit)}: "
                    "split it, or for a graph use an edge list or .npz."
                )
            stream.seek(0)
            return stream.read(limit)
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read ({error.strerror}).") from None


def read_text(path: PathLike, kind: str | None = None, *, limit: int = MAX_FILE_BYTES) -> str:
    """A whole UTF-8 file, without a byte order mark; `kind` and `limit` as for `read_bytes`."""
    data = read_bytes(path, kind, limit=limit)
    place = data.find(b"\0")
    if place >= 0:
        raise FileFormatError(
            f"{path}, line {get_line_number(data, place)}: holds a NUL byte; this looks like a binary file."
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = get_line_number(data, error.start)
        raise FileFormatError(f"{path}, line {line}: is not UTF-8; save the file with the encoding UTF-8.") from None


def get_line_number(data: bytes, place: int) -> int:
    """Line number of a position in a text."""
    return data.count(b"\n", 0, place) + 1


@contextmanager
def wrap_parse_errors(path: PathLike, kind: str) -> Iterator[None]:
    """Turn whatever a library stumbles over in a malformed file into one FileFormatError."""
    try:
        yield
    except MemoryError:
        raise FileFormatError(f"{path}: asks for more memory than there is, so it is not read as {kind}.") from None
    except Exception as error:
        reason = shorten_text(error, 200) or type(error).__name__
        raise FileFormatError(f"{path}: is not a usable {kind} file ({reason}).") from error


@contextmanager
def open_atomic(path: PathLike) -> Iterator[BinaryIO]:
    """A stream whose content becomes the file `path` all at once, when the block ends without an error.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open_atomic(Path(folder) / "a.txt") as stream:
    ...         _ = stream.write(b"whole or not at all")
    ...     [entry.name for entry in Path(folder).iterdir()]
    ['a.txt']
    """
    target = Path(os.path.realpath(as_path(path)))  # a link keeps pointing to the file it names
    if target.is_dir():
        raise GraphError(f"cannot write {path}: it is a folder; add a file name.")
    if not target.parent.is_dir():
        raise GraphError(f"cannot write {path}: the folder {target.parent} does not exist; create it first.")
    temporary = target.parent / f".{target.name[:100]}.{secrets.token_hex(4)}.part"
    try:
        with open(temporary, "xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
        _sync_folder(target.parent)
    except OSError as error:
        raise GraphError(f"cannot write {path}: {_write_fault(error)}.") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _write_fault(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full; make room there, or choose another place"
    return error.strerror or str(error)


def _sync_folder(folder: Path) -> None:
    """Make the new name survive a power cut, where the system can open folders."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
