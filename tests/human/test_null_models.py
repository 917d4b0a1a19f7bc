"""Null models, and the comparison of growth with them."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from curiograph.agents.registry import as_agent
from curiograph.centrality.walkers import simulate_biased_walks
from curiograph.exploration.mdp import begin
from curiograph.human.null_models import (
    compare_growth,
    group_by_degree,
    measure_growth,
    rewire_graph,
    shuffle_walks,
    walk_degree_matched,
    walk_unbiased,
)
from curiograph.human.trajectories import Trajectories
from support.people import follow_agent

GRAPH = cg.generate("ba", nodes=50, seed=2)


def walk_with_agent(graph, agent, p_g, walks=150, steps=8, seed=0):
    starts = np.random.default_rng(seed).choice(np.flatnonzero(graph.degrees > 0), walks)
    return simulate_biased_walks(begin([graph], [starts], "igt", steps, seed=seed), as_agent(agent), p_g, steps)


@given(st.integers(4, 20), st.integers(3, 60), st.booleans(), st.integers(0, 2**64 - 1))
def test_rewiring_keeps_degrees_and_stays_simple(nodes, edges, directed, seed):
    pairs = np.random.default_rng([nodes, edges]).integers(nodes, size=(edges, 2))
    pairs[0] = 0, 1
    graph = cg.Graph.from_edges(pairs, directed=directed, nodes=range(nodes))
    other, _ = rewire_graph(graph, np.empty((0, 1), np.int32), seed)
    assert np.array_equal(other.degrees, graph.skeleton.degrees)
    again = cg.Graph.from_networkx(other.to_networkx())  # drops loops, merges and mirrors edges, sorts rows
    assert again == other
    assert again.cleaning.self_loops == again.cleaning.parallel_edges == 0


def test_rewiring_samples_graphs_uniformly():
    ring = cg.toys.cycle(6)  # of the 70 graphs of 6 nodes with two edges each, 10 are pairs of triangles
    parts = [
        networkx.number_connected_components(rewire_graph(ring, np.empty((0, 1), np.int32), seed)[0].to_networkx())
        for seed in range(2000)
    ]
    assert np.mean(np.array(parts) == 2) == pytest.approx(1 / 7, abs=0.03)


def test_growth_equals_measure():
    nodes = walk_with_agent(GRAPH, "random", 1.0, walks=20)
    found = measure_growth(GRAPH, nodes)
    for row, growth in enumerate(cg.measure(GRAPH, nodes.tolist())):
        assert found["gaps"][row].tolist() == growth.beta1.tolist()
        assert found["bits"][row] == pytest.approx(growth.compressibility)


def test_shuffled_walks_have_the_same_final_values():
    nodes = walk_with_agent(GRAPH, "random", 1.0)
    graph, others = shuffle_walks(GRAPH, nodes, 3)
    assert np.array_equal(np.sort(others), np.sort(nodes))
    assert not np.array_equal(others, nodes)
    before, after = measure_growth(GRAPH, nodes), measure_growth(graph, others)
    assert np.array_equal(before["gaps"][:, -1], after["gaps"][:, -1])
    assert before["bits"][:, -1] == pytest.approx(after["bits"][:, -1])


def test_degree_matched_walks_choose_the_nearest_group():
    nodes, groups = walk_with_agent(GRAPH, "max-degree", 0.8, walks=40), group_by_degree(GRAPH)
    _, others = walk_degree_matched(GRAPH, nodes, 0)
    assert np.array_equal(others[:, 0], nodes[:, 0])
    for theirs, walk in zip(nodes, others, strict=True):
        for t in range(1, len(walk)):
            options = set(GRAPH.neighbors(int(walk[t - 1]))) - set(walk[:t].tolist())
            if options:
                assert walk[t] in options
                nearest = min(abs(groups[v] - groups[theirs[t]]) for v in options)
                assert abs(groups[walk[t]] - groups[theirs[t]]) == nearest
    plain = walk_unbiased(GRAPH, nodes, 0)[1]
    degrees = GRAPH.degrees
    assert abs(degrees[others].mean() - degrees[nodes].mean()) < abs(degrees[plain].mean() - degrees[nodes].mean())


def test_degree_groups_are_tenths():
    graph = cg.generate("ba", nodes=300, seed=0)
    groups, degrees = group_by_degree(graph), graph.degrees
    assert np.all(np.diff(groups[np.argsort(degrees, kind="stable")]) >= 0)
    assert np.array_equal(groups == 9, degrees >= np.quantile(degrees, 0.9))


def test_walk_without_candidates_keeps_its_values():
    path = cg.Graph.from_edges([("a", "b"), ("b", "c"), ("c", "a"), ("d", "a"), ("d", "b")], directed=True)
    walks = Trajectories.from_walks([["a", "b", "d", "c"]], graph=path)  # d cannot be reached from a
    found = compare_growth(path, walks, steps=4, nulls=["unbiased"], replicates=2)
    bits = found["unbiased"].curves["bits"].mean
    assert bits[3] == bits[2] > bits[1]


def test_curious_walks_differ_from_null_models_and_random_walks_do_not():
    by_chance = compare_growth(GRAPH, follow_agent(GRAPH, "random", "igt", 1.0, walks=150, steps=8), steps=8)
    assert not by_chance["unbiased"].area["gaps"].clear
    assert "no clear difference in gaps" in by_chance["unbiased"].answer
    curious = compare_growth(GRAPH, follow_agent(GRAPH, "greedy", "igt", 0.2, walks=150, steps=8), steps=8)
    for null in ("unbiased", "random-walk", "rewired"):
        assert curious[null].area["gaps"].low > 0
        assert "more gaps" in curious[null].answer
    assert curious["shuffled"].excess["gaps"][-1].value == 0
    assert curious.human["gaps"].mean[-1] > by_chance.human["gaps"].mean[-1]


def test_areas_agree_with_columns_and_walks_are_sampled():
    walks = follow_agent(GRAPH, "random", "igt", 1.0, walks=30, steps=8)
    found, again, other = (compare_growth(GRAPH, walks, steps=5, most=12, replicates=2, seed=s) for s in (1, 1, 2))
    assert found.to_dict() == again.to_dict() != other.to_dict()
    assert (found.walks, found.users, len(found.to_frame())) == (12, 12, 20)
    assert found.to_frame()["step"].tolist() == [1, 2, 3, 4, 5] * 4
    for null in found.values():
        for quantity in ("gaps", "bits"):
            mean = np.mean([each.value for each in null.excess[quantity]])
            assert null.area[quantity].value == pytest.approx(mean)
            gap = found.human[quantity].mean - null.curves[quantity].mean
            assert gap == pytest.approx([each.value for each in null.excess[quantity]])
    assert len(found.plot().axes) == 3


LIBRARY = Trajectories.from_walks([["music", "physics", "music", "chemistry"]], graph=cg.toys.library())


@pytest.mark.parametrize(
    ("walks", "settings", "error", "message"),
    [
        (LIBRARY, {"steps": 4}, cg.WalkError, "none of the 1 walks has 4 distinct nodes; measure fewer steps"),
        (Trajectories.from_walks([]), {}, cg.WalkError, "none of the 0 walks"),
        (LIBRARY, {"steps": 1}, cg.SettingError, "steps is 1"),
        (LIBRARY, {"nulls": ["joy"]}, cg.UnknownNameError, "there is no null model 'joy'; the null models are rewired"),
        (LIBRARY, {"nulls": "rewired"}, cg.SettingError, "nulls is 'rewired'; give a list"),
        (LIBRARY, {"most": 0}, cg.SettingError, "most is 0"),
        (LIBRARY, {"replicates": 0}, cg.SettingError, "replicates is 0"),
        (Trajectories.from_walks([["zz"]]), {}, cg.UnknownNodeError, "the graph has no node 'zz'"),
    ],
)
def test_bad_input(walks, settings, error, message):
    with pytest.raises(error, match=message) as caught:
        compare_growth(cg.toys.library(), walks, **settings)
    assert "\n" not in str(caught.value)


@pytest.mark.long
def test_two_workers_give_the_same_growth():
    walks = follow_agent(GRAPH, "random", "igt", 1.0, walks=150, steps=8)
    one, two = (compare_growth(GRAPH, walks, steps=5, replicates=2, workers=n).to_dict() for n in (1, 2))
    assert one == two


def test_resumed_run_gives_the_same_bits(tmp_path):
    walks = follow_agent(GRAPH, "random", "igt", 1.0, walks=150, steps=8)
    one = compare_growth(GRAPH, walks, steps=5, replicates=2, workers=1).to_dict()
    assert compare_growth(GRAPH, walks, steps=5, replicates=2, workers=1, run=tmp_path).to_dict() == one
    for path in sorted(tmp_path.glob("growth-*/*.task"))[::2]:
        path.unlink()
    messages = []
    again = compare_growth(
        GRAPH, walks, steps=5, replicates=2, workers=1, run=tmp_path, progress=lambda m, share=None: messages.append(m)
    )
    assert messages[0] == "growth: 4 of 9 draws (4 found in the run folder)"
    assert again.to_dict() == one
