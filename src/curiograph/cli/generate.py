"""The command `curiograph generate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from curiograph.cli import completion, options
from curiograph.cli.output import check_out, print_remark, show_json, show_progress


def generate(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="ws (ring with shortcuts), rg (points on a torus) or pl (power-law degrees).",
            autocompletion=completion.complete_large_graphs,
        ),
    ],
    out: Annotated[Path, typer.Option(help="File to write: .npz, which opens by memory map.", show_default=False)],
    nodes: Annotated[int, typer.Option(help="Number of nodes.")] = 1_000_000,
    mean_degree: Annotated[int, typer.Option(help="Mean degree, an even number.")] = 20,
    max_degree: Annotated[int, typer.Option(help="Maximum degree, for pl only.")] = 1000,
    seed: options.Seed = 0,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Generate a large random graph whose degrees do not depend on its size, and write it to a file.

    [bold]curiograph generate ws --nodes 1000000 --mean-degree 20 --out million.npz[/bold]
    """
    from curiograph.graph.generators import estimate_large_bytes, generate_large
    from curiograph.parallel.memory import check_memory

    check_out(out, (".npz",))
    check_memory(estimate_large_bytes(kind, nodes, mean_degree), "draw fewer --nodes, or a lower --mean-degree")
    with show_progress(quiet) as progress:
        progress(f"generating {nodes:,} nodes")
        g = generate_large(kind, nodes, mean_degree=mean_degree, max_degree=max_degree, seed=seed)
        progress(f"writing {out}")
        g.save(str(out))
    if json:
        show_json({"file": str(out), "nodes": g.num_nodes, "edges": g.num_edges})
    else:
        print_remark(f"wrote {g!r} to {out}", quiet)
