"""Formulas as MathML, made while the site is built: browsers draw them without any script."""

from __future__ import annotations

import html
import re
from typing import Any

from latex2mathml.converter import convert

_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)


def on_page_content(content: str, **_: Any) -> str:
    """Replace what pymdownx.arithmatex marked, in the text and in the display, by MathML."""
    return _FORMULA.sub(_drawn, content)


def _drawn(found: re.Match[str]) -> str:
    tag, formula = found.groups()
    drawn = convert(html.unescape(formula), display="block" if tag == "div" else "inline")
    return f'<{tag} class="formula">{drawn}</{tag}>'
