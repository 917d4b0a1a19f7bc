"""Graphs and histories that the benchmarks use."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.graph.graph import Graph
from curiograph.graph.io.formats import read_graph
from curiograph.graph.labels import RangeLabels


def read_wikispeedia() -> Graph | None:
    """Read the links of Wikispeedia; None if CURIOGRAPH_DATA does not have them."""
    links = Path(os.environ.get("CURIOGRAPH_DATA", "")) / "wikispeedia" / "links.tsv"
    return read_graph(links, directed=True) if links.is_file() else None


def read_or_create_graph(seed: int, quick: bool = False) -> tuple[str, Graph]:
    """Return name and graph: Wikispeedia, or else a random graph of its size; a small one if `quick`."""
    if quick:
        return "uniform, directed, 100 nodes", create_random_graph(100, 500, seed, directed=True)
    if (wikispeedia := read_wikispeedia()) is not None:
        return "Wikispeedia", wikispeedia
    return "uniform, directed, of Wikispeedia's size", create_random_graph(4_600, 120_000, seed, directed=True)


def create_random_graph(nodes: int, edges: int, seed: int, *, directed: bool = False, power: float = 0.0) -> Graph:
    """Create a graph whose edges end at nodes drawn in proportion to 1 / rank^power."""
    rng = np.random.default_rng(seed)
    chances = np.cumsum(1 / np.arange(1, nodes + 1) ** power)
    place = rng.permutation(nodes)
    ends = [place[np.searchsorted(chances, rng.random(edges) * chances[-1])] for _ in range(2)]
    return Graph.from_arrays(ends[0], ends[1], directed=directed, names=RangeLabels(nodes))


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


def create_ring(nodes: int, degree: int, seed: int) -> Graph:
    """Create a ring of nodes linked to the nearest ones, of whose edges a tenth are rewired."""
    rng = np.random.default_rng(seed)
    source = np.repeat(np.arange(nodes), degree // 2)
    target = (source + np.tile(np.arange(1, degree // 2 + 1), nodes)) % nodes
    moved = rng.random(len(source)) < 0.1
    target[moved] = rng.integers(0, nodes, np.count_nonzero(moved))
    return Graph.from_arrays(source, target, names=RangeLabels(nodes)).skeleton


def draw_histories(graph: Graph, count: int, seed: int, size: int | None = 3) -> list[list[Any]]:
    """Draw histories of `size` distinct nodes with neighbors; with None, of one to five nodes, possibly repeated."""
    rng = np.random.default_rng(seed)
    connected = np.flatnonzero(graph.degrees)
    histories = []
    for _ in range(count):
        drawn = rng.choice(connected, rng.integers(1, 6)) if size is None else rng.choice(connected, size, False)
        histories.append([graph.label(int(v)) for v in drawn])
    return histories
