"""A report on gaps in Markdown: sentences, questions, and a Mermaid diagram of each, as GitHub and Obsidian show it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from curiograph.graph.labels import name_nodes

if TYPE_CHECKING:
    from curiograph.growth.graph_gaps import Gaps


def write_report(gaps: Gaps, count: int) -> str:
    """Return a report on the first `count` gaps, with a heading that `read_dismissed` understands for each."""
    graph, shown = gaps.graph, name_nodes(gaps.graph.names)
    longer = "" if gaps.exact else f", of which {gaps.longer:,} are longer than {gaps.max_length} nodes"
    parts = [
        f"# Gaps\n\nNumber of gaps: {gaps.total:,}{longer}. A gap is a ring of linked nodes that nothing fills. "
        "Gaps that share no node with another come first. To hide a gap that is none, copy its heading to a file, and "
        "give it as `--dismiss`."
    ]
    for number, row in enumerate(gaps.head(count).to_frame().to_dict("records"), start=1):
        loop, (one, other) = row["loop"], row["links"][0]
        nodes = {*loop, *row["nodes"]}
        name = {node: escape_markdown(shown[graph.position(node)]) for node in nodes}
        near = {node: set(graph.skeleton.neighbors(node)) for node in nodes}
        links = ", ".join(f"{name[a]} - {name[b]}" for a, b in row["links"][:3])
        shared = len(near[one] & near[other] - set(loop))
        also = (
            f" Outside the ring, {shared} {'node is' if shared == 1 else 'nodes are'} linked to both." if shared else ""
        )
        ways = [
            f"One of these links would close it: {links}."
            if len(loop) == 4
            else f"It takes {len(loop) - 3} links across it that do not cross to close it; the best are {links}.",
            *(
                f"{name[node]} would close it with a link to {_join([name[v] for v in loop if v not in near[node]])}."
                for node in row["nodes"]
            ),
        ]
        parts += [
            f"## {number}. {escape_markdown(row['gap'])}",
            f"**What connects {name[one]} with {name[other]}?** They are across the ring from each other, without "
            f"a link.{also}",
            "\n".join(f"- {way}" for way in ways),
            _draw([shown[graph.position(node)] for node in loop], loop.index(one), loop.index(other)),
        ]
    return "\n\n".join(parts) + "\n"


def write_list(title: str, lines: Sequence[str]) -> str:
    """Return a section of a report: a title, and one line each."""
    return f"\n## {title}\n\n" + "".join(f"- {escape_markdown(line)}\n" for line in lines or ["none"])


def read_dismissed(text: str, titles: Sequence[str]) -> dict[str, list[int] | None]:
    """Return the gaps of a text by its lines, as a table, a report or the page has them, as numbers of titles.

    A line with an unknown title becomes None. Titles may contain the separator.

    >>> read_dismissed("- [ ] a - b - c - d", ["a", "b - c", "d"])
    {'- [ ] a - b - c - d': [0, 1, 2]}
    """
    number = {name: k for k, title in enumerate(titles) for name in (title, escape_markdown(title))}
    found: dict[str, list[int] | None] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        plain = re.sub(r"^(#+ |[-*] )?(\[.\] )?(\d+\. )?", "", line).replace(" \N{EN DASH} ", " - ")
        words = plain.split(" - ")
        loop: list[int] | None = []
        while words and loop is not None:
            ends = [k for k in range(len(words), 0, -1) if " - ".join(words[:k]) in number]
            loop = [*loop, number[" - ".join(words[: ends[0]])]] if ends else None
            words = words[ends[0] :] if ends else []
        found[line] = loop
    return found


def escape_markdown(text: str) -> str:
    """Return a text as Markdown shows it unchanged, in one line."""
    return re.sub(r"([\\`*_\[\]<>|#$~])", r"\\\1", " ".join(text.split()))


def _draw(titles: list[str], one: int, other: int) -> str:
    """Return a diagram of a loop, with a dotted line for the link between two of its nodes."""
    texts = [" ".join(title.split()).replace("&", "#amp;").replace('"', "#quot;").replace("`", "'") for title in titles]
    lines = [f'  n{k}["{text}"] --- n{(k + 1) % len(texts)}' for k, text in enumerate(texts)]
    return "\n".join(["```mermaid", "graph LR", *lines, f"  n{one} -.-|?| n{other}", "```"])


def _join(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
