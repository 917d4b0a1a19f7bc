"""The program: its commands, and the one place where an error becomes a sentence and an exit code."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Annotated, Any, TextIO

import typer

import curiograph
from curiograph.cli import evaluating, exploring, measuring, reproducing, tools
from curiograph.errors import CuriographError

app = typer.Typer(
    name="curiograph",
    help="Curiosity on graphs: measure how a walk grows knowledge, and explore with curious agents.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
app.command("measure")(measuring.measure)
app.command("explore")(exploring.explore)
app.command("evaluate")(evaluating.evaluate)
app.add_typer(reproducing.app, name="reproduce")
app.command("bench")(tools.bench)
app.command("convert")(tools.convert)
app.command("warmup")(tools.warmup)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"curiograph {curiograph.__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the program; bad input ends with one sentence on stderr and exit code 2."""
    warnings.showwarning = _show_warning
    try:
        app(prog_name="curiograph")
    except CuriographError as error:
        print(f"curiograph: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output has gone, as in `curiograph ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> Any:
    print(f"curiograph: {message}", file=sys.stderr)
