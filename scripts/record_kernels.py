"""Write src/curiograph/kernels/first_use.json: the kernels that commands call on their first use, and their cost.

Run it after the arguments of a kernel have changed: python scripts/record_kernels.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

TARGET = Path(__file__).parents[1] / "src" / "curiograph" / "kernels" / "first_use.json"
WALK = "music,physics,chemistry,biology,philosophy,logic,mathematics"
COMMANDS = {
    "read": ["convert", "links.tsv", "links.npz"],
    "measure": ["measure", "toy:library", "--walk", WALK],
    "explore": ["explore", "toy:library", "--start", "music"],
    "recommend": ["recommend", "toy:library", "--history", "music,physics"],
}
"""A command for each task."""

_RECORD = """
import json, sys, time
from numba.core import event
from curiograph.kernels import ahead
ahead.compile_ahead = lambda *tasks: None
from curiograph.cli.main import create_app

begun, compiled = [], []

class Listener(event.Listener):
    def on_start(self, started):
        begun.append(time.process_time())

    def on_end(self, ended):
        seconds = time.process_time() - begun.pop()
        function = ended.data["dispatcher"].py_func
        if not begun and function.__module__.startswith("curiograph."):
            types = str(ended.data["args"]).replace("bool,", "boolean,").replace("bool)", "boolean)")
            name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
            compiled.append((name, types, round(seconds, 1)))

event.register("numba:compile", Listener())
create_app()(sys.argv[1:], prog_name="curiograph", standalone_mode=False)
print(json.dumps(compiled), file=sys.stderr)
"""


def record_kernels(task: str) -> list[tuple[str, str, float]]:
    """Run the command of a task in a new process without a cache, and return the kernels that it compiles."""
    with TemporaryDirectory() as folder:
        (Path(folder) / "links.tsv").write_text("a\tb\nb\tc\n")
        environment = os.environ | {"NUMBA_CACHE_DIR": folder, "CURIOGRAPH_QUIET": "1"}
        run = [sys.executable, "-c", _RECORD, *COMMANDS[task], "--json"]
        done = subprocess.run(run, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return [(name, types, seconds) for name, types, seconds in json.loads(done.stderr.splitlines()[-1])]


if __name__ == "__main__":
    lines = []
    for task in COMMANDS:
        kernels = ",\n".join(f"  {json.dumps(kernel)}" for kernel in record_kernels(task))
        lines.append(f" {json.dumps(task)}: [\n{kernels}\n ]")
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n")
