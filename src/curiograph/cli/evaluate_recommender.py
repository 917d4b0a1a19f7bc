"""The command `curiograph evaluate-recommender`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from curiograph.cli import completion, options
from curiograph.cli.output import (
    PICTURES,
    check_out,
    list_rows,
    print_remark,
    show_json,
    show_progress,
    show_table,
    write_result,
)


def evaluate_recommender(
    data: Annotated[
        str,
        typer.Argument(
            metavar="EVENTS",
            help="A table user,item,time; a file with one walk per line; - for stdin; or wikispeedia, movielens or "
            "books.",
            show_default=False,
            autocompletion=completion.complete_datasets,
        ),
    ],
    split: Annotated[
        str,
        typer.Option(
            help="time: test on the events after one point in time; user: on held-out users; last: on the last new "
            "item of every user.",
            autocompletion=completion.complete_recommender_splits,
        ),
    ] = "time",
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            help="Method to compare; may be repeated. Default: all.",
            autocompletion=completion.complete_recommenders,
        ),
    ] = None,
    ks: Annotated[list[int] | None, typer.Option("-k", help="Length of lists; may be repeated.", min=1)] = None,
    source: Annotated[
        Path | None, typer.Option("--from", help="Folder in which to look for a dataset by name.")
    ] = None,
    graph: Annotated[
        str | None,
        typer.Option(
            help="Graph of the items. Default: a graph that links items visited by the same training users.",
            autocompletion=completion.complete_graphs,
        ),
    ] = None,
    directed: options.Directed = False,
    test: Annotated[
        float | None, typer.Option(help="Share of events (time) or users (user) to test on. Default: 0.2.")
    ] = None,
    item_users: Annotated[int, typer.Option(help="Minimum number of training users of an item.", min=1)] = 5,
    max_users: Annotated[int | None, typer.Option(help="Maximum number of test users.", min=2)] = None,
    walkers: Annotated[int, typer.Option(help="Curious walkers from each visited item.", min=1)] = 256,
    bases: Annotated[
        list[str] | None,
        typer.Option(
            "--base",
            help="Method whose lists are also re-ranked by curiosity, popularity and at random, such as pagerank and "
            "item-knn, but not ease and als; may be repeated.",
            autocompletion=completion.complete_recommenders,
        ),
    ] = None,
    user: options.UserColumn = None,
    item: options.ItemColumn = None,
    time: options.TimeColumn = None,
    session: options.SessionColumn = None,
    session_gap: options.SessionGap = None,
    seed: options.Seed = 0,
    out: options.Out = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare recommenders on held-out events: accuracy, novelty, diversity and coverage, with intervals over users.

    [bold]curiograph evaluate-recommender events.csv --split time --out evaluation.json[/bold]
    """
    from curiograph.human.data.datasets import load_dataset
    from curiograph.human.recommenders.evaluate import evaluate_recommenders
    from curiograph.human.recommenders.results import tabulate_methods, tabulate_paths

    check_out(out, (".json", ".csv", *PICTURES))
    table: Any = {"user": user, "item": item, "time": time, "session": session, "session_gap": session_gap}
    dataset = load_dataset(data, source, **table)
    options.show_skipped(dataset.skipped, quiet)
    kind: Any = split
    with show_progress(quiet) as progress:
        found = evaluate_recommenders(
            dataset,
            kind,
            methods=methods,
            ks=ks or (5, 10, 20),
            graph=None if graph is None else options.open_graph(graph, directed),
            test=test,
            item_users=item_users,
            max_users=max_users,
            walkers=walkers,
            bases=bases or (),
            seed=seed,
            progress=progress,
        )
    document = found.to_dict()
    write_result(out, document, lambda: list_rows(found.columns()), lambda: found.plot().axes[0])
    for name, reason in found.skipped_methods.items():
        print_remark(f"{name} is left out: {reason}", quiet)
    if json:
        show_json(document)
        return
    facts = found.facts
    title = (
        f"{split} split: {facts['test_users']:,} test users, {facts['items']:,} items, "
        f"{facts['training_events']:,} training events"
    )
    show_table(title, *tabulate_methods(document, found.path_k))
    if found.paths:
        show_table("At most 5 % less NDCG than the base", *tabulate_paths(document))
