"""Jobs for tests: tasks that are quick, slow, or go wrong in every way."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from curiograph.errors import GraphError
from curiograph.parallel import Job
from curiograph.parallel.serialization import Result, pack_result


def drawn(shared: Any, task: int) -> Result:
    """Numbers by the task's seed; a task with an odd number takes longer, so that tasks end out of order."""
    time.sleep(0.01 * (task % 2))
    numbers = np.random.default_rng([shared["seed"], task]).random(5) * shared["scale"]
    return {"numbers": numbers, "task": task, "mean": float(numbers.mean())}


def slow(shared: Any, task: int) -> Result:
    """The same, in 20 to 50 ms."""
    time.sleep(0.02 + 0.03 * (task % 4) / 3)
    return drawn(shared, task)


SHARED = {"seed": 7, "scale": np.linspace(1, 2, 5), "ballast": np.zeros(10_000)}


def a_job(function: Any = drawn, tasks: Any = range(12), name: str = "draws", shared: Any = None, **more: Any) -> Job:
    key = more.pop("key", lambda: {"seed": SHARED["seed"]})
    return Job(
        name=name,
        function=function,
        shared=SHARED if shared is None else shared,
        tasks=list(tasks),
        key=key,
        **more,
    )


def in_bytes(results: list[Result]) -> list[bytes]:
    return [pack_result(result) for result in results]


def seen(shared: Any, task: int) -> Result:
    """How a worker sees what is shared."""
    array = shared["array"]
    return {"writable": array.flags.writeable, "file": _file_at(array.ctypes.data), "pid": os.getpid()}


def _file_at(address: int) -> str:
    """Device and inode of the file that is mapped there."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, _, _, device, inode, *_ = line.split()
        begin, end = (int(bound, 16) for bound in span.split("-"))
        if begin <= address < end:
            return f"{device} {inode}"
    return "none"


def once(marks: str, task: int) -> bool:
    """Whether this is the first time that a task comes by."""
    try:
        (Path(marks) / f"{task}").touch(exist_ok=False)
        return True
    except FileExistsError:
        return False


def faulty(shared: Any, task: str) -> Result:
    """Goes wrong in the way that the task says."""
    kind = task.split()[0]
    number = sum(task.encode())
    if kind == "raises":
        raise RuntimeError("no luck\nat all")
    if kind == "raises-once" and once(shared["marks"], number):
        raise RuntimeError("bad luck")
    if kind == "refuses":
        once(shared["marks"], number) or once(shared["marks"], number + 10_000)
        raise GraphError("this graph is bad.")
    if kind == "leaves":
        sys.exit(3)
    if kind == "dies" or (kind == "dies-once" and once(shared["marks"], number)):
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "eats":
        return _eat()
    if kind == "objects":
        return {"array": np.array([{}, []], object)}
    if kind == "lock":
        return {"value": threading.Lock()}  # type: ignore[dict-item]
    if kind == "int-keys":
        return {"value": {1: 2}}
    if kind == "tuple":
        return {"value": (1, 2)}
    if kind == "no-dict":
        return [1, 2]  # type: ignore[return-value]
    if kind == "numbers":
        return {"value": np.int64(3)}
    return {"value": task, "array": np.arange(3)}


def _eat() -> Result:
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (2**32, before[1]))
    try:
        return {"array": np.ones(2**33)}
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def main(folder: str, tasks: int, workers: int, engine: str = "local", address: str = "") -> None:
    """A driver: completes a job of slow tasks and prints the digest of all results."""
    import hashlib

    from curiograph.parallel import resolve_engine, run_job

    def report(message: str, share: float | None = None) -> None:
        print(json.dumps({"message": message}), flush=True)

    made = resolve_engine(engine, workers, address or None, Path(folder))
    results = run_job(a_job(slow, range(tasks), unit="draws"), made, report)
    print(hashlib.sha256(b"".join(in_bytes(results))).hexdigest())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
