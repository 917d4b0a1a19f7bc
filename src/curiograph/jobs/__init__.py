"""Many tasks, here or on a cluster, with a journal: what is finished stays so, and nothing depends on who did it."""

from curiograph.jobs.engine import HERE, Engine, EngineName, as_engine
from curiograph.jobs.folders import alone_in
from curiograph.jobs.job import Job, complete
from curiograph.jobs.memory import Need
from curiograph.jobs.results import Result

__all__ = ["HERE", "Engine", "EngineName", "Job", "Need", "Result", "alone_in", "as_engine", "complete"]
