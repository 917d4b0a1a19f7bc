"""Bring our docstrings to what griffe's NumPy parser reads: parameters described beside their names, bare examples."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_PARAMETER = re.compile(r"^(\*{0,2}\w+(?:, \w+)*) : (?=\S)", re.MULTILINE)
_RULE = "\n-"
_EXAMPLES = "Examples\n--------\n"


def readable(text: str) -> str:
    """`name : what it is` becomes a name with a description below; the first `>>>` gets its heading.

    >>> readable("Add.\\n\\nParameters\\n----------\\na : a number.\\n\\n>>> 1 + 1\\n2")
    'Add.\\n\\nParameters\\n----------\\na\\n    a number.\\n\\nExamples\\n--------\\n>>> 1 + 1\\n2'
    """
    before, examples, after = _cut(text)
    head, rule, parameters = before.partition("Parameters" + _RULE)
    return head + rule + _PARAMETER.sub(r"\1\n    ", parameters) + (_EXAMPLES if examples else "") + after


def _cut(text: str) -> tuple[str, bool, str]:
    """What stands before the examples, whether there are any, and they."""
    found = re.search(r"^>>> ", text, re.MULTILINE)
    return (text, False, "") if found is None else (text[: found.start()], True, text[found.start() :])


class Readable(Extension):
    """Rewrites every docstring when it is loaded."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = readable(obj.docstring.value)
