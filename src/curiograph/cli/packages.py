"""What the package metadata says of curiograph: what it needs, what each extra brings, and what of it is installed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata

PURPOSES = {
    "frame": "growth and rankings as pandas tables",
    "plot": "pictures",
    "topology": "gaps of dimension 2 and above",
    "train": "training agents; acting needs none of it",
    "predict": "predicting the choices of people",
    "web": "curiograph serve and its page",
    "ray": "many tasks on a cluster",
    "all": "everything that a user may want",
    "bench": "other libraries to compare speed with",
    "sb3": "agents of Stable-Baselines3",
    "docs": "building the documentation",
    "test": "running the tests",
}
"""In the order in which people meet them; an extra without an entry is shown with the packages that it brings."""

_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)\s*(?:\[([^\]]*)\])?([^;]*)")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")
_LEAST = re.compile(r">=\s*([0-9][0-9.]*)")


@dataclass(frozen=True)
class Package:
    """A package that curiograph uses."""

    name: str
    least: str | None
    """The oldest version that will do."""
    version: str | None
    """The version that is installed, if any."""

    @property
    def too_old(self) -> bool:
        """Whether it is installed, but in a version that will not do."""
        return self.version is not None and self.least is not None and _numbers(self.version) < _numbers(self.least)


@dataclass(frozen=True)
class Extra:
    """A set of optional packages."""

    name: str
    packages: list[Package]

    @property
    def purpose(self) -> str:
        """What it is for."""
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
    """Curiograph as it was installed."""

    version: str
    packages: list[Package]
    """What it cannot do without."""
    extras: list[Extra]


def read_installed() -> Installed | None:
    """What the metadata says, or None where curiograph runs from its sources without having been installed."""
    try:
        found = metadata.distribution("curiograph")
    except metadata.PackageNotFoundError:
        return None
    lines = found.requires or []
    names = sorted(found.metadata.get_all("Provides-Extra") or [], key=_place)
    extras = [Extra(name, _packages(lines, name)) for name in names]
    return Installed(found.version, _packages(lines, None), extras)


def _place(name: str) -> tuple[int, str]:
    known = list(PURPOSES)
    return known.index(name) if name in known else len(known), name


def _packages(lines: list[str], extra: str | None) -> list[Package]:
    named = {name: Package(name, least, _version(name)) for name, least in _wanted(lines, extra)}
    return [named[name] for name in sorted(named)]


def _wanted(lines: list[str], extra: str | None) -> Iterator[tuple[str, str | None]]:
    """Packages that an extra brings, those of the extras that it names included; None: what is always needed."""
    for line in lines:
        requirement, _, marker = line.partition(";")
        of = _EXTRA.search(marker)
        if (of.group(1) if of else None) != extra:
            continue
        parts = _REQUIREMENT.match(requirement.strip())
        if parts is None:
            continue
        name, inner, versions = parts.groups()
        if name == "curiograph":
            for other in (inner or "").split(","):
                yield from _wanted(lines, other.strip())
            continue
        least = _LEAST.search(versions)
        yield name, least.group(1) if least else None


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version, without zeros at the end: 2.13.0+cpu is (2, 13), as is 2.13."""
    release = re.match(r"[0-9]+(?:\.[0-9]+)*", version)
    numbers = [int(part) for part in release.group().split(".")] if release else []
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)
