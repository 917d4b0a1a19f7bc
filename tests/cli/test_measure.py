"""`curiograph measure`."""

from __future__ import annotations

import json
from pathlib import Path

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


def test_pairs_of_clusters(run: Run, tmp_path: Path) -> None:
    graph = cg.generate("ba", nodes=40, seed=0)
    cg.write_graph(graph, tmp_path / "g.npz")
    walk = ",".join(map(str, range(40)))
    for pairs in ("auto", "stationary"):
        done = run("measure", str(tmp_path / "g.npz"), "--walk", walk, "--pairs", pairs, "--json")
        expected = cg.measure(graph, list(range(40)), pairs=pairs).compressibility.tolist()
        assert json.loads(done.out)["compressibility"] == expected
    done = run("measure", str(tmp_path / "g.npz"), "--walk", walk, "--pairs", "some")
    assert done.code == 2
    assert "pairs is 'some'; the choices are auto, best, all" in done.err
