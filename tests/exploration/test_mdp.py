"""The MDP: candidates, steps, rewards, and immutability of batches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from curiograph.exploration.mdp import Exploration, begin
from curiograph.graph.toys import cycle, library
from oracles import reference

FALLBACKS = ("frontier", "anywhere")


def walks_of(batch: Exploration) -> list[list[int]]:
    """Walks as positions on their own graph."""
    first = batch.stack.starts[batch.graph_of]
    return [(row[:n] - start).tolist() for row, n, start in zip(batch.nodes, batch.lengths, first, strict=True)]


def candidates_of(batch: Exploration) -> list[list[int]]:
    offsets, nodes = batch.candidates.offsets, batch.candidates.nodes
    first = batch.stack.starts[batch.graph_of]
    return [(nodes[offsets[i] : offsets[i + 1]] - start).tolist() for i, start in enumerate(first)]


def choose_randomly(batch: Exploration, rng: np.random.Generator) -> np.ndarray:
    """Choose a random candidate for every walk, -1 if there is none."""
    counts, offsets = batch.candidates.counts, batch.candidates.offsets[:-1]
    return np.where(counts > 0, offsets + (rng.random(len(counts)) * counts).astype(int), -1)


def state(batch: Exploration) -> list[object]:
    """Return all properties of a batch, for comparison."""
    return [
        batch.nodes.tolist(),
        batch.lengths.tolist(),
        np.nan_to_num(batch.rewards, nan=-1).tolist(),
        batch.candidates.nodes.tolist(),
        batch.candidates.offsets.tolist(),
        batch.candidate_values.tolist(),
        batch.values.tolist(),
        batch.returns.tolist(),
    ]


@st.composite
def graphs_and_starts(draw):
    graphs, starts = [], []
    for _ in range(draw(st.integers(1, 3))):
        nodes = draw(st.integers(2, 8))
        pairs = [(u, v) for u in range(nodes) for v in range(nodes) if u != v]
        edges = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=14, unique=True))
        graphs.append(cg.Graph.from_edges(edges, directed=draw(st.booleans()), nodes=range(nodes)))
        starts.append(draw(st.lists(st.integers(0, nodes - 1), max_size=3)))
    if not any(starts):
        starts[0] = [0]
    return graphs, starts


@given(graphs_and_starts(), st.sampled_from(FALLBACKS), st.integers(1, 8), st.integers(0, 99))
def test_candidates_and_rewards_follow_the_definition(case, fallback, steps, seed):
    graphs, starts = case
    batch = begin(graphs, starts, "igt", steps, fallback=fallback)
    rng = np.random.default_rng(seed)
    while True:
        on = [graphs[k] for k in batch.graph_of]
        expected = [
            reference.find_candidates(graph, walk, fallback) if len(walk) < steps else []
            for graph, walk in zip(on, walks_of(batch), strict=True)
        ]
        assert candidates_of(batch) == expected
        values = [
            reference.compute_igt(graph, [*walk, v])
            for graph, walk, options in zip(on, walks_of(batch), expected, strict=True)
            for v in options
        ]
        assert batch.candidate_values.tolist() == values
        if batch.finished:
            break
        batch = batch.step(choose_randomly(batch, rng))
    for graph, walk, row, total in zip(on, walks_of(batch), batch.rewards, batch.returns, strict=True):
        rewards = [reference.compute_igt(graph, walk[:t]) for t in range(2, len(walk) + 1)]
        assert row[: len(rewards)].tolist() == rewards
        assert np.isnan(row[len(rewards) :]).all()
        assert total == sum(rewards)


@pytest.mark.parametrize("reward", ["igt", "cpt", lambda s: float(s.num_edges)])
def test_step_does_not_change_the_batch(reward):
    """After several steps the first batch is unchanged, and repeated steps give the same result."""
    first = begin([cg.generate("er", nodes=30, seed=0)], [[0, 1, 2]], reward, 8)
    rng = np.random.default_rng(0)
    batches, choices = [first], []
    for _ in range(5):
        choices.append(choose_randomly(batches[-1], rng))
        batches.append(batches[-1].step(choices[-1]))
    said = [state(batch) for batch in batches]
    assert said == [state(batch) for batch in batches]
    assert [state(batch.step(choice)) for batch, choice in zip(batches, choices, strict=False)] == said[1:]
    again = first
    for choice in choices:
        again = again.step(choice)
    assert state(again) == said[-1]


def test_branch_in_any_order_with_or_without_known_values():
    graph = cg.generate("er", nodes=30, seed=0)
    batch = step_randomly(begin([graph], [[0, 1, 2]], "igt", 12), 4)
    parents = np.array([2, 0, 2, 1, 0])
    chosen = batch.candidates.offsets[parents] + np.array([0, 1, 1, 0, 0])
    unknown = batch.rows(np.arange(3)).branch(parents, chosen)
    assert batch.candidate_values is not None
    assert state(batch.branch(parents, chosen)) == state(unknown)


def step_randomly(batch: Exploration, count: int) -> Exploration:
    rng = np.random.default_rng(1)
    for _ in range(count):
        batch = batch.step(choose_randomly(batch, rng))
    return batch


# ---- choices --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ([2, 2], "walk 0 cannot take choice 2"),
        ([0, 1], "walk 1 cannot take choice 1"),
        ([0, -2], "walk 1 cannot take choice -2"),
        ([0], "2 walks"),
    ],
)
def test_illegal_choices(chosen, words):
    with pytest.raises(cg.errors.WalkError, match=words):
        begin([cycle(5)], [[0, 1]], "igt", 3).step(np.array(chosen))


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"steps": 0}, cg.SettingError, "steps is 0"),
        ({"seed": -1}, cg.SettingError, "seed is -1"),
        ({"fallback": "home"}, cg.errors.UnknownNameError, "'home'"),
        ({"reward": "joy"}, cg.errors.UnknownNameError, "'joy'"),
        ({"graphs": [], "starts": []}, cg.SettingError, "no graphs"),
        ({"graphs": [cg.Graph.from_edges([])]}, cg.GraphError, "empty"),
        ({"graphs": [cg.Graph.from_edges([], nodes=[0, 1])]}, cg.GraphError, "no edges"),
        ({"starts": [[5]]}, cg.errors.WalkError, "5"),
        ({"starts": [[-1]]}, cg.errors.WalkError, "-1"),
        ({"starts": [[0], [1]]}, cg.errors.WalkError, "1 graph"),
    ],
)
def test_bad_arguments_of_begin(arguments, error, words):
    plain = {"graphs": [cycle(5)], "starts": [[0]], "reward": "igt", "steps": 3}
    with pytest.raises(error, match=words):
        begin(**(plain | arguments))


# ---- chance ---------------------------------------------------------------------------------------------------------


def run_with_ties(batch: Exploration) -> Exploration:
    while not batch.finished:
        batch = batch.step(batch.best(np.zeros(len(batch.candidates.nodes))))
    return batch


def test_same_seed_same_bytes():
    graphs = [cg.generate("ba", nodes=25, seed=0), library()]
    runs = [run_with_ties(begin(graphs, [[0, 1, 2], [3]], "cpt", 10, seed=seed)) for seed in (5, 5, 6)]
    assert runs[0].nodes.tobytes() == runs[1].nodes.tobytes()
    assert runs[0].rewards.tobytes() == runs[1].rewards.tobytes()
    assert runs[0].nodes.tobytes() != runs[2].nodes.tobytes()


def test_walks_do_not_depend_on_the_batch():
    """A walk is the same alone, first or last in a batch, ties included."""
    graph = cg.generate("ws", nodes=40, seed=0)
    whole = begin([graph, library()], [list(range(40)), [0, 1]], "igt", 9, seed=3)
    together = run_with_ties(whole)
    for i in (0, 17, 39, 41):
        alone = run_with_ties(whole.rows(np.array([i])))
        assert alone.nodes[0].tolist() == together.nodes[i].tolist()
    fewer = run_with_ties(begin([graph], [list(range(10))], "igt", 9, seed=3))
    assert fewer.nodes.tolist() == together.nodes[:10].tolist()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_ties_are_broken_uniformly(seed):
    """From the hub of a star all leaves tie: over 5,000 walks each is equally likely, at the first and second step."""
    leaves = 10
    star = cg.Graph.from_edges([(0, i) for i in range(1, leaves + 1)])
    batch = run_with_ties(begin([star], [[0] * 5000], "igt", 3, seed=seed))
    for step in (1, 2):
        counts = np.bincount(batch.nodes[:, step], minlength=leaves + 1)[1:]
        assert ((counts - 500) ** 2 / 500).sum() < 27.9  # 9 degrees of freedom, 0.1 %
    pairs = np.bincount(batch.nodes[:, 1] * 11 + batch.nodes[:, 2])
    pairs = pairs[pairs > 0]
    assert len(pairs) == 90
    assert ((pairs - 5000 / 90) ** 2 / (5000 / 90)).sum() < 135.98  # 89 degrees of freedom, 0.1 %


# ---- ties of single-precision scores ---------------------------------------------------------------------------------

COMPLETE_BATCH = begin([cg.toys.complete(6)], [range(6)], "igt", 4)  # six walks of five candidates


@given(st.lists(st.integers(-5, 5), min_size=30, max_size=30), st.integers(0, 99))
def test_merge_ties_removes_noise_and_keeps_differences(levels, seed):
    clean = np.asarray(levels, float)
    noisy = clean + np.random.default_rng(seed).uniform(-1e-7, 1e-7, 30) * np.abs(clean)
    tied = COMPLETE_BATCH.merge_ties(noisy, 5e-6)
    assert np.allclose(tied, noisy, rtol=1e-5)
    for walk in range(6):
        mine, wanted = tied[5 * walk : 5 * walk + 5], clean[5 * walk : 5 * walk + 5]
        assert np.array_equal(mine[:, None] == mine, wanted[:, None] == wanted)
        assert np.array_equal(np.argsort(mine, kind="stable"), np.argsort(wanted, kind="stable"))
