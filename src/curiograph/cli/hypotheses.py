"""The command `curiograph hypotheses`."""

from __future__ import annotations

from typing import Annotated

import typer

import curiograph as cg
from curiograph.cli import options
from curiograph.cli.output import PICTURES, check_out, emit, print_remark, show_progress
from curiograph.growth.first_visits import place_walks

_SHOWN = ("motive", "gain", "percentile", "best_for", "weight", "weight_low", "weight_high", "spread", "adds",
          "adds_low", "adds_high", "reliability", "inflation")  # fmt: skip  # columns of the printed table with weights


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
    people = place_walks(g, columns.read(log))
    growth = None
    with show_progress(output.quiet) as progress:
        if null:
            growth = cg.human.compare_growth(g, people, nulls=null, seed=output.seed, engine=engine, progress=progress)
        found = cg.human.hypotheses(
            g,
            people,
            agents=agent or [],
            similarity=options.read_similarity(texts, g),
            weights=weights,
            seed=output.seed,
            engine=engine,
            progress=progress,
        )
    left_out = ", ".join(f"{reason}: {count:,}" for reason, count in found.left_out.items() if count)
    if left_out:
        print_remark(f"steps left out because they are not choices between candidates: {left_out}", output.quiet)
    for line in () if growth is None or output.json else growth.answers:
        print(line)
    title = f"bits per choice better than chance: {found.choices:,} choices by {len(found.users):,} users"
    document = {**found.to_dict(), "growth": growth, "skipped": people.skipped}
    emit(output, document, found.to_frame(), title=title, draw=found.plot, columns=_SHOWN if weights else ())
