"""Faults of the machine: a full disk, a read-only install, no home, a damaged kernel cache, a clock that jumps."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import curiograph
from curiograph import kernels
from curiograph.errors import SettingError
from curiograph.human.data import load

SOURCES = Path(curiograph.__file__).parents[1]


def may_mount() -> bool:
    """Whether this process may make a mount namespace of its own."""
    if shutil.which("unshare") is None:
        return False
    tried = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs -o size=64k tmpfs /mnt"]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0


MOUNTING = pytest.mark.skipif(not may_mount(), reason="needs unshare and the right to mount, as root has it")


def child(code: str, *arguments: object, mount: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python code; where there is a command that mounts, after it, in a mount namespace that nobody else sees."""
    path = os.pathsep.join([str(SOURCES), str(Path(__file__).parent)])
    mounted = ["unshare", "--mount", "sh", "-c", f'{mount} && exec "$@"', "sh"] if mount else []
    return subprocess.run(
        [*mounted, sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True, text=True, timeout=600, check=False, env=os.environ | {"PYTHONPATH": path} | environment,
    )  # fmt: skip


# ---- a full disk -----------------------------------------------------------------------------------------------------

WRITERS = """
import contextlib, io, os, sys
from dataclasses import replace
from pathlib import Path
import numpy as np
import curiograph as cg
from curiograph.agents.pretrained import save_agent
from curiograph.agents.gnn import GnnAgent, GnnShape
from curiograph.cli.main import main
from curiograph.graph.io.write import write_graph
from curiograph.human.trajectories import Trajectories
from curiograph.training.checkpoint import save_checkpoint


disk = Path(sys.argv[1])

def agent(width):
    shape = GnnShape(width=width)
    return GnnAgent(shape, {name: np.ones(size, np.float32) for name, size in shape.weights().items()}, "a")

def parts(path, nodes):
    made = cg.Recommender(cg.toys.library(), cg.CuriousRanker("max-degree", walks=20))
    made.prepare(nodes)
    made.save(path)

def program(*arguments):
    message = io.StringIO()
    sys.argv = ["curiograph", *map(str, arguments)]
    try:
        with contextlib.redirect_stderr(message), contextlib.redirect_stdout(io.StringIO()):
            main()
        code = 0
    except SystemExit as stop:
        code = stop.code
    if code:
        assert code == 2 and message.getvalue().count("\\n") == 1, (code, message.getvalue())
        raise cg.GraphError(message.getvalue().strip())

large = cg.generate("er", nodes=60, seed=0)
small = cg.Graph.from_edges([(0, 1)])
facts = {"finished": False, "best": 0.0, "best_step": 0, "stale": 0, "seconds": 0.0}
walks = lambda count: Trajectories.from_walks([[str(i * i % 997) for i in range(count)]])
works = {f"g{end}": (lambda path: write_graph(small, path), lambda path: write_graph(large, path))
         for end in (".safetensors", ".tsv", ".csv", ".graphml", ".gml", ".json")}
works |= {
    "a.safetensors": (lambda path: save_agent(agent(2), path), lambda path: save_agent(agent(64), path)),
    "c.safetensors": (lambda path: save_checkpoint(path, {"a": np.zeros(1)}, facts),
                      lambda path: save_checkpoint(path, {"a": np.zeros(9999)}, facts)),
    "p.safetensors": (lambda path: parts(path, ["music"]), lambda path: parts(path, cg.toys.library().labels)),
    "t.npz": (lambda path: walks(3).save(path), lambda path: walks(5000).save(path)),
    "out.json": (lambda path: path.write_text("{}"),
                 lambda path: program("explore", "toy:library", "--agent", "max-degree", "--out", path)),
    "l.tsv": (lambda path: write_graph(small, path), lambda path: program("convert", "toy:library", path)),
}
for name, (first, second) in works.items():
    path = disk / name
    first(path)
    before = {entry.name: entry.read_bytes() for entry in disk.iterdir()}
    with open(disk / "filler", "wb", buffering=0) as filler:
        with contextlib.suppress(OSError):
            while True:
                filler.write(bytes(4096))
    try:
        second(path)
        raise SystemExit(f"{name}: was written to a full disk")
    except cg.CuriographError as error:
        assert "the disk is full" in str(error) and "\\n" not in str(error), (name, str(error))
    os.unlink(disk / "filler")
    assert {entry.name: entry.read_bytes() for entry in disk.iterdir()} == before, name
    for entry in disk.iterdir():
        entry.unlink()
print("all", len(works))
"""


@MOUNTING
def test_full_disk_is_reported_and_the_old_file_kept(tmp_path):
    done = child(WRITERS, tmp_path, mount=f"mount -t tmpfs -o size=64k tmpfs {tmp_path}")
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout
    assert done.stdout == "all 12\n"


TRAIN = """
import sys
from curiograph.training import trainer
trainer._CHECKPOINT_SECONDS = 0
import curiograph.cli.main as program
options = "--family ws --nodes 14 --graphs 3 --train-steps 4000 --set validate_every=4 --set warmup=4".split()
sys.argv = ["curiograph", "train", *options, "--quiet", "--out", sys.argv[1] + "/run"]
program.main()
"""


@MOUNTING
@pytest.mark.long
def test_training_on_a_disk_that_fills_up(tmp_path):
    pytest.importorskip("torch", reason="needs torch")
    done = child(TRAIN, tmp_path, mount=f"mount -t tmpfs -o size=256k tmpfs {tmp_path}")
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert "the disk is full" in done.stderr


# ---- folders that cannot be written, and none at all -----------------------------------------------------------------

CONVERT = """
import os, sys
from pathlib import Path
folder = Path(sys.argv[1])
(folder / "g.tsv").write_text("a\\tb\\nb\\tc\\n")
sys.argv = ["curiograph", "convert", str(folder / "g.tsv"), str(folder / "g.safetensors")]
from curiograph.cli.main import main
main()
"""


def read_only(folder: Path) -> str:
    return f"mount --bind {folder} {folder} && mount -o remount,ro,bind {folder}"


@MOUNTING
@pytest.mark.long
@pytest.mark.parametrize("writable", [True, False])
def test_a_read_only_install(tmp_path, writable):
    """Kernels are kept elsewhere, or compiled in every process, which is message once."""
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    mounts = [read_only(SOURCES / "curiograph"), *([] if writable else [read_only(home)])]
    for _ in range(2):
        done = child(CONVERT, work, mount=" && ".join(mounts), HOME=str(home), XDG_CACHE_HOME="")
        assert done.returncode == 0, done.stderr
        assert curiograph.read_graph(work / "g.safetensors").num_edges == 2
        assert done.stderr.count("cannot write its kernel cache") == (0 if writable else 1), done.stderr
    assert ("compiling kernels" in done.stderr) is False
    assert bool(list(home.rglob("*.nbi"))) is writable


@pytest.mark.long
def test_corrupt_kernel_cache_is_rebuilt(tmp_path):
    for spoil in (lambda data: b"garbage", lambda data: data[: len(data) // 2], lambda data: b""):
        done = child(CONVERT, tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
        assert done.returncode == 0, done.stderr
        files = [file for file in (tmp_path / "cache").rglob("*.nb?") if file.is_file()]
        assert files
        for file in files:
            file.write_bytes(spoil(file.read_bytes()))
    done = child(CONVERT, tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stderr
    assert curiograph.read_graph(tmp_path / "g.safetensors").num_edges == 2


class Damaged:
    """A cache of numba's whose files are garbage, on a disk that is full."""

    cache_path = "cache/kernels"
    flushed = 0

    def load_overload(self, *what):
        raise EOFError("Ran out of input")

    def save_overload(self, *what):
        raise OSError(28, "No space left on device")

    def flush(self):
        self.flushed += 1


def test_corrupt_cache_is_rebuilt_and_a_full_disk_warned_once():
    kept = Damaged()
    cache = kernels.jit._Cache(kept)
    assert cache.load_overload("signature", "context") is None
    assert kept.flushed == 1
    kernels.jit._warn_not_writable.cache_clear()
    with pytest.warns(UserWarning, match="cannot write its kernel cache"):
        cache.save_overload("signature", "code")
    with warnings.catch_warnings(action="error"):
        cache.save_overload("signature", "code")
    kernels.jit._warn_not_writable.cache_clear()


def test_empty_cache_variable_means_unset(monkeypatch, tmp_path):
    """Kernels would be kept wherever somebody happens to work."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "mine"))
    assert kernels.jit.get_cache_folder.__wrapped__().parent == tmp_path / "mine" / "curiograph"


def test_user_without_home_folder(monkeypatch, tmp_path, run):
    """No folder called ~ is made; what needs a home says so."""
    monkeypatch.chdir(tmp_path)
    for name in ("XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "CURIOGRAPH_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    kernels.jit._warn_not_writable.cache_clear()
    with pytest.warns(UserWarning, match="cannot write its kernel cache"):
        assert kernels.jit.get_cache_folder.__wrapped__() is None
    kernels.jit._warn_not_writable.cache_clear()
    with pytest.raises(SettingError, match="no home folder"):
        load.get_cache_folder()
    refused = run("explore", "wikispeedia")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "no home folder" in refused.err
    monkeypatch.setenv("CURIOGRAPH_DATA", str(tmp_path))
    assert load.find_dataset("wikispeedia") is None
    assert list(tmp_path.iterdir()) == []


# ---- a clock that jumps ----------------------------------------------------------------------------------------------


def test_source_does_not_read_the_system_clock():
    """Durations are measured by a clock that never jumps, and no file's date is read; dates are only parsed."""
    asks = re.compile(r"\btime\.time\(|\bdate(time)?\.(now|today|utcnow)\b|\bst_mtime|\bgetmtime|\btime\.localtime")
    asking = [path.name for path in SOURCES.joinpath("curiograph").rglob("*.py") if asks.search(path.read_text())]
    # page_visits.py compares the times of NiceGUI; the others ask whether a file is still the same, not how old it is
    assert sorted(asking) == ["page_visits.py", "reload.py", "shared_arrays.py"]


JUMPING = """
import itertools, os, sys, time
from pathlib import Path
if sys.argv[2] == "jumping":
    real, calls = time.time, itertools.count()
    time.time = lambda: real() + (-86400, 365 * 86400, 0)[next(calls) % 3]
from curiograph.training import trainer
trainer._CHECKPOINT_SECONDS = 0
import curiograph as cg
out = Path(sys.argv[1])
sets = cg.generate_split("ws", nodes=14, train=2, val=1, test=1, seed=0)
ask = dict(reward="igt", seed=3, train_steps=24, validate_every=4, warmup=4)
class Stop(Exception): pass
def stop(report):
    if report["step"] == 12: raise Stop
try:
    cg.train(sets, out=out, progress=stop, **ask)
except Stop:
    pass
if sys.argv[2] == "jumping":
    for file in out.rglob("*"):
        os.utime(file, (4e9, 4e9))
cg.train(sets, out=out, **ask)
"""


@pytest.mark.long
def test_training_while_the_clock_jumps(tmp_path):
    pytest.importorskip("torch", reason="needs torch")
    for kind in ("steady", "jumping"):
        done = child(JUMPING, tmp_path / kind, kind)
        assert done.returncode == 0, done.stderr
    agents = [(tmp_path / kind / "agent.safetensors").read_bytes() for kind in ("steady", "jumping")]
    assert agents[0] == agents[1]
    logs = [(tmp_path / kind / "log.jsonl").read_text().splitlines() for kind in ("steady", "jumping")]
    steps = [[json.loads(line)["step"] for line in log] for log in logs]
    assert steps[0] == steps[1] == [4, 8, 12, 16, 20, 24]
