"""Compute the floors and ceilings of the suite, and store them in the package.

    CURIOGRAPH_DATA=DIR python scripts/suite_ceilings.py

Tasks that are stored already with the same ceiling are kept, so that an interrupted run can be resumed. A
released version never changes: to change a task, add a version.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from curiograph.files import open_atomic
from curiograph.leaderboard.networks import list_networks, require_networks
from curiograph.leaderboard.suite import measure_references
from curiograph.leaderboard.tasks import list_generated_tasks, list_real_tasks

STORED = Path(__file__).parents[1] / "src" / "curiograph" / "leaderboard" / "v1.json"


def main() -> None:
    """Compute missing tasks and write the file after each."""
    networks = list_networks(require_networks())
    document: dict[str, Any] = json.loads(STORED.read_text()) if STORED.exists() else {"tasks": {}}
    tasks = [*list_generated_tasks(), *list_real_tasks(list(networks))]
    new = [task for task in tasks if document["tasks"].get(task.name, {}).get("ceiling_by") != task.ceiling]
    with ProcessPoolExecutor() as pool:
        measured = pool.map(measure_references, new, [networks] * len(new))
        for number, (task, stored) in enumerate(zip(new, measured, strict=True), start=1):
            document["tasks"][task.name] = stored
            write(document)
            print(f"{number} of {len(new)}: {task.name}", file=sys.stderr, flush=True)
    document["tasks"] = {task.name: document["tasks"][task.name] for task in tasks}
    write(document)


def write(document: dict[str, Any]) -> None:
    """Write the file with one line per task."""
    lines = [f"{json.dumps(name)}: {json.dumps(stored)}" for name, stored in document["tasks"].items()]
    joined = ",\n".join(lines)
    with open_atomic(STORED) as stream:
        stream.write(f'{{"tasks": {{\n{joined}\n}}}}\n'.encode())


if __name__ == "__main__":
    main()
