"""The command `curiograph serve`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curiograph.cli import options
from curiograph.cli.output import check_out, print_remark, show_json
from curiograph.errors import FileFormatError, SettingError

if TYPE_CHECKING:
    from fastapi import FastAPI

    from curiograph.service.config import Limits
    from curiograph.service.graph_store import GraphStore
    from curiograph.service.reload import Reloader


def serve(
    host: Annotated[
        str, typer.Option(help="Address to listen on; one that other machines can reach needs --token.")
    ] = ("127.0.0.1"),
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
    prepare: Annotated[
        bool,
        typer.Option("--prepare", help="Prepare the nodes missing in --parts in the background and store them there."),
    ] = False,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="CURIOGRAPH_TOKEN",
            help="Token that clients must send; set it in the environment to hide it from process lists.",
            show_default=False,
        ),
    ] = None,
    no_token: Annotated[bool, typer.Option("--no-token", help="Serve other machines without a token.")] = False,
    limit: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=NUMBER", help="Change a limit, as in steps=100; may be repeated."),
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Serve the page and the REST service.

    [bold]curiograph serve --port 8000 --graph links=links.safetensors[/bold]
    """
    from curiograph.optional import import_optional

    for package in ("fastapi", "uvicorn", "nicegui", "prometheus_client", "orjson", "python_multipart"):
        import_optional(package, "web", "The service and its page")
    from curiograph.service.graph_store import GraphStore, OpenGraph
    from curiograph.service.reload import Reloader
    from curiograph.service.server import format_url, is_loopback, open_socket, run_server

    limits = _parse_limits(limit or [])
    files = _parse_files("--graph", graph or [])
    part_files = _parse_files("--parts", parts or [], must_exist=not prepare)
    token = None if token is None else token.strip()
    if token == "":
        raise SettingError("the token is empty; give --token a text that cannot be guessed.")
    if token is not None and no_token:
        raise SettingError("there is a token (--token or CURIOGRAPH_TOKEN) and --no-token; leave one of them out.")
    if not is_loopback(host) and token is None and not no_token:
        raise SettingError(
            f"--host {host} can be reached from other machines: set CURIOGRAPH_TOKEN (or give --token TOKEN), "
            "or --no-token to allow access without a token."
        )
    if prepare and not part_files:
        raise SettingError("--prepare needs --parts NAME=FILE to store the prepared nodes.")
    store = GraphStore(limits, files, data, directed)
    names = [info.id for info in store.list_graphs()]
    for name in part_files:
        if name not in names:
            raise SettingError(f"--parts is for the graph {name!r}; the graphs are {', '.join(names)}.")
    # --prepare writes the files itself; created before they are read, so that no later change is missed
    reloader = None if prepare else Reloader(store, files, part_files)
    for name in files:  # report a malformed file now, not at the first request
        entry = store.find(name)
        entry.opened = OpenGraph(entry.read())
    app = _create_app(store, part_files, prepare, token, host, reloader)
    listener = open_socket(host, port)
    address = format_url(listener)

    def report_address() -> None:
        if json:
            show_json({"address": address, "pid": os.getpid()})
        else:
            print_remark(f"serving on {address} (stop with Ctrl-C)", quiet)

    run_server(app, listener, report_address)


def _create_app(
    store: GraphStore,
    part_files: dict[str, Path],
    prepare: bool,
    token: str | None,
    host: str,
    reloader: Reloader | None,
) -> FastAPI:
    """Create the application; it loads prepared nodes before it reports that it is ready."""
    from curiograph.service.app import create_app
    from curiograph.service.page.view import add_page
    from curiograph.service.page_visits import watch_pages
    from curiograph.service.security import LOOPBACK_HOSTS
    from curiograph.service.server import is_loopback
    from curiograph.service.warm import warm_up

    def load_prepared() -> None:
        warm_up(store)
        for name, path in part_files.items():
            recommender = store.open(name).recommender
            if path.exists():
                recommender.prepare(recommender.load(path))

    app = create_app(
        store,
        store.limits,
        token,
        hosts=(*LOOPBACK_HOSTS, host) if is_loopback(host) else None,
        warm=load_prepared,
        reloader=reloader,
        prepare=part_files if prepare else {},
    )
    add_page(app)
    watch_pages()
    return app


def _parse_files(option: str, texts: list[str], must_exist: bool = True) -> dict[str, Path]:
    """Parse NAME=FILE options to files by name."""
    files = {}
    for text in texts:
        name, equals, path = text.partition("=")
        if not (name and equals and path):
            raise SettingError(f"{option} is {text!r}; write a name and a file, as in {option} links=FILE.")
        if must_exist and not Path(path).is_file():
            raise FileFormatError(f"{path}: there is no such file; check its name and folder.")
        if option == "--parts":
            check_out(Path(path), (".safetensors",), option)
        files[name] = Path(path)
    return files


def _parse_limits(texts: list[str]) -> Limits:
    from dataclasses import fields

    from curiograph.service.config import Limits

    known = [each.name for each in fields(Limits)]
    given = {}
    for text in texts:
        name, _, number = text.partition("=")
        if name not in known or not number.isdecimal():
            raise SettingError(f"--limit is {text!r}; write NAME=NUMBER with one of {', '.join(known)}.")
        given[name] = int(number)
    return Limits(**given)
