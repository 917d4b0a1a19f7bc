"""The runner: options, files and errors; and all experiments on generated graphs with small settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reproduction.__main__ import main

SMALL = {
    "table1": ["--graphs", "2", "--episodes", "2", "--best-episodes", "1", "--seeds", "2"],
    "lengths": ["--starts", "2", "--longest", "10", "--repeats", "1"],
    "sizes": ["--graphs", "2", "--episodes", "2", "--beam-episodes", "1", "--largest", "10"],
    "walltime": ["--largest", "5", "--walks", "2", "--repeats", "1"],
    "pareto": ["--episodes", "1", "--widest", "2", "--repeats", "1", "--no-real"],
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "table1" else pytest.mark.long) for name in SMALL]
)
def test_files_are_written_and_tables_shown(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "results"
    assert main([name, *SMALL[name], "--out", str(out), "--workers", "1"]) == 0
    endings = ["json", "md", *(["png"] if name in ("table1", "pareto") else [])]
    assert sorted(path.name for path in out.iterdir()) == [f"{name}.{ending}" for ending in endings]
    shown, remarks = capsys.readouterr()
    assert "─" in shown
    assert f"wrote {name}.json" in remarks
    assert json.loads((out / f"{name}.json").read_text())["settings"]["seed"] == 0
    page = (out / f"{name}.md").read_text()
    assert page.count("|:--") >= 1
    (out / f"{name}.md").unlink()
    assert main(["show", "--out", str(out)]) == 0
    assert (out / f"{name}.md").read_text() == page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table1", "--graphs", "2", "--episodes", "few"], "'few'"),
        (["table1", "--environments", "tests"], "paper-graphs"),
        (["real"], "CURIOGRAPH_DATA"),
        (["gaps"], "CURIOGRAPH_DATA"),
        (["table2", "--only", "netflix"], "'netflix'"),
        (["table2", "--item-graph", "best"], "'best'"),
        *(([name], "curiograph data get wikispeedia") for name in ("motives", "meaning", "profile")),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("CURIOGRAPH_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert main([*arguments, "--out", str(tmp_path / "out"), "--workers", "1"]) == 2
    assert message in capsys.readouterr().err
