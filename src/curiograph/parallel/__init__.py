"""Parallel execution of many independent tasks, on this machine or on a cluster, with resumable results."""

from curiograph.parallel.engine import IN_PROCESS, Engine, EngineName, as_engine, resolve_engine
from curiograph.parallel.job import Job, run_job
from curiograph.parallel.run_folder import lock_run_folder
from curiograph.parallel.serialization import Result

__all__ = [
    "IN_PROCESS",
    "Engine",
    "EngineName",
    "Job",
    "Result",
    "as_engine",
    "lock_run_folder",
    "resolve_engine",
    "run_job",
]
