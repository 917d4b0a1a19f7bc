"""Modules and kernels that worker processes need; imported once, by the process from which workers are forked."""

from contextlib import suppress

from curiograph.errors import CuriographError
from curiograph.service import computations
from curiograph.service.page import walk_session
from curiograph.service.warm import warm_kernels

__all__ = ["computations", "walk_session"]

with suppress(CuriographError, OSError):  # a worker would report it with its first task
    warm_kernels()
