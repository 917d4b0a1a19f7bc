"""How long work tells what it is doing."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called with what is being done and, where it is known, the share of it that is done, from 0 to 1."""

    def __call__(self, message: str, share: float | None = None) -> None: ...


def format_seconds(seconds: float) -> str:
    """Seconds as people say them.

    >>> format_seconds(20), format_seconds(200), format_seconds(20_000)
    ('20 s', '3 min', '5.6 h')
    """
    if seconds >= 5400:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def no_progress(message: str, share: float | None = None) -> None:
    """Tell nobody."""
