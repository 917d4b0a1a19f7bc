"""The command `curiograph convert`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from curiograph.cli import options
from curiograph.cli.output import print_remark, show_json


def convert(
    graph: options.GraphArgument,
    target: Annotated[Path, typer.Argument(help="File to write, such as .safetensors.", show_default=False)],
    directed: options.Directed = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Read a graph and write it in another format.

    [bold]curiograph convert links.tsv links.safetensors --directed[/bold]
    """
    from curiograph.graph.io.write import write_graph

    g = options.open_graph(graph, directed)
    write_graph(g, target)
    if json:
        show_json({"file": str(target), "nodes": g.num_nodes, "edges": g.num_edges, "cleaning": asdict(g.cleaning)})
    else:
        print_remark(f"wrote {g!r} to {target}", quiet)
