"""`curiograph train`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curiograph.cli import completion, options
from curiograph.cli.output import check_folder, progress, remark, show_json, show_table
from curiograph.errors import SettingError

if TYPE_CHECKING:
    from curiograph.graph.environments import Split
    from curiograph.progress import Progress

_OPTIONS = ("agent", "reward", "preset", "start", "seed", "out", "name")


def train(
    agent: Annotated[
        str,
        typer.Option(
            help="gnn (the paper's) or horizon (reads the graph around the walk).", autocompletion=completion.learners
        ),
    ] = "gnn",
    reward: options.Reward = "igt",
    family: Annotated[
        list[str] | None,
        typer.Option(
            help="Generated graphs: rg, ws, ba or er; may be repeated; or all.", autocompletion=completion.families
        ),
    ] = None,
    graph: options.GraphFile = None,
    environments: Annotated[Path | None, typer.Option(help="Graphs of a published environment file.")] = None,
    preset: Annotated[str, typer.Option(help="best, or for gnn paper: the published setting.")] = "best",
    start: Annotated[
        str | None,
        typer.Option(help="A trained agent of the same shape to go on from.", autocompletion=completion.agents),
    ] = None,
    train_steps: Annotated[int | None, typer.Option(help="Steps of training.")] = None,
    change: Annotated[
        list[str] | None, typer.Option("--set", help="Any other setting, as discount=0.8; may be repeated.")
    ] = None,
    graphs: Annotated[int, typer.Option(help="Training graphs per family.", min=1)] = 100,
    nodes: Annotated[int, typer.Option(help="Size of generated graphs.")] = 50,
    directed: options.Directed = False,
    name: Annotated[str | None, typer.Option(help="What the agent is called.")] = None,
    seed: options.Seed = 0,
    out: Annotated[
        Path | None, typer.Option(help="Folder for checkpoints, log, curves and agent; resumes what is in it.")
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Train an agent. Run the same command again to go on after an interruption.

    [bold]curiograph train --family ws --reward igt --agent gnn --train-steps 5000 --out runs/igt-ws[/bold]
    """
    from curiograph.training.running import train as train_agent

    source = "-".join(family or []) or Path(graph or environments or "").stem
    folder = out or Path("runs") / f"{reward}-{source}-{agent}-{preset}-{seed}"
    check_folder(folder)
    sets = _sets(family, graph, environments, graphs, nodes, seed, directed)
    changes = dict(_change(text) for text in change or [])
    if train_steps is not None:
        changes["train_steps"] = train_steps
    with progress(quiet) as say:
        say("first step: kernels may have to be compiled")
        trained = train_agent(
            sets, reward, agent=agent, preset=preset, start=start, seed=seed, out=folder, name=name,
            progress=lambda report: _tell(report, say, quiet), command=_command(), **changes,
        )  # fmt: skip
    document = {"agent": trained.name, "validation": trained.card["validation"], "out": str(folder)}
    if json:
        show_json(document)
        return
    row = (trained.name, trained.card["validation"]["return"], trained.card["validation"]["step"])
    show_table("Trained", ("agent", "validation return", "at step"), [row])
    remark(f"the agent, its log and its curves are in {folder}; use it as --agent {folder}", quiet)


def _command() -> str:
    """The command line, without the folder that it ran in."""
    words = ["curiograph", *sys.argv[1:]]
    kept = [
        word
        for place, word in enumerate(words)
        if word != "--out" and not word.startswith("--out=") and words[place - 1] != "--out"
    ]
    return shlex.join(kept)


def _tell(report: dict[str, Any], say: Progress, quiet: bool) -> None:
    parts = [f"step {report['step']:,}"]
    parts += [f"{key} {report[key]:.4g}" for key in ("loss", "return", "epsilon", "validation", "best")
              if report.get(key) is not None]  # fmt: skip
    parts.append(f"{report['left'] / 60:.1f} min left")
    say(", ".join(parts[:-1]), report["seconds"] / (report["seconds"] + report["left"]))
    if not quiet and not sys.stderr.isatty():
        print("curiograph: " + ", ".join(parts), file=sys.stderr, flush=True)


def _change(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign or not name or not value:
        raise SettingError(f"--set {text!r}: write NAME=VALUE, such as discount=0.8.")
    if name in _OPTIONS:
        raise SettingError(f"--set {text!r}: {name} has an option of its own, --{name}.")
    if value.lower() in ("true", "false"):
        return name, value.lower() == "true"
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            continue
    return name, value


def _sets(
    family: list[str] | None, graph: str | None, environments: Path | None, count: int, nodes: int, seed: int,
    directed: bool,
) -> Split:  # fmt: skip
    from curiograph.graph.environments import Split, read_split
    from curiograph.graph.families import FAMILIES, generate_split

    if sum(bool(source) for source in (family, graph, environments)) != 1:
        raise SettingError("give one of --family NAME, --graph FILE or --environments FILE.")
    if graph is not None:
        one = options.open_graph(graph, directed)
        return Split([one], [one], [])
    if environments is not None:
        return read_split(environments)
    families = list(FAMILIES) if "all" in (family or ()) else list(family or ())
    parts = [generate_split(each, nodes, train=count, val=10, test=0, seed=seed) for each in families]
    return Split([g for part in parts for g in part.train], [g for part in parts for g in part.val], [])
