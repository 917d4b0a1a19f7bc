"""`curiograph profile`."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import curiograph as cg
from support.people_styles import simulate_styles
from support.program import Run


@pytest.fixture
def links(tmp_path: Path) -> Path:
    path = tmp_path / "links.csv"
    graph = cg.generate("ws", nodes=30, seed=0)
    path.write_text("".join(f"n{u},n{v}\n" for u in range(30) for v in graph.neighbors(u) if u < v))
    return path


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Simulated hunters and busybodies with a group each, and one visit of an unknown node."""
    graph = cg.generate("ws", nodes=30, seed=0)
    people = simulate_styles(graph, people=12, visits=25, strength=0.9, seed=0)
    path = tmp_path / "log.csv"
    rows = [
        f"p{walk},n{node},{10 * time},{people.user_columns['planted'][walk]}"
        for walk in range(len(people))
        for time, node in enumerate(people.walk(walk))
    ]
    path.write_text("\n".join(["user,page,time,kind", *rows, "p0,nowhere,9999,hunter"]) + "\n")
    return path


def test_profile_lists_walks_and_users(run: Run, links: Path, log: Path, tmp_path: Path) -> None:
    arguments = ("profile", str(links), "--walks", str(log), "--keep", "kind", "--lenient")
    document = json.loads(run(*arguments, "--json").out)
    assert len(document["rows"]) == 12
    assert document["rows"][0]["visits"] == 25
    assert document["skipped"]["count"] == 1
    table = tmp_path / "people.csv"
    done = run(*arguments, "--table", "users", "--measure", "gaps", "--out", str(table))
    assert done.code == 0
    assert "outside the graph: 1" in done.err
    rows = list(csv.DictReader(table.open()))
    assert [row["user"] for row in rows[:3]] == ["p0", "p1", "p10"]
    assert rows[0]["kind"] == "hunter"
    assert "beta1" in rows[0]
    assert "clustering" not in rows[0]
    picture = tmp_path / "profile.png"
    assert run(*arguments, "--measure", "structure", "--out", str(picture)).code == 0
    assert picture.stat().st_size > 0


def test_profile_compares_groups(run: Run, links: Path, log: Path) -> None:
    arguments = ("profile", str(links), "--walks", str(log), "--group", "kind", "--lenient", "--measure", "steps")
    document = json.loads(run(*arguments, "--json").out)
    (steps,) = (row for row in document["rows"] if row["measure"] == "step_length")
    assert steps["p_holm"] < 0.05
    done = run(*arguments)
    assert "The groups busybody and hunter differ in" in " ".join(done.out.split())


def test_profile_estimates_styles(run: Run, links: Path, log: Path, tmp_path: Path) -> None:
    arguments = ("profile", str(links), "--walks", str(log), "--keep", "kind", "--lenient", "--styles")
    document = json.loads(run(*arguments, "--block", "8", "--json").out)
    scores = {
        kind: [row["score"] for row in document["rows"] if row["kind"] == kind] for kind in ("hunter", "busybody")
    }
    assert np.mean(scores["hunter"]) > np.mean(scores["busybody"])
    picture = tmp_path / "styles.png"
    assert "reliability" in run(*arguments, "--block", "0", "--out", str(picture)).out
    assert picture.stat().st_size > 0


def test_profile_compares_texts(run: Run, links: Path, log: Path, tmp_path: Path) -> None:
    texts = tmp_path / "texts.tsv"
    texts.write_text("n0\tred apple\nn1\tred pear\nn2\tapple\nelsewhere\tpear\n")
    arguments = ("profile", str(links), "--walks", str(log), "--lenient", "--measure", "meaning", "--texts", str(texts))
    done = run(*arguments, "--json")
    assert "3 of 30 nodes have a text; rows left out: unknown node: 1" in done.err
    assert 0 <= json.loads(done.out)["rows"][0]["forward_flow"] <= 1


def test_measure_and_profile_count_the_same_repeats(run: Run, links: Path, tmp_path: Path) -> None:
    log = tmp_path / "repeats.csv"
    visits = ["n0", "n0", "elsewhere", "n0", "n1", "elsewhere", "n1", "n0"]
    log.write_text("user,page,time\n" + "".join(f"a,{page},{time}\n" for time, page in enumerate(visits)))
    for command in ("profile", "measure"):
        done = run(command, str(links), "--walks", str(log), "--lenient")
        assert "outside the graph: 2, immediate repeats merged: 3" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--lenient", "--measure", "joy"), "there is no measure 'joy'"),
        (("--lenient", "--measure", "meaning"), "needs a graph with weights"),
        (("--lenient", "--table", "steps"), "--table is 'steps'"),
        (("--lenient", "--styles", "--group", "kind"), "give only one of"),
        (("--lenient", "--styles", "--block", "2"), "--block is 2; clustering needs blocks of 3 nodes or more, or 0"),
        (("--lenient", "--block", "8"), "give --styles with it"),
        (("--lenient", "--measure", "cluster"), "the nearest is clustering"),
        (("--lenient", "--group", "other"), "other"),
    ],
)
def test_bad_input(run: Run, links: Path, log: Path, arguments: tuple[str, ...], message: str) -> None:
    done = run("profile", str(links), "--walks", str(log), *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
