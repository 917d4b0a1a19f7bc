"""Figures without a window, and how they become files."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curiograph.files import open_atomic
from curiograph.optional import import_optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure


def save_figure(axes: Axes, path: str | Path) -> None:
    """Write the figure that holds `axes` to a .png, .svg or .pdf file, whole or not at all."""
    kind = Path(path).suffix.lower().lstrip(".") or "png"
    buffer = io.BytesIO()
    drawn: Any = axes.figure
    drawn.savefig(buffer, format=kind, dpi=150, bbox_inches="tight")
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
    """A new figure with its axes, made without a window; `widths` and `heights` are those of columns and rows, alike
    without them."""
    matplotlib = import_optional("matplotlib.figure", "plot", "Pictures")
    made = matplotlib.Figure(figsize=(width, height), layout="constrained")
    return made, made.subplots(rows, columns, width_ratios=widths, height_ratios=heights)


def set_integer_ticks(axis: Axis) -> None:
    """Ticks at whole numbers only, be it one."""
    ticks = import_optional("matplotlib.ticker", "plot", "Pictures").MaxNLocator(integer=True, min_n_ticks=1)
    axis.set_major_locator(ticks)
