"""How a kernel is compiled: lazily, without the interpreter lock, cached between runs.

numba keys its cache by the file that holds a function and so misses changes in the kernels it calls. Our cache folder
carries a digest of all kernel sources instead, which also keeps it out of a read-only install.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba

Kernel = Callable[..., Any]


def kernel(function: Kernel) -> Any:
    """Compile `function` on its first call; later processes read the machine code from the cache."""
    dispatcher: Any = numba.njit(nogil=True)(function)
    folder = get_cache_folder()
    if folder is None:
        return dispatcher
    config: Any = numba.config
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
    try:
        dispatcher.enable_caching()
        dispatcher._cache = _Cache(dispatcher._cache)
    except RuntimeError:  # no place to keep anything, as on a disk without room for one more file
        _warn(folder)
    finally:
        config.CACHE_DIR = before
    return dispatcher


class _Cache:
    """numba's cache of one kernel, whose files may be damaged, and whose disk may be full: neither stops the work."""

    def __init__(self, kept: Any) -> None:
        self._kept = kept

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kept, name)

    def load_overload(self, *what: Any) -> Any:
        """Machine code from the cache; None where there is none, or none that can be read."""
        try:
            return self._kept.load_overload(*what)
        except Exception:  # garbage fails in as many ways as unpickling knows
            with suppress(Exception):
                self._kept.flush()  # begin a new list, so that what is compiled now is kept
            return None

    def save_overload(self, *what: Any) -> None:
        """Keep machine code, where that is possible."""
        try:
            self._kept.save_overload(*what)
        except OSError:
            _warn(Path(self._kept.cache_path).parent)


@cache
def _warn(folder: Path) -> None:
    warnings.warn(
        f"curiograph cannot write its kernel cache to {folder}: kernels compile again in every process "
        "(about 30 s). Set NUMBA_CACHE_DIR to a folder you can write.",
        stacklevel=2,
    )


@cache
def get_cache_folder() -> Path | None:
    """Folder of the compiled kernels, or None where nothing can be written: they then compile in every process."""
    base = os.environ.get("NUMBA_CACHE_DIR")
    if not base:  # empty means unset
        base = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "curiograph")
    folder = Path(base) / f"kernels-{_digest()}"
    if base.startswith("~"):  # of somebody without a home
        _warn(folder)
        return None
    try:
        fresh = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        usable = os.access(folder, os.W_OK)
    except OSError:
        usable = False
    if not usable:
        _warn(folder)
        return None
    if fresh and not os.environ.get("CURIOGRAPH_QUIET"):
        print(
            "curiograph: compiling kernels for this machine, once (`curiograph warmup` does it ahead of time)",
            file=sys.stderr,
        )
    return folder


def _digest() -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    digest.update(f"{numba.__version__} {sys.version_info[:3]} {platform.machine()}".encode())
    return digest.hexdigest()[:16]
