"""Animations of walks."""

from __future__ import annotations

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


def test_the_walk_grows_and_nothing_moves(tmp_path):
    cg.explore(library(), "greedy", "cpt", "music", 5, seed=0).animate(tmp_path / "a.gif")
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


def test_animate_requires_gif(tmp_path):
    walk = cg.explore(library(), "greedy", "igt", "music", 3, seed=0)
    with pytest.raises(cg.SettingError, match=r"a\.mp4; end its name in \.gif"):
        walk.animate(tmp_path / "a.mp4")
    with pytest.raises(cg.GraphError, match="does not exist"):
        walk.animate(tmp_path / "no" / "a.gif")


@pytest.mark.long
def test_long_walk_has_few_frames_and_reports_progress(tmp_path):
    told = []
    graph = cg.toys.cycle(70)
    cg.animate_walk(graph, [*range(70), 0, 1], tmp_path / "a.gif", progress=lambda text, share=None: told.append(text))
    assert told[-1] == "frame 60 of 60"
    assert len(frames(tmp_path / "a.gif")) == 60
