"""Curious PageRank against the definition: the Markov chain of paths, solved exactly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import curiograph as cg
from curiograph.agents.agent_names import as_agent
from oracles.path_chain import compute_scores_by_paths


def make_graph(directed=False, seed=0, nodes=7, edges=11):
    rng = np.random.default_rng(seed)
    pairs = {tuple(sorted(p) if not directed else p) for p in rng.integers(0, nodes, (3 * edges, 2)).tolist()}
    kept = [p for p in sorted(pairs) if p[0] != p[1]][:edges]
    return cg.Graph.from_edges(kept, directed=directed, nodes=range(nodes))


@pytest.mark.parametrize(
    ("agent", "reward"), [("greedy", "igt"), ("greedy", "cpt"), ("max-degree", "igt"), ("igt-rg", "igt")]
)
@settings(max_examples=25)
@given(st.integers(0, 1000), st.booleans(), st.sampled_from([0.0, 0.8, 0.97]), st.sampled_from([0.0, 0.3, 0.9, 1.0]))
def test_exact_scores_are_the_stationary_distribution(agent, reward, seed, directed, alpha, p_g):
    g = make_graph(directed, seed, nodes=6, edges=8)
    eta = cg.curious_pagerank(g, agent, alpha, [0, 1, 2], p_g=p_g, reward=reward, exact=True)
    assert eta.exact
    assert eta.converged
    assert np.all(eta.stderr == 0)
    np.testing.assert_allclose(
        eta.scores, compute_scores_by_paths(g, as_agent(agent), reward, alpha, [0, 1, 2], p_g), atol=1e-12
    )


@pytest.mark.parametrize("p_g", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("directed", [False, True])
def test_walkers_follow_links_in_proportion_to_their_weights(p_g, directed):
    g = make_graph(directed)
    edges = [(u, v) for u, v in g.to_networkx().edges]
    weights = np.random.default_rng(1).integers(0, 4, len(edges)).tolist()  # some are zero
    weighted, equal = (
        cg.Graph.from_edges([(*edge, w) for edge, w in zip(edges, ws, strict=True)], directed=directed, nodes=g.labels)
        for ws in (weights, [3.0] * len(edges))
    )
    for agent, reward in (("greedy", "igt"), ("max-degree", "cpt")):
        settings = {"history": [0, 3], "p_g": p_g, "reward": reward, "exact": True}
        found = cg.curious_pagerank(weighted, agent, 0.8, **settings).scores
        wanted = compute_scores_by_paths(weighted, as_agent(agent), reward, 0.8, [0, 3], p_g)
        np.testing.assert_allclose(found, wanted, atol=1e-12)
        plain, same = (cg.curious_pagerank(each, agent, 0.8, **settings).scores for each in (g, equal))
        np.testing.assert_allclose(same, plain, rtol=0, atol=1e-15)
        assert not np.allclose(found, plain, atol=1e-3)


@pytest.mark.parametrize("fallback", ["frontier", "anywhere"])
def test_dead_ends_follow_the_mdp(fallback):
    g = cg.Graph.from_edges([(0, 1), (1, 2), (0, 3), (3, 4), (5, 0)], directed=True)
    eta = cg.curious_pagerank(g, "max-degree", 0.9, [0, 3], fallback=fallback, exact=True)
    wanted = compute_scores_by_paths(g, as_agent("max-degree"), "igt", 0.9, [0, 3], 0.5, fallback=fallback)
    np.testing.assert_allclose(eta.scores, wanted, atol=1e-12)


def test_exact_simulation_replaces_sampled_ones():
    g, settings = cg.generate("ws", nodes=10, seed=1), {"history": [0, 5], "p_g": 0.5}
    eta = cg.curious_pagerank(g, "max-degree", tolerance=1e-4, **settings)
    assert eta.walks > 0
    assert eta.exact
    assert eta.converged is True
    np.testing.assert_array_equal(eta.scores, cg.curious_pagerank(g, "max-degree", exact=True, **settings).scores)
    assert np.all(eta.stderr == 0)


def test_standard_errors_match_the_scatter_around_exact_scores():
    g = cg.generate("ws", nodes=9, seed=1)
    exact = cg.curious_pagerank(g, "max-degree", history=[0, 5], p_g=0.8, exact=True)
    off = []
    for seed in range(40):
        eta = cg.curious_pagerank(g, "max-degree", history=[0, 5], p_g=0.8, max_walks=320, tolerance=1e-4, seed=seed)
        assert not eta.exact
        assert not eta.converged
        assert eta.walks <= 320
        off.append((eta.scores - exact.scores) / np.where(eta.stderr > 0, eta.stderr, np.inf))
    z = np.asarray(off)[:, exact.scores > 0.01]
    assert 0.7 < np.sqrt(np.mean(z**2)) < 1.5  # 7 degrees of freedom: 1.18 expected
    assert np.all(np.abs(z.mean(axis=0)) < 1.0)


def test_runs_until_the_tolerance_is_met():
    g = cg.generate("er", nodes=60, seed=0)
    for tolerance in (0.2, 0.02):
        eta = cg.curious_pagerank(g, "max-degree", history=[0, 5], tolerance=tolerance)
        top = np.argsort(-eta.scores)[:20]
        assert eta.converged
        assert np.all(eta.stderr[top] <= tolerance * eta.scores[top])


def test_one_simulation_gives_all_alphas():
    g = cg.generate("er", nodes=30, seed=0)
    alphas = np.linspace(0, 0.85, 7)
    together = cg.curious_pagerank(g, "max-degree", alphas, [0, 5], seed=3)
    alone = cg.curious_pagerank(g, "max-degree", 0.85, [0, 5], seed=3)
    assert together.scores.shape == together.stderr.shape == (7, 30)
    np.testing.assert_allclose(together.scores.sum(axis=1), 1)
    np.testing.assert_allclose(together.scores[0], np.bincount([0, 5], minlength=30) / 2)
    np.testing.assert_array_equal(together.scores[-1], alone.scores)
    assert together.converged.shape == (7,)
    exact = make_graph()
    each = [cg.curious_pagerank(exact, "greedy", a, [0], exact=True).scores for a in alphas]
    np.testing.assert_allclose(cg.curious_pagerank(exact, "greedy", alphas, [0], exact=True).scores, each, atol=1e-14)


@pytest.mark.parametrize("agent", ["greedy", "igt-ba", "cpt-ba-planner"])
def test_result_depends_on_the_seed_not_on_the_workers(agent):
    g = cg.generate("ba", nodes=200, seed=0)
    settings = {"history": [3, 7, 50], "max_walks": 400}
    some = [cg.curious_pagerank(g, agent, engine=cg.Engine("local", w), seed=5, **settings) for w in (1, 2, 3)]
    for other in some[1:]:
        np.testing.assert_array_equal(some[0].scores, other.scores)
        np.testing.assert_array_equal(some[0].stderr, other.stderr)
    other_seed = cg.curious_pagerank(g, agent, seed=6, **settings)
    assert not np.array_equal(some[0].scores, other_seed.scores)


def test_batch_equals_single_histories():
    g = cg.generate("ba", nodes=50, seed=0)
    both = cg.curious_pagerank(g, "max-degree", history=[[3, 7], [1]])
    for row, history in zip(both.scores, [[3, 7], [1]], strict=True):
        np.testing.assert_array_equal(row, cg.curious_pagerank(g, "max-degree", history=history).scores)


def test_without_history_the_teleport_is_uniform():
    g = make_graph()
    np.testing.assert_allclose(
        cg.curious_pagerank(g, "max-degree", exact=True).scores,
        np.mean([compute_scores_by_paths(g, as_agent("max-degree"), "igt", 0.85, [v], 0.5) for v in range(7)], axis=0),
        atol=1e-12,
    )
    large = cg.generate("ws", nodes=2000, seed=0)
    eta = cg.curious_pagerank(large, "max-degree", tolerance=0.2, max_walks=8000)
    assert eta.walks > 0
    assert eta.scores.sum() == pytest.approx(1)


def test_weights_of_the_history():
    g = make_graph()
    weighted = cg.curious_pagerank(g, "greedy", history={0: 3, 3: 1}, exact=True)
    parts = [cg.curious_pagerank(g, "greedy", history=[v], exact=True).scores for v in (0, 3)]
    np.testing.assert_allclose(weighted.scores, 0.75 * parts[0] + 0.25 * parts[1], atol=1e-12)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"alpha": 1}, "alpha is 1;"),
        ({"p_g": "half"}, "'half'"),
        ({"history": ["nowhere"]}, "'nowhere'"),
        ({"history": [[0], []]}, "history 1:"),
        ({"tolerance": 0}, "tolerance is 0;"),
        ({"max_walks": 0}, "max_walks is 0;"),
    ],
)
def test_bad_input(settings, words):
    with pytest.raises(cg.CuriographError, match=words):
        cg.curious_pagerank(make_graph(), **({"agent": "greedy", "history": [0, 1]} | settings))


def test_graphs_without_edges_and_too_many_paths_are_refused():
    with pytest.raises(cg.GraphError, match="no edges"):
        cg.curious_pagerank(cg.Graph.from_edges([], nodes=[0, 1]), "greedy", history=[0])
    with pytest.raises(cg.SettingError, match="leave exact=True out"):
        cg.curious_pagerank(cg.toys.complete(12), "random", history=[0], exact=True)


def test_errors_for_different_users_are_independent():
    g = cg.generate("er", nodes=60, seed=0)
    histories = [[0, 5], [5, 0], [0, 5]]
    found = [cg.curious_pagerank(g, "max-degree", history=h, max_walks=400, seed=1).scores for h in histories]
    np.testing.assert_array_equal(found[0], found[2])
    assert not np.array_equal(found[0], found[1])


def test_rows_of_several_histories_and_alphas():
    g = cg.toys.library()
    several = cg.curious_pagerank(g, "max-degree", [0.2, 0.8], [["music"], ["logic", "dance"], ["music"]])
    assert np.asarray(several.top(3), object).shape == (3, 2, 3, 2)
    assert [[best[0][0] for best in each] for each in several.top(1)] == [["music"] * 2, ["logic"] * 2, ["music"] * 2]
    frame = several.to_frame().set_index(["history", "alpha", "node"])
    assert frame["score"][1, 0.8, "logic"] == several.scores[1, 1, g.position("logic")]
    with pytest.raises(cg.SettingError, match="3 histories"):
        several.plot()
