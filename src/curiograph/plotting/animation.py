"""A walk that grows node by node."""

from __future__ import annotations

import io
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.errors import SettingError
from curiograph.extras import require
from curiograph.graph.container import Graph
from curiograph.graph.rows import Int64
from curiograph.graph.storage import replacing, shortened
from curiograph.plotting.canvas import figure, whole_numbers
from curiograph.plotting.palette import COLOURS, DASHES, colour_of
from curiograph.plotting.walks import DrawnGap, WalkPicture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PAUSE, _LINGER = 700, 3000  # milliseconds that a frame and the last one stay
_DOTS = 100  # to an inch
_TINTS = 96  # of the whole animation: few keep the file small


def animate_walk(
    graph: Graph,
    nodes: Sequence[Hashable],
    gaps: Sequence[DrawnGap],
    beta1: Int64,
    rewards: Sequence[float],
    reward: str,
    title: str,
    path: str | Path,
) -> None:
    """Write a .gif with a frame for every node, whole or not at all: the walk above, below it what it has grown."""
    if Path(path).suffix.lower() != ".gif":
        raise SettingError(f"cannot write an animation to {path}; end its name in .gif.")
    picture = WalkPicture(graph, nodes, gaps)
    made, (above, below) = figure(6.4, 7.2, rows=2, heights=(4, 1))
    canvas = require("matplotlib.backends.backend_agg", "plot", "Pictures").FigureCanvasAgg(made)
    made.set_dpi(_DOTS)
    made.suptitle(title, fontsize=11, parse_math=False)
    curves = _Curves(below, beta1, rewards, reward)
    picture.prepare(above)
    frames = []
    for step in range(1, len(nodes) + 1):
        above.set_title(_caption(nodes, rewards, reward, step), fontsize=10, color=COLOURS["ink"], parse_math=False)
        curves.draw(step)
        if step == 1:
            made.draw_without_rendering()
            made.set_layout_engine("none")  # from here on nothing moves
        for old in [*above.patches, *above.collections, *above.texts]:
            old.remove()
        picture.draw(above, step)
        canvas.draw()
        frames.append(np.asarray(canvas.buffer_rgba())[:, :, :3].copy())
    _save(frames, path)


def _caption(nodes: Sequence[Hashable], rewards: Sequence[float], reward: str, step: int) -> str:
    earned = f", {reward} {rewards[step - 2]:.3g}" if step > 1 else ""
    return f"{step} of {len(nodes)}: {shortened(nodes[step - 1], 40)}{earned}"


class _Curves:
    """Gaps over the steps, and the reward where it is another."""

    def __init__(self, ax: Axes, beta1: Int64, rewards: Sequence[float], reward: str) -> None:
        self._steps, self._beta1 = np.arange(1, len(beta1) + 1), beta1
        (self._gaps,) = ax.step([], [], where="post", color=COLOURS["igt"], linewidth=2)
        ax.set_xlim(0.5, len(beta1) + 0.5)
        ax.set_ylim(0, max(1, int(beta1.max())) * 1.1)
        ax.set_xlabel("nodes visited")
        ax.set_ylabel("gaps", color=COLOURS["igt"])
        whole_numbers(ax.xaxis)
        whole_numbers(ax.yaxis)
        ax.spines[["top", "right"]].set_visible(False)
        self._rewards = np.array([np.nan, *rewards])
        self._earned: Any = None
        if reward != "igt" and len(rewards):
            right, colour = ax.twinx(), colour_of(reward, "ink")
            (self._earned,) = right.plot([], [], linestyle=DASHES["cpt"], color=colour, linewidth=2)
            spread = max(float(np.ptp(rewards)), 1e-9)
            right.set_ylim(min(0.0, min(rewards)), max(rewards) + 0.1 * spread)
            right.set_ylabel(f"{shortened(reward, 16)}, dashed", color=colour, parse_math=False)
            right.spines[["top", "left"]].set_visible(False)

    def draw(self, step: int) -> None:
        """Show the first steps."""
        self._gaps.set_data(self._steps[:step], self._beta1[:step])
        if self._earned is not None:
            self._earned.set_data(self._steps[:step], self._rewards[:step])


def _save(frames: Sequence[Any], path: str | Path) -> None:
    """Write the frames with tints that all of them share."""
    image = require("PIL.Image", "plot", "Pictures")
    tints = image.fromarray(np.vstack([frames[0], frames[len(frames) // 2], frames[-1]])).quantize(_TINTS)
    shades = np.reshape(tints.getpalette(), (-1, 3))
    shades[shades.min(axis=1) > 247] = 255  # paper stays white
    tints.putpalette(shades.ravel().tolist())
    flat = [image.fromarray(frame).quantize(palette=tints, dither=image.Dither.NONE) for frame in frames]
    buffer = io.BytesIO()
    pauses = [_PAUSE] * (len(flat) - 1) + [_LINGER]
    flat[0].save(buffer, "GIF", save_all=True, append_images=flat[1:], duration=pauses, loop=0, optimize=False)
    with replacing(path) as stream:
        stream.write(buffer.getvalue())
