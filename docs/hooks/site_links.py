"""Point links to scripts and packages, which work in a clone, to the generated pages of the site."""

from __future__ import annotations

import re
from typing import Any

_EXAMPLE = re.compile(r"\]\(\.\./examples(?:/(\w+)\.py)?\)")
_PACKAGE = re.compile(r"\]\(\.\./src/curiograph/(\w+)(?:\.py)?\)")


def rewrite_links(markdown: str) -> str:
    """Link to the gallery instead of `../examples` and to the reference instead of `../src/curiograph`."""
    markdown = _EXAMPLE.sub(lambda link: f"](gallery/{link[1] or 'index'}.md)", markdown)
    return _PACKAGE.sub(lambda link: f"](reference/{link[1].replace('__init__', 'index')}.md)", markdown)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Rewrite the links of every page."""
    return rewrite_links(markdown)
