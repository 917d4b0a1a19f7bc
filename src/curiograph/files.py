"""Path checks, reading of whole text files, atomic writes, and checksums."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from curiograph.errors import FileFormatError, GraphError, quote_value, shorten_text

PathLike = str | os.PathLike[str]

MAX_FILE_BYTES = 2**28
"""Size limit of files that are read into memory as a whole; edge lists and .safetensors are not."""

_FOREIGN = {
    b"PK\x03\x04": "a zip archive; unpack it first",
    b"\x1f\x8b": "compressed by gzip; unpack it first",
    b"%PDF": "a PDF document; export the data as text",
    b"\x89PNG": "a picture; export the data as text",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
}


def as_path(path: PathLike) -> Path:
    """Return `path` as a Path; raise FileFormatError if it is not a string or path-like object."""
    try:
        return Path(path)
    except TypeError:
        raise FileFormatError(f"the path is {quote_value(path)}; give the name of a file.") from None


def check_file(path: PathLike) -> Path:
    """Return `path` as a Path; raise FileFormatError unless it is a regular, non-empty file."""
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
    """Raise FileFormatError if the first bytes of a file show that it is not text."""
    for magic, meaning in _FOREIGN.items():
        if head.startswith(magic):
            raise FileFormatError(f"{path}: should be text, but is {meaning}.")


def read_bytes(path: PathLike) -> bytes:
    """Return the bytes of a text file of any encoding."""
    path = check_file(path)
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            size = f"{path.stat().st_size / 2**20:,.0f} MiB; at most {MAX_FILE_BYTES // 2**20} MiB"
            raise FileFormatError(f"{path}: is {size} are read, because files of this format are read whole.")
        data = path.read_bytes()
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read ({error.strerror}).") from None
    check_text(path, data)
    return data


def read_text(path: PathLike) -> str:
    """Return the text of a UTF-8 file without byte order mark."""
    data = read_bytes(path)
    try:
        if b"\0" not in data:
            return data.decode("utf-8-sig")
        place, fault = data.index(b"\0"), "holds a NUL byte; this looks like a binary file"
    except UnicodeDecodeError as error:
        place, fault = error.start, "is not UTF-8; save the file with the encoding UTF-8"
    line = data.count(b"\n", 0, place) + 1
    raise FileFormatError(f"{path}, line {line}: {fault}.")


def list_data_folders() -> list[Path]:
    """Return the folders in which datasets are looked for: that of CURIOGRAPH_DATA, and that of downloads."""
    import pooch

    given = os.environ.get("CURIOGRAPH_DATA")
    return [*([Path(given)] if given else []), Path(pooch.os_cache("curiograph"), "data")]


@contextmanager
def wrap_parse_errors(path: PathLike, kind: str) -> Iterator[None]:
    """Convert any exception that a library raises on a malformed file to FileFormatError."""
    try:
        yield
    except FileFormatError:
        raise
    except MemoryError:
        raise FileFormatError(f"{path}: needs more memory than available, so it is not read as {kind}.") from None
    except Exception as error:
        reason = shorten_text(error, 200) or type(error).__name__
        raise FileFormatError(f"{path}: is not a usable {kind} file ({reason}).") from error


@contextmanager
def open_atomic(path: PathLike) -> Iterator[BinaryIO]:
    """Open a stream whose content replaces the file `path` when the block ends without an error.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open_atomic(Path(folder) / "a.txt") as stream:
    ...         _ = stream.write(b"complete or not at all")
    ...     [entry.name for entry in Path(folder).iterdir()]
    ['a.txt']
    """
    target = Path(os.path.realpath(as_path(path)))  # a symbolic link is followed, not replaced
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
        with suppress(OSError):  # make the new name durable, if the system can open folders
            folder = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        reason = "the disk is full; make room there, or choose another place" if full else error.strerror or str(error)
        raise GraphError(f"cannot write {path}: {reason}.") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def hash_chunks(chunks: Iterable[str | bytes | memoryview]) -> str:
    """Return the SHA-256 of texts and buffers, one after the other, in hexadecimal.

    >>> hash_chunks(["curio", b"graph"]) == hash_chunks(["curiograph"])
    True
    """
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk.encode(errors="surrogatepass") if isinstance(chunk, str) else chunk)
    return digest.hexdigest()
