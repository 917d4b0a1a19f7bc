"""Jobs on a Ray cluster of two nodes: the same bytes as here, also when a node or the driver is killed midway."""

from __future__ import annotations

import json

import pytest

from support.ray_cluster import Driven, missing, on_cluster

pytestmark = [pytest.mark.long, pytest.mark.skipif(missing() is not None, reason=str(missing()))]

BEGIN = """
import json, os, subprocess, sys, threading, time
from dataclasses import replace
from pathlib import Path
import numpy as np
from curiograph.errors import CuriographError
from curiograph.parallel import resolve_engine, run_job
from support.jobs import a_job, faulty, in_bytes, slow

folder, address = Path(os.environ["CLUSTER_FOLDER"]), os.environ["CLUSTER_ADDRESS"]
engine = resolve_engine("ray", address=address)

def on_node(shared, task):
    time.sleep(0.2)
    return slow(shared, task) | {"node": os.environ.get("RAY_RAYLET_PID", str(os.getppid()))}

def report(message, share=None):
    if share and share > 0.1:
        (folder / "begun").touch()

def emit(**facts):
    print(json.dumps(facts), flush=True)

def refusal(job, engine):
    begun = time.monotonic()
    try:
        run_job(job, engine)
    except CuriographError as error:
        return {"message": str(error), "seconds": time.monotonic() - begun}

def slept(shared, task):
    time.sleep(0.2)
    return slow(shared, task)
"""


def facts(driven: Driven) -> dict[str, object]:
    """What a driver printed, and nothing but that."""
    assert driven.code == 0, driven.err
    assert driven.err == ""
    return {name: value for line in driven.out.splitlines() for name, value in json.loads(line).items()}


def test_two_nodes_give_the_same_bytes_and_clear_errors() -> None:
    script = (
        BEGIN
        + """
if "refused" in sys.argv:
    emit(**refusal(a_job(), engine))
    sys.exit()
with engine.connect():
    remote = run_job(a_job(slow, range(60)), replace(engine, run_folder=folder / "run"), report)
    emit(same=in_bytes(remote) == in_bytes(run_job(a_job(slow, range(60)), resolve_engine(workers=1))))
    nodes = {result["node"] for result in run_job(a_job(on_node, range(16)), engine)}
    emit(nodes=len(nodes))
    (folder / "marks").mkdir()
    tasks = ["good 1", "raises", "refuses", "leaves", "lock", "dies-once", "dies", "good 2"]
    job = a_job(faulty, tasks, shared={"marks": str(folder / "marks")}, describe_task=str)
    try:
        run_job(job, engine)
    except CuriographError as error:
        emit(failed=error.failed)
    emit(large=refusal(a_job(shared=np.zeros(2**26)), engine))
    emit(lock=refusal(a_job(shared={"lock": threading.Lock()}), engine))
for name, environment in (
    ("wrong", os.environ | {"RAY_AUTH_TOKEN_PATH": str(folder / "wrong")}),
    ("none", {name: value for name, value in os.environ.items() if "RAY_AUTH" not in name} | {"HOME": str(folder)}),
):
    ran = subprocess.run([sys.executable, __file__, "refused"], env=environment, capture_output=True, text=True)
    emit(**{name: json.loads(ran.stdout), name + "_err": ran.stderr})
"""
    )
    found = facts(on_cluster(script))
    assert found["same"]
    assert found["nodes"] == 2
    failed = found["failed"]
    assert isinstance(failed, dict)
    assert failed.pop("dies").startswith("its worker died 4 times (")
    assert "_thread.lock" in failed.pop("lock")
    assert failed == {
        "raises": "RuntimeError: no luck at all (3 times)",
        "refuses": "this graph is bad.",
        "leaves": "SystemExit: 3 (3 times)",
    }
    large, lock = found["large"], found["lock"]
    assert "takes 512 MiB and the object store of the cluster has 256 MiB" in large["message"]
    assert lock["message"].startswith("this job cannot be given to other processes (")
    for name in ("wrong", "none"):
        assert found[name]["message"].startswith("no cluster answers at '127.0.0.1:6379' (")
        assert "with the same RAY_AUTH_MODE and RAY_AUTH_TOKEN_PATH as there" in found[name]["message"]
        assert found[name]["seconds"] < 60
        assert found[f"{name}_err"] == ""


KILLED = """
remote = run_job(a_job(slept, range(80)), replace(engine, run_folder=folder / "run"), report)
emit(same=in_bytes(remote) == in_bytes([slow(a_job().shared, task) for task in range(80)]))
emit(entries=len(list(folder.glob("run/*/*.task"))))
"""


def test_tasks_of_a_killed_node_rerun_on_other_nodes() -> None:
    found = facts(on_cluster(BEGIN + KILLED, kill_after=0.5))
    assert found == {"same": True, "entries": 80}


def test_dead_head_ends_the_job_with_a_sentence() -> None:
    script = """
begun = time.monotonic()
try:
    run_job(a_job(slept, range(80)), replace(engine, run_folder=folder / "run"), report)
except CuriographError as error:
    emit(message=str(error), seconds=time.monotonic() - begun, kept=len(list(folder.glob("run/*/*.task"))))
"""
    driven = on_cluster(BEGIN + script, kill_after=0.5, nodes=1)
    assert (driven.code, driven.err) == (2, "")
    found = json.loads(driven.out)
    assert found["message"].startswith("the head of the cluster, 127.0.0.1:6379, no longer answers; start the cluster")
    assert found["seconds"] < 30
    assert 8 <= found["kept"] < 80


def test_killed_driver_resumes() -> None:
    kept = """
before = {path: path.read_bytes() for path in folder.glob("run/*/*.task")}
emit(before=len(before))
"""
    after = "emit(untouched=all(path.read_bytes() == data for path, data in before.items()))\n"
    found = facts(on_cluster(BEGIN + kept + KILLED + after, kill_after=0.5, kill="driver", nodes=1))
    before = found.pop("before")
    assert isinstance(before, int)
    assert 8 <= before < 80
    assert found == {"same": True, "entries": 80, "untouched": True}


def test_local_cluster_is_started_and_stopped() -> None:
    script = (
        BEGIN
        + """
def others():
    commands = {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit() and int(path.name) not in (1, os.getpid()):
            try:
                if "State:\\tZ" not in (path / "status").read_text():
                    commands[path.name] = (path / "cmdline").read_bytes().decode()[:80]
            except OSError:
                pass
    return commands

emit(no_cluster=refusal(a_job(), engine))
emit(nonsense=refusal(a_job(), resolve_engine("ray", address="nonsense")))
remote = run_job(a_job(slow, range(20)), resolve_engine("ray", workers=2))
emit(same=in_bytes(remote) == in_bytes([slow(a_job().shared, task) for task in range(20)]))
begun = time.monotonic()
while others() and time.monotonic() - begun < 20:
    time.sleep(0.1)
emit(left=others())
"""
    )
    found = facts(on_cluster(script, nodes=0))
    for name in ("no_cluster", "nonsense"):
        assert found[name]["message"].startswith("no cluster answers at "), found[name]
        assert found[name]["seconds"] < 35
    assert found["same"]
    assert found["left"] == {}
