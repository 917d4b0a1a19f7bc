"""The command `curiograph train`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curiograph.cli import completion, options
from curiograph.cli.output import check_folder, print_remark, show_json, show_progress, show_table
from curiograph.errors import SettingError

if TYPE_CHECKING:
    from curiograph.graph.splits import Split


def train(
    agent: Annotated[
        str,
        typer.Option(
            help="gnn (as in the paper) or planner (beam search with learned values).",
            autocompletion=completion.complete_learners,
        ),
    ] = "gnn",
    reward: options.Reward = "igt",
    family: Annotated[
        list[str] | None,
        typer.Option(
            help="Generated graphs: rg, ws, ba or er (may be repeated), all, or broad (many kinds of graphs with up "
            "to --nodes nodes).",
            autocompletion=completion.complete_families,
        ),
    ] = None,
    graph: options.GraphFile = None,
    environments: Annotated[Path | None, typer.Option(help="Graphs of a published environment file.")] = None,
    preset: Annotated[
        str,
        typer.Option(
            help="best, or paper (the published settings, for gnn only).", autocompletion=completion.complete_presets
        ),
    ] = "best",
    start: Annotated[
        str | None,
        typer.Option(help="Trained agent of the same shape to start from.", autocompletion=completion.complete_agents),
    ] = None,
    train_steps: Annotated[int | None, typer.Option(help="Number of training steps.")] = None,
    change: Annotated[
        list[str] | None, typer.Option("--set", help="Any other setting, as in discount=0.8; may be repeated.")
    ] = None,
    graphs: Annotated[int, typer.Option(help="Training graphs per family.", min=1)] = 100,
    nodes: Annotated[int, typer.Option(help="Size of generated graphs.")] = 50,
    directed: options.Directed = False,
    name: Annotated[str | None, typer.Option(help="Name of the agent.")] = None,
    seed: options.Seed = 0,
    out: Annotated[
        Path | None, typer.Option(help="Folder for checkpoint, log and agent; a run in it is resumed.")
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Train an agent. Rerun the command to resume after an interruption.

    [bold]curiograph train --family ws --reward igt --agent gnn --train-steps 5000 --out runs/igt-ws[/bold]
    """
    from curiograph.training.trainer import train as train_agent

    changes: dict[str, Any] = {} if train_steps is None else {"train_steps": train_steps}
    for text in change or []:
        setting, _, value = text.partition("=")
        if not setting or not value:
            raise SettingError(f"--set {text!r}: write NAME=VALUE, such as discount=0.8.")
        changes[setting] = _parse_number(value)
    source = "-".join(family or []) or Path(graph or environments or "").stem
    run_name = f"{reward}-{source}-{agent}-{preset}-{seed}"
    folder = out or Path("runs") / re.sub(r"[^\w.+-]+", "_", run_name)
    check_folder(folder)
    sets = _load_split(family, graph, environments, graphs, nodes, seed, directed)
    with show_progress(quiet) as progress:
        progress("first step: kernels may have to be compiled")
        trained = train_agent(
            sets, reward, agent=agent, preset=preset, start=start, seed=seed, out=folder, name=name, progress=progress,
            **changes,
        )  # fmt: skip
    validation = trained.card["validation"]
    if json:
        show_json({"agent": trained.name, "validation": validation, "out": str(folder)})
        return
    row = (trained.name, validation["return"], validation["step"])
    show_table("Trained", ("agent", "validation return", "at step"), [row])
    print_remark(f"the agent and its log are in {folder}; use it as --agent {folder}", quiet)


def _parse_number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _load_split(
    family: list[str] | None,
    graph: str | None,
    environments: Path | None,
    count: int,
    nodes: int,
    seed: int,
    directed: bool,
) -> Split:
    from curiograph.graph.curriculum import generate_curriculum
    from curiograph.graph.generators import FAMILIES, generate_split
    from curiograph.graph.splits import Split, read_split

    if sum(bool(source) for source in (family, graph, environments)) != 1:
        raise SettingError("give one of --family NAME, --graph FILE or --environments FILE.")
    if graph is not None:
        g = options.open_graph(graph, directed)
        return Split([g], [g], [])
    if environments is not None:
        return read_split(environments)
    if "broad" in (family or ()):
        if family != ["broad"]:
            raise SettingError(f"--family is {', '.join(family or [])}; broad contains all kinds, so give it alone.")
        return generate_curriculum(count, max(10, count // 10), max_nodes=nodes, seed=seed)
    families = list(FAMILIES) if "all" in (family or ()) else list(family or ())
    parts = [generate_split(each, nodes, train=count, val=10, test=0, seed=seed) for each in families]
    return Split([g for part in parts for g in part.train], [g for part in parts for g in part.val], [])
