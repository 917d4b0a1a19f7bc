"""Speed of centrality: PageRank of one history, of many, and of the best nodes of a large graph."""

from __future__ import annotations

import os
import statistics
import time
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.learning import Row
from benchmarks.timing import medians
from curiograph.centrality.pagerank import pagerank
from curiograph.centrality.push import pagerank_top
from curiograph.graph.graph import Graph
from curiograph.graph.io.read import read_graph
from curiograph.graph.labels import RangeLabels

TOLERANCE = 1e-10
NODES = 10_000


def pagerank_rows(seed: int, quick: bool, missing: list[str]) -> list[Row]:
    """Personalised PageRank against igraph and networkx, one core each; names of absent peers go to `missing`.

    Our graph is prepared before (in-neighbours, strengths), which a row of its own states.
    """
    try:
        import_module("igraph")
    except ImportError:
        missing.append("igraph")
    rows: list[Row] = []
    for name, graph in benchmark_graphs(seed, quick).items():
        size = f"{name}, {graph.num_nodes:,} nodes, {graph.num_edges:,} edges"
        start = graph.label(graph.num_nodes // 3)
        first = _seconds(partial(pagerank, Graph(graph.indptr, graph.indices, directed=graph.directed),
                                 history=[graph.num_nodes // 3], tolerance=TOLERANCE))  # fmt: skip
        ours = partial(pagerank, graph, history=[start], tolerance=TOLERANCE)
        calls: dict[str, Any] = {}
        if "igraph" not in missing:
            other = graph.to_igraph()
            calls["igraph"] = partial(other.personalized_pagerank, reset_vertices=[graph.position(start)])
        known = graph.to_networkx()
        calls["networkx"] = partial(_networkx, known, start, TOLERANCE)
        calls["networkx, as close as ours"] = partial(_networkx, known, start, TOLERANCE / graph.num_nodes)
        seconds, *theirs = medians(ours, *calls.values(), repeats=3 if quick else 7)
        for (peer, _), time_of_peer in zip(calls.items(), theirs, strict=True):
            target = {"igraph": 5.0, "networkx": 50.0}.get(peer)
            rows.append(("PageRank of a history", size, seconds, peer, time_of_peer, time_of_peer / seconds, target))
        rows.append(("PageRank of a first history, graph prepared in it", size, first, "", None, None, None))
    return rows


def batch_rows(seed: int, quick: bool) -> list[Row]:
    """A history of a batch of 256 against one at a time."""
    rows: list[Row] = []
    for name, graph in benchmark_graphs(seed, quick).items():
        many = histories(graph, 32 if quick else 256, seed)
        together, alone = medians(
            partial(pagerank, graph, history=many, tolerance=TOLERANCE),
            partial(_one_by_one, graph, many[:16]),
            repeats=3,
        )
        together, alone = together / len(many), alone / 16
        rows.append((f"PageRank of a history, {len(many)} a call", name, together, "one a call", alone,
                     alone / together, 3.0))  # fmt: skip
    return rows


def push_rows(seed: int) -> list[Row]:
    """The best ten nodes of a graph with a million nodes and ten million edges; median and worst of 50 histories."""
    rows: list[Row] = []
    for name, power in (("uniform", 0.0), ("heavy-tailed", 0.5)):
        graph = random_graph(1_000_000, 10_000_000, seed, power=power)
        _ = graph.transition.hubs
        times, touched = [], []
        for history in histories(graph, 50, seed):
            found = pagerank_top(graph, history)
            touched.append(found.touched)
            times.append(min(_seconds(partial(pagerank_top, graph, history)) for _ in range(3)))
        size = f"{name}, 1,000,000 nodes, 10,000,000 edges"
        median, worst = statistics.median(times), max(times)
        rows += [
            (f"top 10 by push, {statistics.median(touched):,.0f} nodes touched", size, median, "allowed", 10e-3,
             10e-3 / median, 1.0),
            ("the same, worst of 50 histories", size, worst, "allowed", 10e-3, 10e-3 / worst, 1.0),
        ]  # fmt: skip
    return rows


def benchmark_graphs(seed: int, quick: bool) -> dict[str, Graph]:
    """Graphs of 10,000 nodes, and Wikispeedia where CURIOGRAPH_DATA has it."""
    graphs = {
        "heavy-tailed": preferential_graph(NODES, 5, seed),
        "uniform": random_graph(NODES, 100_000, seed),
        "uniform, directed": random_graph(NODES, 100_000, seed, directed=True),
    }
    if not quick:
        graphs["uniform, sparse"] = random_graph(NODES, 50_000, seed)
    found = wikispeedia()
    return graphs if found is None else graphs | {"Wikispeedia": found}


def wikispeedia() -> Graph | None:
    """The links of Wikispeedia, where CURIOGRAPH_DATA names a folder that has them."""
    links = Path(os.environ.get("CURIOGRAPH_DATA", "")) / "wikispeedia" / "links.tsv"
    return read_graph(links, directed=True) if links.is_file() else None


def random_graph(nodes: int, edges: int, seed: int, *, directed: bool = False, power: float = 0.0) -> Graph:
    """Edges between nodes drawn in proportion to 1 / rank^power: uniform at 0, heavy-tailed above."""
    rng = np.random.default_rng(seed)
    chances = np.cumsum(1 / np.arange(1, nodes + 1) ** power)
    place = rng.permutation(nodes)
    ends = [place[np.searchsorted(chances, rng.random(edges) * chances[-1])] for _ in range(2)]
    return Graph.from_arrays(*ends, directed=directed, names=RangeLabels(nodes))


def preferential_graph(nodes: int, links: int, seed: int) -> Graph:
    """Barabasi-Albert: every node links to the ends of earlier edges, taken at random."""
    rng = np.random.default_rng(seed)
    ends: NDArray[np.int64] = np.empty(2 * nodes * links, np.int64)
    ends[: 2 * links] = np.tile(np.arange(links), 2)
    for v in range(1, nodes):
        filled = 2 * v * links
        ends[filled : filled + links] = v
        ends[filled + links : filled + 2 * links] = ends[rng.integers(0, filled, links)]
    pairs = ends.reshape(nodes, 2, links)
    return Graph.from_arrays(pairs[:, 0].ravel(), pairs[:, 1].ravel(), names=RangeLabels(nodes))


def histories(graph: Graph, count: int, seed: int) -> list[list[Any]]:
    """Histories of one to five nodes that lead somewhere."""
    rng = np.random.default_rng(seed)
    some = np.flatnonzero(graph.degrees)
    return [[graph.label(int(v)) for v in rng.choice(some, rng.integers(1, 6))] for _ in range(count)]


def _networkx(graph: Any, start: Any, tolerance: float) -> Any:
    """PageRank by networkx, which stops at a change of `tolerance` times the number of nodes."""
    import networkx as nx

    return nx.pagerank(graph, 0.85, {start: 1}, tol=tolerance, max_iter=1000, weight=None)


def _one_by_one(graph: Graph, many: list[list[Any]]) -> None:
    for history in many:
        pagerank(graph, history=history, tolerance=TOLERANCE)


def _seconds(call: Any) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
