"""Exact search against exhaustive search, and its bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import curiograph as cg
from curiograph.agents.exact import ExactAgent
from curiograph.exploration.mdp import begin
from oracles import reference
from oracles.reference import draw_graph


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    nodes=st.integers(5, 9),
    density=st.sampled_from([0.15, 0.3, 0.5, 0.7]),
    directed=st.booleans(),
    fallback=st.sampled_from(["frontier", "anywhere"]),
)
def test_the_walk_is_the_best_and_no_bound_is_too_low(seed, nodes, density, directed, fallback):
    graph = draw_graph(np.random.default_rng(seed), nodes, density, directed=directed)
    starts = np.flatnonzero(graph.degrees)[:1]
    if not len(starts):
        return
    best = reference.find_best_return(graph, int(starts[0]), 6, "igt", fallback)
    walks = begin([graph], [starts], "igt", 6, fallback=fallback)
    found, bounds = ExactAgent().prove(walks)
    assert found.returns[0] == bounds[0] == best
    found, bounds = ExactAgent(1).prove(walks)
    assert found.returns[0] <= best <= bounds[0]


@pytest.mark.parametrize(("agent", "reward", "reason"), [("exact:3", "igt", "more states"), ("exact", "cpt", "order")])
def test_what_is_not_proven_is_said(agent, reward, reason):
    graph = cg.generate("rg", nodes=20, seed=0)
    with pytest.warns(UserWarning, match=f"not proven to be the best; .*{reason}"):
        walk = cg.explore(graph, agent, reward, 0, 6)
    with pytest.warns(UserWarning, match="not proven"):
        assert walk.total >= cg.explore(graph, agent.replace("exact:3", "exact:1"), reward, 0, 6).total - 1e-9
