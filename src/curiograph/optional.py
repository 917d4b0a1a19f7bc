"""Import of optional packages."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from curiograph.errors import MissingExtraError


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
