"""The command `curiograph rank`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import curiograph as cg
from curiograph.cli import options
from curiograph.cli.output import PICTURES, check_out, emit, print_remark, show_progress
from curiograph.errors import SettingError


def rank(
    graph: options.GraphArgument,
    output: options.Output,
    history: options.History = None,
    agent: Annotated[
        str | None, typer.Option(help="Agent of curious PageRank (greedy, igt-rg, ...). Default: plain PageRank.")
    ] = None,
    reward: options.RewardOption = "igt",
    alpha: options.Alpha = 0.85,
    p_g: Annotated[
        float, typer.Option("--p-g", help="0: always the agent's best candidate; 1: a uniformly random candidate.")
    ] = 0.5,
    k: options.Count = 10,
    max_walks: Annotated[int, typer.Option(help="Maximum number of curious walkers.")] = 100_000,
    directed: options.Directed = False,
) -> None:
    """Rank nodes by PageRank, or by curious PageRank with an agent; personalized by a history.

    [bold]curiograph rank toy:library --history music,physics --agent greedy --reward igt[/bold]
    """
    check_out(output.out, (".json", ".csv", *PICTURES))
    if agent is None and (reward, p_g) != ("igt", 0.5):
        raise SettingError("--reward and --p-g belong to curious PageRank; give an --agent, such as greedy.")
    g = options.open_graph(graph, directed)
    labels = None if history is None else options.read_labels(g, history)
    with show_progress(output.quiet) as progress:
        progress("ranking")
        if agent is None:
            eta: Any = cg.pagerank(g, alpha, labels)
            facts = {"alpha": alpha, "residual": eta.residual, "iterations": eta.iterations}
        else:
            settings: Any = {"reward": reward, "max_walks": max_walks, "seed": output.seed}
            eta = cg.curious_pagerank(g, agent, alpha, labels, p_g=p_g, **settings)
            facts = {name: getattr(eta, name) for name in ("agent", "alpha", "p_g", "walks", "converged")}
    rows: list[dict[str, Any]] = []
    for place, (node, score) in enumerate(eta.top(k), start=1):
        rows.append({"rank": place, "node": node, "score": score})
        if agent is not None:
            rows[-1]["stderr"] = float(eta.stderr[g.position(node)])
    emit(output, {"history": labels, **facts, "rows": rows}, rows, draw=eta.plot, graph=g)
    if not facts.get("converged", True):
        print_remark("the standard errors are above 0.05 of the scores; raise --max-walks.", output.quiet)
