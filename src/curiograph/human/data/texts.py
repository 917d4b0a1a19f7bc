"""`read_texts`: read a table of nodes and their texts."""

from __future__ import annotations

import csv
from collections.abc import Hashable
from urllib.parse import unquote

from curiograph.errors import quote_value
from curiograph.files import PathLike
from curiograph.graph.graph import Graph
from curiograph.graph.label_reader import LabelReader
from curiograph.human.data.events import warn_skipped
from curiograph.human.data.text_source import TextSource
from curiograph.results import Problem, Skipped

_NODE_TITLES = ("node", "label", "item", "page", "article", "title", "name", "id")


def read_texts(path: PathLike, graph: Graph) -> dict[Hashable, str]:
    """Read texts about the nodes of a graph from a file with a node and its text in each line, plain or gzipped.

    Node and text are separated by the first tab or, in a file whose first row has no tab, by a comma. Texts of a node
    in several lines are joined. Lines that start with `#` and a header are skipped. Rows without a text and rows of
    unknown nodes are dropped; if they are more than 5 %, there is a warning. `Similarity.from_texts` takes it.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w+", suffix=".tsv") as file:
    ...     _ = file.write("node\\ttext\\na\\tred apple\\nb%20c\\tpear\\na\\tfruit\\n")
    ...     file.flush()
    ...     read_texts(file.name, Graph.from_edges([("a", "b c")]))
    {'a': 'red apple fruit', 'b c': 'pear'}
    """
    source, reader = TextSource(path), LabelReader(graph)
    texts: dict[Hashable, str] = {}
    problems: list[Problem] = []
    has_tabs = False
    for row, (number, line) in enumerate(source.lines()):
        has_tabs = "\t" in line if row == 0 else has_tabs
        fields = line.split("\t", 1) if has_tabs else next(csv.reader([line], skipinitialspace=True))
        node, *others = [field.strip() for field in fields]
        text = " ".join(other for other in others if other)
        position = reader.find(node)
        position = reader.find(unquote(node)) if position is None else position
        if position is not None and text:
            label = graph.label(position)
            texts[label] = f"{texts[label]} {text}" if label in texts else text
        elif row > 0 or not others or node.lower() not in _NODE_TITLES:  # else a header
            reason = "unknown node" if position is None else "no text"
            problems.append((reason, f"{source.name}, line {number}: {reason} {quote_value(node)}"))
    warn_skipped(Skipped.count_problems(problems), len(problems) + len(texts), source.name)
    return texts
