"""Many tasks, here or on a cluster, with a journal: what is finished stays so, and nothing depends on who did it."""

from curiograph.parallel.engine import IN_PROCESS, Engine, EngineName, resolve_engine
from curiograph.parallel.job import Job, run_job
from curiograph.parallel.memory import Need
from curiograph.parallel.run_folder import lock_run_folder
from curiograph.parallel.serialization import Result

__all__ = ["IN_PROCESS", "Engine", "EngineName", "Job", "Need", "Result", "lock_run_folder", "resolve_engine", "run_job"]
