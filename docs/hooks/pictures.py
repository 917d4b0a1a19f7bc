"""Link every image to its file, so that it can be viewed at full size."""

from __future__ import annotations

import re
from typing import Any

_IMAGE = re.compile(r'<p>(<img [^>]*?src="([^"]+)"[^>]*>)</p>')


def on_page_content(content: str, **_: Any) -> str:
    """Wrap every image that is a paragraph of its own in a link."""
    return _IMAGE.sub(r'<p><a class="picture" href="\2">\1</a></p>', content)
