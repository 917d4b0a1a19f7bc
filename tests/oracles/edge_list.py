"""Reference implementation of the edge-list reader, line by line."""

from __future__ import annotations

import re

from curiograph.graph.graph import Graph

BLANKS = " \t\n\r\v\f"
NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
HEADERS = {("source", "target"), ("from", "to"), ("src", "dst"), ("u", "v"), ("node1", "node2")}


def parse_edge_list(data: bytes, delimiter: str) -> Graph | int:
    """Return the graph of an edge list without quotes, or the number of the first malformed line (0: no edges)."""
    edges: list[tuple] = []
    rows = []
    lines = [line for line in data.decode("utf-8-sig").split("\n") if line.strip(BLANKS)[:1] not in ("", "#")]
    if lines and not any(len(line.split() if delimiter == " " else line.split(delimiter)) > 1 for line in lines):
        delimiter = next((other for other in ";\t," if all(other in line for line in lines)), delimiter)
    for number, line in enumerate(data.decode("utf-8-sig").split("\n"), start=1):
        if not line.strip(BLANKS) or line.strip(BLANKS).startswith("#"):
            continue
        if delimiter == " ":
            fields = [field for field in re.split(f"[{BLANKS}]+", line) if field]
        else:
            fields = [field.strip(BLANKS) for field in line.split(delimiter)]
        rows.append((number, fields))
    first, second = [*(fields for _, fields in rows), [], []][:2]
    is_titled = len(first) == len(second) == 3 and first[2] == "x" and re.fullmatch(NUMBER, second[2])
    if is_titled and not 0 <= float(second[2]) < float("inf"):
        is_titled = False
    if is_titled or (len(first) in (2, 3) and tuple(field.lower() for field in first[:2]) in HEADERS):
        rows = rows[1:]
    for number, fields in rows:
        if len(fields) not in (2, 3) or "" in fields[:2] or (edges and len(edges[0]) != len(fields)):
            return number
        if len(fields) == 3:
            if not re.fullmatch(NUMBER, fields[2]):
                return number
            weight = float(fields[2])
            if not 0 <= weight < float("inf"):
                return number
            edges.append((fields[0], fields[1], weight))
        else:
            edges.append(tuple(fields))
    names = [name for edge in edges for name in edge[:2]]
    if not names:
        return 0
    if all(re.fullmatch("0|-?[1-9][0-9]*", name) and -(2**63) <= int(name) < 2**63 for name in names):
        edges = [(int(edge[0]), int(edge[1]), *edge[2:]) for edge in edges]
    return Graph.from_edges(edges)
