"""Create and save matplotlib figures without a window."""

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


def set_integer_ticks(axis: Axis) -> None:
    """Place ticks at integers only, at least one."""
    axis.set_major_locator(import_matplotlib("ticker").MaxNLocator(integer=True, min_n_ticks=1))
