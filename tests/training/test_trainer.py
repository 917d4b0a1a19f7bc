"""Training runs: start, kill, resume, and the files they leave."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs torch: make test installs it")

import curiograph as cg
from curiograph.parallel import run_folder
from curiograph.rewards.registry import as_reward
from curiograph.training import trainer
from curiograph.training.checkpoint import describe_run, load_checkpoint, save_checkpoint
from curiograph.training.config import make_settings
from curiograph.training.dqn import DqnLearner
from curiograph.training.logging import read_log
from curiograph.training.trainer import as_split
from support.trainings import COMMAND, GNN, SCRIPT, SETS, SETTINGS, skip_plots

_TRAIN = 'cg.train(sets, "igt", agent=sys.argv[1], seed=5, out=sys.argv[2], train_steps=40, **eval(sys.argv[3]))'


def train(kind: str, out: Path, **changes):
    return cg.train(SETS, "igt", agent=kind, seed=5, out=out, **(SETTINGS[kind] | {"train_steps": 40} | changes))


def start(kind: str, out: Path) -> subprocess.Popen[bytes]:
    env = os.environ | {"CURIOGRAPH_QUIET": "1"}
    command = [sys.executable, "-c", SCRIPT + _TRAIN, kind, str(out), repr(SETTINGS[kind])]
    return subprocess.Popen(command, env=env, stderr=subprocess.PIPE)


def read_reports(out: Path) -> list[dict]:
    """Return the log without the entries that depend on time."""
    return [{k: v for k, v in report.items() if k not in ("seconds", "left")} for report in read_log(out / "log.jsonl")]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["gnn", "horizon"])
def test_killed_runs_resume_to_identical_results(kind, tmp_path):
    train(kind, tmp_path / "whole")
    killed = tmp_path / "killed"
    kills = 0
    for number in range(2):  # at the first reports, and then at odd moments
        run = start(kind, killed)
        reached = len(read_log(killed / "log.jsonl"))
        deadline = time.monotonic() + 120
        while run.poll() is None and time.monotonic() < deadline:
            if len(read_log(killed / "log.jsonl")) > reached:
                time.sleep(0.013 * number)
                run.send_signal(signal.SIGKILL)
                kills += 1
                break
            time.sleep(0.002)
        run.wait()
    assert kills >= 1
    last = start(kind, killed)
    assert last.wait() == 0, last.stderr.read()
    assert (killed / "agent.safetensors").read_bytes() == (tmp_path / "whole" / "agent.safetensors").read_bytes()
    assert read_reports(killed) == read_reports(tmp_path / "whole")
    assert not list(killed.glob(".*.part"))


def test_finished_runs_are_not_trained_again(tmp_path, monkeypatch):
    first = train("gnn", tmp_path / "run")
    monkeypatch.setattr(DqnLearner, "step", lambda self: pytest.fail("trained again"))
    again = train("gnn", tmp_path / "run")
    assert all(np.array_equal(first.network[name], again.network[name]) for name in first.network)


def test_files_and_reports_of_a_run(tmp_path):
    seen = []
    agent = cg.train(
        SETS, "cpt", agent="gnn", out=tmp_path / "run", name="mine", train_steps=12, progress=seen.append, **GNN
    )
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert {"agent.safetensors", "agent.json", "checkpoint.safetensors", "curves.png", "log.jsonl", "run.json"} <= names
    assert [report["step"] for report in seen] == [4, 8, 12]
    assert seen[-1]["loss"] > 0
    assert seen[-1]["left"] == 0
    assert 0.05 <= seen[-1]["epsilon"] <= 1
    assert agent.name == "mine"
    loaded = cg.load_agent(tmp_path / "run")
    assert loaded.card["training"]["seed"] == 0
    assert loaded.card["validation"]["return"] == max(report["validation"] for report in seen)
    walk = cg.explore(SETS.val[0], agent=tmp_path / "run", reward="cpt", start=0, steps=6)
    assert len(walk) == 6
    cg.check_agent(loaded)


def test_tensorboard_scalars(tmp_path):
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator", reason="needs tensorboard")
    train("gnn", tmp_path / "run", train_steps=12)
    board = events.EventAccumulator(str(tmp_path / "run" / "tensorboard")).Reload()
    assert [event.step for event in board.Scalars("validation")] == [4, 8, 12]


def test_the_best_agent_by_validation_is_kept(tmp_path):
    agent = train("gnn", tmp_path / "run")
    reports = read_log(tmp_path / "run" / "log.jsonl")
    best = max(report["validation"] for report in reports)
    assert cg.evaluate(agent, SETS.val, "igt", 6, 3, seed=5).mean == pytest.approx(best)


def test_early_stopping(tmp_path):
    train("gnn", tmp_path / "run", train_steps=2000, patience=2)
    reports = read_log(tmp_path / "run" / "log.jsonl")
    assert reports[-1]["step"] < 2000
    assert reports[-1]["best"] == reports[-3]["validation"]


def test_start_from_a_trained_agent(tmp_path):
    train("horizon", tmp_path / "first")
    kept = cg.load_agent(tmp_path / "first")
    more = train("horizon", tmp_path / "second", start=tmp_path / "first", train_steps=4)
    assert more.card["training"]["start"]
    assert np.array_equal(more.network["scale"], kept.network["scale"])
    with pytest.raises(cg.SettingError, match="cannot start from"):
        train("horizon", tmp_path / "third", start=tmp_path / "first", width=16)
    with pytest.raises(cg.SettingError, match="cannot start from"):
        train("gnn", tmp_path / "third", start=tmp_path / "first")


def test_folder_of_another_training_is_refused(tmp_path):
    train("gnn", tmp_path / "run", train_steps=8)
    with pytest.raises(cg.SettingError, match="holds another training: its train_steps is 8, not 12"):
        train("gnn", tmp_path / "run", train_steps=12)
    with pytest.raises(cg.SettingError, match="its reward"):
        cg.train(SETS, "cpt", seed=5, out=tmp_path / "run", train_steps=8, **GNN)


def test_changed_fingerprint_of_a_custom_reward_is_refused(tmp_path):
    def mine(subgraph):
        return float(subgraph.num_edges)

    mine.fingerprint = "1"
    cg.train(SETS, mine, out=tmp_path, train_steps=4, **GNN)
    cg.train(SETS, mine, out=tmp_path, train_steps=4, **GNN)
    mine.fingerprint = "2"
    with pytest.raises(cg.SettingError, match="its fingerprint is 'mine 1', not 'mine 2'"):
        cg.train(SETS, mine, out=tmp_path, train_steps=4, **GNN)
    with pytest.raises(cg.SettingError, match="its reward is 'mine', not 'igt'"):
        cg.train(SETS, "igt", out=tmp_path, train_steps=4, **GNN)


def test_description_depends_on_directions_and_weights():
    edges, settings = [(0, 1), (1, 0), (1, 2), (2, 1)], make_settings("gnn", "best", {})

    def hash_graphs(graph):
        return describe_run(as_split(graph), as_reward("igt"), "gnn", settings, 0, None)["graphs"]["sha256"]

    plain, directed = (cg.Graph.from_edges(edges, directed=way) for way in (False, True))
    weighted = cg.Graph(plain.indptr, plain.indices, np.array([1.0, 1.0, 2.0, 2.0]))
    assert np.array_equal(plain.indices, directed.indices)
    assert len({hash_graphs(plain), hash_graphs(directed), hash_graphs(weighted)}) == 3
    rows = 2 * (plain.indptr.tobytes() + plain.indices.tobytes())  # the format of earlier versions
    assert hash_graphs(plain) == hashlib.sha256(rows).hexdigest()


@pytest.mark.parametrize("lost", [True, False])
def test_lost_or_damaged_agent_is_restored_from_the_finished_checkpoint(lost, tmp_path):
    train("gnn", tmp_path, train_steps=8)
    file = tmp_path / "agent.safetensors"
    whole = file.read_bytes()
    file.unlink() if lost else file.write_bytes(whole[:100])
    agent = train("gnn", tmp_path, train_steps=8)
    assert file.read_bytes() == whole
    assert agent.card == cg.load_agent(tmp_path).card


def test_damaged_checkpoint_is_refused(tmp_path):
    train("gnn", tmp_path / "run", train_steps=8)
    checkpoint = tmp_path / "run" / "checkpoint.safetensors"
    checkpoint.write_bytes(checkpoint.read_bytes()[:100])
    with pytest.raises(cg.FileFormatError, match="not a usable checkpoint"):
        train("gnn", tmp_path / "run", train_steps=8)


def make_invalid_states(state):
    """Yield changes that make a state invalid, and the expected messages."""
    walks, kept = state["walks.nodes"], state["replay.nodes"]
    yield {"walks.nodes": walks.astype(np.int64)}, "walks.nodes is int64"
    yield {"walks.nodes": walks[:, :-1].copy()}, "walks.nodes is int32"
    yield {"walks.nodes": np.full_like(walks, 10**6)}, "visit nodes that the graphs do not have"
    yield {"replay.nodes": np.full_like(kept, -7)}, "visit nodes that the graphs do not have"
    yield {"walks.graphs": state["walks.graphs"] + len(SETS.train)}, "walks.graphs is not from 0 to 3"
    yield {"walks.lengths": np.zeros_like(state["walks.lengths"])}, "walks.lengths is not from 1 to 6"
    yield {"replay.length": state["replay.length"] + 100}, "replay.length is not from 1 to 6"
    yield {"replay.nodes": kept[:-1].copy()}, "replayed rows"
    yield {"counts": state["counts"] * -1}, "its counts are"
    yield {"replay.nodes": None}, "replay.nodes"
    yield {name: None for name in state if name.startswith("best.")}, "does not hold the best agent"


def test_invalid_checkpoint_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(trainer, "_CHECKPOINT_SECONDS", 0.0)
    skip_plots(monkeypatch)

    def stop(report):
        if report["step"] == 12:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train("gnn", tmp_path, train_steps=16, progress=stop)
    checkpoint = tmp_path / "checkpoint.safetensors"
    state, progress = load_checkpoint(checkpoint)
    for changes, message in make_invalid_states(state):
        made = {name: array for name, array in (state | changes).items() if array is not None}
        save_checkpoint(checkpoint, made, progress)  # with a valid checksum
        with pytest.raises(cg.FileFormatError, match=f"not a usable checkpoint .*{message}"):
            train("gnn", tmp_path, train_steps=16)
    save_checkpoint(checkpoint, state, progress)
    assert train("gnn", tmp_path, train_steps=16).card["steps"] == 16


def test_unusual_sizes(tmp_path):
    """Walks longer than graphs, graphs of two nodes, directed graphs, no update at all, a reward of one's own."""
    tiny = [cg.Graph.from_edges([(0, 1)]), cg.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)], directed=True)]
    for kind, settings in SETTINGS.items():
        more = settings | {"walk_nodes": 9, "train_steps": 14, "validate_every": 50}
        agent = cg.train(tiny, lambda s: float(s.num_edges), agent=kind, out=tmp_path / kind, **more)
        assert agent.card["validation"]["step"] in (4, 8, 12, 14)
        lazy = cg.train(tiny, "igt", agent=kind, out=tmp_path / f"{kind}-lazy", **(more | {"warmup": 1000}))
        assert lazy.card["steps"] == 14
    (tmp_path / "file").write_text("")
    with pytest.raises(cg.SettingError, match="cannot work in"):
        cg.train(tiny, "igt", out=tmp_path / "file", **GNN)
    (tmp_path / "gnn" / "run.json").write_text("{")
    with pytest.raises(cg.FileFormatError, match="was not written by a training"):
        cg.train(tiny, "igt", out=tmp_path / "gnn", **GNN)


def test_a_folder_is_locked_during_a_training(tmp_path, monkeypatch):
    monkeypatch.setattr(run_folder, "_PATIENCE", 0.1)
    fcntl = pytest.importorskip("fcntl")
    folder = tmp_path / "run"
    folder.mkdir()
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(cg.SettingError, match="another process is working there"):
            train("gnn", folder)
    train("gnn", folder, train_steps=8)


def test_walks_that_end_at_different_lengths():
    """Components of three and of fourteen nodes."""
    rings = [(i, (i + 1) % 3) for i in range(3)] + [(3 + i, 3 + (i + 1) % 14) for i in range(14)]
    for kind, settings in SETTINGS.items():
        agent = cg.train(
            cg.Graph.from_edges(rings), "igt", agent=kind, **(settings | {"walk_nodes": 8, "train_steps": 24})
        )
        assert agent.card["steps"] == 24
        assert 0 <= agent.card["validation"]["return"] < 1  # only rings of three, which are filled, fit into 8 nodes


def test_no_update_before_the_first_stored_transition():
    reports = []
    cg.train(SETS, "cpt", train_steps=6, warmup=0, walk_nodes=6, validate_every=1, progress=reports.append)
    assert [report["updates"] for report in reports] == [0, 0, 0, 0, 1, 2]


def test_numpy_integers_are_accepted():
    agent = cg.train(SETS, "igt", **(GNN | {"train_steps": np.int64(6)}))
    assert agent.card["steps"] == 6


def test_diverging_loss_raises(tmp_path):
    with pytest.raises(cg.AgentError, match="lower learning_rate"), np.errstate(all="ignore"):
        train("gnn", tmp_path / "run", learning_rate=1e6, steepest=0.0, loss="mse", returns=1, train_steps=400)


def test_single_graph_without_a_folder():
    agent = cg.train(SETS.train[0], "igt", train_steps=8, **GNN)
    assert agent.card["training"]["graphs"]["train"] == 1


@pytest.mark.parametrize(
    ("given", "words"),
    [({"agent": "dqn"}, "the trainable agents are gnn, horizon, planner"), ({"preset": "fast"}, "no preset 'fast'"),
     ({"agent": "horizon", "preset": "paper"}, "no preset 'paper'"), ({"start": "nobody"}, "no shipped agent"),
     ({"seed": -1}, "seed is -1"), ({"shape": 3}, "no setting 'shape'"), ({"buffer": 10**13}, "buffer is"),
     ({"start": "cpt-rg"}, "it was trained for 'cpt'"), ({"agent": "horizon", "fan": 5000}, "fan is 5000"),
     ({"learning_rate": 1e30}, r"learning_rate is 1e\+30; give a number from 0 to 1,000,000\.")],
)  # fmt: skip
def test_bad_requests_are_refused(given, words, tmp_path):
    with pytest.raises(cg.CuriographError, match=words):
        cg.train(SETS, "igt", out=tmp_path / "run", **given)
    assert not (tmp_path / "run").exists()


def test_command_line_trains_an_agent_that_explores(run, tmp_path):
    done = run(*COMMAND, "--json", "--out", tmp_path / "r")
    assert done.document["validation"]["step"] in (2, 4, 6, 8)
    assert "min left" in done.err
    assert json.loads((tmp_path / "r" / "agent.json").read_text())["command"].startswith("curiograph train --family ws")
    assert run("explore", "toy:library", "--agent", tmp_path / "r", "--steps", "5", "--json").document["nodes"]
    for words, sentence in (
        ("", "give one of --family"),
        ("--family xx", "no family 'xx'"),
        ("--family ws --set discount", "write NAME=VALUE"),
        ("--family ws --set seed=3", "an option of its own, --seed"),
        ("--family ws --set discount=7", "discount is 7"),
    ):
        refused = run("train", *words.split(), "--out", tmp_path / "q")
        assert refused.code == 2
        assert sentence in refused.err
        assert refused.err.count("\n") == 1
