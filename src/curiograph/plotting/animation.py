"""Animate a walk that grows node by node."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.errors import SettingError, import_optional, shorten_text
from curiograph.files import open_atomic
from curiograph.plotting.figures import LABEL_STYLE, create_figure, hide_frame, import_matplotlib
from curiograph.plotting.growth import build_step_curve, label_axes, set_limits_from_zero
from curiograph.plotting.palette import COLORS, LINE_STYLES, MARKERS, get_color
from curiograph.plotting.walks import DrawnWalk, WalkPicture
from curiograph.progress import Progress, no_progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FRAME_DURATION, _LAST_DURATION = 700, 3000  # milliseconds
_DPI = 100
_NUM_COLORS = 96  # of the whole animation: few colors keep the file small
_MAX_FRAMES = 60  # in longer walks, several nodes share a frame


def save_animation(walk: DrawnWalk, path: str | Path, progress: Progress = no_progress) -> None:
    """Write a .gif with a frame per node, at most 60, atomically: the walk above, its growth below."""
    if Path(path).suffix.lower() != ".gif":
        raise SettingError(f"cannot write an animation to {path}; end its name in .gif.")
    image = import_optional("PIL.Image", "plot", "Pictures")
    renderer = _FrameRenderer(walk)
    steps = [round(step) for step in np.linspace(1, len(walk.nodes), min(len(walk.nodes), _MAX_FRAMES))]
    samples = [renderer.render(step) for step in {steps[0], steps[len(steps) // 2], steps[-1]}]
    palette = image.fromarray(np.vstack(samples)).quantize(_NUM_COLORS)
    shades = np.reshape(palette.getpalette(), (-1, 3))
    shades[shades.min(axis=1) > 247] = 255  # the background stays white
    palette.putpalette(shades.ravel().tolist())
    frames = []
    for number, step in enumerate(steps):
        progress(f"frame {number + 1} of {len(steps)}", number / len(steps))
        frames.append(image.fromarray(renderer.render(step)).quantize(palette=palette, dither=image.Dither.NONE))
    buffer = io.BytesIO()
    durations = [_FRAME_DURATION] * (len(frames) - 1) + [_LAST_DURATION]
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:], duration=durations, loop=0, optimize=False)
    with open_atomic(path) as stream:
        stream.write(buffer.getvalue())


class _FrameRenderer:
    """A figure on which a walk and its growth curves are drawn after any number of nodes."""

    def __init__(self, walk: DrawnWalk) -> None:
        self._walk = walk
        figure, (self._upper, lower) = create_figure(6.4, 7.2, rows=2, heights=(4, 1))
        self._canvas = import_matplotlib("backends.backend_agg").FigureCanvasAgg(figure)
        figure.set_dpi(_DPI)
        figure.suptitle(walk.title, fontsize=11, **LABEL_STYLE)
        self._draw_curves = _prepare_curves(walk, lower)
        self._set_caption(1)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # the layout is the same in all frames
        self._picture = WalkPicture(walk, self._upper)

    def render(self, step: int) -> Any:
        """Return an RGB image of the walk after `step` nodes."""
        ax = self._upper
        for artist in [*ax.patches, *ax.collections, *ax.texts, *ax.artists]:
            artist.remove()
        self._set_caption(step)
        self._draw_curves(step)
        self._picture.draw(step)
        self._canvas.draw()
        return np.asarray(self._canvas.buffer_rgba())[:, :, :3].copy()

    def _set_caption(self, step: int) -> None:
        reward = f", {self._walk.reward} {self._walk.rewards[step - 2]:.3g}" if step > 1 and self._walk.rewards else ""
        text = f"{step} of {len(self._walk.nodes)}: {shorten_text(self._walk.nodes[step - 1], 40)}{reward}"
        self._upper.set_title(text, fontsize=10, color=COLORS["text"], **LABEL_STYLE)


def _prepare_curves(walk: DrawnWalk, ax: Axes) -> Callable[[int], None]:
    """Return a function that draws the curves of the gaps and, if it is not igt, of the reward, up to a step."""
    (gap_line,) = ax.plot([], [], drawstyle="steps-post", color=COLORS["igt"], linewidth=2)
    ax.set_xlim(0.5, len(walk.beta1) + 0.5)
    set_limits_from_zero(ax, max(1.0, float(walk.beta1.max())))
    label_axes(hide_frame(ax), "gaps")
    rewards, reward_line = np.array([np.nan, *walk.rewards]), None
    if walk.reward != "igt" and walk.rewards:
        right, color = ax.twinx(), get_color(walk.reward, "text")
        marker = MARKERS["cpt"] if len(walk.rewards) == 1 else ""
        (reward_line,) = right.plot([], [], marker=marker, linestyle=LINE_STYLES["cpt"], color=color, linewidth=2)
        low, high = min(0.0, *walk.rewards), max(0.0, *walk.rewards)
        right.set_ylim(low - 0.04 * (high - low), max(high + 0.1 * (high - low), 1e-9))
        right.set_ylabel(f"{shorten_text(walk.reward, 16)}, dashed", color=color, parse_math=False)
        right.spines[["top", "left"]].set_visible(False)

    def draw(step: int) -> None:
        gap_line.set_data(*build_step_curve(walk.beta1[:step]))
        if reward_line is not None:
            reward_line.set_data(np.arange(1, step + 1), rewards[:step])

    return draw
