"""The command `curiograph mcp`."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated

import typer

from curiograph.cli import options
from curiograph.errors import import_optional


def mcp(
    places: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER_OR_FILE",
            help="Folders of Markdown notes or graph files, and graph files; nothing else is read.",
            show_default=False,
        ),
    ],
    output: options.Output,
) -> None:
    """Let a language model read graphs and notes: a server of the Model Context Protocol on stdin and stdout.

    Its tools are open_graph, gaps, look, recommend and growth.

    [bold]curiograph mcp notes links.tsv[/bold]
    """
    import_optional("mcp", "mcp", "Servers of the Model Context Protocol")
    from curiograph.service.mcp_server import create_server

    server = create_server(places, output.seed)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)  # end at once: a thread that waits for stdin cannot be interrupted
    server.run("stdio")
