"""A report on gaps in Markdown: sentences, questions, and a Mermaid diagram of each, as GitHub and Obsidian show it."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from curiograph.growth.graph_gaps import name_node

if TYPE_CHECKING:
    from curiograph.growth.graph_gaps import Gaps


def write_report(gaps: Gaps, count: int) -> str:
    """Return a report on the first `count` gaps, with a heading that `read_dismissed` understands for each."""
    order = (
        "that last over the widest range of similarity" if gaps.persistence is not None else "across most communities"
    )
    hint = "To hide a gap that is none, copy its heading to a file, and give the file as `--dismiss`."
    parts = [
        "# Gaps",
        f"{gaps!r}"[5:-1].capitalize()
        + f". A gap is a loop of nodes that nothing fills. Those {order} come first. {hint}",
    ]
    graph = gaps.graph
    near = {}
    first = gaps.head(count)
    for number, row in enumerate(first.to_frame().to_dict("records"), start=1):
        loop, links, length = row["loop"], row["links"], row["length"]
        for node in (*loop, *row["nodes"]):
            near[node] = set(graph.skeleton.neighbors(node))
        one, other = links[0]
        shared = len(near[one] & near[other])
        names = {node: escape_markdown(name_node(graph, node)) for node in (*loop, *row["nodes"], *row["communities"])}
        across = len(row["communities"])
        spans = (
            f" across {across} communities ({_join([names[hub] for hub in row['communities']])})" if across > 1 else ""
        )
        lines = [
            f"## {number}. {escape_markdown(row['gap'])}",
            f"{_join([names[node] for node in loop])} are linked in a circle{spans}, but nothing fills it.",
            f"**What connects {names[one]} with {names[other]}?** They share {shared} neighbors and no link.",
        ]
        pairs = [f"{names[a]} - {names[b]}" for a, b in links[: 2 if length == 4 else length - 3]]
        needed = (
            "One of these links would close it"
            if length == 4
            else f"{length - 3} links across it would close it, best first"
        )
        notes = [f"- {needed}: {', '.join(pairs)}."]
        for node in row["nodes"]:
            missing = [names[each] for each in loop if each not in near[node]]
            notes.append(f"- {names[node]} would close it with a link to {_join(missing)}.")
        notes.append(f"- The weakest link is {' - '.join(names[node] for node in row['weakest'])}.")
        parts += [*lines, "\n".join(notes), _draw(loop, [name_node(graph, node) for node in loop], links[0])]
    return "\n\n".join(parts) + "\n"


def read_dismissed(text: str, titles: Sequence[str]) -> list[list[int] | None]:
    """Return the gaps of a text, one per line as a table or a report has them, by the numbers of titles.

    A line with an unknown title becomes None. Titles may contain the separator.

    >>> read_dismissed("a - b - c - d", ["a", "b - c", "d"])
    [[0, 1, 2]]
    """
    number = {title: k for k, title in enumerate(titles)}
    found: list[list[int] | None] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        plain = re.sub(r"\\([^\w\s])", r"\1", re.sub(r"^#+ \d+\. ", "", line))
        words = plain.split(" - ")
        loop: list[int] | None = []
        while words and loop is not None:
            ends = [k for k in range(len(words), 0, -1) if " - ".join(words[:k]) in number]
            loop = [*loop, number[" - ".join(words[: ends[0]])]] if ends else None
            words = words[ends[0] :] if ends else []
        found.append(loop)
    return found


def escape_markdown(text: str) -> str:
    """Return a text as Markdown shows it unchanged, in one line."""
    return re.sub(r"([\\`*_\[\]<>|#$~])", r"\\\1", " ".join(text.split()))


def _draw(loop: list[Hashable], titles: list[str], link: tuple[Hashable, Hashable]) -> str:
    """Return a diagram of a loop, with one link that is missing as a dotted line."""
    texts = [" ".join(title.split()).replace("&", "#amp;").replace('"', "#quot;").replace("`", "'") for title in titles]
    lines = [f'  n{k}["{text}"] --- n{(k + 1) % len(texts)}' for k, text in enumerate(texts)]
    ends = [loop.index(node) for node in link]
    return "\n".join(["```mermaid", "graph LR", *lines, f"  n{ends[0]} -.-|?| n{ends[1]}", "```"])


def _join(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
