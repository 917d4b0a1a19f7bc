"""The load benchmark: its requirements, results and targets."""

from __future__ import annotations

import json
import shutil

import pytest

import curiograph as cg
from benchmarks import load
from benchmarks.graphs import create_random_graph

GOOD = {"requests": 1100, "microseconds": 1_000_000, "p50": 40_000, "p99": 90_000, "max": 200_000, "errors": 0}


@pytest.mark.parametrize(
    ("worse", "met"),
    [({}, True), ({"requests": 999}, False), ({"p99": 110_000}, False), ({"errors": 1}, False)],
)
def test_targets_are_about_speed_and_errors(worse, met):
    found = load.summarize_runs([GOOD | worse | {"memory": [1000, 1050]}], 1000)
    assert found["met"] is met
    assert found["requests_per_second"] == pytest.approx((GOOD | worse)["requests"])


def test_slowest_run_counts_and_memory_may_not_grow():
    runs = [GOOD | {"memory": [1000, 1000]}, GOOD | {"p99": 95_000, "errors": 1, "memory": [1000, 1051]}]
    found = load.summarize_runs(runs, 1000)
    assert (found["p99"], found["errors"], found["memory_max"], found["met"]) == (0.095, 1, 1051, False)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("wrk") is None, reason="needs wrk")
def test_short_load_has_no_errors(tmp_path):
    graph, out = tmp_path / "dense.safetensors", tmp_path / "load.json"
    cg.write_graph(create_random_graph(300, 30_000, 0, directed=True), graph)  # a beam search takes a second
    settings = ["--seconds", "2", "--runs", "2", "--nodes", "200", "--out", str(out), "--quiet"]
    load.main(["--graph", str(graph), *settings])
    document = json.loads(out.read_text())
    assert [each["unit"] for each in document["checks"]] == ["s", "s", "bytes", "s", "s", "bytes", "s", "s"]
    assert [each["candidates"] for each in document["loads"]] == ["last", "all", "last", "all"]
    assert [each["target"] for each in document["loads"]] == [1000, 1000, 1000, 1500]
    assert all(each["errors"] == 0 and each["requests_per_second"] > 0 for each in document["loads"])
