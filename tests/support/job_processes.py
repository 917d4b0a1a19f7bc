"""Drivers of jobs in processes of their own, to be stopped and killed; what they leave behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from curiograph.parallel.journal import Journal
from support import jobs


class Driver:
    """`jobs` as a program, or another one, in a session of its own with a temporary folder of its own."""

    def __init__(self, run: Path, tasks: int, workers: int, temporary: Path, command: Sequence[str] = ()) -> None:
        self.run, self.temporary = run, temporary
        temporary.mkdir(exist_ok=True)
        path = os.pathsep.join(filter(None, sys.path))
        self.process = subprocess.Popen(
            command or [sys.executable, jobs.__file__, str(run), str(tasks), str(workers)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # nohup starts the tests with it ignored
            env=os.environ | {"PYTHONPATH": path, "TMPDIR": str(temporary), "OMP_NUM_THREADS": "1"},
        )

    @property
    def pid(self) -> int:
        return self.process.pid

    def wait_for(self, entries: int, seconds: float = 60) -> None:
        """Until so many tasks are in the journal, or the driver is done."""
        begun = time.monotonic()
        while len(entries_of(self.run)) < entries and self.process.poll() is None:
            assert time.monotonic() - begun < seconds, "the job does not get on"
            time.sleep(0.002)

    def end(self, seconds: float = 60) -> Ended:
        out, err = self.process.communicate(timeout=seconds)
        return Ended(self.process.returncode, out, err)

    def workers(self) -> list[int]:
        """Processes that the driver has started and that work for it."""
        return [pid for pid in descendants(self.pid) if b"popen_loky" in command_of(pid)]

    def group(self) -> list[int]:
        """Processes of the driver's session that are alive."""
        return [pid for pid in processes() if session_of(pid) == self.pid]

    def gone(self, seconds: float) -> bool:
        """Whether all processes of the driver end within so many seconds."""
        begun = time.monotonic()
        while self.group():
            if time.monotonic() - begun > seconds:
                return False
            time.sleep(0.02)
        return True


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str

    @property
    def digest(self) -> str:
        assert self.code == 0, self.err
        return self.out.splitlines()[-1]


def entries_of(run: Path) -> dict[str, bytes]:
    """The entries of all journals in a run folder."""
    return {path.name: path.read_bytes() for path in run.glob("*/*.task")}


def check_entries(run: Path) -> None:
    """Every entry passes its own check, and no job has left a part of one."""
    for folder in run.glob("*-*/"):
        facts = json.loads((folder / "job.json").read_text())
        journal = Journal(run, facts["job"], facts["about"], facts["tasks"])
        assert journal.folder == folder
        for path in folder.glob("*.task"):
            assert journal.read(int(path.stem)) is not None, path
        assert list(folder.glob(".*.part")) == []


def processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _status(pid: int) -> list[str]:
    """State, parent, group, session; nothing of one that is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
    return [] if fields[0] == "Z" else fields


def session_of(pid: int) -> int | None:
    status = _status(pid)
    return int(status[3]) if status else None


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def descendants(pid: int) -> list[int]:
    parents = {other: status[1] for other in processes() if (status := _status(other))}
    found, last = [], [pid]
    while last:
        last = [other for other, parent in parents.items() if int(parent) in last]
        found += last
    return found


def kill(pid: int, sign: signal.Signals = signal.SIGKILL) -> bool:
    """Whether there was somebody to send it to."""
    try:
        os.kill(pid, sign)
    except ProcessLookupError:
        return False
    return True
