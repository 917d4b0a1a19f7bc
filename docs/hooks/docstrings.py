"""Convert docstrings to the form that griffe's NumPy parser reads.

Docstrings may describe a parameter on the line of its name, continue with text after the parameters, and end with an
example without a heading.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_PARAMETERS = re.compile(r"^Parameters\n-+\n(.*?)(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^\w+\n-{3,}$", re.MULTILINE)
_DESCRIBED = re.compile(r"^(\*{0,2}\w+(?:, \w+)*) : (?!.{0,70}[^.,;:\n]\n +[A-Z`\x22])(?=\S)", re.MULTILINE)
"""A parameter followed by its description, not by a short type with an indented sentence below."""


def convert_docstring(text: str) -> str:
    """Put descriptions below parameter names, parameters after the text, and a heading above the example."""
    if not re.search(r"^Examples\n-+$", text, re.MULTILINE):
        text = re.sub(r"^>>> ", "Examples\n--------\n>>> ", text, count=1, flags=re.MULTILINE)
    found = _PARAMETERS.search(text)
    if found is None:
        return text
    parameters = "Parameters\n----------\n" + _DESCRIBED.sub(r"\1\n    ", found[1])
    before, after = text[: found.start()], text[found.end() :]
    heading = _HEADING.search(after)
    end = len(after) if heading is None else heading.start()
    parts = (before, after[:end], parameters, after[end:])
    return "\n\n".join(part.strip() for part in parts if part.strip())


class ConvertDocstrings(Extension):
    """Converts every docstring when it is loaded."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Convert the docstring of an object."""
        if obj.docstring is not None:
            obj.docstring.value = convert_docstring(obj.docstring.value)
