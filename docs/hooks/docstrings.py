"""Convert docstrings to the form that griffe's NumPy parser reads."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_PARAMETER = re.compile(r"^(\*{0,2}\w+(?:, \w+)*) : (?=\S)", re.MULTILINE)
_SECTION = re.compile(r"^Parameters\n-+\n(.*?)(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)


def convert_docstring(text: str) -> str:
    """Put each parameter description below its name, the parameters after the text, and add a heading to examples."""
    example = re.search(r"^>>> ", text, re.MULTILINE)
    end = len(text) if example is None else example.start()
    prose, examples = text[:end], text[end:]
    found = _SECTION.search(prose)
    parts = [_SECTION.sub("", prose).strip()]
    if found is not None:
        parts.append("Parameters\n----------\n" + _PARAMETER.sub(r"\1\n    ", found[1]).strip())
    if examples:
        parts.append("Examples\n--------\n" + examples)
    return "\n\n".join(parts)


class ConvertDocstrings(Extension):
    """Converts every docstring when it is loaded."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Convert the docstring of an object."""
        if obj.docstring is not None:
            obj.docstring.value = convert_docstring(obj.docstring.value)
