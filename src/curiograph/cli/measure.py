"""The command `curiograph measure`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import curiograph as cg
from curiograph.cli import options
from curiograph.cli.output import PICTURES, check_out, emit, show_progress, show_table
from curiograph.errors import SettingError


def measure(
    graph: options.GraphArgument,
    columns: options.Columns,
    output: options.Output,
    walk: Annotated[
        str | None, typer.Option(help="Labels separated by commas; one that contains a comma is in double quotes.")
    ] = None,
    walks: Annotated[
        str | None,
        typer.Option(help="Log of many walks: a table user, page, time, or one walk per line; - reads stdin."),
    ] = None,
    keep: Annotated[
        list[str] | None, typer.Option(help="Column of the log with a value per user to keep; may be repeated.")
    ] = None,
    directed: options.Directed = False,
) -> None:
    """Measure how walks grow: gaps opened and closed, components, compressibility and degrees of freedom at each step.

    A picture as --out shows the growth; a .gif animates the walk.

    [bold]curiograph measure toy:library --walk music,physics,chemistry,biology,philosophy,logic,mathematics[/bold]
    """
    check_out(output.out, (".json", ".csv", *PICTURES, *([".gif"] if walk else [])))
    if (walk is None) == (walks is None):
        raise SettingError("give --walk a,b,c or --walks LOG.")
    g = options.open_graph(graph, directed)
    measured: Any = options.read_labels(g, walk) if walk else columns.read(walks or "", tuple(keep or ()))
    with show_progress(output.quiet) as progress:
        growth: Any = cg.measure(g, measured, progress=progress)
        if output.out is not None and output.out.suffix.lower() == ".gif":
            cg.animate_walk(g, measured, output.out, progress=progress)
    emit(output, growth, growth.to_frame(), draw=growth.plot, graph=g)
    if walk is not None and growth.gaps and not output.json:
        show_table("gaps", [vars(gap) for gap in growth.gaps], g)
