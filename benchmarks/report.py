"""Results of the speed benchmarks: comparisons with other libraries and with fixed limits, as rows of a table."""

from __future__ import annotations

import os
import platform
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

COLUMNS = ("what", "size", "ours", "peer", "peer's", "ratio", "target")
_PACKAGES = ("curiograph", "numpy", "numba", "scipy", "networkx", "ripser", "gudhi", "igraph", "torch")


@dataclass(frozen=True)
class Result:
    """A row of the report; times in seconds."""

    what: str
    size: str
    ours: float | None = None
    """Our time."""
    peer: str = ""
    """Name of the library or limit that is compared with."""
    peers: float | None = None
    """Time of the peer."""
    ratio: float | None = None
    """Time of the peer divided by ours."""
    target: float | None = None
    """Value that the ratio should reach; None if there is no target."""
    note: str = ""
    """Text shown instead of our time."""


def compare_with_peer(
    what: str, size: str, ours: float, peer: str, peers: float, target: float | None = None
) -> Result:
    """Create the row of a comparison with the time of another library."""
    return Result(what, size, ours=ours, peer=peer, peers=peers, ratio=peers / ours, target=target)


def compare_with_limit(what: str, size: str, ours: float, limit: float) -> Result:
    """Create the row of a comparison with the time that is allowed."""
    return compare_with_peer(what, size, ours, "allowed", limit, target=1.0)


@dataclass
class Report:
    """All results of a run, and the machine it ran on."""

    machine: dict[str, Any]
    seed: int
    results: list[Result] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """Names of peers that are not installed."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "machine": self.machine,
            "seed": self.seed,
            "missing_peers": self.missing,
            "results": [asdict(result) for result in self.results],
        }

    def list_rows(self) -> list[tuple[Any, ...]]:
        """Rows of the table."""
        return [
            (
                result.what,
                result.size,
                format_seconds(result.ours) if result.ours is not None else result.note,
                result.peer,
                format_seconds(result.peers) if result.peers is not None else "",
                format_ratio(result.ratio) if result.ratio is not None else "",
                f"{result.target:,.3g}" if result.target is not None else "",
            )
            for result in self.results
        ]

    def list_remarks(self) -> list[str]:
        """Missing peers, and the machine."""
        remarks = []
        for name in self.missing:
            extra = "train" if name == "torch" else "bench"
            remarks.append(f"{name} is not installed, so it was not measured: pip install 'curiograph[{extra}]'")
        return [*remarks, ", ".join(f"{name} {value}" for name, value in self.machine.items())]


def describe_machine() -> dict[str, Any]:
    """Return the processor, the system and the versions of the packages."""
    processor = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        processor = models[0].partition(":")[2].strip() if models else processor
    versions = {}
    for name in _PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        **versions,
    }


def format_ratio(value: float) -> str:
    """Format a ratio with three significant digits.

    >>> format_ratio(1234.5), format_ratio(1.2345)
    ('1,234', '1.23')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def format_seconds(value: float) -> str:
    """Format a time with its unit.

    >>> format_seconds(2.5), format_seconds(0.00125)
    ('2.5 s', '1.25 ms')
    """
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"
