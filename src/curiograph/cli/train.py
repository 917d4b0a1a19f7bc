"""The command `curiograph train`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import curiograph as cg
from curiograph.cli import evaluate, options
from curiograph.cli.output import emit, print_remark, show_progress
from curiograph.errors import SettingError


def train(
    output: options.Output,
    agent: Annotated[
        Literal["gnn", "planner"], typer.Option(help="gnn (as in the paper) or planner (beam search, learned values).")
    ] = "gnn",
    reward: options.RewardOption = "igt",
    family: evaluate.Family = None,
    graph: evaluate.GraphFile = None,
    environments: evaluate.Environments = None,
    preset: Annotated[Literal["best", "paper"], typer.Option(help="Settings; paper: near the published.")] = "best",
    start: Annotated[str | None, typer.Option(help="Trained agent of the same shape to start from.")] = None,
    train_steps: Annotated[int | None, typer.Option(help="Number of training steps.")] = None,
    change: Annotated[
        list[str] | None, typer.Option("--set", help="Any other setting, as in discount=0.8; may be repeated.")
    ] = None,
    graphs: Annotated[int, typer.Option(help="Number of training graphs.", min=1)] = 100,
    nodes: evaluate.Nodes = 50,
) -> None:
    """Train an agent into the folder --out. Rerun the command to resume after an interruption.

    [bold]curiograph train --family ws --reward igt --agent gnn --train-steps 5000 --out runs/igt-ws[/bold]
    """
    folder = output.out or Path("runs") / f"{reward}-{family or Path(graph or environments or '').stem}-{agent}"
    sizes = {"train": graphs, "val": 10, "test": 0}
    sets = evaluate.load_sets(family, graph, environments, sizes, nodes, output.seed)
    changes = dict(_parse_change(text) for text in change or ())
    if train_steps is not None:
        changes["train_steps"] = train_steps
    with show_progress(output.quiet) as progress:
        progress("first step: kernels may have to be compiled")
        settings: Any = {"agent": agent, "preset": preset, "start": start, "seed": output.seed, **changes}
        trained = cg.train(sets, reward, out=folder, progress=progress, **settings)
    facts = {"agent": trained.name, **trained.card["validation"], "out": str(folder)}
    emit(replace(output, out=None), facts, [facts])
    print_remark(f"use it as --agent {folder}", output.quiet)


def _parse_change(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise SettingError(f"--set is {text!r}; write NAME=VALUE, such as discount=0.8.")
    if value.lower() in ("true", "false"):
        return name, value.lower() == "true"
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            continue
    return name, value
