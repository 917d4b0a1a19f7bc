"""`curiograph convert`."""

from __future__ import annotations

from pathlib import Path

import curiograph as cg
from support.program import Run


def test_convert_reports_dropped_and_merged_edges(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "links.csv"
    path.write_text("a,b\nb,a\na,a\n")
    done = run("convert", str(path), str(tmp_path / "links.safetensors"))
    assert done.code == 0
    assert "1 self-loops kept for random walks only, 1 parallel edges added to the weights" in done.err
    assert cg.read_graph(tmp_path / "links.safetensors").labels == ["a", "b"]
