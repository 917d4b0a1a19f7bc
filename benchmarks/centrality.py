"""Speed of PageRank: for one history, for many histories, and for the best nodes of a large graph."""

from __future__ import annotations

import os
import statistics
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from benchmarks.report import Result, compare_with_limit, compare_with_peer
from benchmarks.timing import time_call, time_medians
from curiograph.centrality.pagerank import pagerank
from curiograph.centrality.push import pagerank_top
from curiograph.graph.graph import Graph
from curiograph.graph.io.formats import read_graph
from curiograph.graph.labels import RangeLabels

TOLERANCE = 1e-10
NODES = 10_000


def measure_pagerank(seed: int, quick: bool, missing: list[str]) -> list[Result]:
    """Compare personalized PageRank with igraph and networkx on one core; append absent peers to `missing`.

    Our graph is prepared before the comparison (in-neighbors, strengths); the time of a first call has its own row.
    """
    try:
        import_module("igraph")
    except ImportError:
        missing.append("igraph")
    results = []
    for name, graph in create_graphs(seed, quick).items():
        size = f"{name}, {graph.num_nodes:,} nodes, {graph.num_edges:,} edges"
        start = graph.label(graph.num_nodes // 3)
        unprepared = Graph(graph.indptr, graph.indices, directed=graph.directed)
        first = time_call(partial(pagerank, unprepared, history=[graph.num_nodes // 3], tolerance=TOLERANCE))
        ours = partial(pagerank, graph, history=[start], tolerance=TOLERANCE)
        peers: dict[str, Any] = {}
        if "igraph" not in missing:
            other = import_module("igraph").Graph.from_networkx(graph.to_networkx())
            peers["igraph"] = partial(other.personalized_pagerank, reset_vertices=[graph.position(start)])
        # networkx stops at a change of its tolerance times the number of nodes
        other = partial(nx.pagerank, graph.to_networkx(), 0.85, {start: 1}, max_iter=1000, weight=None)
        peers["networkx"] = partial(other, tol=TOLERANCE)
        peers["networkx, as close as ours"] = partial(other, tol=TOLERANCE / graph.num_nodes)
        seconds, *theirs = time_medians(ours, *peers.values(), repeats=3 if quick else 7)
        targets = {"igraph": 5.0, "networkx": 50.0}
        for peer, peer_seconds in zip(peers, theirs, strict=True):
            row = compare_with_peer("PageRank of a history", size, seconds, peer, peer_seconds, targets.get(peer))
            results.append(row)
        results.append(Result("PageRank of a first history, graph prepared in it", size, first))
    return results


def measure_pagerank_batch(seed: int, quick: bool) -> list[Result]:
    """Compare a batch of 256 histories with one history at a time."""
    results = []
    for name, graph in create_graphs(seed, quick).items():
        histories = draw_histories(graph, 32 if quick else 256, seed)
        together, alone = time_medians(
            partial(pagerank, graph, history=histories, tolerance=TOLERANCE),
            partial(_rank_one_by_one, graph, histories[:16]),
            repeats=3,
        )
        what = f"PageRank of a history, {len(histories)} a call"
        row = compare_with_peer(what, name, together / len(histories), "one a call", alone / 16, target=3.0)
        results.append(row)
    return results


def measure_push(seed: int) -> list[Result]:
    """Time the ten best nodes of a graph with a million nodes and ten million edges, for 50 histories."""
    results = []
    for name, power in (("uniform", 0.0), ("heavy-tailed", 0.5)):
        graph = create_random_graph(1_000_000, 10_000_000, seed, power=power)
        _ = graph.transition.hubs
        times, touched = [], []
        for history in draw_histories(graph, 50, seed):
            found = pagerank_top(graph, history)
            touched.append(found.touched)
            times.append(min(time_call(partial(pagerank_top, graph, history)) for _ in range(3)))
        size = f"{name}, 1,000,000 nodes, 10,000,000 edges"
        what = f"top 10 by push, {statistics.median(touched):,.0f} nodes touched"
        results.append(compare_with_limit(what, size, statistics.median(times), 10e-3))
        results.append(compare_with_limit("the same, worst of 50 histories", size, max(times), 10e-3))
    return results


def create_graphs(seed: int, quick: bool) -> dict[str, Graph]:
    """Create graphs of 10,000 nodes, and read Wikispeedia if CURIOGRAPH_DATA has it."""
    graphs = {
        "heavy-tailed": create_preferential_graph(NODES, 5, seed),
        "uniform": create_random_graph(NODES, 100_000, seed),
        "uniform, directed": create_random_graph(NODES, 100_000, seed, directed=True),
    }
    if not quick:
        graphs["uniform, sparse"] = create_random_graph(NODES, 50_000, seed)
    wikispeedia = read_wikispeedia()
    return graphs if wikispeedia is None else graphs | {"Wikispeedia": wikispeedia}


def read_wikispeedia() -> Graph | None:
    """Read the links of Wikispeedia; None if CURIOGRAPH_DATA does not have them."""
    links = Path(os.environ.get("CURIOGRAPH_DATA", "")) / "wikispeedia" / "links.tsv"
    return read_graph(links, directed=True) if links.is_file() else None


def create_random_graph(nodes: int, edges: int, seed: int, *, directed: bool = False, power: float = 0.0) -> Graph:
    """Create a graph whose edges end at nodes drawn in proportion to 1 / rank^power."""
    rng = np.random.default_rng(seed)
    chances = np.cumsum(1 / np.arange(1, nodes + 1) ** power)
    place = rng.permutation(nodes)
    ends = [place[np.searchsorted(chances, rng.random(edges) * chances[-1])] for _ in range(2)]
    return Graph.from_arrays(*ends, directed=directed, names=RangeLabels(nodes))


def create_preferential_graph(nodes: int, links: int, seed: int) -> Graph:
    """Create a Barabasi-Albert graph: each node links to ends of earlier edges drawn at random."""
    rng = np.random.default_rng(seed)
    ends: NDArray[np.int64] = np.empty(2 * nodes * links, np.int64)
    ends[: 2 * links] = np.tile(np.arange(links), 2)
    for v in range(1, nodes):
        filled = 2 * v * links
        ends[filled : filled + links] = v
        ends[filled + links : filled + 2 * links] = ends[rng.integers(0, filled, links)]
    pairs = ends.reshape(nodes, 2, links)
    return Graph.from_arrays(pairs[:, 0].ravel(), pairs[:, 1].ravel(), names=RangeLabels(nodes))


def draw_histories(graph: Graph, count: int, seed: int) -> list[list[Any]]:
    """Draw histories of one to five nodes with neighbors."""
    rng = np.random.default_rng(seed)
    connected = np.flatnonzero(graph.degrees)
    return [[graph.label(int(v)) for v in rng.choice(connected, rng.integers(1, 6))] for _ in range(count)]


def _rank_one_by_one(graph: Graph, histories: list[list[Any]]) -> None:
    for history in histories:
        pagerank(graph, history=history, tolerance=TOLERANCE)
