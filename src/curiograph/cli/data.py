"""The commands `curiograph data list` and `curiograph data get`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from curiograph.cli import options
from curiograph.cli.output import check_out, emit, print_remark, show_progress

app = typer.Typer(help="List and download datasets of human walks and graphs.", no_args_is_help=True)


@app.command("list")
@options.expand_options
def list_datasets(output: options.Output) -> None:
    """List the datasets: source, license, citation, and the folder on this machine.

    [bold]curiograph data list[/bold]
    """
    from curiograph.human.data.datasets import SOURCES, find_dataset

    check_out(output.out)
    rows = [
        {
            "name": source.name,
            "megabytes": source.megabytes,
            "source": source.url,
            "license": source.license,
            "citation": source.citation,
            "found": str(find_dataset(source.name) or "not here"),
        }
        for source in SOURCES.values()
    ]
    emit(output, {"rows": rows}, rows, columns=["name", "megabytes", "found", "license"])


@app.command("get")
@options.expand_options
def get(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name in `curiograph data list`.", show_default=False)],
    output: options.Output,
    cache: Annotated[
        Path | None, typer.Option(help="Folder to store datasets in. Default: the cache folder of the user.")
    ] = None,
) -> None:
    """Download a dataset.

    [bold]curiograph data get wikispeedia[/bold]
    """
    from curiograph.human.data.datasets import SOURCES, get_dataset

    check_out(output.out)
    with show_progress(output.quiet) as progress:
        progress(f"getting {name}")
        folder = get_dataset(name, cache, progress)
    rows = [{"file": path.name, "bytes": path.stat().st_size} for path in sorted(folder.iterdir())]
    emit(output, {"name": name, "folder": str(folder), "rows": rows}, rows)
    source = SOURCES[name]
    print_remark(f"{name} is in {folder}; {source.license}; cite {source.citation}", output.quiet)
