"""Edge lists: one edge per line, two names and optionally a weight; and adjacency matrices with labels.

Pyarrow reads plain files. A file in which it finds anything unusual (comments between edges, quotes, blanks around
names, a malformed line) is read again line by line, which finds the first bad line.
"""

from __future__ import annotations

import csv
import itertools
import math
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from curiograph.arrays import Float64, Int64
from curiograph.errors import FileFormatError, GraphError, quote_value, shorten_text
from curiograph.files import PathLike, check_file, check_text, open_atomic, wrap_parse_errors
from curiograph.graph.graph import Graph
from curiograph.graph.labels import IntegerLabels, Labels, RangeLabels, TextLabels

DELIMITERS = {".tsv": "\t", ".csv": ",", ".txt": " ", ".edges": " ", ".edgelist": " "}
"""Field delimiter by file extension; a space means any run of whitespace."""

_DELIMITER_NAMES = {"\t": "tabs", ",": "commas", " ": "blanks", ";": "semicolons"}
_HEADER = re.compile(
    "source target|src dst|src dest|from to|u v|node1 node2|node_1 node_2|source_id target_id|from_id to_id|"
    "fromnodeid tonodeid|head tail|cue target|cue response|word1 word2"
)
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)  # as Excel writes it
_DECIMAL_COMMA = re.compile("(?<=[0-9]),(?=[0-9])")
_MISSING = ("na", "n/a", "none", "null")  # in place of a weight; float parses nan and inf
_HEAD = 20  # lines that show the layout of a file
_NUMBER = re.compile(r"\+?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|-0+\.?0*")
_INTEGER = re.compile(r"-?[1-9][0-9]{0,17}|0")
_BLANKS = " \t\n\r\v\f"
_BOM = b"\xef\xbb\xbf"


Edges = tuple[Int64, Float64 | None, list[str]]
"""Pairs of numbers of names, the weights, and the names in order of appearance."""


@dataclass(frozen=True)
class Layout:
    """Layout of a file, found by its first lines."""

    delimiter: str
    """Delimiter of fields; a space means any run of whitespace."""
    begin: int
    """Number of the first line with an edge or with labels of a matrix."""
    has_header: bool
    """Whether a header precedes the first edge."""
    is_matrix: bool
    """Whether the file is a matrix with labels in the first row and the first column."""
    decimal: str
    """Decimal mark of weights."""


def read_edge_list(path: Path, directed: bool | None = None) -> Graph:
    """Read an edge list or an adjacency matrix with labels.

    The file extension determines the delimiter, unless no line has it and all have a semicolon, a tab or a comma.
    Blank lines, lines that start with `#` and a header are skipped. Labels are integers if all names are integers,
    otherwise text. Nodes are in order of first appearance, except that the integers 0 to n - 1 keep their natural
    order.
    """
    check_file(path)
    with wrap_parse_errors(path, "edge list"):
        with open(path, "rb") as stream:
            check_text(path, stream.read(8))
        layout = find_layout(path)
        if layout.is_matrix:
            return read_matrix(path, layout, directed)
        ends, weights, names = read_plain(path, layout) or read_lines(path, layout)
        if len(ends) == 0:
            raise FileFormatError(f"{path}: holds no edges, only blank lines, comments or a header.")
        labels: Labels
        if all(map(_INTEGER.fullmatch, names)):
            values = np.array(names, np.int64)
            labels = IntegerLabels(values)
            if values.min() == 0 and values.max() == len(values) - 1:  # distinct, so these are 0 to n - 1
                labels, ends = RangeLabels(len(values)), values[ends]
        else:
            labels = TextLabels.from_labels(names)
            # names are numbered in order of appearance: those of the first line are 0 and 1
            is_alone = len(ends) >= 3 and ends[0, 1] == 1 and ends[1:].min() > 1
            if is_alone and len(names) < ends.size and not layout.has_header:  # while other names are repeated
                warnings.warn(
                    f"{path}: {quote_value(names[0])} and {quote_value(names[1])} of the first line occur nowhere "
                    "else; if it is a header, delete the line or name it source, target.",
                    stacklevel=3,
                )
        graph = Graph.from_arrays(ends[:, 0], ends[:, 1], weights, directed=bool(directed), names=labels)
        both_ways = graph.cleaning.both_ways
        if directed is None and both_ways and (both_ways < graph.num_edges or weights is not None):
            effect = "are counted once" if weights is None else "have the sum of both weights"
            warnings.warn(
                f"{path}: {100 * both_ways / graph.num_edges:.3g} % of the links lead both ways and {effect}; give "
                "directed=True (--directed) if links have a direction.",
                stacklevel=3,
            )
        return graph


def find_layout(path: Path) -> Layout:
    """Return the layout of a file by its first lines that are neither blank nor comments."""
    with open(path, encoding="utf-8-sig", errors="replace", newline="\n") as stream:
        lines = ((number, line) for number, line in enumerate(stream, start=1) if not _is_comment(line))
        head = list(itertools.islice(lines, _HEAD))
    delimiter = DELIMITERS[path.suffix.lower()]
    named = _SEPARATOR_LINE.fullmatch(head[0][1]) if head else None
    if named:
        delimiter, head = named[1], head[1:]
    elif delimiter == "," and len({line.count(";") for _, line in head}) == 1 and ";" in head[0][1]:
        is_comma = all("," in _DECIMAL_COMMA.sub("", line) for _, line in head)
        delimiter = "," if is_comma else ";"
    elif head and not any(len(_split(line, delimiter)) > 1 for _, line in head):
        others = (other for other in ";\t," if all(other in line for _, line in head))
        delimiter = next(others, delimiter)
    rows = [[field.strip('"') for field in _split(line, delimiter)] for _, line in head]
    decimal = "," if delimiter == ";" and any("," in field for row in rows for field in row[2:]) else "."
    first, second = [*rows, [], []][:2]
    is_matrix = (
        delimiter != " "
        and len(first) == len(second) > 2
        and (first[0] == "" or len(first) > 3)
        and second[0] in first[1:]
        and all(_is_weight(field.lstrip("-") or "0", decimal) for field in second[1:])
    )
    has_weights = len(first) == len(second) == 3 and _is_weight(second[2], decimal)
    is_header = len(first) in (2, 3) and bool(_HEADER.fullmatch(" ".join(first[:2]).lower()))
    has_header = not is_matrix and (is_header or (has_weights and _is_title(first[2])))
    begin = head[has_header][0] if len(head) > has_header else (head[-1][0] + 1 if head else 1)
    return Layout(delimiter, begin, has_header, is_matrix, decimal)


def read_matrix(path: Path, layout: Layout, directed: bool | None) -> Graph:
    """Read a square matrix of weights with labels in the first row and the first column; blanks are no edges."""
    import pandas as pd

    table = pd.read_csv(
        path, sep=layout.delimiter, header=None, skiprows=layout.begin - 1, dtype=str, keep_default_na=False
    )
    cells = table.apply(lambda column: column.str.strip(_BLANKS))
    columns, rows = cells.iloc[0, 1:].tolist(), cells.iloc[1:, 0].tolist()
    if columns != rows:
        missing = next((name for name in [*columns, *rows] if name not in columns or name not in rows), None)
        differ = "are in different order" if missing is None else f"differ: {quote_value(missing)} is in one of them"
        raise FileFormatError(f"{path}: the labels of the rows and of the columns of the matrix {differ}.")
    texts = cells.iloc[1:, 1:].replace("", "0")
    matrix = texts.apply(lambda column: pd.to_numeric(column.str.replace(layout.decimal, "."), errors="coerce"))
    values = matrix.to_numpy(np.float64)
    if np.isnan(values).any():
        row, column = np.argwhere(np.isnan(values))[0].tolist()
        place = f"row {quote_value(rows[row])}, column {quote_value(columns[column])}"
        raise FileFormatError(f"{path}: {place}: {quote_value(texts.iat[row, column])} is not a number.")
    nodes = [int(name) for name in rows] if all(map(_INTEGER.fullmatch, rows)) else rows
    return Graph.from_scipy(values, directed=directed, nodes=nodes)


def read_plain(path: Path, layout: Layout) -> Edges | None:
    """Read a plain file by pyarrow; return None if anything is unusual."""
    import pandas as pd
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    delimiter = layout.delimiter
    if delimiter == " ":
        with open(path, encoding="utf-8-sig", errors="replace", newline="\n") as stream:
            if "\t" in next(itertools.islice(stream, layout.begin - 1, None), ""):
                delimiter = "\t"
    types = {"f0": pa.string(), "f1": pa.string(), "f2": pa.float64()}
    try:
        table = arrow_csv.read_csv(
            path,
            arrow_csv.ReadOptions(skip_rows=layout.begin - 1, autogenerate_column_names=True),  # f0, f1, ...
            arrow_csv.ParseOptions(delimiter=delimiter, quote_char=False),
            arrow_csv.ConvertOptions(column_types=types, null_values=[], decimal_point=layout.decimal),
        )
    except pa.ArrowInvalid:
        return None
    weights = table["f2"].to_numpy() if table.num_columns == 3 else None
    if table.num_columns not in (2, 3) or (weights is not None and not np.all(np.isfinite(weights) & (weights >= 0))):
        return None
    coded = pa.chunked_array([*table["f0"].chunks, *table["f1"].chunks]).dictionary_encode().combine_chunks()
    # the numbers of names are by column; renumber them line by line
    codes, order = pd.factorize(coded.indices.to_numpy().reshape(2, -1).T.ravel())
    names = coded.dictionary.take(pa.array(order)).to_pylist()
    if any(not name or name[0] == "#" or name != name.strip(_BLANKS) for name in names):
        return None
    text = "\n".join(names)
    if "\0" in text or (delimiter in ",;" and '"' in text):
        return None
    return codes.reshape(-1, 2), weights, names


def read_lines(path: Path, layout: Layout) -> Edges:
    """Read a file line by line; raise FileFormatError that describes the first bad line."""
    positions: dict[str, int] = {}
    ends: list[int] = []
    weights: list[float] = []
    for number, fields in split_lines(path, layout.delimiter):
        if number < layout.begin:
            continue
        if fault := find_fault(fields, layout, bool(weights) if ends else None):
            raise FileFormatError(f"{path}, line {number}: {fault}.")
        weights += [float(field.replace(layout.decimal, ".")) for field in fields[2:]]
        ends += [positions.setdefault(name, len(positions)) for name in fields[:2]]
    both = np.asarray(ends, np.int64).reshape(-1, 2)
    return both, np.asarray(weights) if weights else None, list(positions)


def split_lines(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of every line that is neither blank nor a comment."""

    def decode(number: int, line: bytes) -> str:
        try:
            text = (line.removeprefix(_BOM) if number == 1 else line).decode()
        except UnicodeDecodeError:
            raise FileFormatError(f"{path}, line {number}: is not UTF-8; save the file as UTF-8.") from None
        if "\0" in text:
            raise FileFormatError(f"{path}, line {number}: holds a NUL byte; this looks like a binary file.")
        return text

    with open(path, "rb") as stream:
        lines = enumerate(stream, start=1)
        for number, line in lines:
            text = decode(number, line)
            if _is_comment(text):
                continue
            if delimiter not in ",;" or '"' not in text:
                yield number, _split(text, delimiter)
                continue
            chained = itertools.chain([text], itertools.starmap(decode, lines))  # a quoted field may span lines
            try:
                record = next(csv.reader(chained, delimiter=delimiter, skipinitialspace=True, strict=True))
            except csv.Error as error:
                raise FileFormatError(f"{path}, line {number}: is not valid csv ({error}); check the quotes.") from None
            yield number, [field.strip(_BLANKS) for field in record]


def _split(line: str, delimiter: str) -> list[str]:
    if delimiter == " ":
        return [field for field in re.split(f"[{_BLANKS}]", line) if field]
    return [field.strip(_BLANKS) for field in line.split(delimiter)]


def _is_comment(line: str) -> bool:
    """Return whether a line is blank or a comment."""
    return line.lstrip(_BLANKS)[:1] in ("", "#")


def _is_weight(text: str, decimal: str) -> bool:
    text = text.replace(decimal, ".")
    return bool(_NUMBER.fullmatch(text)) and math.isfinite(float(text))


def _is_title(text: str) -> bool:
    """Return whether a text has letters and is neither a number nor a missing one."""
    try:
        float(text)
    except ValueError:
        return any(map(str.isalpha, text)) and text.lower() not in _MISSING
    return False


def find_fault(fields: list[str], layout: Layout, weighted: bool | None) -> str:
    """Describe what is wrong with a line, empty if nothing is; `weighted`: whether earlier lines have a weight."""
    if len(fields) not in (2, 3):
        return (
            f"has {len(fields)} field{'' if len(fields) == 1 else 's'} ({shorten_text(fields, 60)}); a line needs "
            f"2 (source, target) or 3 (with a weight), separated by "
            f"{_DELIMITER_NAMES.get(layout.delimiter, layout.delimiter)}"
        )
    if "" in fields[:2]:
        return f"the {'source' if fields[0] == '' else 'target'} has no name; fill it in or remove the line"
    if weighted is not None and weighted != (len(fields) == 3):
        return f"has {'no' if weighted else 'a'} weight, unlike earlier lines; give all lines a weight or none"
    if len(fields) == 3 and not _is_weight(fields[2], layout.decimal):
        return (
            f"the weight {shorten_text(repr(fields[2]), 60)} is not a finite number, zero or above; if this line is a "
            "header, call its first columns source and target"
        )
    return ""


def write_edge_list(graph: Graph, path: PathLike) -> None:
    """Write an edge list with a header; raise GraphError if it could not be read back."""
    delimiter = DELIMITERS[Path(path).suffix.lower()]
    source, target, weights = graph.get_edges()
    isolated = np.setdiff1d(np.arange(graph.num_nodes), np.concatenate([source, target]))
    if len(isolated) or len(source) == 0:
        found = f"node {graph.label(int(isolated[0]))!r} has no edges" if len(isolated) else "the graph has no edges"
        raise GraphError(f"{found}, which an edge list cannot hold; save the graph as .safetensors or .json.")
    names = []
    for label in graph.names:
        name = str(label)
        forbidden = {"\t": "\t", " ": " \t", ",": ""}[delimiter]
        is_plain = isinstance(label, str | int) and name == name.strip(_BLANKS) and name.isprintable()
        if not name or not is_plain or name.startswith("#") or any(character in forbidden for character in name):
            fault = f"the label {quote_value(label)} would not be read back from this edge list"
            raise GraphError(f"{fault}; save the graph as .safetensors or .json.")
        quoted = delimiter == "," and ("," in name or '"' in name)
        names.append('"' + name.replace('"', '""') + '"' if quoted else name)
    if len(set(names)) < len(names):
        raise GraphError("two labels are the same text in an edge list; save the graph as .safetensors or .json.")
    with open_atomic(path) as stream:
        columns = ["source", "target"] if weights is None else ["source", "target", "weight"]
        stream.write(f"{delimiter.join(columns)}\n".encode())
        values = itertools.repeat("") if weights is None else (f"{delimiter}{weight!r}" for weight in weights.tolist())
        for u, v, weight in zip(source.tolist(), target.tolist(), values, strict=False):
            stream.write(f"{names[u]}{delimiter}{names[v]}{weight}\n".encode())
