"""The command `curiograph serve`."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from curiograph.cli import options
from curiograph.cli.output import print_remark, show_progress
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
    allowed_host: Annotated[
        list[str] | None, typer.Option(help="Accept requests for this host name, such as a proxy's; may be repeated.")
    ] = None,
    root_path: Annotated[str, typer.Option(help="Prefix of all paths that a proxy adds, such as /curiograph.")] = "",
    store: Annotated[
        Path | None, typer.Option(help="Folder that keeps uploads after the service ends.", show_default=False)
    ] = None,
    seconds: Annotated[int, typer.Option(help="Maximum time to answer a request.", min=1)] = 30,
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

    token, hosts = token and token.strip(), allowed_host or []
    settings = ServiceSettings(
        host, files, directed, part_files, token, no_token, hosts, root_path, store, seconds=seconds
    )
    with ExitStack() as until_ready:
        app = create_app(settings, progress=until_ready.enter_context(show_progress(output.quiet)))
        add_page(app)
        listener = open_socket(host, port)
        address = format_url(listener)

        def report_address() -> None:
            until_ready.close()
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
        if not Path(path).exists():
            raise FileFormatError(f"{path}: there is no such file; check its name and folder.")
        files[name] = Path(path)
    return files
