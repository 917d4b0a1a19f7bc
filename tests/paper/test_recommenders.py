"""Recommenders on three datasets: `reproduce recommenders`."""

from __future__ import annotations

import json
from pathlib import Path

from curiograph.paper import recommenders

from curiograph.cli.output import format_json
from support import people


def test_results_are_computed_stored_and_drawn(tmp_path: Path) -> None:
    people.ml_100k(tmp_path / "ml-100k", people.tastes(users=40, items=30))
    settings = recommenders.Settings(max_users=30, walkers=2, item_users=3)
    found = recommenders.run(settings, tmp_path / "ml-100k", ("movielens",))
    assert list(found.documents) == ["MovieLens, time", "MovieLens, last"]
    assert "| item-knn |" in found.to_markdown()
    stored = json.loads(format_json(found.to_dict()))
    restored = recommenders.Recommenders.from_dict(stored)
    assert restored.remarks == found.remarks
    restored.save_plot(tmp_path / "recommenders.png")
    assert (tmp_path / "recommenders.png").stat().st_size > 10_000
