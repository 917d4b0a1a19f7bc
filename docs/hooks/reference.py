"""Pages of the API reference: one a group, with every public name of `curiograph` and `curiograph.human`."""

from __future__ import annotations

import inspect
from typing import Any

from mkdocs.structure.files import File, Files

import curiograph as cg

GROUPS = {
    "graph": "Graphs",
    "growth": "Growth",
    "rewards": "Rewards",
    "exploration": "Exploration",
    "agents": "Agents",
    "training": "Training",
    "centrality": "Ranking",
    "recommendation": "Recommendation",
    "human": "People",
    "errors": "Errors",
}
"""Layers that have public names, in the order of the layers, and what their pages are called."""

_PAGES: dict[str, str] = {}
"""Layers whose names stand on the page of another."""

_BESIDE = {
    "graph": ["curiograph.graph.toys"],
    "training": ["curiograph.training.config.DqnSettings", "curiograph.training.config.ExpertIterationSettings"],
}
"""What a page shows beside the public names: the toys, and the settings that `train` takes by name."""


def public_names() -> dict[str, list[str]]:
    """Of every group the full names of what it offers, sorted."""
    found: dict[str, list[str]] = {group: [] for group in GROUPS}
    for home, names in cg._HOMES.items():
        found[_PAGES.get(home, home.partition(".")[0])] += [f"curiograph.{home}.{name}" for name in names]
    for home, names in cg.human._HOMES.items():
        found["human"] += [f"curiograph.human.{home}.{name}" for name in names]
    return {group: sorted(names, key=_by_name) for group, names in found.items()}


def _by_name(full: str) -> str:
    return full.rpartition(".")[2].lower()


def page(group: str) -> str:
    """The page of a group, for mkdocstrings to fill."""
    called = "cg.human" if group == "human" else "cg"
    lines = [f"# {GROUPS[group]}", "", f"To be used as `{called}.NAME` after `import curiograph as cg`.", ""]
    for full in public_names()[group]:
        lines += [f"::: {full}", ""]
    for full in _BESIDE.get(group, []):
        lines += [f"::: {full}", ""]
    return "\n".join(lines)


def contents() -> str:
    """All public names with the first line of their docstrings."""
    lines = ["# Reference", "", "Every public name. Layers are in the order in which they build on each other.", ""]
    for group, names in public_names().items():
        lines += [f"## [{GROUPS[group]}]({group}.md)", "", "| name | what it is |", "|---|---|"]
        home = cg.human if group == "human" else cg
        for full in names:
            name = full.rpartition(".")[2]
            lines.append(f"| [`{name}`]({group}.md#{full}) | {_first_line(getattr(home, name))} |")
        lines.append("")
    return "\n".join(lines)


def _first_line(value: Any) -> str:
    """The first sentence of a docstring; a table has no place for more, nor for a bar."""
    paragraph = (inspect.getdoc(value) or "").partition("\n\n")[0].replace("\n", " ")
    return paragraph.replace("|", "&#124;")


def on_config(config: Any) -> Any:
    """Put the pages below the reference in the navigation."""
    pages = [{title: f"reference/{group}.md"} for group, title in GROUPS.items()]
    for entry in config.nav:
        if "Reference" in entry:
            entry["Reference"] = ["reference/index.md", *pages]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages to the site."""
    files.append(File.generated(config, "reference/index.md", content=contents()))
    for group in GROUPS:
        files.append(File.generated(config, f"reference/{group}.md", content=page(group)))
    return files
