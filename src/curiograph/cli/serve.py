"""The command `curiograph serve`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from curiograph.cli import options
from curiograph.cli.output import print_remark
from curiograph.errors import FileFormatError, SettingError


def serve(
    output: options.Output,
    host: Annotated[
        str, typer.Option(help="Address to listen on; one that other machines can reach needs --token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 selects a free one.", min=0, max=65535)] = 8000,
    graph: Annotated[
        list[str] | None, typer.Option(metavar="NAME=FILE", help="Serve this graph as well; may be repeated.")
    ] = None,
    directed: options.Directed = False,
    data: Annotated[
        Path | None, typer.Option(help="Folder of datasets. Default: CURIOGRAPH_DATA.", show_default=False)
    ] = None,
    parts: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FILE",
            help="Prepared nodes of the graph NAME, from `curiograph recommend --prepare --parts FILE`.",
        ),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="CURIOGRAPH_TOKEN",
            help="Token that clients must send; set it in the environment to hide it from process lists.",
            show_default=False,
        ),
    ] = None,
    no_token: Annotated[bool, typer.Option("--no-token", help="Serve other machines without a token.")] = False,
    seconds: Annotated[int, typer.Option(help="Maximum time to answer a request.", min=1)] = 30,
    steps: Annotated[int, typer.Option(help="Maximum number of nodes of a walk or history.", min=1)] = 500,
) -> None:
    """Serve the page and the REST service.

    [bold]curiograph serve --port 8000 --graph links=links.safetensors[/bold]
    """
    files, part_files = _parse_files("--graph", graph or []), _parse_files("--parts", parts or [])
    from curiograph.errors import import_optional

    for package in ("fastapi", "uvicorn", "pebble", "prometheus_client", "python_multipart"):
        import_optional(package, "web", "The service and its page")
    from curiograph.service.app import create_app
    from curiograph.service.page_files import add_page
    from curiograph.service.server import format_url, open_socket, run_server
    from curiograph.service.server_settings import ServiceSettings

    token = token and token.strip()
    settings = ServiceSettings(host, files, directed, data, part_files, token, no_token, seconds, steps)
    app = create_app(settings)
    add_page(app)
    listener = open_socket(host, port)
    address = format_url(listener)

    def report_address() -> None:
        if output.json:
            print(json.dumps({"address": address, "pid": os.getpid()}), flush=True)
        else:
            print_remark(f"serving on {address} (stop with Ctrl-C)", output.quiet)

    run_server(app, listener, report_address)


def _parse_files(option: str, texts: list[str]) -> dict[str, Path]:
    """Parse NAME=FILE options to files by name."""
    files = {}
    for text in texts:
        name, _, path = text.partition("=")
        if not (name and path):
            raise SettingError(f"{option} is {text!r}; write a name and a file, as in {option} links=FILE.")
        if not Path(path).is_file():
            raise FileFormatError(f"{path}: there is no such file; check its name and folder.")
        files[name] = Path(path)
    return files
