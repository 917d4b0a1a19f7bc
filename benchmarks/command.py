"""Options and output that the benchmark commands share."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from curiograph.cli.output import check_out, show_json, show_table, write_result
from curiograph.errors import CuriographError


def create_parser(description: str | None) -> ArgumentParser:
    """Create a parser with the common options."""
    parser = ArgumentParser(description=description)
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: 0)")
    parser.add_argument("--out", type=Path, help="also write the results to this .json file")
    parser.add_argument("--json", action="store_true", help="print one JSON document on stdout and nothing else")
    parser.add_argument("--quiet", action="store_true", help="print no progress and no remarks")
    return parser


@contextmanager
def exit_on_error(args: Namespace) -> Iterator[None]:
    """Check --out, and turn errors of curiograph into a message and exit code 2."""
    try:
        check_out(args.out, (".json",))
        yield
    except CuriographError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        sys.exit(2)


def show_results(
    args: Namespace, document: Any, title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> None:
    """Write the document to --out, and print it or a table."""
    write_result(args.out, document)
    if args.json:
        show_json(document)
    else:
        show_table(title, columns, rows)
