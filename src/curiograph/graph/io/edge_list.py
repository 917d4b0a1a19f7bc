"""Edge lists: one edge a line, two names and perhaps a weight. Parsed as bytes by a kernel, from a memory map."""

from __future__ import annotations

import csv
import math
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import FileFormatError, GraphError
from curiograph.files import PathLike, check_file, check_text, open_atomic
from curiograph.graph.convert import get_edge_arrays, get_text_labels
from curiograph.graph.graph import Graph
from curiograph.graph.labels import Bytes, IntegerLabels, Labels, RangeLabels, TextLabels
from curiograph.messages import quote_value, shorten_text

DELIMITERS = {".tsv": "\t", ".csv": ",", ".txt": " ", ".edges": " ", ".edgelist": " "}
"""What separates the fields, by ending; a blank stands for any run of blanks."""

_HEADERS = {
    ("source", "target"),
    ("src", "dst"),
    ("src", "dest"),
    ("from", "to"),
    ("u", "v"),
    ("node1", "node2"),
    ("node_1", "node_2"),
    ("source_id", "target_id"),
    ("from_id", "to_id"),
    ("fromnodeid", "tonodeid"),
    ("head", "tail"),
}
_BLANKS = " \t\n\r\v\f"
_BOM = b"\xef\xbb\xbf"
_LONGEST_LINE = 2**20
_LONGEST_NAME = 100_000
_PIECE = 2**24
_NUMBERS_AT_A_TIME = 65_536
_SURROGATE = re.compile("[\ud800-\udfff]")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def read_edge_list(path: Path, directed: bool | None = None) -> Graph:
    """Read an edge list; the ending says what separates the fields.

    Blank lines and lines that start with `#` are skipped, and so is a header such as `source target`. If all names are
    whole numbers, labels are numbers, otherwise text. Nodes come in order of first appearance, except that the numbers
    0 to n - 1 keep their natural order.
    """
    check_file(path)
    data = _mapped(path)
    check_text(path, data[:8].tobytes())
    text = _EdgeListText(path, data, DELIMITERS[path.suffix.lower()])
    ends, weights, texts = text.parse()
    names, numbers = _whole_numbers(texts)
    if numbers is not None:
        ends = numbers[ends]
    del text, data  # gives the pages of the file back before the rows are built
    try:
        return Graph.from_arrays(ends[:, 0], ends[:, 1], weights, directed=bool(directed), names=names)
    except FileFormatError:
        raise
    except GraphError as error:
        raise FileFormatError(f"{path}: {error}") from None


def write_edge_list(graph: Graph, path: PathLike) -> None:
    """Write an edge list with a header; raises where it could not be read back."""
    suffix = Path(path).suffix.lower()
    delimiter = DELIMITERS[suffix]
    alone = np.flatnonzero(graph.degrees + np.bincount(graph.indices, minlength=graph.num_nodes) == 0)
    if len(alone):
        raise GraphError(
            f"node {graph.label(int(alone[0]))!r} has no edges, and an edge list cannot hold it; "
            "save the graph as .npz or .json."
        )
    if graph.num_edges == 0:
        raise GraphError("the graph has no edges, so its edge list would be empty; save the graph as .npz or .json.")
    names = [_field(name, delimiter) for name in get_text_labels(graph, f"a {suffix} file")]
    source, target, weights = get_edge_arrays(graph)
    columns = ["source", "target"] if weights is None else ["source", "target", "weight"]
    with open_atomic(path) as stream:
        stream.write(f"{delimiter.join(columns)}\n".encode())
        for first in range(0, len(source), _NUMBERS_AT_A_TIME):
            part = slice(first, first + _NUMBERS_AT_A_TIME)
            pairs = zip(source[part].tolist(), target[part].tolist(), strict=True)
            lines = [f"{names[u]}{delimiter}{names[v]}" for u, v in pairs]
            if weights is not None:
                lines = [f"{line}{delimiter}{w!r}" for line, w in zip(lines, weights[part].tolist(), strict=True)]
            stream.write(("\n".join(lines) + "\n").encode())


class _EdgeListText:
    """The bytes of one edge list, and the sentences for what is wrong with them."""

    def __init__(self, path: Path, data: Bytes, delimiter: str) -> None:
        self.path = path
        self.data = data
        self.delimiter = delimiter
        self.code = kernels.text.WHITESPACE if delimiter == " " else ord(delimiter)

    def parse(self) -> tuple[Int32, Float64 | None, TextLabels]:
        """Numbers of the names at both ends of each edge, weights if any, and names in order of appearance."""
        text = kernels.text
        bom = len(_BOM) if self.data[:3].tobytes() == _BOM else 0
        lines, quotes, fault, place = text.scan_text(self.data, bom, _LONGEST_LINE)
        if fault != text.NO_FAULT:
            raise self.error(fault, place)
        if quotes and self.delimiter == ",":
            return self._parse_quoted(bom)
        start = self._after_header(bom)
        ends = np.empty((lines, 2), np.int32)
        weights, long = np.empty(lines), np.empty((3, lines), np.int64)  # pages that are never written cost nothing
        names = _Names()
        state = np.array([start, 0, 0, 0, 0, -1])
        while True:
            outcome = text.parse_edges(self.data, self.code, state, ends, weights, long, *names.arrays)
            if outcome not in (text.MORE_NAMES, text.MORE_TEXT):
                break
            names.grow(int(state[text.NAMES]), outcome == text.MORE_TEXT)
        self._read_long_numbers(weights, long[:, : state[text.LONG_WEIGHTS]])  # first: its faults are on earlier lines
        if outcome != text.NO_FAULT:
            raise self.error(outcome, int(state[text.POSITION]))
        if state[text.COMMENT] >= 0:
            self._warn_of_comment(int(state[text.COMMENT]))
        edges = state[text.EDGES]
        if edges == 0:
            raise FileFormatError(f"{self.path}: holds no edges, only blank lines, comments or a header.")
        return ends[:edges], weights[:edges] if state[text.WEIGHTED] else None, names.finished(state[text.NAMES])

    def _warn_of_comment(self, place: int) -> None:
        """Say that a line was taken for a comment that looks like an edge between hashtags."""
        fields = self._fields(self._line(place))
        if not _is_header([fields[0].lstrip("#"), *fields[1:]]):
            warnings.warn(
                f"{self.path}, line {self._line_number(place)}: starts with # and was taken for a comment, but looks "
                "like an edge; put such names in double quotes in a .csv, or use .json.",
                stacklevel=6,
            )

    def _line_number(self, place: int) -> int:
        before = range(0, place, _PIECE)
        return 1 + sum(int(np.count_nonzero(self.data[i : min(i + _PIECE, place)] == 10)) for i in before)

    def _after_header(self, start: int) -> int:
        """Where the edges begin: after the first line with content if that is a header."""
        place = start
        while place < len(self.data):
            line = self._line(place)
            content = line.strip(_BLANKS)
            if content and not content.startswith("#"):
                return self._line_end(place) + 1 if _is_header(self._fields(line)) else start
            place = self._line_end(place) + 1
        return start

    def _read_long_numbers(self, weights: Float64, long: Int64) -> None:
        """Read the weights of too many digits for the kernel, which only Python rounds correctly."""
        view = memoryview(self.data)  # type: ignore[arg-type]
        for first in range(0, long.shape[1], _NUMBERS_AT_A_TIME):
            rows, begins, ends = long[:, first : first + _NUMBERS_AT_A_TIME]
            spans = zip(begins.tolist(), ends.tolist(), strict=True)
            values = np.array([float(view[begin:end]) for begin, end in spans])
            bad = np.flatnonzero(~np.isfinite(values))
            if len(bad):
                raise self.error(kernels.text.BAD_WEIGHT, int(begins[bad[0]]))
            weights[rows] = values

    def _parse_quoted(self, start: int) -> tuple[Int32, Float64 | None, TextLabels]:
        """The same for a .csv with quoted fields, by the csv module; such files are rarely large."""
        positions: dict[str, int] = {}
        ends: list[int] = []
        weights: list[float] = []
        lines = _Lines(self.data[start:].tobytes().decode())
        records = csv.reader(lines, skipinitialspace=True, strict=True)
        first = True
        while True:
            lines.between_records = True
            try:
                record = next(records, None)
            except csv.Error as error:
                raise FileFormatError(
                    f"{self.path}, line {lines.record}: is not valid csv ({error}); check the quotes."
                ) from None
            if record is None:
                break
            fields = [field.strip(_BLANKS) for field in record]
            if first and _is_header(fields):
                first = False
                continue
            first = False
            fault = _record_fault(fields, len(ends) // 2, bool(weights))
            if fault != kernels.text.NO_FAULT:
                raise self.error_in(fault, lines.record, fields)
            if len(fields) == 3:
                weight = float(fields[2]) if _NUMBER.fullmatch(fields[2]) else math.nan
                if not (math.isfinite(weight) and weight >= 0):
                    raise self.error_in(kernels.text.BAD_WEIGHT, lines.record, fields)
                weights.append(weight)
            ends += [positions.setdefault(name, len(positions)) for name in fields[:2]]
        if not ends:
            raise FileFormatError(f"{self.path}: holds no edges, only blank lines, comments or a header.")
        both = np.asarray(ends, np.int32).reshape(-1, 2)
        names = TextLabels.from_labels(list(positions))
        return both, np.asarray(weights) if weights else None, names

    def error(self, fault: int, place: int) -> FileFormatError:
        """What a fault that a kernel found at a position means, and the way out."""
        line = self._line_number(place)
        text = kernels.text
        where = f"{self.path}, line {line}"
        if fault == text.BINARY:
            return FileFormatError(f"{where}: holds a NUL byte; this looks like a binary file, not an edge list.")
        if fault == text.NOT_UTF8:
            return FileFormatError(f"{where}: is not UTF-8; save the file with the encoding UTF-8.")
        if fault == text.LONG_LINE:
            return FileFormatError(f"{where}: is longer than 1 MiB; an edge list has one edge a line.")
        window = max(0, place - _LONGEST_LINE)
        begin = window + self.data[window:place].tobytes().rfind(b"\n") + 1
        return self.error_in(fault, line, self._fields(self._line(begin)))

    def error_in(self, fault: int, line: int, fields: list[str]) -> FileFormatError:
        """What is wrong with the fields of a line, and the way out."""
        text = kernels.text
        where = f"{self.path}, line {line}"
        kind = {"\t": "tabs", ",": "commas", " ": "blanks"}[self.delimiter]
        if fault in (text.FEW_FIELDS, text.MANY_FIELDS):
            found = f"{len(fields)} field{'' if len(fields) == 1 else 's'} ({shorten_text(fields, 60)})"
            return FileFormatError(
                f"{where}: has {found}; a line needs 2 (source, target) or 3 (with a weight), separated by {kind}."
            )
        if fault == text.EMPTY_NAME:
            side = "source" if fields[0] == "" else "target"
            return FileFormatError(f"{where}: the {side} has no name; fill it in or remove the line.")
        if fault == text.MIXED:
            state = (
                "a weight but earlier lines have none" if len(fields) == 3 else "no weight but earlier lines have one"
            )
            return FileFormatError(f"{where}: has {state}; give all lines a weight or none.")
        return FileFormatError(f"{where}: the weight {shorten_text(repr(fields[2]), 60)} {_weight_fault(fields[2])}.")

    def _line_end(self, place: int) -> int:
        """Position of the newline that ends the line of a text whose lines are known to be short."""
        for window in (4096, _LONGEST_LINE + 1):
            end = self.data[place : place + window].tobytes().find(b"\n")
            if end >= 0:
                return place + end
        return len(self.data)

    def _line(self, begin: int) -> str:
        return self.data[begin : self._line_end(begin)].tobytes().removeprefix(_BOM).decode()

    def _fields(self, line: str) -> list[str]:
        if self.delimiter == " ":
            return [field for field in re.split(f"[{_BLANKS}]", line) if field]
        return [field.strip(_BLANKS) for field in line.split(self.delimiter)]


class _Names:
    """Room for the names that the kernel finds: text, offsets, hashes, and the table that finds them again."""

    def __init__(self) -> None:
        blob, offsets = np.empty(2**16, np.uint8), np.zeros(2**12 + 1, np.int64)
        hashes, table = np.empty(2**12, np.uint64), np.zeros(2**14, np.uint64)
        self.arrays = blob, offsets, hashes, table

    def grow(self, count: int, text: bool) -> None:
        """Double the room for text, or for names after the first `count`."""
        blob, offsets, hashes, table = self.arrays
        if text:
            blob = np.concatenate([blob, np.empty_like(blob)])
        else:
            offsets = np.concatenate([offsets, np.empty_like(hashes, np.int64)])
            hashes = np.concatenate([hashes, np.empty_like(hashes)])
            table = kernels.text.build_table(hashes, count, 2 * len(table))
        self.arrays = blob, offsets, hashes, table

    def finished(self, count: int) -> TextLabels:
        """The first `count` names, without the room."""
        blob, offsets, _, _ = self.arrays
        return TextLabels(blob[: offsets[count]].copy(), offsets[: count + 1].copy())


class _Lines(Iterator[str]):
    """Lines of a text for the csv module; between records, blank lines and comments are left out."""

    def __init__(self, text: str) -> None:
        self._lines = iter(text.split("\n"))
        self._number = 0
        self.record = 0
        """Line where the latest record began."""
        self.between_records = True

    def __next__(self) -> str:
        while True:
            line = next(self._lines)
            self._number += 1
            content = line.strip(_BLANKS)
            if self.between_records:
                if not content or content.startswith("#"):
                    continue
                self.record = self._number
                self.between_records = False
            return f"{line}\n"


def _mapped(path: Path) -> Bytes:
    try:
        return np.memmap(path, np.uint8, "r").view(np.ndarray)
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read ({error.strerror}).") from None


def _is_header(fields: list[str]) -> bool:
    return len(fields) in (2, 3) and (fields[0].lower(), fields[1].lower()) in _HEADERS


def _record_fault(fields: list[str], edges: int, weighted: bool) -> int:
    text = kernels.text
    if len(fields) not in (2, 3):
        return text.FEW_FIELDS if len(fields) < 2 else text.MANY_FIELDS
    if "" in fields[:2]:
        return text.EMPTY_NAME
    return text.MIXED if edges and weighted != (len(fields) == 3) else text.NO_FAULT


def _weight_fault(text: str) -> str:
    if _NUMBER.fullmatch(text):
        state = "is negative" if text.startswith("-") else "is too large for a number"
        return f"{state}; weights must be finite numbers, zero or above"
    if text.lstrip("+-").lower() in ("nan", "inf", "infinity"):
        return "is not finite; weights must be finite numbers, zero or above"
    return "is not a number; if this line is a header, call its first columns source and target or start it with #"


def _whole_numbers(names: TextLabels) -> tuple[Labels, Int32 | None]:
    """Names as numbers where all of them are; for exactly 0 to n - 1, also the number of each name."""
    whole, values = kernels.text.parse_integers(names.blob, names.offsets)
    if not whole:
        return names, None
    size = len(values)
    if values.min() == 0 and values.max() == size - 1:  # distinct by construction, so nothing is missing in between
        return RangeLabels(size), values.astype(np.int32)
    return IntegerLabels(values), None


def _field(name: str, delimiter: str) -> str:
    """A name as a field of an edge list; raises for a name that would be read back as another, or not at all."""
    forbidden = {"\t": "\t\n\r\0", " ": f"{_BLANKS}\0", ",": "\0"}[delimiter]
    special = name.startswith("#") or any(character in ',"\n\r' for character in name)
    if (
        not name
        or name != name.strip(_BLANKS)
        or any(character in forbidden for character in name)
        or (name.startswith("#") and delimiter != ",")
        or len(name.encode(errors="replace")) > _LONGEST_NAME
        or _SURROGATE.search(name)
    ):
        raise GraphError(
            f"the label {quote_value(name)} would not be read back from this edge list: it is empty or very long, "
            "holds a separator, a line break or blanks at its ends, or starts with #; save the graph as .npz or .json."
        )
    return '"' + name.replace('"', '""') + '"' if special and delimiter == "," else name
