"""The command `curiograph measure`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curiograph.cli import completion, options
from curiograph.cli.output import (
    ANIMATIONS,
    PICTURES,
    check_folder,
    check_out,
    format_json,
    list_rows,
    print_remark,
    show_json,
    show_progress,
    show_table,
    write_result,
)
from curiograph.errors import SettingError
from curiograph.files import open_atomic
from curiograph.results import to_plain
from curiograph.validation import check_choice

if TYPE_CHECKING:
    from curiograph.growth.records import Growth, Growths

_MAX_ROWS = 200  # walks that a table shows


def measure(
    graph: options.GraphArgument,
    walk: Annotated[
        str | None, typer.Option(help="Labels separated by commas; one that contains a comma is in double quotes.")
    ] = None,
    walk_file: Annotated[
        Path | None, typer.Option(help="File of a single walk, with one label per line; - reads stdin.")
    ] = None,
    walks: Annotated[
        Path | None,
        typer.Option(help="File with one walk per line, or a table of events: user, page, time; - reads stdin."),
    ] = None,
    no_compressibility: Annotated[
        bool, typer.Option("--no-compressibility", help="Do not compute compressibility (slow for long walks).")
    ] = False,
    texts: options.Texts = None,
    table: Annotated[
        str,
        typer.Option(
            help="Rows of the result for --walks: steps, gaps (with censored lifetimes), or persistence of gaps over "
            "the weights of edges, such as the similarities of --texts (one row per walk).",
            autocompletion=completion.complete_tables,
        ),
    ] = "steps",
    plot: options.Plot = None,
    animate: options.Animate = None,
    user: options.UserColumn = None,
    item: options.ItemColumn = None,
    time: options.TimeColumn = None,
    session: options.SessionColumn = None,
    keep: options.Keep = None,
    session_gap: options.SessionGap = None,
    no_header: options.NoHeader = False,
    lenient: options.Lenient = False,
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
    """Measure how walks grow: gaps opened and closed, components, compressibility and degrees of freedom at each step.

    [bold]curiograph measure toy:library --walk music,physics,chemistry,biology,philosophy,logic,mathematics[/bold]
    """
    from curiograph.growth.measure import measure as measure_walks
    from curiograph.growth.plots import animate_walk, plot_walk
    from curiograph.human.people.gap_survival import gap_survival
    from curiograph.parallel import resolve_engine

    check_out(out, (".json", ".csv", *PICTURES))
    check_out(plot, PICTURES, "--plot")
    check_out(animate, ANIMATIONS, "--animate")
    check_folder(run, "--run")
    if sum(given is not None for given in (walk, walk_file, walks)) != 1:
        raise SettingError("give one of --walk a,b,c, --walk-file FILE and --walks FILE.")
    if walks is None and (engine, workers, address, run) != ("local", None, None, None):
        raise SettingError("--engine, --workers, --address and --run are for many walks, given as --walks FILE.")
    if walks is not None and (plot is not None or animate is not None):
        raise SettingError("--plot and --animate draw one walk; give it as --walk a,b,c.")
    columns: Any = {"user": user, "item": item, "time": time, "session": session, "session_gap": session_gap}
    if walks is None and (any(columns.values()) or keep or no_header or table != "steps"):
        raise SettingError(
            "options of tables and of people, such as --user, --session-gap and --table, are for --walks FILE."
        )
    check_choice("--table", table, completion.complete_tables())
    if texts is not None and table != "persistence":
        raise SettingError("--texts weighs links by similarity, which only --table persistence uses.")
    if not (no_compressibility or texts):
        options.compile_kernels(graph, "measure")
    g = options.open_graph(graph, directed)
    if texts is not None:
        g = options.read_similarity(texts, g, quiet, lenient=lenient).weigh(g)
    people: Any
    if walks is not None:
        people = options.read_people(walks, g, lenient=lenient, no_header=no_header, keep=keep or [], **columns)
    else:
        labels = options.read_walk_file(walk_file) if walk_file is not None else options.split_labels(walk or "")
        people = [options.LabelReader(g).known_walk(labels, lenient)]
    if table == "persistence":
        from curiograph.growth.persistence import measure_persistence

        found = measure_persistence(g, people)
        options.show_skipped(found.visits.skipped, quiet)
        names, rows = list_rows(found.per_walk().to_dict("list"))
        document = {"walks": [dict(zip(names, row, strict=True)) for row in rows], "gaps": found.to_dict()["rows"]}
        write_result(out, document, lambda: (names, rows), found.plot)
        _show_rows(names, rows, document if json else None, quiet)
        return
    with show_progress(quiet) as progress:
        backend = resolve_engine(engine, workers, address, run)
        growths = measure_walks(g, people, compressibility=not no_compressibility, engine=backend, progress=progress)
    is_single = walks is None
    options.show_skipped(growths.skipped, quiet)
    if table == "gaps":
        names, rows = list_rows(
            {name: to_plain(values) for name, values in growths.gaps_frame().to_dict("list").items()}
        )
        document = {"gaps": [dict(zip(names, row, strict=True)) for row in rows], "skipped": growths.skipped.to_dict()}
        write_result(out, document, lambda: (names, rows), lambda: gap_survival(growths, seed=seed).plot())
        _show_rows(names, rows, document if json else None, quiet)
        return
    if is_single:
        write_result(out, growths[0].to_dict(), lambda: _list_steps(growths[0]), lambda: growths[0].plot())
    elif out is None or out.suffix.lower() in PICTURES:
        write_result(out, None, plot=growths.plot)
    elif out.suffix.lower() == ".csv":
        with open_atomic(out) as stream:
            growths.to_frame().to_csv(stream, index=False)
    else:  # one walk at a time: a hundred thousand at once would take gigabytes
        with open_atomic(out) as stream:
            stream.writelines(piece.encode() for piece in _format_documents(growths))
    write_result(plot, None, plot=lambda: plot_walk(g, growths[0].nodes))
    if animate is not None:
        with show_progress(quiet) as progress:
            animate_walk(g, growths[0].nodes, animate, progress=progress)
    if json:
        if is_single:
            show_json(growths[0].to_dict())
        else:
            sys.stdout.writelines(_format_documents(growths))
        return
    revisits = int(growths.revisits.sum())
    if revisits:
        print_remark(f"revisits left out, since only the first visit counts: {revisits}", quiet)
    if is_single:
        _show_walk(growths[0])
    else:
        _show_summary(growths)
        if len(growths) > _MAX_ROWS:
            print_remark(f"{len(growths) - _MAX_ROWS:,} more walks are not shown; --out writes all of them", quiet)


def _show_rows(names: list[str], rows: list[tuple[Any, ...]], document: dict[str, Any] | None, quiet: bool) -> None:
    """Show a document, or the first rows of a table if it is None."""
    if document is not None:
        show_json(document)
        return
    show_table("", names, rows[:_MAX_ROWS])
    if len(rows) > _MAX_ROWS:
        print_remark(f"{len(rows) - _MAX_ROWS:,} more rows are not shown; --out writes all of them", quiet)


def _list_steps(growth: Growth) -> tuple[list[str], list[tuple[Any, ...]]]:
    return list_rows({name: to_plain(values) for name, values in growth.columns().items()})


def _format_documents(growths: Growths) -> Iterator[str]:
    """One JSON document of all walks, in pieces."""
    yield '{"walks": [\n'
    for number, growth in enumerate(growths):
        who = {name: to_plain(values[number]) for name, values in growths.people.items()}
        yield (",\n" if number else "") + format_json(growth.to_dict() | who)
    yield '\n],\n"skipped": ' + format_json(growths.skipped.to_dict()) + "}\n"


def _show_walk(growth: Growth) -> None:
    show_table("", *_list_steps(growth))
    if growth.gaps:
        titles = ("opened by", "closed by", "opened at", "closed at", "lifetime")
        gaps = growth.gaps
        rows = [(gap.opened_by, gap.closed_by, gap.opened_at, gap.closed_at or "open", gap.lifetime) for gap in gaps]
        show_table("gaps", titles, rows)


def _show_summary(growths: Growths) -> None:
    """Show one row per walk, with the values at its end."""
    ends = ("nodes", "edges", "components", "gaps at the end", "opened", "closed", "compressibility", "conformable")
    rows = []
    for number, growth in enumerate(growths[:_MAX_ROWS]):
        closed = sum(gap.closed_at is not None for gap in growth.gaps)
        end = (int(growth.edges[-1]), int(growth.beta0[-1]), int(growth.beta1[-1]))
        who = (number, growth.user, growth.session)
        theories = (float(growth.compressibility[-1]), int(growth.conformable[-1]))
        rows.append([*who, len(growth), *end, len(growth.gaps), closed, *theories])
    show_table("", ("walk", "user", "session", *ends), rows)
