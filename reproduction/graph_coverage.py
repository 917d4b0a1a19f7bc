"""How much of the catalogs of MovieLens and Amazon Books each kind of item graph covers, and at what cost."""

from __future__ import annotations

import multiprocessing
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from curiograph.human.prediction.protocol import CORE_RECIPES

from curiograph.graph.graph import Graph
from curiograph.graph.label_reader import LabelReader
from curiograph.human import Trajectories, cooccurrence_graph, core, load_dataset, measure_graph_coverage
from curiograph.human.choices.windows import find_links
from reproduction.report import Report, Setup, percent

KINDS: dict[str, dict[str, Any]] = {
    "highest, of a dense core": {"keep": "highest"},
    "knn, cosine (default)": {},
    "knn, pmi, shrinkage 5": {"similarity": "pmi", "shrinkage": 5},
    "knn, sequence": {"similarity": "sequence"},
    "knn, sequence, shrinkage 5": {"similarity": "sequence", "shrinkage": 5},
}
"""Settings of `cooccurrence_graph`."""


def compute(setup: Setup) -> dict[str, Any]:
    """Build every graph in a process of its own, so that its memory can be measured."""
    work = [(name, kind, setup.folder) for name in ("movielens", "books") for kind in KINDS]
    rows: list[dict[str, Any]] = []
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for each in work:
            setup.progress(f"{each[0]}: {each[1]}", len(rows) / len(work))
            rows.append(pool.apply(_measure_graph, each))
    return {"graphs": rows}


def _build_graph(name: str, walks: Trajectories, settings: dict[str, Any]) -> Graph:
    """Build the graph of a dataset; that of pairs with the highest similarity is of the core of Table 2."""
    if settings.get("keep") != "highest":
        return cooccurrence_graph(walks, **settings)
    recipe = CORE_RECIPES[name]
    kept = core(walks.compact(), recipe.item_users, recipe.user_items)
    return cooccurrence_graph(kept, fewest=recipe.item_users, **settings)


def _measure_graph(name: str, kind: str, folder: Path | None) -> dict[str, Any]:
    """Measure the coverage of a graph of all users, and how many steps of others follow links of half of them."""
    settings, walks = KINDS[kind], load_dataset(name, folder).walks
    cooccurrence_graph(Trajectories.from_walks([["a", "b", "c"]] * 5))  # compiles
    start = time.process_time()
    graph = _build_graph(name, walks, settings)
    cost = {"cpu_seconds": time.process_time() - start}
    cost["peak_bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    others, makers = walks.split(0.5, seed=0)
    half = _build_graph(name, makers.compact(), settings)
    nodes = LabelReader(half).match_names(others.names, others.nodes, strict=False)[others.nodes].astype(np.int64)
    same_walk = np.diff(np.repeat(np.arange(len(others)), others.lengths)) == 0
    before, after = nodes[:-1][same_walk], nodes[1:][same_walk]
    linked = float(np.mean(find_links(half, before, after) & (before >= 0) & (after >= 0)))
    covered = measure_graph_coverage(graph, walks).to_dict()
    return {"dataset": name, "kind": kind, **cost, "linked_share": linked, **covered}


def report(document: dict[str, Any]) -> Report:
    """Show coverage, links and cost."""
    rows = [
        [
            each["dataset"],
            each["kind"],
            percent(each["covered_items"] / each["items"]),
            percent(each["covered_events"] / each["events"]),
            percent(each["linked_share"]),
            f"{each['cpu_seconds']:.1f} s",
            f"{each['peak_bytes'] / 2**20:,.0f} MiB",
        ]
        for each in document["graphs"]
    ]
    columns = ["dataset", "graph", "items", "events", "steps of others along links", "CPU time", "peak memory"]
    return Report(
        tables={"Coverage of item graphs": pd.DataFrame(rows, columns=columns)},
        text="Times are of the processor, without reading the log and compiling. Links: of a graph of half of the "
        "users.",
    )
