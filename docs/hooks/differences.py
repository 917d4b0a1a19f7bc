"""One page of all that differs from the paper, gathered from the pages that say it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

DOCS = Path(__file__).parents[1]
PAGES = ("measure", "explore", "learning", "ranking", "prediction", "hypotheses", "reproduce")
_SECTION = re.compile(r"^## What differs from the paper\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def section(page: str) -> str:
    """What a page says about the paper."""
    found = _SECTION.search((DOCS / f"{page}.md").read_text())
    if found is None:
        raise ValueError(f"docs/{page}.md has no section 'What differs from the paper'")
    return found[1].strip()


def title(page: str) -> str:
    """The heading of a page."""
    return (DOCS / f"{page}.md").read_text().partition("\n")[0].removeprefix("# ")


def contents() -> str:
    """The whole page."""
    lines = [
        "# What differs from the paper",
        "",
        "Patankar, Ouellet et al., *Intrinsically Motivated Graph Exploration Using Network Theories of Human",
        "Curiosity* (LoG 2023), says what is computed. Here is all that we do differently, or had to choose.",
    ]
    for page in PAGES:
        lines += ["", f"## [{title(page)}]({page}.md)", "", section(page)]
    return "\n".join([*lines, ""])


def on_files(files: Files, config: Any) -> Files:
    """Add the page to the site."""
    files.append(File.generated(config, "differences.md", content=contents()))
    return files
