"""Time the first use of the main commands, with an empty kernel cache, and their second use.

Run on an otherwise idle machine: python scripts/time_first_use.py
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from tempfile import TemporaryDirectory

COMMANDS = {
    "measure": "measure toy:library --walk music,physics,chemistry,biology,philosophy,logic,mathematics",
    "explore": "explore toy:library --start music",
    "recommend": "recommend toy:library --history music,physics",
}


def main() -> None:
    """Print the seconds and the processor seconds, over all processes, of each command and use."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    with TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache, "CURIOGRAPH_QUIET": "1"}
        for use in ("first", "second"):
            for name, command in COMMANDS.items():
                before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
                call = [sys.executable, "-m", "curiograph", *command.split(), "--json"]
                subprocess.run(call, env=environment, check=True, stdout=subprocess.DEVNULL)
                seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
                processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                print(f"{use:6} {name:9} {seconds:5.1f} s, {processor:5.1f} s of processor time", flush=True)


if __name__ == "__main__":
    main()
