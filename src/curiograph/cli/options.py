"""Options that commands share, and how a graph, a label or a walk is written on the command line."""

from __future__ import annotations

import csv
import os
from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curiograph.cli import completion
from curiograph.cli.output import print_remark
from curiograph.errors import FileFormatError, UnknownNameError, UnknownNodeError, WalkError

if TYPE_CHECKING:
    from curiograph.graph.graph import Graph
    from curiograph.human.trajectories import Trajectories

GraphArgument = Annotated[
    str,
    typer.Argument(
        metavar="GRAPH",
        help="Edge list (.tsv, .csv, .txt), .graphml, .gml, node-link .json, curiograph's .npz; "
        "a data set with a graph (wikispeedia); or a toy: toy:library, toy:grid, toy:cycle, toy:complete.",
        show_default=False,
        autocompletion=completion.complete_graphs,
    ),
]
GraphFile = Annotated[
    str | None, typer.Option(help="One graph, as for explore.", autocompletion=completion.complete_graphs)
]
Directed = Annotated[bool, typer.Option("--directed", help="Read an edge list as directed.")]
Seed = Annotated[int, typer.Option(help="Same seed, same result.", min=0)]
Out = Annotated[
    Path | None,
    typer.Option(
        help="Also write the result to this file: .json, .csv, or a picture (.png, .svg, .pdf) where there is one."
    ),
]
Plot = Annotated[Path | None, typer.Option(help="Draw the walk and its gaps: .png, .svg or .pdf.")]
Animate = Annotated[Path | None, typer.Option(help="Show the walk growing, node by node: .gif.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", envvar="CURIOGRAPH_QUIET", help="No progress, no remarks.")]
Agent = Annotated[
    str,
    typer.Option(
        help="random, max-degree, min-degree, greedy, beam, beam:WIDTH; trained: horizon, igt-rg, igt-rg-horizon, "
        "igt-rg-horizon+beam:8 and the like, or the folder of a training.",
        autocompletion=completion.complete_agents,
    ),
]
Reward = Annotated[
    str,
    typer.Option(help="igt (information gaps) or cpt (compressibility).", autocompletion=completion.complete_rewards),
]
Steps = Annotated[int, typer.Option(help="Nodes to visit, the start included.")]
Fallback = Annotated[
    str,
    typer.Option(
        help="At a dead end: frontier (of the walk) or anywhere.", autocompletion=completion.complete_fallbacks
    ),
]

Engine = Annotated[
    str,
    typer.Option(
        help="Who works: local, processes of this machine; or ray, a cluster.",
        autocompletion=completion.complete_engines,
    ),
]
Workers = Annotated[
    int | None, typer.Option(help="Tasks at a time; as many as pay off without it. The result is the same.", min=1)
]
Address = Annotated[
    str | None, typer.Option(help="Of a Ray cluster, as 10.0.0.1:6379; without it one is started here for the job.")
]
Run = Annotated[Path | None, typer.Option(help="Folder that keeps what is finished: a killed job goes on there.")]


def open_graph(text: str, directed: bool = False) -> Graph:
    """The graph that an argument names: a file, a toy, or a data set that is here and has one."""
    from curiograph.graph.io.read import read_graph
    from curiograph.graph.toys import TOYS

    if text.startswith("toy:"):
        name = text.removeprefix("toy:")
        if name not in TOYS:
            raise UnknownNameError(f"there is no toy graph {name!r}; the toys are {', '.join(TOYS)}.")
        return TOYS[name]()
    if not Path(text).exists() and _is_dataset(text):
        return _graph_of(text)
    graph = read_graph(text, directed=True if directed else None)
    cleaned = graph.cleaning
    if cleaned.self_loops or cleaned.parallel_edges:
        counts = f"{cleaned.self_loops} self-loops dropped, {cleaned.parallel_edges} parallel edges merged"
        print_remark(f"{text}: {counts}", quiet="CURIOGRAPH_QUIET" in os.environ)
    return graph


def _is_dataset(name: str) -> bool:
    from curiograph.human.data.registry import ALIASES, READERS, SOURCES

    return name in {*ALIASES, *READERS, *SOURCES}


def _graph_of(name: str) -> Graph:
    """The graph that people of a data set walked on."""
    from curiograph.human.data.load import find_dataset, load_dataset
    from curiograph.human.data.registry import ALIASES

    if find_dataset(ALIASES.get(name, name)) is None:
        raise FileFormatError(
            f"there is no file {name}, and the data set {name} is not on this machine; `curiograph data list` says how "
            "to get it. If it is in a folder of data sets, name that in CURIOGRAPH_DATA."
        )
    graph = load_dataset(name).graph
    if graph is None:
        raise FileFormatError(
            f"the data set {name} has walks but no graph; make one of them with curiograph.human.cooccurrence_graph, "
            "save it, and give its file."
        )
    return graph


def place_on_graph(walks: Trajectories, graph: Graph, path: str | Path, lenient: bool) -> Trajectories:
    """Walks of a file by the positions of a graph; a node that it lacks is refused, or left out if `lenient`."""
    try:
        return walks.on(graph, strict=not lenient)
    except UnknownNodeError as error:
        raise FileFormatError(f"{path}: {error} --lenient leaves such visits out.") from None


class LabelReader:
    """What texts on the command line, or in a file of walks, mean as labels of a graph."""

    def __init__(self, graph: Graph) -> None:
        from curiograph.graph.label_reader import LabelReader as GraphLabelReader

        self._graph = graph
        self.label = GraphLabelReader(graph).label

    def walk(self, text: str, separator: str = ",") -> list[Hashable]:
        """Labels between separators; between commas, one that holds a comma goes in double quotes."""
        fields = next(csv.reader([text], skipinitialspace=True), []) if separator == "," else text.split(separator)
        labels = [self.label(field.strip()) for field in fields if field.strip()]
        if not labels:
            raise WalkError(f"the list of nodes {text!r} is empty; write labels separated by commas, as in a,b,c.")
        return labels

    def walks(self, path: Path) -> list[list[Hashable]]:
        """One walk per line; `#` starts a remark. Tabs separate labels, or else semicolons, or else commas.

        A table of visits with a heading, which is no walk, is read as `read_trajectories` does.
        """
        from curiograph.files import read_text

        lines = [
            (number, line)
            for number, line in enumerate(read_text(path).split("\n"), start=1)
            if line.strip() and not line.startswith("#")
        ]
        separator = next((mark for mark in "\t;" if any(mark in line for _, line in lines)), ",")
        walks: list[list[Hashable]] = []
        for number, line in lines:
            try:
                walks.append([line.strip()] if line.strip() in self._graph else self.walk(line, separator))
            except (UnknownNodeError, WalkError) as error:
                if number == lines[0][0] and self._is_heading(path, number, line):
                    return self._walks_of_table(path)
                raise FileFormatError(f"{path}, line {number}: {error}") from None
        if not walks:
            raise FileFormatError(f"{path}: holds no walks; write one list of labels per line.")
        return walks

    @staticmethod
    def _is_heading(path: Path, number: int, line: str) -> bool:
        from curiograph.human.data.events import parse_header

        return parse_header(path, number, line) is not None

    def _walks_of_table(self, path: Path) -> list[list[Hashable]]:
        from curiograph.human.data.trajectory_file import read_trajectories

        walks = read_trajectories(path).walks
        try:
            return [[self.label(str(label)) for label in walks.labels(walk)] for walk in range(len(walks))]
        except UnknownNodeError as error:
            raise FileFormatError(f"{path}: {error}") from None
