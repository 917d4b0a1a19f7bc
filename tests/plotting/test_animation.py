"""Animations of walks."""

from __future__ import annotations

import json
import sys
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

import curiograph as cg
from curiograph.graph.toys import library


def frames(path) -> list[np.ndarray]:
    with Image.open(path) as film:
        found = []
        for number in range(film.n_frames):
            film.seek(number)
            found.append(np.asarray(film.convert("RGB")).astype(int))
        return found


def test_explore_command_plots_and_animates(run, tmp_path):
    ran = run("explore", "toy:library", "--reward", "cpt", "--start", "music", "--steps", "5",
              "--plot", str(tmp_path / "a.png"), "--animate", str(tmp_path / "a.gif"), "--json")  # fmt: skip
    assert ran.code == 0
    assert len(json.loads(ran.out)["nodes"]) == 5
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.format == "PNG"
    found = frames(tmp_path / "a.gif")
    assert len(found) == 5
    assert (tmp_path / "a.gif").stat().st_size < 300_000
    height = found[0].shape[0]
    middle = slice(height // 10, 7 * height // 10)
    for before, after in pairwise(found):
        assert np.abs(before - after).sum() > 0
        ink = [np.count_nonzero(frame[middle].sum(axis=2) < 700) for frame in (before, after)]
        assert ink[1] > ink[0]  # the walk only grows
    corner = found[0][:, :5]
    assert all(np.array_equal(frame[:, :5], corner) for frame in found)  # and nothing moves
    assert (corner[0] == 255).all()


def test_measure_command_plots_and_animates(run, tmp_path):
    walk = "music,physics,music,mathematics"
    ran = run("measure", "toy:library", "--walk", walk, "--plot", tmp_path / "a.png", "--animate", tmp_path / "a.gif",
              "--json")  # fmt: skip
    assert ran.document["revisits"] == 1
    assert len(frames(tmp_path / "a.gif")) == 3
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.format == "PNG"
    (tmp_path / "walks.txt").write_text("music,physics\n")
    ran = run("measure", "toy:library", "--walks", tmp_path / "walks.txt", "--plot", tmp_path / "b.png")
    assert (ran.code, "give it as --walk" in ran.err) == (2, True)


def test_gaps_open_and_close_from_frame_to_frame(tmp_path, monkeypatch):
    shown = []
    monkeypatch.setattr("curiograph.plotting.animation._write_gif", lambda frames, path: shown.append(len(frames)))
    states = []
    from curiograph.plotting.walks import WalkPicture

    draw = WalkPicture.draw

    def watched(self, step):
        draw(self, step)
        ax = self._ax
        filled = sum(patch.get_fill() for patch in ax.patches)
        states.append((ax.get_title(), len(ax.patches) - filled, filled, len(ax.collections[-1].get_offsets())))

    monkeypatch.setattr(WalkPicture, "draw", watched)
    graph = cg.Graph.from_edges([*zip("abcd", "bcda", strict=True), *(("m", label) for label in "abcd")])
    walk = cg.Walk([*"abcdm"], [0.0, 0.0, 1.0, 0.0], "somebody", "igt", 5, graph)
    walk.animate(tmp_path / "a.gif")
    assert shown == [5]
    assert states[-5:] == [  # before, some are drawn to choose tints
        ("1 of 5: a", 0, 0, 1),
        ("2 of 5: b, igt 0", 0, 0, 2),
        ("3 of 5: c, igt 0", 0, 0, 3),
        ("4 of 5: d, igt 1", 1, 0, 4),
        ("5 of 5: m, igt 0", 0, 1, 5),
    ]


def test_long_walk_has_few_frames_and_reports_progress(tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr("curiograph.plotting.animation._MAX_FRAMES", 3)
    graph = cg.toys.cycle(9)
    cg.animate_walk(graph, [*range(9), 0, 1], tmp_path / "a.gif", progress=lambda text, share=None: told.append(text))
    assert told == ["frame 1 of 3", "frame 2 of 3", "frame 3 of 3"]
    assert len(frames(tmp_path / "a.gif")) == 3


@pytest.mark.parametrize(
    ("option", "name", "words"),
    [
        ("--animate", "a.png", "use .gif"),
        ("--plot", "a.gif", "use .png, .svg, .pdf"),
        ("--animate", "no/a.gif", "folder"),
    ],
)
def test_endings_and_folders_are_checked_before_the_walk(run, tmp_path, monkeypatch, option, name, words):
    monkeypatch.setattr("curiograph.agents.explore.explore", lambda *_, **__: pytest.fail("walked first"))
    ran = run("explore", "toy:library", option, str(tmp_path / name))
    assert ran.code == 2
    assert option in ran.err
    assert words in ran.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("option", "name"), [("--animate", "a.gif"), ("--plot", "a.svg")])
def test_without_matplotlib_the_extra_is_named(run, tmp_path, monkeypatch, option, name):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    ran = run("explore", "toy:library", option, str(tmp_path / name))
    assert ran.code == 2
    assert "pip install 'curiograph[plot]'" in ran.err


def test_animate_requires_gif(tmp_path):
    walk = cg.explore(library(), "greedy", "igt", "music", 3, seed=0)
    with pytest.raises(cg.SettingError, match=r"a\.mp4; end its name in \.gif"):
        walk.animate(tmp_path / "a.mp4")
    with pytest.raises(cg.GraphError, match="does not exist"):
        walk.animate(tmp_path / "no" / "a.gif")
