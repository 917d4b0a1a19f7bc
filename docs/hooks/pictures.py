"""Pictures are links to themselves: on a small page they can be seen at full size."""

from __future__ import annotations

import re
from typing import Any

_ALONE = re.compile(r'<p>(<img [^>]*?src="([^"]+)"[^>]*>)</p>')


def on_page_content(content: str, **_: Any) -> str:
    """Link every picture that stands alone."""
    return _ALONE.sub(r'<p><a class="picture" href="\2">\1</a></p>', content)
