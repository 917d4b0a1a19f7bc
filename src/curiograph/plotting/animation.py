"""A walk that grows node by node."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.arrays import Int64
from curiograph.errors import SettingError
from curiograph.files import open_atomic
from curiograph.messages import shorten_text
from curiograph.optional import import_optional
from curiograph.plotting.figures import create_figure, set_integer_ticks
from curiograph.plotting.fonts import list_font_families, replace_missing_glyphs
from curiograph.plotting.growth import build_step_curve, set_limits_from_zero
from curiograph.plotting.palette import COLORS, DASHES, MARKERS, get_color
from curiograph.plotting.walks import DrawnWalk, WalkPicture
from curiograph.progress import Progress, no_progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PAUSE, _LINGER = 700, 3000  # milliseconds that a frame and the last one stay
_DOTS = 100  # to an inch
_TINTS = 96  # of the whole animation: few keep the file small
_FRAMES = 60  # of a longer walk, some nodes share one


def save_animation(walk: DrawnWalk, path: str | Path, progress: Progress = no_progress) -> None:
    """Write a .gif with a frame for every node, whole or not at all: the walk above, below it what it has grown.

    A walk of more than 60 nodes has 60 frames.
    """
    if Path(path).suffix.lower() != ".gif":
        raise SettingError(f"cannot write an animation to {path}; end its name in .gif.")
    image = import_optional("PIL.Image", "plot", "Pictures")
    film = _Film(walk)
    steps = frame_steps(len(walk.nodes))
    tints = _tints([film.frame(step) for step in {steps[0], steps[len(steps) // 2], steps[-1]}])
    frames = []
    for number, step in enumerate(steps):
        progress(f"frame {number + 1} of {len(steps)}", number / len(steps))
        frames.append(image.fromarray(film.frame(step)).quantize(palette=tints, dither=image.Dither.NONE))
    _save(frames, path)


def frame_steps(nodes: int) -> list[int]:
    """How many nodes have been visited in every frame.

    >>> frame_steps(4), len(frame_steps(500)), frame_steps(500)[-1]
    ([1, 2, 3, 4], 60, 500)
    """
    return [round(step) for step in np.linspace(1, nodes, min(nodes, _FRAMES))]


class _Film:
    """Axes on which a walk and its curves are drawn after any number of nodes."""

    def __init__(self, walk: DrawnWalk) -> None:
        self._walk = walk
        made, (self._above, below) = create_figure(6.4, 7.2, rows=2, heights=(4, 1))
        self._canvas = import_optional("matplotlib.backends.backend_agg", "plot", "Pictures").FigureCanvasAgg(made)
        made.set_dpi(_DOTS)
        made.suptitle(walk.title, fontsize=11, fontfamily=list(list_font_families()), parse_math=False)
        self._curves = _Curves(below, walk.beta1, walk.rewards, walk.reward)
        self._names = replace_missing_glyphs([shorten_text(label, 40) for label in walk.nodes])
        self._caption(1)
        made.draw_without_rendering()
        made.set_layout_engine("none")  # from here on nothing moves
        self._picture = WalkPicture(walk, self._above)

    def frame(self, step: int) -> Any:
        """What there is after `step` nodes, as red, green and blue."""
        above = self._above
        for old in [*above.patches, *above.collections, *above.texts, *above.artists]:
            old.remove()
        self._caption(step)
        self._curves.draw(step)
        self._picture.draw(step)
        self._canvas.draw()
        return np.asarray(self._canvas.buffer_rgba())[:, :, :3].copy()

    def _caption(self, step: int) -> None:
        earned = f", {self._walk.reward} {self._walk.rewards[step - 2]:.3g}" if step > 1 and self._walk.rewards else ""
        text = f"{step} of {len(self._walk.nodes)}: {self._names[step - 1]}{earned}"
        self._above.set_title(
            text, fontsize=10, fontfamily=list(list_font_families()), color=COLORS["ink"], parse_math=False
        )


class _Curves:
    """Gaps over the steps, and the reward where it is another."""

    def __init__(self, ax: Axes, beta1: Int64, rewards: Sequence[float], reward: str) -> None:
        self._beta1 = beta1
        (self._gaps,) = ax.plot([], [], drawstyle="steps-post", color=COLORS["igt"], linewidth=2)
        ax.set_xlim(0.5, len(beta1) + 0.5)
        set_limits_from_zero(ax, max(1.0, float(beta1.max())))
        ax.set_xlabel("nodes visited")
        ax.set_ylabel("gaps", color=COLORS["igt"])
        set_integer_ticks(ax.xaxis)
        set_integer_ticks(ax.yaxis)
        ax.spines[["top", "right"]].set_visible(False)
        self._rewards = np.array([np.nan, *rewards])
        self._earned: Any = None
        if reward != "igt" and len(rewards):
            right, colour = ax.twinx(), get_color(reward, "ink")
            dot = MARKERS["cpt"] if len(rewards) == 1 else ""
            (self._earned,) = right.plot([], [], marker=dot, linestyle=DASHES["cpt"], color=colour, linewidth=2)
            low, high = min(0.0, *rewards), max(0.0, *rewards)
            right.set_ylim(low - 0.04 * (high - low), max(high + 0.1 * (high - low), 1e-9))
            right.set_ylabel(f"{shorten_text(reward, 16)}, dashed", color=colour, parse_math=False)
            right.spines[["top", "left"]].set_visible(False)

    def draw(self, step: int) -> None:
        """Show the first steps."""
        self._gaps.set_data(*build_step_curve(self._beta1[:step]))
        if self._earned is not None:
            self._earned.set_data(np.arange(1, step + 1), self._rewards[:step])


def _tints(frames: Sequence[Any]) -> Any:
    """A palette that all frames share."""
    image = import_optional("PIL.Image", "plot", "Pictures")
    tints = image.fromarray(np.vstack(frames)).quantize(_TINTS)
    shades = np.reshape(tints.getpalette(), (-1, 3))
    shades[shades.min(axis=1) > 247] = 255  # paper stays white
    tints.putpalette(shades.ravel().tolist())
    return tints


def _save(frames: Sequence[Any], path: str | Path) -> None:
    buffer = io.BytesIO()
    pauses = [_PAUSE] * (len(frames) - 1) + [_LINGER]
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:], duration=pauses, loop=0, optimize=False)
    with open_atomic(path) as stream:
        stream.write(buffer.getvalue())
