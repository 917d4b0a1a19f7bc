"""`curiograph bench`, `convert`, `generate` and `warmup`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from curiograph.cli import completion, options
from curiograph.cli.output import check_out, print_remark, show_json, show_progress, show_table, write_result


def bench(
    quick: Annotated[bool, typer.Option("--quick", help="Fewer repeats and smaller sizes, under a minute.")] = False,
    load: Annotated[
        bool, typer.Option("--load", help="Instead, load a server with requests for recommendations; needs wrk.")
    ] = False,
    page: Annotated[
        bool, typer.Option("--page", help="Instead, time the page in a browser; needs chromium and playwright.")
    ] = False,
    scale: Annotated[
        bool,
        typer.Option("--scale", help="Instead, measure what many tasks and large graphs cost: half an hour."),
    ] = False,
    nodes: Annotated[int, typer.Option(help="Of --scale: nodes of the largest graph.")] = 1_000_000,
    graph: Annotated[
        Path | None, typer.Option(help="Of --load: a graph of yours instead of Wikispeedia.", show_default=False)
    ] = None,
    seconds: Annotated[int, typer.Option(help="Of --load: how long.", min=1)] = 60,
    seed: options.Seed = 0,
    out: options.Out = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Measure speed side by side with other libraries, in one run on this machine."""
    check_out(out, (".json",))
    if load:
        _bench_load(graph, seconds, seed, out, json, quiet)
        return
    if page:
        _bench_page(seed, out, json, quiet)
        return
    if scale:
        _bench_scale(nodes, quick, seed, out, json, quiet)
        return
    from benchmarks.run import run

    with show_progress(quiet) as say:
        report = run(quick=quick, seed=seed, progress=say)
    document = report.to_dict()
    write_result(out, document)
    if json:
        show_json(document)
        return
    show_table("", ("what", "size", "ours", "peer", "peer's", "ratio", "target"), report.rows())
    for line in report.remarks():
        print_remark(line, quiet)


def _bench_load(graph: Path | None, seconds: int, seed: int, out: Path | None, json: bool, quiet: bool) -> None:
    from benchmarks.load import COLUMNS, run_load

    with show_progress(quiet) as say:
        loads = run_load(graph, seconds, seed, say)
    document = {"loads": [load.to_dict() for load in loads]}
    write_result(out, document)
    if json:
        show_json(document)
        return
    title = f"ten recommendations on {loads[0].graph}, {loads[0].connections} connections, {loads[0].seconds:.0f} s"
    show_table(title, COLUMNS, [load.row() for load in loads])


def _bench_page(seed: int, out: Path | None, json: bool, quiet: bool) -> None:
    from benchmarks.page import COLUMNS, run_page

    with show_progress(quiet) as say:
        timed = run_page(seed, say)
    document = {"page": [each.to_dict() for each in timed]}
    write_result(out, document)
    if json:
        show_json(document)
        return
    show_table("the page in chromium, without a window", COLUMNS, [each.row() for each in timed])


def _bench_scale(nodes: int, quick: bool, seed: int, out: Path | None, json: bool, quiet: bool) -> None:
    from benchmarks.scale import COLUMNS, run_scale

    with show_progress(quiet) as say:
        found = run_scale(nodes, quick, seed, say)
    document = found.to_dict()
    write_result(out, document)
    if json:
        show_json(document)
        return
    show_table("many tasks and large graphs", COLUMNS, [row.cells() for row in found.rows])


def convert(
    graph: options.GraphArgument,
    target: Annotated[Path, typer.Argument(help="File to write: .npz opens by memory map.", show_default=False)],
    directed: options.Directed = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Read a graph and write it in another format.

    [bold]curiograph convert links.tsv links.npz --directed[/bold]
    """
    from curiograph.graph.io.write import write_graph

    g = options.open_graph(graph, directed)
    write_graph(g, target)
    if json:
        show_json({"file": str(target), "nodes": g.num_nodes, "edges": g.num_edges, "cleaning": asdict(g.cleaning)})
    else:
        print_remark(f"wrote {g!r} to {target}", quiet)


def generate(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="ws, a ring with shortcuts; rg, points on a torus; pl, a power law of degrees.",
            autocompletion=completion.complete_large_graphs,
        ),
    ],
    out: Annotated[Path, typer.Option(help="File to write: .npz opens by memory map.", show_default=False)],
    nodes: Annotated[int, typer.Option(help="How many nodes.")] = 1_000_000,
    mean_degree: Annotated[int, typer.Option(help="Neighbours of a node on average, an even number.")] = 20,
    max_degree: Annotated[int, typer.Option(help="Of pl: the highest degree.")] = 1000,
    seed: options.Seed = 0,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Draw a large random graph whose degrees do not depend on its size, and write it to a file.

    [bold]curiograph generate ws --nodes 1000000 --mean-degree 20 --out million.npz[/bold]
    """
    from curiograph.graph.generators import estimate_large_bytes, generate_large
    from curiograph.parallel.memory import check_memory

    check_out(out, (".npz",))
    check_memory(estimate_large_bytes(kind, nodes, mean_degree), "draw fewer --nodes, or a lower --mean-degree")
    with show_progress(quiet) as say:
        say(f"drawing {nodes:,} nodes")
        g = generate_large(kind, nodes, mean_degree=mean_degree, max_degree=max_degree, seed=seed)
        say(f"writing {out}")
        g.save(str(out))
    if json:
        show_json({"file": str(out), "nodes": g.num_nodes, "edges": g.num_edges})
    else:
        print_remark(f"wrote {g!r} to {out}", quiet)


def warmup(json: options.Json = False, quiet: options.Quiet = False) -> None:
    """Compile all kernels ahead of time, so that the first real call is fast."""
    from curiograph.warmup import warm_up

    with show_progress(quiet) as say:
        say("compiling kernels")
        seconds = warm_up()
    if json:
        show_json({"seconds": seconds})
    else:
        print_remark(f"kernels ready after {seconds:.1f} s", quiet)
