"""The load test: it says what it needs, what it found, and whether that is what was promised."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

import curiograph as cg
from benchmarks.load import COLUMNS, Load

GOOD = Load("g", "last", False, 32, 60.0, 600.0, 0.04, 0.09, 0.2, 0, 1000, 1020, 1050)


def test_promises_are_about_speed_errors_and_memory():
    assert GOOD.kept
    for worse in ({"requests_per_second": 499.0}, {"p99": 0.11}, {"errors": 1}, {"memory_max": 1051}):
        assert not replace(GOOD, **worse).kept
    assert len(GOOD.row()) == len(COLUMNS)
    assert GOOD.to_dict()["kept"] is True


def test_without_wrk_there_is_one_sentence(run, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    ran = run("bench", "--load", "--seconds", "1")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "apt install wrk" in ran.err


@pytest.mark.long
@pytest.mark.skipif(shutil.which("wrk") is None, reason="needs wrk")
def test_a_short_load_has_no_errors(run, monkeypatch, tmp_path):
    cg.toys.library().save(str(tmp_path / "library.npz"))
    monkeypatch.setattr("benchmarks.load._cache", lambda: tmp_path)
    ran = run("bench", "--load", "--graph", tmp_path / "library.npz", "--seconds", "2", "--json")
    loads = ran.document["loads"]
    assert [load["candidates"] for load in loads] == ["last", "all", "last"]
    assert all(load["errors"] == 0 and load["requests_per_second"] > 10 for load in loads)
