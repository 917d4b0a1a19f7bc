"""Jobs killed at random moments: nothing that was finished is lost, and the results have the same bytes."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from curiograph.parallel import Engine

TASKS = 40


def draw_slowly(shared: Any, task: int) -> dict[str, Any]:
    time.sleep(0.02)  # so that it can be killed in the middle
    return {"numbers": np.random.default_rng([shared, task]).random(5)}


def main(run: str) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # processes in the background of a shell ignore it
    results = Engine(workers=2, run=Path(run)).map(draw_slowly, 7, range(TASKS), name="draws")
    print(hashlib.sha256(b"".join(result["numbers"].tobytes() for result in results)).hexdigest())


def start_driver(run: Path) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        [sys.executable, "-c", f"import parallel.test_kills as it; it.main({str(run)!r})"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=environment,
    )


def count_kept(run: Path) -> int:
    return len(list(run.glob("*/*.task")))


@pytest.mark.parametrize(
    ("sign", "seed"),
    [
        (signal.SIGKILL, 0),
        *[pytest.param(sign, seed, marks=pytest.mark.long) for sign in (9, signal.SIGINT) for seed in range(1, 5)],
    ],
)
def test_killed_job_resumes_with_the_same_results(sign, seed, tmp_path):
    expected = hashlib.sha256(b"".join(draw_slowly(7, task)["numbers"].tobytes() for task in range(TASKS))).hexdigest()
    driver = start_driver(tmp_path)
    enough = random.Random(seed).randrange(1, TASKS - 6)
    while count_kept(tmp_path) < enough and driver.poll() is None:
        time.sleep(0.002)
    if sign == signal.SIGINT:
        os.killpg(driver.pid, sign)  # as a terminal does
    else:
        driver.kill()
    out, err = driver.communicate(timeout=60)
    if sign == signal.SIGINT:
        assert f"of {TASKS} tasks of draws; they are kept in {tmp_path}" in err.splitlines()[-1]
    kept = {path: path.read_bytes() for path in tmp_path.glob("*/*.task")}
    assert out == ""
    assert enough <= len(kept) < TASKS
    out, err = start_driver(tmp_path).communicate(timeout=60)
    assert (out.strip(), err) == (expected, "")
    assert all(path.read_bytes() == data for path, data in kept.items())
