"""`profile`: every measure of the walks of people, one row per person and session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Int32, Int64
from curiograph.errors import SettingError, WalkError, quote_value
from curiograph.graph.graph import Graph, as_graph
from curiograph.graph.similarity import Similarity
from curiograph.growth.first_visits import is_recorded, is_single, place_walks, select_first_visits
from curiograph.growth.graph_gaps import SortedGraph
from curiograph.human.people.game_measures import measure_games
from curiograph.human.people.measure_catalog import MEASURES, select_measures
from curiograph.human.people.people_table import WalkTable, average_people
from curiograph.human.people.walk_measures import (
    PairSimilarity,
    are_similarities,
    compute_measures,
    measure_similarity,
)
from curiograph.human.trajectories import Trajectories
from curiograph.parallel import Engine, EngineName, as_engine
from curiograph.parallel.chunks import split_by_size
from curiograph.progress import Progress, no_progress
from curiograph.results import get_version
from curiograph.validation import check_integer

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from curiograph.human.people.styles import Styles

_WHOLE = ("meaning", "games", "leaps", "style")  # groups computed for all walks together
_TASK_COST = 5e7  # sum of the cubes of lengths: a task of walks of 50 visits takes about a second


@dataclass(frozen=True, eq=False, repr=False)
class Profile(WalkTable):
    """Measures of walks: a table with one row per person and session."""

    graph: Graph
    """The graph that was walked on."""
    similarity: PairSimilarity | None = None
    """Similarity of nodes that was used instead of weights."""

    def per_user(self) -> pd.DataFrame:
        """Return one row per user as a pandas frame: means over the walks for which a measure is defined."""
        return average_people(self.to_frame(), list(self.measures))

    def styles(self, block: int | None = 10, *, seed: int = 0) -> Styles:
        """Estimate the position of each person between busybody and hunter; see `curiosity_styles`."""
        from curiograph.human.people.styles import curiosity_styles

        return curiosity_styles(self, block, seed=seed)

    def methods(self) -> str:
        """Return a paragraph for the methods section of a paper; `compare_groups` has one for its tests.

        >>> import curiograph as cg
        >>> print(cg.profile(cg.toys.cycle(4), [[0, 1, 2, 3], [2, 3]], measures="gaps").methods())
        2 walks of 2 people (median 3 visits, 3 distinct nodes) on a graph of 4 nodes and 4 links were ...
        """
        lengths = np.median(self.walks.lengths), np.median(self.measures["nodes"])
        size = f"{len(self.walks):,} walks of {self.walks.num_users:,} people"
        left_out = f" Left out: {self.skipped}." if self.skipped else ""
        return (
            f"{size} (median {lengths[0]:g} visits, {lengths[1]:g} distinct nodes) on a graph of "
            f"{self.graph.num_nodes:,} nodes and {self.graph.num_edges:,} links were described by {len(self.measures)} "
            f"measures of the visited subgraph and of the sequence of visits: {', '.join(self.measures)}.{left_out} "
            f"Computed by curiograph {get_version()}."
        )

    def plot(self, measures: Sequence[str] | None = None) -> Figure:
        """Plot the distribution over people of each measure, one panel per measure."""
        from curiograph.plotting import plot_distributions

        people = self.per_user()
        names = self.measures if measures is None else measures
        return plot_distributions({MEASURES[name].label: people[name].to_numpy() for name in names})

    def __repr__(self) -> str:
        return f"Profile({len(self.walks):,} walks by {self.walks.num_users:,} users, {len(self.measures)} measures)"


def profile(
    graph: Graph,
    walks: Any,
    *,
    measures: str | Sequence[str] | None = None,
    nodes: int | None = None,
    similarity: PairSimilarity | None = None,
    engine: EngineName | Engine = "local",
    progress: Progress = no_progress,
) -> Profile:
    """Compute the measures that the literature reports of walks: structure, gaps, sequence, and more.

    Structural measures are those of the undirected subgraph that a whole walk induces. docs/profile.md has all
    definitions, with references.

    Parameters
    ----------
    graph : Graph
        The graph that was walked on.
    walks : Trajectories, list of walks, or one walk
        Walks with returns, as for `measure`; immediate repeats are merged.
    measures : str or sequence of str, optional
        Names of measures and of groups of measures: structure, communities, gaps, compression, conformation,
        steps, sequence, meaning, games, small-world, leaps, style. Default: the first seven, meaning if there
        are weights from 0 to 1 or a similarity, and games if the walks have targets; steps and games only on graphs of
        at most 100,000 nodes. The style is a value of the person, repeated for each walk.
    nodes : int, optional
        Cut every walk after this number of distinct nodes, and leave out walks with fewer: then measures can be
        compared although walks differ in length. Default: whole walks.
    similarity : object with a method `compute_pairs`, optional
        Similarity of nodes given by two arrays of positions, at most 1; used instead of weights by `edge_weight` and
        `forward_flow`.
    engine : {"local", "ray"} or Engine
        Where the walks are measured; the result is the same.
    progress : callable
        Called with a message and the completed share.

    Returns
    -------
    Profile
        One row per person and session, with `to_frame`, `per_user`, `plot` and `styles`.

    Examples
    --------
    >>> import curiograph as cg
    >>> walks = cg.human.Trajectories.from_walks([[0, 1, 2, 3, 0], [0, 1], [2]], users=["ann", "ann", "bob"])
    >>> found = profile(cg.toys.cycle(4), walks, measures=["beta1", "path_length"])
    >>> found
    Profile(3 walks by 2 users, 5 measures)
    >>> found.per_user()[["user", "walks", "beta1", "path_length"]]
      user  walks  beta1  path_length
    0  ann      2    0.5     1.166667
    1  bob      1    0.0          NaN
    """
    as_graph(graph)
    if similarity is not None and not isinstance(similarity, PairSimilarity):
        raise SettingError(
            f"similarity is {quote_value(similarity)}; give an object with a method compute_pairs(first, second)."
        )
    if isinstance(similarity, Similarity):
        similarity.check_graph(graph)  # a Similarity of another graph has other nodes at the same positions
    is_bounded = are_similarities(graph.weights)
    has_meaning = similarity is not None or (is_bounded if measures is None else graph.weights is not None)
    has_targets = getattr(getattr(walks, "walks", walks), "targets", None) is not None
    selected = select_measures(measures, has_meaning=has_meaning, has_targets=has_targets, num_nodes=graph.num_nodes)
    if "forward_flow" in selected and similarity is None and not is_bounded:
        raise SettingError(
            "forward_flow takes weights as similarities from 0 to 1, and those of this graph are not; scale them, give "
            "similarity=, or leave it out."
        )
    if not is_recorded(walks):
        listed = [walks] if is_single(graph, walks) else walks
        walks = Trajectories.from_walks([getattr(walk, "nodes", walk) for walk in listed], graph=graph)
    people = place_walks(graph, walks)
    if nodes is not None:
        people = people.cut(check_integer("nodes", nodes, 2, "cut walks to 2 nodes or more"))
        if not len(people):
            raise WalkError(f"no walk visits {nodes} distinct nodes; give fewer.")
    skeleton = Graph(graph.skeleton.indptr, graph.skeleton.indices)  # without labels
    computed = [name for name in selected if MEASURES[name].group not in _WHOLE]
    tasks = list(split_by_size(people.lengths.astype(float) ** 3, _TASK_COST))
    parts = as_engine(engine).map(
        profile_part,
        (skeleton, people.nodes, people.offsets, computed),
        tasks,
        name="profile",
        key=[skeleton, people.nodes, people.offsets, computed],
        unit="walks",
        sizes=[last - first for first, last in tasks],
        progress=progress,
    )
    values = {name: np.concatenate([part[name] for part in parts]) for name in computed}
    groups = {MEASURES[name].group for name in selected}
    if "meaning" in groups:
        values |= measure_similarity(graph, people.nodes, people.offsets, similarity, selected)
    if "games" in groups:
        values |= measure_games(graph, people)
    if "leaps" in groups:
        first, ordered = select_first_visits(people.nodes, people.offsets), SortedGraph(graph)
        members = ordered.find_communities()[ordered.place]
        leaps = kernels.subgraph_measures.measure_leaps(skeleton.indptr, skeleton.indices, *first, members)
        values |= dict(zip(("leaps", "dance"), leaps.T, strict=True))
    found = Profile(people, values, graph, similarity)
    if "style" in groups:
        styles = found.styles()
        scores = dict(zip(styles.people["user"], styles.scores.tolist(), strict=True))
        values["style"] = np.array([scores.get(people.user(number), np.nan) for number in range(len(people))])
    return Profile(people, {name: values[name] for name in selected}, graph, similarity)


def profile_part(shared: tuple[Graph, Int32, Int64, list[str]], task: tuple[int, int]) -> dict[str, NDArray[Any]]:
    """Compute the measures of the walks `task[0]` to `task[1] - 1`."""
    graph, nodes, offsets, measures = shared
    bounds = offsets[task[0] : task[1] + 1]
    return compute_measures(graph, nodes[bounds[0] : bounds[-1]], bounds - bounds[0], measures)


def cut_blocks(walks: Trajectories, size: int) -> tuple[Int64, Int64, Int64]:
    """Cut walks into blocks of `size` distinct nodes: return the walk of each block and its bounds in `walks.nodes`."""
    walk, begins, ends = kernels.sequences.cut_blocks(walks.nodes, walks.offsets, len(walks.names), size).T
    if not len(walk):
        most = np.diff(select_first_visits(walks.nodes, walks.offsets)[1]).max(initial=0)
        raise WalkError(f"no walk visits {size} distinct nodes; the longest visits {most}, so give at most that.")
    return walk, begins, ends
