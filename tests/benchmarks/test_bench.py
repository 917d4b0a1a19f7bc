"""The benchmarks run, agree with their peers, and yield complete rows."""

from __future__ import annotations

import json

import pytest

from benchmarks import run, scale
from benchmarks.rows import format_rows

BENCHMARKS = {benchmark.__name__: benchmark for benchmark in run.BENCHMARKS}


@pytest.mark.long
@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_benchmark_yields_rows(name):
    rows = list(BENCHMARKS[name](0, True))
    assert rows
    for row in rows:
        assert row.ours is None or row.ours > 0
        assert row.target is None or row.ratio > 0
        assert row.ours is not None or row.ratio is not None


def test_command_writes_and_shows_rows(tmp_path, capsys):
    out = tmp_path / "bench.json"
    run.main(["--quick", "--only", "compressibility", "--out", str(out), "--quiet"])
    document = json.loads(out.read_text())
    assert document["results"][0]["what"] == "cpt of a subgraph, 100 a call"
    assert {"processor", "python", "numba"} <= set(document["machine"])
    assert capsys.readouterr().out.count("cpt of a subgraph, 100 a call") == 1


def test_stored_results_have_the_format_of_a_run(request):
    stored = json.loads((request.config.rootpath / "docs" / "results" / "bench.json").read_text())["results"]
    assert len(format_rows(stored)) == len(stored)


@pytest.mark.long
def test_scale_on_small_graphs(tmp_path):
    out = tmp_path / "scale.json"
    scale.main(["--small", "300", "--nodes", "600", "--items", "200", "--walks", "40", "--out", str(out), "--quiet"])
    document = json.loads(out.read_text())
    assert [size["nodes"] for size in document["sizes"]] == [300, 600]
    assert all(row["what"] and row["measured"] for row in document["rows"])
