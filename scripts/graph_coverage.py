"""Measure how much of the catalogs of MovieLens and Amazon Books each kind of item graph covers, at what cost.

    CURIOGRAPH_DATA=DIR python scripts/graph_coverage.py docs/results/graph_coverage.json

Every graph is built in a process of its own. The times are of the processor, without reading the log and compiling.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from curiograph.graph.graph import Graph
from curiograph.graph.label_reader import LabelReader
from curiograph.human import Trajectories, cooccurrence_graph, core, load_dataset, measure_graph_coverage
from curiograph.human.choices.windows import find_links
from curiograph.human.prediction.protocol import CORE_RECIPES

KINDS: dict[str, dict[str, Any]] = {
    "highest, of a dense core": {"keep": "highest"},
    "knn, cosine (default)": {},
    "knn, pmi, shrinkage 5": {"similarity": "pmi", "shrinkage": 5},
    "knn, sequence": {"similarity": "sequence"},
    "knn, sequence, shrinkage 5": {"similarity": "sequence", "shrinkage": 5},
}


def build_graph(name: str, walks: Trajectories, settings: dict[str, Any]) -> Graph:
    """Build the graph of a dataset; that of pairs with the highest similarity is of the core of Table 2."""
    if settings.get("keep") != "highest":
        return cooccurrence_graph(walks, **settings)
    recipe = CORE_RECIPES[name]
    return cooccurrence_graph(
        core(walks.compact(), recipe.item_users, recipe.user_items), fewest=recipe.item_users, **settings
    )


def compute_linked_share(graph: Graph, walks: Trajectories) -> float:
    """Return the share of successive visits that follow a link of the graph."""
    nodes = LabelReader(graph).match_names(walks.names, walks.nodes, strict=False)[walks.nodes].astype(np.int64)
    same_walk = np.diff(np.repeat(np.arange(len(walks)), walks.lengths)) == 0
    before, after = nodes[:-1][same_walk], nodes[1:][same_walk]
    return float(np.mean(find_links(graph, before, after) & (before >= 0) & (after >= 0)))


def measure_graph(name: str, kind: str) -> dict[str, Any]:
    """Build one kind of graph of a dataset, and measure its coverage and cost."""
    settings, walks = KINDS[kind], load_dataset(name).walks
    cooccurrence_graph(Trajectories.from_walks([["a", "b", "c"]] * 5))  # compiles
    start = time.process_time()
    graph = build_graph(name, walks, settings)
    seconds = time.process_time() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    coverage = measure_graph_coverage(graph, walks)
    others, makers = walks.split(0.5, seed=0)
    return {
        "dataset": name,
        "kind": kind,
        "cpu_seconds": seconds,
        "peak_bytes": memory,
        "linked_share": compute_linked_share(build_graph(name, makers.compact(), settings), others),
        **coverage.to_dict(),
    }


def main() -> None:
    """Measure all graphs and write the results."""
    rows = []
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for name in ("movielens", "books"):
            for kind in KINDS:
                rows.append(pool.apply(measure_graph, (name, kind)))
                print(json.dumps(rows[-1]), file=sys.stderr)
    Path(sys.argv[1]).write_text(json.dumps({"graphs": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
