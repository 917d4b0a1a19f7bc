"""One colour per thing, in every figure and on the page, from colours that the colour-blind can tell apart.

Where two of the main five are alike in grey they still differ in dash and marker.
"""

from __future__ import annotations

import re
from typing import Any

COLORS = {
    "igt": "#0072B2",
    "cpt": "#D55E00",
    "pagerank": "#44AA99",
    "human": "#882255",
    "mixture": "#117733",
    "random": "#BBBBBB",
    "max-degree": "#E69F00",
    "min-degree": "#CC79A7",
    "greedy": "#56B4E9",
    "gnn-paper": "#DDCC77",
    "gnn": "#999933",
    "horizon": "#AA4499",
    "horizon+beam": "#332288",
    "beam": "#000000",
    "paper": "#009E73",
    "quiet": "#999999",
    "ink": "#333333",
}
"""Colours as CSS writes them: of rewards, rankings, people and agents; `quiet` for what stands back, `ink` for text."""

DASHES: dict[str, Any] = {
    "igt": "-",
    "cpt": (0, (5, 2)),
    "pagerank": (0, (1, 1.2)),
    "human": (0, (6, 2, 1, 2)),
    "mixture": (0, (3, 1, 1, 1, 1, 1)),
}
"""How lines of the main five are dashed."""

MARKERS = {
    "igt": "o",
    "cpt": "s",
    "pagerank": "^",
    "human": "D",
    "mixture": "h",
    "random": ".",
    "greedy": "s",
    "gnn": "^",
    "horizon": "o",
    "beam": "D",
}
"""Shapes of points."""


_ALIKE = {"igt+cpt": "mixture"}  # names with another's colour


def get_color(name: str, otherwise: str = "quiet") -> str:
    """The colour of a name, or of its first parts: without its width, its planner, its family.

    >>> get_color("igt-rg") == COLORS["igt"], get_color("nobody") == COLORS["quiet"]
    (True, True)
    >>> get_color("beam:64") == COLORS["beam"], get_color("horizon+beam:8") == COLORS["horizon+beam"]
    (True, True)
    """
    wishes = (re.split(ends, _ALIKE.get(name, name), maxsplit=1)[0] for ends in ("$", ":", "[:+]", "[:+-]"))
    return next(COLORS[key] for key in (*wishes, otherwise) if key in COLORS)
