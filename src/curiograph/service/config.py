"""Limits on what one client may request, so that the service stays fast for the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from curiograph.errors import SettingError
from curiograph.service.errors import TooLargeError
from curiograph.validation import check_integer


@dataclass(frozen=True)
class Limits:
    """Limits of requests; the error for a request beyond one of them gives the limit.

    >>> Limits(steps=0)
    Traceback (most recent call last):
    curiograph.errors.SettingError: steps is 0; a limit is a whole number, 1 or more.
    """

    upload_bytes: int = 16 * 2**20
    """Maximum size of an uploaded graph."""
    body_bytes: int = 2 * 2**20
    """Maximum size of any other request."""
    nodes: int = 200_000
    """Maximum number of nodes of an uploaded graph."""
    edges: int = 2_000_000
    """Maximum number of edges of an uploaded graph."""
    uploads: int = 16
    """Uploaded graphs kept; a further upload replaces the least recently used one."""
    steps: int = 500
    """Maximum number of nodes of a walk."""
    walks: int = 1_000
    """Maximum number of walks or histories in one request."""
    k: int = 1_000
    """Maximum number of nodes listed in one response."""
    beam: int = 256
    """Maximum width of a beam."""
    parts: int = 20_000_000
    """Numbers kept per graph that were prepared while answering requests: a quarter of a gigabyte. Numbers prepared by
    jobs or read from a file do not count."""
    running: int = 64
    """Maximum number of requests that compute, or wait for a thread or a process."""
    jobs: int = 2
    """Jobs that run at the same time."""
    kept_jobs: int = 64
    """Waiting, running and finished jobs that are kept."""
    seconds: int = 30
    """Maximum time to answer a request."""
    job_seconds: int = 3600
    """Maximum time of a job; jobs that prepare recommendations have no limit."""

    def __post_init__(self) -> None:
        for field in fields(self):
            check_integer(field.name, getattr(self, field.name), 1, "a limit is a whole number, 1 or more")

    def check_count(self, name: str, value: int, maximum: int) -> None:
        """Raise if a number of a request exceeds its limit."""
        if value > maximum:
            raise SettingError(f"{name} is {value:,}; at most {maximum:,} is allowed here.")

    def check_walks(self, walks: Sequence[Sequence[object]]) -> None:
        """Raise if there are too many walks, or if one is too long."""
        if len(walks) > self.walks:
            raise TooLargeError(f"there are {len(walks):,} walks or histories; at most {self.walks:,} are allowed.")
        longest = max(map(len, walks), default=0)
        if longest > self.steps:
            raise TooLargeError(f"a walk or history has {longest:,} entries; at most {self.steps:,} are allowed.")

    def check_ranking(self, k: int, history: Sequence[object] | None) -> None:
        """Raise if a ranking would be too long, or if its history is."""
        self.check_count("k", k, self.k)
        self.check_walks([history or []])

    def check_seconds(self, seconds: float, advice: str) -> None:
        """Raise if work would take longer than the time limit, before it starts."""
        if seconds > self.seconds:
            raise SettingError(
                f"this would take about {seconds:,.0f} s, and a request may take {self.seconds}; {advice}."
            )
