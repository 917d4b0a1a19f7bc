"""The command `curiograph graph`."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
import typer

import curiograph as cg
from curiograph.cli import options
from curiograph.cli.output import emit, print_remark, show_progress
from curiograph.errors import SettingError


def graph(
    log: options.LogArgument,
    columns: options.Columns,
    output: options.Output,
    similarity: Annotated[
        Literal["cosine", "pmi"], typer.Option(help="Of items: cosine, or pmi, which favors those with few users.")
    ] = "cosine",
    neighbors: Annotated[int, typer.Option(help="Nearest items of each.")] = 10,
    fewest: Annotated[int, typer.Option(help="Minimum number of users of an item that has all its links.")] = 5,
) -> None:
    """Build a graph of items from a log of events, in the file --out: items that the same users visited are linked.

    [bold]curiograph graph events.csv --out items.graphml[/bold]
    """
    if output.out is None:
        raise SettingError("give --out FILE for the graph, such as items.tsv or items.graphml.")
    with show_progress(output.quiet) as progress:
        progress(f"reading {log}")
        walks = columns.read(log)
        made = cg.human.cooccurrence_graph(
            walks, similarity=similarity, neighbors=neighbors, fewest=fewest, progress=progress
        )
        cg.write_graph(made, output.out)
    items = len(np.unique(walks.nodes))
    facts = {
        "file": str(output.out),
        "nodes": made.num_nodes,
        "edges": made.num_edges,
        "items": items,
        "mean_degree": round(float(made.degrees.mean()), 2),
    }
    shown = options.Output(None, output.json, output.quiet, output.seed)
    emit(shown, {**facts, "skipped": walks.skipped}, [facts])
    if made.num_nodes < items:
        print_remark(f"{items - made.num_nodes:,} items without a link are left out", output.quiet)
