"""Format values for error messages and reports."""

from __future__ import annotations


def format_bytes(size: float) -> str:
    """Format a number of bytes with a suitable unit.

    >>> format_bytes(3 * 2**30), format_bytes(5 * 2**20), format_bytes(10)
    ('3.0 GiB', '5 MiB', '1 MiB')
    """
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{max(1, round(size / 2**20))} MiB"


def shorten_text(text: object, length: int = 80) -> str:
    """Return `text` as one printable line of at most `length` characters."""
    line = " ".join(str(text).split()).encode(errors="backslashreplace").decode()
    return line if len(line) <= length else line[: length - 3] + "..."


def quote_value(value: object) -> str:
    """Return the repr of a value, shortened for a message; never raises."""
    try:
        return shorten_text(repr(value))
    except (ValueError, RecursionError):  # an integer of thousands of digits, or a deeply nested tuple
        return f"of type {type(value).__name__} (too large to show)"


def get_type_name(value: object) -> str:
    """Return the type of a value with its module, which distinguishes a networkx Graph from ours.

    >>> from pathlib import Path
    >>> get_type_name([]), get_type_name(Path("a"))[:8]
    ('list', 'pathlib.')
    """
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
