"""From a messy log to a table per person, a comparison of groups and a figure."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pandas as pd
import pytest

import curiograph as cg

EXAMPLE = Path(__file__).parent.parent / "examples" / "reading_log.py"


def test_log_to_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["reading_log.py"])
    runpy.run_path(str(EXAMPLE), run_name="__main__")

    graph = cg.read_graph("links.csv")
    log = pd.read_csv("log.csv").dropna()
    people = cg.human.Trajectories.from_frame(log, session_gap="30min", keep=["group", "score"])
    table = cg.profile(graph, people)
    outside = int((log["article"] == "Main Page").sum())
    assert table.walks.skipped.reasons == {"outside the graph": outside}
    assert table.per_user()["walks"].tolist() == [3] * 40
    found = cg.compare_groups(table, "group", measures=["nodes", "beta1", "compressibility"])
    rows = found.to_frame().set_index("measure")
    assert rows.loc["beta1", "p_holm"] < 0.001
    found.plot().figure.savefig("groups.svg")
    assert "browsers - seekers" in (tmp_path / "groups.svg").read_text()
    assert len(cg.correlate(table, "score", measures=["beta1"], permutations=99).to_frame()) == 1
