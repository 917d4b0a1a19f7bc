"""What one client may ask of a service, so that it stays quick for the others."""

from __future__ import annotations

from dataclasses import dataclass, fields

from curiograph.validation import check_integer


@dataclass(frozen=True)
class Limits:
    """Bounds on requests; whatever lies beyond is refused with the bound.

    >>> Limits(steps=0)
    Traceback (most recent call last):
    curiograph.errors.SettingError: steps is 0; a limit is a whole number, 1 or more.
    """

    upload_bytes: int = 16 * 2**20
    """Size of an uploaded graph."""
    body_bytes: int = 2 * 2**20
    """Size of any other request."""
    nodes: int = 200_000
    """Nodes of an uploaded graph."""
    edges: int = 2_000_000
    """Edges of an uploaded graph."""
    uploads: int = 16
    """Uploaded graphs kept; the one that was not used for longest makes room."""
    steps: int = 500
    """Nodes of a walk."""
    walks: int = 1_000
    """Walks or histories in one request."""
    k: int = 1_000
    """Nodes listed in one answer."""
    beam: int = 256
    """Width of a beam."""
    parts: int = 20_000_000
    """Numbers kept for each graph of what recommendations found out on the way: a quarter of a gigabyte."""
    running: int = 64
    """Requests that compute or wait for it."""
    jobs: int = 2
    """Jobs that run at once."""
    kept_jobs: int = 64
    """Jobs waiting, running or finished that are remembered."""
    seconds: int = 30
    """Time for the answer to a request."""

    def __post_init__(self) -> None:
        for each in fields(self):
            check_integer(each.name, getattr(self, each.name), 1, "a limit is a whole number, 1 or more")
