"""Time the first use of the main commands, with an empty kernel cache, and their second use.

python scripts/time_first_use.py, on an otherwise idle machine.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from tempfile import TemporaryDirectory

WALK = "music,physics,chemistry,biology,philosophy,logic,mathematics"
COMMANDS = {
    "measure": ["measure", "toy:library", "--walk", WALK],
    "explore": ["explore", "toy:library", "--start", "music"],
    "recommend": ["recommend", "toy:library", "--history", "music,physics"],
}


def time_command(arguments: list[str], cache: str) -> tuple[float, float]:
    """Return the seconds and the processor seconds, over all processes, of a command."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = os.environ | {"NUMBA_CACHE_DIR": cache, "CURIOGRAPH_QUIET": "1"}
    subprocess.run([sys.executable, "-m", "curiograph", *arguments, "--json"], env=environment, check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - start, processor


def main() -> None:
    """Print a line per command and use."""
    with TemporaryDirectory() as cache:
        for use in ("first", "second"):
            for name, command in COMMANDS.items():
                seconds, processor = time_command(command, cache)
                print(f"{use:6} {name:9} {seconds:5.1f} s, {processor:5.1f} s of processor time", flush=True)


if __name__ == "__main__":
    main()
