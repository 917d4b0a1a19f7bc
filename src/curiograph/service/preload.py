"""Modules and kernels that worker processes need; imported once, by the process from which workers are forked."""

from contextlib import suppress

from curiograph.errors import CuriographError
from curiograph.service import computations, picture
from curiograph.service.warm import warm_kernels

__all__ = ["computations", "picture"]

with suppress(CuriographError, OSError):  # a worker would report it with its first task
    warm_kernels()
