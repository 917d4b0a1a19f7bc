"""The command line as a user drives it: what it prints, what it writes, and how it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import curiograph as cg
from support.program import Run


@pytest.fixture
def links(tmp_path: Path) -> Path:
    path = tmp_path / "links.tsv"
    path.write_text("source\ttarget\na\tb\nb\tc\nc\td\nd\ta\nd\te\n")
    return path


def test_help_imports_neither_numba_nor_torch() -> None:
    code = (
        "import sys\nfrom curiograph.cli.main import app\n"
        "try: app(['--help'])\nexcept SystemExit: pass\n"
        "print([m for m in ('numba', 'torch', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")


def test_module_is_the_same_program() -> None:
    done = subprocess.run([sys.executable, "-m", "curiograph", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"curiograph {cg.__version__}\n"


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


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_pictures(run: Run, links: Path, tmp_path: Path, ending: str) -> None:
    for command in (["measure", "--walk", "a,b,c,d"], ["explore", "--start", "a", "--steps", "4"]):
        path = tmp_path / f"{command[0]}.{ending}"
        assert run(command[0], str(links), *command[1:], "--out", str(path)).code == 0
        assert path.stat().st_size > 1000


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


def test_explore_is_seeded_and_says_when_it_ends_early(run: Run, links: Path) -> None:
    first, second = (run("explore", str(links), "--seed", "3", "--steps", "9", "--json") for _ in range(2))
    assert first.out == second.out
    assert json.loads(first.out)["ended_early"]
    assert "ended early, after 5 of 9 nodes" in first.err


def test_evaluate_family_graph_and_environments(run: Run, links: Path, tmp_path: Path) -> None:
    document = json.loads(run("evaluate", "--family", "ws", "--graphs", "2", "--episodes", "3", "--json").out)
    assert document["episodes"] == 6
    document = json.loads(
        run(
            "evaluate", "--graph", str(links), "--agent", "greedy", "--agent", "random", "--episodes", "all", "--json"
        ).out
    )
    assert [result["agent"] for result in document["results"]] == ["greedy", "random"]
    environments = tmp_path / "tiny_RG_set.json"
    graph = {
        "nodes": [{"id": 0}, {"id": 1}, {"id": 2}],
        "links": [{"source": 0, "target": 1}, {"source": 1, "target": 2}],
    }
    environments.write_text(json.dumps({part: {"0": graph} for part in ("train", "val", "test")}))
    assert (
        json.loads(run("evaluate", "--environments", str(environments), "--episodes", "2", "--json").out)["graphs"] == 1
    )


def test_reproduce_table1_writes_all_three(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "results"
    done = run(
        "reproduce", "table1", "--graphs", "2", "--episodes", "2", "--beam-episodes", "2", "--out", str(out), "--json"
    )  # fmt: skip
    assert len(json.loads(done.out)["cells"]) == 8
    assert sorted(path.name for path in out.iterdir()) == ["table1.json", "table1.md", "table1.png"]
    assert "| igt | RG |" in (out / "table1.md").read_text()


def test_convert_reports_what_was_cleaned(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "links.csv"
    path.write_text("a,b\nb,a\na,a\n")
    done = run("convert", str(path), str(tmp_path / "links.npz"))
    assert done.code == 0
    assert "1 self-loops dropped, 1 parallel edges merged" in done.err
    assert cg.read_graph(tmp_path / "links.npz").labels == ["a", "b"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explore", "GRAPH", "--start", "aa"], "the graph has no node 'aa'; the nearest names are 'a'"),
        (["explore", "GRAPH", "--agent", "gready"], "there is no agent 'gready'; the agents are random"),
        (["explore", "GRAPH", "--agent", "beam:0"], "beam width is 0"),
        (["explore", "GRAPH", "--agent", "beam:x"], "beam width is 'x'"),
        (["explore", "GRAPH", "--reward", "joy"], "there is no reward 'joy'; the rewards are igt, cpt"),
        (["explore", "GRAPH", "--steps", "0"], "steps is 0"),
        (["explore", "GRAPH", "--fallback", "home"], "fallback is 'home'; the choices are frontier, anywhere"),
        (["explore", "nowhere.tsv"], "nowhere.tsv: there is no such file"),
        (["explore", "GRAPH", "--out", "x.docx"], "cannot write .docx"),
        (["explore", "GRAPH", "--out", "no/such/folder/x.json"], "does not exist"),
        (["explore", "toy:moon"], "there is no toy graph 'moon'"),
        (["measure", "GRAPH"], "give either --walk a,b,c or --walks FILE"),
        (["measure", "GRAPH", "--walk", ","], "is empty"),
        (["evaluate", "--family", "xy"], "there is no family 'xy'; the families are rg, ws, ba, er"),
        (["evaluate"], "give one of --family NAME, --graph FILE or --environments FILE"),
        (["evaluate", "--family", "rg", "--episodes", "many"], "--episodes is 'many'"),
        (["evaluate", "--family", "rg", "--nodes", "2"], "nodes is 2"),
        (
            ["reproduce", "table1", "--environments", "graphs.json", "--out", "new"],
            "graphs.json: there is no such file",
        ),
        (["reproduce", "table1", "--graphs", "1"], "Invalid value for '--graphs'"),
        (["explore", "GRAPH", "--steps", "1.5"], "Invalid value for '--steps'"),
        (["explore", "GRAPH", "--seed", "-1"], "Invalid value for '--seed'"),
        (["explore"], "Missing argument 'GRAPH'"),
        (["explore", "GRAPH", "--nonsense"], "No such option: --nonsense"),
        (["nonsense"], "No such command 'nonsense'"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(
    run: Run, links: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(links.parent)
    done = run(*[str(links) if argument == "GRAPH" else argument for argument in arguments])
    assert done.code == 2
    assert done.out == ""
    assert message in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_nothing_is_written_when_the_work_fails(run: Run, links: Path, tmp_path: Path) -> None:
    out = tmp_path / "walk.json"
    out.write_text("precious")
    assert run("explore", str(links), "--start", "zz", "--out", str(out)).code == 2
    assert out.read_text() == "precious"
    assert {path.name for path in tmp_path.iterdir()} == {"links.tsv", "walk.json"}


def test_quiet_is_quiet_and_bare_call_helps(run: Run, links: Path) -> None:
    done = run("explore", str(links), "--steps", "9", "--quiet")
    assert done.err == ""
    assert "ended early after 5 of 9 nodes" in done.out
    assert "Usage" in run().out


def test_walk_files_keep_quotes_and_commas_in_names(run: Run, tmp_path: Path) -> None:
    graph = tmp_path / "people.tsv"
    graph.write_text('"Weird Al" Yankovic\tWashington, D.C.\n')
    walks = tmp_path / "walks.txt"
    walks.write_text('"Weird Al" Yankovic\tWashington, D.C.\nWashington, D.C.\n')
    document = json.loads(run("measure", str(graph), "--walks", str(walks), "--json").out)
    assert [walk["node"] for walk in document["walks"]] == [
        ['"Weird Al" Yankovic', "Washington, D.C."],
        ["Washington, D.C."],
    ]


def test_output_that_cannot_be_written(links: Path) -> None:
    command = [sys.executable, "-m", "curiograph", "explore", str(links), "--json"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr


def test_reproduce_on_environment_files(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "tiny_ws_set.json"
    ring = {"nodes": [{"id": i} for i in range(6)], "links": [{"source": i, "target": (i + 1) % 6} for i in range(6)]}
    path.write_text(json.dumps({"train": {}, "val": {}, "test": {"0": ring, "1": ring}}))
    common = [
        "reproduce",
        "table1",
        "--episodes",
        "2",
        "--beam-episodes",
        "2",
        "--out",
        str(tmp_path / "out"),
        "--json",
    ]
    cells = json.loads(run(*common, "--environments", str(path)).out)["cells"]
    assert {(cell["family"], cell["source"]) for cell in cells} == {("ws", "tiny_ws_set.json")}
    twice = run(*common, "--environments", str(path), "--environments", str(path))
    assert twice.code == 2
    assert "another file of the family ws" in twice.err


def test_graph_without_edges_or_nodes(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "lonely.json"
    path.write_text(json.dumps({"nodes": [{"id": "a"}], "links": []}))
    assert "no edges" in run("explore", str(path)).err
    path.write_text(json.dumps({"nodes": [], "links": []}))
    done = run("explore", str(path))
    assert done.code == 2
    assert "empty" in done.err
