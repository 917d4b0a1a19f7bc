"""The command `curiograph suite`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from curiograph.cli import options
from curiograph.cli.output import check_out, print_remark, show_json, show_progress, show_table


def suite(
    agent: options.Agent = "greedy",
    version: Annotated[str, typer.Option(help="Version of the suite.")] = "v1",
    quick: Annotated[bool, typer.Option("--quick", help="Only the eight tasks on 50-node graphs.")] = False,
    task: Annotated[
        list[str] | None,
        typer.Option(help="Task or group (families, sizes, lengths, real) to run; may be repeated. Default: all."),
    ] = None,
    source: Annotated[
        Path | None, typer.Option("--from", help="Folder of the real networks. Default: CURIOGRAPH_DATA.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="File for the result: .json, which SuiteResult.load reads.")] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Evaluate an agent on the frozen benchmark: returns, shares of the ceiling, and time per decision.

    [bold]curiograph suite --agent beam:8 --quick --out beam-8.json[/bold]
    """
    from curiograph.errors import SettingError
    from curiograph.leaderboard.suite import suite as create_suite

    check_out(out, (".json",))
    if quick and task:
        raise SettingError("give --quick or --task, not both; --quick is the same as --task families.")
    tasks = create_suite(version, data=source)
    has_real = bool(tasks.networks)
    if quick or task:
        tasks = tasks.select(*(task or ["families"]))
    with show_progress(quiet) as progress:
        result = tasks.evaluate(agent, progress=progress)
    if out is not None:
        result.save(out)
    if json:
        show_json(result.to_dict() | {"row": result.row()})
        return
    columns = ["task", "mean", "sem", "random", "greedy", "ceiling", "share", "us per decision", "time / greedy's"]
    rows = [
        [
            *(row.task, row.mean, row.sem, row.random, row.greedy, row.ceiling),
            *(row.share, row.microseconds, row.relative_time),
        ]
        for row in result.tasks
    ]
    show_table(f"{result.agent} on suite {result.suite}", columns, rows)
    row = result.row()
    show_table("Row of the leaderboard", list(row), [list(row.values())])
    if not has_real and not (quick or task):
        print_remark("the real networks were left out: give their folder with --from, or set CURIOGRAPH_DATA", quiet)
    if out is not None:
        print_remark(f"wrote {out}", quiet)
