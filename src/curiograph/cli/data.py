"""The commands `curiograph data list` and `curiograph data get`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from curiograph.cli import completion, options
from curiograph.cli.output import check_out, print_remark, show_json, show_progress, show_table, write_result
from curiograph.errors import FileFormatError

app = typer.Typer(help="List and download datasets of human walks.", no_args_is_help=True)


@app.command("list")
def list_datasets(out: options.Out = None, json: options.Json = False, quiet: options.Quiet = False) -> None:
    """List the datasets: source, license, citation, and the folder on this machine.

    [bold]curiograph data list[/bold]
    """
    from curiograph.human.data.datasets import SOURCES, find_dataset

    check_out(out, (".json", ".csv"))
    rows = []
    for source in SOURCES.values():
        try:
            found: object = find_dataset(source.name)
        except FileFormatError as error:  # an unreadable folder must not hide the rest of the list
            found = error
        rows.append(
            {
                "name": source.name,
                "megabytes": source.megabytes,
                "source": source.url,
                "licence": source.license,
                "citation": source.citation,
                "found": None if found is None else str(found),
            }
        )
    columns = list(rows[0])
    write_result(out, {"datasets": rows}, lambda: (columns, [list(row.values()) for row in rows]))
    if json:
        show_json({"datasets": rows})
        return
    show_table("", columns, [[value or "not here" for value in row.values()] for row in rows])


@app.command("get")
def get(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Name in `curiograph data list`.",
            show_default=False,
            autocompletion=completion.complete_sources,
        ),
    ],
    cache: Annotated[
        Path | None, typer.Option(help="Folder to store datasets in. Default: the cache folder of the user.")
    ] = None,
    out: options.Out = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Download a dataset.

    [bold]curiograph data get wikispeedia[/bold]
    """
    from curiograph.human.data.datasets import ALIASES, SOURCES, get_dataset

    check_out(out, (".json", ".csv"))
    with show_progress(quiet) as progress:
        progress(f"getting {name}")
        folder = get_dataset(name, cache, lambda message, share=None: progress(f"{name}: {message}", share))
    source = SOURCES[ALIASES.get(name, name)]
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
        print_remark(f"set CURIOGRAPH_DATA={cache} so that it is found there", quiet)
