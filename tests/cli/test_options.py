"""Graphs, labels and walks given on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.program import Run


def test_labels_with_commas_and_numbers(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "places.csv"
    path.write_text('"Paris, Texas",Austin\nAustin,"Paris, France"\n')
    document = json.loads(run("measure", str(path), "--walk", '"Paris, Texas",Austin', "--json").out)
    assert document["node"] == ["Paris, Texas", "Austin"]
    numbers = tmp_path / "numbers.csv"
    numbers.write_text("10,20\n20,30\n")
    assert json.loads(run("explore", str(numbers), "--start", "10", "--steps", "3", "--json").out)["nodes"] == [
        10,
        20,
        30,
    ]
    assert run("measure", "toy:grid", "--walk", '"(0, 0)","(0, 1)"').code == 0


def test_walk_files_keep_quotes_and_commas_in_labels(run: Run, tmp_path: Path) -> None:
    graph = tmp_path / "people.tsv"
    graph.write_text('"Weird Al" Yankovic\tWashington, D.C.\n')
    walks = tmp_path / "walks.txt"
    walks.write_text('"Weird Al" Yankovic\tWashington, D.C.\nWashington, D.C.\n')
    document = json.loads(run("measure", str(graph), "--walks", str(walks), "--json").out)
    assert [walk["node"] for walk in document["walks"]] == [
        ['"Weird Al" Yankovic', "Washington, D.C."],
        ["Washington, D.C."],
    ]


def test_graph_without_edges_or_nodes(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "lonely.json"
    path.write_text(json.dumps({"nodes": [{"id": "a"}], "links": []}))
    assert "no edges" in run("explore", str(path)).err
    path.write_text(json.dumps({"nodes": [], "links": []}))
    done = run("explore", str(path))
    assert done.code == 2
    assert "empty" in done.err


def test_walks_from_a_table_of_visits(run: Run, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("user,page,time\nann,physics,2\nann,music,1\nbob,logic,1\n")
    document = run("measure", "toy:library", "--walks", tmp_path / "log.csv", "--json").document
    assert [walk["node"] for walk in document["walks"]] == [["music", "physics"], ["logic"]]
    (tmp_path / "log.csv").write_text("user,page,time\nann,nowhere,2\n")
    ran = run("measure", "toy:library", "--walks", tmp_path / "log.csv")
    assert (ran.code, "log.csv, line 2: " in ran.err, "nowhere" in ran.err) == (2, True, True)


def test_graph_of_a_dataset(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CURIOGRAPH_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    ran = run("explore", "wikispeedia")
    assert (ran.code, "is not on this machine" in ran.err) == (2, True)
    (tmp_path / "ratings_Books.csv").write_text("ann,x,,1\nann,y,,2\n")
    ran = run("explore", "books")
    assert (ran.code, "has walks but no graph" in ran.err) == (2, True)
    (tmp_path / "wikispeedia").mkdir()
    files = {"articles": "Oslo\nRome\n", "links": "Oslo\tRome\n", "paths_finished": "ip1\t30\t9\tOslo;Rome\t3\n"}
    for name, text in files.items():
        (tmp_path / "wikispeedia" / f"{name}.tsv").write_text(f"# FORMAT\n\n{text}")
    assert run("explore", "wikispeedia", "--start", "Oslo", "--steps", "2", "--json").document["nodes"] == [
        "Oslo",
        "Rome",
    ]
