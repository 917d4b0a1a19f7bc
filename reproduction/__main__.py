"""`python -m reproduction NAME [options]`: run an experiment and write NAME.json, NAME.md and NAME.png."""

from __future__ import annotations

import argparse
import inspect
import json
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from curiograph.cli.output import show_progress
from curiograph.errors import CuriographError
from curiograph.parallel import Engine
from curiograph.results import to_plain
from reproduction.report import Report, Setup, write_document, write_report

EXPERIMENTS = {
    "table1": "Table 1: all agents, two rewards and four families, compared with the paper",
    "lengths": "walks of 10 to 200 nodes: planner and plain beam search",
    "sizes": "graphs of 10 to 5,000 nodes",
    "walltime": "time per decision against the number of visited nodes",
    "pareto": "return against time per decision: learned agents and plain beam search",
    "real": "shares of the proven optimum on real networks",
    "table2": "Table 2: human choices, compared with the paper and with baselines",
    "diffusion": "Figure 4C: distance of walkers from their start",
    "examples": "choices of people, and what PageRank and curious PageRank rank first",
    "multiverse": "Table 2 under all combinations of what the paper leaves open",
    "conditions": "gain of curiosity in groups of human choices",
    "motives": "weights over several motives, for players of Wikispeedia",
    "meaning": "what curiosity adds to models of choices, given the similarity of articles",
    "false_findings": "how often statistics of people find something where there is nothing",
    "recovery": "which motives are found in simulated people who follow known ones, or none",
    "profile": "measures of finished and unfinished games, and styles of players",
    "language_models": "language models and people on the same start and target of Wikispeedia",
    "language_motives": "motives of people and language models in the same games",
    "recommenders": "recommenders on held-out events",
    "fidelity": "whether recommendations leave the list without the item that their reason names",
    "bridge": "whether slates that bridge to unvisited regions find new interests at equal accuracy",
    "gaps": "whether links across gaps are hidden links, and what communities show of them",
    "ablation": "effect of each choice behind the gnn agent",
    "leaderboard": "agents on the frozen suite",
}
"""Modules of this package and what they compute."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one experiment, or show stored ones again; return the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(
        prog="python -m reproduction",
        description="Reproduce a table or figure, or `show` stored ones again.",
        epilog="\n".join(f"{name:21}{text}" for name, text in EXPERIMENTS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", choices=[*EXPERIMENTS, "show"], metavar="NAME")
    name = parser.parse_args(given[:1]).name
    try:
        return show_stored(given[1:]) if name == "show" else run_experiment(name, given[1:])
    except CuriographError as error:
        print(f"reproduction: {error}", file=sys.stderr)
        return 2


def run_experiment(name: str, arguments: Sequence[str]) -> int:
    """Compute, write and print an experiment."""
    experiment = import_module(f"reproduction.{name}")
    parser = argparse.ArgumentParser(prog=f"python -m reproduction {name}", description=experiment.__doc__)
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder of the files (default: results)")
    parser.add_argument("--run", type=Path, help="folder that keeps finished parts; rerun the command to resume")
    parser.add_argument("--workers", type=int, help="number of processes")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.add_argument("--from", dest="folder", type=Path, help="folder of the datasets (default: CURIOGRAPH_DATA)")
    parser.add_argument("--seed", type=int, default=0, help="seed of everything that is random (default: 0)")
    own = {each.name: each.default for each in inspect.signature(experiment.compute).parameters.values()}
    del own["setup"]
    for parameter, default in own.items():
        kind: dict[str, Any] = {"default": default, "help": f"default: {default}"}
        if isinstance(default, bool):
            kind = {"action": "store_true"}
        elif isinstance(default, tuple):
            kind["nargs"] = "+"
        else:
            kind["type"] = lambda text: int(text) if text.isdecimal() else text
        parser.add_argument(f"--{parameter.replace('_', '-')}", **kind)
    given = parser.parse_args(arguments)
    options = {parameter: getattr(given, parameter) for parameter in own}
    out: Path = given.out
    out.mkdir(parents=True, exist_ok=True)
    engine = Engine(workers=given.workers, run=given.run)
    with show_progress(given.quiet) as progress:
        found = experiment.compute(Setup(given.folder, given.seed, engine, progress), **options)
    options.pop("environments", None)  # a path of this machine
    document = to_plain({"settings": {**options, "seed": given.seed}, **found})
    write_document(document, out / f"{name}.json")
    report: Report = experiment.report(document)
    write_report(report, name, out)
    print(report.to_text())
    print(f"wrote {name}.json and its page to {out}", file=sys.stderr)
    return 0


def show_stored(arguments: Sequence[str]) -> int:
    """Write the pages and figures of stored documents again."""
    parser = argparse.ArgumentParser(prog="python -m reproduction show", description=show_stored.__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all that are stored")
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder of the files (default: results)")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in EXPERIMENTS]
    if unknown:
        parser.error(f"there is no experiment {unknown[0]!r}")
    for name in options.names or EXPERIMENTS:
        if options.names or (options.out / f"{name}.json").exists():
            document = json.loads((options.out / f"{name}.json").read_text())
            write_report(import_module(f"reproduction.{name}").report(document), name, options.out)
            print(f"wrote the page of {name} to {options.out}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
