"""Time budgets, progress, number of validations, warnings of slow rewards, and the command on the card."""

from __future__ import annotations

import ast
import sys
import time
import tomllib
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs torch: make test installs it")

import curiograph as cg
from curiograph.rewards.registry import as_reward
from curiograph.training import reward_cost
from curiograph.training.config import make_settings
from curiograph.training.dqn import DqnLearner
from curiograph.training.logging import read_log
from curiograph.training.reward_cost import count_evaluations, warn_slow_reward
from curiograph.training.trainer import as_split, format_call
from support.trainings import COMMAND, GNN, SETS, skip_plots

ROOT = Path(__file__).parents[2]


def count_nodes(subgraph: cg.Graph) -> float:
    return float(len(subgraph))


def count_slowly(subgraph: cg.Graph) -> float:
    time.sleep(0.002)
    return float(len(subgraph))


# ---- validations ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("train_steps", "steps"), [(12, [4, 8, 12]), (7, [2, 4, 6, 7]), (3, [1, 2, 3])])
def test_short_runs_are_validated_three_times(train_steps: int, steps: list[int]) -> None:
    seen: list[dict[str, Any]] = []
    cg.train(SETS, "igt", train_steps=train_steps, progress=seen.append, **(GNN | {"validate_every": 250}))
    assert [report["step"] for report in seen] == steps
    assert [report["share"] for report in seen][-1] == 1
    assert seen[-1]["left"] == 0


def test_long_runs_are_validated_as_set() -> None:
    settings = make_settings("gnn", "best", {})
    assert settings.validation_interval == settings.validate_every == 250


# ---- time budget ----------------------------------------------------------------------------------------------------


def test_time_budget_ends_the_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_plots(monkeypatch)
    begun = time.monotonic()
    seen: list[dict[str, Any]] = []
    agent = cg.train(SETS, "igt", minutes=0.03, out=tmp_path, progress=seen.append, **(GNN | {"validate_every": 10**6}))
    assert 1.8 <= time.monotonic() - begun < 30
    assert len(seen) >= 3
    assert seen[-1]["share"] == 1
    assert seen[-1]["seconds"] >= 1.8
    assert seen[-1]["left"] == 0
    assert agent.card["steps"] == seen[-1]["step"] < 10**6
    assert agent.card["training"]["settings"]["minutes"] == 0.03
    assert "minutes=0.03" in agent.card["command"]
    # the schedule follows the time: epsilon is at its end although few of the 10**7 steps were taken
    assert seen[-1]["epsilon"] < seen[0]["epsilon"]
    # a finished run is not continued
    monkeypatch.setattr(DqnLearner, "step", lambda self: pytest.fail("trained again"))
    again = cg.train(SETS, "igt", minutes=0.03, out=tmp_path, **(GNN | {"validate_every": 10**6}))
    assert again.card == agent.card
    with pytest.raises(cg.SettingError, match=r"its minutes is 0\.03, not 0\.5"):
        cg.train(SETS, "igt", minutes=0.5, out=tmp_path, **(GNN | {"validate_every": 10**6}))


def test_steps_end_before_the_time() -> None:
    agent = cg.train(SETS, "igt", minutes=5, train_steps=6, **GNN)
    assert agent.card["steps"] == 6


def test_training_without_a_budget_has_no_minutes_in_its_description() -> None:
    assert "minutes" not in cg.train(SETS, "igt", train_steps=3, **GNN).card["training"]["settings"]


@pytest.mark.parametrize("minutes", [-1, "5", True, float("nan")])
def test_bad_budget(minutes: Any) -> None:
    with pytest.raises(cg.SettingError, match="minutes is"):
        cg.train(SETS, "igt", minutes=minutes)


def test_command_line_has_a_budget(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_plots(monkeypatch)
    done = run(*COMMAND, "--minutes", "5", "--reward", "igt+0.5*cpt", "--json", "--out", tmp_path / "r")
    assert done.document["agent"] == "igt+0.5*cpt-gnn"
    assert read_log(tmp_path / "r" / "log.jsonl")[-1]["step"] == 8
    assert "--minutes 5" in cg.load_agent(tmp_path / "r").card["command"]
    failed = run(*COMMAND, "--minutes", "5", "--set", "minutes=4", "--out", tmp_path / "s")
    assert failed.code == 2
    assert "minutes is given by --minutes and by --set" in failed.err


# ---- progress -------------------------------------------------------------------------------------------------------


def test_progress_prints_lines(capsys: pytest.CaptureFixture[str]) -> None:
    cg.train(SETS, "igt", train_steps=3, progress=True, **GNN)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("curiograph: step 1, ")
    assert lines[-1].endswith("0.0 min left")
    cg.train(SETS, "igt", train_steps=3, progress=False, **GNN)
    assert capsys.readouterr().err == ""
    with pytest.raises(cg.SettingError, match="progress is 'yes'"):
        cg.train(SETS, "igt", train_steps=3, progress="yes", **GNN)


# ---- slow rewards ---------------------------------------------------------------------------------------------------


def test_slow_reward_is_announced_before_the_training(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DqnLearner, "step", lambda self: pytest.fail("the training has begun"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match=r"'count_slowly' takes [\d.]+ ms per evaluation, .* times: about \d"):
            cg.train(SETS, count_slowly, **GNN | {"train_steps": 100_000})


@pytest.mark.parametrize(
    ("reward", "changes"),
    [
        ("igt+cpt", {"train_steps": 10**7}),
        (count_slowly, {"train_steps": 100}),
        (count_slowly, {"minutes": 500.0}),
    ],
)
def test_no_warning(reward: Any, changes: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_slow_reward(as_reward(reward), SETS, [make_settings("gnn", "best", GNN | changes)])


def test_sum_with_a_slow_term_and_many_trainings(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = []
    monkeypatch.setattr(reward_cost, "measure_evaluation", lambda reward, *more: measured.append(reward.name) or 0.002)
    settings = make_settings("gnn", "best", GNN | {"train_steps": 3000})
    reward = as_reward({"igt": 1, count_slowly: 1})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_slow_reward(reward, SETS, [settings])
    with pytest.warns(UserWarning, match="about"):
        warn_slow_reward(reward, SETS, [settings] * 20)
    assert measured == ["count_slowly"] * 2


def test_evaluations_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The estimate for deep Q-learning is the number of calls; for expert iteration it is within a factor of five."""
    from support.trainings import HORIZON

    monkeypatch.setattr("curiograph.training.trainer.warn_slow_reward", lambda *given: None)
    for kind, given, factor in (("gnn", GNN, 1.3), ("horizon", HORIZON, 5.0)):
        calls = 0

        def count(subgraph: cg.Graph) -> float:
            nonlocal calls
            calls += 1
            return float(subgraph.num_edges)

        changes = given | {"train_steps": 24}
        cg.train(SETS, count, agent=kind, **changes)
        estimate = count_evaluations(as_split(SETS), make_settings(kind, "best", changes))
        assert calls / factor < estimate < calls * factor, (kind, calls, estimate)


# ---- the command on the card ----------------------------------------------------------------------------------------


def test_command_repeats_the_training() -> None:
    sets = cg.generate_split("ws", nodes=12, train=2, val=1, test=0, seed=4)
    first = cg.train(sets, "igt+0.5*cpt", seed=np.int64(2), train_steps=4, name="mine", **GNN)
    again = eval(first.card["command"], {"cg": cg})
    assert all(np.array_equal(first.network[name], again.network[name]) for name in first.network)
    assert again.card == first.card


def test_command_names_what_it_cannot_express() -> None:
    graphs = SETS.train
    agent = cg.train(graphs, count_nodes, train_steps=3, **GNN)
    command = agent.card["command"]
    assert command.startswith("cg.train(sets, count_nodes, batch=8, ")
    again = eval(command, {"cg": cg, "sets": graphs, "count_nodes": count_nodes})
    assert again.card == agent.card
    given = {"agent": "horizon", "preset": "best", "start": "igt-all-horizon", "seed": 0, "name": None}
    both = as_reward({"igt": 1, count_nodes: 0.5})
    assert format_call(as_split(graphs), both, given, {}) == (
        "cg.train(sets, {'igt': 1.0, count_nodes: 0.5}, agent='horizon', start='igt-all-horizon')"
    )
    unnamed = as_reward(lambda subgraph: 1.0)
    given |= {"start": None, "agent": "gnn"}
    assert format_call(as_split(graphs), unnamed, given, {}) == "cg.train(sets, reward)"


# ---- packages -------------------------------------------------------------------------------------------------------


def test_all_extra_has_what_the_examples_import() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]

    def expand(names: list[str]) -> set[str]:
        found: set[str] = set()
        for name in names:
            if name.startswith("curiograph["):
                found |= expand([each for extra in name[11:-1].split(",") for each in extras[extra]])
            else:
                found.add(name.partition(">")[0].partition("=")[0].replace("-", "_"))
        return found

    installed = expand(extras["all"]) | expand(project["dependencies"])
    imported = set()
    for path in (ROOT / "examples").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module.partition(".")[0])
    missing = imported - installed - set(sys.stdlib_module_names) - {"curiograph"}
    assert not missing
