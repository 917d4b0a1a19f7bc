"""How long work tells what it is doing."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called with what is being done and, where it is known, the share of it that is done, from 0 to 1."""

    def __call__(self, message: str, share: float | None = None) -> None: ...


def silent(message: str, share: float | None = None) -> None:
    """Tell nobody."""
