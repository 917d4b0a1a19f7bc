"""The command `curiograph profile`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from curiograph.cli import completion, options
from curiograph.cli.output import (
    PICTURES,
    check_folder,
    check_out,
    list_rows,
    print_remark,
    show_json,
    show_progress,
    show_table,
    write_result,
)
from curiograph.errors import SettingError
from curiograph.results import to_plain
from curiograph.validation import check_choice, check_integer

_MAX_ROWS = 200  # walks or people that a table shows


def get_axes(drawn: Any) -> Any:
    """Return axes of a plot, which is a figure or axes."""
    return drawn.axes[0] if hasattr(drawn, "subplots") else drawn


def profile(
    graph: options.GraphArgument,
    walks: Annotated[
        Path,
        typer.Option(help="File with one walk per line, or a table of events: user, page, time; - reads stdin."),
    ],
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            help="Measure or group of measures: structure, communities, gaps, compression, conformation, steps, "
            "sequence, meaning; may be repeated. Default: all.",
            autocompletion=completion.complete_measures,
        ),
    ] = None,
    table: Annotated[
        str,
        typer.Option(
            help="Rows of the result: walks, or users with means over their walks.",
            autocompletion=completion.complete_profile_tables,
        ),
    ] = "walks",
    group: Annotated[
        str | None,
        typer.Option(help="Column with the group of each user: compare the groups, with intervals over people."),
    ] = None,
    nodes: Annotated[
        int | None, typer.Option(help="Cut walks after this number of distinct nodes, without shorter ones.")
    ] = None,
    texts: options.Texts = None,
    styles: Annotated[
        bool, typer.Option("--styles", help="Position of each user between busybody and hunter, and its reliability.")
    ] = False,
    block: Annotated[
        int | None,
        typer.Option(
            help="Distinct nodes of a block for --styles, into which walks are cut; 0 takes whole walks. Default: 10."
        ),
    ] = None,
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
    """Compute the measures of knowledge networks that the literature reports, for each walk or user.

    [bold]curiograph profile links.csv --walks log.csv --session-gap 30min --table users --out people.csv[/bold]
    """
    from curiograph.human.people.group_comparison import compare_groups
    from curiograph.human.people.profile import profile as profile_walks
    from curiograph.parallel import resolve_engine

    check_out(out, (".json", ".csv", *PICTURES))
    check_folder(run, "--run")
    check_choice("--table", table, completion.complete_profile_tables())
    if sum((table != "walks", group is not None, styles)) > 1:
        raise SettingError("give only one of --table users, --group and --styles.")
    if block is not None and not styles:
        raise SettingError("--block is the size of the blocks of --styles; give --styles with it.")
    if block is not None and block != 0:
        check_integer("--block", block, 3, "clustering needs blocks of 3 nodes or more, or 0 for whole walks")
    g = options.open_graph(graph, directed)
    similarity = None if texts is None else options.read_similarity(texts, g, quiet, lenient=lenient)
    kept = list(dict.fromkeys([*(keep or []), *([] if group is None else [group])]))
    columns: Any = {"user": user, "item": item, "time": time, "session": session, "session_gap": session_gap}
    people = options.read_people(walks, g, lenient=lenient, no_header=no_header, keep=kept, **columns)
    with show_progress(quiet) as progress:
        settings: Any = {"measures": measures or None, "nodes": nodes, "similarity": similarity}
        backend = resolve_engine(engine, workers, address, run)
        found = profile_walks(g, people, engine=backend, progress=progress, **settings)
    skipped = found.walks.skipped
    options.show_skipped(skipped, quiet)
    result: Any = found
    if group is not None:
        result = compare_groups(found, group, seed=seed)
    elif styles:
        result = found.styles(None if block == 0 else block or 10, seed=seed)
    columns = found.per_user().to_dict("list") if table == "users" else result.columns()
    names, rows = list_rows({name: to_plain(values) for name, values in columns.items()})
    document = {**result.to_dict(), "skipped": skipped.to_dict()}
    if table == "users":
        document["rows"] = [dict(zip(names, row, strict=True)) for row in rows]
    write_result(out, document, lambda: (names, rows), lambda: get_axes(result.plot()))
    if json:
        show_json(document)
        return
    show_table("", names, rows[:_MAX_ROWS])
    if len(rows) > _MAX_ROWS:
        print_remark(f"{len(rows) - _MAX_ROWS:,} more rows are not shown; --out writes all of them", quiet)
    if group is not None or styles:
        print(result.answer)
