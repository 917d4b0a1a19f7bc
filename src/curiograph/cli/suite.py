"""The command `curiograph suite`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from curiograph.cli import options
from curiograph.cli.output import check_out, print_remark, show_json, show_progress, show_table, write_result


def suite(
    agent: options.Agent = "greedy",
    task: Annotated[
        list[str] | None,
        typer.Option(help="Task or group (families, sizes, lengths, real) to run; may be repeated. Default: all."),
    ] = None,
    source: Annotated[
        Path | None, typer.Option("--from", help="Folder of datasets with real-networks. Default: CURIOGRAPH_DATA.")
    ] = None,
    out: options.Out = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Evaluate an agent on the frozen benchmark: returns, shares of the ceiling, and time per decision.

    [bold]curiograph suite --agent beam:8 --task families --out beam-8.json[/bold]
    """
    from curiograph.agents.suite import suite as run_suite

    check_out(out, (".json", ".csv"))
    with show_progress(quiet) as progress:
        result = run_suite(agent, task, data=source, progress=progress)
    names = ["task", "mean", "sem", "random", "greedy", "ceiling", "share", "microseconds"]
    rows = [[row[name] for name in names] for row in result.tasks]
    write_result(out, result.to_dict(), lambda: (names, rows))
    if json:
        show_json(result.to_dict())
        return
    show_table(repr(result), names, rows)
    if task is None and all(row["group"] != "real" for row in result.tasks):
        print_remark("the real networks were left out: give their folder with --from, or set CURIOGRAPH_DATA", quiet)
