"""Compile the kernels of a command ahead, in several processes.

On the first use of a command nearly all time is spent compiling, which numba does on one core. `first_use.json` lists
the kernels that `measure`, `explore`, `recommend` and reading a list of edges (`read`) call, with the types of their
arguments and the seconds that each takes to compile; `scripts/record_kernels.py` writes it.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.resources import files
from typing import Any

from curiograph.kernels.jit import get_cache_folder
from curiograph.validation import resolve_workers

Signature = tuple[str, str, float]
"""Module and name of a kernel, the types of its arguments, and the seconds to compile it."""

_MAX_PROCESSES = 4


def compile_ahead(*tasks: str) -> None:
    """Compile the kernels of some tasks, entries of `first_use.json`, unless they are in the cache.

    Does nothing if there is only one core or no cache: kernels are then compiled when they are called.
    """
    folder = get_cache_folder()
    processes = min(resolve_workers(None), _MAX_PROCESSES)
    if folder is None or processes == 1:
        return
    missing = [task for task in tasks if not (folder / f"{task}.compiled").exists()]
    if not missing:
        return
    silent: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    command = [sys.executable, "-P", "-m", __name__, str(processes)]
    helpers = [subprocess.Popen([*command, str(number), *missing], **silent) for number in range(1, processes)]
    compile_share(processes, 0, missing)
    for helper in helpers:
        helper.wait()
    for task in missing:
        (folder / f"{task}.compiled").touch()


def compile_share(processes: int, number: int, tasks: Sequence[str]) -> None:
    """Compile the kernels that fall to one of the processes."""
    from numba.core.sigutils import normalize_signature

    was_enabled = gc.isenabled()
    gc.disable()  # garbage collection takes a tenth of the time
    try:
        for name, text, _ in split_kernels(list_kernels(tasks), processes)[number]:
            module, _, kernel = name.partition(".")
            types, _ = normalize_signature(text)  # a call finds code in the cache by types, not by their text
            getattr(import_module(f"curiograph.kernels.{module}"), kernel).compile(types)
    finally:
        if was_enabled:
            gc.enable()


def list_kernels(tasks: Sequence[str]) -> list[Signature]:
    """Return the kernels that some tasks call on their first use, each once."""
    recorded = json.loads(files("curiograph.kernels").joinpath("first_use.json").read_text())
    kernels = {(name, types): seconds for task in tasks for name, types, seconds in recorded[task]}
    return [(name, types, seconds) for (name, types), seconds in kernels.items()]


def split_kernels(kernels: Sequence[Signature], processes: int) -> list[list[Signature]]:
    """Divide kernels among processes so that all take about the same time; those of a module stay together.

    >>> [len(share) for share in split_kernels([("a.x", "()", 2.0), ("b.y", "()", 1.5), ("a.z", "()", 0.5)], 2)]
    [2, 1]
    """
    modules: dict[str, list[Signature]] = {}
    for each in kernels:
        modules.setdefault(each[0].partition(".")[0], []).append(each)
    shares: list[list[Signature]] = [[] for _ in range(processes)]
    for group in sorted(modules.values(), key=lambda group: -sum(seconds for _, _, seconds in group)):
        min(shares, key=lambda share: sum(seconds for _, _, seconds in share)).extend(group)
    return shares


if __name__ == "__main__":
    compile_share(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
