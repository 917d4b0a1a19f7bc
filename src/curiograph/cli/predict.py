"""The command `curiograph predict`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from curiograph.cli import completion, options
from curiograph.cli.output import (
    PICTURES,
    check_folder,
    check_out,
    list_rows,
    show_json,
    show_progress,
    show_table,
    write_result,
)
from curiograph.errors import SettingError


def predict(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="wikispeedia, movielens or books; a folder with the files of one of them; a table "
            "user,item,time; or a file with one walk per line.",
            show_default=False,
            autocompletion=completion.complete_datasets,
        ),
    ],
    source: Annotated[
        Path | None, typer.Option("--from", help="Folder in which to look for a dataset by name.")
    ] = None,
    graph: Annotated[
        str | None,
        typer.Option(
            help="Graph of the walks. Default: a graph that links items visited by the same people.",
            autocompletion=completion.complete_graphs,
        ),
    ] = None,
    directed: options.Directed = False,
    quick: Annotated[bool, typer.Option("--quick", help="Few choices, short training and few trials.")] = False,
    splits: Annotated[
        int | None, typer.Option(help="Number of splits into training users and test users.", min=1)
    ] = None,
    burn_in: Annotated[int | None, typer.Option(help="Number of visits before each predicted choice.", min=1)] = None,
    similarity: Annotated[
        str | None, typer.Option(help="Similarity of items, for data without a graph: cosine or pmi.")
    ] = None,
    mean_degree: Annotated[float | None, typer.Option(help="Mean degree of the item graph.")] = None,
    item_users: Annotated[
        int | None, typer.Option(help="Minimum number of users per item of the item graph.", min=1)
    ] = None,
    igt: Annotated[
        str | None,
        typer.Option(help="Agent for igt, instead of training one.", autocompletion=completion.complete_agents),
    ] = None,
    cpt: Annotated[
        str | None,
        typer.Option(help="Agent for cpt, instead of training one.", autocompletion=completion.complete_agents),
    ] = None,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    address: options.Address = None,
    run: options.Run = None,
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
    """Predict human choices by PageRank, curious walkers and count-based baselines, fitted on training users and
    evaluated on test users.

    [bold]curiograph predict wikispeedia --from data --run runs/wikispeedia[/bold]
    """
    from curiograph.human.data.load import load_dataset
    from curiograph.human.prediction.predict import FULL, QUICK
    from curiograph.human.prediction.predict import predict as predict_choices
    from curiograph.human.prediction.protocol import RECIPES, Recipe
    from curiograph.paper.table2 import tabulate_methods
    from curiograph.parallel import resolve_engine

    check_out(out, (".json", ".csv", *PICTURES))
    check_folder(run, "--run")
    backend = resolve_engine(engine, workers, address, run)
    if (igt is None) != (cpt is None):
        raise SettingError("give agents for both, --igt and --cpt, or for none of them.")
    table: Any = {"user": user, "item": item, "time": time, "session": session, "session_gap": session_gap}
    header = False if no_header else None
    given_table = {name: value for name, value in (table | {"header": header}).items() if value is not None}
    dataset = load_dataset(data, source, lenient=lenient, **given_table)
    if graph is not None:
        g = options.open_graph(graph, directed)
        options.check_nodes(dataset.walks, g, data, lenient)
        dataset = replace(dataset, graph=g, walks=dataset.walks.on(g))
    options.show_skipped(dataset.skipped, quiet)
    if dataset.graph is not None and (similarity, mean_degree, item_users) != (None, None, None):
        raise SettingError("--similarity, --mean-degree and --item-users are for data without a graph; leave them out.")
    effort = QUICK if quick else FULL
    effort = effort if splits is None else replace(effort, splits=splits)
    given = {"burn_in": burn_in, "similarity": similarity, "mean_degree": mean_degree, "item_users": item_users}
    changes: Any = {name: value for name, value in given.items() if value is not None}
    recipe = replace(RECIPES.get(dataset.name, Recipe()), **changes)
    agents = None if igt is None or cpt is None else {"igt": igt, "cpt": cpt}
    with show_progress(quiet) as progress:
        prediction = predict_choices(
            dataset,
            agents=agents,
            recipe=recipe,
            effort=effort,
            seed=seed,
            engine=backend,
            progress=progress,
        )
    document = prediction.to_dict()
    write_result(out, document, lambda: list_rows(prediction.columns()), lambda: prediction.plot().axes[0])
    if json:
        show_json(document)
        return
    for table in tabulate_methods(prediction):
        show_table(table.title, table.columns, table.rows)
    print(prediction.answer)
