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

EXPERIMENTS = (
    "table1", "lengths", "sizes", "walltime", "pareto", "real", "table2", "diffusion", "examples", "multiverse",
    "conditions", "motives", "meaning", "false_findings", "recovery", "profile", "language_models", "language_motives",
    "recommenders", "fidelity", "bridge", "gaps", "ablation", "leaderboard",
)  # fmt: skip
"""Modules of this package; the first line of each says what it computes."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one experiment, or show stored ones again; return the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(
        prog="python -m reproduction",
        description="Reproduce a table or figure, or `show` stored ones again.",
        epilog="\n".join(f"{name:18}{read_title(name)}" for name in EXPERIMENTS),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", choices=[*EXPERIMENTS, "show"], metavar="NAME")
    name = parser.parse_args(given[:1]).name
    try:
        return show_stored(given[1:]) if name == "show" else run_experiment(name, given[1:])
    except CuriographError as error:
        print(f"reproduction: {error}", file=sys.stderr)
        return 2


def read_title(name: str) -> str:
    """Return the first line of a module, without importing it."""
    return Path(__file__).with_name(f"{name}.py").read_text().split("\n")[0].strip('"')


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
