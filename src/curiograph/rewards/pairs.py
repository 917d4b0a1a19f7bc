"""Heuristics that select the pairs of clusters evaluated at every merge of a rate-distortion curve."""

from __future__ import annotations

from typing import Literal, get_args

from curiograph.errors import UnknownNameError

FixedPairs = Literal["auto", "best", "all", "edges", "joint", "joint-self", "stationary", "single"]
"""Choices of pairs that need no random numbers."""
Pairs = Literal[FixedPairs, "random", "random-edges"]
"""Choices of pairs, see `rate_distortion`."""

MAX_ALL = 100
"""Number of nodes up to which "auto" is "all"; for larger graphs that may be a poor bound, and "auto" is "best"."""
NUM_PAIRS = 100
"""Number of pairs evaluated at every merge, by default."""
HEURISTICS = ("all", "edges", "joint", "joint-self", "stationary", "single")
"""Single heuristics without random numbers, of which "best" takes the best, in the order of their kernel codes."""


def check_pairs(pairs: str, choices: tuple[str, ...] = get_args(Pairs)) -> None:
    """Raise UnknownNameError unless `pairs` is one of the choices.

    >>> check_pairs("some", ("all", "edges"))
    Traceback (most recent call last):
    curiograph.errors.UnknownNameError: pairs is 'some'; the choices are all, edges.
    """
    if pairs not in choices:
        raise UnknownNameError(f"pairs is {pairs!r}; the choices are {', '.join(choices)}.")


def choose_pairs(pairs: str, size: int) -> str:
    """Return the heuristic for a graph of some size: "auto" is "all" or "best", others are returned as they are.

    >>> choose_pairs("auto", 100), choose_pairs("auto", 101), choose_pairs("edges", 101)
    ('all', 'best', 'edges')
    """
    if pairs != "auto":
        return pairs
    return "all" if size <= MAX_ALL else "best"
