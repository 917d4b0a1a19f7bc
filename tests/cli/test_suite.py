"""`curiograph suite`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import curiograph as cg
from support.program import Run


def test_result_is_shown_and_written(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CURIOGRAPH_DATA", raising=False)
    out = tmp_path / "greedy.json"
    done = run("suite", "--agent", "greedy", "--task", "igt-ws-50", "--out", str(out))
    assert done.code == 0, done.err
    assert "igt-ws-50" in done.out
    assert f"wrote {out}" in done.err
    stored = cg.SuiteResult.load(out)
    assert (stored.agent, [task.task for task in stored.tasks]) == ("greedy", ["igt-ws-50"])
    shown = json.loads(run("suite", "--task", "igt-ws-50", "--json", "--quiet").out)
    assert shown["tasks"][0]["mean"] == stored.tasks[0].mean
    assert shown["row"]["families igt"] == stored.tasks[0].share


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--agent", "gready", "--quick"], "there is no agent 'gready'"),
        (["--version", "v0"], "--version is 'v0'; the choices are v1"),
        (["--task", "moon"], "the suite has no task 'moon'"),
        (["--quick", "--task", "real"], "give --quick or --task, not both"),
        (["--out", "result.csv"], "cannot write .csv"),
        (["--from", "/nowhere"], "/nowhere: has no edge lists"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(run: Run, arguments: list[str], message: str) -> None:
    done = run("suite", *arguments)
    assert done.code == 2
    assert message in done.err
    assert len(done.err.strip().splitlines()) == 1
