"""Add a heading, the source and the figure to the pages of stored results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "results"
COMMANDS = {
    "ablation": "make ablation",
    "bench": "make bench",
    "leaderboard": "curiograph suite",
    "paper_gap": "make paper-gap",
}
"""Commands of the results that are not computed by `curiograph reproduce`."""


def add_heading(stem: str, title: str, text: str) -> str:
    """Return the whole page of a result, without a table of contents, because wide tables need the space."""
    command = COMMANDS.get(stem, f"curiograph reproduce {stem}")
    stored = f"[{stem}.json]({stem}.json)" if stem != "leaderboard" else "`docs/results/suite`"
    source = f"Computed by `{command}` and stored in {stored}."
    figure = [f"![{title}]({stem}.png)", ""] if (RESULTS / f"{stem}.png").exists() else []
    return "\n".join(["---", "hide: [toc]", "---", "", f"# {title}", "", source, "", *figure, text])


def on_page_read_source(page: Any, **_: Any) -> str | None:
    """Add the heading to the pages in results/; leave other pages unchanged."""
    folder, _, name = page.file.src_uri.rpartition("/")
    return add_heading(name.removesuffix(".md"), page.title, page.file.content_string) if folder == "results" else None
