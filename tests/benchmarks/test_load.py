"""The load benchmark: its requirements, results and targets."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace

import pytest

import curiograph as cg
from benchmarks import load, mixed_load
from benchmarks.centrality import create_random_graph
from benchmarks.load import COLUMNS, Load

GOOD = Load(
    graph="g",
    candidates="last",
    reasons=False,
    connections=32,
    runs=1,
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


def test_targets_are_about_speed_errors_and_memory():
    assert GOOD.met
    for worse in ({"requests_per_second": 499.0}, {"p99": 0.11}, {"errors": 1}, {"memory_max": 1051}):
        assert not replace(GOOD, **worse).met
    assert len(GOOD.list_cells()) == len(COLUMNS)
    assert GOOD.to_dict()["met"] is True


def test_missing_wrk_gets_one_sentence(monkeypatch, capsys):
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(SystemExit) as stop:
        load.main(["--seconds", "1"])
    message = capsys.readouterr().err
    assert (stop.value.code, message.count("\n")) == (2, 1)
    assert "apt install wrk" in message


@pytest.mark.long
@pytest.mark.skipif(shutil.which("wrk") is None, reason="needs wrk")
def test_short_load_has_no_errors(monkeypatch, capsys, tmp_path):
    create_random_graph(300, 15_000, 0, directed=True).save(
        str(tmp_path / "dense.safetensors")
    )  # a beam search takes a second
    monkeypatch.setattr("benchmarks.load.get_parts_folder", lambda: tmp_path)
    options = ["--seconds", "2", "--runs", "2", "--visits", "8", "--json", "--quiet"]
    load.main(["--graph", str(tmp_path / "dense.safetensors"), *options])
    document = json.loads(capsys.readouterr().out)
    loads, checks = document["loads"], document["checks"]
    assert [check["unit"] for check in checks] == ["s", "s", "bytes", "s"]
    assert checks[0]["value"] < 60
    assert [each["candidates"] for each in loads] == ["last", "all", "last"]
    assert all(each["errors"] == 0 and each["requests_per_second"] > 0 for each in loads)


@pytest.mark.parametrize(
    ("answers", "message"), [([(422, 2.0)], r"status \[422\]"), ([(200, 0.1)], "take 0.10 s"), ([], "median of 0")]
)
def test_heavy_requests_must_succeed_and_be_heavy(answers, message):
    mixed_load._check_heavy([(200, 3.0), (503, 30.0)])
    with pytest.raises(cg.SettingError, match=message):
        mixed_load._check_heavy(answers)


def test_threads_have_ended_after_the_block():
    ended = []

    def wait():
        time.sleep(0.1)
        ended.append(True)

    with mixed_load.repeat_in_threads([wait, wait]):
        pass
    assert len(ended) == 2


def test_memory_includes_child_processes():
    alone = mixed_load.measure_memory(os.getpid())
    with subprocess.Popen([sys.executable, "-c", "print(len(bytes(2**26))); input()"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:  # fmt: skip
        child.stdout.readline()
        assert mixed_load.measure_memory(os.getpid()) > alone
        child.kill()
