"""Progress callbacks, and those of the stages of a job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


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
    total = sum(sizes) or 1

    def make_stage(begin: float, width: float) -> Progress:
        return lambda message, share=None: progress(message, (begin + width * (share or 0.0)) / total)

    return [make_stage(sum(sizes[:number]), size) for number, size in enumerate(sizes)]
