"""Create and save matplotlib figures without a window."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from curiograph.files import open_atomic
from curiograph.optional import import_optional
from curiograph.validation import check_choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ColumnWidth = Literal["single", "double"]
COLUMN_WIDTHS = {"single": 3.5, "double": 7.2}
"""Widths in inches of one and two columns of a journal (89 and 183 mm)."""
COLUMN_TEXT = 7.0
"""Size in points of the text of figures of a column width."""

_STYLE = {"svg.fonttype": "none", "pdf.fonttype": 42, "ps.fonttype": 42, "svg.hashsalt": "curiograph"}
_COLUMN_STYLE = {"font.size": COLUMN_TEXT, "axes.titlesize": COLUMN_TEXT + 1, "axes.linewidth": 0.6}
_METADATA = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}  # the same figure has the same bytes


def import_matplotlib(module: str) -> Any:
    """Import a module of matplotlib, or raise an error that names the extra to install."""
    return import_optional(f"matplotlib.{module}", "plot", "Pictures")


def use_style() -> Any:
    """Return a context in which figures are saved with editable text, TrueType fonts and the same bytes every time."""
    return _use_settings(_STYLE)


def _use_settings(settings: dict[str, Any]) -> Any:
    return import_optional("matplotlib", "plot", "Pictures").rc_context(settings)


def save_figure(axes: Axes, path: str | Path) -> None:
    """Write the figure of `axes` to a .png, .svg or .pdf file, atomically."""
    file_format = Path(path).suffix.lower().lstrip(".") or "png"
    buffer = io.BytesIO()
    save_styled(axes.figure, buffer, {"format": file_format, "dpi": 150})
    with open_atomic(path) as stream:
        stream.write(buffer.getvalue())


def save_styled(figure: Any, target: Any, options: dict[str, Any]) -> None:
    """Save a figure of any origin in our style; `options` are those of matplotlib's `savefig`.

    A figure of a column width keeps exactly this width. Others are cropped or enlarged to what is drawn.
    """
    ending = Path(target).suffix.lstrip(".") if isinstance(target, (str, Path)) else ""
    file_format = str(options.get("format") or ending or "png").lower()
    defaults: dict[str, Any] = {"metadata": _METADATA.get(file_format)}
    if not getattr(figure, "has_column_width", False):
        defaults["bbox_inches"] = "tight"
    with use_style():
        import_matplotlib("figure").Figure.savefig(figure, target, **(defaults | options))


def create_figure(
    width: float | ColumnWidth = 6.4,
    height: float = 4.0,
    columns: int = 1,
    rows: int = 1,
    widths: Sequence[float] | None = None,
    heights: Sequence[float] | None = None,
) -> tuple[Figure, Any]:
    """Create a figure with its axes.

    Parameters
    ----------
    width : float, "single" or "double"
        Width in inches, or that of one or two columns of a journal, with smaller text.
    height : float
        Height in inches.
    columns, rows : int
        Numbers of panels.
    widths, heights : sequence of float, optional
        Relative sizes of columns and rows.

    Examples
    --------
    >>> figure, ax = create_figure("single", 2.5)
    >>> float(figure.get_figwidth())
    3.5
    """
    in_column = isinstance(width, str)
    if isinstance(width, str):
        width = COLUMN_WIDTHS[check_choice("width", width, list(COLUMN_WIDTHS))]
    figure = _get_figure_class()(figsize=(width, height), layout="constrained")
    figure.has_column_width = in_column
    with _use_settings(_COLUMN_STYLE if in_column else {}):
        axes = figure.subplots(rows, columns, width_ratios=widths, height_ratios=heights)
    if in_column:
        for ax in figure.axes:  # ticks are created when they are drawn, outside of the context
            ax.tick_params(labelsize=COLUMN_TEXT)
    return figure, axes


@cache
def _get_figure_class() -> Any:
    class PublicationFigure(import_matplotlib("figure").Figure):  # type: ignore[misc]
        """A figure that is saved by `save_styled` and shown in notebooks."""

        has_column_width = False

        def savefig(self, fname: Any, **options: Any) -> None:
            save_styled(self, fname, options)

        def _repr_png_(self) -> bytes:
            buffer = io.BytesIO()
            self.savefig(buffer, format="png", dpi=100)
            return buffer.getvalue()

    return PublicationFigure


def call_before_drawing(ax: Axes, callback: Callable[[Any], None]) -> None:
    """Call a function with the renderer whenever the axes are about to be drawn."""

    class Callback(import_matplotlib("artist").Artist):  # type: ignore[misc]
        def draw(self, renderer: Any) -> None:
            callback(renderer)

    artist = Callback()
    artist.set_zorder(-1)  # before all other artists
    artist.set_in_layout(False)
    ax.add_artist(artist)
