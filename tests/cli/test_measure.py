"""`curiograph measure`."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import curiograph as cg
from support.program import Run


def test_measure_prints_steps_and_gaps(run: Run, links: Path) -> None:
    done = run("measure", str(links), "--walk", "a,b,c,d")
    assert done.code == 0
    assert "compressibility" in done.out
    assert "open" in done.out


def test_measure_json_is_one_document(run: Run, links: Path) -> None:
    document = json.loads(run("measure", str(links), "--walk", "a,b,c,d", "--json").out)
    assert document["beta1"] == [0, 0, 0, 1]
    assert document["gaps"][0]["opened_by"] == "d"


def test_measure_many_walks_from_a_file(run: Run, links: Path, tmp_path: Path) -> None:
    walks = tmp_path / "walks.txt"
    walks.write_text("# readers\na;b;c;d\n\nb; c\nd;e\n")
    document = json.loads(run("measure", str(links), "--walks", str(walks), "--json").out)
    assert [len(walk["node"]) for walk in document["walks"]] == [4, 2, 2]
    table = tmp_path / "growth.csv"
    assert run("measure", str(links), "--walks", str(walks), "--out", str(table)).code == 0
    assert len(table.read_text().splitlines()) == 1 + 4 + 2 + 2


def test_measure_names_the_line_of_an_unknown_node(run: Run, links: Path, tmp_path: Path) -> None:
    walks = tmp_path / "walks.txt"
    walks.write_text("a,b\na,bb\n")
    done = run("measure", str(links), "--walks", str(walks))
    assert done.code == 2
    assert "walks.txt, line 2: the graph has no node 'bb'" in done.err


# ---- people and groups ----------------------------------------------------------------------------------------------


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Two sessions of each of four people in two groups; `e` is visited last by those of the second."""
    path = tmp_path / "log.csv"
    rows = ["user,page,time,group"]
    for number, (user, group) in enumerate(zip("wxyz", "aabb", strict=True)):
        for session in range(2):
            for place, page in enumerate("abcd" if group == "a" else "abcde"):
                rows.append(f"{user},{page},{10_000 * session + 10 * place + number},{group}")
    path.write_text("\n".join(rows) + "\n")
    return path


def test_measure_lists_users(run: Run, links: Path, log: Path, tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    arguments = (
        "measure",
        str(links),
        "--walks",
        str(log),
        "--session-gap",
        "1h",
        "--table",
        "users",
        "--keep",
        "group",
    )
    done = run(*arguments, "--out", str(table))
    assert done.code == 0, done.err
    with open(table, newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["user"], row["group"], row["sessions"], float(row["nodes"])) for row in rows] == [
        ("w", "a", "2", 4),
        ("x", "a", "2", 4),
        ("y", "b", "2", 5),
        ("z", "b", "2", 5),
    ]
    document = run(*arguments, "--json").document
    assert [row["beta1"] for row in document["users"]] == [1, 1, 1, 1]
    assert document["skipped"]["count"] == 0


def test_measure_lists_gaps_and_draws_their_survival(run: Run, links: Path, log: Path, tmp_path: Path) -> None:
    arguments = ("measure", str(links), "--walks", str(log), "--session-gap", "1h", "--table", "gaps")
    gaps = run(*arguments, "--json").document["gaps"]
    assert [(gap["user"], gap["session"], gap["lifetime"], gap["censored"]) for gap in gaps] == [
        (user, session, 1 if user in "yz" else 0, True) for user in "wxyz" for session in (1, 2)
    ]
    assert run(*arguments, "--out", str(tmp_path / "gaps.svg")).code == 0
    assert "share of gaps still open" in (tmp_path / "gaps.svg").read_text()


def test_measure_compares_groups(run: Run, links: Path, log: Path, tmp_path: Path) -> None:
    arguments = ("measure", str(links), "--walks", str(log), "--session-gap", "1h", "--group", "group")
    document = run(*arguments, "--json").document
    (nodes,) = (row for row in document["measures"] if row["measure"] == "nodes")
    assert nodes["differences"][0]["difference"]["value"] == -1
    assert nodes["p"] == pytest.approx(1 / 3, abs=0.05)  # 2 of 6 divisions of four people are as extreme
    assert {row["user"] for row in document["people"]} == set("wxyz")
    done = run(*arguments, "--steps", "4", "--out", str(tmp_path / "groups.pdf"))
    assert "do not differ clearly" in done.out
    assert "0 walks are shorter than 4 nodes" in done.out
    assert b"/Type3" not in (tmp_path / "groups.pdf").read_bytes()
    assert run(*arguments, "--seed", "5", "--json").out == run(*arguments, "--seed", "5", "--json").out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--group", "condition"), "condition"),
        (("--group", "group", "--table", "users"), "give one of them"),
        (("--table", "people"), "--table is 'people'; the choices are steps, gaps, users, persistence"),
        (("--steps", "4"), "give --group COLUMN with it"),
        (("--group", "group", "--steps", "1"), "steps is 1"),
    ],
)
def test_bad_options_of_people(run: Run, links: Path, log: Path, arguments: tuple[str, ...], words: str) -> None:
    done = run("measure", str(links), "--walks", str(log), *arguments)
    assert done.code == 2
    assert words in done.err
    assert run("measure", str(links), "--walk", "a,b", "--table", "users").code == 2


def test_measure_by_meaning(run: Run, links: Path, tmp_path: Path) -> None:
    texts = tmp_path / "texts.tsv"
    graph = cg.read_graph(links)
    texts.write_text(
        "".join(f"{label}\tword{number % 2} word{number % 3}\n" for number, label in enumerate(graph.labels))
    )
    walks = tmp_path / "by-meaning.txt"
    walks.write_text("a,b,c,d\na,b\n")
    similarity = cg.Similarity.from_texts(graph, cg.human.read_texts(texts, graph))
    weighted = similarity.weigh(graph)
    found = run("measure", str(links), "--walk", "a,b,c,d", "--texts", str(texts), "--json").document
    wanted = cg.measure(weighted, ["a", "b", "c", "d"], weighted=True)
    assert found["compressibility"] == pytest.approx(wanted.compressibility.tolist())
    line = ("measure", str(links), "--walks", str(walks), "--table", "persistence")
    rows = run(*line, "--texts", str(texts), "--json").document["walks"]
    persistence = cg.measure_persistence(weighted, [["a", "b", "c", "d"], ["a", "b"]])
    assert [row["total_persistence"] for row in rows] == persistence.columns()["total_persistence"]
    assert run(*line, "--texts", str(texts), "--out", str(tmp_path / "diagram.svg")).code == 0
    assert run(*line, "--texts", str(texts), "--out", str(tmp_path / "walks.csv")).code == 0
    assert len((tmp_path / "walks.csv").read_text().splitlines()) == 3
    without = run(*line)
    assert without.code == 2
    assert "has no weights" in without.err
    assert run("measure", str(links), "--walk", "a,b", "--weighted").code == 2
    (tmp_path / "bad.tsv").write_text("nobody\ttext\n")
    bad = run("measure", str(links), "--walk", "a,b", "--texts", str(tmp_path / "bad.tsv"))
    assert bad.code == 2
    assert "no node 'nobody'" in bad.err
