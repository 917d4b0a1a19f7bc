"""Convert formulas to MathML while the site is built, so that browsers render them without JavaScript."""

from __future__ import annotations

import html
import re
from typing import Any

from latex2mathml.converter import convert

_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)


def on_page_content(content: str, **_: Any) -> str:
    """Replace the inline and display formulas marked by pymdownx.arithmatex by MathML."""
    return _FORMULA.sub(_convert_match, content)


def _convert_match(found: re.Match[str]) -> str:
    tag, formula = found.groups()
    mathml = convert(html.unescape(formula), display="block" if tag == "div" else "inline")
    return f'<{tag} class="formula">{mathml}</{tag}>'
