"""The `kernel` decorator: compile lazily, release the GIL, cache machine code between runs.

Numba keys its cache by the file that defines a function and misses changes in the kernels it calls. The name of our
cache folder contains a hash of all kernel sources instead. The folder is outside the package, which may be read-only.

Compiling takes most of the time of the first use of a command, about 50 ms for the smallest function. Hence
`inner_kernel` for functions that only kernels call, and plain loops instead of numpy functions whose code in numba is
long: sorting, assignment to slices, lists, rounding. Functions that only kernels call, ours and those of numba, are
neither optimized nor translated to machine code by themselves, only within the kernels that they are linked into, which
saves a fifth of the time. `ahead` compiles in several processes.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from llvmlite.binding import parse_assembly
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

Kernel = Callable[..., Any]


def kernel(function: Kernel) -> Any:
    """Compile `function` on its first call; later processes load the machine code from the cache."""
    return _compile(function, no_cfunc_wrapper=True)


def inner_kernel(function: Kernel) -> Any:
    """Compile a function that only kernels call, without the code that converts Python objects."""
    return _compile(function, no_cfunc_wrapper=True, no_cpython_wrapper=True)


def _compile(function: Kernel, **options: bool) -> Any:
    decorate: Any = numba.njit
    dispatcher = decorate(nogil=True, **options)(function)
    resolve = dispatcher.get_call_template
    compile_signature = dispatcher.compile
    dispatcher.compile = lambda signature: _compile_linked(compile_signature, signature)
    # a variable that begins as a constant would compile the called kernel once for the constant and once for the type
    dispatcher.get_call_template = lambda args, kws: resolve(tuple(map(numba.types.unliteral, args)), kws)
    folder = get_cache_folder()
    if folder is None:
        return dispatcher
    config: Any = numba.config
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
    try:
        dispatcher.enable_caching()
        dispatcher._cache = _Cache(dispatcher._cache)
    except RuntimeError:  # numba finds no writable location, for example on a full disk
        _warn_not_writable(folder)
    finally:
        config.CACHE_DIR = before
    return dispatcher


def _compile_linked(compile_signature: Callable[[Any], Any], signature: Any) -> Any:
    """Compile a kernel and the functions that it calls, which become instances of `_Library`."""
    codegen = cpu_target.target_context.codegen()
    with global_compiler_lock:
        before, codegen._library_class = codegen._library_class, _Library
        try:
            return compile_signature(signature)
        finally:
            codegen._library_class = before


class _Library(JITCodeLibrary):
    """Compiled code of one function.

    Functions without a wrapper for Python are neither optimized nor translated by themselves, only as part of the
    kernels that they are linked into.
    """

    def _is_inner(self) -> bool:
        module = self._shared_module or self._final_module  # the second is empty if the code is from the cache
        return not any(function.name.startswith("_ZN7cpython") for function in module.functions)

    def _optimize_final_module(self) -> None:
        if not self._is_inner():
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        if not self._is_inner():
            super()._finalize_final_module()
            return
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        # numba writes the environment of the function there, although it has no machine code of its own
        names = [each.name for each in self._final_module.global_variables if each.name.startswith("_ZN08NumbaEnv")]
        environments = "\n".join(f'@"{name}" = common global i8* null' for name in names)
        self._codegen._add_module(parse_assembly(environments))
        self._finalized = True

    def serialize_using_object_code(self) -> Any:
        return self.serialize_using_bitcode() if self._is_inner() else super().serialize_using_object_code()


class _Cache:
    """Numba's cache of one kernel, tolerant of corrupt files and of a full disk."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def load_overload(self, *args: Any) -> Any:
        """Load machine code from the cache; return None if it is missing or corrupt."""
        try:
            return self._cache.load_overload(*args)
        except Exception:  # unpickling a corrupt file can raise anything
            with suppress(Exception):
                self._cache.flush()  # start a new index, so that the code compiled next is saved
            return None

    def save_overload(self, *args: Any) -> None:
        """Save machine code; warn if the folder cannot be written."""
        try:
            self._cache.save_overload(*args)
        except OSError:
            _warn_not_writable(Path(self._cache.cache_path).parent)


@cache
def _warn_not_writable(folder: Path) -> None:
    warnings.warn(
        f"curiograph cannot write its kernel cache to {folder}: kernels compile again in every process "
        "(about 30 s). Set NUMBA_CACHE_DIR to a folder you can write.",
        stacklevel=2,
    )


@cache
def get_cache_folder() -> Path | None:
    """Return the folder of the compiled kernels, or None if it cannot be written: every process then compiles them."""
    base = os.environ.get("NUMBA_CACHE_DIR")
    if not base:  # empty means unset
        base = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "curiograph")
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    digest.update(f"{numba.__version__} {sys.version_info[:3]} {platform.machine()}".encode())
    folder = Path(base) / f"kernels-{digest.hexdigest()[:16]}"
    if base.startswith("~"):  # the user has no home folder
        _warn_not_writable(folder)
        return None
    try:
        fresh = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        usable = os.access(folder, os.W_OK)
    except OSError:
        usable = False
    if not usable:
        _warn_not_writable(folder)
        return None
    if fresh and not os.environ.get("CURIOGRAPH_QUIET"):
        print(
            "curiograph: compiling kernels for this machine, once (`curiograph warmup` does it ahead of time)",
            file=sys.stderr,
        )
    return folder
