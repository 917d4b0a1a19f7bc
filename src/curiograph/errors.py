"""Exceptions of curiograph, and how values are shown in their messages.

A message is one or two sentences: the bad value and how to fix it. The command line prints it and exits with code 2.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


class CuriographError(Exception):
    """Base class of the errors of curiograph."""


class GraphError(CuriographError, ValueError):
    """A graph cannot be built or used, for example because it has no edges or a negative weight."""


class FileFormatError(GraphError):
    """A file is missing, truncated, malformed or not of the format of its extension; names the line if possible."""


class UnknownNodeError(CuriographError, KeyError):
    """The graph has no node of this label; suggests similar labels."""

    def __str__(self) -> str:  # KeyError would show the repr of the message
        return str(self.args[0])


class UnknownNameError(CuriographError, ValueError):
    """An agent, reward, family or experiment does not exist; lists the existing ones."""


class WalkError(CuriographError, ValueError):
    """A walk cannot be taken or measured, for example because it is empty or repeats a node."""


class RewardError(CuriographError, ValueError):
    """A reward raises, returns NaN, or violates the contract that `check_reward` tests."""


class AgentError(CuriographError, ValueError):
    """An agent violates the contract that `check_agent` tests, or the function of `from_function` raises."""


class UnansweredError(CuriographError):
    """Prompts of an agent without a function wait for answers; states how many, and in which file."""


class RankerError(CuriographError, ValueError):
    """A ranker violates the contract that `check_ranker` tests."""


class ConvergenceError(CuriographError, ArithmeticError):
    """An iteration did not reach the tolerance; states the residual."""


class SettingError(CuriographError, ValueError):
    """An argument is out of its range or of the wrong type."""


class MissingExtraError(CuriographError, ImportError):
    """An optional package is not installed; names the extra that installs it."""


class JobError(CuriographError):
    """A job whose workers were killed."""


class JobStopped(KeyboardInterrupt):
    """A job was interrupted by Ctrl-C; states what was saved and how to resume."""


def shorten_text(text: object, length: int = 80) -> str:
    """Return `text` as one printable line of at most `length` characters."""
    line = " ".join(str(text).split())
    if not line.isprintable():  # half of a surrogate pair, or a control code of the terminal
        line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
    return line if len(line) <= length else line[: length - 3] + "..."


def quote_value(value: object) -> str:
    """Return the repr of a value, shortened for a message; never raises."""
    try:
        return shorten_text(repr(value))
    except (ValueError, RecursionError):  # an integer of thousands of digits, or a deeply nested tuple
        return f"of type {type(value).__name__} (too large to show)"


def import_optional(package: str, extra: str, purpose: str) -> Any:
    """Import `package`, or raise MissingExtraError with the extra that installs it.

    `purpose` is the subject of the message, a plural.

    >>> import_optional("no_such_package", "plot", "Pictures")
    Traceback (most recent call last):
    curiograph.errors.MissingExtraError: Pictures need no_such_package, which is not installed: ...
    """
    try:
        return import_module(package)
    except ImportError:
        raise MissingExtraError(
            f"{purpose} need {package.split('.')[0]}, which is not installed: pip install 'curiograph[{extra}]'."
        ) from None
