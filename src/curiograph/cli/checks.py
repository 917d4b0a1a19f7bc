"""What `curiograph doctor` looks at: each check tells what it found, and adds the problems that it sees."""

from __future__ import annotations

import os
import platform
import warnings
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import curiograph
from curiograph.cli.packages import Installed, read_installed
from curiograph.errors import CuriographError

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
_OLDER = 10  # folders of kernels of other versions that are worth no remark
_GAPS, _BITS = 2, 0.8908126465984033  # of the toy graph `library`, by the slow twins


@dataclass
class DoctorReport:
    """What was found."""

    versions: dict[str, str | None] = field(default_factory=dict)
    """Of Python, curiograph and the packages that it uses; None where one is not installed."""
    machine: dict[str, Any] = field(default_factory=dict)
    extras: list[dict[str, Any]] = field(default_factory=list)
    kernels: dict[str, Any] = field(default_factory=dict)
    """The cache of compiled kernels, and whether kernels compute what they should."""
    data: dict[str, Any] = field(default_factory=dict)
    agents: dict[str, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    """Sentences that say what is wrong and the way out."""
    remarks: list[str] = field(default_factory=list)
    """Sentences on what could be better, with nothing wrong."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def run_checks() -> DoctorReport:
    """Look at everything; slow only where kernels have to be compiled."""
    found = DoctorReport()
    check_packages(found, read_installed())
    check_machine(found)
    check_kernels(found)
    check_data(found)
    check_agents(found)
    return found


def check_packages(found: DoctorReport, about: Installed | None) -> None:
    """Versions and extras; nothing of it is imported."""
    found.versions = {"python": platform.python_version(), "curiograph": curiograph.__version__}
    if about is None:
        found.problems.append(
            "curiograph is not installed, only found among sources, so its extras are unknown: "
            "run pip install -e . in the folder of its pyproject.toml."
        )
        return
    if about.version != curiograph.__version__:
        found.problems.append(
            f"the sources are curiograph {curiograph.__version__}, but {about.version} was installed: install it again."
        )
    optional = {package.name: package for extra in about.extras for package in extra.packages}
    everything = {package.name: package for package in about.packages} | optional
    found.versions |= {name: package.version for name, package in everything.items()}
    for package in about.packages:
        if package.version is None:
            found.problems.append(f"{package.name} is missing: pip install {package.name}.")
    for package in everything.values():
        if package.too_old:
            found.problems.append(
                f"{package.name} {package.version} is too old, {package.least} or newer is needed: "
                f"pip install '{package.name}>={package.least}'."
            )
    for extra in about.extras:
        missing = extra.missing
        row = {"name": extra.name, "purpose": extra.purpose, "installed": not missing, "missing": missing}
        found.extras.append(row | {"install": extra.install})


def check_machine(found: DoctorReport) -> None:
    """Platform, cores, memory, and threads that are more than the cores."""
    cores = _usable_cores()
    found.machine = {
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "usable_cores": cores,
        "memory_bytes": _memory(),
        "threads": {name: os.environ[name] for name in _THREADS if name in os.environ},
    }
    for name, text in found.machine["threads"].items():
        if text.isdecimal() and int(text) > cores:
            found.problems.append(
                f"{name} is {text}, but {cores} cores may be used, so that threads wait for each other: "
                f"set {name}={cores} or less, or unset it."
            )


def _usable_cores() -> int:
    """Cores that this process may run on: fewer than there are in many containers."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not on every platform
        return None


def check_kernels(found: DoctorReport) -> None:
    """Where compiled kernels are kept, whether they are there yet, and whether they compute what they should."""
    found.kernels = {"folder": None, "bytes": 0, "compiled": 0, "older_folders": 0, "correct": False}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found.kernels |= _kernel_cache()
            gaps, bits = _computed()
        except Exception as error:  # numba may fail in any way where it does not fit python, numpy or the processor
            found.problems.append(
                f"kernels do not run ({type(error).__name__}: {error}): pip install --upgrade --force-reinstall numba."
            )
            return
    found.problems += [str(each.message) for each in said if "kernel cache" in str(each.message)]
    found.kernels["correct"] = gaps == _GAPS and abs(bits - _BITS) < 1e-9
    if not found.kernels["correct"]:
        found.problems.append(
            f"kernels compute {gaps} gaps and {bits:.6f} bits for toy:library instead of {_GAPS} and {_BITS:.6f}: "
            f"delete the folder {found.kernels['folder']}, and report it if that does not help."
        )
    if found.kernels["older_folders"] > _OLDER:
        found.remarks.append(
            f"{found.kernels['older_folders']} folders of kernels of other versions lie beside "
            f"{found.kernels['folder']}; they may be deleted."
        )
    if found.kernels["folder"] and not found.kernels["compiled"]:
        found.remarks.append(
            "kernels were not compiled yet, so first calls are slow; `curiograph warmup` compiles all."
        )


def _kernel_cache() -> dict[str, Any]:
    from curiograph import kernels

    folder = kernels.jit.get_cache_folder()
    if folder is None:
        return {}
    ours = Path(kernels.csr.has_edge.stats.cache_path)  # numba makes a folder in it for each copy of the sources
    older = len([other for other in folder.parent.glob("kernels-*") if other != folder])
    compiled = len(list(ours.glob("*.nbi")))
    return {"folder": str(folder), "bytes": _bytes(folder), "compiled": compiled, "older_folders": older}


def _bytes(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):  # other processes replace files in it
            total += path.stat().st_size
    return total


def _computed() -> tuple[int, float]:
    from curiograph.graph.toys import library
    from curiograph.rewards.rate_distortion import compressibility
    from curiograph.rewards.topology import betti

    return int(betti(library(), dim=1)), float(compressibility(library()))


def check_data(found: DoctorReport) -> None:
    """Folders that data sets are looked for in, and what is there."""
    from curiograph.human.data.load import find_dataset, get_cache_folder
    from curiograph.human.data.registry import READERS, SOURCES

    given = os.environ.get("CURIOGRAPH_DATA")
    try:
        cache = get_cache_folder()
    except CuriographError as error:
        found.data = {"CURIOGRAPH_DATA": given, "cache": None, "writable": False, "found": {}}
        found.problems.append(str(error))
        return
    found.data = {"CURIOGRAPH_DATA": given, "cache": str(cache), "writable": _writable(cache), "found": {}}
    if given and not Path(given).is_dir():
        found.problems.append(f"CURIOGRAPH_DATA is {given}, where there is no folder: make it, or unset the variable.")
    if not found.data["writable"]:
        found.problems.append(
            f"data sets cannot be kept in {cache}, which cannot be written to: set XDG_CACHE_HOME to a folder that "
            "can, or give one with curiograph data get --cache DIR."
        )
    for name in dict.fromkeys([*READERS, *SOURCES]):
        try:
            place = find_dataset(name)
        except CuriographError as error:
            found.problems.append(f"data set {name}: {error}")
            continue
        if place is not None:
            found.data["found"][name] = str(place)


def _writable(folder: Path) -> bool:
    """Whether a folder can be written to, or made."""
    present = next((path for path in (folder, *folder.absolute().parents) if path.exists()), None)
    return present is not None and present.is_dir() and os.access(present, os.W_OK)


def check_agents(found: DoctorReport) -> None:
    """Whether the shipped agents can be read."""
    from curiograph.agents.pretrained import load_agent, shipped_agents

    names, broken = shipped_agents(), []
    for name in names:
        try:
            load_agent(name)
        except CuriographError as error:
            broken.append(name)
            found.problems.append(
                f"shipped agent {name} is broken: {error} Get it anew: pip install --force-reinstall curiograph."
            )
    found.agents = {"shipped": len(names), "broken": broken}
    if not names:
        found.problems.append("there is no shipped agent: pip install --force-reinstall curiograph.")
