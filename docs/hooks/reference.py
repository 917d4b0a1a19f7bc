"""Generate the API reference: one page per package, with every public name of `curiograph` and `curiograph.human`."""

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
    "centrality": "Centrality",
    "recommendation": "Recommendation",
    "human": "Human choices",
    "leaderboard": "Leaderboard",
    "errors": "Errors",
}
"""Packages with public names, in the order of their imports, and the titles of their pages."""

_EXTRA = {
    "graph": ["curiograph.graph.toys"],
    "training": ["curiograph.training.config.DqnSettings", "curiograph.training.config.ExpertIterationSettings"],
}
"""Names shown in addition to the public ones: the toy graphs, and the settings that `train` takes as keywords."""


def list_public_names() -> dict[str, list[str]]:
    """Return the full public names of every group, sorted by name."""
    groups: dict[str, list[str]] = {group: [] for group in GROUPS}
    for home, names in cg._HOMES.items():
        groups[home.partition(".")[0]] += [f"curiograph.{home}.{name}" for name in names]
    for home, names in cg.human._HOMES.items():
        groups["human"] += [f"curiograph.human.{home}.{name}" for name in names]
    return {group: sorted(names, key=lambda name: name.rpartition(".")[2].lower()) for group, names in groups.items()}


def _list_top_names(group: str) -> list[str]:
    """Return the public names of a group that `curiograph` itself has."""
    return [name for home, names in cg._HOMES.items() if home.partition(".")[0] == group for name in names]


def build_page(group: str) -> str:
    """Return the page of a group, with directives for mkdocstrings."""
    prefix = "cg.human" if group == "human" else "cg"
    outside = [f", `{name}` as `cg.{name}`" for name in _list_top_names(group)] if group == "human" else []
    lines = [f"# {GROUPS[group]}", "", f"Use as `{prefix}.NAME`{''.join(outside)} after `import curiograph as cg`.", ""]
    for name in [*list_public_names()[group], *_EXTRA.get(group, [])]:
        lines += [f"::: {name}", ""]
    return "\n".join(lines)


def build_index() -> str:
    """Return a table of all public names with the summaries of their docstrings."""
    lines = ["# Reference", "", "All public names. Each package imports only from packages above it.", ""]
    for group, names in list_public_names().items():
        lines += [f"## [{GROUPS[group]}]({group}.md)", "", "| name | summary |", "|---|---|"]
        for full in names:
            name = full.rpartition(".")[2]
            home = cg if name in _list_top_names(group) else cg.human
            summary = (inspect.getdoc(getattr(home, name)) or "").partition("\n\n")[0].replace("\n", " ")
            lines.append(f"| [`{name}`]({group}.md#{full}) | {summary.replace('|', '&#124;')} |")
        lines.append("")
    return "\n".join(lines)


def on_config(config: Any) -> Any:
    """Add the pages to the navigation."""
    pages = [{title: f"reference/{group}.md"} for group, title in GROUPS.items()]
    for entry in config.nav:
        if "Reference" in entry:
            entry["Reference"] = ["reference/index.md", *pages]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages to the site."""
    files.append(File.generated(config, "reference/index.md", content=build_index()))
    for group in GROUPS:
        files.append(File.generated(config, f"reference/{group}.md", content=build_page(group)))
    return files
