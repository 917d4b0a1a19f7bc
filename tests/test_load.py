"""The load benchmark: its targets, the error without wrk, and a short run."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest

import curiograph as cg
from benchmarks.load import COLUMNS, Load, main

GOOD = Load(
    graph="g",
    candidates="last",
    reasons=False,
    connections=32,
    seconds=60.0,
    requests_per_second=600.0,
    p50=0.04,
    p99=0.09,
    slowest=0.2,
    errors=0,
    memory_first=1000,
    memory_last=1020,
    memory_max=1050,
)


def test_targets_of_speed_errors_and_memory():
    assert GOOD.met
    for worse in ({"requests_per_second": 499.0}, {"p99": 0.11}, {"errors": 1}, {"memory_max": 1051}):
        assert not replace(GOOD, **worse).met
    assert len(GOOD.list_cells()) == len(COLUMNS)
    assert GOOD.to_dict()["kept"] is True


def test_missing_wrk(monkeypatch, capsys):
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(SystemExit) as exit_:
        main(["--seconds", "1"])
    error = capsys.readouterr().err
    assert (exit_.value.code, error.count("\n")) == (2, 1)
    assert "apt install wrk" in error


@pytest.mark.long
@pytest.mark.skipif(shutil.which("wrk") is None, reason="needs wrk")
def test_short_load_has_no_errors(monkeypatch, capsys, tmp_path):
    cg.toys.library().save(str(tmp_path / "library.npz"))
    monkeypatch.setattr("benchmarks.load.get_parts_folder", lambda: tmp_path)
    main(["--graph", str(tmp_path / "library.npz"), "--seconds", "2", "--json"])
    loads = json.loads(capsys.readouterr().out)["loads"]
    assert [load["candidates"] for load in loads] == ["last", "all", "last"]
    assert all(load["errors"] == 0 and load["requests_per_second"] > 10 for load in loads)
