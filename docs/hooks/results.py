"""Results pages: stored runs get a heading, their picture and where they come from; the benchmark gets its page."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

DOCS = Path(__file__).parents[1]
RESULTS = DOCS / "results"
MADE_BY = {"ablation": "make ablation", "bench": "make bench"}
"""Commands of the results that `curiograph reproduce` does not make."""


def bench_page() -> str:
    """The table of the stored benchmark, as README shows it."""
    lines = [
        "What is promised is a ratio to the peer, or to the time or memory that is allowed; "
        "a ratio above it keeps the promise.",
        "",
        *_show_results().bench_lines(json.loads((RESULTS / "bench.json").read_text())),
    ]
    return "\n".join([*lines, ""])


def _show_results() -> Any:
    """The script beside this folder that also fills README."""
    spec = importlib.util.spec_from_file_location("show_results", DOCS / "show_results.py")
    if spec is None or spec.loader is None:
        raise ImportError("docs/show_results.py cannot be read")
    sys.path.append(str(DOCS))  # where what it imports is
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def on_files(files: Files, config: Any) -> Files:
    """Add the page of the benchmark to the site."""
    files.append(File.generated(config, "results/bench.md", content=bench_page()))
    return files


def on_page_read_source(page: Any, **_: Any) -> str | None:
    """Put heading, source and picture above what a run has written."""
    folder, _, name = page.file.src_uri.rpartition("/")
    return headed(name.removesuffix(".md"), page.title, page.file.content_string) if folder == "results" else None


def headed(stem: str, title: str, text: str) -> str:
    """The whole page of a result; without a table of contents, since wide tables need the room."""
    command = MADE_BY.get(stem, f"curiograph reproduce {stem}")
    source = f"Made by `{command}` from a stored run: [{stem}.json]({stem}.json)."
    picture = [f"![{title}]({stem}.png)", ""] if (RESULTS / f"{stem}.png").exists() else []
    return "\n".join(["---", "hide: [toc]", "---", "", f"# {title}", "", source, "", *picture, text])
