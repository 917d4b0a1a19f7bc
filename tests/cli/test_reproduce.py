"""`curiograph reproduce` as a user drives it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from curiograph.agents import pretrained
from support.program import Run
from support.small_agents import save_random_agents

SMALL = {
    "table1": ["--graphs", "2", "--episodes", "all", "--beam-episodes", "2"],
    "lengths": ["--graphs", "2", "--episodes", "2", "--beam-episodes", "1", "--longest", "5"],
    "sizes": ["--graphs", "2", "--episodes", "2", "--beam-episodes", "1", "--largest", "10"],
    "walltime": ["--largest", "5", "--walks", "2", "--repeats", "1"],
}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shelf")
    save_random_agents(folder)
    return folder


@pytest.mark.parametrize("name", SMALL)
def test_writes_all_three_and_shows_tables(
    run: Run, tmp_path: Path, shelf: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(pretrained, "_get_shipped_folder", lambda: shelf)
    out = tmp_path / "results"
    done = run("reproduce", name, *SMALL[name], "--out", str(out))
    assert done.code == 0
    assert sorted(path.name for path in out.iterdir()) == [f"{name}.json", f"{name}.md", f"{name}.png"]
    assert "horizon" in done.out
    assert f"wrote {name}.md, {name}.json and {name}.png" in done.err
    assert (out / f"{name}.md").read_text().count("|---|") >= 1
    assert json.loads((out / f"{name}.json").read_text())["settings"]["seed"] == 0


@pytest.mark.parametrize("name", ["lengths", "walltime"])
def test_json_is_one_document_even_without_trained_agents_and_peers(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(pretrained, "_get_shipped_folder", lambda: tmp_path)
    monkeypatch.setitem(sys.modules, "ripser", None)
    done = run("reproduce", name, *SMALL[name], "--out", str(tmp_path), "--json", "--quiet")
    document = json.loads(done.out)
    assert done.err == ""
    assert "Left out, no such agent is shipped: gnn; horizon." in document["remarks"]
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
        (["walltime", "--out", "/dev/null/results"], "cannot write to /dev/null"),
    ],
)
def test_bad_input_gets_one_sentence(run: Run, tmp_path: Path, arguments: list[str], message: str) -> None:
    where = [] if "--out" in arguments else ["--out", str(tmp_path / "out")]
    done = run("reproduce", *arguments, *where)
    assert done.code == 2
    assert message in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()
