"""The names of a graph that are most like one it does not have, and the error that lists them.

difflib compares two names well but slowly, so in a large graph it sees only the names that share most with the wanted
one at both ends: a name with one typo shares everything before it and everything behind it.
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

_COMPARE_ALL = 2_000
_COMPARE_AT_MOST = 1_000
_LONGEST = 200
_LETTERS_AT_EACH_END = 24


def make_unknown_node_error(label: object, names: Labels) -> UnknownNodeError:
    """The error for a label that is not among `names`: one sentence, with the nearest names where there are any."""
    missing = f"the graph has no node {quote_value(label)}"
    if len(names) == 0:
        return UnknownNodeError(f"{missing}; it is empty.")
    if isinstance(label, str) and re.fullmatch("-?[0-9]{1,19}", label) and _holds(names, int(label)):
        return UnknownNodeError(f"{missing}, but it has the number {int(label)}; give it without quotes.")
    near = [quote_value(name) for name in suggest_labels(label, names)]
    if near:
        return UnknownNodeError(f"{missing}; the nearest names are {', '.join(near)}.")
    first = ", ".join(quote_value(names[position]) for position in range(min(3, len(names))))
    return UnknownNodeError(f"{missing}; its {len(names)} nodes start with {first}.")


def suggest_labels(label: object, names: Labels, count: int = 3) -> list[Hashable]:
    """Up to `count` names that look like `label`, the most similar first; none for nodes called 0 to n - 1.

    >>> suggest_labels("aple", TextLabels.from_labels(["pear", "apple", "maple"]))
    ['maple', 'apple']
    """
    wanted = _shown(label)
    if isinstance(names, RangeLabels) or not 0 < len(wanted) <= _LONGEST:
        return []
    shown = {_shown(names[position]): names[position] for position in _worth_comparing(wanted, names)}
    near = difflib.get_close_matches(wanted, shown, n=count)
    if not near:  # perhaps only the capitals differ
        shown = {text.lower(): name for text, name in shown.items()}
        near = difflib.get_close_matches(wanted.lower(), shown, n=count)
    return [shown[text] for text in near]


def _worth_comparing(wanted: str, names: Labels) -> list[int]:
    """Positions of the names that share the most characters with `wanted` at both ends, in the order of the graph."""
    if len(names) <= _COMPARE_ALL:
        return list(range(len(names)))
    text, offsets, sought = _as_codes(wanted, names)
    lengths = np.diff(offsets)
    alike = np.flatnonzero(np.abs(lengths - len(sought)) <= 2 + len(sought) // 3)
    first, last = offsets[alike], offsets[alike + 1] - 1
    shared = _run(text, first, lengths[alike], sought, 1) + _run(text, last, lengths[alike], sought[::-1], -1)
    alike, shared = alike[shared > 0], shared[shared > 0]
    if len(alike) > _COMPARE_AT_MOST:
        distance = np.abs(lengths[alike] - len(sought))
        alike = alike[np.argsort(distance - 2 * shared, kind="stable")[:_COMPARE_AT_MOST]]
    return [int(position) for position in np.sort(alike)]


def _as_codes(wanted: str, names: Labels) -> tuple[NDArray[np.integer], NDArray[np.int64], NDArray[np.integer]]:
    """All names in one array of character codes, where each begins and ends, and the codes of `wanted`."""
    if isinstance(names, TextLabels):
        return names.blob, names.offsets, np.frombuffer(wanted.encode(errors="replace"), np.uint8)
    texts = [_shown(name) for name in names]
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=offsets[1:])
    codes, sought = (
        np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32) for text in ("".join(texts), wanted)
    )
    return codes, offsets, sought


def _run(
    text: NDArray[np.integer],
    begins: NDArray[np.int64],
    lengths: NDArray[np.int64],
    sought: NDArray[np.integer],
    step: int,
) -> NDArray[np.int64]:
    """How many characters in a row each name shares with `sought`, from one end; capitals are small letters here."""
    shared = np.zeros(len(begins), np.int64)
    alive = np.arange(len(begins))
    for number, code in enumerate(_small(sought[:_LETTERS_AT_EACH_END])):
        alive = alive[lengths[alive] > number]
        alive = alive[_small(text[begins[alive] + step * number]) == code]
        shared[alive] += 1
    return shared


def _small(codes: NDArray[np.integer]) -> NDArray[np.integer]:
    return np.where((codes >= 65) & (codes <= 90), codes | 32, codes)


def _holds(names: Labels, label: Hashable) -> bool:
    try:
        names.index(label)
    except KeyError:
        return False
    return True


def _shown(label: object) -> str:
    try:
        return str(label)
    except (ValueError, RecursionError):  # an integer of thousands of digits, a tuple in a tuple in a tuple...
        return ""
