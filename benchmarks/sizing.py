"""Measure the size of a service: memory of a graph, its labels and its prepared nodes, and time per recommendation.

Everything is measured in this process; times are processor time of one core, without HTTP.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import psutil
from curiograph.service.graph_store import OpenGraph

from benchmarks.centrality import create_random_graph
from benchmarks.command import create_parser, exit_on_error, show_results
from curiograph.cli.output import show_progress
from curiograph.progress import Progress
from curiograph.recommendation.recommender import Recommender

COLUMNS = ("quantity", "value")
_BYTES_PER_NUMBER = 12
"""Bytes of a kept number of a prepared node: position, visits and standard error."""
_HISTORY = 5


@dataclass(frozen=True)
class Sizing:
    """Result; memory in bytes, times in seconds."""

    items: int
    links: int
    graph_bytes: float
    """Memory of the graph and the index of its labels, per item."""
    prepared_bytes: float
    """Memory of the prepared nodes of the default mixture, per item."""
    prepare_seconds: float
    """Processor time to prepare an item."""
    plain_seconds: float
    """Processor time of ten recommendations without reasons, from prepared nodes, candidates "last"."""
    reasons_seconds: float
    """Processor time of ten reasons."""

    def list_rows(self) -> list[list[Any]]:
        """Rows of a table."""
        return [
            ["graph and labels, per million items", f"{1e6 * self.graph_bytes / 2**20:,.0f} MiB"],
            ["prepared nodes, per million items", f"{1e6 * self.prepared_bytes / 2**20:,.0f} MiB"],
            ["preparing, per item and core", f"{1e3 * self.prepare_seconds:,.1f} ms"],
            ["ten recommendations, per core", f"{1 / self.plain_seconds:,.0f} per second"],
            ["with reasons, per core", f"{1 / (self.plain_seconds + self.reasons_seconds):,.0f} per second"],
        ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark from the command line."""
    parser = create_parser(__doc__)
    parser.add_argument("--items", type=int, default=100_000, help="number of nodes (default: 100,000)")
    parser.add_argument("--degree", type=int, default=20, help="mean number of neighbors (default: 20)")
    parser.add_argument("--sample", type=int, default=1_000, help="number of nodes to prepare (default: 1,000)")
    args = parser.parse_args(arguments)
    with exit_on_error(args):
        with show_progress(args.quiet) as progress:
            sizing = run(args.items, args.degree, args.sample, args.seed, progress)
        title = f"{sizing.items:,} items, {sizing.links:,} links, {args.sample} of them prepared"
        show_results(args, asdict(sizing) | {"sample": args.sample}, title, COLUMNS, sizing.list_rows())


def run(items: int, degree: int, sample: int, seed: int, progress: Progress) -> Sizing:
    """Measure a uniform random graph."""
    process = psutil.Process()
    create_random_graph(100, 200, seed)  # imports and compiles what is needed once
    gc.collect()
    before = process.memory_info().rss
    progress("creating the graph")
    opened = OpenGraph(create_random_graph(items, items * degree // 2, seed))
    graph = opened.graph
    _ = graph.skeleton
    gc.collect()
    graph_bytes = (process.memory_info().rss - before) / items
    recommender = Recommender(graph)
    rng = np.random.default_rng(seed)
    nodes = rng.choice(np.flatnonzero(graph.degrees), sample + 1, replace=False)
    recommender.prepare([graph.label(int(nodes[0]))])  # compiles
    progress(f"preparing {sample} nodes")
    begin = time.process_time()
    for ranker in recommender.curious_rankers.values():
        ranker.prepare(graph, [graph.label(int(v)) for v in nodes])
    prepare_seconds = (time.process_time() - begin) / sample
    parts = [part for ranker in recommender.curious_rankers.values() for part in ranker.kept[graph].values()]
    numbers = sum(len(part.nodes) for part in parts) / (sample + 1)
    progress("recommending")
    users = [[graph.label(int(v)) for v in rng.choice(nodes, _HISTORY, replace=False)] for _ in range(200)]
    begin = time.process_time()
    tops = [recommender.recommend(user, 10, candidates="last") for user in users]
    plain = (time.process_time() - begin) / len(users)
    begin = time.process_time()
    for top in tops:
        _ = top.reasons
    reasons = (time.process_time() - begin) / len(users)
    return Sizing(
        items=graph.num_nodes,
        links=graph.num_edges,
        graph_bytes=graph_bytes,
        prepared_bytes=numbers * _BYTES_PER_NUMBER,
        prepare_seconds=prepare_seconds,
        plain_seconds=plain,
        reasons_seconds=reasons,
    )


if __name__ == "__main__":
    main()
