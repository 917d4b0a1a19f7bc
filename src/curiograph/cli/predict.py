"""The command `curiograph predict`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

import curiograph as cg
from curiograph.cli import options
from curiograph.cli.output import PICTURES, check_out, emit, show_progress


def predict(
    data: Annotated[
        str,
        typer.Argument(metavar="DATA", help="wikispeedia, movielens, books, or the log of a file.", show_default=False),
    ],
    output: options.Output,
    where: options.Where,
    graph: Annotated[str | None, typer.Option(help="Graph on which people walked. Default: that of the data.")] = None,
    source: Annotated[Path | None, typer.Option("--from", help="Folder with the dataset.")] = None,
    walkers: Annotated[
        Literal["greedy", "trained"], typer.Option(help="greedy, or also agents trained on the graph as in the paper.")
    ] = "greedy",
    quick: Annotated[bool, typer.Option("--quick", help="A first look: few choices, short fits.")] = False,
    directed: options.Directed = False,
) -> None:
    """Predict what people choose next: PageRank, curious walkers and baselines, tested on other people.

    [bold]curiograph predict wikispeedia --from DIR --quick[/bold]
    """
    check_out(output.out, (".json", ".csv", *PICTURES))
    with show_progress(output.quiet) as progress:
        progress(f"reading {data}")
        found = cg.human.predict(
            data,
            graph=None if graph is None else options.open_graph(graph, directed),
            folder=source,
            walkers=walkers,
            effort=cg.human.QUICK if quick else cg.human.FULL,
            seed=output.seed,
            engine=where.make(),
            progress=progress,
        )
    document = {"answer": found.answer, **found.to_dict()}
    columns = ("candidates", "method", "percentile", "reciprocal", "hit10", "r", "r_low", "r_high")
    emit(output, document, found.to_frame(), title=found.name, draw=found.plot, columns=columns)
