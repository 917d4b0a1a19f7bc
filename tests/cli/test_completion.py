"""Shell completion."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from curiograph.agents.pretrained import shipped_agents
from curiograph.cli import completion
from curiograph.cli.main import main


@pytest.fixture
def complete(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """Return the completions of the last of these words, as split by bash."""
    monkeypatch.chdir(tmp_path)

    def list_completions(*words: str, separator: str = "\n") -> list[str]:
        monkeypatch.setenv("_CURIOGRAPH_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", separator.join(["curiograph", *words]))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        main()
        return capsys.readouterr().out.split()

    return list_completions


def test_values_come_from_the_registries(complete):
    assert complete("explore", "g", "--agent", "")[:6] == [
        "random", "max-degree", "min-degree", "greedy", "planner", "beam",
    ]  # fmt: skip
    assert set(shipped_agents()) <= set(complete("evaluate", "--agent", ""))
    assert complete("explore", "g", "--agent", "igt-rg") == [
        "igt-rg", "igt-rg-paper", "igt-rg-planner",
    ]  # fmt: skip
    assert complete("rank", "g", "--reward", "") == ["igt", "cpt", "cct"]
    assert complete("evaluate", "--family", "") == ["rg", "ws", "ba", "er"]
    assert complete("train", "--agent", "p") == ["planner"]
    assert complete("recommend", "g", "--by", "") == ["mixture", "pagerank", "igt", "cpt"]
    assert complete("data", "get", "movielens-1") == ["movielens-100k", "movielens-1m"]
    assert complete("predict", "wiki") == ["wikispeedia"]
    assert complete("explore", "g", "--fallback", "a") == ["anywhere"]
    assert complete("do") == ["doctor"]


def test_graphs_are_toy_graphs_and_files(complete, tmp_path):
    for name in ("trips.tsv", "links.csv", "notes.md"):
        (tmp_path / name).write_text("a b\n")
    toys = ["toy:library", "toy:everyday", "toy:grid", "toy:cycle", "toy:complete"]
    assert complete("explore", "") == [*toys, "links.csv", "trips.tsv"]
    assert complete("explore", "t") == [*toys, "trips.tsv"]
    assert complete("explore", "folder/") == []  # bash completes paths


def test_words_split_by_bash(complete):
    assert complete("explore", "toy", ":") == ["library", "everyday", "grid", "cycle", "complete"]
    assert complete("explore", "toy", ":", "c") == ["cycle", "complete"]
    assert complete("explore", "toy:c") == ["toy:cycle", "toy:complete"]
    assert complete("explore", "toy", ":", "grid", "--agent", "=", "cpt-all") == ["cpt-all-planner"]
    assert complete("evaluate", "--graph", "=", "toy", ":", "li") == ["library"]
    assert complete("explore", "g", "--reward", "i", separator=" ") == ["igt"]


def test_no_heavy_package_is_imported():
    made = {name: value for name, value in vars(completion).items() if callable(value) and not name.startswith("_")}
    values = [name for name in made if made[name].__module__ == completion.__name__ and name != "complete_in_bash"]
    calls = "\n".join(f"completion.{name}({'chr(116)' if name == 'complete_graphs' else ''})" for name in values)
    code = (
        f"import sys\nfrom curiograph.cli import completion, main\n{calls}\n"
        "print([name for name in ('numba', 'torch', 'matplotlib', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert len(values) > 8
    assert done.stdout == "[]\n"


@pytest.mark.long
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_in_bash(tmp_path):
    program = tmp_path / "curiograph"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m curiograph "$@"\n')
    program.chmod(0o755)
    script = (
        'eval "$(_CURIOGRAPH_COMPLETE=source_bash curiograph)"\n'
        "COMP_WORDS=(curiograph explore toy : li); COMP_CWORD=4; _curiograph_completion curiograph\n"
        'complete -p curiograph; echo "${COMPREPLY[@]}"'
    )
    path = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, env=os.environ | path)
    assert done.stdout == "complete -o default -F _curiograph_completion curiograph\nlibrary\n"
