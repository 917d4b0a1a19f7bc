"""Suggestions of similar labels for an unknown label, and the error that lists them.

difflib is slow, so in a large graph it compares only the labels that share the longest prefix and suffix with the
wanted one: a label with one typo shares everything before and after the typo.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

from curiograph.errors import UnknownNodeError
from curiograph.graph.labels import Labels, RangeLabels, TextLabels
from curiograph.messages import quote_value

_COMPARE_ALL = 2_000  # up to this number of labels, all are compared
_MAX_COMPARED = 1_000
_MAX_LENGTH = 200
_MAX_SHARED = 24  # characters of the prefix and the suffix


def make_unknown_node_error(label: object, names: Labels) -> UnknownNodeError:
    """Return the error for a label that is not in `names`, with suggestions if there are similar labels."""
    missing = f"the graph has no node {quote_value(label)}"
    if len(names) == 0:
        return UnknownNodeError(f"{missing}; it is empty.")
    if isinstance(label, str) and re.fullmatch("-?[0-9]{1,19}", label) and _contains(names, int(label)):
        return UnknownNodeError(f"{missing}, but it has the number {int(label)}; give it without quotes.")
    near = [quote_value(name) for name in suggest_labels(label, names)]
    if near:
        return UnknownNodeError(f"{missing}; the nearest names are {', '.join(near)}.")
    first = ", ".join(quote_value(names[position]) for position in range(min(3, len(names))))
    return UnknownNodeError(f"{missing}; its {len(names)} nodes start with {first}.")


def suggest_labels(label: object, names: Labels, count: int = 3) -> list[Hashable]:
    """Return up to `count` labels similar to `label`, the most similar first; none for the labels 0 to n - 1.

    >>> suggest_labels("aple", TextLabels.from_labels(["pear", "apple", "maple"]))
    ['maple', 'apple']
    """
    wanted = _to_text(label)
    if isinstance(names, RangeLabels) or not 0 < len(wanted) <= _MAX_LENGTH:
        return []
    texts = {_to_text(names[position]): names[position] for position in _select_candidates(wanted, names)}
    near = difflib.get_close_matches(wanted, texts, n=count)
    if not near:  # ignore case
        texts = {text.lower(): name for text, name in texts.items()}
        near = difflib.get_close_matches(wanted.lower(), texts, n=count)
    return [texts[text] for text in near]


def _select_candidates(wanted: str, names: Labels) -> list[int]:
    """Return the positions of the labels with the longest common prefix and suffix, in the order of the graph."""
    if len(names) <= _COMPARE_ALL:
        return list(range(len(names)))
    text, offsets, sought = _encode(wanted, names)
    lengths = np.diff(offsets)
    alike = np.flatnonzero(np.abs(lengths - len(sought)) <= 2 + len(sought) // 3)
    shared = _count_shared(text, offsets[alike], lengths[alike], sought, 1)
    shared += _count_shared(text, offsets[alike + 1] - 1, lengths[alike], sought[::-1], -1)
    alike, shared = alike[shared > 0], shared[shared > 0]
    if len(alike) > _MAX_COMPARED:
        distance = np.abs(lengths[alike] - len(sought))
        alike = alike[np.argsort(distance - 2 * shared, kind="stable")[:_MAX_COMPARED]]
    return [int(position) for position in np.sort(alike)]


def _encode(wanted: str, names: Labels) -> tuple[NDArray[np.integer], NDArray[np.int64], NDArray[np.integer]]:
    """Return the character codes of all labels in one array, their offsets, and the codes of `wanted`."""
    if isinstance(names, TextLabels):
        return names.blob, names.offsets, np.frombuffer(wanted.encode(errors="replace"), np.uint8)
    texts = [_to_text(name) for name in names]
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=offsets[1:])
    codes, sought = (
        np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32) for text in ("".join(texts), wanted)
    )
    return codes, offsets, sought


def _count_shared(
    text: NDArray[np.integer],
    begins: NDArray[np.int64],
    lengths: NDArray[np.int64],
    sought: NDArray[np.integer],
    step: int,
) -> NDArray[np.int64]:
    """Return the length of the prefix (suffix for step -1) that each label shares with `sought`, ignoring case."""
    shared = np.zeros(len(begins), np.int64)
    alive = np.arange(len(begins))
    for number, code in enumerate(_to_lower(sought[:_MAX_SHARED])):
        alive = alive[lengths[alive] > number]
        alive = alive[_to_lower(text[begins[alive] + step * number]) == code]
        shared[alive] += 1
    return shared


def _to_lower(codes: NDArray[np.integer]) -> NDArray[np.integer]:
    return np.where((codes >= 65) & (codes <= 90), codes | 32, codes)


def _contains(names: Labels, label: Hashable) -> bool:
    try:
        names.index(label)
    except KeyError:
        return False
    return True


def _to_text(label: object) -> str:
    try:
        return str(label)
    except (ValueError, RecursionError):  # an integer of thousands of digits, or a deeply nested tuple
        return ""
