"""`curiograph measure`."""

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
    from curiograph.growth.records import Growth, Growths


def measure(
    graph: options.GraphArgument,
    walk: Annotated[str | None, typer.Option(help="Labels separated by commas.")] = None,
    walks: Annotated[
        Path | None,
        typer.Option(help="A file with one walk per line, or a table with the columns user, page and time."),
    ] = None,
    max_dim: Annotated[int, typer.Option(help="Highest dimension of gaps; 2 and above need gudhi.")] = 1,
    no_compressibility: Annotated[
        bool, typer.Option("--no-compressibility", help="Leave it out (long walks).")
    ] = False,
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
    """Measure how walks grow: gaps opened and closed, components, compressibility, step by step.

    [bold]curiograph measure toy:library --walk music,physics,chemistry,biology,philosophy,logic,mathematics[/bold]
    """
    from curiograph.growth.measure import measure as measure_walks
    from curiograph.growth.plots import animate_walk, plot_walk

    check_out(out, (".json", ".csv", *PICTURES))
    check_out(plot, PICTURES, "--plot")
    check_out(animate, ANIMATIONS, "--animate")
    if run is not None:
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
    with show_progress(quiet) as say:
        who: Any = {"engine": engine, "workers": workers, "address": address, "run": run, "progress": say}
        growths = measure_walks(g, labels, max_dim=max_dim, compressibility=not no_compressibility, **who)
    if walks is not None:
        _write_many(out, growths)
    else:
        write_result(out, growths[0].to_dict(), lambda: _rows(growths), lambda: growths[0].plot())
    write_result(plot, None, plot=lambda: plot_walk(g, labels[0]))
    if animate is not None:
        with show_progress(quiet) as say:
            animate_walk(g, labels[0], animate, progress=say)
    if json:
        if walk is not None:
            show_json(growths[0].to_dict())
        else:
            sys.stdout.writelines(_documents(growths))
        return
    revisits = int(growths.revisits.sum())
    if revisits:
        print_remark(f"revisits left out, since the first visit counts: {revisits}", quiet)
    if walk is not None:
        columns, rows = _rows(growths)
        show_table("", columns[1:], [row[1:] for row in rows])
        _show_gaps(growths[0])
    else:
        show_table("", _SUMMARY, [_summary(i, growth) for i, growth in enumerate(growths[:_SHOWN])])
        if len(growths) > _SHOWN:
            print_remark(f"and {len(growths) - _SHOWN:,} more walks; --out FILE.csv or FILE.json holds all", quiet)


def _write_many(out: Path | None, growths: Growths) -> None:
    """Walk by walk: of a hundred thousand, all at once would take gigabytes."""
    if out is None or out.suffix.lower() in PICTURES:
        write_result(out, None, plot=growths.plot)
        return
    pieces = _csv_lines(growths) if out.suffix.lower() == ".csv" else _documents(growths)
    with open_atomic(out) as stream:
        stream.writelines(piece.encode() for piece in pieces)


def _documents(growths: Growths) -> Iterator[str]:
    """One JSON document, in pieces."""
    yield '{"walks": [\n'
    for number, growth in enumerate(growths):
        yield (",\n" if number else "") + format_json(growth.to_dict())
    yield "\n]}\n"


def _csv_lines(growths: Growths) -> Iterator[str]:
    line = io.StringIO()
    writer = csv.writer(line, lineterminator="\n")
    for number in range(len(growths)):
        columns, rows = _rows(growths[number : number + 1], number)
        writer.writerows([columns, *rows] if number == 0 else rows)
        yield line.getvalue()
        line.seek(0)
        line.truncate()


_SHOWN = 200  # walks that a table shows
_SUMMARY = ("walk", "nodes", "edges", "components", "gaps at the end", "opened", "closed", "compressibility")


def _summary(number: int, growth: Growth) -> list[Any]:
    ones = [gap for gap in growth.gaps if gap.dim == 1]
    closed = sum(gap.closed_at is not None for gap in ones)
    end = (int(growth.edges[-1]), int(growth.beta0[-1]), int(growth.beta1[-1]))
    return [number, len(growth), *end, len(ones), closed, float(growth.compressibility[-1])]


def _rows(growths: Growths, first: int = 0) -> tuple[list[str], list[list[Any]]]:
    columns = ["walk", *growths[0].columns()]
    rows = [
        [number, *values]
        for number, growth in enumerate(growths, start=first)
        for values in zip(*growth.columns().values(), strict=True)
    ]
    return columns, rows


def _show_gaps(growth: Growth) -> None:
    if growth.gaps:
        show_table(
            "gaps",
            ("dimension", "opened by", "closed by", "opened at", "closed at", "lifetime"),
            [
                (
                    g.dim,
                    g.opened_by,
                    g.closed_by,
                    g.opened_at,
                    "open" if g.closed_at is None else g.closed_at,
                    g.lifetime,
                )
                for g in growth.gaps
            ],
        )
