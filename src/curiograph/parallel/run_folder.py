"""Run folders: one job at a time."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from curiograph.errors import SettingError
from curiograph.files import PathLike, as_path
from curiograph.messages import shorten_text

_PATIENCE = 3.0  # seconds in which the workers of a killed job notice that it has ended


@contextmanager
def lock_run_folder(folder: PathLike) -> Iterator[Path]:
    """Create a folder and lock it against other jobs; the thread that holds the lock may lock it again.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as made, lock_run_folder(made) as folder:
    ...     sorted(path.name for path in folder.iterdir())
    ['lock', 'lock.owner']
    """
    path = as_path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = FileLock(os.path.realpath(path / "lock"), is_singleton=True)
        nested = lock.is_locked
        lock.acquire(timeout=_PATIENCE, poll_interval=0.1)
    except Timeout:
        try:
            owner = shorten_text((path / "lock.owner").read_text(errors="replace")[:200])
        except OSError:
            owner = "another process"
        raise SettingError(
            f"{folder}: {owner} is working there; wait for it to end, or choose another folder."
        ) from None
    except (OSError, NotImplementedError) as error:  # no such place, or a file system without locks
        reason = getattr(error, "strerror", None) or str(error)
        raise SettingError(f"cannot work in {folder}: {reason}; choose another folder.") from None
    try:
        if not nested:
            with suppress(OSError):  # a full disk must not stop a job that only reads its results
                (path / "lock.owner").write_text(f"process {os.getpid()} on {socket.gethostname()}")
        yield path
    finally:
        lock.release()
