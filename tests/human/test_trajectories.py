"""Trajectories: construction, selection and windows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from curiograph.errors import SettingError, UnknownNodeError, WalkError
from curiograph.graph.graph import Graph
from curiograph.human.trajectories import Trajectories

WALKS = st.lists(st.lists(st.integers(0, 5), max_size=8), max_size=6)


def merge_repeats(walk):
    return [node for number, node in enumerate(walk) if number == 0 or walk[number - 1] != node]


@given(WALKS)
def test_walks_are_kept_without_immediate_repeats(walks):
    found = Trajectories.from_walks(walks, users=[number % 2 for number in range(len(walks))])
    assert list(found) == [merge_repeats(walk) for walk in walks]
    assert found.num_users == min(len(walks), 2)


@given(WALKS, st.integers(1, 3))
def test_windows_are_runs_of_distinct_nodes(walks, burn_in):
    trajectories = Trajectories.from_walks(walks)
    windows = trajectories.windows(burn_in)
    expected = []
    for number in range(len(trajectories)):
        nodes = trajectories.walk(number).tolist()
        runs = [nodes[first : first + burn_in + 1] for first in range(len(nodes) - burn_in)]
        expected += [(run[:-1], run[-1], number) for run in runs if len(set(run)) == burn_in + 1]
    found = zip(windows.histories.tolist(), windows.nexts.tolist(), windows.users.tolist(), strict=True)
    assert list(found) == expected


def test_split_by_user():
    walks = Trajectories.from_walks([["a", "b"]] * 12, users=[number // 2 for number in range(12)])
    train, test = walks.split(0.5, seed=3)
    assert set(train.users) | set(test.users) == set(range(6))
    assert not set(train.users) & set(test.users)
    assert walks.split(0.5, seed=3)[1].users.tolist() == test.users.tolist()
    with pytest.raises(SettingError, match="test is 1; give the share"):
        walks.split(1)
    with pytest.raises(WalkError, match="walks of 1 users"):
        walks[[0]].split()


def test_walks_on_a_graph():
    graph = Graph.from_edges([("a", 1), (1, (0, 2))])
    walks = Trajectories.from_walks([["1", "x", "a", "(0, 2)"], ["x"]])
    assert walks.on(graph).nodes.tolist() == [1, 0, 2]
    assert walks.on(graph).offsets.tolist() == [0, 3, 3]
    assert Trajectories.from_walks([[1, 7]]).on(Graph.from_edges([("1", "2")])).nodes.tolist() == []
    with pytest.raises(UnknownNodeError, match="no node 'x'"):
        walks.on(graph, strict=True)


LINKS = Graph.from_edges([("São Paulo", "New York"), ("New York", "Polish"), ("Polish", "polish"), ("polish", "UK")])


@pytest.mark.parametrize(
    "label", ["são paulo", "S%C3%A3o_Paulo", "SA\u0303O  PAULO", "\uff33ão Paulo", " São_Paulo", "Sampa", "sampa_"]
)
def test_labels_match_loosely(label):
    walks = Trajectories.from_walks([["New York", label]])
    assert len(walks.on(LINKS).nodes) == 1
    found = walks.on(LINKS, match="loose", redirects={"Sampa": "são_paulo"})
    assert list(found) == [["New York", "São Paulo"]]
    assert not found.skipped


def test_loose_matches_are_never_wrong():
    """An exact match wins; a label that several nodes match, or that is redirected to several, matches none."""
    walks = Trajectories.from_walks([["polish", "POLISH", "Polish", "britain", "Britain"]])
    redirects = {"BRITAIN": "UK", "britain_": "New York"}
    found = walks.on(LINKS, match="loose", redirects=redirects)
    assert list(found) == [["polish", "Polish"]]
    assert found.skipped.reasons == {"outside the graph": 3}
    assert list(walks.on(LINKS, redirects={"Britain": "UK"})) == [["polish", "Polish", "UK"]]
    for wrong in ({"match": "fuzzy"}, {"redirects": ["UK"]}):
        with pytest.raises(SettingError, match=r"fuzzy|UK"):
            walks.on(LINKS, **wrong)


def test_unmatched_labels_are_listed():
    walks = Trajectories.from_walks([["Nwe York", "UK", "x", "Nwe York", "POLISH"], ["Nwe York"]])
    frame = walks.list_unmatched(LINKS, match="loose")
    assert frame[["label", "visits"]].to_numpy().tolist() == [["Nwe York", 3], ["x", 1], ["POLISH", 1]]
    assert frame["nearest"].tolist() == ["New York", "", "polish"]
    assert walks.on(LINKS, match="loose").skipped.first == (
        "outside the graph: most visited 'Nwe York' (3), 'x' (1), 'POLISH' (1)",
    )
    assert walks.on(LINKS).list_unmatched(LINKS).empty


def test_selection_and_display():
    walks = Trajectories.from_walks([["a", "b"], ["c"], ["b", "c", "a"]], users=["ann", "bob", "ann"])
    longer = [["a", "b"], ["b", "c", "a"]]
    for which in (walks.lengths > 1, pd.Series([True, False, True]), [True, False, True], [0, 2], slice(0, 3, 2)):
        assert list(walks[which]) == longer
    assert list(walks[[walks.user(number) == "ann" for number in range(len(walks))]]) == longer
    assert walks[-1] == ["b", "c", "a"]
    assert "<td>ann</td>" in walks._repr_html_()
    assert walks.to_frame()["node"].tolist() == ["a", "b", "c", "b", "c", "a"]


@given(WALKS, st.integers(1, 4))
def test_walks_are_cut_to_equal_length(walks, nodes):
    merged = [[node for node, before in zip(walk, [None, *walk], strict=False) if node != before] for walk in walks]
    found = Trajectories.from_walks(walks).cut(nodes=nodes)
    kept = [walk for walk in merged if len(set(walk)) >= nodes]
    ends = [next(n for n in range(len(walk) + 1) if len(set(walk[:n])) == nodes) for walk in kept]
    assert list(found) == [walk[:end] for walk, end in zip(kept, ends, strict=True)]
    assert found.skipped.count == len(walks) - len(kept)


def test_sessions_and_columns_follow_the_users():
    graph = Graph.from_edges([("a", "b"), ("b", "c")])
    walks = Trajectories.from_walks(
        [["a", "x"], ["b"], ["c", "c", "b"]],
        users=["ann", "bob", "ann"],
        sessions=["mon", "mon", "tue"],
        user_columns={"group": {"ann": 1, "bob": 2}},
    )
    for same in (walks, walks.on(graph), walks[[0, 1, 2]]):
        assert [(same.user(i), same.session(i)) for i in range(3)] == [("ann", "mon"), ("bob", "mon"), ("ann", "tue")]
        assert same.user_columns == {"group": [1, 2]}
    assert walks[[2]].session(0) == "tue"
    assert {part.session(len(part) - 1) for part in walks.split(0.5)} == {"mon", "tue"}
    assert walks.skipped.repeats == 1
    assert walks.on(graph).skipped.reasons == {"outside the graph": 1}
    for unequal in ({"sessions": [1, 2]}, {"users": ["ann", "bob"]}):
        with pytest.raises(SettingError, match="there are 1 walks but 2"):
            Trajectories.from_walks([["a"]], **unequal)


def test_default_sessions_count_the_walks_of_each_user():
    walks = Trajectories.from_walks([["a"]] * 5, users=["ann", "bob", "ann", "ann", "bob"])
    assert [walks.session(i) for i in range(5)] == [1, 1, 2, 3, 2]


@pytest.mark.parametrize(
    ("walks", "message"),
    [
        ("abc", r"the walks are 'abc'; give a list of walks"),
        ({"ann": ["a", "b"]}, "give a list of walks, each a list of labels"),
        (["a", "b"], r"the walk 'a' is not a list of labels; give \[\['a', 'b'\]\]"),
        ([1, 2], "the walk 1 is not a list of labels"),
        ([{"a", "b"}], "is not a list of labels"),
        (7, "the walks are 7"),
        (pd.DataFrame({"user": ["ann"], "item": ["a"]}), "from_frame"),
    ],
)
def test_what_is_not_a_list_of_walks_is_refused(walks, message):
    with pytest.raises(WalkError, match=message):
        Trajectories.from_walks(walks)


def test_a_column_of_the_log_never_replaces_one_of_a_result():
    """A questionnaire's score, for instance, would be lost in a table of style scores."""
    graph = cg.generate("ws", nodes=40, seed=0)
    weighted = cg.Graph.from_arrays(*graph.get_edges()[:2], np.linspace(0.1, 1, graph.num_edges))
    lists = [cg.explore(graph, "random", start=n, steps=24, seed=n).nodes for n in range(8)]

    def keep(name):
        columns = {name: dict.fromkeys("abcdefgh", 1)}
        return Trajectories.from_walks(lists, list("abcdefgh"), graph, user_columns=columns)

    tables = {
        "node": lambda walks: walks.to_frame(),
        "score": lambda walks: cg.profile(graph, walks, measures="structure").styles().to_frame(),
        "persistence": lambda walks: cg.measure_persistence(weighted, walks).to_frame(),
        "open": lambda walks: cg.measure_persistence(weighted, walks).per_walk(),
        "gain": lambda walks: cg.human.hypotheses(graph, walks, motives=["uniform", "degree"]).per_user(),
    }
    for name, tabulate in tables.items():
        assert "kept" in tabulate(keep("kept"))
        with pytest.raises(SettingError, match=f"'{name}' of the log"):
            tabulate(keep(name))
