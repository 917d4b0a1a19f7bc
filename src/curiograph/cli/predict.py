"""`curiograph predict`."""

from __future__ import annotations

from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curiograph.cli import completion, options
from curiograph.cli.output import (
    PICTURES,
    check_folder,
    check_out,
    print_remark,
    show_json,
    show_progress,
    show_table,
    write_result,
)
from curiograph.errors import SettingError

if TYPE_CHECKING:
    from curiograph.human.data.dataset import Dataset
    from curiograph.human.prediction.results import Outcome, Prediction


def predict(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="wikispeedia, movielens, books; or a folder with the files of one of them; or a table "
            "user,item,time; or a file with one walk per line.",
            show_default=False,
            autocompletion=completion.complete_datasets,
        ),
    ],
    source: Annotated[
        Path | None, typer.Option("--from", help="Folder in which to look for a data set by name.")
    ] = None,
    graph: Annotated[
        str | None,
        typer.Option(
            help="What people walked on; without it, items that the same people visited are linked.",
            autocompletion=completion.complete_graphs,
        ),
    ] = None,
    directed: options.Directed = False,
    quick: Annotated[bool, typer.Option("--quick", help="Few choices, short trainings and fits.")] = False,
    splits: Annotated[int | None, typer.Option(help="Divisions of users to fit on and to test on.", min=1)] = None,
    burn_in: Annotated[int | None, typer.Option(help="Visits that a prediction may use.", min=1)] = None,
    similarity: Annotated[str | None, typer.Option(help="Of items, where there is no graph: cosine or pmi.")] = None,
    mean_degree: Annotated[float | None, typer.Option(help="Of the graph that is made.")] = None,
    item_users: Annotated[int | None, typer.Option(help="Users that an item of it needs.", min=1)] = None,
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
    lenient: Annotated[bool, typer.Option("--lenient", help="Skip bad rows, and say how many.")] = False,
    seed: options.Seed = 0,
    out: options.Out = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Predict what people choose next: PageRank, curious walkers and plain counting, fitted and tested on different
    people.

    [bold]curiograph predict wikispeedia --from data --run runs/wikispeedia[/bold]
    """
    from curiograph.human.prediction.predict import FULL, QUICK
    from curiograph.human.prediction.predict import predict as predict_choices
    from curiograph.human.prediction.protocol import RECIPES, Recipe
    from curiograph.parallel import resolve_engine

    check_out(out, (".json", ".csv", *PICTURES))
    if run is not None:
        check_folder(run, "--run")
    used_engine = resolve_engine(engine, workers, address, run)
    if (igt is None) != (cpt is None):
        raise SettingError("give agents for both, --igt and --cpt, or for none of them.")
    found = _opened(data, source, graph, directed, lenient, quiet)
    if found.graph is not None and (similarity, mean_degree, item_users) != (None, None, None):
        raise SettingError("--similarity, --mean-degree and --item-users are for data without a graph; leave them out.")
    effort = QUICK if quick else FULL
    effort = effort if splits is None else replace(effort, splits=splits)
    wishes = {"burn_in": burn_in, "similarity": similarity, "mean_degree": mean_degree, "item_users": item_users}
    changes: Any = {name: wish for name, wish in wishes.items() if wish is not None}
    recipe = replace(RECIPES.get(found.name, Recipe()), **changes)
    agents = None if igt is None or cpt is None else {"igt": igt, "cpt": cpt}
    with show_progress(quiet) as say:
        prediction = predict_choices(
            found, agents=agents, recipe=recipe, effort=effort, seed=seed, engine=used_engine, progress=say
        )
    write_result(out, prediction.to_dict(), lambda: _table(prediction), lambda: prediction.plot().axes[0])
    if json:
        show_json(prediction.to_dict())
        return
    show(prediction)


def _opened(data: str, source: Path | None, graph: str | None, directed: bool, lenient: bool, quiet: bool) -> Dataset:
    from curiograph.human.data.load import load_dataset

    found = load_dataset(data, source, lenient=lenient)
    if found.skipped.count:
        print_remark(f"bad rows skipped: {found.skipped.count:,}", quiet)
    if graph is None:
        return found
    walked = options.open_graph(graph, directed)
    return replace(found, graph=walked, walks=options.place_on_graph(found.walks, walked, data, lenient))


def show(prediction: Prediction) -> None:
    """A table for each candidate set, and what follows."""
    for outcome in prediction.outcomes.values():
        show_table(f"{prediction.name}: {_title(outcome)}", *_methods(outcome))
    print(prediction.answer)


def _title(outcome: Outcome) -> str:
    from curiograph.human.prediction.results import CANDIDATE_LABELS

    return f"{len(outcome.users):,} choices among {CANDIDATE_LABELS[outcome.among]}; 1 is best, r is over PageRank"


def _methods(outcome: Outcome) -> tuple[list[str], list[list[Any]]]:
    columns = ["method", "percentile", "reciprocal rank", "hit@10", "NDCG@10", "r", "± over splits", "95 % over users"]
    rows = []
    for method in outcome:
        r = outcome.improvement(method)
        means = [f"{value:.3f}" for value in outcome.mean(method).values()]
        spread = "" if isnan(r.spread) else f"{r.spread:.1%}"
        rows.append([method, *means, f"{r.value:+.1%}", spread, f"{r.low:+.1%} to {r.high:+.1%}"])
    return columns, rows


def _table(prediction: Prediction) -> tuple[list[str], list[Any]]:
    columns = prediction.columns()
    return list(columns), list(zip(*columns.values(), strict=True))
