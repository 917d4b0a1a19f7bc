"""Tests of the measures of games against their definitions, networkx and a game by hand."""

import math
from itertools import pairwise

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import curiograph as cg
from curiograph.errors import SettingError
from oracles import reference as twins

GAMES = ["success", "extra_steps", "loop_rate", "approach_early", "approach_late", "hub_seeking"]
EDGES = [("start", "hub"), ("start", "side"), ("side", "start"), ("hub", "near"), ("hub", "side"), ("hub", "start")]
EDGES += [("near", "goal"), ("near", "hub"), ("goal", "start")]
LINKS = cg.Graph.from_edges(EDGES, directed=True)


def play(walks, targets, graph=LINKS):
    return cg.human.Trajectories.from_walks(walks, graph=graph, targets=targets)


def compute_by_definition(graph, walk, target):
    """Return the measures of a game, move by move."""
    links = graph.to_networkx()
    known = nx.single_target_shortest_path_length(links, target) if target is not None else {}
    distance = {node: dict(known).get(node, math.nan) for node in links}
    is_won = target in walk
    game = walk[: walk.index(target) + 1] if is_won else walk
    moves = list(pairwise(game))
    half = len(moves) // 2
    gains = [distance[a] - distance[b] for a, b in moves]
    first, second = gains[:half], gains[len(moves) - half :]
    ranks = []
    for a, b in moves:
        options = list(links.successors(a))
        if b != target and b in options and len(options) > 1:
            own, others = links.out_degree(b), [links.out_degree(c) for c in options if c != b]
            ranks.append(np.mean([(own > other) + (own == other) / 2 for other in others]))
    returns = [b in game[: place + 1] for place, (_, b) in enumerate(moves)]
    # the sums of gains telescope, also if a node between has no path to the target
    ends = (game[0], game[half], game[len(game) - 1 - half], game[-1])
    d = [distance[node] for node in ends]
    if half and not np.isnan(gains).any():
        assert (d[0] - d[1]) / half == pytest.approx(np.mean(first))
        assert (d[2] - d[3]) / half == pytest.approx(np.mean(second))
    return [
        math.nan if target is None else float(is_won),
        len(moves) - distance[game[0]] if is_won else math.nan,
        np.mean(returns) if moves else math.nan,
        (d[0] - d[1]) / half if half else math.nan,
        (d[2] - d[3]) / half if half else math.nan,
        np.mean(ranks) if ranks else math.nan,
    ]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_measures_equal_their_definitions(seed):
    rng = np.random.default_rng(seed)
    graph = twins.draw_graph(rng, int(rng.integers(2, 9)), 0.3, directed=True)
    walks = [rng.integers(0, graph.num_nodes, int(rng.integers(1, 9))).tolist() for _ in range(5)]
    walks = [[b for a, b in zip([None, *walk], walk, strict=False) if a != b] for walk in walks]
    targets = [None if rng.random() < 0.1 else int(rng.integers(graph.num_nodes)) for _ in walks]
    found = cg.profile(graph, play(walks, targets, graph), measures="games").measures
    for number, (walk, target) in enumerate(zip(walks, targets, strict=True)):
        expected = compute_by_definition(graph, walk, target)
        assert [found[name][number] for name in GAMES] == pytest.approx(expected, nan_ok=True)


def test_distance_by_step_keeps_the_last_distance():
    games = play([["start", "hub", "near", "goal", "start"], ["side", "start"], ["hub"]], ["goal", "goal", None])
    found = cg.human.distance_by_step(LINKS, games, steps=4)
    assert found.loc[0, [0, 1, 2, 3, 4]].tolist() == [3, 2, 1, 0, 0]
    assert found.loc[1, [0, 1, 2, 3, 4]].tolist() == [4, 3, 3, 3, 3]
    assert pd.isna(found.loc[2, [0, 4]]).all()


@pytest.mark.parametrize("measures", ["games", ["density", "hub_seeking"]])
def test_games_need_targets(measures):
    with pytest.raises(SettingError, match="target"):
        cg.profile(LINKS, [["start", "hub"]], measures=measures)
    with pytest.raises(SettingError, match="target"):
        cg.human.distance_by_step(LINKS, cg.human.Trajectories.from_walks([["start"]], graph=LINKS))
    assert not set(GAMES) & set(cg.profile(LINKS, [["start", "hub"]]).measures)
