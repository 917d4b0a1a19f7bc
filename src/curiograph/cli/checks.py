"""Checks of `curiograph doctor`: each one fills a section of the report and adds the problems that it finds."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import curiograph
from curiograph.cli.packages import Installed, read_installed
from curiograph.errors import CuriographError
from curiograph.validation import resolve_workers

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
_MAX_OLD_CACHES = 10  # kernel caches of other versions that need no remark
_EXPECTED_GAPS, _EXPECTED_BITS = 2, 0.8908126465984033  # of toy:library, by the reference implementations


@dataclass
class DoctorReport:
    """State of the installation."""

    versions: dict[str, str | None] = field(default_factory=dict)
    """Versions of Python, curiograph and the packages it uses; None if a package is not installed."""
    machine: dict[str, Any] = field(default_factory=dict)
    """Platform, cores, memory and thread settings."""
    extras: list[dict[str, Any]] = field(default_factory=list)
    """Name, purpose and missing packages of each extra."""
    kernels: dict[str, Any] = field(default_factory=dict)
    """The cache of compiled kernels, and whether the kernels return correct values."""
    data: dict[str, Any] = field(default_factory=dict)
    """Folders of datasets and the datasets found in them."""
    agents: dict[str, Any] = field(default_factory=dict)
    """Number of shipped agents, and the names of those that cannot be read."""
    problems: list[str] = field(default_factory=list)
    """Problems, each with its solution."""
    remarks: list[str] = field(default_factory=list)
    """Possible improvements that are not problems."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def run_checks() -> DoctorReport:
    """Run all checks; slow only if kernels have to be compiled."""
    report = DoctorReport()
    check_packages(report, read_installed())
    check_machine(report)
    check_kernels(report)
    check_data(report)
    check_agents(report)
    return report


def check_packages(report: DoctorReport, installed: Installed | None) -> None:
    """Check versions and extras from metadata, without importing any package."""
    report.versions = {"python": platform.python_version(), "curiograph": curiograph.__version__}
    if installed is None:
        report.problems.append(
            "curiograph is not installed, only found among sources, so its extras are unknown: "
            "run pip install -e . in the folder of its pyproject.toml."
        )
        return
    if installed.version != curiograph.__version__:
        report.problems.append(
            f"the sources are curiograph {curiograph.__version__}, but {installed.version} was installed: "
            "install it again."
        )
    packages = {package.name: package for package in installed.packages}
    packages |= {package.name: package for extra in installed.extras for package in extra.packages}
    report.versions |= {name: package.version for name, package in packages.items()}
    for package in installed.packages:
        if package.version is None:
            report.problems.append(f"{package.name} is missing: pip install {package.name}.")
    for package in packages.values():
        if package.too_old:
            report.problems.append(
                f"{package.name} {package.version} is too old, {package.min_version} or newer is needed: "
                f"pip install '{package.name}>={package.min_version}'."
            )
    for extra in installed.extras:
        report.extras.append(
            {
                "name": extra.name,
                "purpose": extra.purpose,
                "installed": not extra.missing,
                "missing": extra.missing,
                "install": extra.install,
            }
        )


def check_machine(report: DoctorReport) -> None:
    """Check platform, cores, memory, and whether threads outnumber the cores."""
    cores = resolve_workers(None)
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not on every platform
        memory = None
    report.machine = {
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "usable_cores": cores,
        "memory_bytes": memory,
        "threads": {name: os.environ[name] for name in _THREAD_VARIABLES if name in os.environ},
    }
    for name, text in report.machine["threads"].items():
        if text.isdecimal() and int(text) > cores:
            report.problems.append(
                f"{name} is {text}, but {cores} cores may be used, so that threads wait for each other: "
                f"set {name}={cores} or less, or unset it."
            )


def check_kernels(report: DoctorReport) -> None:
    """Check the cache of compiled kernels, and that the kernels return correct values."""
    report.kernels = {"folder": None, "bytes": 0, "compiled": 0, "older_folders": 0, "correct": False}
    try:
        report.kernels |= _describe_kernel_cache()
        gaps, bits = _compute_toy_values()
    except Exception as error:  # numba fails in many ways if it does not fit Python, numpy or the processor
        report.problems.append(
            f"kernels do not run ({type(error).__name__}: {error}): pip install --upgrade --force-reinstall numba."
        )
        return
    folder = report.kernels["folder"]
    report.kernels["correct"] = gaps == _EXPECTED_GAPS and abs(bits - _EXPECTED_BITS) < 1e-9
    if not report.kernels["correct"]:
        report.problems.append(
            f"kernels compute {gaps} gaps and {bits:.6f} bits for toy:library instead of {_EXPECTED_GAPS} and "
            f"{_EXPECTED_BITS:.6f}: delete the folder {folder}, and report the problem if that does not help."
        )
    if report.kernels["older_folders"] > _MAX_OLD_CACHES:
        report.remarks.append(
            f"{report.kernels['older_folders']} kernel caches of other versions are beside {folder}; "
            "they may be deleted."
        )
    if folder and not report.kernels["compiled"]:
        report.remarks.append(
            "kernels are not compiled yet, so first calls are slow; `curiograph warmup` compiles all of them."
        )


def _describe_kernel_cache() -> dict[str, Any]:
    from curiograph import kernels

    folder = kernels.jit.get_cache_folder()
    own = Path(kernels.csr.get_map_size.stats.cache_path)  # numba creates a folder in it for each copy of the sources
    size = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):  # other processes replace files in it
            size += path.stat().st_size
    return {
        "folder": str(folder),
        "bytes": size,
        "compiled": len(list(own.glob("*.nbi"))),
        "older_folders": len([other for other in folder.parent.glob("kernels-*") if other != folder]),
    }


def _compute_toy_values() -> tuple[int, float]:
    """Gaps and compressibility of toy:library."""
    from curiograph.graph.toys import library
    from curiograph.rewards.rate_distortion import compressibility
    from curiograph.rewards.topology import betti

    return int(betti(library(), dim=1)), float(compressibility(library()))


def check_data(report: DoctorReport) -> None:
    """Check the folders of datasets and list the datasets in them."""
    from curiograph.human.data.load import find_dataset, get_cache_folder
    from curiograph.human.data.registry import READERS, SOURCES

    given = os.environ.get("CURIOGRAPH_DATA")
    try:
        cache = get_cache_folder()
    except CuriographError as error:
        report.data = {"CURIOGRAPH_DATA": given, "cache": None, "writable": False, "found": {}}
        report.problems.append(str(error))
        return
    existing = next((path for path in (cache, *cache.absolute().parents) if path.exists()), None)
    writable = existing is not None and existing.is_dir() and os.access(existing, os.W_OK)
    report.data = {"CURIOGRAPH_DATA": given, "cache": str(cache), "writable": writable, "found": {}}
    if given and not Path(given).is_dir():
        report.problems.append(f"CURIOGRAPH_DATA is {given}, which is not a folder: create it, or unset the variable.")
    if not writable:
        report.problems.append(
            f"datasets cannot be stored in {cache}, which is not writable: set XDG_CACHE_HOME to a writable folder, "
            "or give one with curiograph data get --cache DIR."
        )
    for name in dict.fromkeys([*READERS, *SOURCES]):
        try:
            folder = find_dataset(name)
        except CuriographError as error:
            report.problems.append(f"dataset {name}: {error}")
            continue
        if folder is not None:
            report.data["found"][name] = str(folder)


def check_agents(report: DoctorReport) -> None:
    """Check that the shipped agents can be read."""
    from curiograph.agents.pretrained import load_agent, shipped_agents

    names, broken = shipped_agents(), []
    for name in names:
        try:
            load_agent(name)
        except CuriographError as error:
            broken.append(name)
            report.problems.append(
                f"shipped agent {name} is broken: {error} Reinstall it: pip install --force-reinstall curiograph."
            )
    report.agents = {"shipped": len(names), "broken": broken}
    if not names:
        report.problems.append("there is no shipped agent: pip install --force-reinstall curiograph.")
