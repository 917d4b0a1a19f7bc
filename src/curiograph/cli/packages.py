"""Package metadata of curiograph: its dependencies, its extras, and the versions that are installed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata

PURPOSES = {
    "frame": "growth and rankings as pandas tables",
    "plot": "pictures",
    "stats": "mixed-effects models of people",
    "meaning": "similarity of titles and texts",
    "topology": "gaps of dimension 2 and above",
    "train": "training agents (running them needs no extra)",
    "predict": "predicting human choices",
    "als": "implicit ALS in evaluate-recommender",
    "web": "curiograph serve and its page",
    "ray": "many tasks on a cluster",
    "all": "all extras for users",
    "bench": "other libraries for speed comparisons",
    "reproduction": "tables and figures of the paper, in a clone",
    "sb3": "agents of Stable-Baselines3",
    "docs": "building the documentation",
    "test": "running the tests",
}
"""Purpose of each extra, in display order; an extra without an entry is described by its packages."""

_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)\s*(?:\[([^\]]*)\])?([^;]*)")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")
_MIN_VERSION = re.compile(r">=\s*([0-9][0-9.]*)")


@dataclass(frozen=True)
class Package:
    """A package that curiograph uses."""

    name: str
    min_version: str | None
    """The oldest supported version, or None if any version is supported."""
    version: str | None
    """The installed version, or None if the package is not installed."""

    @property
    def too_old(self) -> bool:
        """Whether the installed version is older than the oldest supported one."""
        if self.version is None or self.min_version is None:
            return False
        return _parse_release(self.version) < _parse_release(self.min_version)


@dataclass(frozen=True)
class Extra:
    """A set of optional packages."""

    name: str
    packages: list[Package]

    @property
    def purpose(self) -> str:
        """What the extra is for."""
        return PURPOSES.get(self.name) or f"brings {', '.join(package.name for package in self.packages)}"

    @property
    def missing(self) -> list[str]:
        """Names of its packages that are not installed."""
        return [package.name for package in self.packages if package.version is None]

    @property
    def install(self) -> str:
        """The command that installs it."""
        return f"pip install 'curiograph[{self.name}]'"


@dataclass(frozen=True)
class Installed:
    """Metadata of the installed curiograph."""

    version: str
    packages: list[Package]
    """Required packages."""
    extras: list[Extra]


def read_installed() -> Installed | None:
    """Read the metadata; None if curiograph runs from sources that were not installed."""
    try:
        found = metadata.distribution("curiograph")
    except metadata.PackageNotFoundError:
        return None
    requirements = found.requires or []
    order = list(PURPOSES)
    names = sorted(
        found.metadata.get_all("Provides-Extra") or [],
        key=lambda name: (order.index(name) if name in order else len(order), name),
    )
    extras = [Extra(name, _list_packages(requirements, name)) for name in names]
    return Installed(found.version, _list_packages(requirements, None), extras)


def _list_packages(requirements: list[str], extra: str | None) -> list[Package]:
    """Packages of an extra (None: required packages), sorted by name."""
    packages = {}
    for name, min_version in _parse_requirements(requirements, extra):
        try:
            version: str | None = metadata.version(name)
        except metadata.PackageNotFoundError:
            version = None
        packages[name] = Package(name, min_version, version)
    return [packages[name] for name in sorted(packages)]


def _parse_requirements(requirements: list[str], extra: str | None) -> Iterator[tuple[str, str | None]]:
    """Names and oldest versions of the packages of an extra, including those of the extras that it names."""
    for line in requirements:
        requirement, _, marker = line.partition(";")
        condition = _EXTRA.search(marker)
        parts = _REQUIREMENT.match(requirement.strip())
        if (condition.group(1) if condition else None) != extra or parts is None:
            continue
        name, inner, versions = parts.groups()
        if name == "curiograph":
            for other in (inner or "").split(","):
                yield from _parse_requirements(requirements, other.strip())
            continue
        min_version = _MIN_VERSION.search(versions)
        yield name, min_version.group(1) if min_version else None


def _parse_release(version: str) -> tuple[int, ...]:
    """Leading numbers of a version without trailing zeros: (2, 13) for both 2.13.0+cpu and 2.13."""
    release = re.match(r"[0-9]+(?:\.[0-9]+)*", version)
    numbers = [int(part) for part in release.group().split(".")] if release else []
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)
