"""Options that commands share, and readers of the graphs, labels and logs that they name."""

from __future__ import annotations

import csv
import functools
import inspect
from collections.abc import Callable, Hashable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from curiograph.errors import FileFormatError, UnknownNameError, UnknownNodeError, WalkError

if TYPE_CHECKING:
    from curiograph.graph.graph import Graph
    from curiograph.graph.similarity import Similarity
    from curiograph.human.trajectories import Trajectories
    from curiograph.parallel import Engine

GraphArgument = Annotated[
    str,
    typer.Argument(
        metavar="GRAPH",
        help="Edge list (.tsv, .csv, .txt), .graphml, .gml, .gexf, node-link .json, .mat or curiograph's own file; a "
        "folder of Markdown notes; a dataset with a graph (wikispeedia); or a toy: toy:library, toy:everyday, "
        "toy:grid, toy:cycle, toy:complete.",
        show_default=False,
    ),
]
LogArgument = Annotated[
    str,
    typer.Argument(
        metavar="LOG",
        help="Table of events with columns user, page and time; a file with one walk per line; a dataset "
        "(wikispeedia, movielens, books); or - for stdin.",
        show_default=False,
    ),
]
Directed = Annotated[bool, typer.Option("--directed", help="Read an edge list or notes as directed.")]
AgentOption = Annotated[
    str,
    typer.Option(
        help="random, max-degree, min-degree, greedy, beam, beam:WIDTH, planner, planner:WIDTH; a shipped agent such "
        "as igt-rg; or the output folder of curiograph train."
    ),
]
RewardOption = Annotated[
    str,
    typer.Option(
        help="igt (information gaps), cpt (compressibility), cct (conformational change), or a sum such as igt+0.5*cpt."
    ),
]
Steps = Annotated[int, typer.Option(help="Number of nodes to visit, including the start.")]
Texts = Annotated[
    Path | None,
    typer.Option(help="File with a node, a tab and a text about it in each line, to compare them by."),
]
History = Annotated[str | None, typer.Option(help="Labels of visited nodes, separated by commas.")]
Alpha = Annotated[float, typer.Option(help="Probability of continuing instead of teleporting, from 0 to below 1.")]
Count = Annotated[int, typer.Option("-k", "--count", help="Number of nodes to show.")]


@dataclass(frozen=True)
class Output:
    """Options of every command: where the result goes."""

    out: Annotated[
        Path | None,
        typer.Option(help="File for the result: .json, .csv, or a picture (.png, .svg, .pdf) of some results."),
    ] = None
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")] = False
    quiet: Annotated[
        bool, typer.Option("--quiet", envvar="CURIOGRAPH_QUIET", help="Print no progress and no remarks.")
    ] = False
    seed: Annotated[int, typer.Option(help="Random seed; the same seed gives the same result.", min=0)] = 0


@dataclass(frozen=True)
class Columns:
    """Options of commands that read a log: its columns, found by their names unless they are given."""

    user: Annotated[str | None, typer.Option(help="Column of the user.")] = None
    item: Annotated[str | None, typer.Option(help="Column of the visited page or item.")] = None
    time: Annotated[str | None, typer.Option(help="Column of the time: seconds or dates.")] = None
    session: Annotated[str | None, typer.Option(help="Column of the session.")] = None
    session_gap: Annotated[
        str | None, typer.Option(help="Start a new session after a longer gap between two events: 30min, 2h, 45s, 1d.")
    ] = None

    def read(self, log: str, keep: tuple[str, ...] = ()) -> Trajectories:
        """Read the walks of people from a file, a dataset or stdin."""
        from curiograph.human import load_dataset

        return load_dataset(log, keep=keep, **vars(self)).walks


@dataclass(frozen=True)
class Where:
    """Options of commands with many independent tasks: where they run."""

    workers: Annotated[
        str | None,
        typer.Option(help="Maximum number of tasks at a time; or ray: a cluster at RAY_ADDRESS, or else here."),
    ] = None
    run: Annotated[
        Path | None, typer.Option(help="Folder for finished tasks; rerun the command to resume an interrupted job.")
    ] = None

    def make(self) -> Engine:
        """Return the engine."""
        from curiograph.parallel import Engine

        if self.workers is None or self.workers.isdecimal():
            return Engine(workers=None if self.workers is None else int(self.workers), run=self.run)
        return Engine(self.workers, run=self.run)  # type: ignore[arg-type]


def expand_options(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each parameter of a command that is a group, such as `Output`, by one option per field."""
    hints = get_type_hints(command, include_extras=True)
    parameters, groups = [], {}
    for name, parameter in inspect.signature(command).parameters.items():
        kind = hints[name]
        if not is_dataclass(kind):
            parameters.append(parameter.replace(annotation=kind, kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        groups[name] = kind
        for field in fields(kind):
            hint = get_type_hints(kind, include_extras=True)[field.name]
            default = inspect.Parameter.empty if field.default is MISSING else field.default
            parameters.append(
                inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)
            )

    @functools.wraps(command)
    def run(**given: Any) -> None:
        made = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)})  # type: ignore[operator]
            for name, kind in groups.items()
        }
        command(**given, **made)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def open_graph(text: str, directed: bool = False) -> Graph:
    """Open the graph that an argument names: a file, a toy graph, or the graph of an installed dataset."""
    from curiograph.graph.io.formats import read_graph
    from curiograph.graph.toys import TOYS

    if text.startswith("toy:"):
        name = text.removeprefix("toy:")
        if name not in TOYS:
            raise UnknownNameError(f"there is no toy graph {name!r}; the toys are {', '.join(TOYS)}.")
        return TOYS[name]()
    if not Path(text).exists():
        from curiograph.human.data.datasets import SOURCES, load_dataset

        if text in SOURCES:
            graph = load_dataset(text).graph
            if graph is None:
                raise FileFormatError(f"the dataset {text} has no graph; make one: curiograph graph {text} --out FILE.")
            return graph
    return read_graph(text, directed=True if directed else None)


def read_similarity(path: Path | None, graph: Graph) -> Similarity | None:
    """Read texts about nodes from a file, and compare the nodes by them."""
    from curiograph.graph.similarity import Similarity
    from curiograph.human.data.text_source import read_texts

    return None if path is None else Similarity.from_texts(graph, read_texts(path, graph))


def split_labels(text: str) -> list[str]:
    """Split a list of labels at commas; a label that contains a comma is in double quotes.

    >>> split_labels('"Paris, France",Oslo')
    ['Paris, France', 'Oslo']
    """
    labels = [field.strip() for field in next(csv.reader([text], skipinitialspace=True), []) if field.strip()]
    if not labels:
        raise WalkError(f"the list of nodes {text!r} is empty; write labels separated by commas, as in a,b,c.")
    return labels


def read_labels(graph: Graph, text: str) -> list[Hashable]:
    """Return the nodes that a list of labels names."""
    from curiograph.graph.labels import LabelReader

    reader = LabelReader(graph)
    if "," in text and reader.find(text) is not None:
        raise UnknownNodeError(f"the label {text!r} has a comma; write it in double quotes, '\"{text}\"'.")
    return reader.walk(split_labels(text))
