"""The command `curiograph hypotheses`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import curiograph as cg
from curiograph.cli import options
from curiograph.cli.output import PICTURES, check_out, emit, print_remark, show_progress
from curiograph.errors import SettingError
from curiograph.growth.first_visits import place_walks

_SHOWN = ("motive", "gain", "percentile", "best_for", "weight", "weight_low", "weight_high", "spread", "adds",
          "adds_low", "adds_high", "reliability", "inflation")  # fmt: skip  # columns of the printed table with weights


def hypotheses(
    graph: options.GraphArgument,
    columns: options.Columns,
    output: options.Output,
    where: options.Where,
    log: Annotated[
        str | None, typer.Argument(metavar="[LOG]", help="Log of walks; none if GRAPH is a table of choices.")
    ] = None,
    agent: Annotated[list[str] | None, typer.Option(help="Agent to test as a further motive; may be repeated.")] = None,
    texts: options.Texts = None,
    weights: Annotated[
        bool, typer.Option("--weights", help="Estimate weights over all motives at once, for every person.")
    ] = False,
    null: Annotated[
        list[str] | None,
        typer.Option(help="Compare the growth of the walks with this null model, such as rewired; may be repeated."),
    ] = None,
    directed: options.Directed = False,
    returns: Annotated[
        bool | None,
        typer.Option(help="Count steps to visited nodes as choices. Default: if more than a tenth of the moves are."),
    ] = None,
) -> None:
    """Compare motives by how well they explain human choices, and the growth of human walks with null models.

    GRAPH alone may be a table of choices with columns user, state, options (as in a;b) and chosen, and optionally
    outcome and session, where options have uncertain outcomes.

    [bold]curiograph hypotheses links.tsv log.csv --directed --agent igt-rg --null rewired[/bold]
    """
    check_out(output.out, (".json", ".csv", *PICTURES))
    if log is None and (agent or texts or null or directed or returns is not None or columns != options.Columns()):
        wrong = "--agent, --texts, --null, --directed, --returns or columns of a log"
        raise SettingError(f"a table of choices has no {wrong}; leave them out, or give a graph and a log.")
    growth = None
    common: dict[str, Any] = {"weights": weights, "seed": output.seed, "engine": where.make()}
    with show_progress(output.quiet) as progress:
        if log is None:
            found = cg.human.hypotheses(cg.human.read_choices(graph), progress=progress, **common)
        else:
            g = options.open_graph(graph, directed)
            people = place_walks(g, columns.read(log))
            if null:
                growth = cg.human.compare_growth(
                    g, people, nulls=null, seed=output.seed, engine=common["engine"], progress=progress
                )
            similarity = options.read_similarity(texts, g)
            found = cg.human.hypotheses(
                g, people, agents=agent or [], similarity=similarity, returns=returns, progress=progress, **common
            )
    left_out = ", ".join(f"{reason}: {count:,}" for reason, count in found.left_out.items() if count)
    if left_out:
        print_remark(f"steps left out because they are not choices between candidates: {left_out}", output.quiet)
    for line in () if growth is None or output.json else growth.answers:
        print(line)
    title = f"bits per choice better than chance: {found.choices:,} choices by {len(found.users):,} users"
    document = {**found.to_dict(), "growth": growth, "skipped": found.skipped}
    emit(output, document, found.to_frame(), title=title, draw=found.plot, columns=_SHOWN if weights else ())
