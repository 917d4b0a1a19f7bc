"""The colours of the pictures as variables of the style sheet: both take them from `curiograph.plotting`."""

from __future__ import annotations

from typing import Any

from mkdocs.structure.files import File, Files

from curiograph.plotting import COLORS


def style_sheet() -> str:
    """A variable for each colour, such as `--igt`, by names that CSS allows."""
    lines = [f"  --{name.replace('+', '-')}: {colour};" for name, colour in COLORS.items()]
    return "\n".join([":root {", *lines, "}", ""])


def on_files(files: Files, config: Any) -> Files:
    """Add the style sheet to the site."""
    files.append(File.generated(config, "stylesheets/colours.css", content=style_sheet()))
    return files
