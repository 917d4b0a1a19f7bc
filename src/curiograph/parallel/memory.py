"""Available memory, and checks before it runs out."""

from __future__ import annotations

from pathlib import Path

import psutil

from curiograph.errors import SettingError
from curiograph.messages import format_bytes

_CGROUP = Path("/sys/fs/cgroup")


def get_available_memory() -> int:
    """Return the bytes that this process may still allocate, within the limit of its container if it has one."""
    available = int(psutil.virtual_memory().available)
    try:
        limit = int((_CGROUP / "memory.max").read_text())  # "max" means no limit and raises ValueError
        used = int((_CGROUP / "memory.current").read_text())
        statistics = dict(line.split() for line in (_CGROUP / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):
        return available
    return min(available, limit - used + int(statistics.get("inactive_file", 0)))  # inactive pages can be reclaimed


def check_memory(size: float, fix: str) -> None:
    """Raise SettingError if `size` bytes are not available; `fix` says what the user can do.

    >>> check_memory(2**60, "rank fewer histories at a time")
    Traceback (most recent call last):
    curiograph.errors.SettingError: this needs about 1073741824.0 GiB of memory, and ... is available; rank fewer ...
    """
    available = get_available_memory()
    if size > available:
        raise SettingError(
            f"this needs about {format_bytes(size)} of memory, and {format_bytes(available)} is available; {fix}."
        )
