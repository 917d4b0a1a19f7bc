"""Replace the links of differences.md by the linked sections, so that the site shows all of them on one page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1]
_SECTION = re.compile(r"^## What differs from the paper\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"^- \[(.+)\]\(([\w-]+)\.md#what-differs-from-the-paper\)$", re.MULTILINE)


def read_section(page: str) -> str:
    """Return the text of the section "What differs from the paper" of a page."""
    found = _SECTION.search((DOCS / f"{page}.md").read_text())
    if found is None:
        raise ValueError(f"docs/{page}.md has no section 'What differs from the paper'")
    return found[1].strip()


def expand_links(text: str) -> str:
    """Replace every link to such a section by a heading and the section."""
    return _LINK.sub(lambda link: f"## [{link[1]}]({link[2]}.md)\n\n{read_section(link[2])}\n", text)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Expand the links of differences.md; leave other pages unchanged."""
    return expand_links(markdown) if page.file.src_uri == "differences.md" else markdown
