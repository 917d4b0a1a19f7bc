"""Every error that curiograph raises on purpose.

Each message is one sentence or two: the bad value, and the way out. The command line prints it and exits with 2.
"""

from __future__ import annotations


class CuriographError(Exception):
    """Base of all errors below: `except cg.CuriographError` catches everything raised on purpose."""


class GraphError(CuriographError, ValueError):
    """A graph that cannot be built or used: empty, without edges, a NaN or negative weight."""


class FileFormatError(GraphError):
    """A file that is not what its ending says, not UTF-8, truncated or malformed; names the line where it can."""


class UnknownNodeError(CuriographError, KeyError):
    """A label that the graph does not have; names the nearest ones."""

    def __str__(self) -> str:  # KeyError would print the repr, quotes and all
        return str(self.args[0])


class UnknownNameError(CuriographError, ValueError):
    """An agent, reward, family or experiment that does not exist; lists those that do."""


class WalkError(CuriographError, ValueError):
    """A walk that cannot be taken or measured: no steps, an empty list, a node that is no candidate."""


class RewardError(CuriographError, ValueError):
    """A reward that raises, returns NaN, or breaks the contract that `check_reward` states."""


class AgentError(CuriographError, ValueError):
    """An agent that breaks the contract that `check_agent` states."""


class RankerError(CuriographError, ValueError):
    """A ranker that breaks the contract that `check_ranker` states."""


class ConvergenceError(CuriographError, ArithmeticError):
    """An iteration that did not get as close as asked; says how close it came."""


class SettingError(CuriographError, ValueError):
    """An argument out of its range."""


class MissingExtraError(CuriographError, ImportError):
    """An optional package is not installed; names the extra that brings it."""


class JobError(CuriographError, RuntimeError):
    """Some tasks of a job failed, whoever did them; all others were done, and kept where there is a run folder."""

    def __init__(self, message: str, failed: dict[str, str]) -> None:
        super().__init__(message)
        self.failed = failed
        """What went wrong, by the task that it went wrong with."""


class JobStopped(KeyboardInterrupt):
    """Ctrl-C during a job; says what is kept and how to go on."""
