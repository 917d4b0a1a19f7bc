"""The command `curiograph measure`."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Sized
from math import isnan
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
from curiograph.validation import check_choice

if TYPE_CHECKING:
    from curiograph.growth.groups import GroupComparison
    from curiograph.growth.records import Growths
    from curiograph.skipped import Skipped

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
    max_dim: Annotated[int, typer.Option(help="Highest dimension of gaps; 2 and above need gudhi.")] = 1,
    no_compressibility: Annotated[
        bool, typer.Option("--no-compressibility", help="Do not compute compressibility (slow for long walks).")
    ] = False,
    weighted: Annotated[
        bool, typer.Option("--weighted", help="Compute compressibility with the weights of edges.")
    ] = False,
    texts: options.Texts = None,
    table: Annotated[
        str,
        typer.Option(
            help="Rows of the result for --walks: steps, gaps (with censored lifetimes), users, or persistence of gaps "
            "over the weights of edges, such as the similarities of --texts (one row per walk).",
            autocompletion=completion.complete_tables,
        ),
    ] = "steps",
    group: Annotated[
        str | None,
        typer.Option(help="Column with the group of each user: compare the groups, with intervals over people."),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(help="Compare groups after this number of nodes, without shorter walks. Default: whole walks."),
    ] = None,
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
    if walks is None and (any(columns.values()) or keep or no_header or group is not None or table != "steps"):
        raise SettingError(
            "options of tables and of people, such as --user, --session-gap, --table and --group, are for --walks FILE."
        )
    check_choice("--table", table, completion.complete_tables())
    if group is not None and table != "steps":
        raise SettingError("--group compares groups and --table lists single rows; give one of them.")
    if group is None and steps is not None:
        raise SettingError("--steps is the number of nodes at which groups are compared; give --group COLUMN with it.")
    g = options.open_graph(graph, directed)
    if texts is not None:
        g, weighted = options.read_similarity(texts, g, quiet, lenient=lenient).weigh(g), True
    kept = list(dict.fromkeys([*(keep or []), *([] if group is None else [group])]))
    people: Any
    if walks is not None:
        people = options.read_people(walks, g, lenient=lenient, no_header=no_header, keep=kept, **columns)
    else:
        labels = options.read_walk_file(walk_file) if walk_file is not None else options.split_labels(walk or "")
        people = [options.LabelReader(g).known_walk(labels, lenient)]
    if table == "persistence":
        from curiograph.growth.persistence import measure_persistence

        found = measure_persistence(g, people, lenient=lenient)
        options.show_skipped(found.walkers.skipped, quiet)
        document = found.to_dict() if json or (out is not None and out.suffix.lower() == ".json") else {}
        write_result(out, document, lambda: list_rows(found.columns()), found.plot)
        _show_rows(*list_rows(found.columns()), document if json else None, quiet)
        return
    with show_progress(quiet) as progress:
        settings: Any = {
            "max_dim": max_dim,
            "compressibility": not no_compressibility,
            "weighted": weighted,
            "lenient": lenient,
        }
        parallel: Any = {"engine": engine, "workers": workers, "address": address, "run": run}
        growths = measure_walks(g, people, progress=progress, **settings, **parallel)
    is_single = walks is None
    options.show_skipped(growths.skipped, quiet)
    if group is not None:
        from curiograph.growth.groups import compare_groups

        report_groups(compare_groups(growths, group, steps=steps, seed=seed), growths.skipped, out, json)
        return
    if table != "steps":
        _report_table(growths, table, seed, out, json, quiet)
        return
    if is_single:
        write_result(out, growths[0].to_dict(), lambda: _list_steps(growths), lambda: growths[0].plot())
    elif out is None or out.suffix.lower() in PICTURES:
        write_result(out, None, plot=growths.plot)
    else:  # one walk at a time: a hundred thousand at once would take gigabytes
        pieces = _format_csv(growths) if out.suffix.lower() == ".csv" else _format_documents(growths)
        with open_atomic(out) as stream:
            stream.writelines(piece.encode() for piece in pieces)
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
        _show_walk(growths)
    else:
        _show_summary(growths)
        if len(growths) > _MAX_ROWS:
            print_remark(f"{len(growths) - _MAX_ROWS:,} more walks are not shown; --out writes all of them", quiet)


def report_groups(found: GroupComparison, skipped: Skipped, out: Path | None, json: bool) -> None:
    """Write and show a comparison of groups."""
    document = found.to_dict() | {"skipped": skipped.to_dict()}
    write_result(out, document, lambda: list_rows(found.columns()), lambda: found.plot().axes[0])
    if json:
        show_json(document)
        return
    rows = [
        [
            result.measure,
            pair.group,
            pair.other,
            str(result.means[pair.group]),
            str(result.means[pair.other]),
            "" if isnan(pair.effect.value) else str(pair.effect),
            result.p_value,
            result.p_adjusted,
        ]
        for result in found.values()
        for pair in result.differences
    ]
    sizes = ", ".join(f"{name}: {_count_people(users)}" for name, users in found.people.items())
    left_out = f"; {_count_people(found.without_group)} without a group" if found.without_group else ""
    short = f"; {found.short_walks:,} walks are shorter than {found.steps} nodes" if found.steps is not None else ""
    show_table(
        f"means over people with 95 % intervals ({sizes}{left_out}{short})",
        ("measure", "group", "other", "mean", "mean of other", "Hedges' g", "p", "p, Holm"),
        rows,
    )
    print(found.answer)


def _count_people(users: Sized) -> str:
    return "1 person" if len(users) == 1 else f"{len(users):,} people"


def _report_table(growths: Growths, table: str, seed: int, out: Path | None, json: bool, quiet: bool) -> None:
    """Write and show one row per gap, with their survival as a picture, or one row per user."""
    from curiograph.growth.tables import PeopleTable, list_gaps

    columns = list_gaps(growths) if table == "gaps" else PeopleTable.from_growths(growths).columns()
    names, rows = list_rows(columns)
    document = {table: [dict(zip(names, row, strict=True)) for row in rows], "skipped": growths.skipped.to_dict()}
    plot = (lambda: growths.gap_survival(seed=seed).plot()) if table == "gaps" else growths.plot
    write_result(out, document, lambda: (names, rows), plot)
    _show_rows(names, rows, document if json else None, quiet)


def _show_rows(names: list[str], rows: list[tuple[Any, ...]], document: dict[str, Any] | None, quiet: bool) -> None:
    """Show a document, or the first rows of a table if it is None."""
    if document is not None:
        show_json(document)
        return
    show_table("", names, rows[:_MAX_ROWS])
    if len(rows) > _MAX_ROWS:
        print_remark(f"{len(rows) - _MAX_ROWS:,} more rows are not shown; --out writes all of them", quiet)


def _list_steps(growths: Growths, first: int = 0) -> tuple[list[str], list[list[Any]]]:
    """Columns and rows of a table with one row per step of each walk; walks are numbered from `first`."""
    kept = growths.user_columns
    user, session, *others = growths[0].columns()
    columns = ["walk", user, session, *kept, *others]
    rows = [
        [number, growth.user, growth.session, *(values.get(growth.user) for values in kept.values()), *step]
        for number, growth in enumerate(growths, start=first)
        for _, _, *step in zip(*growth.columns().values(), strict=True)
    ]
    return columns, rows


def _format_documents(growths: Growths) -> Iterator[str]:
    """One JSON document of all walks, in pieces."""
    yield '{"walks": [\n'
    for number, growth in enumerate(growths):
        yield (",\n" if number else "") + format_json(growth.to_dict())
    others = {name: value for name, value in growths[:0].to_dict().items() if name != "walks"}
    yield "\n],\n" + format_json(others).removeprefix("{").lstrip()
    yield "\n"


def _format_csv(growths: Growths) -> Iterator[str]:
    """CSV lines of all walks, one walk at a time."""
    for number in range(len(growths)):
        text = io.StringIO()
        columns, rows = _list_steps(growths[number : number + 1], number)
        csv.writer(text, lineterminator="\n").writerows([columns, *rows] if number == 0 else rows)
        yield text.getvalue()


def _show_walk(growths: Growths) -> None:
    columns, rows = _list_steps(growths)
    show_table("", columns[3:], [row[3:] for row in rows])
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
    ends = ("nodes", "edges", "components", "gaps at the end", "opened", "closed", "compressibility", "conformable")
    rows = []
    for number, growth in enumerate(growths[:_MAX_ROWS]):
        loops = [gap for gap in growth.gaps if gap.dim == 1]
        closed = sum(gap.closed_at is not None for gap in loops)
        end = (int(growth.edges[-1]), int(growth.beta0[-1]), int(growth.beta1[-1]))
        who = (number, growth.user, growth.session)
        theories = (float(growth.compressibility[-1]), int(growth.conformable[-1]))
        rows.append([*who, len(growth), *end, len(loops), closed, *theories])
    show_table("", ("walk", "user", "session", *ends), rows)
