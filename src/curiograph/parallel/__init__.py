"""Many tasks, here or on a cluster, with a journal: what is finished stays so, and nothing depends on who did it."""

from curiograph.parallel.engine import HERE, Engine, EngineName, as_engine
from curiograph.parallel.job import Job, complete
from curiograph.parallel.memory import Need
from curiograph.parallel.run_folder import alone_in
from curiograph.parallel.serialization import Result

__all__ = ["HERE", "Engine", "EngineName", "Job", "Need", "Result", "alone_in", "as_engine", "complete"]
