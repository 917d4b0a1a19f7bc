"""The command `curiograph profile`."""

from __future__ import annotations

from typing import Annotated

import typer

import curiograph as cg
from curiograph.cli import options
from curiograph.cli.output import PICTURES, check_out, emit, show_progress

_DIFFERENCES = ("difference", "difference_low", "difference_high", "p_holm")
_GROUP_COLUMNS = ("measure", "group", "other", "mean", "other_mean", *_DIFFERENCES)
_COLUMNS = ("nodes", "edges", "clustering", "beta0", "beta1", "opened", "closed", "compressibility", "step_length")


def profile(
    graph: options.GraphArgument,
    log: options.LogArgument,
    columns: options.Columns,
    output: options.Output,
    keep: Annotated[
        list[str] | None, typer.Option(help="Column with a value per user to keep in the table; may be repeated.")
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(help="Column with the group of each user: compare the groups, with intervals over people."),
    ] = None,
    measure: Annotated[
        list[str] | None, typer.Option(help="Measure, or group of measures; may be repeated. Default: all.")
    ] = None,
    nodes: Annotated[
        int | None, typer.Option(help="Cut walks to this number of distinct nodes, and leave out shorter ones.")
    ] = None,
    texts: options.Texts = None,
    directed: options.Directed = False,
) -> None:
    """Compute the measures of knowledge networks for each person and session, and compare groups of people.

    [bold]curiograph profile links.csv log.csv --session-gap 30min --group condition --out groups.csv[/bold]
    """
    check_out(output.out, (".json", ".csv", *PICTURES))
    g = options.open_graph(graph, directed)
    kept = tuple(dict.fromkeys([*(keep or ()), *([group] if group else ())]))
    people = columns.read(log, kept)
    with show_progress(output.quiet) as progress:
        similarity = options.read_similarity(texts, g)
        found = cg.profile(g, people, measures=measure, nodes=nodes, similarity=similarity, progress=progress)
    if group is not None:
        compared = cg.compare_groups(found, by=group, seed=output.seed)
        document = {"answer": compared.answer, **compared.to_dict(), "skipped": found.walks.skipped}
        emit(output, document, compared.to_frame(), draw=compared.plot, columns=_GROUP_COLUMNS)
    else:
        frame = found.to_frame()
        shown = [name for name in frame if measure or name in _COLUMNS or name not in found.measures]
        document = {**found.to_dict(), "skipped": found.walks.skipped}
        emit(output, document, frame, draw=found.plot, columns=shown)
