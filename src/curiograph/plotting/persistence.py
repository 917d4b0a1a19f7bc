"""Plot the persistence of gaps over similarity: bars of one walk, and the diagram of many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from curiograph.messages import shorten_text
from curiograph.plotting.figures import create_figure
from curiograph.plotting.palette import COLORS, MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_NAMED = 25  # bars with a name


def plot_barcode(
    births: Sequence[float], deaths: Sequence[float], names: Sequence[str], ax: Axes | None = None
) -> Axes:
    """Plot a bar per gap from birth to death, in bits; open gaps continue to the right end, with an arrow."""
    if ax is None:
        ax = create_figure(6.4, 1.2 + min(0.22 * len(births), 6.0))[1]
    finite = [value for value in (*births, *deaths) if np.isfinite(value)]
    end = 1.1 * max(finite, default=1.0) + 0.1
    for row, (birth, death) in enumerate(zip(births, deaths, strict=True)):
        ax.plot([birth, min(death, end)], [row, row], color=COLORS["igt"], linewidth=3, solid_capstyle="butt")
        if np.isinf(death):
            ax.plot(end, row, marker=">", color=COLORS["igt"], clip_on=False)
    if len(names) <= _MAX_NAMED:
        ax.set_yticks(range(len(names)), [shorten_text(name, 50) for name in names], fontsize=7)
    else:
        ax.set_ylabel("gaps, in order of opening")
    ax.set_xlim(0.0, end)
    ax.set_ylim(len(births) - 0.4, -0.6)
    ax.set_xlabel("bits of similarity; arrow: never closed")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_persistence_diagram(births: NDArray[Any], deaths: NDArray[Any], ax: Axes | None = None) -> Axes:
    """Plot death against birth of gaps, in bits; gaps that never close are on the line at the top."""
    if ax is None:
        ax = create_figure(4.8, 4.4)[1]
    is_open = np.isinf(deaths)
    top = 1.15 * float(max(births.max(initial=0.1), deaths[~is_open].max(initial=0.1)))
    ax.plot([0, top], [0, top], color=COLORS["muted"], linewidth=0.8)
    ax.axhline(top, color=COLORS["muted"], linewidth=0.8, linestyle=":")
    style: Any = {"s": 14, "color": COLORS["igt"], "alpha": min(0.7, 30 / np.sqrt(len(births) + 1) / 5 + 0.1)}
    ax.scatter(births[~is_open], deaths[~is_open], marker=MARKERS["igt"], label="closed", **style)
    ax.scatter(births[is_open], np.full(np.count_nonzero(is_open), top), marker="^", label="never closed", **style)
    ax.set_xlabel("birth (bits of similarity)")
    ax.set_ylabel("death (bits of similarity)")
    ax.set_title(f"{len(births):,} gaps", fontsize=10)
    ax.legend(frameon=False, fontsize=8, loc="lower right")
    ax.spines[["top", "right"]].set_visible(False)
    return ax
