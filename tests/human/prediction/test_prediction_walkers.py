"""Walkers: probabilities by step, and the run folder that keeps them."""

from __future__ import annotations

import numpy as np
import pytest

from curiograph.centrality.curious_pagerank import curious_pagerank
from curiograph.exploration.mdp import Candidates
from curiograph.graph.toys import library
from curiograph.human.prediction.walkers import Walkers, score_visits, simulate_walkers
from curiograph.parallel import resolve_engine
from support import people


@pytest.mark.parametrize("reward", ["igt", "cpt"])
def test_all_paths_give_curious_pagerank(reward):
    graph, history = library(), ["music", "logic"]
    visits = simulate_walkers(
        graph, Walkers("greedy", reward, 0.5, steps=12, count=1_000_000), graph.positions(history)
    )
    nodes = np.setdiff1d(np.arange(12), graph.positions(history)).astype(np.int32)
    found = score_visits(visits, graph.positions(history)[None, :], Candidates(np.array([0, len(nodes)]), nodes))
    scores = (0.85 ** np.arange(1, 13)) @ found
    exact = curious_pagerank(graph, "greedy", 0.85, history, p_g=0.5, reward=reward, exact=True).scores[nodes]
    assert np.allclose(scores / scores.sum(), exact / exact.sum(), rtol=2e-5)


def test_sampled_walkers_are_unbiased():
    graph = library()
    few = [simulate_walkers(graph, Walkers("greedy", "igt", 0.8, 5, 10, seed), [0])[4].toarray() for seed in range(200)]
    exact = simulate_walkers(graph, Walkers("greedy", "igt", 0.8, 5, 1_000_000), [0])[4].toarray()
    error = np.std(few, axis=0) / np.sqrt(200)
    assert np.all(np.abs(np.mean(few, axis=0) - exact) < 5 * error + 1e-6)


def are_equal(one, other):
    return all(np.array_equal(a.toarray(), b.toarray()) for a, b in zip(one, other, strict=True))


def test_run_folder_keeps_results_and_repairs_damage(tmp_path, monkeypatch):
    monkeypatch.setattr("curiograph.human.prediction.walkers.STARTS_PER_TASK", 20)
    graph, walkers, starts = people.walkers().graph, Walkers("greedy", "cpt", count=10, steps=2), np.arange(60)
    fresh = simulate_walkers(graph, walkers, starts)
    assert are_equal(simulate_walkers(graph, walkers, starts, engine=resolve_engine(workers=1, run=tmp_path)), fresh)
    first, second, _ = sorted(tmp_path.glob("walkers-*/*.task"))
    first.unlink()
    second.write_bytes(second.read_bytes()[:200])  # truncated file
    messages = []
    with pytest.warns(UserWarning, match=r"000001\.task: is damaged; the task is computed again"):
        repaired = simulate_walkers(
            graph,
            walkers,
            starts,
            engine=resolve_engine(workers=1, run=tmp_path),
            progress=lambda message, share=None: messages.append(message),
        )
    assert messages[0].startswith("walkers: 1 of 3 groups of 20 nodes (1 found in the run folder)")
    assert are_equal(repaired, fresh)
    assert simulate_walkers(graph, walkers, starts[:40])[0].toarray()[40:].sum() == 0


def test_run_folder_keeps_walkers_apart(tmp_path):
    graph = people.walkers().graph
    greedy, random = (Walkers(agent, count=5, steps=2) for agent in ("greedy", "random"))
    simulate_walkers(graph, greedy, [0, 1], engine=resolve_engine(workers=1, run=tmp_path))
    assert are_equal(
        simulate_walkers(graph, random, [0, 1], engine=resolve_engine(workers=1, run=tmp_path)),
        simulate_walkers(graph, random, [0, 1]),
    )
