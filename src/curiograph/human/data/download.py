"""`get_dataset`: download a data set, or take it from a copy, into the cache."""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import secrets
import shutil
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from curiograph.errors import FileFormatError, GraphError
from curiograph.files import PathLike, as_path
from curiograph.human.data.archives import copy_files, unpack_archive
from curiograph.human.data.load import find_dataset, get_cache_folder
from curiograph.human.data.registry import DatasetSource, get_source
from curiograph.progress import Progress, no_progress

_BLOCK = 2**18
_SECONDS = 30  # without a word from the server
_NETWORK = (urllib.error.URLError, http.client.HTTPException, OSError, ValueError)


def get_dataset(
    name: str, cache: PathLike | None = None, origin: PathLike | None = None, progress: Progress = no_progress
) -> Path:
    """The folder of a data set in the cache, filled if it is not there yet.

    Parameters
    ----------
    cache : a folder of data sets; that of the user without it.
    origin : a folder, an archive or a file to take it from instead of downloading it.
    progress : called with how far the download is.
    """
    source = get_source(name)
    root = get_cache_folder() if cache is None else as_path(cache)
    target = root / source.home
    if source.kind.find(target):
        return target
    with _filling(root):
        if target.exists() and any(target.iterdir()):
            raise GraphError(f"{target} is there but no {source.kind.name}; move it, or choose another --cache.")
        if origin is not None:
            _install(as_path(origin), target, source)
            return target
        whole = root / ".downloads" / source.url.rpartition("/")[2]
        if not whole.exists():  # it is after a kill while unpacking
            _download(source, whole, progress)
        try:
            _install(whole, target, source)
        except FileFormatError:
            whole.unlink()
            raise
        whole.unlink()
    return target


def _download(source: DatasetSource, whole: Path, progress: Progress) -> None:
    part = whole.with_name(f"{whole.name}.part")
    part.parent.mkdir(parents=True, exist_ok=True)
    fetch(source.url, part, progress)
    if source.md5:
        _check_md5(source.url, part)
    os.replace(part, whole)


def fetch(url: str, part: Path, progress: Progress) -> None:
    """Download to `part`; what an interrupted download left there is kept, and only the rest is asked for."""
    have = part.stat().st_size if part.exists() else 0
    try:
        answer = _ask(url, have)
    except urllib.error.HTTPError as error:
        if error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE or not have:
            raise _unreachable(url, f"the server answers {error.code} {error.reason}") from None
        if _total(error.headers) == have:
            return
        part.unlink()  # longer than what is offered, so part of something else
        return fetch(url, part, progress)
    except _NETWORK as error:
        raise _unreachable(url, _reason(error)) from None
    with answer:
        if answer.status != http.HTTPStatus.PARTIAL_CONTENT:
            have = 0
        total = _total(answer.headers)
        with open(part, "r+b" if have else "wb") as out:
            out.seek(have)
            for block in _blocks(url, answer):
                out.write(block)
                have += len(block)
                if total:
                    progress(f"{have / 1e6:.1f} of {total / 1e6:.1f} MB", have / total)
                else:
                    progress(f"{have / 1e6:.1f} MB")
    if total is not None and have != total:
        raise FileFormatError(f"{url}: ended after {have:,} of {total:,} bytes; run the same again to get the rest.")


def _ask(url: str, have: int) -> Any:
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    return urllib.request.urlopen(request, timeout=_SECONDS)


def _total(headers: Any) -> int | None:
    """Bytes of the whole file, as the server says."""
    size = headers.get("Content-Range", "").rpartition("/")[2] or headers.get("Content-Length", "")
    return int(size) if size.isdecimal() else None


def _blocks(url: str, answer: Any) -> Iterator[bytes]:
    while True:
        try:
            block = answer.read(_BLOCK)
        except http.client.IncompleteRead as error:
            block = error.partial
        except _NETWORK as error:
            raise FileFormatError(f"{url}: broke off ({_reason(error)}); run the same again to get the rest.") from None
        if not block:
            return
        yield block


def _check_md5(url: str, part: Path) -> None:
    try:
        with _ask(f"{url}.md5", 0) as answer:
            said = answer.read(4096).decode("latin-1")
    except _NETWORK as error:
        raise _unreachable(f"{url}.md5", _reason(error)) from None
    sums = re.findall(r"\b[0-9a-fA-F]{32}\b", said)
    with open(part, "rb") as stream:
        found = hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
    if found not in [each.lower() for each in sums]:
        part.unlink()
        said = f"not the published {sums[0]}" if sums else "and the publisher's .md5 holds no sum"
        raise FileFormatError(f"{url}: the download has the md5 sum {found}, {said}; run the same to get it anew.")


def _unreachable(url: str, reason: str) -> FileFormatError:
    return FileFormatError(
        f"{url}: cannot be downloaded ({reason}); check the connection, or get the file elsewhere and give it with "
        "--from FILE."
    )


def _reason(error: Exception) -> str:
    return str(getattr(error, "reason", "") or error) or type(error).__name__


def _install(origin: Path, target: Path, source: DatasetSource) -> None:
    """Make the folder of a data set, all at once."""
    for left in target.parent.glob(f".{target.name}.*.part"):  # by a kill
        shutil.rmtree(left)
    made = target.parent / f".{target.name}.{secrets.token_hex(4)}.part"
    made.mkdir(parents=True)
    try:
        if origin.is_dir():
            found = find_dataset(source.name, origin) or origin
            copy_files(found if found.is_dir() else found.parent, made, source.kind.files)
        else:
            unpack_archive(origin, made, source.kind.files, source.most_megabytes * 10**6)
        if source.kind.find(made) is None:
            raise FileFormatError(f"{origin}: holds no {source.kind.name}; looked for {', '.join(source.kind.files)}.")
        os.replace(made, target)
    finally:
        shutil.rmtree(made, ignore_errors=True)


@contextmanager
def _filling(root: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise GraphError(f"cannot fill {root} ({error}); check rights and space, or choose another --cache.") from error
