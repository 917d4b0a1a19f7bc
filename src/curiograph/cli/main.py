"""The `curiograph` program: its commands, and the translation of errors to messages and exit codes."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterable
from importlib import import_module
from itertools import pairwise
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import curiograph
from curiograph.cli.options import expand_options
from curiograph.cli.output import print_remark
from curiograph.errors import CuriographError, JobStopped, SettingError, UnknownNameError

COMMANDS = (
    "measure",
    "gaps",
    "profile",
    "explore",
    "evaluate",
    "train",
    "rank",
    "recommend",
    "evaluate-recommender",
    "predict",
    "hypotheses",
    "graph",
    "data",
    "serve",
    "mcp",
    "warmup",
)
"""All commands, in the order of the help."""
_HELP = "Curiosity on graphs: measure how a walk grows knowledge, find gaps, explore, rank and recommend."
_EXIT_INTERRUPTED = 130


class _Group(TyperGroup):
    """Commands that print the message of an interruption, which typer would reduce to an exit code, and whose errors
    name options instead of Python parameters."""

    def invoke(self, context: Any) -> Any:
        try:
            return super().invoke(context)
        except (SettingError, UnknownNameError) as error:
            command = self.get_command(context, context.invoked_subcommand or "")
            name, verb, rest = str(error).partition(" is ")  # `max_walks is 0` becomes `--max-walks is 0`
            options = {each.name: each.opts[0] for each in getattr(command, "params", [])}
            if verb and options.get(name, "").startswith("-"):
                error.args = (f"{options[name]} is {rest}",)
            raise
        except KeyboardInterrupt as stop:
            quiet = bool(os.environ.get("CURIOGRAPH_QUIET")) and not isinstance(stop, JobStopped)
            print_remark(str(stop) or "stopped", quiet)
            sys.exit(_EXIT_INTERRUPTED)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"curiograph {curiograph.__version__}")
        raise typer.Exit


def _show_help(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


def create_app(commands: Iterable[str] = COMMANDS) -> typer.Typer:
    """Create the program with some commands; each is the function of its name, or the app, of its module."""
    app = typer.Typer(
        name="curiograph",
        cls=_Group,
        help=_HELP,
        invoke_without_command=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        add_completion=False,
    )
    app.callback()(_show_help)
    for command in commands:
        name = command.replace("-", "_")
        module = import_module(f"curiograph.cli.{name}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=command)
        else:
            app.command(command)(expand_options(getattr(module, name)))
    return app


def main() -> None:
    """Run the program; bad input ends with one sentence on stderr and exit code 2."""
    gc.set_threshold(100_000)  # compiling kernels makes many objects that stay, and searching them takes seconds
    # importing the other commands would take longer than many a command itself
    app = create_app(sys.argv[1:2] if sys.argv[1:2] and sys.argv[1] in COMMANDS else COMMANDS)
    if "--quiet" in sys.argv or os.environ.get("CURIOGRAPH_QUIET"):
        os.environ["CURIOGRAPH_QUIET"] = "1"
        warnings.simplefilter("ignore")
    warnings.showwarning = lambda message, *_, **__: print(f"curiograph: {message}", file=sys.stderr)
    if threading.current_thread() is threading.main_thread():  # SIGTERM ends a command as Ctrl-C does
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(app(prog_name="curiograph", standalone_mode=False) or 0)
    except CuriographError as error:
        _exit_with_error(str(error))
    except (KeyboardInterrupt, typer.Abort):  # at a prompt, or before any command
        print_remark("stopped", quiet=bool(os.environ.get("CURIOGRAPH_QUIET")))
        sys.exit(_EXIT_INTERRUPTED)
    except BrokenPipeError:  # the reader of stdout has closed it, as in `curiograph ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        _exit_with_error(f"cannot write the result: {error.strerror or error}.")
    except Exception as error:
        if not hasattr(error, "format_message"):  # click raises these for wrong options; anything else is a bug
            raise
        message = error.format_message()
        if not message:  # a group without a command: its help has been printed
            sys.exit(0)
        names = getattr(getattr(error, "param", None), "opts", ())
        for name, value in pairwise(sys.argv):
            if name in names:  # typer does not quote the bad value
                message = f"{name} is {value!r}: {message.partition(': ')[2]}"
        _exit_with_error(f"{message} (see --help)")


def _exit_with_error(message: str) -> None:
    print(f"curiograph: {message}", file=sys.stderr)
    sys.exit(2)
