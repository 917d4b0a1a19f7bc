"""Progress callbacks, the stages of a job, and the estimate of the remaining time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

_MIN_SHARE = 0.05
"""Share of a job that must be done before its remaining time is estimated."""


class Progress(Protocol):
    """Callback with a description of the current work and, if known, the completed fraction from 0 to 1."""

    def __call__(self, message: str, share: float | None = None) -> None: ...


def no_progress(message: str, share: float | None = None) -> None:
    """Ignore progress updates."""


def split_progress(progress: Progress, sizes: Sequence[float]) -> list[Progress]:
    """Return a callback for each stage of a job, which reports the share of the whole job.

    `sizes` are the relative durations of the stages, roughly. A stage without a share counts as just begun.

    >>> reading, walking = split_progress(lambda message, share: print(message, share), [1, 3])
    >>> reading("reading"), walking("walking", 0.5)
    reading 0.0
    walking 0.625
    (None, None)
    """
    if progress is no_progress:
        return [no_progress] * len(sizes)
    total = sum(sizes) or 1
    return [_Stage(progress, sum(sizes[:number]) / total, size / total) for number, size in enumerate(sizes)]


class _Stage:
    def __init__(self, progress: Progress, begin: float, width: float) -> None:
        self._progress, self._begin, self._width = progress, begin, width

    def __call__(self, message: str, share: float | None = None) -> None:
        self._progress(message, self._begin + self._width * (share or 0.0))


class RemainingTime:
    """Estimates the remaining time of a job from its completed share.

    The speed is measured from the first advance on, because starting takes time of its own: kernels compile, and
    processes start. There is no estimate until 5 % of the job were done at this speed, nor in its last second. A share
    that falls, or is known again after it was unknown, is that of a new job.

    >>> remaining = RemainingTime()
    >>> for seconds, share in [(0, 0.0), (14, 0.01), (15, 0.02), (20, 0.11)]:
    ...     remaining.update(share, seconds)
    >>> remaining.estimate(21)
    52.4
    """

    def __init__(self) -> None:
        self._share: float | None = None
        self._first: tuple[float, float] | None = None
        self._last: tuple[float, float] = 0.0, 0.0

    def update(self, share: float | None, now: float) -> None:
        """Record the share at a time in seconds."""
        if share is None or self._share is None or share < self._share:
            self._first = None
        elif share > self._share:
            self._last = now, share
            self._first = self._first or self._last
        self._share = share

    def estimate(self, now: float) -> float | None:
        """Return the seconds that remain, or None if they cannot be estimated yet or are less than one."""
        if self._first is None or self._last[1] - self._first[1] < _MIN_SHARE:
            return None
        begin, end = self._first, self._last
        seconds = (end[0] - begin[0]) / (end[1] - begin[1]) * (1 - end[1]) - (now - end[0])
        return seconds if seconds >= 1 else None


def format_seconds(seconds: float) -> str:
    """Format a duration with a suitable unit.

    >>> format_seconds(20), format_seconds(200), format_seconds(20_000)
    ('20 s', '3 min', '5.6 h')
    """
    if seconds >= 5400:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
