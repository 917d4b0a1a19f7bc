"""Ablation of the gnn agent on validation graphs; run by `make ablation`.

Every variant changes one setting (or is the paper's configuration), trains for the same number of steps from the same
seed, and is compared by its last validation return on one family per reward. Interrupted trainings are resumed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from curiograph.files import open_atomic
from curiograph.training.logging import read_log

CELLS = (("igt", "ba"), ("cpt", "ws"))
STEPS = 2000
VARIANTS: dict[str, list[str]] = {
    "ours": [],
    "features as in the paper (no logarithm)": ["--set", "log_features=false"],
    "without triangles inside the subgraph": ["--set", "inner_triangles=false"],
    "without degree and triangles inside it": ["--set", "inner_triangles=false", "--set", "inner_degree=false"],
    "mean over neighbors instead of sum": ["--set", "aggregation=mean"],
    "1-step targets": ["--set", "returns=1"],
    "1-step targets, double": ["--set", "returns=1", "--set", "double=true"],
    "discount 0.75": ["--set", "discount=0.75"],
    "the paper's setting": ["--preset", "paper"],
}


def list_commands(runs: Path) -> Iterator[list[str]]:
    """Yield the command of every training."""
    for number, options in enumerate(VARIANTS.values()):
        for reward, family in CELLS:
            folder = runs / f"{number:02d}-{reward}-{family}"
            yield [sys.executable, "-m", "curiograph", "train", "--quiet", "--agent", "gnn", "--reward", reward,
                   "--family", family, "--train-steps", str(STEPS), "--set", f"validate_every={STEPS // 4}",
                   "--set", "validation_walks=50", *options, "--out", str(folder)]  # fmt: skip


def run_training(command: list[str]) -> None:
    """Run one training on one core."""
    env = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run(command, check=True, env=env, stdout=subprocess.DEVNULL)


def main() -> None:
    """Train all variants and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, default=Path("runs/ablation"), help="folder for the training runs")
    parser.add_argument("--out", type=Path, default=Path("docs/results"), help="folder for ablation.md and .json")
    parser.add_argument("--jobs", type=int, default=2, help="number of parallel trainings, one core each")
    options = parser.parse_args()
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(run_training, list_commands(options.runs)))
    rows = []
    for number, name in enumerate(VARIANTS):
        logs = [read_log(options.runs / f"{number:02d}-{r}-{f}" / "log.jsonl") for r, f in CELLS]
        returns = {f"{r}-{f}": log[-1]["validation"] for (r, f), log in zip(CELLS, logs, strict=True)}
        rows.append({"variant": name, **returns})
    write_table(rows, options.out)


def write_table(rows: list[dict[str, object]], out: Path) -> None:
    """Write the table as Markdown and as JSON."""
    columns = list(rows[0])
    lines = [f"| {' | '.join(columns)} |", "|---|" + "---:|" * (len(columns) - 1)]
    for row in rows:
        cells = [f"{value:.2f}" if isinstance(value, float) else str(value) for value in row.values()]
        lines.append(f"| {' | '.join(cells)} |")
    out.mkdir(parents=True, exist_ok=True)
    for name, text in (("ablation.md", "\n".join(lines) + "\n"), ("ablation.json", json.dumps(rows, indent=1) + "\n")):
        with open_atomic(out / name) as stream:
            stream.write(text.encode())


if __name__ == "__main__":
    main()
