"""The command `curiograph evaluate-recommender`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

import curiograph as cg
from curiograph.cli import options
from curiograph.cli.output import check_out, emit, show_progress


def evaluate_recommender(
    log: options.LogArgument,
    columns: options.Columns,
    output: options.Output,
    split: Annotated[
        Literal["time", "user", "last"],
        typer.Option(help="Test on the latest events (time), on other users (user), or on the last event of each."),
    ] = "time",
    method: Annotated[
        list[str] | None, typer.Option(help="Method to compare, also pagerank:0.9; may be repeated. Default: all.")
    ] = None,
    graph: Annotated[str | None, typer.Option(help="Graph of the items. Default: from the training events.")] = None,
    alpha: options.Alpha = 0.85,
    test: Annotated[float | None, typer.Option(help="Share of events or users to test on. Default: 0.2.")] = None,
    max_users: Annotated[int | None, typer.Option(help="Maximum number of test users.", min=2)] = None,
) -> None:
    """Compare recommenders on held-out events: accuracy, novelty, diversity and coverage, with intervals over users.

    [bold]curiograph evaluate-recommender events.csv --split last --out evaluation.json[/bold]
    """
    check_out(output.out)
    walks = columns.read(log)
    with show_progress(output.quiet) as progress:
        found = cg.evaluate_recommenders(
            walks,
            split,
            methods=method or None,
            graph=cg.human.cooccurrence_graph if graph is None else options.open_graph(graph),
            alpha=alpha,
            test=test,
            max_users=max_users,
            seed=output.seed,
            progress=progress,
        )
    accuracy = ("mrr", "mrr_low", "mrr_high", "hit@10", "recall@10", "ndcg@10")
    columns_shown = ("method", *accuracy, "novelty@10", "diversity@10", "coverage@10")
    document = {**found.to_dict(), "skipped": walks.skipped}
    emit(output, document, found.to_frame(), title=f"{split} split", columns=columns_shown)
