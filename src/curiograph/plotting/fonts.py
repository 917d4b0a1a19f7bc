"""Fonts for labels in any script."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

from curiograph.plotting.figures import import_matplotlib

_FALLBACKS = (
    *("Noto Sans", "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans Thai"),
    *("Noto Sans Devanagari", "WenQuanYi Zen Hei", "Droid Sans Fallback", "Arial Unicode MS", "Unifont"),
)  # tried in order for letters that the first font lacks
_MISSING = "\u25a1"


@cache
def _list_font_families() -> tuple[str, ...]:
    """Return matplotlib's default font and the installed fallbacks."""
    installed = {font.name for font in import_matplotlib("font_manager").fontManager.ttflist}
    return ("DejaVu Sans", *(name for name in _FALLBACKS if name in installed))


@cache
def _list_letters() -> frozenset[int]:
    """Return the code points of all letters that the font families contain."""
    manager = import_matplotlib("font_manager")
    fonts = (manager.get_font(manager.findfont(name)) for name in _list_font_families())
    return frozenset(letter for font in fonts for letter in font.get_charmap())


def get_text_style() -> dict[str, Any]:
    """Return the properties of a text with labels: all font families, and no math between dollar signs."""
    return {"fontfamily": list(_list_font_families()), "parse_math": False}


def replace_missing_glyphs(texts: Sequence[str]) -> list[str]:
    """Replace letters that no font contains by a box, with one warning for all texts.

    >>> replace_missing_glyphs(["Zürich"])
    ['Zürich']
    """
    missing = sorted(
        {letter for text in texts for letter in text if letter != "\n" and ord(letter) not in _list_letters()}
    )
    if missing:
        count = f"{len(missing)} letters" if len(missing) > 1 else "1 letter"
        warnings.warn(
            f"no installed font has {count} of the names, as in {missing[0]!r}: boxes are drawn. Install a font that "
            "does, such as Noto Sans CJK.",
            stacklevel=2,
        )
    boxes = str.maketrans(dict.fromkeys(missing, _MISSING))
    return [text.translate(boxes) for text in texts]
