"""The command `curiograph train`."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curiograph.cli import completion, options
from curiograph.cli.output import check_folder, print_remark, show_json, show_progress, show_table
from curiograph.errors import SettingError

if TYPE_CHECKING:
    from curiograph.graph.splits import Split
    from curiograph.progress import Progress

_OWN_OPTIONS = ("agent", "reward", "preset", "start", "seed", "out", "name", "engine", "workers", "address")
_PLACE_OPTIONS = ("--out", "--engine", "--workers", "--address")  # these do not change the training
_FIRST_STEP = "first step: kernels may have to be compiled"
_LINE_SHARE = 0.01  # progress between two lines if stderr is not a terminal


def train(
    agent: Annotated[
        list[str],
        typer.Option(
            help="gnn (as in the paper), horizon (reads the graph around the walk) or planner (beam search with "
            "learned values); may be repeated.",
            autocompletion=completion.complete_learners,
        ),
    ] = ["gnn"],  # noqa: B006
    reward: Annotated[
        list[str],
        typer.Option(
            help="igt (information gaps), cpt (compressibility), cct (conformational change), or a weighted sum "
            "(igt+0.5*cpt); may be repeated.",
            autocompletion=completion.complete_rewards,
        ),
    ] = ["igt"],  # noqa: B006
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
        list[str],
        typer.Option(
            help="best, or paper (the published settings, for gnn only); may be repeated.",
            autocompletion=completion.complete_presets,
        ),
    ] = ["best"],  # noqa: B006
    start: Annotated[
        str | None,
        typer.Option(help="Trained agent of the same shape to start from.", autocompletion=completion.complete_agents),
    ] = None,
    train_steps: Annotated[int | None, typer.Option(help="Number of training steps.")] = None,
    minutes: Annotated[
        float | None,
        typer.Option(help="Time budget of each training; it ends then, or after --train-steps if given and earlier."),
    ] = None,
    change: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Any other setting, as in discount=0.8, or discount=0.8,0.9 to try both; may be repeated."
        ),
    ] = None,
    graphs: Annotated[int, typer.Option(help="Training graphs per family.", min=1)] = 100,
    nodes: Annotated[int, typer.Option(help="Size of generated graphs.")] = 50,
    directed: options.Directed = False,
    name: Annotated[str | None, typer.Option(help="Name of the agent.")] = None,
    seed: options.Seed = 0,
    seeds: Annotated[
        int, typer.Option(help="Number of seeds, counted from --seed, all on the same graphs.", min=1)
    ] = 1,
    out: Annotated[
        Path | None, typer.Option(help="Folder for checkpoints, log, curves and agent; a run in it is resumed.")
    ] = None,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    address: options.Address = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Train an agent. Rerun the command to resume after an interruption.

    [bold]curiograph train --family ws --reward igt --agent gnn --train-steps 5000 --out runs/igt-ws[/bold]

    If options are repeated, every combination is trained, each in its own folder below --out:

    [bold]curiograph train --family ws --seeds 3 --set discount=0.8,0.9 --train-steps 5000 --out runs/discount[/bold]
    """
    changes = _parse_changes(change or [])
    for setting, value in {"train_steps": train_steps, "minutes": minutes}.items():
        if value is not None and setting in changes:
            option = setting.replace("_", "-")
            raise SettingError(f"{setting} is given by --{option} and by --set; leave one of them out.")
        if value is not None:
            changes[setting] = value
    lists = (agent, reward, preset, range(seeds), *(value for value in changes.values() if isinstance(value, list)))
    several = engine != "local" or address is not None or any(len(values) > 1 for values in lists)
    source = "-".join(family or []) or Path(graph or environments or "").stem
    run_name = f"{source}-many" if several else f"{reward[0]}-{source}-{agent[0]}-{preset[0]}-{seed}"
    folder = out or Path("runs") / re.sub(r"[^\w.+-]+", "_", run_name)
    check_folder(folder)
    if several and name is not None:
        raise SettingError(f"--name {name}: several agents cannot have one name; leave it out.")
    sets = _load_split(family, graph, environments, graphs, nodes, seed, directed)
    settings: dict[str, Any] = {"start": start, "out": folder, "command": _format_command(), **changes}
    if several:
        settings |= {"agent": agent, "preset": preset, "seed": range(seed, seed + seeds)}
        settings |= {"engine": engine, "workers": workers, "address": address}
        _train_several(sets, reward, settings, json, quiet)
    else:
        settings |= {"agent": agent[0], "preset": preset[0], "seed": seed, "name": name}
        _train_one(sets, reward[0], settings, json, quiet)


def _train_one(sets: Split, reward: str, settings: dict[str, Any], json: bool, quiet: bool) -> None:
    from curiograph.training.trainer import train as train_agent

    with show_progress(quiet) as progress:
        progress(_FIRST_STEP)
        trained = train_agent(
            sets, reward, progress=lambda report: _report_training(report, progress, quiet), **settings
        )
    folder, validation = settings["out"], trained.card["validation"]
    if json:
        show_json({"agent": trained.name, "validation": validation, "out": str(folder)})
        return
    row = (trained.name, validation["return"], validation["step"])
    show_table("Trained", ("agent", "validation return", "at step"), [row])
    print_remark(f"the agent, its log and its curves are in {folder}; use it as --agent {folder}", quiet)


def _train_several(sets: Split, reward: list[str], settings: dict[str, Any], json: bool, quiet: bool) -> None:
    from curiograph.training.sweep import train_many

    with show_progress(quiet) as progress:
        progress(_FIRST_STEP)
        trained = train_many(sets, reward, progress=_add_lines(progress, quiet), **settings)
    folder = settings["out"]
    if json:
        show_json({**trained.to_dict(), "out": str(folder)})
        return
    columns = ["agent", "validation return", "at step"] + ["error"] * bool(trained.failed)
    rows: list[tuple[Any, ...]] = [(row.name, row.validation, row.step, "") for row in trained]
    rows += [(name, None, None, reason) for name, reason in trained.failed.items()]
    show_table("Trained", columns, [row[: len(columns)] for row in rows])
    if any(len(mean.returns) > 1 for mean in trained.means):
        means = [mean.to_dict() for mean in trained.means]
        show_table("Over seeds", list(means[0]), [tuple(mean.values()) for mean in means])
    print_remark(
        f"the agents, their logs and their curves are in {folder}; use one as --agent {trained[0].folder}", quiet
    )


def _format_command() -> str:
    """The command line without the options that only choose where it runs."""
    words = ["curiograph", *sys.argv[1:]]
    kept = [
        word
        for place, word in enumerate(words)
        if word.partition("=")[0] not in _PLACE_OPTIONS and (place == 0 or words[place - 1] not in _PLACE_OPTIONS)
    ]
    return shlex.join(kept)


def _report_training(report: dict[str, Any], progress: Progress, quiet: bool) -> None:
    """Show the state of one training on the bar or, if stderr is not a terminal, on a line."""
    from curiograph.training.logging import format_report, print_report

    progress(format_report(report), report["seconds"] / (report["seconds"] + report["left"]))
    if not quiet and not sys.stderr.isatty():
        print_report(report)


def _add_lines(progress: Progress, quiet: bool) -> Progress:
    """Print progress of many trainings line by line as well, if stderr is not a terminal."""
    last_share = -1.0

    def report(message: str, share: float | None = None) -> None:
        nonlocal last_share
        done = share or 0.0
        progress(message, share)
        if not quiet and not sys.stderr.isatty() and done > last_share and done >= min(1.0, last_share + _LINE_SHARE):
            print(f"curiograph: {message}", file=sys.stderr, flush=True)
            last_share = done

    return report


def _parse_changes(texts: list[str]) -> dict[str, Any]:
    """Parse NAME=VALUE settings; a setting with several values becomes a list."""
    found: dict[str, list[Any]] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise SettingError(f"--set {text!r}: write NAME=VALUE, such as discount=0.8.")
        if name in _OWN_OPTIONS:
            raise SettingError(f"--set {text!r}: {name} has an option of its own, --{name}.")
        values = [_parse_value(part) for part in value.split(",")]
        if "" in values:
            raise SettingError(f"--set {text!r}: write values between commas, such as discount=0.8,0.9.")
        found.setdefault(name, []).extend(values)
    return {name: values if len(values) > 1 else values[0] for name, values in found.items()}


def _parse_value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
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
