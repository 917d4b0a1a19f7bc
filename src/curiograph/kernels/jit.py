"""The decorators of kernels: compile on the first call, release the GIL, cache machine code between runs.

Numba keys its cache by the file that defines a function and misses changes in the kernels that it calls, so the name of
our cache folder contains a hash of all kernel sources. Compiling takes most of the time of the first use of a command:
hence `inner_kernel`, and plain loops instead of numpy functions whose code in numba is long (sorting, slices, lists).
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba

_njit: Any = numba.njit


def kernel(function: Callable[..., Any], **options: Any) -> Any:
    """Compile `function` on its first call; later processes load the machine code from the cache."""
    config: Any = numba.config
    before = config.CACHE_DIR
    options = options | {"nogil": True, "no_cfunc_wrapper": True, "error_model": "numpy"}  # no checks of division
    try:
        config.CACHE_DIR = str(get_cache_folder())
        return _njit(cache=True, **options)(function)
    except RuntimeError:  # there is no home, or neither this folder nor numba's own can be written: do not cache
        return _njit(**options)(function)
    finally:
        config.CACHE_DIR = before


def inner_kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that only kernels call: their cached code contains it, and Python cannot call it."""
    return kernel(function, no_cpython_wrapper=True)


def inline_kernel(function: Callable[..., Any]) -> Any:
    """Copy a function that kernels call in one place into them: it is then not compiled by itself first."""
    return _njit(inline="always", nogil=True, error_model="numpy")(function)


@cache
def get_cache_folder() -> Path:
    """Return the folder of the compiled kernels; say that they are compiled now if there is none yet."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    given = os.environ.get("NUMBA_CACHE_DIR")  # empty means unset
    base = Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "curiograph")
    folder = base / f"kernels-{digest.hexdigest()[:16]}"
    if not folder.exists() and not os.environ.get("CURIOGRAPH_QUIET"):
        print("curiograph: compiling kernels for this machine, once (`curiograph warmup` does all)", file=sys.stderr)
    return folder
