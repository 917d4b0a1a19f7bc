"""Options that commands share, and how a graph, a label or a walk is written on the command line."""

from __future__ import annotations

import csv
from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curiograph.errors import FileFormatError, UnknownNameError, UnknownNodeError, WalkError

if TYPE_CHECKING:
    from curiograph.graph.container import Graph

GraphArgument = Annotated[
    str,
    typer.Argument(
        metavar="GRAPH",
        help="Edge list (.tsv, .csv, .txt), .graphml, .gml, node-link .json, curiograph's .npz; "
        "or a toy: toy:library, toy:grid, toy:cycle.",
        show_default=False,
    ),
]
Directed = Annotated[bool, typer.Option("--directed", help="Read an edge list as directed.")]
Seed = Annotated[int, typer.Option(help="Same seed, same result.", min=0)]
Out = Annotated[
    Path | None, typer.Option(help="Also write the result to this file: .json, .csv or .md, .png, .svg, .pdf.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress, no remarks.")]
Agent = Annotated[str, typer.Option(help="random, max-degree, min-degree, greedy, beam or beam:WIDTH.")]
Reward = Annotated[str, typer.Option(help="igt (information gaps) or cpt (compressibility).")]
Steps = Annotated[int, typer.Option(help="Nodes to visit, the start included.")]
Fallback = Annotated[str, typer.Option(help="At a dead end: frontier (of the walk) or anywhere.")]

_LONGEST_LINE = 1 << 20


def open_graph(text: str, directed: bool = False) -> Graph:
    """The graph that an argument names: a file, or a toy."""
    from curiograph.graph import toys
    from curiograph.graph.read import read_graph

    if text.startswith("toy:"):
        made = {"library": toys.library, "grid": toys.grid, "cycle": toys.cycle, "complete": toys.complete}
        name = text.removeprefix("toy:")
        if name not in made:
            raise UnknownNameError(f"there is no toy graph {name!r}; the toys are {', '.join(made)}.")
        return made[name]()
    return read_graph(text, directed=True if directed else None)


def as_label(graph: Graph, text: str) -> Hashable:
    """The label that a text on the command line means: itself, or the number it spells."""
    if text in graph:
        return text
    for kind in (int, float):
        try:
            label = kind(text)
        except ValueError:
            continue
        if label in graph:
            return label
    by_text = {str(label): label for label in graph.names} if graph.num_nodes <= 100_000 else {}
    if text in by_text:
        return by_text[text]
    try:
        graph.position(text)
    except UnknownNodeError as error:
        raise error from None
    return text


def as_walk(graph: Graph, text: str, separator: str = ",") -> list[Hashable]:
    """Labels separated by commas; one that holds a comma goes in double quotes."""
    fields = next(csv.reader([text], delimiter=separator, skipinitialspace=True), [])
    labels = [as_label(graph, field.strip()) for field in fields if field.strip()]
    if not labels:
        raise WalkError(f"the walk {text!r} is empty; write labels separated by commas, as in --walk a,b,c.")
    return labels


def read_walks(graph: Graph, path: Path) -> list[list[Hashable]]:
    """One walk per line, labels separated by tabs, or semicolons, or commas; `#` starts a remark."""
    from curiograph.graph.storage import read_text

    walks = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        if len(line) > _LONGEST_LINE:
            raise FileFormatError(f"{path}, line {number}: is longer than a million characters; one walk per line.")
        separator = next((mark for mark in "\t;" if mark in line), ",")
        try:
            walks.append(as_walk(graph, line, separator))
        except UnknownNodeError as error:
            raise FileFormatError(f"{path}, line {number}: {error}") from None
    if not walks:
        raise FileFormatError(f"{path}: holds no walks; write one per line.")
    return walks
