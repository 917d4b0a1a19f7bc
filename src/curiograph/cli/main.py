"""The program: its commands, and the one place where an error becomes a sentence and an exit code."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperGroup

import curiograph
from curiograph.cli import (
    completion,
    data,
    doctor,
    evaluate,
    explore,
    hypotheses,
    measure,
    predict,
    rank,
    reproduce,
    serve,
    tools,
    train,
)
from curiograph.cli.output import print_remark
from curiograph.errors import CuriographError, JobStopped

_STOPPED = 130


class _Group(TyperGroup):
    """Commands whose Ctrl-C keeps its sentence, which tells how to go on: typer would make a bare exit code of it."""

    def invoke(self, context: Any) -> Any:
        try:
            return super().invoke(context)
        except KeyboardInterrupt as stop:
            quiet = bool(os.environ.get("CURIOGRAPH_QUIET")) and not isinstance(stop, JobStopped)
            print_remark(str(stop) or "stopped", quiet)
            sys.exit(_STOPPED)


app = typer.Typer(
    name="curiograph",
    cls=_Group,
    help="Curiosity on graphs: measure how a walk grows knowledge, explore with curious agents, rank and recommend.",
    invoke_without_command=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
app.command("measure")(measure.measure)
app.command("explore")(explore.explore)
app.command("evaluate")(evaluate.evaluate)
app.command("train")(train.train)
app.command("rank")(rank.rank)
app.command("recommend")(rank.recommend)
app.command("predict")(predict.predict)
app.command("hypotheses")(hypotheses.hypotheses)
app.add_typer(reproduce.app, name="reproduce")
app.add_typer(data.app, name="data")
app.command("serve")(serve.serve)
app.command("bench")(tools.bench)
app.command("convert")(tools.convert)
app.command("generate")(tools.generate)
app.command("warmup")(tools.warmup)
app.command("doctor")(doctor.doctor)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"curiograph {curiograph.__version__}")
        raise typer.Exit


@app.callback()
def _program(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


def main() -> None:
    """Run the program; bad input ends with one sentence on stderr and exit code 2."""
    if os.environ.get("_CURIOGRAPH_COMPLETE") == "complete_bash":
        completion.complete_in_bash(lambda: app(prog_name="curiograph"))
        return
    if "--quiet" in sys.argv or os.environ.get("CURIOGRAPH_QUIET"):
        os.environ["CURIOGRAPH_QUIET"] = "1"
        warnings.simplefilter("ignore")
    warnings.showwarning = _show_warning
    if threading.current_thread() is threading.main_thread():  # a polite end is like Ctrl-C: it says how to go on
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(app(prog_name="curiograph", standalone_mode=False) or 0)
    except CuriographError as error:
        _refuse(str(error))
    except (KeyboardInterrupt, typer.Abort):  # at a question, or before any command
        print_remark("stopped", quiet=bool(os.environ.get("CURIOGRAPH_QUIET")))
        sys.exit(_STOPPED)
    except BrokenPipeError:  # the reader of our output has gone, as in `curiograph ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        _refuse(f"cannot write the result: {error.strerror or error}.")
    except Exception as error:
        if not hasattr(error, "format_message"):  # a wrong option or argument; anything else is a bug
            raise
        _refuse(f"{error.format_message()} (--help lists what there is)")


def _refuse(message: str) -> None:
    print(f"curiograph: {message}", file=sys.stderr)
    sys.exit(2)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> Any:
    print(f"curiograph: {message}", file=sys.stderr)
