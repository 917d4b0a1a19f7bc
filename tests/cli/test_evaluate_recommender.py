"""`curiograph evaluate-recommender`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support import people

FEW = ("--method", "popularity", "--method", "item-knn", "-k", "3", "--item-users", "2")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lines = [",".join(map(str, event)) for event in people.tastes(users=40, items=30)]
    file = tmp_path_factory.mktemp("log") / "events.csv"
    file.write_text("\n".join(["user,item,time", *lines]) + "\n")
    return file


@pytest.mark.parametrize("split", ["time", "user", "last"])
def test_document_and_table(run, log, tmp_path, split):
    ran = run("evaluate-recommender", log, "--split", split, *FEW, "--json", "--out", tmp_path / "e.csv")
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    assert set(document["methods"]) == {"popularity", "item-knn"}
    assert document["split"] == split
    assert (tmp_path / "e.csv").read_text().startswith("method,mrr,mrr_low,mrr_high,hit@3,")


def test_paths_and_figure(run, log, tmp_path):
    ran = run("evaluate-recommender", log, "--split", "last", *FEW, "--walkers", "4", "--base", "item-knn",
              "--out", tmp_path / "e.png")  # fmt: skip
    assert ran.code == 0, ran.err
    assert "popularity discount" in ran.out
    assert (tmp_path / "e.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--split", "random"), "--split is 'random'; the choices are time, user, last."),
        (("--method", "svd"), "--method is 'svd'"),
        (("--item-users", "999"), "no item has 999 training users"),
        (("--test", "1.5"), "--test is 1.5"),
    ],
)
def test_bad_input(run, log, options, message):
    ran = run("evaluate-recommender", log, *options)
    assert ran.code == 2
    assert message in ran.err


def test_log_without_times(run, tmp_path):
    (tmp_path / "walks.txt").write_text("a;b;c\nb;c;a\n")
    ran = run("evaluate-recommender", tmp_path / "walks.txt")
    assert ran.code == 2
    assert "a time split needs the time of every event" in ran.err
