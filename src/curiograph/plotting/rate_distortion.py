"""Plot the rate-distortion curve of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curiograph.arrays import Float64
from curiograph.plotting.figures import create_figure
from curiograph.plotting.palette import COLORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_rate_distortion(scale: Float64, upper: Float64, lower: Float64, ax: Axes | None = None) -> Axes:
    """Plot the curve, its lower bound, and the area above it, which is the compressibility."""
    if ax is None:
        ax = create_figure()[1]
    area = f"compressibility: {float((upper[0] - upper).mean()):.3g} bits"
    ax.fill_between(scale, upper, upper[0], color=COLORS["cpt"], alpha=0.15, linewidth=0, label=area)
    ax.plot(scale, upper, color=COLORS["cpt"], linewidth=2, label="rate (upper bound)")
    ax.plot(scale, lower, ":", color=COLORS["quiet"], linewidth=2, label="lower bound")
    ax.set_xlabel("scale of description")
    ax.set_ylabel("information rate (bits)")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
