"""The command `curiograph graph`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from curiograph.cli import completion, options
from curiograph.cli.output import check_out, print_remark, show_json, show_progress


def graph(
    data: Annotated[
        str,
        typer.Argument(
            metavar="EVENTS",
            help="Table user,item,time; file with one walk per line; - for stdin; or a dataset: movielens, books, "
            "wikispeedia.",
            show_default=False,
            autocompletion=completion.complete_datasets,
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(help="File to write: .safetensors or another format.", show_default=False),
    ],
    source: Annotated[
        Path | None, typer.Option("--from", help="Folder in which to look for a dataset by name.")
    ] = None,
    similarity: Annotated[
        str,
        typer.Option(
            help="cosine, pmi (favors items with few users) or sequence (items visited soon after each other).",
            autocompletion=completion.complete_similarities,
        ),
    ] = "cosine",
    keep: options.ItemGraph = "knn",
    neighbors: options.Neighbors = None,
    mean_degree: options.MeanDegree = None,
    fewest: Annotated[
        int, typer.Option(help="Minimum number of users of an item; those with fewer get at most 3 links.")
    ] = 5,
    shrinkage: Annotated[
        float, typer.Option(help="Multiply similarities by n / (n + this) for n common users, 0 or above.")
    ] = 0.0,
    half_life: Annotated[
        float, typer.Option(help="Visits after which the weight of a pair is halved, for sequence.")
    ] = 2.0,
    max_items: Annotated[
        int, typer.Option(help="Maximum number of items of a user that count; the latest ones are taken.")
    ] = 5000,
    user: options.UserColumn = None,
    item: options.ItemColumn = None,
    time: options.TimeColumn = None,
    session: options.SessionColumn = None,
    session_gap: options.SessionGap = None,
    no_header: options.NoHeader = False,
    lenient: options.Lenient = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Build a graph of items from a log of events: items that the same users visited are linked.

    [bold]curiograph graph events.csv --out items.safetensors[/bold]
    """
    from curiograph.graph.io.write import FORMATS, write_graph
    from curiograph.human.data.cooccurrence import cooccurrence_graph
    from curiograph.human.data.coverage import measure_graph_coverage
    from curiograph.human.data.load import load_dataset
    from curiograph.human.data.trajectory_file import read_trajectories

    check_out(out, FORMATS)
    table: Any = {"user": user, "item": item, "time": time, "session": session, "session_gap": session_gap}
    table |= {"header": False if no_header else None}
    given = {name: value for name, value in table.items() if value is not None}
    with show_progress(quiet) as progress:
        progress(f"reading {data}")
        if data == "-":
            dataset = read_trajectories(data, lenient=lenient, **given)
        else:
            dataset = load_dataset(data, source, lenient=lenient, **given)
        settings: Any = {"similarity": similarity, "keep": keep, "neighbors": neighbors, "mean_degree": mean_degree}
        g = cooccurrence_graph(
            dataset.walks,
            fewest=fewest,
            shrinkage=shrinkage,
            half_life=half_life,
            max_items=max_items,
            progress=progress,
            **settings,
        )
        progress(f"writing {out}")
        write_graph(g, out)
    options.show_skipped(dataset.skipped, quiet)
    coverage = measure_graph_coverage(g, dataset.walks, fewest=fewest)
    if json:
        document = {"file": str(out), **coverage.to_dict(), "skipped": dataset.skipped.to_dict()}
        show_json(document)
        return
    print(f"covered: {coverage}")
    print(
        f"mean degree {coverage.mean_degree}, maximum {coverage.max_degree:,}; components: {coverage.components:,}, "
        f"{coverage.largest_component:,} nodes in the largest"
    )
    print_remark(f"wrote {g!r} to {out}", quiet)
