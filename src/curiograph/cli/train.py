"""`curiograph train`."""

from __future__ import annotations

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

_OPTIONS = ("agent", "reward", "preset", "start", "seed", "out", "name", "engine", "workers", "address")
_ELSEWHERE = ("--out", "--engine", "--workers", "--address")  # where a training ran, which does not change it
_FIRST = "first step: kernels may have to be compiled"
_LINE = 0.01  # share done between two lines where there is no bar


def train(
    agent: Annotated[
        list[str],
        typer.Option(
            help="gnn (the paper's) or horizon (reads the graph around the walk); may be repeated.",
            autocompletion=completion.complete_learners,
        ),
    ] = ["gnn"],  # noqa: B006
    reward: Annotated[
        list[str],
        typer.Option(
            help="igt (information gaps) or cpt (compressibility); may be repeated.",
            autocompletion=completion.complete_rewards,
        ),
    ] = ["igt"],  # noqa: B006
    family: Annotated[
        list[str] | None,
        typer.Option(
            help="Generated graphs: rg, ws, ba or er; may be repeated; or all.",
            autocompletion=completion.complete_families,
        ),
    ] = None,
    graph: options.GraphFile = None,
    environments: Annotated[Path | None, typer.Option(help="Graphs of a published environment file.")] = None,
    preset: Annotated[
        list[str],
        typer.Option(
            help="best, or for gnn paper: the published setting; may be repeated.",
            autocompletion=completion.complete_presets,
        ),
    ] = ["best"],  # noqa: B006
    start: Annotated[
        str | None,
        typer.Option(
            help="A trained agent of the same shape to go on from.", autocompletion=completion.complete_agents
        ),
    ] = None,
    train_steps: Annotated[int | None, typer.Option(help="Steps of training.")] = None,
    change: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Any other setting, as discount=0.8, or discount=0.8,0.9 for both; may be repeated."
        ),
    ] = None,
    graphs: Annotated[int, typer.Option(help="Training graphs per family.", min=1)] = 100,
    nodes: Annotated[int, typer.Option(help="Size of generated graphs.")] = 50,
    directed: options.Directed = False,
    name: Annotated[str | None, typer.Option(help="What the agent is called.")] = None,
    seed: options.Seed = 0,
    seeds: Annotated[int, typer.Option(help="So many seeds, from --seed on, all on the same graphs.", min=1)] = 1,
    out: Annotated[
        Path | None, typer.Option(help="Folder for checkpoints, log, curves and agent; resumes what is in it.")
    ] = None,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    address: options.Address = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Train an agent. Run the same command again to go on after an interruption.

    [bold]curiograph train --family ws --reward igt --agent gnn --train-steps 5000 --out runs/igt-ws[/bold]

    Of what is given several times, every combination is trained, each in a folder of its own below --out:

    [bold]curiograph train --family ws --seeds 3 --set discount=0.8,0.9 --train-steps 5000 --out runs/discount[/bold]
    """
    changes = _changes(change or [])
    if train_steps is not None:
        if "train_steps" in changes:
            raise SettingError("train_steps is given by --train-steps and by --set; leave one of them out.")
        changes["train_steps"] = train_steps
    lists = (agent, reward, preset, range(seeds), *(value for value in changes.values() if isinstance(value, list)))
    several = engine != "local" or address is not None or any(len(values) > 1 for values in lists)
    source = "-".join(family or []) or Path(graph or environments or "").stem
    one = f"{reward[0]}-{source}-{agent[0]}-{preset[0]}-{seed}"
    folder = out or Path("runs") / (f"{source}-many" if several else one)
    check_folder(folder)
    if several and name is not None:
        raise SettingError(f"--name {name}: several agents cannot have one name; leave it out.")
    sets = _sets(family, graph, environments, graphs, nodes, seed, directed)
    given: dict[str, Any] = {"start": start, "out": folder, "command": _command(), **changes}
    if several:
        given |= {"agent": agent, "preset": preset, "seed": range(seed, seed + seeds)}
        given |= {"engine": engine, "workers": workers, "address": address}
        _train_several(sets, reward, given, json, quiet)
    else:
        given |= {"agent": agent[0], "preset": preset[0], "seed": seed, "name": name}
        _train_one(sets, reward[0], given, json, quiet)


def _train_one(sets: Split, reward: str, given: dict[str, Any], json: bool, quiet: bool) -> None:
    from curiograph.training.trainer import train as train_agent

    with show_progress(quiet) as say:
        say(_FIRST)
        trained = train_agent(sets, reward, progress=lambda report: _tell(report, say, quiet), **given)
    folder = given["out"]
    document = {"agent": trained.name, "validation": trained.card["validation"], "out": str(folder)}
    if json:
        show_json(document)
        return
    row = (trained.name, trained.card["validation"]["return"], trained.card["validation"]["step"])
    show_table("Trained", ("agent", "validation return", "at step"), [row])
    print_remark(f"the agent, its log and its curves are in {folder}; use it as --agent {folder}", quiet)


def _train_several(sets: Split, reward: list[str], given: dict[str, Any], json: bool, quiet: bool) -> None:
    from curiograph.training.sweep import train_many

    with show_progress(quiet) as say:
        say(_FIRST)
        found = train_many(sets, reward, progress=_teller(say, quiet), **given)
    folder = given["out"]
    if json:
        show_json({**found.to_dict(), "out": str(folder)})
        return
    columns = ["agent", "validation return", "at step"] + ["what went wrong"] * bool(found.failed)
    rows: list[tuple[Any, ...]] = [(row.name, row.validation, row.step, "") for row in found]
    rows += [(name, None, None, reason) for name, reason in found.failed.items()]
    show_table("Trained", columns, [row[: len(columns)] for row in rows])
    if any(len(mean.returns) > 1 for mean in found.means):
        means = [mean.to_dict() for mean in found.means]
        show_table("Over seeds", list(means[0]), [tuple(mean.values()) for mean in means])
    print_remark(
        f"the agents, their logs and their curves are in {folder}; use one as --agent {found[0].folder}", quiet
    )


def _command() -> str:
    """The command line, without where it ran."""
    words = ["curiograph", *sys.argv[1:]]
    kept = [
        word
        for place, word in enumerate(words)
        if word.partition("=")[0] not in _ELSEWHERE and (place == 0 or words[place - 1] not in _ELSEWHERE)
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


def _teller(say: Progress, quiet: bool) -> Progress:
    """Tells how far many trainings are: on the bar or, where stderr is not a terminal, line by line."""
    told = -1.0

    def tell(message: str, share: float | None = None) -> None:
        nonlocal told
        done = share or 0.0
        say(message, share)
        if not quiet and not sys.stderr.isatty() and done > told and done >= min(1.0, told + _LINE):
            print(f"curiograph: {message}", file=sys.stderr, flush=True)
            told = done

    return tell


def _changes(texts: list[str]) -> dict[str, Any]:
    """Settings by name; of one that is given several values, all."""
    found: dict[str, list[Any]] = {}
    for text in texts:
        name, values = _change(text)
        found.setdefault(name, []).extend(values)
    return {name: values if len(values) > 1 else values[0] for name, values in found.items()}


def _change(text: str) -> tuple[str, list[Any]]:
    name, sign, value = text.partition("=")
    if not sign or not name or not value:
        raise SettingError(f"--set {text!r}: write NAME=VALUE, such as discount=0.8.")
    if name in _OPTIONS:
        raise SettingError(f"--set {text!r}: {name} has an option of its own, --{name}.")
    values = [_value(part) for part in value.split(",")]
    if "" in values:
        raise SettingError(f"--set {text!r}: write values between commas, such as discount=0.8,0.9.")
    return name, values


def _value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _sets(
    family: list[str] | None, graph: str | None, environments: Path | None, count: int, nodes: int, seed: int,
    directed: bool,
) -> Split:  # fmt: skip
    from curiograph.graph.generators import FAMILIES, generate_split
    from curiograph.graph.splits import Split, read_split

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
