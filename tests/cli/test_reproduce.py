"""`curiograph reproduce`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from curiograph.paper import multiverse, universes

from curiograph.agents import pretrained
from curiograph.human.prediction.predict import Effort
from support import people
from support.program import Run
from support.small_agents import save_random_agents

QUICK = Effort(splits=2, trials=3, train_steps=4, walkers=10, trained_walkers=5, steps=2, windows=60, all_windows=20)

SMALL = {
    "table1": ["--graphs", "2", "--episodes", "all", "--beam-episodes", "2"],
    "lengths": ["--graphs", "2", "--episodes", "2", "--beam-episodes", "1", "--longest", "5"],
    "sizes": ["--graphs", "2", "--episodes", "2", "--beam-episodes", "1", "--largest", "10"],
    "walltime": ["--largest", "5", "--walks", "2", "--repeats", "1"],
    "pareto": ["--graphs", "2", "--episodes", "1", "--widest", "2", "--repeats", "1", "--no-real"],
}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shelf")
    save_random_agents(folder)
    return folder


@pytest.mark.parametrize("name", SMALL)
def test_files_are_written_and_tables_shown(
    run: Run, tmp_path: Path, shelf: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(pretrained, "SHIPPED_FOLDER", shelf)
    out = tmp_path / "results"
    done = run("reproduce", name, *SMALL[name], "--out", str(out))
    assert done.code == 0
    assert sorted(path.name for path in out.iterdir()) == [f"{name}.json", f"{name}.md", f"{name}.png"]
    assert "horizon" in done.out
    assert f"wrote {name}.md, {name}.json and {name}.png" in done.err
    assert (out / f"{name}.md").read_text().count("|---|") >= 1
    assert json.loads((out / f"{name}.json").read_text())["settings"]["seed"] == 0


@pytest.mark.parametrize("name", ["lengths", "walltime"])
def test_json_without_trained_agents_and_peers(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(pretrained, "SHIPPED_FOLDER", tmp_path)
    monkeypatch.setitem(sys.modules, "ripser", None)
    done = run("reproduce", name, *SMALL[name], "--out", str(tmp_path), "--json", "--quiet")
    document = json.loads(done.out)
    assert done.err == ""
    left_out = f"Left out, no such agent is shipped: gnn; horizon{'; planner' if name == 'lengths' else ''}."
    assert left_out in document["remarks"]
    missing = "ripser is not installed, so it was not timed: pip install 'curiograph[bench]'."
    assert (missing in document["remarks"]) == (name == "walltime")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table1", "--episodes", "few"], "--episodes is 'few'; give a whole number, 2 or more, or all"),
        (["table1", "--beam-episodes", "0"], "--beam-episodes is '0'"),
        (["table1", "--seeds", "0"], "Invalid value for '--seeds'"),
        (["lengths", "--longest", "2"], "Invalid value for '--longest'"),
        (["sizes", "--graphs", "1"], "Invalid value for '--graphs'"),
        (["walltime", "--family", "xy"], "there is no family 'xy'"),
        (["pareto", "--widest", "0"], "Invalid value for '--widest'"),
        (["real", "--from", "/nowhere"], "/nowhere: has no edge lists"),
        (["walltime", "--out", "/dev/null/results"], "cannot write to /dev/null"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(
    run: Run, tmp_path: Path, arguments: list[str], message: str
) -> None:
    where = [] if "--out" in arguments else ["--out", str(tmp_path / "out")]
    done = run("reproduce", *arguments, *where)
    assert done.code == 2
    assert message in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_table1_with_json(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "results"
    done = run(
        "reproduce", "table1", "--graphs", "2", "--episodes", "2", "--beam-episodes", "2", "--out", str(out), "--json"
    )  # fmt: skip
    assert len(json.loads(done.out)["cells"]) == 8
    assert sorted(path.name for path in out.iterdir()) == ["table1.json", "table1.md", "table1.png"]
    assert "| igt | RG |" in (out / "table1.md").read_text()


def test_table1_on_environment_files(run: Run, tmp_path: Path) -> None:
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


def test_missing_dataset_gets_one_sentence(run, tmp_path, monkeypatch):
    monkeypatch.delenv("CURIOGRAPH_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in ("table2", "conditions"):
        ran = run("reproduce", name, "--only", "wikispeedia", "--out", tmp_path / "r")
        assert ran.code == 2
        assert "curiograph data get wikispeedia" in ran.err
    for name in ("motives", "returns"):
        ran = run("reproduce", name, "--out", tmp_path / "r")
        assert ran.code == 2
        assert "curiograph data get wikispeedia" in ran.err
    ran = run("reproduce", "table2", "--only", "netflix")
    assert ran.code == 2
    assert "the datasets are movielens, books, wikispeedia" in ran.err


@pytest.fixture(scope="module")
def movielens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return people.ml_100k(tmp_path_factory.mktemp("data") / "ml-100k", people.tastes(users=120, items=70, visits=40))


def test_examples_and_table2_share_a_run_folder(run, movielens, tmp_path, monkeypatch):
    monkeypatch.setattr("curiograph.human.prediction.predict.QUICK", QUICK)
    common = ("--only", "movielens", "--from", movielens, "--quick", "--run", tmp_path / "runs", "--out", tmp_path)
    ran = run("reproduce", "examples", *common, "--workers", "1", "--count", "1")
    assert ran.code == 0, ran.err
    assert "went to Film" in ran.out
    ran = run("reproduce", "table2", *common, "--workers", "1", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["settings"]["effort"]["trials"] == 3
    assert {"table2.md", "table2.json", "table2.png", "examples.md"} <= {path.name for path in tmp_path.iterdir()}


def test_multiverse(run, movielens, tmp_path, monkeypatch):
    effort = universes.Effort(training=20, test=20, candidates=4, walkers=4, trained_walkers=1, steps=1, draws=5)
    monkeypatch.setattr("curiograph.paper.multiverse.QUICK", multiverse.Settings(seeds=1, effort=effort))
    common = ("--only", "movielens", "--from", movielens, "--quick", "--workers", "1", "--out", tmp_path)
    ran = run("reproduce", "multiverse", *common, "--run", tmp_path / "runs", "--seed", "3")
    assert ran.code == 0, ran.err
    assert "share of the variance" in ran.out
    assert "the choice that matters most is" in ran.err
    again = run("reproduce", "multiverse", *common, "--run", tmp_path / "runs", "--seed", "3", "--json")
    assert json.loads(again.out)["universes"]["movielens"]["factors"]["seed"] == ["3"]
    assert {"multiverse.md", "multiverse.json", "multiverse.png"} <= {path.name for path in tmp_path.iterdir()}
