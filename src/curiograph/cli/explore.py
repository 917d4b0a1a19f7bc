"""The command `curiograph explore`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

import curiograph as cg
from curiograph.cli import options
from curiograph.cli.output import PICTURES, check_out, emit, show_progress


def explore(
    graph: options.GraphArgument,
    output: options.Output,
    agent: options.AgentOption = "planner",
    reward: options.RewardOption = "igt",
    start: Annotated[str | None, typer.Option(help="Label of the first node. Default: a random node.")] = None,
    steps: options.Steps = 10,
    fallback: Annotated[
        Literal["frontier", "anywhere"], typer.Option(help="Candidates at a dead end: neighbors of the walk, or any.")
    ] = "frontier",
    directed: options.Directed = False,
) -> None:
    """Explore a graph with an agent; show the walk and its rewards. A .gif as --out animates the walk.

    [bold]curiograph explore toy:library --agent beam --reward igt --start music --out walk.png[/bold]
    """
    check_out(output.out, (".json", ".csv", *PICTURES, ".gif"))
    g = options.open_graph(graph, directed)
    first = None if start is None else options.read_labels(g, start)[0]
    walk = cg.explore(g, agent, reward, first, steps, fallback=fallback, seed=output.seed)
    if output.out is not None and output.out.suffix.lower() == ".gif":
        with show_progress(output.quiet) as progress:
            walk.animate(output.out, progress=progress)
    emit(output, walk, walk.to_frame(), draw=walk.plot, graph=g)
    if not output.json:
        end = f", ended early after {len(walk)} of {steps} nodes" if walk.ended_early else ""
        print(f"return {walk.total:.6g} by {walk.agent}{end}")
