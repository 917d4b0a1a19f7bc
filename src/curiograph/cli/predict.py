"""The command `curiograph predict`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, cast

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
    keep: options.ItemGraph = "knn",
    similarity: Annotated[
        str | None,
        typer.Option(
            help="Similarity of items, for data without a graph: cosine, pmi or sequence.",
            autocompletion=completion.complete_similarities,
        ),
    ] = None,
    neighbors: options.Neighbors = None,
    mean_degree: options.MeanDegree = None,
    item_users: Annotated[
        int | None,
        typer.Option(help="Minimum number of users per item; knn attaches items with fewer by few links.", min=1),
    ] = None,
    user_items: Annotated[
        int | None, typer.Option(help="Minimum number of items per user, for highest and nearest.", min=1)
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
    from curiograph.human.prediction.protocol import get_recipe
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
    given = {
        "similarity": similarity,
        "neighbors": neighbors,
        "mean_degree": mean_degree,
        "item_users": item_users,
        "user_items": user_items,
    }
    changes: Any = {name: value for name, value in given.items() if value is not None}
    if dataset.graph is not None and changes:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in changes)
        raise SettingError(f"{names}: the data have a graph, and this is for data without one; leave it out.")
    effort = QUICK if quick else FULL
    effort = effort if splits is None else replace(effort, splits=splits)
    changes |= {} if burn_in is None else {"burn_in": burn_in}
    recipe = replace(get_recipe(dataset.name, cast("Any", keep)), **changes)
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
    show_table(f"{prediction.name}: 1 is the best rank, r is over PageRank", *list_rows(prediction.columns()))
    print(prediction.answer)
