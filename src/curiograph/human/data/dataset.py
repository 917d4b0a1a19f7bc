"""`Dataset`: what a loader returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from curiograph.graph.graph import Graph
from curiograph.human.data.line_reader import Skipped
from curiograph.human.trajectories import Trajectories


@dataclass(frozen=True, eq=False)
class Dataset:
    """Walks by people, and what their publisher tells about the nodes."""

    name: str
    """wikispeedia, movielens, books, or the name of the file."""
    walks: Trajectories
    """Who visited what, in order."""
    source_path: Path
    """The file or folder that was read."""
    graph: Graph | None = None
    """The graph that people walked on, where the data has one."""
    titles: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The label of every item that the publisher lists, by its id; empty where there are no titles."""
    skipped: Skipped = field(default_factory=Skipped)
    """Bad rows that were left out."""
