"""Jobs that end early: Ctrl-C, SIGTERM, SIGKILL, a full disk."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.job_processes import Driver, check_entries, entries_of

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes through /proc")


PROGRAM = """
import sys
from support import jobs as support_jobs
from curiograph.cli import main as program

def jobs(run: str, tasks: int, workers: int) -> None:
    support_jobs.main(run, tasks, workers)

sys.modules["curiograph.cli.jobs"] = sys.modules[__name__]
program.COMMANDS = ("jobs",)
program.main()
"""
"""curiograph's command line with one more command, which works for a while."""


@pytest.mark.parametrize("sign", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_interrupt_stops_all_processes_and_explains_how_to_resume(sign: signal.Signals, tmp_path: Path) -> None:
    run, temporary = tmp_path / "run", tmp_path / "tmp"
    command = [sys.executable, "-c", PROGRAM, "jobs", str(run), "400", "2"]
    driver = Driver(run, 400, 2, temporary, command)
    driver.wait_for(10)
    if sign == signal.SIGINT:
        os.killpg(driver.pid, sign)  # as a terminal does
    else:
        os.kill(driver.pid, sign)
    ended = driver.end()
    kept = len(entries_of(run))
    assert ended.code == 130
    message = f"stopped after {kept} of 400 draws of draws; they are kept in {run}: rerun the command to resume"
    assert ended.err == f"curiograph: {message}\n"
    assert driver.gone(2)
    assert list(temporary.iterdir()) == []
    check_entries(run)


def test_workers_and_files_of_a_killed_driver_are_gone(tmp_path: Path) -> None:
    driver = Driver(tmp_path / "run", 400, 2, tmp_path / "tmp")
    driver.wait_for(10)
    assert len(driver.workers()) == 2
    driver.process.kill()
    driver.end()
    assert driver.gone(2)
    assert list(driver.temporary.iterdir()) == []


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_interrupt_while_workers_start_prints_one_message(seed: int, tmp_path: Path) -> None:
    run = tmp_path / "run"
    command = [sys.executable, "-c", PROGRAM, "jobs", str(run), "400", "2"]
    driver = Driver(run, 400, 2, tmp_path / "tmp", command)
    while not list(run.glob("*/job.json")):
        time.sleep(0.002)
    time.sleep(random.Random(seed).uniform(0, 1.5))
    os.killpg(driver.pid, signal.SIGINT)
    ended = driver.end()
    assert ended.code == 130
    assert ended.err.startswith("curiograph: stopped")
    assert ended.err.count("\n") == 1
    assert driver.gone(2)
    assert list(driver.temporary.iterdir()) == []


# ---- disks --------------------------------------------------------------------------------------------------------

FULL = r"""
set -e
mount -t tmpfs -o size=96k tmpfs "$1"
mkdir "$1/{where}"
{fill}
"$2" "$3" {arguments} > "$4/out1" 2> "$4/err1" && exit 9
{check}
mount -o remount,size=64m "$1"
"$2" "$3" {arguments} > "$4/out2" 2> "$4/err2"
"""


def can_mount(tmp_path: Path) -> bool:
    if shutil.which("unshare") is None:
        return False
    command = ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", str(tmp_path)]
    return subprocess.run(command, capture_output=True).returncode == 0


def in_small_disk(tmp_path: Path, script: str, environment: dict[str, str] | None = None) -> tuple[str, str]:
    """What a job says on a disk of 96 kB that fills up, and what it gives once there is room."""
    from support import jobs

    if not can_mount(tmp_path):
        pytest.skip("a small disk cannot be mounted here (unshare --mount)")
    disk, notes = tmp_path / "disk", tmp_path / "notes"
    disk.mkdir()
    notes.mkdir()
    command = [
        "unshare",
        "--mount",
        "sh",
        "-c",
        script,
        "sh",
        *map(str, (disk, sys.executable, jobs.__file__, notes)),
    ]
    path = os.pathsep.join(filter(None, sys.path))
    ran = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"PYTHONPATH": path} | (environment or {}),
    )
    assert ran.returncode == 0, ran.stderr + (notes / "err1").read_text() + (notes / "err2").read_text()
    return (notes / "err1").read_text().splitlines()[-1], (notes / "out2").read_text()


def test_a_full_disk_keeps_what_was_finished_and_resumes(tmp_path: Path) -> None:
    script = FULL.format(
        where="run", fill="", arguments='"$1/run" 60 1', check='ls "$1"/run/*/*.task | wc -l > "$4/kept"'
    )
    message, out = in_small_disk(tmp_path, script)
    kept = int((tmp_path / "notes" / "kept").read_text())
    assert message.startswith("curiograph.errors.GraphError: cannot write ")
    assert "the disk is full" in message
    assert message.endswith("Finished tasks are kept: fix this and rerun the command.")
    assert 5 < kept < 60
    assert f"({kept} found in the run folder)" in out
    undisturbed = Driver(tmp_path / "run", 60, 1, tmp_path / "tmp").end()
    assert out.splitlines()[-1] == undisturbed.digest


@pytest.mark.long
def test_full_temporary_folder_is_reported(tmp_path: Path) -> None:
    script = FULL.format(
        where="tmp",
        fill='dd if=/dev/zero of="$1/fill" bs=1k count=80 2>/dev/null || true',
        arguments='"$4/run" 6 2',
        check="",
    ).replace('"$2" "$3"', 'TMPDIR="$1/tmp" "$2" "$3"')
    message, out = in_small_disk(tmp_path, script)
    assert message.startswith(
        "curiograph.parallel.shared_arrays.SharingError: cannot share the graph with workers through "
    )
    assert message.endswith("; set TMPDIR to a larger disk, or use workers=1.")
    assert len(out.splitlines()[-1]) == 64


@pytest.mark.long
def test_read_only_run_folder_is_rejected(tmp_path: Path) -> None:
    script = FULL.format(where="run", fill='mount -o remount,ro "$1"', arguments='"$1/run" 6 1', check="").replace(
        "remount,size=64m", "remount,rw,size=64m"
    )
    message, out = in_small_disk(tmp_path, script)
    assert message.startswith("curiograph.errors.SettingError: cannot work in ")
    assert message.endswith(": Read-only file system; choose another folder.")
    assert len(out.splitlines()[-1]) == 64
