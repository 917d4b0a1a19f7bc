"""Create and save matplotlib figures without a window."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curiograph.files import open_atomic
from curiograph.optional import import_optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def import_matplotlib(module: str) -> Any:
    """Import a module of matplotlib, or raise an error that names the extra to install."""
    return import_optional(f"matplotlib.{module}", "plot", "Pictures")


def save_figure(axes: Axes, path: str | Path) -> None:
    """Write the figure of `axes` to a .png, .svg or .pdf file, atomically."""
    file_format = Path(path).suffix.lower().lstrip(".") or "png"
    buffer = io.BytesIO()
    figure: Any = axes.figure
    figure.savefig(buffer, format=file_format, dpi=150, bbox_inches="tight")
    with open_atomic(path) as stream:
        stream.write(buffer.getvalue())


def create_figure(
    width: float = 6.4,
    height: float = 4.0,
    columns: int = 1,
    rows: int = 1,
    widths: Sequence[float] | None = None,
    heights: Sequence[float] | None = None,
) -> tuple[Figure, Any]:
    """Create a figure with its axes; `widths` and `heights` are the relative sizes of columns and rows."""
    figure = import_matplotlib("figure").Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, width_ratios=widths, height_ratios=heights)


def call_before_drawing(ax: Axes, callback: Callable[[Any], None]) -> None:
    """Call a function with the renderer whenever the axes are about to be drawn."""

    class Callback(import_matplotlib("artist").Artist):  # type: ignore[misc]
        def draw(self, renderer: Any) -> None:
            callback(renderer)

    artist = Callback()
    artist.set_zorder(-1)  # before all other artists
    artist.set_in_layout(False)
    ax.add_artist(artist)
