"""Colors, dashes and markers of all figures and of the page, distinguishable with color vision deficiencies.

Where two of the five main colors are similar in gray, their dashes and markers differ.
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
"""Colors of rewards, rankings, people and agents in CSS notation; `quiet` for background elements, `ink` for text."""

DASHES: dict[str, Any] = {
    "igt": "-",
    "cpt": (0, (5, 2)),
    "pagerank": (0, (1, 1.2)),
    "human": (0, (6, 2, 1, 2)),
    "mixture": (0, (3, 1, 1, 1, 1, 1)),
}
"""Line styles of the five main series."""

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
"""Marker shapes."""


_ALIASES = {"igt+cpt": "mixture"}  # names that use the color of another


def get_color(name: str, default: str = "quiet") -> str:
    """Return the color of a name, or of the name without its width, its planner or its family.

    >>> get_color("igt-rg") == COLORS["igt"], get_color("unknown") == COLORS["quiet"]
    (True, True)
    >>> get_color("beam:64") == COLORS["beam"], get_color("horizon+beam:8") == COLORS["horizon+beam"]
    (True, True)
    """
    prefixes = (re.split(end, _ALIASES.get(name, name), maxsplit=1)[0] for end in ("$", ":", "[:+]", "[:+-]"))
    return next(COLORS[key] for key in (*prefixes, default) if key in COLORS)
