"""A service as a user starts it: the program in a process of its own, on a free port."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Served:
    address: str
    process: subprocess.Popen[str]


@contextmanager
def serving(*options: str) -> Iterator[Served]:
    """A service until the block ends; it must then end by itself, with code 0."""
    command = [sys.executable, "-m", "curiograph", "serve", "--port", "0", "--json", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines: list[str] = []
        for line in process.stdout:  # one document over several lines
            lines.append(line)
            if line.rstrip() == "}":
                break
        try:
            yield Served(json.loads("".join(lines))["address"], process)
        finally:
            process.terminate()
            code = process.wait(timeout=30)
    assert code == 0
