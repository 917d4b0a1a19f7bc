"""The command `curiograph evaluate-recommender`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from curiograph.cli import completion, options
from curiograph.cli.output import (
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
    user: options.UserColumn = None,
    item: options.ItemColumn = None,
    time: options.TimeColumn = None,
    session: options.SessionColumn = None,
    session_gap: options.SessionGap = None,
    no_header: options.NoHeader = False,
    lenient: options.Lenient = False,
    seed: options.Seed = 0,
    out: options.Out = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare recommenders on held-out events: accuracy, novelty, diversity and coverage, with intervals over users.

    [bold]curiograph evaluate-recommender events.csv --split time --out evaluation.json[/bold]
    """
    from curiograph.human.data.cooccurrence import cooccurrence_graph
    from curiograph.human.data.load import load_dataset
    from curiograph.human.data.trajectory_file import read_trajectories
    from curiograph.recommendation.evaluation import METHODS, evaluate_recommenders

    check_out(out, (".json", ".csv"))
    table: Any = {"user": user, "item": item, "time": time, "session": session, "session_gap": session_gap}
    header = False if no_header else None
    given = {name: value for name, value in (table | {"header": header}).items() if value is not None}
    if data == "-":
        dataset = read_trajectories(data, lenient=lenient, **given)
    else:
        dataset = load_dataset(data, source, lenient=lenient, **given)
    options.show_skipped(dataset.skipped, quiet)
    items: Any = dataset.graph if graph is None else options.open_graph(graph, directed)
    kind: Any = split
    with show_progress(quiet) as progress:
        found = evaluate_recommenders(
            dataset.walks,
            kind,
            methods=methods or METHODS,
            ks=ks or (5, 10, 20),
            graph=partial(cooccurrence_graph, fewest=min(5, item_users)) if items is None else items,
            test=test,
            item_users=item_users,
            max_users=max_users,
            walkers=walkers,
            seed=seed,
            progress=progress,
        )
    document = found.to_dict()
    write_result(out, document, lambda: list_rows(found.columns()))
    for name, reason in found.skipped_methods.items():
        print_remark(f"{name} is left out: {reason}", quiet)
    if json:
        show_json(document)
        return
    size = f"{found.facts['test_users']:,} test users, {found.facts['items']:,} items"
    k = 10 if 10 in (ks or (10,)) else min(ks or (10,))
    at_k = ("hit", "recall", "ndcg", "novelty", "serendipity", "diversity", "coverage", "gini")
    measures = ["mrr", *(f"{measure}@{k}" for measure in at_k)]
    rows = [[name, *(str(each[measure]) for measure in measures)] for name, each in found.estimates.items()]
    show_table(
        f"{split} split: {size}, {found.facts['training_events']:,} training events", ["method", *measures], rows
    )
