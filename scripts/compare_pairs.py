"""Compare the pair heuristics of `rate_distortion` on generated graphs: compressibility and time.

`python scripts/compare_pairs.py` stores the run in docs/results/pairs.json; `docs/show_results.py` formats it.
"""

from __future__ import annotations

import json
import time
import warnings
from pathlib import Path

from curiograph.rewards.pairs import HEURISTICS

import curiograph as cg

OUT = Path(__file__).parent.parent / "docs" / "results" / "pairs.json"
FAMILIES = ("ba", "er", "ws", "rg")
NODES = 2000


def main() -> None:
    """Time every heuristic on every family, with processor time, which other processes change little."""
    warnings.simplefilter("ignore")  # of poor bounds, which this compares
    cg.compressibility(cg.generate("ba", nodes=20, seed=0), pairs="best")  # compiles the kernels
    rows = []
    for family in FAMILIES:
        graph = cg.generate(family, nodes=NODES, seed=0)
        for pairs in (*HEURISTICS, "best"):
            start = time.process_time()
            bits = cg.compressibility(graph, pairs=pairs)
            seconds = time.process_time() - start
            rows.append({"family": family, "pairs": pairs, "bits": bits, "seconds": seconds})
            print(f"{family} {pairs}: {bits:.3f} bits, {seconds:.2f} s", flush=True)
    OUT.write_text(json.dumps({"nodes": NODES, "seed": 0, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
