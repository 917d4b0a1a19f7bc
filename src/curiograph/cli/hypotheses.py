"""The command `curiograph hypotheses`."""

from __future__ import annotations

from typing import Annotated

import typer

import curiograph as cg
from curiograph.cli import options
from curiograph.cli.output import PICTURES, check_out, emit, print_remark, show_progress, show_table


def hypotheses(
    graph: options.GraphArgument,
    log: options.LogArgument,
    columns: options.Columns,
    output: options.Output,
    where: options.Where,
    agent: Annotated[list[str] | None, typer.Option(help="Agent to test as a further motive; may be repeated.")] = None,
    texts: options.Texts = None,
    weights: Annotated[
        bool, typer.Option("--weights", help="Estimate weights over all motives at once, for every person.")
    ] = False,
    returns: Annotated[bool, typer.Option("--returns", help="Count returns to visited nodes as choices.")] = False,
    burn_in: Annotated[int, typer.Option(help="Distinct nodes visited before the first choice that is used.")] = 3,
    null: Annotated[
        list[str] | None,
        typer.Option(help="Compare the growth of the walks with this null model, such as rewired; may be repeated."),
    ] = None,
    directed: options.Directed = False,
) -> None:
    """Compare motives by how well they explain human choices, and the growth of human walks with null models.

    [bold]curiograph hypotheses links.tsv log.csv --directed --agent igt-rg --null rewired[/bold]
    """
    check_out(output.out, (".json", ".csv", *PICTURES))
    g, engine = options.open_graph(graph, directed), where.make()
    people = columns.read(log).on(g)
    growth = None
    with show_progress(output.quiet) as progress:
        found = cg.human.hypotheses(
            g,
            people,
            agents=agent or [],
            similarity=options.read_similarity(texts, g),
            burn_in=burn_in,
            weights=weights,
            returns=returns,
            seed=output.seed,
            engine=engine,
            progress=progress,
        )
        if null:
            growth = cg.human.compare_growth(g, people, nulls=null, seed=output.seed, engine=engine, progress=progress)
    document = {**found.to_dict(), "growth": growth}
    if found.weights is not None and not output.json:
        show_table("weights over all motives at once", found.weights.to_frame())
        print(found.weights.answer)
    if growth is not None and not output.json:
        for line in growth.answers:
            print(line)
    title = f"bits per choice better than chance: {found.choices:,} choices by {len(found.users):,} users"
    emit(output, document, found.to_frame(), title=title, draw=found.plot)
    left_out = ", ".join(f"{reason}: {count:,}" for reason, count in found.left_out.items() if count)
    if left_out:
        print_remark(f"steps left out because they are not choices between candidates: {left_out}", output.quiet)
