"""A folder that one job works in."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from curiograph.errors import SettingError
from curiograph.files import PathLike, as_path
from curiograph.messages import shorten_text

_LOCK = "lock"
_PATIENCE = 3.0  # seconds in which the workers of a killed job notice that it is gone
_held: set[tuple[str, int]] = set()


@contextmanager
def lock_run_folder(folder: PathLike) -> Iterator[Path]:
    """Make a folder and hold it: a second job in it is refused. What holds it already may hold it again.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as made, lock_run_folder(made) as folder:
    ...     sorted(path.name for path in folder.iterdir())
    ['lock']
    """
    path = as_path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
        key = (os.path.realpath(path), threading.get_ident())
        lock = None if key in _held else open(path / _LOCK, "a+")  # noqa: SIM115 - held below
    except OSError as error:
        raise SettingError(f"cannot work in {folder}: {error.strerror}; choose another folder.") from None
    if lock is None:
        yield path
        return
    with lock:
        _hold(lock, path)
        _held.add(key)
        try:
            yield path
        finally:
            _held.discard(key)


def _hold(lock: IO[str], folder: Path) -> None:
    try:
        import fcntl
    except ImportError:  # not on this system
        return
    begun = time.monotonic()
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() - begun > _PATIENCE:
                lock.seek(0)
                who = shorten_text(lock.read(200)) or "another process"
                raise SettingError(
                    f"{folder}: {who} is working there; wait for it to end, or choose another folder."
                ) from None
            time.sleep(0.1)
        except OSError as error:  # a file system without locks
            raise SettingError(f"cannot work alone in {folder}: {error.strerror}; choose another folder.") from None
    with suppress(OSError):  # on a full disk it stays unsaid who works here
        os.ftruncate(lock.fileno(), 0)
        os.write(lock.fileno(), f"process {os.getpid()} on {socket.gethostname()}".encode())
