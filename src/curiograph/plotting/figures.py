"""Create and save matplotlib figures without a window."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curiograph.errors import import_optional
from curiograph.files import open_atomic

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure
else:  # matplotlib is optional, and imported when the first figure is made
    Axes = Figure = Any

LABEL_STYLE: Any = {"parse_math": False}
"""Style of texts with names of nodes or people: a dollar sign starts no formula."""
_STYLE = {"svg.fonttype": "none", "pdf.fonttype": 42, "ps.fonttype": 42, "svg.hashsalt": "curiograph"}
_METADATA = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}  # the same figure has the same bytes


def import_matplotlib(module: str) -> Any:
    """Import a module of matplotlib, or raise an error that names the extra to install."""
    return import_optional(f"matplotlib.{module}", "plot", "Pictures")


def save_figure(axes: Axes, path: str | Path) -> None:
    """Write the figure of `axes` to a .png, .svg or .pdf file, atomically."""
    buffer = io.BytesIO()
    _save_styled(axes.figure, buffer, format=Path(path).suffix.lower().lstrip(".") or "png", dpi=150)
    with open_atomic(path) as stream:
        stream.write(buffer.getvalue())


def _save_styled(figure: Any, target: Any, **options: Any) -> None:
    """Save a figure, cropped to what is drawn, with editable text, TrueType fonts and the same bytes every time."""
    ending = Path(target).suffix.lstrip(".") if isinstance(target, str | Path) else ""
    metadata = _METADATA.get(str(options.get("format") or ending).lower())
    options = {"metadata": metadata, "bbox_inches": "tight"} | options
    with import_optional("matplotlib", "plot", "Pictures").rc_context(_STYLE):
        import_matplotlib("figure").Figure.savefig(figure, target, **options)


def create_figure(
    width: float = 6.4, height: float = 4.0, columns: int = 1, rows: int = 1, widths: Sequence[float] | None = None,
    heights: Sequence[float] | None = None,
) -> tuple[Figure, Any]:  # fmt: skip
    """Create a figure with its axes: size in inches, numbers of panels, and relative sizes of columns and rows.

    >>> figure, (left, right) = create_figure(7.2, 2.5, columns=2)
    >>> float(figure.get_figwidth())
    7.2
    """
    figure = _get_figure_class()(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, width_ratios=widths, height_ratios=heights)


@cache
def _get_figure_class() -> Any:
    class PublicationFigure(import_matplotlib("figure").Figure):  # type: ignore[misc]
        """A figure that is saved in our style and shown in notebooks."""

        def savefig(self, fname: Any, **options: Any) -> None:
            _save_styled(self, fname, **options)

        def _repr_png_(self) -> bytes:
            buffer = io.BytesIO()
            self.savefig(buffer, format="png", dpi=100)
            return buffer.getvalue()

    return PublicationFigure


def hide_frame(ax: Axes) -> Axes:
    """Hide the top and the right side of the frame, and return the axes."""
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def use_integer_ticks(*axes: Any, min_n_ticks: int = 1, steps: Sequence[int] | None = None) -> None:
    """Place the ticks of some axes at integers only; arguments as those of matplotlib's `MaxNLocator`."""
    locator = import_matplotlib("ticker").MaxNLocator
    for axis in axes:
        axis.set_major_locator(locator(integer=True, min_n_ticks=min_n_ticks, steps=steps))
