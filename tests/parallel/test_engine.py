"""Engines: the same results for any number of workers, kept and resumed; clear errors."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import curiograph as cg
from curiograph.errors import GraphError, JobError, JobStopped, SettingError, UnknownNameError
from curiograph.parallel import Engine, as_engine
from curiograph.parallel.journal import Journal

SHARED = {"seed": 7, "scale": np.linspace(1, 2, 5), "large": np.zeros(300_000)}
EXPECTED = [np.random.default_rng([7, task]).random(5) * SHARED["scale"] for task in range(12)]


def draw(shared: Any, task: int) -> dict[str, Any]:
    numbers = np.random.default_rng([shared["seed"], task]).random(5) * shared["scale"]
    return {"numbers": numbers, "task": task, "sum": float(shared["large"].sum())}


def draw_all(engine: Engine, **more: Any) -> list[Any]:
    results = engine.map(draw, SHARED, range(12), name="draws", key=[SHARED["seed"]], **more)
    assert [result["task"] for result in results] == list(range(12))
    return [result["numbers"] for result in results]


@pytest.mark.parametrize("workers", [None, 1, 2])
def test_results_do_not_depend_on_workers_and_are_found_again(workers, tmp_path):
    np.testing.assert_array_equal(draw_all(Engine(workers=workers)), EXPECTED)
    np.testing.assert_array_equal(draw_all(Engine(workers=workers, run=tmp_path)), EXPECTED)
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.task")}
    assert len(kept) == 12
    np.testing.assert_array_equal(draw_all(Engine(run=tmp_path)), EXPECTED)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.task")} == kept


def test_damaged_and_misplaced_files_are_computed_again(tmp_path):
    draw_all(Engine(workers=1, run=tmp_path))
    files = sorted(tmp_path.rglob("*.task"))
    whole = files[2].read_bytes()
    files[2].write_bytes(whole[:-1])
    files[3].write_bytes(whole)
    files[4].write_bytes(whole[:70] + bytes([whole[70] ^ 1]) + whole[71:])
    with pytest.warns(UserWarning, match="damaged") as messages:
        np.testing.assert_array_equal(draw_all(Engine(workers=1, run=tmp_path)), EXPECTED)
    assert len(messages) == 3


def test_key_tasks_and_labels_identify_a_job(tmp_path):
    rings = [cg.Graph.from_edges(zip(names, names[1:] + names[0], strict=True)) for names in ("abcd", "wxyz")]
    for graph in rings:
        for seed in (0, 1):
            Engine(workers=1, run=tmp_path).map(draw, SHARED, [0], name="draws", key=[graph, seed, {"a": [1, None]}])
    Engine(workers=1, run=tmp_path).map(draw, SHARED, [1], name="draws", key=[rings[0], 0, {"a": [1, None]}])
    assert len(list(tmp_path.glob("draws-*"))) == 5


def test_progress_counts_units_and_what_was_found(tmp_path):
    messages: list[tuple[str, float | None]] = []
    engine = Engine(workers=1, run=tmp_path)
    for _ in range(2):
        draw_all(engine, unit="numbers", sizes=[5] * 12, progress=lambda *report: messages.append(report))
        for path in sorted(tmp_path.rglob("*.task"))[:1]:
            path.unlink()
    assert [share for _, share in messages] == [done / 12 for done in (*range(13), 11, 12)]
    assert messages[-1][0] == "draws: 60 of 60 numbers (55 found in the run folder)"


def fail(shared: Any, task: int) -> dict[str, Any]:
    if task == 3:
        raise shared("task 3")
    return {"task": task}


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("kind", [GraphError, KeyError])
def test_error_of_a_task_is_raised_and_finished_tasks_are_kept(workers, kind, tmp_path):
    with pytest.raises(kind, match="task 3"):
        Engine(workers=workers, run=tmp_path).map(fail, kind, range(8), name="fails")
    assert len(list(tmp_path.rglob("*.task"))) >= 1


def test_interrupt_says_what_is_kept(tmp_path):
    with pytest.raises(JobStopped, match=f"stopped after 3 of 8 tasks .*{tmp_path}"):
        Engine(workers=1, run=tmp_path).map(fail, KeyboardInterrupt, range(8), name="fails")
    with pytest.raises(JobStopped, match="nothing is kept"):
        Engine(workers=1).map(fail, KeyboardInterrupt, range(8), name="fails")


def die(marks: str, task: int) -> dict[str, Any]:
    mark = Path(marks) / str(task)
    if task == 2 and (marks.endswith("always") or not mark.exists()):
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"task": task}


def test_tasks_of_killed_workers_run_again(tmp_path):
    engine = Engine(workers=2, run=tmp_path / "run")
    (tmp_path / "always").mkdir()
    assert len(engine.map(die, str(tmp_path), range(6), name="once")) == 6
    with pytest.raises(JobError, match="killed"):
        engine.map(die, str(tmp_path / "always"), range(6), name="always")


def nest(shared: Any, task: int) -> dict[str, Any]:
    return {"inner": float(np.sum(draw_all(Engine(workers=2)))), "process": os.getpid()}


def test_job_within_a_task_runs_in_its_process():
    here = Engine(workers=1).map(nest, None, range(2), name="nested")
    there = Engine(workers=2).map(nest, None, range(2), name="nested")
    assert [result["inner"] for result in there] == [result["inner"] for result in here]
    assert os.getpid() not in {result["process"] for result in there}


SCRIPT = """
import curiograph as cg

class Agent:
    def __init__(self, step): self.step = step
    def act(self, task): return task + self.step

results = cg.Engine(workers=2).map(lambda agent, task: {"value": agent.act(task)}, Agent(3), [1, 2, 3], name="acts")
print([result["value"] for result in results])
"""


def test_lambdas_and_classes_of_a_script_run_in_processes(tmp_path):
    (tmp_path / "mine.py").write_text(SCRIPT)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run([sys.executable, tmp_path / "mine.py"], capture_output=True, text=True, env=environment)
    assert (ran.stdout, ran.stderr) == ("[4, 5, 6]\n", "")


def test_run_folder_is_locked_against_other_processes(tmp_path):
    hold = """if True:
        import pathlib, sys
        from curiograph.parallel.journal import Journal
        with Journal(pathlib.Path(sys.argv[1]), "held", ""):
            print(1, flush=True)
            input()
    """
    command = [sys.executable, "-c", hold, str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as other:
        other.stdout.readline()
        with pytest.raises(SettingError, match=str(tmp_path)):
            draw_all(Engine(workers=1, run=tmp_path))
        other.kill()
    with Journal(tmp_path, "one", ""), Journal(tmp_path, "two", ""):
        draw_all(Engine(workers=1, run=tmp_path))


@pytest.mark.parametrize(
    ("arguments", "error", "value"),
    [
        ({"backend": "spark"}, UnknownNameError, "'spark'"),
        ({"workers": 0}, SettingError, "0"),
        ({"address": "10.0.0.1:6379"}, SettingError, "'10.0.0.1:6379'"),
    ],
)
def test_bad_settings_are_rejected(arguments, error, value):
    with pytest.raises(error, match=value):
        Engine(**arguments)
    with pytest.raises(UnknownNameError, match="3"):
        as_engine(3)


def test_folder_that_cannot_be_made_and_own_agents_are_rejected(tmp_path):
    (tmp_path / "file").write_text("here")
    with pytest.raises(SettingError, match="file"):
        draw_all(Engine(workers=1, run=tmp_path / "file"))

    class Mine:
        name = "mine"

    with pytest.raises(SettingError, match="'mine'"):
        Engine(run=tmp_path / "run").map(draw, SHARED, [0], name="draws", key=[Mine()])


def test_unfinished_files_are_removed(tmp_path):
    with Journal(tmp_path, "draws", "key") as journal:
        (journal.folder / ".000002.task.abcd.part").write_bytes(b"half")
    with Journal(tmp_path, "draws", "key") as journal:
        assert list(journal.folder.iterdir()) == []
