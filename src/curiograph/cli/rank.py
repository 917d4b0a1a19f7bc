"""The command `curiograph rank`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from curiograph.cli import completion, options
from curiograph.cli.output import (
    PICTURES,
    check_folder,
    check_out,
    print_remark,
    show_json,
    show_progress,
    show_table,
    write_result,
)
from curiograph.errors import SettingError

if TYPE_CHECKING:
    from curiograph.human.trajectories import Trajectories


def rank(
    graph: options.GraphArgument,
    history: options.History = None,
    histories: options.Histories = None,
    history_weights: Annotated[
        str | None, typer.Option(help="A weight for each node of the history, separated by commas.")
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            help="Agent of curious PageRank (greedy, igt-rg, ...). Default: plain PageRank.",
            autocompletion=completion.complete_agents,
        ),
    ] = None,
    reward: options.Reward = "igt",
    alpha: options.Alpha = 0.85,
    p_g: options.Greediness = 0.5,
    k: options.Count = 10,
    tolerance: Annotated[float, typer.Option(help="Relative standard error to reach for the 20 best scores.")] = 0.05,
    max_walks: Annotated[int, typer.Option(help="Maximum number of walkers.")] = 100_000,
    fallback: options.Fallback = "frontier",
    user: options.UserColumn = None,
    item: options.ItemColumn = None,
    time: options.TimeColumn = None,
    session: options.SessionColumn = None,
    session_gap: options.SessionGap = None,
    no_header: options.NoHeader = False,
    lenient: options.Lenient = False,
    directed: options.Directed = False,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    address: options.Address = None,
    run: options.Run = None,
    seed: options.Seed = 0,
    out: options.Out = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Rank nodes by PageRank, or by curious PageRank with an agent; personalized by a history.

    [bold]curiograph rank toy:library --history music,physics --agent greedy --reward igt[/bold]
    """
    check_out(out, (".json", ".csv", *PICTURES) if histories is None else (".json", ".csv"))
    if history is not None and histories is not None:
        raise SettingError("give --history a,b,c or --histories FILE, not both.")
    if histories is not None and history_weights is not None:
        raise SettingError("--history-weights are for one history, given as --history a,b,c.")
    if agent is None:
        changed = {
            "--p-g": p_g != 0.5,
            "--fallback": fallback != "frontier",
            "--tolerance": tolerance != 0.05,
            "--max-walks": max_walks != 100_000,
            "--reward": reward != "igt",
            "--engine": engine != "local",
            "--run": run is not None,
            "--address": address is not None,
            "--workers": workers is not None,
        }
        for option in changed:
            if changed[option]:
                raise SettingError(f"{option} is for curious PageRank only; add --agent, as in --agent greedy.")
    elif histories is None and (engine, workers, address, run) != ("local", None, None, None):
        raise SettingError("--engine, --workers, --address and --run are for many histories: --histories FILE.")
    table: Any = {"user": user, "item": item, "time": time, "session": session, "session_gap": session_gap}
    if histories is None and (any(table.values()) or no_header or lenient):
        raise SettingError("options of tables, such as --user and --lenient, are for --histories FILE.")
    check_folder(run, "--run")
    g = options.open_graph(graph, directed)
    people: Trajectories | None = None
    labels: Any = None if history is None else options.LabelReader(g).walk(history)
    if histories is not None:
        people = options.read_histories(histories, g, quiet, lenient=lenient, no_header=no_header, **table)
        labels = [people.labels(number) for number in range(len(people))]
    targets: Any = labels
    if history_weights is not None:
        weights = options.parse_numbers("--history-weights", history_weights)
        if labels is None or len(weights) != len(labels):
            raise SettingError(f"--history-weights has {len(weights)} numbers; give one for each node of --history.")
        targets = dict(zip(labels, weights, strict=True))
    columns = ["rank", "node", "score"]
    summary: dict[str, Any]
    with show_progress(quiet) as progress:
        progress("ranking")
        if agent is None:
            from curiograph.centrality.pagerank import pagerank

            eta: Any = pagerank(g, alpha, targets)
            summary = {"alpha": alpha, "residual": eta.residual, "iterations": eta.iterations}
            if histories is not None:
                summary |= {"residual": eta.residual.max().item(), "iterations": eta.iterations.max().item()}
        else:
            from curiograph.centrality.curious_pagerank import curious_pagerank
            from curiograph.parallel import resolve_engine

            settings: Any = {
                "p_g": p_g,
                "reward": reward,
                "fallback": fallback,
                "tolerance": tolerance,
                "max_walks": max_walks,
                "seed": seed,
            }
            used = resolve_engine(engine, workers, address, run)
            eta = curious_pagerank(g, agent, alpha, targets, engine=used, progress=progress, **settings)
            summary = {name: getattr(eta, name) for name in ("agent", "alpha", "p_g", "exact", "walks", "paths")}
            summary["converged"] = eta.converged if histories is None else bool(eta.converged.all())
            columns.append("stderr")
    tables: list[list[list[Any]]] = []
    for number, best in enumerate([eta.top(k)] if histories is None else eta.top(k)):
        ranked: list[list[Any]] = [[place, label, score] for place, (label, score) in enumerate(best, start=1)]
        if agent is not None:
            stderr = eta.stderr if histories is None else eta.stderr[number]
            for row in ranked:
                row.append(float(stderr[g.position(row[1])]))
        tables.append(ranked)
    rankings = [[dict(zip(columns, row, strict=True)) for row in ranked] for ranked in tables]
    if people is None:
        document, rows = {"history": labels, **summary, "ranking": rankings[0]}, tables[0]
    else:
        who = [(people.user(number), people.session(number)) for number in range(len(people))]
        users = [
            {"user": user, "session": session, "history": each, "ranking": ranking}
            for (user, session), each, ranking in zip(who, labels, rankings, strict=True)
        ]
        document = {**summary, "users": users, "skipped": people.skipped.to_dict()}
        rows = [[*names, *row] for names, ranking in zip(who, tables, strict=True) for row in ranking]
        columns = ["user", "session", *columns]
    write_result(out, document, lambda: (columns, rows), eta.plot)
    if json:
        show_json(document)
        return
    show_table("", columns, rows)
    if not summary.get("converged", True):
        print_remark(f"the standard errors are above {tolerance:g} of the scores; raise --max-walks.", quiet)
