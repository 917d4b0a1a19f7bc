"""Trajectories: construction, selection, windows and files."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curiograph.errors import FileFormatError, SettingError, UnknownNodeError, WalkError
from curiograph.graph.graph import Graph
from curiograph.human.trajectories import Trajectories
from support.people import list_labels

WALKS = st.lists(st.lists(st.integers(0, 5), max_size=8), max_size=6)


def merge_repeats(walk):
    return [node for number, node in enumerate(walk) if number == 0 or walk[number - 1] != node]


@given(WALKS)
def test_walks_are_kept_without_immediate_repeats(walks):
    found = Trajectories.from_walks(walks, users=[number % 2 for number in range(len(walks))])
    assert list_labels(found) == [merge_repeats(walk) for walk in walks]
    assert found.num_users == min(len(walks), 2)
    assert list_labels(found.compact()) == list_labels(found)
    assert sorted(np.unique(found.compact().nodes)) == list(range(len(found.compact().names)))


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
    train, test = walks.split(0.5, seed=3, number=1)
    assert set(train.users) | set(test.users) == set(range(6))
    assert not set(train.users) & set(test.users)
    assert walks.split(0.5, seed=3, number=1)[1].users.tolist() == test.users.tolist()
    with pytest.raises(SettingError, match="test is 1; give the share"):
        walks.split(1)
    with pytest.raises(WalkError, match="walks of 1 users"):
        walks.rows([0]).split()


def test_walks_on_a_graph():
    graph = Graph.from_edges([("a", 1), (1, (0, 2))])
    walks = Trajectories.from_walks([["1", "x", "a", "(0, 2)"], ["x"]])
    assert walks.on(graph).nodes.tolist() == [1, 0, 2]
    assert walks.on(graph).offsets.tolist() == [0, 3, 3]
    assert Trajectories.from_walks([[1, 7]]).on(Graph.from_edges([("1", "2")])).nodes.tolist() == []
    with pytest.raises(UnknownNodeError, match="no node 'x'"):
        walks.on(graph, strict=True)


@given(WALKS)
def test_saved_walks_are_read_back(tmp_path_factory, walks):
    path = tmp_path_factory.mktemp("saved") / "walks.npz"
    saved = Trajectories.from_walks(walks)
    saved.save(path)
    found = Trajectories.load(path)
    assert list_labels(found) == list_labels(saved)
    assert found.users.tolist() == saved.users.tolist()


def test_sessions_and_columns_follow_the_users(tmp_path):
    graph = Graph.from_edges([("a", "b"), ("b", "c")])
    walks = Trajectories.from_walks(
        [["a", "x"], ["b"], ["c", "c", "b"]],
        users=["ann", "bob", "ann"],
        sessions=["mon", "mon", "tue"],
        user_columns={"group": {"ann": 1, "bob": 2}},
    )
    walks.save(tmp_path / "walks.npz")
    loaded = Trajectories.load(tmp_path / "walks.npz")
    for same in (walks, walks.on(graph), walks.compact(), loaded, walks.rows([0, 1, 2])):
        assert [(same.user(i), same.session(i)) for i in range(3)] == [("ann", "mon"), ("bob", "mon"), ("ann", "tue")]
        assert same.user_columns == {"group": [1, 2]}
    assert walks.rows([2]).session(0) == "tue"
    assert {part.session(len(part) - 1) for part in walks.split(0.5)} == {"mon", "tue"}
    assert walks.skipped.repeats == 1
    assert walks.on(graph).skipped.reasons == {"outside the graph": 1}
    with pytest.raises(SettingError, match="there are 1 walks but 2 sessions"):
        Trajectories.from_walks([["a"]], sessions=[1, 2])


def test_default_sessions_count_the_walks_of_each_user():
    walks = Trajectories.from_walks([["a"]] * 5, users=["ann", "bob", "ann", "ann", "bob"])
    assert [walks.session(i) for i in range(5)] == [1, 1, 2, 3, 2]


def test_files_of_version_1_are_read(tmp_path):
    def encode(text):
        return np.frombuffer(text.encode(), np.uint8)

    np.savez(
        tmp_path / "old.npz",
        format=np.array("curiograph trajectories 1"),
        nodes=np.array([0, 1, 1]),
        offsets=np.array([0, 2, 3]),
        users=np.array([0, 0]),
        names=encode('["a", "b"]'),
        user_names=encode('["ann"]'),
    )
    walks = Trajectories.load(tmp_path / "old.npz")
    assert list_labels(walks) == [["a", "b"], ["b"]]
    assert [walks.session(i) for i in range(2)] == [1, 2]


@pytest.mark.parametrize(
    ("walks", "message"),
    [
        ("abc", r"the walks are 'abc'; give a list of walks"),
        ({"ann": ["a", "b"]}, "give a list of walks, each a list of labels"),
        (["a", "b"], r"the walk 'a' is not a list of labels; give \[\['a', 'b'\]\]"),
        ([1, 2], "the walk 1 is not a list of labels"),
        ([{"a", "b"}], "is not a list of labels"),
        (7, "the walks are 7"),
    ],
)
def test_what_is_not_a_list_of_walks_is_refused(walks, message):
    with pytest.raises(WalkError, match=message):
        Trajectories.from_walks(walks)


def test_a_frame_is_not_a_list_of_walks():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"user": ["ann"], "item": ["a"]})
    with pytest.raises(WalkError, match=r"Trajectories\.from_frame\(frame, user=\.\.\., item=\.\.\.\)"):
        Trajectories.from_walks(frame)


def test_bad_arguments(tmp_path):
    walks = Trajectories.from_walks([["a", "b"], ["a"]])
    assert len(walks.at_least(2)) == 1
    with pytest.raises(SettingError, match="there are 1 walks but 2 users"):
        Trajectories.from_walks([["a"]], users=["ann", "bob"])
    with pytest.raises(SettingError, match=r"the name must end in \.npz"):
        walks.save(tmp_path / "walks.txt")
    np.savez(
        tmp_path / "other.npz", format=np.array("other"), nodes=[0], offsets=[0, 1], users=[0], names=[], user_names=[]
    )
    with pytest.raises(FileFormatError, match="is not a usable trajectories file"):
        Trajectories.load(tmp_path / "other.npz")
