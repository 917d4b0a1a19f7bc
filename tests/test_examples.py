"""Tests of the scripts in examples/."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


Runner = Callable[..., str]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Runner:
    """Run a script in this process, where the imports are already done, and return what it prints."""

    def run_script(name: str, *arguments: object) -> str:
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        return capsys.readouterr().out

    return run_script


def parse_values(printed: str) -> dict[str, float]:
    """Return the number printed after each name."""
    return {name: float(value) for name, value in re.findall(r"^(.+?) +([0-9.]+)", printed, re.MULTILINE)}


def is_png(path: Path) -> bool:
    return path.read_bytes().startswith(b"\x89PNG")


def test_click_log(run: Runner, tmp_path: Path) -> None:
    tmp_path /= "pictures"  # the script creates the folder
    printed = run("click_log.py", tmp_path)
    assert "40 walks by 40 users" in printed
    assert re.search(r"Against unbiased, human walks show .* fewer gaps, .* more bits and .* conformable", printed)
    assert (tmp_path / "log.csv").read_text().startswith("user,page,time\n")
    assert is_png(tmp_path / "growth.png")


def test_reading_log(run: Runner, tmp_path: Path) -> None:
    assert "events of 40 participants on 30 pages" in run("reading_log.py", tmp_path)
    rows = pd.read_csv(tmp_path / "log.csv", keep_default_na=False)
    assert {"", "Main Page"} < set(rows["article"])
    assert set(rows["group"]) == {"seekers", "browsers"}
    first = (tmp_path / "log.csv").read_bytes()
    run("reading_log.py", tmp_path)
    assert (tmp_path / "log.csv").read_bytes() == first


def test_notebook_from_a_log_to_a_paper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(EXAMPLES / "reading_log.py", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["notebook"])
    names: dict[str, object] = {}
    for cell in json.loads((EXAMPLES / "log_to_paper.ipynb").read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    printed = capsys.readouterr().out
    for words in ("differ in beta1", "outside the graph", "9,999 permutations", "browsers: 20 people"):
        assert words in printed
    assert pd.read_csv(tmp_path / "people.csv")["walks"].max() == 3
    assert "<svg" in (tmp_path / "groups.svg").read_text()


def test_word_lists(run: Runner, tmp_path: Path) -> None:
    assert "settlers and wanderers differ in" in run("word_lists.py", tmp_path)
    found = json.loads((tmp_path / "word_lists.json").read_text())
    settlers, wanderers = found["groups"]
    assert settlers["switches"] < wanderers["switches"]
    assert [row["method"] for row in found["networks"]] == ["random-walk", "window", "correlation"]


def test_gaps_of_a_walk(run: Runner, tmp_path: Path) -> None:
    printed = run("gaps_of_a_walk.py", tmp_path)
    rows = re.findall(r"^ +\d+ +\d+ +(still open|\d+) +(\d*)", printed, re.MULTILINE)
    assert 0 < sum(closed == "still open" for closed, _ in rows) < len(rows)
    assert all((steps == "") == (closed == "still open") for closed, steps in rows)
    assert is_png(tmp_path / "gaps.png")


def test_text_segments(run: Runner, tmp_path: Path) -> None:
    printed = run("text_segments.py", tmp_path)
    assert "16 segments" in printed
    assert len(re.findall(r"^sentence \d+ opens a gap, \d+ closes it", printed, re.MULTILINE)) == 3
    assert is_png(tmp_path / "text_segments.png")


def test_three_theories(run: Runner, tmp_path: Path) -> None:
    rows = [line.split() for line in run("three_theories.py", tmp_path).splitlines()[1:]]
    assert [int(row[-1]) for row in rows] == [0, 0, 0, 1, 1, 1, 3, 5, 7]
    assert [int(row[4]) for row in rows] == [0, 0, 0, 1, 0, 0, 0, 0, 0]
    assert is_png(tmp_path / "three_theories.png")


def test_own_reward(run: Runner, tmp_path: Path) -> None:
    means = parse_values(run("own_reward.py", tmp_path))
    assert means["random"] < means["greedy"] < means["beam:8"] <= 7
    assert is_png(tmp_path / "own_reward.png")


def test_own_agent(run: Runner) -> None:
    means = parse_values(run("own_agent.py"))
    assert means["random"] < means["greedy"] < means["pioneer"] < means["beam:64"]


def test_own_ranker(run: Runner, tmp_path: Path) -> None:
    means = parse_values(run("own_ranker.py", tmp_path))
    assert means["nearby"] < 0.5 < means["pagerank"] < means["pagerank less nearby"]
    written = pd.read_csv(tmp_path / "own_ranker.csv").set_index("ranker")["percentile"]
    assert written.to_dict() == pytest.approx(means, abs=1e-3)


def test_every_alpha(run: Runner, tmp_path: Path) -> None:
    assert "converged: True" in run("every_alpha.py", tmp_path)
    assert is_png(tmp_path / "every_alpha.png")


def test_recommendations(run: Runner, tmp_path: Path) -> None:
    printed = run("recommendations.py", tmp_path)
    rows = pd.read_csv(tmp_path / "recommendations.csv")
    assert rows["node"].tolist() == [line.split()[0] for line in printed.splitlines()]
    assert not {"Myriel", "Valjean", "Fantine", "Marius"} & set(rows["node"])
    assert rows["story"].str.startswith("opens the gap").any()
    assert is_png(tmp_path / "recommendations.png")


@pytest.mark.long
def test_train_an_agent(run: Runner, tmp_path: Path) -> None:
    means = parse_values(run("train_an_agent.py", tmp_path))
    assert means["random"] < means["trained"] < means["beam"]
    assert (tmp_path / "agent" / "agent.safetensors").exists()


@pytest.mark.long
@pytest.mark.skipif(find_spec("torch_geometric") is None, reason="needs PyG: pip install 'curiograph[pyg]'")
def test_dqn_paper(run: Runner) -> None:
    means = parse_values(run("dqn_paper.py", "--family", "er", "--steps", "1200"))
    assert means["random"] < means["dqn-paper"] < means["beam"]


@pytest.mark.long
def test_ppo(run: Runner) -> None:
    means = parse_values(run("ppo.py", "--rollouts", "15"))
    assert 3 * means["random"] < means["ppo"] < means["beam"]


def test_every_script_has_a_test() -> None:
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert {path.stem for path in EXAMPLES.glob("*.py")} <= tested
