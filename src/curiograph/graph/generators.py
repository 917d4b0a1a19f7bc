"""Random graphs of the paper's four families; sets of training, validation and test graphs, drawn or published.

=====  ==================  ===============================  ========================================
name   model               at 50 nodes (paper)              at another size n
=====  ==================  ===============================  ========================================
rg     random geometric    radius 0.25 in the unit square   the radius that keeps the mean degree
ws     Watts-Strogatz      k = 4, p = 0.1                   the same
ba     Barabasi-Albert     m = 4                            the same
er     Erdos-Renyi         p = 0.2                          p = 9.8 / (n - 1), at most 1
=====  ==================  ===============================  ========================================

Graphs are redrawn until they are connected. A large random geometric graph of constant mean degree is almost never
connected; above 100 nodes, only the points outside its largest component are redrawn until the graph is connected.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Int32, Int64
from curiograph.errors import FileFormatError, UnknownNameError, quote_value, shorten_text
from curiograph.files import PathLike
from curiograph.graph.graph import Graph
from curiograph.graph.io.formats import from_node_link, read_json
from curiograph.validation import check_integer, check_seed

_SIZE = 50  # nodes of the paper's graphs
_RADIUS = 0.25  # of "rg" at 50 nodes
_MAX_FULL_REDRAW = 100  # nodes; in larger "rg" graphs only points outside the largest component are redrawn
_MIN_NODES, _MAX_NODES = 5, 5_000
_MAX_DEGREE = 40  # mean of the nodes of a graph, for which there is memory; the families have about 10
_PARTS = ("train", "val", "test")


@dataclass(frozen=True)
class Split:
    """Training, validation and test graphs."""

    train: list[Graph]
    """Graphs to train on."""
    val: list[Graph]
    """Graphs to select the best checkpoint."""
    test: list[Graph]
    """Graphs to report results on."""
    origin: str | None = field(default=None, compare=False)
    """Python expression that creates these graphs, if known."""


def generate(family: str, nodes: int = 50, *, seed: int = 0) -> Graph:
    """Draw a connected random graph of one of the paper's families.

    Parameters
    ----------
    family : {"rg", "ws", "ba", "er"}
        "rg" (random geometric), "ws" (Watts-Strogatz), "ba" (Barabasi-Albert) or "er" (Erdos-Renyi).
    nodes : int
        Number of nodes, 5 to 5,000.
    seed : int
        The same seed gives the same graph.

    Returns
    -------
    Graph
        An undirected, unweighted graph with labels 0 to nodes - 1.

    Examples
    --------
    >>> generate("ws", nodes=50, seed=0)
    Graph(50 nodes, 100 edges, undirected)
    """
    return _draw(family, nodes, np.random.SeedSequence(check_seed(seed)))


def generate_split(
    family: str, nodes: int = 50, *, train: int = 100, val: int = 10, test: int = 10, seed: int = 0
) -> Split:
    """Draw training, validation and test graphs of a family.

    Parameters
    ----------
    family, nodes
        As for `generate`.
    train, val, test : int
        Number of graphs of each part.
    seed : int
        The same seed gives the same graphs; graph i of a part is the same for any number of graphs.

    Returns
    -------
    Split
        The graphs, as the lists `train`, `val` and `test`.

    Examples
    --------
    >>> sets = generate_split("ba", nodes=20, train=3, val=1, test=1, seed=0)
    >>> len(sets.train), sets.test[0]
    (3, Graph(20 nodes, 64 edges, undirected))
    """
    parts: dict[str, list[Graph]] = {}
    for part, (name, count) in enumerate({"train": train, "val": val, "test": test}.items()):
        number = check_integer(name, count, 0, "give a whole number of graphs, 0 or more")
        sequences = [np.random.SeedSequence(check_seed(seed), spawn_key=(part, i)) for i in range(number)]
        parts[name] = [_draw(family, nodes, sequence) for sequence in sequences]
    sizes = f"nodes={nodes}, train={train}, val={val}, test={test}, seed={seed}"
    return Split(**parts, origin=f"cg.generate_split({family!r}, {sizes})")


def read_split(path: PathLike) -> Split:
    """Read a published environment file.

    Parameters
    ----------
    path : str or path
        A JSON file `{"train": {id: graph}, "val": ..., "test": ...}` with graphs in node-link format. Attributes of
        nodes are ignored.

    Returns
    -------
    Split
        The graphs, ordered by id if all ids are integers, otherwise as in the file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> graph = '{"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1}]}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "tiny.json"
    ...     _ = path.write_text(f'{{"train": {{"0": {graph}}}, "val": {{}}, "test": {{}}}}')
    ...     read_split(path).train
    [Graph(2 nodes, 1 edges, undirected)]
    """
    document = read_json(path)
    if not isinstance(document, dict) or not all(part in document for part in _PARTS):
        raise FileFormatError(
            f"{path}: is not an environment file: expected an object with train, val and test, found "
            f"{quote_value(document)}; for a single graph use read_graph."
        )
    parts: dict[str, list[Graph]] = {}
    for part in _PARTS:
        graphs, where = document[part], f"{path}: {part}"
        if not isinstance(graphs, dict):
            raise FileFormatError(f"{where} is a {type(graphs).__name__}; expected an object of graphs by id.")
        ids = list(graphs)
        if all(re.fullmatch("[0-9]{1,18}", name) for name in ids):
            ids.sort(key=int)
        parts[part] = [from_node_link(graphs[name], f"{where} graph {shorten_text(name)}") for name in ids]
    return Split(**parts, origin=f"cg.read_split({str(path)!r})")


def _draw(family: str, nodes: int, sequence: np.random.SeedSequence) -> Graph:
    """Draw random bits until they are enough for a connected graph."""
    if not isinstance(family, str) or family not in FAMILIES:
        raise UnknownNameError(f"there is no family {family!r}; the families are {', '.join(FAMILIES)}.")
    limits = f"give a whole number from {_MIN_NODES} to {_MAX_NODES}"
    size = check_integer("nodes", nodes, _MIN_NODES, limits, _MAX_NODES)
    bits, words = np.random.PCG64(sequence), np.empty(0, np.uint64)
    while True:
        words = np.concatenate([words, bits.random_raw(max(16 * size, len(words)))])
        rows = _draw_rows(family, size, words)
        if rows is not None:
            return Graph(*rows)


def _draw_rows(family: str, size: int, words: NDArray[np.uint64]) -> tuple[Int64, Int32] | None:
    """Return the rows of a connected graph, or None if it needs more random bits."""
    models, state = kernels.random_graphs, np.array([0, -1])
    ends = np.empty((min(size * (size - 1) // 2, size * _MAX_DEGREE // 2), 2), np.int32)
    points, outside = np.empty((size, 2)), np.ones(size, bool)
    radius, p = find_radius(size), min(1.0, 0.2 * (_SIZE - 1) / (size - 1))
    while True:
        if family == "rg":
            count = models.draw_geometric(points, outside, radius, words, state, ends)
        elif family == "ws":
            count = models.draw_watts_strogatz(size, 0.1, words, state, ends)
        elif family == "ba":
            count = models.draw_barabasi_albert(size, words, state, ends)
        else:
            count = models.draw_erdos_renyi(size, p, words, state, ends)
        if state[0] > len(words):
            return None
        indptr, indices, num_outside = models.build_rows(ends, count, outside)
        if num_outside == 0:
            return indptr, indices
        if size <= _MAX_FULL_REDRAW:
            outside[:] = True


def find_radius(nodes: int) -> float:
    """Find the radius at which a graph of this size has the mean degree of 50 nodes at radius 0.25.

    Two random points of the unit square are within r <= 1 with probability pi r^2 - 8 r^3 / 3 + r^4 / 2.
    """

    def compute_probability(r: float) -> float:
        return math.pi * r**2 - 8 * r**3 / 3 + r**4 / 2

    if nodes == _SIZE:
        return _RADIUS
    target = min(0.97, compute_probability(_RADIUS) * (_SIZE - 1) / (nodes - 1))  # at r = 1 the probability is 0.975
    low, high = 0.0, 1.0
    for _ in range(60):  # bisection
        middle = (low + high) / 2
        low, high = (middle, high) if compute_probability(middle) < target else (low, middle)
    return low


FAMILIES = {"rg": "random geometric", "ws": "Watts-Strogatz", "ba": "Barabasi-Albert", "er": "Erdos-Renyi"}
"""Names of the models of the paper's families."""
