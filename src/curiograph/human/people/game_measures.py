"""Measures of games: walks that are to reach a target.

A game ends with the first visit of its target, or with the walk if the target is not visited; later visits are ignored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.arrays import Float64, Int64
from curiograph.errors import SettingError
from curiograph.graph.csr import concatenate_ranges
from curiograph.graph.graph import Graph, as_graph
from curiograph.growth.first_visits import list_people, place_walks
from curiograph.human.choices.target_distances import target_distances
from curiograph.human.trajectories import Trajectories
from curiograph.validation import check_integer

if TYPE_CHECKING:
    import pandas as pd


def measure_games(graph: Graph, walks: Trajectories) -> dict[str, Float64]:
    """Compute the measures of the group `games` of walks on a graph; docs/profile.md has the definitions."""
    distances, ends = _follow_targets(graph, walks)
    begins, size = walks.offsets[:-1], len(walks)
    lengths = ends - begins
    success = np.where(walks.targets == -1, np.nan, distances[ends] == 0)
    game, moves = np.repeat(np.arange(size), lengths), concatenate_ranges(begins, lengths)
    with np.errstate(invalid="ignore"):  # 0 / 0 is NaN: no moves
        loops = np.bincount(game, ~walks.are_first()[moves + 1], size) / lengths
        half = lengths // 2
        early = (distances[begins] - distances[begins + half]) / half
        late = (distances[ends - half] - distances[ends]) / half
        ranks = _rank_moves(graph, walks.nodes[moves], walks.nodes[moves + 1])
        counted = (distances[moves + 1] != 0) & ~np.isnan(ranks)
        hubs = np.bincount(game[counted], ranks[counted], size) / np.bincount(game[counted], minlength=size)
    return {
        "success": success,
        "extra_steps": np.where(success == 1, lengths - distances[begins], np.nan),
        "loop_rate": loops,
        "approach_early": early,
        "approach_late": late,
        "hub_seeking": hubs,
    }


def distance_by_step(graph: Graph, walks: Any, steps: int = 10) -> pd.DataFrame:
    """Return the distance to the target after each move of games, one row per walk.

    Parameters
    ----------
    graph : Graph
        The graph that was walked on.
    walks : Trajectories or Dataset
        Walks with targets.
    steps : int
        Number of moves. A game that ends earlier keeps its last distance, 0 if it reached its target, so that all steps
        have the same games.

    Returns
    -------
    DataFrame
        User, session and further columns of the log, and columns 0 to `steps`; NaN if the target cannot be reached.

    Examples
    --------
    >>> from curiograph.graph.toys import cycle
    >>> games = Trajectories.from_walks([[0, 1, 2, 3], [0, 5]], ["ann", "bob"], cycle(6), targets=[3, 3])
    >>> distance_by_step(cycle(6), games, steps=4)
      user  session    0    1    2    3    4
    0  ann        1  3.0  2.0  1.0  0.0  0.0
    1  bob        1  3.0  2.0  2.0  2.0  2.0
    """
    import pandas as pd

    people = place_walks(as_graph(graph), walks)
    if people.targets is None:
        raise SettingError("the walks have no targets; give them, as with Trajectories.from_walks(targets=...).")
    distances, ends = _follow_targets(graph, people)
    moves = np.arange(check_integer("steps", steps, 0, "give the number of moves, 0 or more") + 1)
    table = distances[np.minimum(people.offsets[:-1, None] + moves, ends[:, None])]
    return pd.DataFrame(list_people(people)).join(pd.DataFrame(table))


def _follow_targets(graph: Graph, walks: Trajectories) -> tuple[Float64, Int64]:
    """Return the distance from each visit to the target, NaN if there is no path, and the last visit of each game."""
    game = np.repeat(np.arange(len(walks)), walks.lengths)
    found = target_distances(graph, walks.nodes, np.asarray(walks.targets)[game])
    ends, reached = walks.offsets[1:] - 1, np.flatnonzero(found == 0)
    games, first = np.unique(game[reached], return_index=True)
    ends[games] = reached[first]
    return np.where(found < 0, np.nan, found), ends


def _rank_moves(graph: Graph, sources: Any, chosen: Any) -> Float64:
    """Return the percentile of the out-degree of chosen nodes among the out-links of their sources; NaN if no choice.

    Ties share their mean rank.
    """
    size = graph.num_nodes
    rows = np.repeat(np.arange(size), graph.degrees)
    keys = rows * size + graph.degrees[graph.indices]
    ordered = np.sort(keys)  # rows stay at their places
    before = np.searchsorted(ordered, keys, "left") + np.searchsorted(ordered, keys, "right") - 1
    ranks = np.append((before / 2 - graph.indptr[rows]) / (graph.degrees[rows] - 1), np.nan)
    links, wanted = rows * size + graph.indices, sources.astype(np.int64) * size + chosen
    slots = np.searchsorted(links, wanted)
    return np.asarray(ranks[np.where(np.append(links, -1)[slots] == wanted, slots, len(links))])
