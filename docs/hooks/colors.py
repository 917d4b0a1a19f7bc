"""Generate the style sheet with the figure colors of `curiograph.plotting` as CSS variables."""

from __future__ import annotations

from typing import Any

from mkdocs.structure.files import File, Files

from curiograph.plotting import COLORS


def build_style_sheet() -> str:
    """Return a style sheet with one variable per color, such as `--igt`."""
    lines = [f"  --{name.replace('+', '-')}: {color};" for name, color in COLORS.items()]
    return "\n".join([":root {", *lines, "}", ""])


def on_files(files: Files, config: Any) -> Files:
    """Add the style sheet to the site."""
    files.append(File.generated(config, "stylesheets/colors.css", content=build_style_sheet()))
    return files
