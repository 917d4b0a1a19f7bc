"""Studies: disjoint groups of users, a graph made by graph users alone, and choices among candidates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curiograph.human.prediction.predict import Recipe, make_study
from curiograph.human.trajectories import Trajectories
from reproduction.core_graphs import CoreRecipe
from support import people


def test_choices_are_unvisited_candidates(choices):
    for each in choices.values():
        windows, candidates = each.windows, each.candidates
        assert np.array_equal(candidates.nodes[each.chosen], windows.nexts)
        assert not np.any(windows.histories[candidates.walks] == candidates.nodes[:, None])


def test_graph_depends_on_graph_users_alone():
    data = people.ratings(people.tastes())
    study = make_study(data, Recipe(item_users=5, neighbors=8))
    rng = np.random.default_rng(1)
    graph_users = set(study.graph_walks.users.tolist())
    walks = [
        data.walks[i] if int(user) in graph_users else [*rng.permutation(data.walks[i][:12]).tolist(), "i0", "x"]
        for i, user in enumerate(data.walks.users)
    ]
    shuffled = replace(data, walks=Trajectories.from_walks(walks, users=list(data.walks.user_names)))
    again = make_study(shuffled, Recipe(item_users=5, neighbors=8))
    assert again.graph == study.graph
    assert np.array_equal(again.graph_walks.nodes, study.graph_walks.nodes)


@pytest.mark.parametrize(
    ("recipe", "fewest"),
    [(Recipe(item_users=3, neighbors=4), 1), (CoreRecipe(item_users=3, mean_degree=4), 3)],
    ids=["knn", "highest"],
)
@given(seed=st.integers(0, 50))
def test_edges_join_items_that_graph_users_share(recipe, fewest, seed):
    data = people.ratings(people.tastes(users=30, items=20, visits=10, seed=seed))
    study = make_study(data, recipe, seed)
    sets = [set(study.graph_walks.walk(i).tolist()) for i in range(len(study.graph_walks))]
    rows = np.repeat(np.arange(study.graph.num_nodes), study.graph.degrees)
    for a, b in zip(rows.tolist(), study.graph.indices.tolist(), strict=True):
        assert sum(a in seen and b in seen for seen in sets) >= fewest


def test_groups_of_users_are_disjoint(study, choices):
    assert not set(study.graph_walks.users.tolist()) & set(study.choice_walks.users.tolist())
    users = choices["last"].windows.users
    for number in range(5):
        is_test = study.split(number, users)
        assert not set(users[is_test].tolist()) & set(users[~is_test].tolist())
    assert not np.array_equal(study.split(0, users), study.split(1, users))
