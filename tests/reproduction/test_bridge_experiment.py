"""Bridge slates against all slates, and the files of a small log."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from reproduction.__main__ import main
from reproduction.bridge import select_bridge


@pytest.mark.parametrize("floor", [0.0, 0.8, 0.95, 1.0])
def test_slates_keep_the_floor_and_certify_a_share_of_the_best(floor: float) -> None:
    rng = np.random.default_rng(0)
    for _ in range(30):
        scores, covers = np.sort(rng.random(9))[::-1], (rng.random((9, 12)) < 0.2).astype(float)
        least = floor * scores[:3].sum() - 1e-8
        allowed = [some for some in map(list, combinations(range(9), 3)) if scores[some].sum() >= least]
        best = max(np.count_nonzero(covers[some].any(axis=0)) for some in allowed)
        slate, certified = select_bridge(scores, covers, floor, 3)
        covered = np.count_nonzero(covers[slate].any(axis=0))
        assert slate in allowed
        assert certified * best <= covered + 1e-9
        assert covered >= best * (1 - 1 / np.e if floor == 0 else 1 / 3)


def test_files_of_a_small_log(tmp_path: Path) -> None:
    """Users of two groups of films; the films of one group are westerns, and those of the other have a third genre."""
    folder, rng = tmp_path / "movielens", np.random.default_rng(0)
    folder.mkdir()
    genres = ["Western"] * 20 + ["Comedy"] * 20 + ["Comedy|Musical"] * 4
    movies = [f'{film},"Film {film} (1999)",{genre}' for film, genre in enumerate(genres)]
    (folder / "movies.csv").write_text("\n".join(["movieId,title,genres", *movies]))
    ratings = ["userId,movieId,rating,timestamp"]
    for user in range(80):
        films = rng.permutation(20)[:16] + 20 * (user % 2)
        seen = [*films, *(40 + rng.permutation(4)[:2])]  # for every second user of a group, a genre that is new
        ratings += [f"{user},{film},4.0,{time}" for time, film in enumerate(seen[:: 1 if user % 4 < 2 else -1])]
    (folder / "ratings.csv").write_text("\n".join(ratings))
    arguments = ["--only", "movielens", "--users", "40", "--from", str(folder), "--out", str(tmp_path), "--quiet"]
    assert main(["bridge", *arguments]) == 0
    results = json.loads((tmp_path / "bridge.json").read_text())["results"]
    assert [(found["base"], found["users"]) for found in results] == [("pagerank", 40), ("item-knn", 40)]
    assert 0 < results[0]["users with new items"] <= 40
    for found in results:
        assert 0 < found["certified"] <= 1
        assert set(found["methods"]) == {"base", "mmr", "discount", "als", "bridge"}
        assert all(0 <= row["recall of new"]["value"] <= 1 for row in found["methods"].values())
    assert "does not win" in (tmp_path / "bridge.md").read_text()
