"""Training runs: start, kill, resume, and the files they leave."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs torch: make test installs it")

import curiograph as cg
from curiograph.agents.gnn import GnnShape
from curiograph.training.dqn import PaperDqnLearner
from curiograph.training.training_settings import make_settings

SETS = cg.generate_split("er", nodes=14, train=4, val=2, test=0, seed=3)
GNN = {"walk_nodes": 6, "warmup": 4, "batch": 8, "buffer": 200, "validate_every": 4, "validation_walks": 3}
SETTINGS = {"gnn": GNN, "planner": GNN | {"beam": 4, "far_nodes": 9}}
_KILLED = """
import os, signal, sys
import curiograph as cg
sets = cg.generate_split("er", nodes=14, train=4, val=2, test=0, seed=3)
kind, out, settings = sys.argv[1], sys.argv[2], eval(sys.argv[3])
def kill(message, done=None):
    if done >= 0.5:
        os.kill(os.getpid(), signal.SIGKILL)
cg.train(sets, "igt", agent=kind, seed=5, out=out, train_steps=20, progress=kill, **settings)
"""


def train(kind: str, out: Path | None = None, **changes):
    return cg.train(SETS, "igt", agent=kind, seed=5, out=out, **(SETTINGS[kind] | {"train_steps": 20} | changes))


def read_log(out: Path) -> list[dict]:
    return [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("kind", ["gnn", pytest.param("planner", marks=pytest.mark.long)])
def test_killed_runs_resume_to_identical_results(kind, tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    train(kind, whole)
    command = [sys.executable, "-c", _KILLED, kind, str(killed), repr(SETTINGS[kind])]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert [report["step"] for report in read_log(killed)] == [4, 8, 12]
    train(kind, killed)
    assert (killed / "agent.safetensors").read_bytes() == (whole / "agent.safetensors").read_bytes()
    assert (killed / "log.jsonl").read_text() == (whole / "log.jsonl").read_text()


class StopError(Exception):
    """Raised by a progress callback, after the checkpoint."""


def stop_at(share: float):
    def stop(message, done=None):
        if done >= share:
            raise StopError

    return stop


def test_stopped_planner_resumes_to_identical_results(tmp_path):
    with pytest.raises(StopError):
        train("planner", tmp_path, train_steps=9, progress=stop_at(0.5))
    agent, whole = train("planner", tmp_path, train_steps=9), train("planner", train_steps=9)
    assert all(np.array_equal(agent.network[name], whole.network[name]) for name in whole.network)


def test_damaged_checkpoint_is_refused(tmp_path):
    with pytest.raises(StopError):
        train("gnn", tmp_path, progress=stop_at(0.5))
    checkpoint = tmp_path / "checkpoint.safetensors"
    whole = checkpoint.read_bytes()
    for content in (
        whole[:100],
        whole[:-1] + bytes([whole[-1] ^ 1]),
        whole.replace(b'"version":"2"', b'"version":"9"'),
    ):
        assert content != whole
        checkpoint.write_bytes(content)
        with pytest.raises(cg.FileFormatError, match=r"checkpoint\.safetensors"):
            train("gnn", tmp_path)


def test_finished_runs_are_not_trained_again(tmp_path):
    first = train("gnn", tmp_path)
    again = train("gnn", tmp_path, progress=lambda *_: pytest.fail("trained again"))
    assert all(np.array_equal(first.network[name], again.network[name]) for name in first.network)
    assert first.card == again.card


def test_files_and_reports_of_a_run(tmp_path):
    seen = []
    agent = cg.train(
        SETS, "cpt", out=tmp_path / "run", name="mine", train_steps=12, progress=lambda *step: seen.append(step), **GNN
    )
    assert {path.name for path in (tmp_path / "run").iterdir()} == {"agent.safetensors", "agent.json", "log.jsonl"}
    assert [share for _, share in seen] == [4 / 12, 8 / 12, 1]
    assert "step 12, loss" in seen[-1][0]
    reports = read_log(tmp_path / "run")
    assert [report["step"] for report in reports] == [4, 8, 12]
    assert reports[-1]["loss"] > 0
    assert reports[-1]["best"] == max(report["validation"] for report in reports)
    loaded = cg.load_agent(tmp_path / "run")
    assert loaded.card == agent.card
    assert (loaded.name, loaded.card["steps"], loaded.card["training"]["seed"]) == ("mine", 12, 0)
    assert cg.evaluate(agent, SETS.val, "cpt", 6, 3, seed=0).mean == pytest.approx(reports[-1]["best"])
    cg.check_agent(loaded)


@pytest.mark.parametrize(("train_steps", "steps"), [(12, 3), (7, 4), (3, 3)])
def test_short_runs_are_validated_three_times(train_steps, steps):
    seen = []
    train("gnn", train_steps=train_steps, validate_every=250, progress=lambda *step: seen.append(step))
    assert len(seen) == steps


def test_start_from_a_trained_agent(tmp_path):
    first = train("planner", tmp_path / "first")
    more = train("planner", tmp_path / "second", start=tmp_path / "first", train_steps=4)
    assert more.card["training"]["start"].startswith("igt-planner, sha256 ")
    assert np.array_equal(more.network["scale"], first.network["scale"])
    for kind, start in (("gnn", tmp_path / "first"), ("gnn", "igt-rg-paper"), ("gnn", "cpt-rg")):
        with pytest.raises(cg.SettingError, match="cannot start from"):
            train(kind, tmp_path / "third", start=start)


def test_folder_of_another_training_is_refused(tmp_path):
    def mine(subgraph):
        return float(subgraph.num_edges)

    mine.fingerprint = "1"
    cg.train(SETS, mine, out=tmp_path, train_steps=4, **GNN)
    for change, words in (
        ({"train_steps": 8}, "train_steps is 4, not 8"),
        ({"seed": 1}, "seed is 0, not 1"),
        ({"reward": "cpt"}, "'mine', not 'cpt'"),
        ({"preset": "paper"}, "learning_rate is 0.001, not 0.0003"),
        ({"sets": SETS.train[:2]}, "graphs"),
    ):
        with pytest.raises(cg.SettingError, match=words):
            cg.train(**({"sets": SETS, "reward": mine, "out": tmp_path, "train_steps": 4, **GNN} | change))
    mine.fingerprint = "2"
    with pytest.raises(cg.SettingError, match="'mine 1', not 'mine 2'"):
        cg.train(SETS, mine, out=tmp_path, train_steps=4, **GNN)


@pytest.mark.parametrize("kind", SETTINGS)
def test_unusual_graphs(kind):
    """Walks longer than graphs, graphs of two nodes, directed graphs, a reward of one's own, no update at all."""
    tiny = [cg.Graph.from_edges([(0, 1)]), cg.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)], directed=True)]
    more = SETTINGS[kind] | {"walk_nodes": 9, "train_steps": np.int64(6), "warmup": 1000}
    assert cg.train(tiny, lambda s: float(s.num_edges), agent=kind, **more).card["steps"] == 6
    rings = [(i, (i + 1) % 3) for i in range(3)] + [(3 + i, 3 + (i + 1) % 14) for i in range(14)]
    agent = cg.train(cg.Graph.from_edges(rings), "igt", agent=kind, **(SETTINGS[kind] | {"train_steps": 12}))
    assert agent.card["validation"]["return"] == 0  # only rings of three, which are filled, fit into 6 nodes


def test_diverging_loss_raises():
    with pytest.raises(cg.errors.AgentError, match="learning_rate"), np.errstate(all="ignore"):
        train("gnn", preset="paper", learning_rate=1e6, train_steps=400)


def test_paper_preset_is_the_published_configuration():
    s = make_settings("gnn", "paper", {})
    assert (s.discount, s.learning_rate, s.batch, s.buffer, s.warmup) == (0.75, 3e-4, 32, 50_000, 320)
    assert (s.train_steps, s.validate_every) == (50_000, 1000)
    paper = PaperDqnLearner
    assert (paper.loss.__name__, paper.target_every, paper.returns, paper.acts_with_target) == ("mse_loss", 16, 1, True)
    assert (paper.scales_returns, paper.final_rate, paper.max_norm, paper.shape) == (False, 1.0, 0.0, GnnShape())
    assert (paper.epsilon_first, paper.epsilon_last, paper.epsilon_steps) == (1.0, 0.1, 1.0)


@pytest.mark.parametrize(
    ("given", "words"),
    [({"agent": "horizon"}, "'horizon'"), ({"preset": "fast"}, "'fast'"),
     ({"agent": "planner", "preset": "paper"}, "'paper'"),
     ({"start": "nobody"}, "'nobody'"), ({"seed": -1}, "-1"), ({"shape": 3}, "'shape'"), ({"buffer": 10**13}, "buffer"),
     ({"train_steps": 0}, "train_steps is 0"), ({"discount": 2}, "discount is 2"), ({"learning_rate": 1e30}, "1e+"),
     ({"agent": "planner", "walk_nodes": 2}, "walk_nodes is 2"), ({"batch": True}, "batch is True")],
)  # fmt: skip
def test_bad_requests_are_refused(given, words, tmp_path):
    with pytest.raises(cg.CuriographError, match=words):
        cg.train(SETS, "igt", out=tmp_path / "run", **given)
    assert not (tmp_path / "run").exists()
