"""Jobs: results that do not depend on the workers, and clear errors of failed tasks."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from curiograph.errors import JobError, JobStopped, SettingError
from curiograph.parallel import Job, local, resolve_engine, run_job, worker
from curiograph.parallel.serialization import pack_result, unpack_result
from support.jobs import SHARED, a_job, drawn, faulty, in_bytes


@pytest.fixture(scope="module")
def expected() -> list[bytes]:
    return in_bytes([drawn(SHARED, task) for task in range(12)])


@pytest.mark.parametrize(
    ("workers", "kept"), [(1, False), (1, True), (2, False), (2, True), pytest.param(8, True, marks=pytest.mark.long)]
)
def test_results_do_not_depend_on_the_number_of_workers(
    workers: int, kept: bool, tmp_path: Path, expected: list[bytes]
) -> None:
    run = tmp_path if kept else None
    assert in_bytes(run_job(a_job(), resolve_engine(workers=workers, run=run))) == expected
    assert in_bytes(run_job(a_job(), resolve_engine(workers=workers, run=run))) == expected  # found where it was kept


def test_processes_start_only_if_the_remaining_work_is_worth_it(
    monkeypatch: pytest.MonkeyPatch, expected: list[bytes]
) -> None:
    asked = []
    inner = local.run_in_processes

    def noted(job: Job, which: Any, workers: int) -> Any:
        asked.extend(which)
        return inner(job, which, 2)

    monkeypatch.setattr(local, "run_in_processes", noted)
    monkeypatch.setattr("curiograph.parallel.job.resolve_workers", lambda workers: 2)
    assert in_bytes(run_job(a_job(), resolve_engine(workers=None))) == expected
    assert asked == []  # twelve quick tasks are done before a process has started
    monkeypatch.setattr(local, "_STARTUP_SECONDS", -1.0)
    assert in_bytes(run_job(a_job(), resolve_engine(workers=None))) == expected
    assert asked == list(range(1, 12))


def test_progress_reports_every_task(tmp_path: Path) -> None:
    messages: list[tuple[str, float | None]] = []
    run_job(
        a_job(unit="draws"),
        resolve_engine(workers=2, run=tmp_path),
        lambda message, share=None: messages.append((message, share)),
    )
    assert [share for _, share in messages] == [done / 12 for done in range(13)]
    assert messages[0][0] == "draws: 0 of 12 draws"
    assert messages[-1][0] == "draws: 12 of 12 draws"
    for path in sorted(tmp_path.glob("draws-*/*.task"))[:5]:
        path.unlink()
    messages.clear()
    run_job(
        a_job(), resolve_engine(workers=1, run=tmp_path), lambda message, share=None: messages.append((message, share))
    )
    assert messages[0] == ("draws: 7 of 12 tasks (7 found in the run folder)", 7 / 12)
    assert len(messages) == 6


def test_job_without_tasks_returns_no_results(tmp_path: Path) -> None:
    for engine in (resolve_engine(workers=1), resolve_engine(workers=2), resolve_engine()):
        assert run_job(a_job(tasks=[]), engine) == []
        assert run_job(a_job(tasks=[]), replace(engine, run_folder=tmp_path)) == []


SCRIPT = """
from curiograph.parallel import Job, resolve_engine, run_job

class Agent:
    def __init__(self, step): self.step = step
    def act(self, task): return task + self.step

if __name__ == "__main__":
    job = Job(
        name="acts",
        function=lambda agent, task: {"value": agent.act(task)},
        shared=Agent(3),
        tasks=[1, 2, 3],
        key=dict,
    )
    print([result["value"] for result in run_job(job, resolve_engine(workers=2))])
"""


def test_lambdas_and_classes_of_a_script_run_in_processes(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(SCRIPT)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(
        [sys.executable, str(tmp_path / "mine.py")], capture_output=True, text=True, env=environment, timeout=60
    )
    assert (ran.stdout, ran.stderr) == ("[4, 5, 6]\n", "")


def test_unpicklable_values_fall_back_to_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = {"lock": threading.Lock(), **SHARED}
    expected = in_bytes(run_job(a_job(shared=shared), resolve_engine(workers=1)))
    monkeypatch.setattr(local, "_STARTUP_SECONDS", -1.0)
    monkeypatch.setattr("curiograph.parallel.job.resolve_workers", lambda workers: 2)
    assert in_bytes(run_job(a_job(shared=shared), resolve_engine())) == expected


@pytest.mark.parametrize("where", ["shared", "task"])
def test_unpicklable_values_are_rejected_if_workers_are_requested(where: str) -> None:
    lock = threading.Lock()
    job = a_job(shared={"lock": lock, **SHARED}) if where == "shared" else a_job(tasks=[1, lock])
    with pytest.raises(
        SettingError, match=r"^this job cannot be given to other processes \(.*\); use workers=1"
    ) as error:
        run_job(job, resolve_engine(workers=2))
    assert "\n" not in str(error.value)


def failures(tasks: list[str], tmp_path: Path, workers: int = 1, run: Path | None = None) -> dict[str, str]:
    marks = tmp_path / "marks"
    marks.mkdir(exist_ok=True)
    with pytest.raises(JobError) as error:
        run_job(
            a_job(faulty, tasks, "faults", shared={"marks": str(marks)}, describe_task=str),
            resolve_engine(workers=workers, run=run or tmp_path / "run"),
        )
    assert "\n" not in str(error.value)
    return error.value.failed


def test_failed_tasks_are_named_and_the_others_finish(tmp_path: Path) -> None:
    tasks = ["good 1", "raises", "raises-once", "refuses", "leaves", "good 2"]
    for workers in (1, 2):
        run = tmp_path / f"{workers}"
        assert failures(tasks, tmp_path, workers, run) == {
            "raises": "RuntimeError: no luck at all (3 times)",
            "refuses": "this graph is bad.",
            "leaves": "SystemExit: 3 (3 times)",
        }
        assert len(list(run.glob("faults-*/*.task"))) == 3
        (tmp_path / "marks" / f"{sum(b'raises-once')}").unlink()


def test_job_error_names_five_tasks_and_counts_the_rest(tmp_path: Path) -> None:
    with pytest.raises(JobError) as error:
        run_job(
            a_job(faulty, [f"raises {i}" for i in range(9)], describe_task=str), resolve_engine(workers=1, run=tmp_path)
        )
    assert str(error.value).startswith(
        "9 of 9 tasks of draws failed: raises 0: RuntimeError: no luck at all (3 times); "
    )
    assert str(error.value).endswith("; and 4 more.")


def test_out_of_memory_fails_only_its_task(tmp_path: Path) -> None:
    failed = failures(["good 1", "eats", "good 2"], tmp_path, workers=2)
    assert list(failed) == ["eats"]
    assert "MemoryError" in failed["eats"]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("objects", "its result['array'] is an array of object; return arrays of numbers."),
        ("int-keys", "its result['value'] has the key 1, which is not a string"),
        ("tuple", "its result['value'] is (1, 2), of type tuple, which JSON does not restore"),
        ("numbers", "of type numpy.int64, which JSON does not restore"),
        ("lock", "of type _thread.lock, which JSON does not restore"),
        ("no-dict", "its result is [1, 2]; return arrays and plain values by name"),
    ],
)
def test_results_that_cannot_be_restored_are_rejected(kind: str, message: str, tmp_path: Path) -> None:
    failed = failures(["good", kind], tmp_path)
    assert list(failed) == [kind]
    assert message in failed[kind]


def test_unpicklable_results_fail_in_processes(tmp_path: Path) -> None:
    assert "_thread.lock" in failures(["good", "lock"], tmp_path, workers=2)["lock"]


def test_packed_numbers_are_restored_exactly() -> None:
    result = {
        "nan": float("nan"),
        "large": 2**80,
        "small": 5e-324,
        "text": "é\0",
        "empty": np.zeros((0, 3)),
        "scalar": np.array(2.5),
        "columns": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "bools": np.array([True, False]),
        "float16": np.arange(3, dtype=np.float16),
    }
    back = unpack_result(pack_result(result))
    assert pack_result(back) == pack_result(result)
    for name, value in result.items():
        assert type(back[name]) is type(value)
        np.testing.assert_array_equal(back[name], value)


def test_tasks_of_a_worker_that_died_are_rerun(tmp_path: Path) -> None:
    (tmp_path / "marks").mkdir()
    tasks = ["good 1", "dies-once", *(f"good {number}" for number in range(2, 6))]
    job = a_job(faulty, tasks, shared={"marks": str(tmp_path / "marks")})
    results = run_job(job, resolve_engine(workers=2))
    assert [result["value"] for result in results] == tasks


def test_task_that_always_kills_its_worker_fails(tmp_path: Path) -> None:
    failed = failures(["good 1", "good 2", "dies", "good 3"], tmp_path, workers=2)
    assert failed == {"dies": "its worker died 3 times (killed, or out of memory)"}
    assert len(list(tmp_path.glob("run/faults-*/*.task"))) == 3


def interrupted(shared: Any, task: int) -> dict[str, Any]:
    if task == 2:
        raise KeyboardInterrupt
    return {"task": task}


def test_interrupt_in_a_task_stops_the_job_and_explains_how_to_resume(tmp_path: Path) -> None:
    with pytest.raises(JobStopped) as error:
        run_job(a_job(interrupted, range(4)), resolve_engine(workers=1, run=tmp_path))
    assert str(error.value) == (
        f"stopped after 2 of 4 tasks of draws; they are kept in {tmp_path}: rerun the command to resume"
    )
    with pytest.raises(JobStopped, match="nothing is kept; use a run folder"):
        run_job(a_job(interrupted, range(4)), resolve_engine(workers=2))
    assert not worker.is_inside_task()


def nested(shared: Any, task: int) -> dict[str, Any]:
    """A task that has a job of its own."""
    inner = run_job(
        Job(name="inner", function=drawn, shared=SHARED, tasks=range(3), key=dict), resolve_engine(workers=4)
    )
    return {"sum": float(sum(result["mean"] for result in inner)), "pid": os.getpid()}


@pytest.mark.long
def test_job_within_a_task_runs_in_the_same_process() -> None:
    here = run_job(a_job(nested, range(2)), resolve_engine(workers=1))
    there = run_job(a_job(nested, range(2)), resolve_engine(workers=2))
    assert [result["sum"] for result in there] == [result["sum"] for result in here]
    assert os.getpid() not in {result["pid"] for result in there}


@pytest.mark.parametrize("kept", [False, True])
def test_system_clock_changes_do_not_matter(
    kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: list[bytes]
) -> None:
    import time

    jumps = iter(range(10**9, 0, -(10**5)))
    monkeypatch.setattr(time, "time", lambda: float(next(jumps)))
    run = tmp_path if kept else None
    assert in_bytes(run_job(a_job(), resolve_engine(workers=2, run=run))) == expected
    for number, path in enumerate(sorted(tmp_path.rglob("*"))):
        os.utime(path, (10**9 * (number % 5), 10**9 * (number % 3)))  # 1970 to 2096
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.task")}
    assert in_bytes(run_job(a_job(), resolve_engine(workers=2, run=run))) == expected
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.task")} == before
