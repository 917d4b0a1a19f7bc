"""What can only be done once axes have got their size; imported where matplotlib is known to be there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from matplotlib.artist import Artist


class DrawCallback(Artist):
    """Draws nothing, but calls a function with the renderer whenever its axes are about to be drawn."""

    def __init__(self, call: Callable[[Any], None]) -> None:
        super().__init__()
        self._call = call
        self.set_zorder(-1)  # before all others
        self.set_in_layout(False)

    def draw(self, renderer: Any) -> None:
        """Call the function."""
        self._call(renderer)
