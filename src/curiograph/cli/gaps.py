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
from curiograph.errors import quote_value
from curiograph.files import open_atomic, read_text, wrap_parse_errors

_MAX_LINKS = 2  # in the table; JSON has more
_REPORTED = 10  # gaps of a report


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
    from curiograph.graph.io.markdown import read_vault
    from curiograph.graph.labels import name_nodes
    from curiograph.growth.gap_report import read_dismissed, write_list

    def join(nodes: Iterable[Hashable], separator: str = " - ") -> str:
        return separator.join(titles[g.position(node)] for node in nodes)

    check_out(output.out, (".md", ".json", ".csv"))
    facts: dict[str, Any] = {}
    if Path(graph).is_dir():
        vault = read_vault(graph, directed=directed)
        g, facts["wanted"] = vault.graph, vault.unresolved
    else:
        g = options.open_graph(graph, directed)
    titles = name_nodes(g.names)
    with show_progress(output.quiet) as progress:
        progress("finding gaps")
        found = shown = cg.gaps(g, texts=options.read_similarity(texts, g), max_length=max_length)
    if dismiss is not None:
        dismissed = read_dismissed(read_text(dismiss), titles)
        shown = found.hide([g.label(v) for v in loop] for loop in dismissed.values() if loop is not None)
        facts["dismissed"] = len(found.loops) - len(shown.loops)
        print_remark(f"{facts['dismissed']:,} dismissed gaps are hidden", output.quiet)
        unknown = [line for line, loop in dismissed.items() if loop is None]
        if unknown:
            first = quote_value(unknown[0])
            print_remark(f"{dismiss}: {len(unknown):,} lines name no nodes of the graph, such as {first}", output.quiet)
    if since is not None:
        with wrap_parse_errors(since, "result of curiograph gaps"):
            earlier = json.loads(read_text(since))
            names = {str(row["loop"]): row["gap"] for row in earlier["rows"]}
            opened, closed = shown.compare(earlier)[0], found.compare(earlier)[1]
        facts |= {"opened": opened.columns()["gap"], "closed": [names[str(loop)] for loop in closed]}
    wanted = [f"{name}: {', '.join(notes)}" for name, notes in facts.get("wanted", {}).items()]
    lists = {"Wanted notes": wanted} if wanted else {}
    lists |= {f"{name.capitalize()} since {since}": facts[name] for name in ("opened", "closed") if name in facts}
    listed = shown
    if output.out is not None and output.out.suffix.lower() == ".md":
        with open_atomic(output.out) as stream:
            sections = "".join(write_list(title, lines) for title, lines in lists.items())
            stream.write((shown.to_markdown() + sections).encode())
        output, listed = replace(output, out=None), shown.head(_REPORTED)
    table = listed.to_frame()
    table["links"] = [", ".join(map(join, links[:_MAX_LINKS])) for links in table["links"]]
    table["weakest"] = [join(link) for link in table["weakest"]]
    for name in ("nodes", "communities"):
        table[name] = [join(nodes, ", ") for nodes in table[name]]
    columns = ["gap", *(["persistence"] if "persistence" in table else []), "links", "nodes"]
    emit(output, {**shown.to_dict(), **facts}, table.drop(columns="loop"), title=repr(shown), columns=columns)
    for title, lines in {} if output.json else lists.items():
        show_table(f"{title}: {len(lines):,}", [{"": line} for line in lines])
