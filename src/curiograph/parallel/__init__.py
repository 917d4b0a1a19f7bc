"""Many independent tasks on this machine or on a Ray cluster, with results that are kept and resumed."""

from curiograph.parallel.engine import IN_PROCESS, Engine, EngineName, as_engine

__all__ = ["IN_PROCESS", "Engine", "EngineName", "as_engine"]
