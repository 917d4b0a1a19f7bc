"""Style of the page: a grid that becomes one column on a phone, and the colors of all figures."""

from __future__ import annotations

from pathlib import Path

from curiograph.plotting import COLORS


def get_color(name: str, dark: bool) -> str:
    """Return the color of a reward or chooser; a lighter one in dark mode.

    >>> get_color("human", dark=True)
    '#c490aa'
    """
    color = COLORS[name]
    if not dark:
        return color
    lighter = (round(0.5 * int(color[i : i + 2], 16) + 0.5 * 255) for i in (1, 3, 5))
    return "#" + "".join(f"{channel:02x}" for channel in lighter)


_CSS_COLORS = ("igt", "cpt", "human", "mixture")
_SHADES = {
    False: {
        "text": "#1f2328",
        "faint": "#57606a",
        "line": "#c4c9cf",
        "edge": "#8f979f",
        "paper": "#ffffff",
        "agent": "#3d4f5f",
        "cpt-text": "#a84a00",
        "q-primary": COLORS["igt"],
    },
    True: {
        "text": "#e8eaed",
        "faint": "#a8b0b8",
        "line": "#565c63",
        "edge": "#7d858d",
        "paper": "#121212",
        "agent": "#b9c6d2",
        "cpt-text": get_color("cpt", True),
        "q-primary": get_color("igt", True),
    },
}
"""Colors of texts and lines in light (False) and dark mode (True)."""


def _list_variables(dark: bool) -> str:
    variables = {name: get_color(name, dark) for name in _CSS_COLORS} | _SHADES[dark]
    return " ".join(f"--{name}: {color} !important;" for name, color in variables.items())


CSS = f"body {{ {_list_variables(dark=False)} }}\nbody.body--dark {{ {_list_variables(dark=True)} }}\n" + Path(
    __file__
).with_name("page.css").read_text(encoding="utf-8")

ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="10" fill="none" '
    f'stroke="{COLORS["igt"]}" stroke-width="4"/><circle cx="16" cy="6" r="5" fill="{COLORS["cpt"]}"/></svg>'
)
