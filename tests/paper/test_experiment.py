"""Figures of stored experiments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from curiograph.paper import lengths, walltime
from curiograph.paper.experiment import redraw_figures

from curiograph.errors import FileFormatError


def test_figures_of_stored_results_are_redrawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: dict[str, int] = {}
    for name, kind, rows in (("lengths", lengths.Lengths, "points"), ("walltime", walltime.Walltime, "timings")):

        def save_plot(result, path, rows=rows) -> None:
            drawn[path.name] = len(getattr(result, rows))

        monkeypatch.setattr(kind, "save_plot", save_plot)
        stored = Path(__file__).parents[2] / "docs" / "results" / f"{name}.json"
        (tmp_path / f"{name}.json").write_text(stored.read_text())
    assert list(redraw_figures(tmp_path)) == ["lengths", "walltime"]
    assert drawn == {
        "lengths.png": len(json.loads((tmp_path / "lengths.json").read_text())["points"]),
        "walltime.png": len(json.loads((tmp_path / "walltime.json").read_text())["timings"]),
    }


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"cells": 3}', '{"cells": [{"reward": "igt"}]}'])
def test_corrupt_results_are_rejected(tmp_path: Path, text: str) -> None:
    (tmp_path / "table1.json").write_text(text)
    with pytest.raises(FileFormatError, match=r"table1\.json"):
        list(redraw_figures(tmp_path))
    assert not (tmp_path / "table1.png").exists()
