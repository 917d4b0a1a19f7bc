"""Fonts for names in any script, and what to do where none has a letter."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache

from curiograph.optional import import_optional

_FALLBACKS = (
    *("Noto Sans", "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans Thai"),
    *("Noto Sans Devanagari", "WenQuanYi Zen Hei", "Droid Sans Fallback", "Arial Unicode MS", "Unifont"),
)  # asked in turn where the first font lacks a letter
_BOX = "\u25a1"


@cache
def list_font_families() -> tuple[str, ...]:
    """Matplotlib's own font, then the fallbacks that are installed."""
    manager = import_optional("matplotlib.font_manager", "plot", "Pictures")
    installed = {font.name for font in manager.fontManager.ttflist}
    return ("DejaVu Sans", *(name for name in _FALLBACKS if name in installed))


@cache
def _known() -> frozenset[int]:
    """Letters that some family has."""
    manager = import_optional("matplotlib.font_manager", "plot", "Pictures")
    fonts = (manager.get_font(manager.findfont(name)) for name in list_font_families())
    return frozenset(letter for font in fonts for letter in font.get_charmap())


def replace_missing_glyphs(texts: Sequence[str]) -> list[str]:
    """The texts with a box for every letter that no font has; one warning for all of them.

    >>> replace_missing_glyphs(["Zürich"])
    ['Zürich']
    """
    missing = sorted({letter for text in texts for letter in text if ord(letter) not in _known()})
    if missing:
        count = f"{len(missing)} letters" if len(missing) > 1 else "1 letter"
        warnings.warn(
            f"no installed font has {count} of the names, as in {missing[0]!r}: boxes are drawn. Install a font that "
            "does, such as Noto Sans CJK.",
            stacklevel=2,
        )
    boxes = str.maketrans(dict.fromkeys(missing, _BOX))
    return [text.translate(boxes) for text in texts]
