"""Edge lists: one edge per line, two names and optionally a weight.

The file is memory-mapped and parsed as bytes by `kernels.text`.
"""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import math
import re
import warnings
from pathlib import Path

import numpy as np

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import FileFormatError, GraphError
from curiograph.files import PathLike, check_file, check_text, open_atomic
from curiograph.graph.convert import chunk_edges, get_text_labels
from curiograph.graph.graph import Graph
from curiograph.graph.labels import Bytes, IntegerLabels, Labels, RangeLabels, TextLabels
from curiograph.messages import quote_value, shorten_text

DELIMITERS = {".tsv": "\t", ".csv": ",", ".txt": " ", ".edges": " ", ".edgelist": " "}
"""Field delimiter by file extension; a space means any run of whitespace."""

_DELIMITER_NAMES = {"\t": "tabs", ",": "commas", " ": "blanks"}
_HEADER = re.compile(
    "source target|src dst|src dest|from to|u v|node1 node2|node_1 node_2|source_id target_id|from_id to_id|"
    "fromnodeid tonodeid|head tail"
)
_BLANKS = " \t\n\r\v\f"
_SKIPPED_LINES = re.compile(rb"(?:[ \t\r\v\f]*+(?:#[^\n]*+)?\n)++")
"""Blank lines and comments: a file may have millions of them before its first edge."""
_BOM = b"\xef\xbb\xbf"
_MAX_LINE = 2**20
_MAX_NAME = 100_000
_CHUNK = 2**16
_SURROGATE = re.compile("[\ud800-\udfff]")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NEGATIVE = re.compile(r"-[0.]*[1-9].*")

Parsed = tuple[Int32, Float64 | None, TextLabels]
"""Numbers of the names of both ends of every edge, the weights if any, and the names in order of appearance."""


def read_edge_list(path: Path, directed: bool | None = None) -> Graph:
    """Read an edge list; the file extension determines the delimiter.

    Blank lines, lines that start with `#` and a header such as `source target` are skipped. Labels are integers if all
    names are integers, otherwise text. Nodes are in order of first appearance, except that the integers 0 to n - 1 keep
    their natural order.
    """
    check_file(path)
    try:
        data: Bytes = np.memmap(path, np.uint8, "r").view(np.ndarray)
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read ({error.strerror}).") from None
    check_text(path, data[:8].tobytes())
    parser = _Parser(path, data)
    ends, weights, names = parser.parse()
    if len(ends) == 0:
        raise FileFormatError(f"{path}: holds no edges, only blank lines, comments or a header.")
    labels: Labels = names
    first_line = parser.first_line
    integers, values = kernels.text.parse_integers(names.blob, names.offsets)
    if integers and values.min() == 0 and values.max() == len(values) - 1:  # distinct, so these are 0 to n - 1
        labels, ends = RangeLabels(len(values)), values.astype(np.int32)[ends]
    elif integers:
        labels = IntegerLabels(values)
    # names are numbered in order of appearance: those of the first line are 0 and 1
    may_be_header = not integers and first_line is not None and len(ends) >= 3 and ends[0, 1] == 1
    if may_be_header and len(names) < ends.size and ends[1:].min() > 1:  # some name is repeated, but neither of these
        warnings.warn(
            f"{path}, line {first_line}: {quote_value(names[0])} and {quote_value(names[1])} occur nowhere else; if "
            "this is a header, delete the line or name it source, target.",
            stacklevel=3,
        )
    del parser, data  # unmaps the file before the rows are built
    try:
        return Graph.from_arrays(ends[:, 0], ends[:, 1], weights, directed=bool(directed), names=labels)
    except GraphError as error:
        raise FileFormatError(f"{path}: {error}") from None


class _Parser:
    """Parses the bytes of one edge list."""

    def __init__(self, path: Path, data: Bytes) -> None:
        self.path = path
        self.data = data
        self.delimiter = DELIMITERS[path.suffix.lower()]
        self.begin = len(_BOM) if data[:3].tobytes() == _BOM else 0
        self.first_line: int | None = None
        """Number of the line of the first edge if there is no header before it."""

    def parse(self) -> Parsed:
        lines, quotes = self._scan()
        if quotes and self.delimiter == ",":
            return self._parse_quoted()
        code = kernels.text.WHITESPACE if self.delimiter == " " else ord(self.delimiter)
        bad_line, comment, weighted, ends, weights, spans, blob, offsets = kernels.text.parse_edges(
            self.data, self._skip_header(), lines, code
        )
        if weighted:
            self._parse_long_weights(weights, spans)  # before `bad_line`: these are on earlier lines
        if bad_line >= 0:
            fields = self._split(self._read_line(bad_line))
            raise self._make_error(bad_line, self._find_fault(fields, weighted if len(ends) else None))
        if comment >= 0:
            first, *others = self._split(self._read_line(comment))
            if not _is_header([first.lstrip("#"), *others]):
                warnings.warn(
                    f"{self.path}, line {self._count_lines(comment)}: starts with # and was taken for a comment, but "
                    "looks like an edge; put such names in double quotes in a .csv, or use .json.",
                    stacklevel=4,
                )
        return ends, weights if weighted else None, TextLabels(blob, offsets)

    def _scan(self) -> tuple[int, bool]:
        """Check the encoding and the length of lines; return the number of lines and whether there are quotes."""
        lines, quotes, begin = 1, False, self.begin
        while begin < len(self.data):
            window = self.data[begin : begin + _MAX_LINE + 1].tobytes()  # begins with a line
            last = begin + len(window) == len(self.data)
            chunk = window if last else window[: window.rfind(b"\n") + 1] or window
            faults = {chunk.find(b"\0"): "holds a NUL byte; this looks like a binary file, not an edge list"}
            try:
                codecs.getincrementaldecoder("utf-8")().decode(chunk, last)
            except UnicodeDecodeError as error:
                faults[error.start] = "is not UTF-8; save the file with the encoding UTF-8"
            found = min((place for place in faults if place >= 0), default=-1)
            if found >= 0:
                raise self._make_error(begin + found, faults[found])
            if len(chunk.rpartition(b"\n")[2]) > _MAX_LINE:
                raise self._make_error(begin, "is longer than 1 MiB; an edge list has one edge per line")
            lines += chunk.count(b"\n")
            quotes = quotes or b'"' in chunk
            begin += len(chunk)
        return lines, quotes

    def _skip_header(self) -> int:
        """Return the position of the line after the header, or of the first line if there is no header."""
        position = self.begin
        while position < len(self.data):
            window = self.data[position : position + _MAX_LINE + 1].tobytes()
            skipped = _SKIPPED_LINES.match(window)
            if skipped is not None and skipped.end() > 0:
                position += skipped.end()
                continue
            line = self._read_line(position)
            content = line.strip(_BLANKS)
            is_edge = bool(content) and not content.startswith("#")
            if is_edge and not _is_header(self._split(line)):
                self.first_line = self._count_lines(position)
                return self.begin
            position += len(line.encode()) + 1
            if is_edge:
                return position
        return self.begin

    def _parse_long_weights(self, weights: Float64, spans: Int64) -> None:
        """Parse the weights with too many digits for the kernel, which Python rounds correctly."""
        view = memoryview(self.data)  # type: ignore[arg-type]
        rows = np.flatnonzero(np.isnan(weights))
        for first in range(0, len(rows), _CHUNK):
            part = rows[first : first + _CHUNK]
            values = np.array([float(view[begin:end]) for begin, end in spans[part].tolist()])
            infinite = np.flatnonzero(np.isinf(values))
            if len(infinite):
                begin, end = spans[part[infinite[0]]]
                raise self._make_error(begin, _find_weight_fault(self.data[begin:end].tobytes().decode()))
            weights[part] = values

    def _parse_quoted(self) -> Parsed:
        """Parse a .csv with quoted fields by the csv module; such files are rarely large."""
        positions: dict[str, int] = {}
        ends: list[int] = []
        weights: list[float] = []
        text = io.TextIOWrapper(io.BytesIO(self.data[self.begin :].tobytes()), encoding="utf-8", newline="\n")
        lines = enumerate(text, start=1)
        first, has_header = True, False
        for number, line in lines:
            if not line.strip(_BLANKS) or line.strip(_BLANKS).startswith("#"):
                continue
            rest = (continued for _, continued in lines)  # a quoted field may extend over several lines
            try:
                record = next(csv.reader(itertools.chain([line], rest), skipinitialspace=True, strict=True))
            except csv.Error as error:
                raise FileFormatError(
                    f"{self.path}, line {number}: is not valid csv ({error}); check the quotes."
                ) from None
            fields = [field.strip(_BLANKS) for field in record]
            is_header, first = first and _is_header(fields), False
            if is_header:
                has_header = True
                continue
            if not ends and not has_header:
                self.first_line = number
            fault = self._find_fault(fields, bool(weights) if ends else None)
            if fault:
                raise FileFormatError(f"{self.path}, line {number}: {fault}.")
            weights += [float(field) for field in fields[2:]]
            ends += [positions.setdefault(name, len(positions)) for name in fields[:2]]
        both = np.asarray(ends, np.int32).reshape(-1, 2)
        return both, np.asarray(weights) if weights else None, TextLabels.from_labels(list(positions))

    def _find_fault(self, fields: list[str], weighted: bool | None) -> str:
        """Describe what is wrong with a line, empty if nothing is; `weighted`: whether earlier lines have a weight."""
        if len(fields) not in (2, 3):
            return (
                f"has {len(fields)} field{'' if len(fields) == 1 else 's'} ({shorten_text(fields, 60)}); a line needs "
                f"2 (source, target) or 3 (with a weight), separated by {_DELIMITER_NAMES[self.delimiter]}"
            )
        if "" in fields[:2]:
            return f"the {'source' if fields[0] == '' else 'target'} has no name; fill it in or remove the line"
        if weighted is False and len(fields) == 3:
            return "has a weight but earlier lines have none; give all lines a weight or none"
        if weighted and len(fields) == 2:
            return "has no weight but earlier lines have one; give all lines a weight or none"
        return _find_weight_fault(fields[2]) if len(fields) == 3 else ""

    def _make_error(self, position: int, fault: str) -> FileFormatError:
        return FileFormatError(f"{self.path}, line {self._count_lines(position)}: {fault}.")

    def _count_lines(self, position: int) -> int:
        """Return the line number of a position."""
        chunks = (self.data[begin : min(begin + _MAX_LINE, position)] for begin in range(0, position, _MAX_LINE))
        return 1 + sum(chunk.tobytes().count(b"\n") for chunk in chunks)

    def _read_line(self, position: int) -> str:
        """Return the line that begins at a position of a scanned text."""
        for window in (4096, _MAX_LINE + 1):
            line, newline, _ = self.data[position : position + window].tobytes().partition(b"\n")
            if newline:
                break
        return line.decode()

    def _split(self, line: str) -> list[str]:
        if self.delimiter == " ":
            return [field for field in re.split(f"[{_BLANKS}]", line) if field]
        return [field.strip(_BLANKS) for field in line.split(self.delimiter)]


def _is_header(fields: list[str]) -> bool:
    return len(fields) in (2, 3) and bool(_HEADER.fullmatch(" ".join(fields[:2]).lower()))


def _find_weight_fault(text: str) -> str:
    """Describe what is wrong with a weight; return an empty string if nothing is."""
    fix = "weights must be finite numbers, zero or above"
    if text.lstrip("+-").lower() in ("nan", "inf", "infinity"):
        fault = "is not finite"
    elif not _NUMBER.fullmatch(text):
        fault = "is not a number"
        fix = "if this line is a header, call its first columns source and target or start it with #"
    elif _NEGATIVE.fullmatch(text):
        fault = "is negative"
    elif math.isinf(float(text)):
        fault = "is too large for a number"
    else:
        return ""
    return f"the weight {shorten_text(repr(text), 60)} {fault}; {fix}"


def write_edge_list(graph: Graph, path: PathLike) -> None:
    """Write an edge list with a header; raise GraphError if it could not be read back."""
    suffix = Path(path).suffix.lower()
    delimiter = DELIMITERS[suffix]
    _, neighbors, _ = graph.transition.out_rows
    isolated = np.flatnonzero(graph.degrees + np.bincount(neighbors, minlength=graph.num_nodes) == 0)
    if len(isolated):
        raise GraphError(
            f"node {graph.label(int(isolated[0]))!r} has no edges, and an edge list cannot hold it; "
            "save the graph as .npz or .json."
        )
    if len(neighbors) == 0:
        raise GraphError("the graph has no edges, so its edge list would be empty; save the graph as .npz or .json.")
    names = [_format_name(name, delimiter) for name in get_text_labels(graph, f"a {suffix} file")]
    columns = ["source", "target"] if graph.weights is None else ["source", "target", "weight"]
    with open_atomic(path) as stream:
        stream.write(f"{delimiter.join(columns)}\n".encode())
        for edges in chunk_edges(graph):
            lines = [
                f"{names[u]}{delimiter}{names[v]}{'' if w is None else f'{delimiter}{w!r}'}\n" for u, v, w in edges
            ]
            stream.write("".join(lines).encode())


def _format_name(name: str, delimiter: str) -> str:
    """Format a name as a field of an edge list; raise GraphError if it would not be read back as the same name."""
    forbidden = {"\t": "\t\n\r\0", " ": f"{_BLANKS}\0", ",": "\0"}[delimiter]
    if (
        not name
        or name != name.strip(_BLANKS)
        or any(character in forbidden for character in name)
        or (name.startswith("#") and delimiter != ",")
        or len(name.encode(errors="replace")) > _MAX_NAME
        or _SURROGATE.search(name)
    ):
        raise GraphError(
            f"the label {quote_value(name)} would not be read back from this edge list: it is empty or very long, "
            "contains a separator or a line break, starts or ends with whitespace, or starts with #; save the graph as "
            ".npz or .json."
        )
    quoted = delimiter == "," and (name.startswith("#") or any(character in ',"\n\r' for character in name))
    return '"' + name.replace('"', '""') + '"' if quoted else name
