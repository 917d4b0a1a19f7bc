"""Faults of the machine: a full disk."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import curiograph

SOURCES = Path(curiograph.__file__).parents[1]


def may_mount() -> bool:
    """Whether this process may make a mount namespace of its own."""
    if shutil.which("unshare") is None:
        return False
    tried = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs -o size=64k tmpfs /mnt"]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0


MOUNTING = pytest.mark.skipif(not may_mount(), reason="needs unshare and the right to mount, as root has it")


WRITERS = """
import contextlib, io, os, sys
from pathlib import Path
import numpy as np
import curiograph as cg
from curiograph.agents.pretrained import save_agent
from curiograph.agents.gnn import GnnAgent, GnnShape
from curiograph.cli.main import main
from curiograph.graph.io.formats import write_graph
from curiograph.training.learner import save_checkpoint

disk = Path(sys.argv[1])

def agent(width):
    shape = GnnShape(width=width)
    return GnnAgent(shape, {name: np.ones(size, np.float32) for name, size in shape.weights().items()}, "a")

def parts(path, nodes):
    made = cg.Recommender(cg.toys.library())
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
works = {f"g{end}": (lambda path: write_graph(small, path), lambda path: write_graph(large, path))
         for end in (".safetensors", ".tsv", ".csv", ".graphml", ".gml", ".json")}
works |= {
    "a.safetensors": (lambda path: save_agent(agent(2), path), lambda path: save_agent(agent(64), path)),
    "c.safetensors": (lambda path: save_checkpoint(path, {"a": np.zeros(1)}),
                      lambda path: save_checkpoint(path, {"a": np.zeros(9999)})),
    "p.safetensors": (lambda path: parts(path, ["music"]), lambda path: parts(path, cg.toys.library().labels)),
    "out.json": (lambda path: path.write_text("{}"),
                 lambda path: program("explore", "toy:library", "--agent", "max-degree", "--out", path)),
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
    path = os.pathsep.join([str(SOURCES), str(Path(__file__).parent)])
    mount = f'mount -t tmpfs -o size=64k tmpfs {tmp_path} && exec "$@"'  # in a namespace that nobody else sees
    command = ["unshare", "--mount", "sh", "-c", mount, "sh", sys.executable, "-c", WRITERS, str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout
    assert done.stdout == "all 10\n"
