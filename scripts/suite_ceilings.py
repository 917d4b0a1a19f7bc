"""Compute the floors and ceilings of tasks of the suite, and store them in the package.

Real networks are read from CURIOGRAPH_DATA. The ceiling of a walk is the highest return that any of the searches in
`ceiling_by` finds from its start. A released version never changes: to change a task, add a version.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from curiograph.agents.agent_names import as_agent
from curiograph.agents.suite import SUITE_FILE, begin_task, cluster_returns, hash_task
from curiograph.files import open_atomic


def measure_references(task: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return a task with a hash of its walks, and the returns of floors and ceiling."""
    graphs, walks = begin_task(task, folder)
    names = ["random", "greedy", *task["ceiling_by"]]
    returns = {name: as_agent(name).run(walks.rows(np.arange(len(walks.lengths)))).returns for name in names}
    returns["ceiling"] = np.max([returns[name] for name in names[1:]], axis=0)
    columns = {name: cluster_returns(task, returns[name]).round(9).tolist() for name in ("random", "greedy", "ceiling")}
    return {**task, "hash": hash_task(graphs, walks), **columns}


def main() -> None:
    """Compute some tasks and write the file after each."""
    tasks = json.loads(SUITE_FILE.read_text())
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", default=list(tasks), help="names of tasks (default: all)", metavar="TASK")
    folder = Path(os.environ.get("CURIOGRAPH_DATA", "")) / "real-networks"
    for name in parser.parse_args().tasks:
        tasks[name] = measure_references(tasks[name], folder)
        lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(task)}" for key, task in tasks.items())
        with open_atomic(SUITE_FILE) as stream:
            stream.write(f"{{\n{lines}\n}}\n".encode())
        print(name, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
