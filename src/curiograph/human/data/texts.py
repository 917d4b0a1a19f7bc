"""`read_texts`: read a table of nodes and their texts."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import chain
from urllib.parse import unquote

from curiograph.errors import FileFormatError
from curiograph.files import PathLike, as_path, check_file
from curiograph.graph.graph import Graph
from curiograph.graph.label_reader import LabelReader
from curiograph.human.data.columns import split_fields
from curiograph.human.data.line_reader import STDIN, BadRows, describe_path, read_lines
from curiograph.messages import quote_value
from curiograph.skipped import Skipped

_NODE_TITLES = ("node", "label", "item", "page", "article", "title", "name", "id")


def read_texts(path: PathLike, graph: Graph, *, lenient: bool = False) -> dict[Hashable, str]:
    """Read texts about the nodes of a graph from a file with a node and its text in each line, plain or gzipped.

    Node and text are separated by the first tab or, in a file whose first row has no tab, by a comma; fields between
    commas may be in double quotes. Texts of a node in several lines are joined. A percent-encoded label is decoded if
    the graph has no such node. Lines that start with `#` are comments, and a first row that names its columns (node,
    label, item, page, article, title, name or id, and a second name) is a header.

    Parameters
    ----------
    path : str or path
        File to read; `-` is the standard input.
    graph : Graph
        Graph whose labels the file contains.
    lenient : bool
        Skip rows without a text and rows of unknown nodes instead of raising FileFormatError.

    Returns
    -------
    dict of labels to texts
        Texts of some or all nodes, for `Similarity.from_texts`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "texts.tsv"
    ...     _ = file.write_text("node\\ttext\\na\\tred apple\\nb%20c\\tpear\\na\\tfruit\\n")
    ...     read_texts(file, Graph.from_edges([("a", "b c")]))
    {'a': 'red apple fruit', 'b c': 'pear'}
    """
    return read_text_rows(path, graph, lenient=lenient)[0]


def read_text_rows(path: PathLike, graph: Graph, *, lenient: bool) -> tuple[dict[Hashable, str], Skipped]:
    """Return the texts as `read_texts` does, and the rows that were skipped."""
    file, bad_rows, reader = as_path(path), BadRows(), LabelReader(graph)
    shown = describe_path(file)
    rows = read_lines(file if file == STDIN else check_file(file), bad_rows)
    lines = ((number, line) for number, line in rows if not line.startswith("#"))
    head = next(lines, None)
    if head is None:
        bad_rows.finish(lenient)
        raise FileFormatError(f"{shown}: contains no texts; write a node, a tab and its text in each line.")
    has_tabs = "\t" in head[1]
    texts: dict[Hashable, str] = {}
    for number, line in chain([head], lines):
        fields = line.split("\t", 1) if has_tabs else split_fields(line, ",")
        node, *others = [field.strip() for field in fields or [""]]
        text = " ".join(other for other in others if other)
        position = reader.find(node)
        position = reader.find(unquote(node)) if position is None else position
        if fields is None:
            bad_rows.add(shown, number, "unmatched quotes", "its quotes do not match")
        elif position is None and number == head[0] and others and node.lower() in _NODE_TITLES:
            continue  # a header
        elif position is None:
            bad_rows.add(shown, number, "unknown node", f"the graph has no node {quote_value(node)}")
        elif not text:
            bad_rows.add(shown, number, "no text", f"has no text for the node {quote_value(node)}")
        else:
            label = graph.label(position)
            texts[label] = f"{texts[label]} {text}" if label in texts else text
    skipped = bad_rows.finish(lenient)
    if not texts:
        raise FileFormatError(f"{shown}: contains no text of a node of the graph; check the labels of both.")
    return texts, skipped
