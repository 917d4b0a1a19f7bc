"""People on the command line: tables, sessions, columns, standard input, and what was dropped."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import pytest

from support.program import Run

LOG = """Participant,Article,Date,Group
ann,music,2026-05-31 10:00,a
ann,,2026-05-31 10:01,a
ann,physics,2026-05-31 10:02,a
ann,physics,2026-05-31 10:03,a
ann,nowhere,2026-05-31 10:04,a
ann,logic,2026-06-01 09:00,a
bob,poetry,soon,b
bob,dance,2026-05-31 11:00,b
"""
LEFT_OUT = "left out: no item: 1, bad time: 1, outside the graph: 1, immediate repeats merged: 1"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    path.write_text(LOG)
    return path


def test_measure_a_messy_log(run: Run, log: Path, tmp_path: Path) -> None:
    arguments = ["measure", "toy:library", "--walks", log, "--session-gap", "30min", "--keep", "group"]
    ran = run(*arguments, "--json")
    assert LEFT_OUT in ran.err
    walks = ran.document["walks"]
    found = [(walk["user"], walk["session"], walk["node"]) for walk in walks]
    assert found == [("ann", 1, ["music", "physics"]), ("ann", 2, ["logic"]), ("bob", 1, ["dance"])]
    assert [walk["outside"] for walk in walks] == [1, 0, 0]
    reasons = {"no item": 1, "bad time": 1, "outside the graph": 1}
    assert ran.document["skipped"] == ran.document["skipped"] | {"count": 3, "reasons": reasons, "repeats": 1}
    groups = [{"user": "ann", "value": "a"}, {"user": "bob", "value": "b"}]
    assert ran.document["user_columns"] == {"group": groups}
    out = tmp_path / "growth.csv"
    assert run(*arguments, "--out", out).code == 0
    rows = list(csv.DictReader(io.StringIO(out.read_text())))
    columns = ("walk", "user", "session", "group", "step", "node")
    assert [tuple(row[name] for name in columns) for row in rows] == [
        ("0", "ann", "1", "a", "1", "music"),
        ("0", "ann", "1", "a", "2", "physics"),
        ("1", "ann", "2", "a", "1", "logic"),
        ("2", "bob", "1", "b", "1", "dance"),
    ]


def test_columns_by_option(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("who,what,when\nann,physics,2\nann,music,1\n")
    ran = run("measure", "toy:library", "--walks", path)
    assert (ran.code, "looks like the header of a table" in ran.err) == (2, True)
    columns = ["--user", "who", "--item", "what", "--time", "when"]
    assert run("measure", "toy:library", "--walks", path, *columns, "--json").document["walks"][0]["user"] == "ann"


def test_walk_file_and_standard_input(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, walk = tmp_path / "places.csv", tmp_path / "walk.txt"
    graph.write_text('"Paris, Texas",Austin\nAustin,"Paris, France"\n')
    walk.write_text("Paris, Texas\n\nAustin\n")
    assert run("measure", graph, "--walk-file", walk, "--json").document["node"] == ["Paris, Texas", "Austin"]

    def give(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    give("Austin\nParis, France\n")
    assert run("measure", graph, "--walk-file", "-", "--json").document["node"] == ["Austin", "Paris, France"]
    give('"Paris, Texas",Austin\nAustin\n')
    document = run("measure", graph, "--walks", "-", "--json").document
    assert [each["node"] for each in document["walks"]] == [["Paris, Texas", "Austin"], ["Austin"]]
    give("user,page\nann,Austin\n")
    assert run("rank", graph, "--histories", "-", "--json").document["users"][0]["user"] == "ann"
    give("Rome\n")
    ran = run("measure", graph, "--walks", "-")
    assert ran.code == 2


@pytest.mark.parametrize("command", [("rank",), ("recommend", "--by", "pagerank")])
def test_histories_keep_user_and_session(run: Run, log: Path, tmp_path: Path, command: tuple[str, ...]) -> None:
    name, *arguments = command
    given = [name, "toy:library", *arguments, "--histories", log, "--session-gap", "1h", "-k", "1"]
    ran = run(*given, "--json")
    assert "left out: no item: 1, bad time: 1" in ran.err
    assert [(user["user"], user["session"]) for user in ran.document["users"]] == [("ann", 1), ("ann", 2), ("bob", 1)]
    assert ran.document["skipped"]["count"] >= 2
    assert run(*given, "--out", tmp_path / "x.csv").code == 0
    rows = list(csv.DictReader(io.StringIO((tmp_path / "x.csv").read_text())))
    assert [(row["user"], row["session"], row["rank"]) for row in rows] == [
        ("ann", "1", "1"),
        ("ann", "2", "1"),
        ("bob", "1", "1"),
    ]


def test_hypotheses_count_what_was_dropped(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    walk = ["music", "mathematics", "logic", "computing", "nowhere"]
    rows = [f"u{user},{page},{time}" for user in range(6) for time, page in enumerate(walk)]
    path.write_text("\n".join(["id,title,time", *rows, "u0,,9"]))
    arguments = ["hypotheses", "toy:library", path, "--burn-in", "1", "--no-growth", "--json"]
    ran = run(*arguments)
    assert ran.document["motives"]["skipped"]["reasons"] == {"no item": 1, "outside the graph": 6}
    assert "left out: no item: 1, outside the graph: 6" in ran.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["measure", "toy:library", "--walk", "music", "--user", "who"],
            "such as --user, --session-gap, --table and --group, are for --walks FILE",
        ),
        (["rank", "toy:library", "--history", "music", "--user", "who"], "are for --histories FILE"),
        (["measure", "toy:library", "--walks", "x", "--walk-file", "y"], "give one of --walk a,b,c, --walk-file FILE"),
        (["predict", "wikispeedia", "--user", "who"], "but wikispeedia has columns of its own"),
    ],
)
def test_options_that_do_not_fit(run: Run, arguments: list[str], message: str, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("CURIOGRAPH_DATA", str(tmp_path))
    (tmp_path / "wikispeedia").mkdir()
    for name in ("articles", "links", "paths_finished"):
        (tmp_path / "wikispeedia" / f"{name}.tsv").write_text("x\n")
    ran = run(*arguments)
    assert (ran.code, message in ran.err) == (2, True), ran.err


def test_table_of_one_walk_is_unchanged(run: Run, links: Path) -> None:
    document = json.loads(run("measure", str(links), "--walk", "a,b", "--json").out)
    assert (document["user"], document["session"], document["step"]) == (0, 1, [1, 2])
