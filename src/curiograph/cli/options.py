"""Shared options of the commands, and readers of graphs, labels and walks given on the command line."""

from __future__ import annotations

import csv
import os
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curiograph.cli import completion
from curiograph.cli.output import print_remark
from curiograph.errors import FileFormatError, SettingError, UnknownNameError, UnknownNodeError, WalkError

if TYPE_CHECKING:
    from curiograph.graph.graph import Graph
    from curiograph.graph.similarity import Similarity
    from curiograph.human.trajectories import Trajectories
    from curiograph.skipped import Skipped

GraphArgument = Annotated[
    str,
    typer.Argument(
        metavar="GRAPH",
        help="Edge list (.tsv, .csv, .txt), .graphml, .gml, .gexf, node-link .json, .mat or curiograph's .npz; "
        "a dataset with a graph (wikispeedia); or a toy graph: toy:library, toy:everyday, toy:grid, toy:cycle, "
        "toy:complete.",
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
        "igt-rg, igt-rg-planner, ...; or the output folder of curiograph train.",
        autocompletion=completion.complete_agents,
    ),
]
Reward = Annotated[
    str,
    typer.Option(
        help="igt (information gaps), cpt (compressibility), cct (conformational change), or a weighted sum such as "
        "igt+0.5*cpt.",
        autocompletion=completion.complete_rewards,
    ),
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
UserColumn = Annotated[
    str | None, typer.Option("--user", help="Column of the user in a table of events. Default: found by its name.")
]
ItemColumn = Annotated[
    str | None, typer.Option("--item", help="Column of the visited page or item. Default: found by its name.")
]
TimeColumn = Annotated[
    str | None,
    typer.Option("--time", help="Column of the time: epoch seconds or ISO dates. Default: found by its name."),
]
SessionColumn = Annotated[
    str | None, typer.Option("--session", help="Column of the session. Default: found by its name.")
]
Keep = Annotated[
    list[str] | None,
    typer.Option("--keep", help="Column with a value per user to keep in the result, as a group; may be repeated."),
]
ItemGraph = Annotated[
    str,
    typer.Option(
        "--item-graph",
        help="Links of items: knn (the nearest items of each), highest (the most similar pairs of all) or nearest.",
        autocompletion=completion.complete_item_graphs,
    ),
]
Neighbors = Annotated[
    int | None, typer.Option(help="Number of nearest items of each item, for knn. Default: 10.", min=1)
]
MeanDegree = Annotated[
    float | None, typer.Option(help="Mean degree of the item graph, for highest and nearest. Default: 16.")
]
SessionGap = Annotated[
    str | None,
    typer.Option(help="Start a new session after a longer gap between two events of a user: 30min, 2h, 45s, 1d."),
]
NoHeader = Annotated[
    bool, typer.Option("--no-header", help="The first line is a walk, even if it looks like a header.")
]
Lenient = Annotated[
    bool, typer.Option("--lenient", help="Drop bad rows and visits of unknown nodes, and report their number.")
]
Texts = Annotated[
    Path | None,
    typer.Option(help="File with a node, a tab and a text about it in each line, to compare nodes by meaning."),
]
History = Annotated[str | None, typer.Option(help="Labels of visited nodes, separated by commas.")]
Histories = Annotated[
    Path | None, typer.Option(help="File with one history per line, or a table of events; - reads stdin.")
]
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
        counts = (
            f"{cleaning.self_loops} self-loops kept for random walks only, {cleaning.parallel_edges} parallel edges "
            "added to the weights"
        )
        print_remark(f"{text}: {counts}", quiet="CURIOGRAPH_QUIET" in os.environ)
    return graph


def compile_kernels(graph: str, task: str) -> None:
    """Compile the kernels of a task, and those that read a list of edges, on their first use."""
    from curiograph.graph.io.edge_list import DELIMITERS
    from curiograph.kernels.ahead import compile_ahead

    compile_ahead(*(["read"] if Path(graph).suffix.lower() in DELIMITERS else []), task)


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
            f"the dataset {name} has walks but no graph; create one with `curiograph graph {name} --out "
            "items.npz`, and give its file."
        )
    return graph


def read_people(
    path: Path, graph: Graph, *, lenient: bool, no_header: bool = False, keep_unknown: bool = False, **table: Any
) -> Trajectories:
    """Read the walks of people from a file, or from stdin if it is `-`; `table` is as for `read_trajectories`.

    Raise FileFormatError for a node that is not in the graph, unless `lenient` or `keep_unknown`.
    """
    from curiograph.human.data.trajectory_file import read_trajectories

    header = False if no_header else None
    keep = table.pop("keep", None) or ()
    walks = read_trajectories(path, graph=graph, lenient=lenient, header=header, keep=keep, **table).walks
    check_nodes(walks, graph, path, lenient or keep_unknown)
    return walks


def read_similarity(path: Path, graph: Graph, quiet: bool, *, lenient: bool) -> Similarity:
    """Read texts about nodes from a file, and compare the nodes by them; print how many nodes have none."""
    from curiograph.graph.similarity import Similarity
    from curiograph.human.data.texts import read_text_rows

    texts, skipped = read_text_rows(path, graph, lenient=lenient)
    if len(texts) < graph.num_nodes or skipped:
        left_out = f"; rows left out: {skipped}" if skipped else ""
        print_remark(f"{path}: {len(texts):,} of {graph.num_nodes:,} nodes have a text{left_out}", quiet)
    return Similarity.from_texts(graph, texts)


def read_histories(path: Path, graph: Graph, quiet: bool, *, lenient: bool, **table: Any) -> Trajectories:
    """Read histories as walks on a graph; those without a node of the graph are left out if `lenient`."""
    people = read_people(path, graph, lenient=lenient, **table).on(graph)
    show_skipped(people.skipped, quiet)
    kept = people.at_least(1)
    if not len(kept):
        raise FileFormatError(
            f"{_show_path(path)}: none of the {len(people)} histories has a node of the graph; check the labels."
        )
    return kept


def check_nodes(walks: Trajectories, graph: Graph, path: str | Path, lenient: bool) -> None:
    """Raise FileFormatError with the line of the first node that is not in the graph, unless `lenient`."""
    from curiograph.graph.label_reader import LabelReader as GraphLabelReader
    from curiograph.human.data.line_reader import STDIN
    from curiograph.human.data.trajectory_file import find_line

    if lenient:
        return
    positions = GraphLabelReader(graph).match_names(walks.names, walks.nodes, strict=False)
    outside = walks.nodes[positions[walks.nodes] < 0]
    if not len(outside):
        return
    label = walks.names[int(outside[0])]
    file = Path(path)
    line = None
    if file != STDIN and file.is_file() and file.suffix.lower() != ".npz":
        line = find_line(file, label)
    place = _show_path(file) if line is None else f"{path}, line {line}"
    try:
        graph.position(label)
    except UnknownNodeError as error:
        raise FileFormatError(f"{place}: {error} Give --lenient to drop such visits.") from None


def _show_path(path: Path) -> str:
    from curiograph.human.data.line_reader import describe_path

    return str(describe_path(path))


def show_skipped(skipped: Skipped, quiet: bool) -> None:
    """Print what was dropped when walks were read and matched with a graph."""
    if skipped:
        print_remark(f"left out: {skipped}", quiet)


def read_walk_file(path: Path) -> list[str]:
    """Return the labels in a file with one label per line, or in stdin if it is `-`."""
    import sys

    from curiograph.files import read_text

    text = sys.stdin.read() if str(path) == "-" else read_text(path)
    labels = [line.strip() for line in text.split("\n") if line.strip()]
    if not labels:
        raise WalkError(f"{_show_path(path)}: contains no labels; write one label per line.")
    return labels


class LabelReader:
    """What texts on the command line mean as labels of a graph."""

    def __init__(self, graph: Graph) -> None:
        from curiograph.graph.label_reader import LabelReader as GraphLabelReader

        self._graph = graph
        self._reader = GraphLabelReader(graph)
        self.label = self._reader.label

    def walk(self, text: str) -> list[Hashable]:
        """Labels between commas; one that contains a comma is in double quotes."""
        return [self.label(value) for value in split_labels(text)]

    def known_walk(self, values: Sequence[str], lenient: bool) -> list[Hashable]:
        """Labels of values; if `lenient`, a value that is not a node stays as it is."""
        if not lenient:
            return [self.label(value) for value in values]
        found = [(value, self._reader.find(value)) for value in values]
        return [value if position is None else self._graph.label(position) for value, position in found]


def split_labels(text: str) -> list[str]:
    """Split a list of labels at commas; a label that contains a comma is in double quotes.

    >>> split_labels('"Paris, France",Oslo')
    ['Paris, France', 'Oslo']
    """
    fields = next(csv.reader([text], skipinitialspace=True), [])
    labels = [field.strip() for field in fields if field.strip()]
    if not labels:
        raise WalkError(f"the list of nodes {text!r} is empty; write labels separated by commas, as in a,b,c.")
    return labels
