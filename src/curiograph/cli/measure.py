"""The command `curiograph measure`."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curiograph.cli import options
from curiograph.cli.output import (
    ANIMATIONS,
    PICTURES,
    check_folder,
    check_out,
    format_json,
    print_remark,
    show_json,
    show_progress,
    show_table,
    write_result,
)
from curiograph.errors import SettingError
from curiograph.files import open_atomic

if TYPE_CHECKING:
    from curiograph.growth.records import Growths

_MAX_ROWS = 200  # walks that a table shows


def measure(
    graph: options.GraphArgument,
    walk: Annotated[str | None, typer.Option(help="Labels separated by commas.")] = None,
    walks: Annotated[
        Path | None,
        typer.Option(help="File with one walk per line, or a table with the columns user, page and time."),
    ] = None,
    max_dim: Annotated[int, typer.Option(help="Highest dimension of gaps; 2 and above need gudhi.")] = 1,
    no_compressibility: Annotated[
        bool, typer.Option("--no-compressibility", help="Do not compute compressibility (slow for long walks).")
    ] = False,
    pairs: Annotated[
        str,
        typer.Option(
            help="Pairs of clusters that compressibility tries at every merge: auto (all up to 100 nodes, then best), "
            "best, all, edges, joint, joint-self, stationary or single."
        ),
    ] = "auto",
    plot: options.Plot = None,
    animate: options.Animate = None,
    directed: options.Directed = False,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    address: options.Address = None,
    run: options.Run = None,
    seed: options.Seed = 0,
    out: options.Out = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Measure how walks grow: gaps opened and closed, components and compressibility at each step.

    [bold]curiograph measure toy:library --walk music,physics,chemistry,biology,philosophy,logic,mathematics[/bold]
    """
    from curiograph.growth.measure import measure as measure_walks
    from curiograph.growth.plots import animate_walk, plot_walk

    check_out(out, (".json", ".csv", *PICTURES))
    check_out(plot, PICTURES, "--plot")
    check_out(animate, ANIMATIONS, "--animate")
    check_folder(run, "--run")
    if (walk is None) == (walks is None):
        raise SettingError("give either --walk a,b,c or --walks FILE.")
    if walk is not None and (engine, workers, address, run) != ("local", None, None, None):
        raise SettingError("--engine, --workers, --address and --run are for many walks, given as --walks FILE.")
    if walks is not None and (plot is not None or animate is not None):
        raise SettingError("--plot and --animate draw one walk; give it as --walk a,b,c.")
    g = options.open_graph(graph, directed)
    reader = options.LabelReader(g)
    labels = [reader.walk(walk)] if walk is not None else reader.walks(walks or Path())
    with show_progress(quiet) as progress:
        settings: Any = {"pairs": pairs, "engine": engine, "workers": workers, "address": address, "run": run}
        growths = measure_walks(
            g, labels, max_dim=max_dim, compressibility=not no_compressibility, progress=progress, **settings
        )
    if walk is not None:
        write_result(out, growths[0].to_dict(), lambda: _list_steps(growths), lambda: growths[0].plot())
    elif out is None or out.suffix.lower() in PICTURES:
        write_result(out, None, plot=growths.plot)
    else:  # one walk at a time: a hundred thousand at once would take gigabytes
        pieces = _format_csv(growths) if out.suffix.lower() == ".csv" else _format_documents(growths)
        with open_atomic(out) as stream:
            stream.writelines(piece.encode() for piece in pieces)
    write_result(plot, None, plot=lambda: plot_walk(g, labels[0]))
    if animate is not None:
        with show_progress(quiet) as progress:
            animate_walk(g, labels[0], animate, progress=progress)
    if json:
        if walk is not None:
            show_json(growths[0].to_dict())
        else:
            sys.stdout.writelines(_format_documents(growths))
        return
    revisits = int(growths.revisits.sum())
    if revisits:
        print_remark(f"revisits left out, since only the first visit counts: {revisits}", quiet)
    if walk is not None:
        _show_walk(growths)
    else:
        _show_summary(growths)
        if len(growths) > _MAX_ROWS:
            print_remark(f"{len(growths) - _MAX_ROWS:,} more walks are not shown; --out writes all of them", quiet)


def _list_steps(growths: Growths, first: int = 0) -> tuple[list[str], list[list[Any]]]:
    """Columns and rows of a table with one row per step of each walk; walks are numbered from `first`."""
    columns = ["walk", *growths[0].columns()]
    rows = [
        [number, *values]
        for number, growth in enumerate(growths, start=first)
        for values in zip(*growth.columns().values(), strict=True)
    ]
    return columns, rows


def _format_documents(growths: Growths) -> Iterator[str]:
    """One JSON document of all walks, in pieces."""
    yield '{"walks": [\n'
    for number, growth in enumerate(growths):
        yield (",\n" if number else "") + format_json(growth.to_dict())
    yield "\n]}\n"


def _format_csv(growths: Growths) -> Iterator[str]:
    """CSV lines of all walks, one walk at a time."""
    for number in range(len(growths)):
        text = io.StringIO()
        columns, rows = _list_steps(growths[number : number + 1], number)
        csv.writer(text, lineterminator="\n").writerows([columns, *rows] if number == 0 else rows)
        yield text.getvalue()


def _show_walk(growths: Growths) -> None:
    columns, rows = _list_steps(growths)
    show_table("", columns[1:], [row[1:] for row in rows])
    gaps = growths[0].gaps
    if gaps:
        show_table(
            "gaps",
            ("dimension", "opened by", "closed by", "opened at", "closed at", "lifetime"),
            [
                (
                    gap.dim,
                    gap.opened_by,
                    gap.closed_by,
                    gap.opened_at,
                    "open" if gap.closed_at is None else gap.closed_at,
                    gap.lifetime,
                )
                for gap in gaps
            ],
        )


def _show_summary(growths: Growths) -> None:
    """Show one row per walk, with the values at its end."""
    columns = ("walk", "nodes", "edges", "components", "gaps at the end", "opened", "closed", "compressibility")
    rows = []
    for number, growth in enumerate(growths[:_MAX_ROWS]):
        loops = [gap for gap in growth.gaps if gap.dim == 1]
        closed = sum(gap.closed_at is not None for gap in loops)
        end = (int(growth.edges[-1]), int(growth.beta0[-1]), int(growth.beta1[-1]))
        rows.append([number, len(growth), *end, len(loops), closed, float(growth.compressibility[-1])])
    show_table("", columns, rows)
