"""Progress callbacks."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Callback with a description of the current work and, if known, the completed fraction from 0 to 1."""

    def __call__(self, message: str, share: float | None = None) -> None: ...


def format_seconds(seconds: float) -> str:
    """Format a duration with a suitable unit.

    >>> format_seconds(20), format_seconds(200), format_seconds(20_000)
    ('20 s', '3 min', '5.6 h')
    """
    if seconds >= 5400:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def no_progress(message: str, share: float | None = None) -> None:
    """Ignore progress updates."""
