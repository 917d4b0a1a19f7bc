"""Null models, and the comparison of growth with them."""

from __future__ import annotations

import re

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from curiograph import kernels
from curiograph.agents.agent_names import as_agent
from curiograph.centrality.walk_statistics import simulate_biased_walks
from curiograph.exploration.mdp import begin
from curiograph.human.people.growth_comparison import HUMAN, NULL_MODELS, compare_growth, measure_null
from curiograph.human.trajectories import Trajectories
from oracles.reference import draw_graph
from support.people import follow_agent

GRAPH = cg.generate("ba", nodes=50, seed=2)
NO_WALKS = np.empty((0, 1), np.int32)


def draw_null(name, graph, visits, seed):
    offsets = np.arange(len(visits) + 1) * visits.shape[1]
    origins = kernels.matched_walks.find_origins(graph.indptr, graph.indices, visits.ravel(), offsets, visits.shape[1])
    return NULL_MODELS[name](graph, visits, origins, seed)


def measure_growth(graph, visits):
    return measure_null((graph, visits, visits), (HUMAN, 0))


def walk_with_agent(graph, agent, p_g, walks=150, steps=8, seed=0):
    starts = np.random.default_rng(seed).choice(np.flatnonzero(graph.degrees > 0), walks)
    return simulate_biased_walks(begin([graph], [starts], "igt", steps, seed=seed), as_agent(agent), p_g, steps)


@given(st.integers(4, 20), st.integers(3, 60), st.booleans(), st.integers(0, 2**64 - 1))
def test_swaps_keep_degrees_and_stay_simple(nodes, edges, directed, seed):
    pairs = np.random.default_rng([nodes, edges]).integers(nodes, size=(edges, 2))
    pairs[0] = 0, 1
    graph = cg.Graph.from_edges(pairs, directed=directed, nodes=range(nodes))
    other, _ = draw_null("rewired", graph, NO_WALKS, seed)
    assert np.array_equal(other.degrees, graph.skeleton.degrees)
    again = cg.Graph.from_networkx(other.to_networkx())  # drops loops, merges and mirrors edges, sorts rows
    assert again == other
    assert again.cleaning.self_loops == again.cleaning.parallel_edges == 0


def test_rewiring_samples_graphs_uniformly():
    ring = cg.toys.cycle(6)  # of the 70 graphs of 6 nodes with two edges each, 10 are pairs of triangles
    parts = [
        networkx.number_connected_components(draw_null("rewired", ring, NO_WALKS, seed)[0].to_networkx())
        for seed in range(2000)
    ]
    assert np.mean(np.array(parts) == 2) == pytest.approx(1 / 7, abs=0.03)


# ---- growth ---------------------------------------------------------------------------------------------------------


def test_growth_equals_measure():
    nodes = walk_with_agent(GRAPH, "random", 1.0, walks=20)
    found = measure_growth(GRAPH, nodes)
    for row, growth in enumerate(cg.measure(GRAPH, nodes.tolist())):
        assert found["gaps"][row].tolist() == growth.beta1.tolist()
        assert found["bits"][row] == pytest.approx(growth.compressibility)
        assert found["conformable"][row].tolist() == growth.conformable.tolist()


def test_shuffled_walks_have_the_same_final_values():
    nodes = walk_with_agent(GRAPH, "random", 1.0)
    graph, others = draw_null("shuffled", GRAPH, nodes, 3)
    assert np.array_equal(np.sort(others), np.sort(nodes))
    assert not np.array_equal(others, nodes)
    before, after = measure_growth(GRAPH, nodes), measure_growth(graph, others)
    assert np.array_equal(before["gaps"][:, -1], after["gaps"][:, -1])
    assert before["bits"][:, -1] == pytest.approx(after["bits"][:, -1], abs=0.05)  # equal merges: by order of visit
    assert before["bits"][:, -1].mean() == pytest.approx(after["bits"][:, -1].mean(), abs=0.003)


def find_origin(graph, walk, visit):
    """Slow reference: where the first visit of a node came from, and whether by a link, from the raw walk."""
    order = list(dict.fromkeys(walk[:visit]))
    last, links = walk[visit - 1], {node: set(graph.neighbors(int(node))) for node in order}
    linked = walk[visit] in links[last]
    if not links[last] - set(order):
        linked = any(walk[visit] in some for some in links.values())
    return order.index(last) if linked else -1 - order.index(last)


@pytest.mark.parametrize("directed", [False, True])
def test_origins_and_matched_walks_follow_their_definition(directed):
    rng = np.random.default_rng(4)
    graph = draw_graph(rng, 30, 0.12, directed=directed)
    walks = [rng.integers(30, size=25).tolist() for _ in range(60)]
    people = Trajectories.from_walks(walks, graph=graph)
    rows = graph.indptr, graph.indices
    origins = kernels.matched_walks.find_origins(*rows, people.nodes, people.offsets, 6)
    for walk, found in zip(people, origins, strict=True):
        firsts = [walk.index(node) for node in dict.fromkeys(walk)][1:6]
        assert found.tolist() == [0, *(find_origin(graph, walk, visit) for visit in firsts)]
    visits = np.array([list(dict.fromkeys(walk))[:6] for walk in people], np.int32)
    for name in ("unbiased", "random-walk"):
        _, others = NULL_MODELS[name](graph, visits, origins, 1)
        assert np.array_equal(others[:, 0], visits[:, 0])
        for walk, origin in zip(others.tolist(), origins.tolist(), strict=True):
            assert len(set(walk)) == 6
            for t in range(1, 6):
                place = origin[t] if origin[t] >= 0 else -1 - origin[t]
                options = set(graph.neighbors(walk[place])) - set(walk[:t])
                if origin[t] < 0:
                    assert walk[t] not in options
                elif options:
                    assert walk[t] in options


def test_random_walks_choose_any_candidate_or_by_the_fitted_power_of_degree():
    star = cg.Graph.from_edges([("hub", n) for n in range(4)] + [(0, n) for n in range(10, 16)], nodes=["hub"])
    hub = star.position("hub")
    visits = np.array([[hub, star.position(0)]] * 600 + [[hub, star.position(1)]] * 400, np.int32)
    plain, fitted = (draw_null(name, star, visits, 2)[1][:, 1] for name in ("unbiased", "random-walk"))
    assert np.mean(plain == star.position(0)) == pytest.approx(0.25, abs=0.05)
    assert np.mean(fitted == star.position(0)) == pytest.approx(0.6, abs=0.05)


@pytest.mark.parametrize("name", NULL_MODELS)
def test_every_null_model_is_compared_by_every_theory(name):
    walks = follow_agent(GRAPH, "random", "igt", 1.0, walks=40, steps=8)
    found, again = (compare_growth(GRAPH, walks, nulls=[name], steps=8, replicates=2, seed=4) for _ in range(2))
    assert found.to_dict() == again.to_dict()
    assert list(found.area[name]) == ["gaps", "bits", "conformable"]
    assert "conformable degrees of freedom" in found.answers[0]
    one, two = (draw_null(name, GRAPH, walk_with_agent(GRAPH, "random", 1.0, walks=5), seed) for seed in (1, 2))
    assert one[0] != two[0] or not np.array_equal(one[1], two[1])


def test_jumps_of_people_are_kept_and_reported():
    rng = np.random.default_rng(0)
    graph = cg.generate("rg", nodes=50, seed=3)
    walks = []
    for start in rng.integers(50, size=120).tolist():
        walk = [start]
        while len(walk) < 10:
            near = [node for node in graph.neighbors(walk[-1]) if node not in walk]
            jump = rng.random() < 0.2 or not near
            walk.append(int(rng.choice([node for node in range(50) if node not in walk] if jump else near)))
        walks.append(walk)
    found = compare_growth(graph, Trajectories.from_walks(walks, graph=graph), nulls=["unbiased", "random-walk"])
    assert all(p > 0.05 for values in found.p_holm.values() for p in values.values())
    assert found.jumps == pytest.approx(0.2, abs=0.05)
    assert f"{found.jumps:.0%} of new nodes by a jump" in found.answers[-1]


def test_one_person_has_no_interval():
    walks = follow_agent(GRAPH, "random", "igt", 1.0, walks=6, steps=8)
    alone = Trajectories.from_walks(list(walks), users=["ann"] * 6, graph=GRAPH)
    found = compare_growth(GRAPH, alone, steps=8, replicates=2)
    assert np.isnan(found.area["unbiased"]["gaps"].low)
    assert "no interval" in found.answers[0]
    assert "one person" in found.answers[-1]


def test_curious_walks_differ_from_null_models_and_random_walks_do_not():
    by_chance = compare_growth(GRAPH, follow_agent(GRAPH, "random", "igt", 1.0, walks=150, steps=8), steps=8)
    assert not by_chance.area["unbiased"]["gaps"].clear
    assert "Against unbiased, human walks show no clear difference in gaps" in " ".join(by_chance.answers)
    curious = compare_growth(GRAPH, follow_agent(GRAPH, "greedy", "igt", 0.2, walks=150, steps=8), steps=8)
    for null, answer in zip(("rewired", "unbiased", "random-walk"), curious.answers, strict=False):
        assert curious.area[null]["gaps"].low > 0
        assert re.match(f"Against {null}, .* more gaps", answer)
    assert curious.excess["shuffled"]["gaps"][-1].value == 0
    assert curious.means["human"]["gaps"][-1] > by_chance.means["human"]["gaps"][-1]


def test_areas_agree_with_the_rows_and_walks_are_sampled(tmp_path):
    walks = follow_agent(GRAPH, "random", "igt", 1.0, walks=30, steps=8)
    engine = cg.Engine(workers=1, run=tmp_path)
    settings = {"steps": 5, "most": 12, "replicates": 2}
    found = compare_growth(GRAPH, walks, seed=1, **settings)
    for _ in range(2):  # the second time from files
        assert compare_growth(GRAPH, walks, seed=1, engine=engine, **settings).to_dict() == found.to_dict()
    assert compare_growth(GRAPH, walks, seed=2, **settings).to_dict() != found.to_dict()
    frame = found.to_frame()
    assert (found.walks, found.users, len(frame)) == (12, 12, 20)
    assert frame["step"].tolist() == [1, 2, 3, 4, 5] * 4
    for null, rows in frame.groupby("null"):
        for quantity in ("gaps", "bits", "conformable"):
            assert found.area[null][quantity].value == pytest.approx(rows[f"excess_{quantity}"].mean())
            difference = rows[f"human_{quantity}"] - rows[f"null_{quantity}"]
            assert difference.tolist() == pytest.approx(rows[f"excess_{quantity}"].tolist())
    titles = [ax.get_title("left") for ax in found.plot().axes]
    assert titles == ["(a) information gaps", "(b) compressibility (bits)", "(c) conformable degrees of freedom", ""]


LIBRARY = Trajectories.from_walks([["music", "physics", "music", "chemistry"]], graph=cg.toys.library())


@pytest.mark.parametrize(
    ("walks", "settings", "error", "words"),
    [
        (LIBRARY, {"steps": 4}, cg.errors.WalkError, "4"),
        (Trajectories.from_walks([]), {}, cg.errors.WalkError, "0 walks"),
        (LIBRARY, {"steps": 1}, cg.SettingError, "1"),
        (LIBRARY, {"nulls": ["joy"]}, cg.errors.UnknownNameError, "'joy'.*rewired"),
        (LIBRARY, {"nulls": "rewired"}, cg.SettingError, "'rewired'"),
        (LIBRARY, {"most": 0}, cg.SettingError, "most is 0"),
        (LIBRARY, {"replicates": 0}, cg.SettingError, "replicates is 0"),
        (Trajectories.from_walks([["zz"]]), {}, cg.errors.WalkError, "none of the 1 walks"),
    ],
)
def test_bad_input(walks, settings, error, words):
    with pytest.raises(error, match=words):
        compare_growth(cg.toys.library(), walks, **settings)
