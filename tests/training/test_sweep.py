"""Sweeps: the same agents for every engine and number of workers, and resumable."""

from __future__ import annotations

import os
import random
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs torch: make test installs it")

import curiograph as cg
from curiograph.errors import JobError
from curiograph.parallel import run_folder
from curiograph.training import logging, sweep
from curiograph.training.sweep_results import Training, Trainings
from support.trainings import COMMAND, GNN, SCRIPT, SETS, SETTINGS, skip_plots

_DRIVER = SCRIPT + "cg.train_many(sets, out=sys.argv[1], **eval(sys.argv[2]))"

_KILLS = """
import os, random, shutil, signal, time
from curiograph.training import logging
trainer.save_curves = logging._open_tensorboard = lambda *given: None
whole, killed = sys.argv[1] + "/whole", sys.argv[1] + "/killed"
def drive(out):
    cg.train_many(sets, out=out, **eval(sys.argv[2]))
drive(whole)
begun = time.monotonic()
shutil.rmtree(whole)
drive(whole)
seconds = time.monotonic() - begun
luck, kills = random.Random(7), 0
while kills < 10:
    driver = os.fork()  # a new process would take longer to start than to train
    if driver == 0:
        try:
            drive(killed)
            os._exit(0)
        finally:
            os._exit(1)
    time.sleep(luck.uniform(0, seconds / 2))
    os.kill(driver, signal.SIGKILL)
    ended = os.waitstatus_to_exitcode(os.waitpid(driver, 0)[1])
    assert ended <= 0
    kills += ended < 0
    if ended == 0:  # before the kill: once more from the beginning
        shutil.rmtree(killed)
drive(killed)
"""


@pytest.fixture(autouse=True)
def _without_plots(monkeypatch):
    skip_plots(monkeypatch)


def agents(out: Path) -> dict[str, bytes]:
    """Return the agents in a folder of trainings."""
    return {path.parent.name: path.read_bytes() for path in sorted(out.glob("*/agent.safetensors"))}


def test_results_do_not_depend_on_workers_and_equal_train(tmp_path):
    asked = {"seed": range(2), "discount": [0.8], "train_steps": 12, **GNN}
    one = cg.train_many(SETS, out=tmp_path / "one", workers=1, **asked)
    two = cg.train_many(SETS, out=tmp_path / "two", workers=2, **asked)
    names = ["igt-gnn-best-seed0-discount0.8", "igt-gnn-best-seed1-discount0.8"]
    assert [row.name for row in one] == [row.name for row in two] == names
    assert agents(tmp_path / "one") == agents(tmp_path / "two")
    alone = cg.train(SETS, "igt", seed=1, out=tmp_path / "alone", name=names[1], discount=0.8, train_steps=12, **GNN)
    assert (tmp_path / "alone" / "agent.safetensors").read_bytes() == agents(tmp_path / "one")[names[1]]
    assert alone.card == one[1].agent.card == cg.load_agent(one[1].folder).card
    assert one[1].validation == alone.card["validation"]["return"]
    assert (tmp_path / "two" / names[0] / "log.jsonl").is_file()


def test_finished_trainings_are_not_repeated(tmp_path, monkeypatch):
    asked = {"out": tmp_path, "workers": 1, "train_steps": 8, **GNN}
    first = cg.train_many(SETS, **asked)
    (first[0].folder / "agent.safetensors").unlink()
    monkeypatch.setattr(sweep, "train", lambda *given, **more: pytest.fail("trained again"))
    again = cg.train_many(SETS, **asked)
    assert again.to_dict() == first.to_dict()
    assert cg.load_agent(again[0].folder).card == first[0].agent.card  # saved again from the journal


def test_agents_of_machines_without_the_folder_are_saved(tmp_path, monkeypatch):
    asked = {"workers": 1, "train_steps": 8, **GNN}
    cg.train_many(SETS, out=tmp_path / "here", **asked)
    train = sweep.train
    monkeypatch.setattr(sweep, "train", lambda *given, **more: train(*given, **(more | {"out": None})))
    cg.train_many(SETS, out=tmp_path / "there", **asked)
    assert agents(tmp_path / "here") == agents(tmp_path / "there")


def test_diverging_training_is_named_and_the_others_continue(tmp_path):
    asked = {"loss": "mse", "returns": 1, "steepest": 0.0, "train_steps": 60, "workers": 1, **GNN}
    with np.errstate(all="ignore"), pytest.warns(UserWarning, match=r"1 of 2 .*-learning_rate1000000: the loss is"):
        found = cg.train_many(SETS, out=tmp_path, learning_rate=[1e6, 0.001], **asked)
    assert [row.varied["learning_rate"] for row in found] == [0.001]
    assert list(found.failed) == ["igt-gnn-best-seed0-learning_rate1000000"]
    assert found.to_dict()["failed"] == found.failed
    with np.errstate(all="ignore"), pytest.raises(JobError, match=r"1 of 1 trainings failed: .*lower learning_rate"):
        cg.train_many(SETS, out=tmp_path, learning_rate=[1e6], **asked)


def test_folder_of_another_training_is_refused_before_the_first_training(tmp_path, monkeypatch):
    asked = {"out": tmp_path, "workers": 1, "train_steps": 4, **GNN}
    cg.train_many(SETS, seed=1, **asked)
    monkeypatch.setattr(sweep, "train", lambda *given, **more: pytest.fail("trained"))
    with pytest.raises(cg.SettingError, match=r"seed1 holds another training: its train_steps is 4, not 8; choose"):
        cg.train_many(SETS, seed=[0, 1], **(asked | {"train_steps": 8}))
    with pytest.raises(cg.SettingError, match="seed1 holds another training: its graphs are not those requested"):
        cg.train_many(SETS.train[:2], seed=[0, 1], **asked)


def test_relative_path_of_the_initial_agent_works_in_other_working_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = {"workers": 1, "train_steps": 4, **GNN}
    cg.train(SETS, "igt", out="first", **GNN, train_steps=4)
    train = sweep.train

    def train_elsewhere(*given, **more):
        monkeypatch.chdir("/")
        return train(*given, **more)

    monkeypatch.setattr(sweep, "train", train_elsewhere)
    found = cg.train_many(SETS, out=tmp_path / "many", start="first", **asked)
    assert found[0].agent.card["training"]["start"].startswith("first, sha256")


def test_second_sweep_in_the_folder_is_refused(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(run_folder, "_PATIENCE", 0.1)
    with open(tmp_path / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(cg.SettingError, match="is working there"):
            cg.train_many(SETS, out=tmp_path, **GNN)


@pytest.mark.parametrize(
    ("given", "words"),
    [({"out": 3}, "out is 3; give the path of a folder"),
     ({"seed": [0, 0]}, "igt-gnn-best-seed0 would be trained twice"), ({"seed": []}, r"seed is \[\]; give at least"),
     ({"discount": [0.5, 2]}, "discount is 2"), ({"agent": ["gnn", "horizon"], "discount": 0.5}, "of horizon"),
     ({"agent": ["gnn", "dqn"]}, "the trainable agents"), ({"preset": ["best", "fast"]}, "no preset 'fast'"),
     ({"reward": ["igt", "xyz"]}, "xyz"), ({"start": "cpt-rg"}, "trained for 'cpt'"), ({"seed": [-1]}, "seed is -1"),
     ({"reward": lambda s: 1.0}, "attribute `fingerprint`"), ({"engine": "dask"}, "engines are local, ray")],
)  # fmt: skip
def test_bad_requests_are_refused_before_the_first_training(given, words, tmp_path, monkeypatch):
    monkeypatch.setattr(sweep, "train", lambda *given, **more: pytest.fail("trained"))
    with pytest.raises(cg.CuriographError, match=words):
        cg.train_many(SETS, **({"out": tmp_path / "run"} | given))


def make_trainings() -> Trainings:
    """Return trainings of two rewards, two settings and three seeds, with returns 0, 1, 2, ..."""
    rows = []
    for reward in ("igt", "cpt"):
        for discount in (0.8, 0.9):
            for seed in range(3):
                card = {"validation": {"return": float(len(rows)), "step": 4}}
                agent = cg.load_agent("igt-rg").__class__(None, {}, "", card)
                varied = {"reward": reward, "agent": "gnn", "preset": "best", "seed": seed, "discount": discount}
                rows.append(Training(sweep._make_name(varied), varied, agent, Path(reward)))
    return Trainings(rows)


def test_means_standard_errors_and_best():
    found = make_trainings()
    assert [(mean.varied["reward"], mean.varied["discount"], mean.mean) for mean in found.means] == [
        ("igt", 0.8, 1.0), ("igt", 0.9, 4.0), ("cpt", 0.8, 7.0), ("cpt", 0.9, 10.0)]  # fmt: skip
    assert found.means[0].sem == pytest.approx(1 / np.sqrt(3))
    assert found.of(reward="igt").best.name == "igt-gnn-best-seed2-discount0.9"
    assert np.isnan(found.of(seed=0).means[0].sem)
    with pytest.raises(cg.SettingError, match=r"differ in reward \(igt, cpt\)"):
        _ = found.best
    with pytest.raises(cg.SettingError, match=r"no training has seed=7; the values are .*seed: 0, 1, 2"):
        found.of(seed=7)
    frame = found.to_frame()
    assert frame.groupby(["reward", "discount"], sort=False).validation.mean().tolist() == [1.0, 4.0, 7.0, 10.0]


def test_plot_of_trainings():
    ax = make_trainings().of(reward="igt").plot()
    assert [text.get_text() for text in ax.get_yticklabels()] == ["discount 0.8", "discount 0.9"]
    dots = [line.get_xdata().tolist() for line in ax.lines if line.get_marker() == "o"]
    assert dots == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def test_progress_is_read_from_logs_and_never_decreases(tmp_path):
    told = []
    lines = [f'{{"step": {step}, "loss": null, "return": 2, "validation": 1}}\n' for step in (4, 8)]
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    with sweep.watch_logs({tmp_path / "a": 10, tmp_path / "b": 10}, lambda *given: told.append(given)) as tell:
        tell("0 of 2", 0.0)
        (tmp_path / "b" / "log.jsonl").write_text("".join(lines))
        tell("0 of 2", 0.0)
        (tmp_path / "b" / "log.jsonl").unlink()
        tell("0 of 2", 0.0)
        tell("2 of 2", 1.0)
    assert told == [("0 of 2", 0.0), ("0 of 2; b 80%", 0.4), ("0 of 2", 0.4), ("2 of 2", 1.0)]


def test_unchanged_logs_are_not_read_again(tmp_path, monkeypatch):
    read = []
    monkeypatch.setattr(sweep, "read_log", lambda path: read.append(path) or logging.read_log(path))
    line = '{"step": 4, "loss": null, "return": 2, "validation": 1}\n'
    told = []
    with sweep.watch_logs({tmp_path: 10}, lambda *given: told.append(given)) as tell:
        (tmp_path / "log.jsonl").write_text(line)
        tell("0 of 1", 0.0)
        tell("0 of 1", 0.0)
        assert len(read) == 1
        (tmp_path / "log.jsonl").write_text(line + line.replace("4", "8"))
        tell("0 of 1", 0.0)
    assert len(read) == 2
    assert [share for _, share in told] == [0.4, 0.4, 0.8]


def test_command_line_trains_several(run, tmp_path):
    ask = [*COMMAND, "--workers", "1"]
    discounts = ["--set", "discount=0.8", "--set", "discount=0.9"]
    asked = [*ask, "--seeds", "2", "--seed", "5", *discounts, "--out", tmp_path / "r"]
    found = run(*asked, "--json")
    names = [row["name"] for row in found.document["trainings"]]
    assert names == [f"igt-gnn-best-seed{seed}-discount{discount}" for discount in (0.8, 0.9) for seed in (5, 6)]
    assert [mean["seeds"] for mean in found.document["means"]] == [2, 2]
    assert "4 of 4 trainings" in found.err
    shown = run(*asked)
    assert all(text in shown.out for text in (*names, "Over seeds", "sem"))
    command = cg.load_agent(tmp_path / "r" / names[0]).card["command"]
    assert "--set discount=0.8 --set discount=0.9" in command
    assert "--workers" not in command
    assert str(tmp_path) not in command
    for words, sentence in (
        (["--seeds", "2", "--name", "mine"], "cannot have one name"),
        (["--set", "train_steps=4"], "by --train-steps and by --set"),
        (["--set", "discount=0.8,"], "values between commas"),
        (["--address", "10.0.0.1:6379"], "only ray has an address"),
        (["--agent", "gnn", "--agent", "gnn"], "would be trained twice"),
    ):
        refused = run(*ask, *words, "--out", tmp_path / "q")
        assert (refused.code, refused.err.count("\n")) == (2, 1)
        assert sentence in refused.err


# ---- long ---------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("kind", ["gnn", "horizon"])
def test_killed_driver_resumes_to_identical_agents(kind, tmp_path):
    asked = {"agent": kind, "seed": [0, 1, 2], "train_steps": 80, "workers": 1, **SETTINGS[kind]}
    subprocess.run([sys.executable, "-c", SCRIPT + _KILLS, str(tmp_path), repr(asked)], check=True)
    assert len(agents(tmp_path / "whole")) == 3
    assert agents(tmp_path / "killed") == agents(tmp_path / "whole")
    assert not list(tmp_path.rglob(".*.part"))


@pytest.mark.long
def test_workers_of_a_killed_driver_end_and_the_next_one_resumes(tmp_path):
    asked = {"seed": [0, 1, 2], "train_steps": 80, **GNN}
    cg.train_many(SETS, out=tmp_path / "whole", workers=1, **asked)
    killed, luck = tmp_path / "killed", random.Random(7)
    command = [sys.executable, "-c", _DRIVER, str(killed), repr(asked | {"workers": 2})]
    assert sum(_kill_driver(command, killed, luck) for _ in range(3)) > 0
    subprocess.run(command, check=True)
    assert agents(killed) == agents(tmp_path / "whole")
    assert not list(killed.rglob(".*.part"))


def _kill_driver(command: list[str], out: Path, luck: random.Random) -> bool:
    """Start a driver and kill it a moment after its first report; return False if it ended before."""
    before = _count_reports(out)
    run = subprocess.Popen(command)
    while run.poll() is None and _count_reports(out) == before:
        time.sleep(0.01)
    time.sleep(luck.uniform(0, 0.5))
    ended = run.poll() is not None
    run.kill()
    run.wait()
    return not ended


def _count_reports(out: Path) -> int:
    return sum(len(logging.read_log(path)) for path in out.glob("*/log.jsonl"))


@pytest.mark.long
def test_cluster_gives_identical_agents(tmp_path):
    """Runs in a network namespace, so that Ray cannot be reached from outside."""
    pytest.importorskip("ray", reason="needs ray: pip install 'curiograph[ray]'")
    alone = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c"]
    if shutil.which("unshare") is None or subprocess.run([*alone, "ip link set lo up"], capture_output=True).returncode:
        pytest.skip("a network of its own is not allowed here")
    asked = {"seed": [0, 1], "train_steps": 12, **GNN}
    cg.train_many(SETS, out=tmp_path / "here", workers=1, **asked)
    token = tmp_path / "token"
    token.write_text(secrets.token_hex(16))
    given = [sys.executable, "-c", _DRIVER, str(tmp_path / "there"), repr(asked | {"engine": "ray", "workers": 2})]
    with tempfile.TemporaryDirectory(prefix="cg") as short:  # Ray's sockets need short paths
        ours = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token), "RAY_TMPDIR": short}
        ours["RAY_raylet_start_wait_time_s"] = "300"  # on a busy machine
        command = [*alone, 'ip link set lo up && "$@"', "sh", *given]
        subprocess.run(command, check=True, env=os.environ | ours, timeout=600)
    assert agents(tmp_path / "here") == agents(tmp_path / "there")
