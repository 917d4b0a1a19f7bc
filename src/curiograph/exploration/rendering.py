"""Images of a walk in the Gymnasium environment."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import import_optional
from curiograph.graph.graph import Graph

RENDER_MODES = ("ansi", "rgb_array")

_PIXELS = 480


def draw_walk(graph: Graph, places: Float64, steps: int, visited: Int64, candidates: Int32) -> NDArray[np.uint8]:
    """Draw visited nodes dark to light in order of visit, the last one ringed, candidates orange, the rest gray."""
    figures = import_optional("matplotlib.figure", "plot", "Pictures")
    agg = import_optional("matplotlib.backends.backend_agg", "plot", "Pictures")
    figure = figures.Figure(figsize=(_PIXELS / 100, _PIXELS / 100), dpi=100)
    canvas = agg.FigureCanvasAgg(figure)  # not pyplot, which would keep every figure
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.scatter(*places.T, s=12, color="0.85")
    axes.scatter(*places[candidates].T, s=30, color="tab:orange")
    ordered = np.sort(visited)
    source, target, _ = graph.skeleton.induced(ordered).get_edges()
    for u, v in zip(ordered[source], ordered[target], strict=True):
        axes.plot(*places[[u, v]].T, color="0.4", linewidth=1.2, zorder=1)
    axes.scatter(*places[visited].T, s=90, c=np.arange(len(visited)), cmap="viridis", vmin=0, vmax=steps - 1)
    axes.scatter(*places[visited[-1:]].T, s=200, facecolors="none", edgecolors="black")
    canvas.draw()
    return np.array(canvas.buffer_rgba(), np.uint8)[:, :, :3]
