"""`get_dataset`: download a dataset, or copy it from a local folder or file, into the cache.

Downloads use requests: pooch cannot resume an interrupted download, and its processors unpack archives without limits.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
from http import HTTPStatus
from pathlib import Path

import requests
from requests import RequestException, Response

from curiograph.errors import FileFormatError, GraphError
from curiograph.files import PathLike, as_path
from curiograph.human.data.archives import unpack_archive
from curiograph.human.data.load import find_dataset, get_cache_folder
from curiograph.human.data.registry import DatasetSource, get_source
from curiograph.progress import Progress, no_progress

_CHUNK = 2**18  # bytes
_TIMEOUT = 30  # seconds without data from the server


def get_dataset(
    name: str, cache: PathLike | None = None, origin: PathLike | None = None, progress: Progress = no_progress
) -> Path:
    """Return the folder of a dataset in the cache; download the dataset first if it is not there.

    Parameters
    ----------
    name : str
        Name of a dataset, as listed by `curiograph data list`.
    cache : str or path, optional
        Folder of datasets. Default: the cache folder of the user.
    origin : str or path, optional
        Folder, archive or file to copy the dataset from instead of downloading it.
    progress : callable
        Progress callback.
    """
    source = get_source(name)
    root = get_cache_folder() if cache is None else as_path(cache)
    target = root / source.folder
    if source.reader.find(target):
        return target
    try:
        if target.exists() and any(target.iterdir()):
            raise GraphError(f"{target} exists but contains no {source.reader.name}; move it, or set another --cache.")
        if origin is not None:
            _install(as_path(origin), target, source)
            return target
        archive = root / ".downloads" / source.url.rpartition("/")[2]
        if not archive.exists():  # it exists after an interruption while unpacking
            archive.parent.mkdir(parents=True, exist_ok=True)
            part = archive.with_name(f"{archive.name}.part")
            _download(source.url, part, progress)
            if source.md5:
                _check_md5(source.url, part)
            os.replace(part, archive)
        try:
            _install(archive, target, source)
        except FileFormatError:
            archive.unlink()
            raise
        archive.unlink()
    except OSError as error:
        raise GraphError(
            f"cannot write to {root} ({error}); check permissions and space, or set another --cache."
        ) from error
    return target


def _download(url: str, part: Path, progress: Progress) -> None:
    """Download a file to `part`; resume after the bytes that are there already."""
    received = part.stat().st_size if part.exists() else 0
    with _request(url, {"Range": f"bytes={received}-"} if received else {}) as response:
        headers, status = response.headers, response.status_code
        announced = headers.get("Content-Range", "").rpartition("/")[2] or headers.get("Content-Length", "")
        size = int(announced) if announced.isdecimal() else None
        if status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            if received != size:  # the part is longer than the file, so it belongs to another one
                part.unlink()
                _download(url, part, progress)
            return
        if status != HTTPStatus.PARTIAL_CONTENT:
            received = 0
        response.raw.enforce_content_length = False  # keep all bytes before an interruption; the size is checked below
        try:
            with open(part, "ab" if received else "wb") as out:
                for chunk in response.iter_content(_CHUNK):
                    out.write(chunk)
                    received += len(chunk)
                    if size:
                        progress(f"{received / 1e6:.1f} of {size / 1e6:.1f} MB", received / size)
                    else:
                        progress(f"{received / 1e6:.1f} MB")
        except RequestException as error:
            reason = _get_reason(error)
            raise FileFormatError(f"{url}: was interrupted ({reason}); rerun the command to resume.") from None
    if size is not None and received != size:
        raise FileFormatError(f"{url}: ended after {received:,} of {size:,} bytes; rerun the command to resume.")


def _check_md5(url: str, part: Path) -> None:
    """Compare a download with the md5 sum that its publisher provides; delete it if they differ."""
    with _request(f"{url}.md5") as response:
        sums = re.findall(r"\b[0-9a-f]{32}\b", response.raw.read(4096).decode("latin-1").lower())
    with open(part, "rb") as stream:
        found = hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
    if found not in sums:
        part.unlink()
        expected = f"not the published {sums[0]}" if sums else "and the publisher's .md5 contains no sum"
        raise FileFormatError(f"{url}: the download has the md5 sum {found}, {expected}; rerun the command.")


def _request(url: str, headers: dict[str, str] | None = None) -> Response:
    """Send a GET request; raise FileFormatError if there is no answer, or one without the file."""
    try:
        headers = {"Accept-Encoding": "identity"} | (headers or {})
        response = requests.get(url, headers=headers, stream=True, timeout=_TIMEOUT)
        if response.ok or response.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            return response
        reason = f"the server responded with {response.status_code} {response.reason}"
    except RequestException as error:
        reason = _get_reason(error)
    raise FileFormatError(
        f"{url}: cannot be downloaded ({reason}); check the connection, or get the file elsewhere and pass it with "
        "--from FILE."
    )


def _get_reason(error: RequestException) -> str:
    """Return the innermost reason, which is the last part of the message."""
    innermost = getattr(error.args[0] if error.args else None, "reason", error)
    return str(innermost).rpartition(": ")[2] or type(error).__name__


def _install(origin: Path, target: Path, source: DatasetSource) -> None:
    """Create the folder of a dataset from a folder, an archive or a file, atomically."""
    for left in target.parent.glob(f".{target.name}.*.part"):  # by an interrupted run
        shutil.rmtree(left)
    temporary = target.parent / f".{target.name}.{secrets.token_hex(4)}.part"
    temporary.mkdir(parents=True)
    try:
        if origin.is_dir():
            found = find_dataset(source.name, origin) or origin
            folder = found if found.is_dir() else found.parent
            for name in source.reader.files:
                if (folder / name).is_file():
                    shutil.copyfile(folder / name, temporary / name)
        else:
            unpack_archive(origin, temporary, source.reader.files, source.max_unpacked_megabytes * 10**6)
        if source.reader.find(temporary) is None:
            raise FileFormatError(
                f"{origin}: contains no {source.reader.name}; looked for {', '.join(source.reader.files)}."
            )
        os.replace(temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
