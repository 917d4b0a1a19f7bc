"""Artist that calls a function before its axes are drawn; import it only where matplotlib is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from matplotlib.artist import Artist


class DrawCallback(Artist):
    """Call a function with the renderer whenever the axes are about to be drawn; draw nothing."""

    def __init__(self, callback: Callable[[Any], None]) -> None:
        super().__init__()
        self._callback = callback
        self.set_zorder(-1)  # before all other artists
        self.set_in_layout(False)

    def draw(self, renderer: Any) -> None:
        """Call the function."""
        self._callback(renderer)
