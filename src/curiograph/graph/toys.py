"""Small graphs for examples and tests, whose gaps are easy to count."""

from __future__ import annotations

import itertools

from curiograph.errors import SettingError
from curiograph.graph.graph import Graph


def cycle(nodes: int = 6) -> Graph:
    """A ring: one gap.

    >>> cycle(4)
    Graph(4 nodes, 4 edges, undirected)
    """
    if nodes < 3:
        raise SettingError(f"a cycle of {nodes} nodes does not exist; ask for 3 or more.")
    return Graph.from_edges([(i, (i + 1) % nodes) for i in range(nodes)])


def complete(nodes: int = 5) -> Graph:
    """A complete graph: no gaps, and maximal compressibility.

    >>> complete(4)
    Graph(4 nodes, 6 edges, undirected)
    """
    return Graph.from_edges(list(itertools.combinations(range(nodes), 2)), nodes=range(nodes))


def grid(rows: int = 4, columns: int = 4) -> Graph:
    """A lattice with labels `(row, column)`: every square is a gap.

    >>> grid(2, 3).labels[:2]
    [(0, 0), (0, 1)]
    """
    nodes = list(itertools.product(range(rows), range(columns)))
    right = [((r, c), (r, c + 1)) for r, c in nodes if c + 1 < columns]
    down = [((r, c), (r + 1, c)) for r, c in nodes if r + 1 < rows]
    return Graph.from_edges(right + down, nodes=nodes)


def library() -> Graph:
    """Twelve related subjects: a graph with text labels, two gaps and a dense region.

    >>> library().neighbors("music")
    ['mathematics', 'physics', 'dance', 'poetry']
    """
    return _link(_SUBJECTS)


_SUBJECTS = {
    "mathematics": "logic physics music",
    "logic": "philosophy computing",
    "computing": "mathematics physics",
    "physics": "music chemistry",
    "chemistry": "biology",
    "biology": "medicine philosophy",
    "medicine": "philosophy",
    "music": "dance",
    "dance": "poetry",
    "poetry": "music history",
    "history": "philosophy",
}
_ASSOCIATIONS = {
    "tea": "honey kettle cup milk lemon",
    "honey": "bee bread",
    "bee": "flower wax",
    "flower": "garden sun rainbow",
    "garden": "rain sun bee cat",
    "rain": "cloud umbrella rainbow",
    "cloud": "steam sea snow sun",
    "steam": "kettle train",
    "kettle": "fire",
    "fire": "candle bread winter",
    "candle": "wax light",
    "light": "sun window star lamp",
    "rainbow": "light sun",
    "sun": "lemon rain",
    "star": "night",
    "night": "moon cat lamp candle",
    "moon": "sea light",
    "sea": "salt sand",
    "sand": "glass",
    "glass": "window cup",
    "window": "rain cat",
    "cat": "milk",
    "milk": "cow butter cup",
    "cow": "garden",
    "butter": "bread",
    "bread": "salt",
    "snow": "winter",
    "winter": "tea night",
    "train": "night window",
}


def everyday() -> Graph:
    """Everyday things linked by association: the graph that the web page opens with.

    >>> everyday().neighbors("tea")
    ['honey', 'kettle', 'cup', 'milk', 'lemon', 'winter']
    """
    return _link(_ASSOCIATIONS)


def _link(neighbors: dict[str, str]) -> Graph:
    return Graph.from_edges([(node, other) for node, others in neighbors.items() for other in others.split()])


TOYS = {"library": library, "everyday": everyday, "grid": grid, "cycle": cycle, "complete": complete}
"""Toy graphs by the name after `toy:` on the command line."""
