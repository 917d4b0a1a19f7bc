"""Elements of the page that are drawn in the browser, by the scripts next to this module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from curiograph.service.page.words import TOUR


class Picture(ui.element, component="picture.js"):
    """The visited subgraph; a click on a candidate calls `on_visit` with its number and the length of the walk."""

    def __init__(self, walk: dict[str, Any], on_visit: Callable[[int, int], Any] | None = None) -> None:
        super().__init__()
        self.show(walk)
        self._props["listed"] = on_visit is not None  # its gaps and candidates are those of the panels
        if on_visit is not None:
            self.on("visit", lambda event: on_visit(int(event.args[0]), int(event.args[1])))

    def show(self, walk: dict[str, Any]) -> None:
        """Show a walk, as described by `draw_picture`."""
        self._props["walk"] = walk
        self.update()


class GrowthCurve(ui.element, component="growth.js"):
    """Gaps and compression over the nodes visited."""

    def __init__(self, growth: dict[str, Any]) -> None:
        super().__init__()
        self.show(growth)

    def show(self, growth: dict[str, Any]) -> None:
        """Show the growth of a walk, as described by `draw_growth`."""
        self._props["growth"] = growth
        self.update()


class Browser(ui.element, component="browser.js"):
    """Keys, light or dark mode, and the guided tour, which starts by itself once if `welcome`."""

    def __init__(self, welcome: bool) -> None:
        super().__init__()
        self._props["tour"] = [{"target": target, "title": title, "text": text} for target, title, text in TOUR]
        self._props["welcome"] = welcome
