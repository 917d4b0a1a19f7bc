"""Bring our docstrings to what griffe's NumPy parser reads: parameters described beside their names, bare examples."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_PARAMETER = re.compile(r"^(\*{0,2}\w+(?:, \w+)*) : (?=\S)", re.MULTILINE)
_SECTION = re.compile(r"^Parameters\n-+\n(.*?)(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)


def readable(text: str) -> str:
    """`name : what it is` becomes a name with a description below, after all other text; examples get a heading."""
    prose, examples = _parted(text)
    found = _SECTION.search(prose)
    parts = [_SECTION.sub("", prose).strip()]
    if found is not None:
        parts.append("Parameters\n----------\n" + _PARAMETER.sub(r"\1\n    ", found[1]).strip())
    if examples:
        parts.append("Examples\n--------\n" + examples)
    return "\n\n".join(parts)


def _parted(text: str) -> tuple[str, str]:
    """What stands before the first example, and the rest."""
    found = re.search(r"^>>> ", text, re.MULTILINE)
    return (text, "") if found is None else (text[: found.start()], text[found.start() :])


class Readable(Extension):
    """Rewrites every docstring when it is loaded."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Make one readable."""
        if obj.docstring is not None:
            obj.docstring.value = readable(obj.docstring.value)
