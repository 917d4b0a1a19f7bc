"""`curiograph measure`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curiograph.cli import options
from curiograph.cli.output import (
    ANIMATIONS,
    PICTURES,
    check_folder,
    check_out,
    progress,
    remark,
    show_json,
    show_table,
    write_result,
)
from curiograph.errors import SettingError

if TYPE_CHECKING:
    from curiograph.growth import Growth


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
    from curiograph.drawing import animate_walk, plot_walk
    from curiograph.growth import measure as measure_walks

    check_out(out, (".json", ".csv", *PICTURES))
    check_out(plot, PICTURES, "--plot")
    check_out(animate, ANIMATIONS, "--animate")
    if run is not None:
        check_folder(run, "--run")
    if (walk is None) == (walks is None):
        raise SettingError("give either --walk a,b,c or --walks FILE.")
    if walks is not None and (plot is not None or animate is not None):
        raise SettingError("--plot and --animate draw one walk; give it as --walk a,b,c.")
    g = options.open_graph(graph, directed)
    reader = options.LabelReader(g)
    labels = [reader.walk(walk)] if walk is not None else reader.walks(walks or Path())
    with progress(quiet) as say:
        who: Any = {"engine": engine, "workers": workers, "address": address, "run": run, "progress": say}
        growths = measure_walks(g, labels, max_dim=max_dim, compressibility=not no_compressibility, **who)
    document = growths[0].to_dict() if walk is not None else growths.to_dict()
    write_result(out, document, lambda: _rows(growths), lambda: (growths[0] if walk is not None else growths).plot())
    write_result(plot, document, plot=lambda: plot_walk(g, labels[0]))
    if animate is not None:
        with progress(quiet) as say:
            animate_walk(g, labels[0], animate, progress=say)
    if json:
        show_json(document)
        return
    revisits = sum(growth.revisits for growth in growths)
    if revisits:
        remark(f"revisits left out, since the first visit counts: {revisits}", quiet)
    if walk is not None:
        columns, rows = _rows(growths)
        show_table("", columns[1:], [row[1:] for row in rows])
        _show_gaps(growths[0])
    else:
        show_table("", _SUMMARY, [_summary(i, growth) for i, growth in enumerate(growths)])


_SUMMARY = ("walk", "nodes", "edges", "components", "gaps at the end", "opened", "closed", "compressibility")


def _summary(number: int, growth: Growth) -> list[Any]:
    ones = [gap for gap in growth.gaps if gap.dim == 1]
    closed = sum(gap.closed_at is not None for gap in ones)
    end = (int(growth.edges[-1]), int(growth.beta0[-1]), int(growth.beta1[-1]))
    return [number, len(growth), *end, len(ones), closed, float(growth.compressibility[-1])]


def _rows(growths: Any) -> tuple[list[str], list[list[Any]]]:
    columns = ["walk", *growths[0].columns()]
    rows = [
        [number, *values]
        for number, growth in enumerate(growths)
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
