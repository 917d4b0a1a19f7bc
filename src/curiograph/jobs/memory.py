"""What a job will need, and whether it fits, before it begins."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from curiograph.errors import SettingError
from curiograph.graph.storage import in_units

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
    """Of all results together, in memory and, where they are kept, on disk."""
    shared: int = 0
    """Of what all tasks share: once in every machine."""
    way_out: str = "give it in parts"
    """What to do where it does not fit."""

    def total(self, workers: int) -> int:
        """With so many workers on this machine."""
        processes = 0 if workers == 1 else workers * PROCESS
        return processes + workers * self.task + self.results + self.shared


def check_memory(need: Need, workers: int) -> None:
    """Raise where a job cannot fit into this machine's memory, with the way out."""
    free = available()
    if free is None or need.total(workers) <= free:
        return
    fitting = next((fewer for fewer in range(workers - 1, 0, -1) if need.total(fewer) <= free), None)
    way_out = f"use at most {fitting} workers" if fitting else need.way_out
    raise SettingError(
        f"this needs about {in_units(need.total(workers))} of memory with {workers} workers, and {in_units(free)} are "
        f"free; {way_out}."
    )


def check_disk(need: Need, folder: Path) -> None:
    """Raise where the results of a job cannot be kept in its folder."""
    free = shutil.disk_usage(folder).free
    if need.results > free:
        raise SettingError(
            f"{folder}: about {in_units(need.results)} would be kept there, and {in_units(free)} are free; "
            "choose a folder on a larger disk."
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
