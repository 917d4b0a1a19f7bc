"""`Dataset`: the result of loading recorded human walks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from curiograph.graph.graph import Graph
from curiograph.human.trajectories import Trajectories
from curiograph.skipped import Skipped


@dataclass(frozen=True, eq=False)
class Dataset:
    """Human walks, with the graph and the titles of the nodes if the publisher provides them.

    >>> walks = Trajectories.from_walks([["a", "b"], ["b", "c"]])
    >>> Dataset("mine", walks, Path("mine.csv")).skipped.count
    0
    """

    name: str
    """wikispeedia, movielens, books, or the name of the file."""
    walks: Trajectories
    """The nodes that each user visited, in order."""
    source_path: Path
    """The file or folder that was read."""
    graph: Graph | None = None
    """The graph that users walked on, or None if the dataset has none."""
    titles: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Labels of all items in the publisher's catalog by id; empty if it has no titles."""
    texts: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Texts about nodes by label, for `Similarity.from_texts`; empty if the publisher provides none."""

    @property
    def skipped(self) -> Skipped:
        """What was dropped when the walks were read and matched with a graph."""
        return self.walks.skipped
