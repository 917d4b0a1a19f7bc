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
        typer.Option(help="File to write: .npz, which opens by memory map, or another format.", show_default=False),
    ],
    source: Annotated[
        Path | None, typer.Option("--from", help="Folder in which to look for a dataset by name.")
    ] = None,
    similarity: Annotated[
        str,
        typer.Option(
            help="cosine, or pmi, which favors items with few users.",
            autocompletion=completion.complete_similarities,
        ),
    ] = "cosine",
    keep: options.ItemGraph = "knn",
    neighbors: options.Neighbors = None,
    mean_degree: options.MeanDegree = None,
    fewest: Annotated[
        int, typer.Option(help="Minimum number of users of an item; those with fewer get at most 3 links.")
    ] = 5,
    user: options.UserColumn = None,
    item: options.ItemColumn = None,
    time: options.TimeColumn = None,
    session: options.SessionColumn = None,
    session_gap: options.SessionGap = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Build a graph of items from a log of events: items that the same users visited are linked.

    [bold]curiograph graph events.csv --out items.npz[/bold]
    """
    from curiograph.graph.io.write import FORMATS, write_graph
    from curiograph.human.data.cooccurrence import cooccurrence_graph
    from curiograph.human.data.datasets import load_dataset
    from curiograph.skipped import OUTSIDE

    check_out(out, FORMATS)
    table: Any = {"user": user, "item": item, "time": time, "session": session, "session_gap": session_gap}
    with show_progress(quiet) as progress:
        progress(f"reading {data}")
        walks = load_dataset(data, source, **table).walks
        settings: Any = {"similarity": similarity, "keep": keep, "neighbors": neighbors, "mean_degree": mean_degree}
        g = cooccurrence_graph(walks, fewest=fewest, progress=progress, **settings)
        progress(f"writing {out}")
        write_graph(g, out)
    options.show_skipped(walks.skipped, quiet)
    items, events = len(set(walks.nodes.tolist())), len(walks.nodes)
    covered = events - walks.on(g).skipped.reasons.get(OUTSIDE, 0)
    if json:
        counts = {"items": items, "nodes": g.num_nodes, "edges": g.num_edges, "events": events, "covered": covered}
        show_json({"file": str(out), **counts, "skipped": walks.skipped.to_dict()})
        return
    print(f"{g.num_nodes:,} of {items:,} items and {covered:,} of {events:,} events are on the graph")
    print_remark(f"wrote {g!r} to {out}", quiet)
