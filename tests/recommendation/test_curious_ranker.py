"""Curious rankers: their parts, and how these are prepared."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from curiograph import kernels
from curiograph.agents.heuristics import GreedyAgent
from curiograph.recommendation.parts import Part, Parts, sum_parts


def random_graph(num_nodes: int, num_links: int, seed: int) -> cg.Graph:
    """Return a sparse random directed graph with a few dead ends."""
    ends = np.random.default_rng(seed).integers(0, num_nodes, (num_links, 2))
    edges = [tuple(pair) for pair in ends.tolist() if pair[0] != pair[1]]
    return cg.Graph.from_edges(edges, nodes=range(num_nodes), directed=True)


def assert_same_parts(one: cg.Recommender, other: cg.Recommender) -> None:
    assert one.num_prepared == other.num_prepared > 0
    for name, ranker in one.part_rankers.items():
        theirs = other.part_rankers[name].kept[other.graph]
        for v, part in ranker.kept[one.graph].items():
            for kind in ("nodes", "visits"):
                assert getattr(part, kind).tobytes() == getattr(theirs[v], kind).tobytes()
            assert part.total == theirs[v].total


def test_parts_do_not_depend_on_other_starts_or_workers():
    g = random_graph(60, 240, 0)
    one, threads, processes = (cg.Recommender(g) for _ in range(3))
    one = one.replace_parts(lambda ranker: replace(ranker, workers=1))
    for label in g.labels:
        one.prepare([label])
    threads.prepare()
    processes.prepare(engine=cg.Engine("local", 2))
    assert_same_parts(one, threads)
    assert_same_parts(one, processes)


def test_exact_parts_and_the_mean_of_sampled_ones():
    g = cg.toys.cycle(9)
    top = cg.recommend(g, [0, 3], k=5, ranker=cg.CuriousRanker("greedy", "igt", steps=None))
    exact = cg.curious_pagerank(g, "greedy", 0.85, [0, 3], reward="igt", exact=True)
    np.testing.assert_allclose([score for _, score in top], [exact.scores[label] for label, _ in top], rtol=1e-6)
    large = cg.generate("er", nodes=60, seed=0)
    exact = cg.curious_pagerank(large, "max-degree", 0.85, [0, 3], tolerance=0.003, max_walks=400_000)
    best = exact.top(8)
    rankers = [cg.CuriousRanker("max-degree", walks=200, steps=None, seed=seed) for seed in range(12)]
    drawn = np.array([[dict(cg.recommend(large, [0, 3], 58, ranker=r)).get(v, 0) for v, _ in best] for r in rankers])
    shown = drawn[0] > 0  # the others are visited
    errors = drawn.std(axis=0, ddof=1)[shown] / np.sqrt(len(drawn))
    scores = np.array([score for _, score in best])[shown]
    assert len(scores) >= 6
    assert np.all(np.abs(drawn.mean(axis=0)[shown] - scores) < 4 * errors + 0.01 * scores)  # the last steps are omitted


def test_a_part_is_found_without_reading_all():
    starts = np.arange(0, 2_000_000, 2, dtype=np.int32)
    parts = Parts({"starts": starts})
    tracemalloc.start()
    assert [v in parts for v in (0, 1, 77, 1_999_998, 1_999_999)] == [True, False, False, True, False]
    assert tracemalloc.get_traced_memory()[1] < len(starts)
    tracemalloc.stop()


@given(seed=st.integers(0, 10_000), nodes=st.integers(3, 40), users=st.integers(1, 4), rankers=st.integers(1, 3))
def test_sums_of_parts_agree_with_dictionaries(seed, nodes, users, rankers):
    rng, graph = np.random.default_rng(seed), cg.toys.cycle(nodes)

    def draw_part() -> Part:
        reached = np.flatnonzero(rng.random(nodes) < 0.3).astype(np.int32)
        return Part(reached, rng.integers(1, 9, len(reached)).astype(np.float32), float(rng.integers(1, 50)))

    found = [[{v: draw_part() for v in range(rng.integers(0, 4))} for _ in range(users)] for _ in range(rankers)]
    excluded = [rng.permutation(nodes)[: rng.integers(0, 3)].astype(np.int32) for _ in range(users)]
    reached, shares = sum_parts(graph, found, excluded)
    for user in range(users):
        expected: dict[int, list[float]] = {}
        for ranker, by_user in enumerate(found):
            total = sum(part.total for part in by_user[user].values())
            for part in by_user[user].values():
                for v, visits in zip(part.nodes.tolist(), part.visits.tolist(), strict=True):
                    if v not in excluded[user]:
                        expected.setdefault(v, [0.0] * rankers)[ranker] += visits / total
        own = slice(reached.offsets[user], reached.offsets[user + 1])
        assert reached.nodes[own].tolist() == sorted(expected)
        assert shares[:, own].T.tolist() == [pytest.approx(expected[v]) for v in sorted(expected)]


@pytest.mark.parametrize("ranker", ["pagerank", "igt", "mixture"])
def test_candidates_that_parts_reach_are_all_that_count(ranker, monkeypatch):
    g = cg.generate("ba", nodes=3000, seed=4)
    recommender = cg.Recommender(g, ranker)
    histories = [[2900, 7], [5], [2999, 1500, 42, 3]]
    recommender.prepare({label for history in histories for label in history})
    sparse = [recommender.recommend(history, 40) for history in histories]
    assert recommender.recommend(histories, 40) == sparse
    monkeypatch.setattr("curiograph.recommendation.recommender.score_reached", lambda *_: None)
    for history, found in zip(histories, sparse, strict=True):
        dense = recommender.recommend(history, 40)
        assert found == dense
        assert found.reasons == dense.reasons
        assert found.candidates == dense.candidates == 3000 - len(history)


class SlowGreedy(GreedyAgent):
    """The greedy agent by another type, which is simulated step by step in Python."""


@pytest.mark.parametrize("fallback", ["frontier", "anywhere"])
@pytest.mark.parametrize("reward", ["igt", "cpt"])
def test_kernel_of_few_steps_agrees_with_the_general_simulation(reward, fallback):
    plain = cg.generate("ba", nodes=80, seed=1)
    weights = np.random.default_rng(0).integers(0, 4, plain.num_edges)
    weighted = cg.Graph.from_edges([(*edge, w) for edge, w in zip(plain.to_networkx().edges, weights, strict=True)])
    for g in (plain, random_graph(40, 90, 2), cg.toys.library(), weighted):
        for steps, walks in ((1, 256), (3, 64), (6, 16)):
            settings = {"reward": reward, "steps": steps, "walks": walks, "fallback": fallback}
            fast, slow = cg.CuriousRanker("greedy", **settings), cg.CuriousRanker(SlowGreedy(), **settings)
            starts = [0, 7, g.num_nodes - 1]
            for one, other in zip(fast.compute_parts(g, starts), slow.compute_parts(g, starts), strict=True):
                np.testing.assert_array_equal(one.nodes, other.nodes)
                np.testing.assert_allclose(one.visits, other.visits, rtol=1e-5, atol=1e-9)
                assert one.total == pytest.approx(other.total, rel=1e-9)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": 1.0}, "alpha is 1.0"),
        ({"p_g": 2}, "p_g is 2"),
        ({"walks": 0}, "walks is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"fallback": "home"}, "'home'"),
        ({"agent": "gready"}, "'gready'"),
        ({"reward": "joy"}, "'joy'"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(cg.CuriographError, match=message):
        cg.CuriousRanker(**settings)


@given(st.data())
def test_most_visited_nodes_are_kept(data):
    size = data.draw(st.integers(1, 60))
    levels = st.sampled_from([0.0, 1e-8, 1e-7, 0.1, 0.25, 0.2500001, 0.5]) | st.floats(1e-9, 10)
    visits = np.array(data.draw(st.lists(levels, min_size=size, max_size=size)))
    nodes = np.array(data.draw(st.permutations(range(size))), np.int32)
    most, step = data.draw(st.integers(1, size)), 2.0**-30
    rounded = (np.round(visits / step) * step).astype(np.float32)
    best = sorted(np.flatnonzero(rounded > 1e-7), key=lambda i: (-rounded[i], nodes[i]))[:most]
    best.sort(key=lambda i: nodes[i])
    kept, kept_visits = kernels.part_sums.keep_most_visited(nodes, visits, most, 1e-7, step)
    assert (kept.tolist(), kept_visits.tolist()) == (nodes[best].tolist(), rounded[best].tolist())
