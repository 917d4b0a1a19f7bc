"""Choice sets: which visits are choices, and among which candidates."""

from __future__ import annotations

import numpy as np

import curiograph as cg
from curiograph.human.choices.choice_sets import ChoiceSet, find_choices
from curiograph.human.trajectories import Trajectories


def test_choices_are_links_to_unvisited_nodes_among_several():
    star = cg.Graph.from_edges([("hub", leaf) for leaf in "abcd"])
    walks = Trajectories.from_walks([["a", "hub", "b", "hub", "c", "d"]], graph=star)
    choices, left_out = find_choices(star, walks, burn_in=1)
    histories = [[star.label(int(v)) for v in row if v >= 0] for row in choices.windows.histories]
    assert histories == [["a", "hub"], ["a", "b", "hub"]]  # ordered by last visit
    assert [star.label(int(v)) for v in choices.windows.nexts] == ["b", "c"]
    assert [star.label(int(v)) for v in choices.candidates.nodes] == ["b", "c", "d", "c", "d"]
    assert left_out == {"revisit": 1, "no link": 1, "only candidate": 1}


def test_memory_limits_the_history():
    ring = cg.toys.complete(6)
    walks = Trajectories.from_walks([[0, 1, 2, 3, 0]], graph=ring)
    choices, _ = find_choices(ring, walks, burn_in=2, memory=2)
    assert choices.windows.histories.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert choices.windows.nexts.tolist() == [2, 3, 0]
    assert len(find_choices(ring, walks, burn_in=2)[0]) == 2  # 0 is visited


def test_candidates_of_both_sets_match_their_definition():
    graph = cg.generate("ws", nodes=20, seed=0)
    walks = [cg.explore(graph, "random", start=start, steps=6, seed=start).nodes for start in range(10)]
    windows = Trajectories.from_walks(walks, graph=graph).windows(2).along_links(graph)
    for among in ("last", "all"):
        choices = ChoiceSet.from_windows(graph, windows, among)
        for row, history in enumerate(windows.histories.tolist()):
            pool = graph.neighbors(graph.label(history[-1])) if among == "last" else range(20)
            expected = sorted(set(map(int, pool)) - set(history))
            first, last = choices.candidates.offsets[row : row + 2]
            assert choices.candidates.nodes[first:last].tolist() == expected


def test_rows_of_a_choice_set_keep_candidates_and_ranks():
    graph = cg.generate("ba", nodes=30, seed=2)
    walks = [cg.explore(graph, "random", start=start, steps=7, seed=start).nodes for start in range(20)]
    choices, _ = find_choices(graph, Trajectories.from_walks(walks, graph=graph), burn_in=1)
    scores = graph.degrees[choices.candidates.nodes].astype(float)
    which = np.arange(len(choices)) % 2 == 1
    some = choices.rows(which)
    ranks = some.rank(graph.degrees[some.candidates.nodes].astype(float))
    assert np.array_equal(ranks.percentile, choices.rank(scores).percentile[which])
