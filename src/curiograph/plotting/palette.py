"""Colors, line styles and markers of all figures and of the web page, chosen for readers with color vision deficiency.

The six main series also differ in line style and marker, so that they are distinguishable in grayscale.
"""

from __future__ import annotations

from typing import Any

COLORS = {
    "igt": "#0072B2",
    "cpt": "#D55E00",
    "cct": "#661100",
    "pagerank": "#44AA99",
    "human": "#882255",
    "mixture": "#117733",
    "random": "#BBBBBB",
    "max-degree": "#E69F00",
    "min-degree": "#CC79A7",
    "greedy": "#56B4E9",
    "gnn-paper": "#DDCC77",
    "gnn": "#999933",
    "planner": "#CC3311",
    "beam": "#000000",
    "paper": "#009E73",
    "muted": "#999999",
    "text": "#333333",
}
"""Colors of rewards, rankings, humans and agents in CSS notation; `muted` for background elements, `text` for text."""

LINE_STYLES: dict[str, Any] = {
    "igt": "-",
    "cpt": (0, (5, 2)),
    "cct": (0, (9, 2)),
    "pagerank": (0, (1, 1.2)),
    "human": (0, (6, 2, 1, 2)),
    "mixture": (0, (3, 1, 1, 1, 1, 1)),
}
"""Line styles of the six main series."""

MARKERS = {
    "igt": "o", "cpt": "s", "cct": "P", "pagerank": "^", "human": "D", "mixture": "h",
    "random": ".", "greedy": "s", "gnn": "^", "planner": "v", "beam": "D",
}  # fmt: skip
"""Matplotlib markers by series; other series have the default marker."""

_GROUPS = ("max-degree", "pagerank", "human", "greedy", "gnn", "min-degree", "beam")
_GROUP_COLORS = ("#332288", *(COLORS[name] for name in _GROUPS))
_GROUP_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 2, 1, 2)), (0, (3, 1, 1, 1, 1, 1)))


def get_group_style(number: int) -> dict[str, Any]:
    """Return color and dash of a group of people by its number; repeated if there are many groups."""
    color, dash = _GROUP_COLORS[number % len(_GROUP_COLORS)], _GROUP_DASHES[number % len(_GROUP_DASHES)]
    return {"color": color, "linestyle": dash}


def get_color(name: str, default: str = "muted") -> str:
    """Return the color of a reward, an agent or a ranker, if necessary without beam width and graph family.

    >>> get_color("igt-rg") == COLORS["igt"], get_color("beam:64") == COLORS["beam"]
    (True, True)
    """
    name = "mixture" if name == "igt+cpt" else name.partition(":")[0]
    return COLORS.get(name, COLORS.get(name.partition("-")[0], COLORS[default]))
