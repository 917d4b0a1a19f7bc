"""HTML of results in notebooks: a small table and inline sparklines, with all text escaped."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from itertools import cycle
from typing import Any

from curiograph.messages import shorten_text

_MAX_ROWS = 8  # rows of a table; the rest is counted
_MAX_LETTERS = 40  # of a cell
_WIDTH, _HEIGHT, _MARGIN = 120.0, 24.0, 2.0  # of a sparkline, in pixels
_MAX_POINTS = 200  # of a sparkline
_COLORS = ("#0072B2", "#D55E00", "#661100")  # of gaps, compressibility and conformable degrees of freedom in figures
_LEFT = "text-align: left; vertical-align: middle"


def draw_sparkline(values: Sequence[float], color: str = _COLORS[0]) -> str:
    """Return an inline SVG with a line through the finite values, from the lowest at the bottom to the highest on top.

    >>> draw_sparkline([0, 1]).count("<polyline")
    1
    >>> draw_sparkline([])
    ''
    """
    stride = max(1, math.ceil(len(values) / _MAX_POINTS))
    points = [(place, float(value)) for place, value in enumerate(values) if place % stride == 0]
    points = [(place, value) for place, value in points if math.isfinite(value)]
    if not points:
        return ""
    low, high = min(value for _, value in points), max(value for _, value in points)
    scale = (_HEIGHT - 2 * _MARGIN) / (high - low) if high > low else 0.0
    step = (_WIDTH - 2 * _MARGIN) / max(1, len(values) - 1)
    coordinates = " ".join(
        f"{_MARGIN + step * place:.1f},{_HEIGHT - _MARGIN - scale * (value - low):.1f}" for place, value in points
    )
    last_x, last_y = coordinates.rsplit(" ", 1)[-1].split(",")
    return (
        f'<svg width="{_WIDTH:.0f}" height="{_HEIGHT:.0f}" role="img" aria-label="from {points[0][1]:.3g} to '
        f'{points[-1][1]:.3g}"><polyline points="{coordinates}" fill="none" stroke="{color}" stroke-width="1.5"/>'
        f'<circle cx="{last_x}" cy="{last_y}" r="2" fill="{color}"/></svg>'
    )


def render_result(
    title: str,
    columns: Mapping[str, Sequence[Any]] | None = None,
    sparklines: Mapping[str, Sequence[float]] | None = None,
) -> str:
    """Return the HTML of a result: a title, sparklines by name, and the first rows of a table.

    >>> render_result("Growth(<1 node>)", {"node": ["<b>"]})
    '<div><b>Growth(&lt;1 node&gt;)</b><table>...<td ...>&lt;b&gt;</td></tr></tbody></table></div>'
    """
    parts = [f"<div><b>{escape(title)}</b>"]
    drawn = {
        name: draw_sparkline(values, color)
        for (name, values), color in zip((sparklines or {}).items(), cycle(_COLORS), strict=False)
    }
    if any(drawn.values()):
        cells = [f'<td style="{_LEFT}">{escape(name)} {svg}</td>' for name, svg in drawn.items() if svg]
        parts.append(f"<table><tr>{''.join(cells)}</tr></table>")
    if columns:
        rows = list(zip(*(column[: _MAX_ROWS + 1] for column in columns.values()), strict=True))
        head = "".join(f'<th style="{_LEFT}">{escape(str(name))}</th>' for name in columns)
        parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>")
        for row in rows[:_MAX_ROWS]:
            cells = [f'<td style="{_LEFT}">{_format_cell(value)}</td>' for value in row]
            parts.append(f"<tr>{''.join(cells)}</tr>")
        parts.append("</tbody></table>")
        total = len(next(iter(columns.values())))
        if total > _MAX_ROWS:
            parts.append(f"<i>{total - _MAX_ROWS:,} more rows</i>")
    return "".join([*parts, "</div>"])


def _format_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}" if math.isfinite(value) else "-"
    return escape(shorten_text(value, _MAX_LETTERS))
