"""Shared options of the commands, and readers of graphs, labels and walks given on the command line."""

from __future__ import annotations

import csv
import os
from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curiograph.cli import completion
from curiograph.cli.output import print_remark
from curiograph.errors import FileFormatError, SettingError, UnknownNameError, UnknownNodeError, WalkError

if TYPE_CHECKING:
    from curiograph.graph.graph import Graph
    from curiograph.human.trajectories import Trajectories

GraphArgument = Annotated[
    str,
    typer.Argument(
        metavar="GRAPH",
        help="Edge list (.tsv, .csv, .txt), .graphml, .gml, node-link .json or curiograph's .npz; "
        "a dataset with a graph (wikispeedia); or a toy graph: toy:library, toy:grid, toy:cycle, toy:complete.",
        show_default=False,
        autocompletion=completion.complete_graphs,
    ),
]
GraphFile = Annotated[
    str | None, typer.Option(help="A single graph, as for explore.", autocompletion=completion.complete_graphs)
]
Directed = Annotated[bool, typer.Option("--directed", help="Read an edge list as directed.")]
Seed = Annotated[int, typer.Option(help="Random seed; the same seed gives the same result.", min=0)]
Out = Annotated[
    Path | None,
    typer.Option(help="File for the result: .json, .csv, or a picture (.png, .svg, .pdf) if the command draws one."),
]
Plot = Annotated[Path | None, typer.Option(help="File for a picture of the walk and its gaps: .png, .svg or .pdf.")]
Animate = Annotated[Path | None, typer.Option(help="File for an animation of the walk, node by node: .gif.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", envvar="CURIOGRAPH_QUIET", help="Print no progress and no remarks.")]
Agent = Annotated[
    str,
    typer.Option(
        help="random, max-degree, min-degree, greedy, beam, beam:WIDTH; a trained agent: planner, planner:WIDTH, "
        "horizon, igt-rg, igt-rg-horizon, igt-rg-horizon+beam:8, ...; or the output folder of curiograph train.",
        autocompletion=completion.complete_agents,
    ),
]
Reward = Annotated[
    str,
    typer.Option(help="igt (information gaps) or cpt (compressibility).", autocompletion=completion.complete_rewards),
]
Steps = Annotated[int, typer.Option(help="Number of nodes to visit, including the start.")]
Fallback = Annotated[
    str,
    typer.Option(
        help="Candidates at a dead end: frontier (neighbors of the walk) or anywhere.",
        autocompletion=completion.complete_fallbacks,
    ),
]
Engine = Annotated[
    str,
    typer.Option(help="Execution backend: local (processes) or ray.", autocompletion=completion.complete_engines),
]
Workers = Annotated[
    int | None,
    typer.Option(help="Number of parallel tasks; does not change the result. Default: chosen automatically.", min=1),
]
Address = Annotated[
    str | None,
    typer.Option(help="Address of a Ray cluster, such as 10.0.0.1:6379. Default: start one on this machine."),
]
Run = Annotated[
    Path | None, typer.Option(help="Folder for finished tasks; rerun the command to resume an interrupted job.")
]
History = Annotated[str | None, typer.Option(help="Labels of visited nodes, separated by commas.")]
Histories = Annotated[Path | None, typer.Option(help="File with one history per line.")]
Alpha = Annotated[float, typer.Option(help="Probability of continuing instead of teleporting, from 0 to below 1.")]
Greediness = Annotated[
    float, typer.Option("--p-g", help="0: always the agent's best candidate; 1: a uniformly random candidate.")
]
Count = Annotated[int, typer.Option("-k", "--count", help="Number of nodes to show.")]


def parse_numbers(option: str, text: str) -> list[float]:
    """Parse numbers separated by commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise SettingError(f"{option} is {text!r}; write numbers separated by commas.") from None


def open_graph(text: str, directed: bool = False) -> Graph:
    """Open the graph that an argument names: a file, a toy graph, or the graph of an installed dataset."""
    from curiograph.graph.io.read import read_graph
    from curiograph.graph.toys import TOYS

    if text.startswith("toy:"):
        name = text.removeprefix("toy:")
        if name not in TOYS:
            raise UnknownNameError(f"there is no toy graph {name!r}; the toys are {', '.join(TOYS)}.")
        return TOYS[name]()
    if not Path(text).exists():
        from curiograph.human.data.registry import ALIASES, READERS, SOURCES

        if text in {*ALIASES, *READERS, *SOURCES}:
            return _open_dataset_graph(text)
    graph = read_graph(text, directed=True if directed else None)
    cleaning = graph.cleaning
    if cleaning.self_loops or cleaning.parallel_edges:
        counts = f"{cleaning.self_loops} self-loops dropped, {cleaning.parallel_edges} parallel edges merged"
        print_remark(f"{text}: {counts}", quiet="CURIOGRAPH_QUIET" in os.environ)
    return graph


def _open_dataset_graph(name: str) -> Graph:
    from curiograph.human.data.load import find_dataset, load_dataset
    from curiograph.human.data.registry import ALIASES

    if find_dataset(ALIASES.get(name, name)) is None:
        raise FileFormatError(
            f"there is no file {name}, and the dataset {name} is not on this machine; see `curiograph data list` "
            "for how to get it. If it is in a folder of datasets, set CURIOGRAPH_DATA to that folder."
        )
    graph = load_dataset(name).graph
    if graph is None:
        raise FileFormatError(
            f"the dataset {name} has walks but no graph; create one with curiograph.human.cooccurrence_graph, "
            "save it, and give its file."
        )
    return graph


def place_on_graph(walks: Trajectories, graph: Graph, path: str | Path, lenient: bool) -> Trajectories:
    """Map the walks of a file to nodes of a graph; raise for unknown nodes, or drop them if `lenient`."""
    try:
        return walks.on(graph, strict=not lenient)
    except UnknownNodeError as error:
        raise FileFormatError(f"{path}: {error} Give --lenient to drop such visits.") from None


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
