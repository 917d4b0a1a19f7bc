"""`curiograph evaluate-recommender`."""

from __future__ import annotations

import io
import json
import sys
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
    assert [row["method"] for row in document["rows"]] == ["popularity", "item-knn"]
    assert document["split"] == split
    assert (tmp_path / "e.csv").read_text().startswith("method,mrr,mrr_low,mrr_high,hit@3,")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--split", "random"), "'random'"),
        (("--method", "svd"), "'svd'"),
        (("--item-users", "999"), "999 training users"),
        (("--test", "1.5"), "1.5"),
        (("--split", "last", "--test", "0.1"), "0.1"),
    ],
)
def test_bad_input(run, log, options, message):
    ran = run("evaluate-recommender", log, *options)
    assert ran.code == 2
    assert message in ran.err


def test_stdin_and_a_graph_whose_labels_are_numbers(run, log, tmp_path, monkeypatch):
    lines = [line.split(",") for line in log.read_text().splitlines()[1:]]
    number = {item: str(place) for place, item in enumerate(sorted({item for _, item, _ in lines}))}
    text = "user,item,time\n" + "".join(f"{user},{number[item]},{time}\n" for user, item, time in lines)
    (tmp_path / "ring.tsv").write_text("".join(f"{v}\t{v + 1}\n" for v in range(len(number) - 1)))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    ran = run("evaluate-recommender", "-", "--split", "last", "--method", "pagerank", "-k", "3", "--item-users", "1",
              "--graph", tmp_path / "ring.tsv", "--json")  # fmt: skip
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["items_with_links"] == len(number)


def test_few_users(run, tmp_path):
    (tmp_path / "four.txt").write_text("a;b;c\nb;a;c\nc;a;b\nc;b;a\n")
    ran = run("evaluate-recommender", tmp_path / "four.txt", "--split", "last", "--item-users", "1", "--walkers", "4")
    assert ran.code == 0, ran.err
    assert "pagerank" in ran.out


def test_log_without_times(run, tmp_path):
    (tmp_path / "walks.txt").write_text("a;b;c\nb;c;a\n")
    ran = run("evaluate-recommender", tmp_path / "walks.txt")
    assert ran.code == 2
    assert "a time split needs the time of every event" in ran.err
