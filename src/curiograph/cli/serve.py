"""`curiograph serve`."""

from __future__ import annotations

import os
from functools import partial
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


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on; beyond this machine, --token is needed.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(help="Port; 0 takes any that is free.", min=0, max=65535)] = 8000,
    graph: Annotated[
        list[str] | None, typer.Option(metavar="NAME=FILE", help="Offer this graph too; may be given several times.")
    ] = None,
    directed: options.Directed = False,
    data: Annotated[
        Path | None, typer.Option(help="Folder of data sets; CURIOGRAPH_DATA by default.", show_default=False)
    ] = None,
    parts: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FILE",
            help="What `curiograph recommend --prepare --parts FILE` computed for the graph of that name.",
        ),
    ] = None,
    prepare: Annotated[
        bool, typer.Option("--prepare", help="Compute what is missing in --parts in the background, and keep it there.")
    ] = False,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="CURIOGRAPH_TOKEN",
            help="What clients have to bring; in the environment, others cannot see it.",
            show_default=False,
        ),
    ] = None,
    no_token: Annotated[
        bool, typer.Option("--no-token", help="Serve beyond this machine to anyone, without a token.")
    ] = False,
    limit: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=NUMBER", help="Change a limit, as in steps=100; may be given several times."),
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Serve the page and the REST service.

    [bold]curiograph serve --port 8000 --graph links=links.npz[/bold]
    """
    from curiograph.optional import import_optional

    for package in ("fastapi", "uvicorn", "nicegui", "prometheus_client", "orjson", "python_multipart"):
        import_optional(package, "web", "The service and its page")
    from curiograph.service.graph_store import GraphStore
    from curiograph.service.server import format_url, is_loopback, open_socket, run_server

    limits = _limits(limit or [])
    files = _files("--graph", graph or [])
    kept = _files("--parts", parts or [], there=not prepare)
    token = None if token is None else token.strip()
    if token == "":
        raise SettingError("the token is empty; give --token some text that cannot be guessed.")
    if token is not None and no_token:
        raise SettingError("there is a token (--token or CURIOGRAPH_TOKEN) and --no-token; leave one of them out.")
    if not is_loopback(host) and token is None and not no_token:
        raise SettingError(
            f"--host {host} can be reached from other machines: set CURIOGRAPH_TOKEN (or give --token TOKEN), "
            "or --no-token to let anyone in."
        )
    if prepare and not kept:
        raise SettingError("--prepare needs --parts NAME=FILE to keep what it computes.")
    app = _app(GraphStore(limits, files, data, directed), kept, prepare, token, host)
    bound = open_socket(host, port)
    address = format_url(bound)

    def ready() -> None:
        if json:
            show_json({"address": address, "pid": os.getpid()})
        else:
            print_remark(f"serving on {address} (Ctrl-C stops)", quiet)

    run_server(app, bound, ready)


def _app(shelf: GraphStore, kept: dict[str, Path], prepare: bool, token: str | None, host: str) -> FastAPI:
    """The application, which reads its parts before it says that it is ready."""
    from curiograph.service.app import create_app
    from curiograph.service.page.mount import add_page
    from curiograph.service.security import LOOPBACK_HOSTS
    from curiograph.service.server import is_loopback
    from curiograph.service.tasks import prepare_recommendations
    from curiograph.service.warmup import warm_up

    def warm() -> None:
        warm_up(shelf)
        for name, path in kept.items():
            recommender = shelf.open(name).recommender
            if path.exists():
                recommender.load(path)
                recommender.prepare_loaded()
            if prepare:
                app.state.service.jobs.start(
                    "prepare", name, partial(prepare_recommendations, recommender, None, file=path)
                )

    app = create_app(
        shelf, shelf.limits, token, hosts=(*LOOPBACK_HOSTS, host) if is_loopback(host) else None, warm=warm
    )
    add_page(app)
    return app


def _files(option: str, texts: list[str], there: bool = True) -> dict[str, Path]:
    """Files by name."""
    found = {}
    for text in texts:
        name, equals, path = text.partition("=")
        if not (name and equals and path):
            raise SettingError(f"{option} is {text!r}; write a name and a file, as in {option} links=FILE.")
        if there and not Path(path).is_file():
            raise FileFormatError(f"{path}: there is no such file; check its name and folder.")
        if option == "--parts":
            check_out(Path(path), (".safetensors",), option)
        found[name] = Path(path)
    return found


def _limits(texts: list[str]) -> Limits:
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
