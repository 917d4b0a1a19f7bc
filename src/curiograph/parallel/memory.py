"""What a job will need, and whether it fits, before it begins."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from curiograph.errors import SettingError
from curiograph.messages import format_bytes
from curiograph.progress import format_seconds

PROCESS = 220 * 2**20
"""Bytes that a worker takes before its first task: Python, numpy, scipy and compiled kernels."""

_GROUP = Path("/sys/fs/cgroup")
_SYSTEM = Path("/proc/meminfo")


@dataclass(frozen=True)
class Need:
    """Bytes that a job takes, as estimated from its inputs."""

    task: int = 0
    """While a task runs."""
    results: int = 0
    """Of all results together, in memory."""
    kept: int | None = None
    """Of all results together, on disk; as in memory where it is None."""
    shared: int = 0
    """Of what all tasks share: once in every machine."""
    way_out: str = "give it in parts"
    """What to do where it does not fit."""
    seconds: float | None = None
    """Of one processor, for all tasks; None where only the first tasks can tell."""

    def total(self, workers: int) -> int:
        """With so many workers on this machine."""
        processes = 0 if workers == 1 else workers * PROCESS
        return processes + workers * self.task + self.results + self.shared

    def estimate(self, workers: int) -> str:
        """What it takes, for whoever waits.

        >>> Need(task=2**30, seconds=600).estimate(workers=2)
        'about 5 min with 2 workers, 2.4 GiB of memory at most'
        """
        took = "" if self.seconds is None else f"about {format_seconds(self.seconds / workers)} "
        return (
            f"{took}with {workers} worker{'s' * (workers > 1)}, {format_bytes(self.total(workers))} of memory at most"
        )


def check_memory(need: Need, workers: int) -> None:
    """Raise where a job cannot fit into this machine's memory, with the way out."""
    free = available()
    if free is None or need.total(workers) <= free:
        return
    fitting = fitting_workers(need, workers)
    fewer = f"use at most {fitting} worker{'s' * (fitting > 1)}"
    way_out = fewer if need.total(fitting) <= free else need.way_out
    by = "" if workers == 1 else f" with {workers} workers"
    raise SettingError(
        f"this needs about {format_bytes(need.total(workers))} of memory{by}, and {format_bytes(free)} are free; {way_out}."
    )


def fitting_workers(need: Need, most: int) -> int:
    """So many workers that they fit into this machine's memory, but one at least."""
    free = available()
    fits = (workers for workers in range(most, 1, -1) if free is None or need.total(workers) <= free)
    return next(fits, 1)


def check_disk(need: Need, folder: Path, share: float = 1.0) -> None:
    """Raise where the results of this share of a job cannot be kept in its folder."""
    size = share * (need.results if need.kept is None else need.kept)
    free = shutil.disk_usage(folder).free
    if size > free:
        raise SettingError(
            f"{folder}: about {format_bytes(size)} more would be kept there, and only {format_bytes(free)} are free; make "
            "room, or choose a folder on a larger disk."
        )


def available() -> int | None:
    """Bytes of memory that this process may still take; None where the system does not say."""
    found = [free for free in (_of_system(), _of_group()) if free is not None]
    return min(found, default=None)


def _of_system() -> int | None:
    try:
        lines = _SYSTEM.read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)


def _of_group() -> int | None:
    """What the limit of a container leaves; file pages that the system would give up do not count."""
    try:
        limit = int((_GROUP / "memory.max").read_text())  # "max" is no number: there is no limit
        used = int((_GROUP / "memory.current").read_text())
        given_up = [int(line.split()[1]) for line in (_GROUP / "memory.stat").read_text().splitlines()
                    if line.startswith("inactive_file ")]  # fmt: skip
    except (OSError, ValueError):
        return None
    return limit - used + sum(given_up)
