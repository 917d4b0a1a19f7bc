"""The command `curiograph gaps`."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

import curiograph as cg
from curiograph.cli import options
from curiograph.cli.output import check_out, emit, print_remark, show_progress, show_table
from curiograph.files import open_atomic, read_text, wrap_parse_errors

_MAX_LINKS = 2  # in the table; JSON has more


def gaps(
    graph: options.GraphArgument,
    output: options.Output,
    texts: options.Texts = None,
    max_length: Annotated[
        int | None, typer.Option(help="Maximum number of nodes around a gap. Default: all, or what takes some 20 s.")
    ] = None,
    dismiss: Annotated[
        Path | None, typer.Option(help="File with gaps to hide, one per line as in the table or the report.")
    ] = None,
    since: Annotated[
        Path | None, typer.Option(help="Earlier result (--json or --out FILE.json): which gaps opened and closed.")
    ] = None,
    directed: options.Directed = False,
) -> None:
    """Find the gaps of a graph, such as notes and their links: loops that nothing fills, and what would close them.

    A .md file as --out is a report on the ten most important gaps, with a question for each.

    [bold]curiograph gaps toy:library --out gaps.md[/bold]
    """
    from curiograph.growth.gap_report import read_dismissed
    from curiograph.growth.graph_gaps import name_node

    def join(nodes: Iterable[Hashable]) -> str:
        return " - ".join(name_node(g, node) for node in nodes)

    check_out(output.out, (".md", ".json", ".csv"))
    g = options.open_graph(graph, directed)
    with show_progress(output.quiet) as progress:
        progress("finding gaps")
        found = cg.gaps(g, texts=options.read_similarity(texts, g), max_length=max_length)
    facts: dict[str, Any] = {}
    if since is not None:
        with wrap_parse_errors(since, "result of curiograph gaps"):
            opened, closed = found.compare(json.loads(read_text(since)))
        facts = {"opened": opened.columns()["gap"], "closed": list(map(join, closed))}
    if dismiss is not None:
        titles = [name_node(g, label) for label in g.names]
        dismissed = read_dismissed(read_text(dismiss), titles)
        shown = found.hide([g.label(v) for v in loop] for loop in dismissed if loop is not None)
        facts["dismissed"] = len(found.loops) - len(shown.loops)
        print_remark(f"{facts['dismissed']:,} dismissed gaps are hidden", output.quiet)
        if None in dismissed:
            print_remark(f"{dismissed.count(None):,} lines of {dismiss} name no nodes of the graph", output.quiet)
        found = shown
    if output.out is not None and output.out.suffix.lower() == ".md":
        with open_atomic(output.out) as stream:
            stream.write(found.to_markdown().encode())
        output = replace(output, out=None)
    table = found.to_frame()
    table["links"] = [", ".join(map(join, links[:_MAX_LINKS])) for links in table["links"]]
    table["weakest"] = [join(link) for link in table["weakest"]]
    for name in ("nodes", "communities"):
        table[name] = [", ".join(name_node(g, node) for node in nodes) for nodes in table[name]]
    columns = ["gap", *(["persistence"] if "persistence" in table else []), "links", "nodes", "communities"]
    emit(output, {**found.to_dict(), **facts}, table.drop(columns="loop"), title=repr(found), columns=columns)
    for name in ("opened", "closed") if since is not None and not output.json else ():
        show_table(f"{len(facts[name]):,} gaps {name}", [{"gap": gap} for gap in facts[name]])
