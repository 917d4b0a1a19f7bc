"""`curiograph data`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curiograph.cli import completion, options
from curiograph.cli.output import check_out, print_remark, show_json, show_progress, show_table, write_result
from curiograph.errors import FileFormatError

if TYPE_CHECKING:
    from curiograph.human.data.registry import DatasetSource

app = typer.Typer(help="Data sets of human walks: what there is, and how to get it.", no_args_is_help=True)


@app.command("list")
def list_datasets(out: options.Out = None, json: options.Json = False, quiet: options.Quiet = False) -> None:
    """List the data sets: source, licence, what to cite, and where they are on this machine.

    [bold]curiograph data list[/bold]
    """
    from curiograph.human.data.registry import SOURCES

    check_out(out, (".json", ".csv"))
    rows = [_described(source) for source in SOURCES.values()]
    document = {"datasets": rows}
    columns = list(rows[0])
    write_result(out, document, lambda: (columns, [list(row.values()) for row in rows]))
    if json:
        show_json(document)
        return
    show_table("", columns, [[value or "not here" for value in row.values()] for row in rows])


def _described(source: DatasetSource) -> dict[str, Any]:
    from curiograph.human.data.load import find_dataset

    try:
        found: object = find_dataset(source.name)
    except FileFormatError as error:  # one odd folder does not hide the rest of the list
        found = error
    return {
        "name": source.name,
        "megabytes": source.megabytes,
        "source": source.url,
        "licence": source.license,
        "citation": source.citation,
        "found": None if found is None else str(found),
    }


@app.command("get")
def get(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="As `curiograph data list` calls it.",
            show_default=False,
            autocompletion=completion.complete_sources,
        ),
    ],
    origin: Annotated[
        Path | None, typer.Option("--from", help="Take it from this folder, archive or file; no download.")
    ] = None,
    cache: Annotated[
        Path | None, typer.Option(help="Folder of data sets to put it in; that of the user without it.")
    ] = None,
    out: options.Out = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Download a data set, or take it from a copy; an interrupted download goes on where it stopped.

    [bold]curiograph data get wikispeedia[/bold]
    """
    from curiograph.human.data.download import get_dataset
    from curiograph.human.data.registry import get_source

    check_out(out, (".json", ".csv"))
    source = get_source(name)
    with show_progress(quiet) as say:
        say(f"getting {source.name}")
        folder = get_dataset(
            source.name, cache, origin, lambda message, share=None: say(f"{source.name}: {message}", share)
        )
    files = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
    document = {
        "name": source.name,
        "folder": str(folder),
        "files": files,
        "licence": source.license,
        "citation": source.citation,
    }
    write_result(out, document, lambda: (["file", "bytes"], list(files.items())))
    if json:
        show_json(document)
        return
    show_table("", ["file", "bytes"], list(files.items()))
    print_remark(f"{source.name} is in {folder}; {source.license}; cite {source.citation}", quiet)
    if cache is not None:
        print_remark(f"set CURIOGRAPH_DATA={cache} to have it found there", quiet)
