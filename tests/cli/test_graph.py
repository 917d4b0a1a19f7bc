"""`curiograph graph`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import curiograph as cg
from support import people


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Events of users with tastes, under other names of columns."""
    path = tmp_path / "log.csv"
    rows = [f"u{user},i{item},{time}" for user, item, time in people.tastes(users=40, items=30)]
    path.write_text("\n".join(["who,what,when", *rows]) + "\n")
    return path


COLUMNS = ("--user", "who", "--item", "what", "--time", "when")


def test_graph_is_written_and_coverage_printed(run, log, tmp_path):
    ran = run("graph", log, *COLUMNS, "--out", tmp_path / "items.safetensors")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("covered: 30 of 30 items (100.0 %)")
    assert "components" in ran.out
    assert "wrote Graph(" in ran.err
    walks = cg.human.read_trajectories(log, user="who", item="what", time="when").walks
    assert cg.read_graph(tmp_path / "items.safetensors") == cg.human.cooccurrence_graph(walks)


@pytest.mark.parametrize(
    "settings",
    [
        ("--similarity", "sequence", "--half-life", "3", "--session-gap", "2h"),
        ("--similarity", "pmi", "--shrinkage", "5", "--neighbors", "3", "--fewest", "2"),
        ("--item-graph", "nearest", "--mean-degree", "4"),
        ("--max-items", "5"),
    ],
)
def test_settings(run, log, tmp_path, settings):
    ran = run("graph", log, *COLUMNS, *settings, "--out", tmp_path / "items.tsv", "--json")
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    assert document["nodes"] == cg.read_graph(tmp_path / "items.tsv").num_nodes
    assert document["covered_items"] <= document["items"] == 30
    assert document["skipped"]["count"] == 0


def test_bad_rows_are_left_out_if_lenient(run, log, tmp_path):
    with log.open("a") as stream:
        stream.write("u1,i1,soon\n")
    arguments = ("graph", log, *COLUMNS, "--out", tmp_path / "items.safetensors")
    ran = run(*arguments)
    assert ran.code == 2
    assert "line" in ran.err
    ran = run(*arguments, "--lenient")
    assert ran.code == 0
    assert "left out: bad time: 1" in ran.err


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (("--out", "items.xyz"), "cannot write .xyz"),
        (
            ("--out", "items.safetensors", "--similarity", "jaccard"),
            "--similarity is 'jaccard'; the choices are cosine",
        ),
        (("--out", "items.safetensors", "--item-graph", "best"), "--item-graph is 'best'; the choices are knn"),
        (
            ("--out", "items.safetensors", "--mean-degree", "8"),
            "--mean-degree is 8.0, which is for the item graphs highest",
        ),
        (
            ("--out", "items.safetensors", "--fewest", "1000"),
            "--fewest is 1000, but the most visited of the 30 items has",
        ),
        (("--out", "items.safetensors", "--shrinkage", "-1"), "--shrinkage is -1"),
        (("--out", "items.safetensors", "--half-life", "nan"), "--half-life is nan"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(run, log, tmp_path, monkeypatch, settings, message):
    monkeypatch.chdir(tmp_path)
    ran = run("graph", log, *COLUMNS, *settings)
    assert ran.code == 2
    assert message in ran.err
    assert ran.err.count("\n") == 1
    assert not (tmp_path / "items.safetensors").exists()


def test_missing_file(run, tmp_path):
    ran = run("graph", tmp_path / "none.csv", "--out", tmp_path / "items.safetensors")
    assert ran.code == 2
    assert "there is no dataset and no file" in ran.err
