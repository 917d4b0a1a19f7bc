"""The command `curiograph explore`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from curiograph.cli import options
from curiograph.cli.output import ANIMATIONS, PICTURES, check_out, show_json, show_progress, show_table, write_result


def explore(
    graph: options.GraphArgument,
    agent: options.Agent = "planner",
    reward: options.Reward = "igt",
    start: Annotated[str | None, typer.Option(help="Label of the first node. Default: a random node.")] = None,
    steps: options.Steps = 10,
    fallback: options.Fallback = "frontier",
    plot: options.Plot = None,
    animate: options.Animate = None,
    directed: options.Directed = False,
    seed: options.Seed = 0,
    out: options.Out = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Explore a graph with an agent; show the walk and its rewards.

    [bold]curiograph explore toy:library --agent beam --reward igt --start music --plot walk.png[/bold]
    """
    from curiograph.agents.explore import explore as explore_graph

    check_out(out, (".json", ".csv", *PICTURES))
    check_out(plot, PICTURES, "--plot")
    check_out(animate, ANIMATIONS, "--animate")
    g = options.open_graph(graph, directed)
    label = None if start is None else options.LabelReader(g).label(start)
    checked_later: Any = fallback
    walk = explore_graph(g, agent, reward, label, steps, fallback=checked_later, seed=seed)
    rows = list(zip(range(1, len(walk) + 1), walk.nodes, [None, *walk.rewards], strict=True))
    columns = ("step", "node", walk.reward)
    write_result(out, walk.to_dict(), lambda: (columns, rows), walk.plot)
    write_result(plot, walk.to_dict(), plot=walk.plot)
    if animate is not None:
        with show_progress(quiet) as progress:
            walk.animate(animate, progress=progress)
    if json:
        show_json(walk.to_dict())
    else:
        show_table("", columns, rows)
        end = f", ended early after {len(walk)} of {steps} nodes" if walk.ended_early else ""
        print(f"return {walk.total:.6g} by {walk.agent}{end}")
