"""Splits of a log: what is held out, and that nothing of it is used for training."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curiograph.errors import SettingError, UnknownNameError, WalkError
from curiograph.human.recommenders.splits import split_log
from curiograph.human.trajectories import Trajectories


def make_log(seed: int = 0, users: int = 30, items: int = 12, events: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "user": rng.integers(users, size=events),
            "item": [f"i{item}" for item in rng.zipf(1.5, size=events) % items],
            "time": rng.permutation(events).astype(float),
        }
    )


def test_times_are_kept_when_walks_are_read_selected_and_saved(tmp_path):
    walks = Trajectories.from_frame(pd.DataFrame({"user": [1, 1, 1], "item": ["b", "a", "a"], "time": [9, 2, 3]}))
    assert walks.times.tolist() == [2, 9]  # a repeat keeps the time of the first visit
    assert walks[[0]].times.tolist() == [2, 9]
    assert walks.compact().times.tolist() == [2, 9]
    assert Trajectories.from_frame(pd.DataFrame({"user": [1, 1], "item": ["b", "a"], "step": [9, 2]})).times is None


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.floats(0.1, 0.6))
def test_time_split_trains_on_nothing_after_the_cut(seed, test):
    log = make_log(seed)
    walks = Trajectories.from_frame(log)
    split = split_log(walks, "time", test=test, item_users=2)
    cut = split.facts["cut"]
    assert split.train.times.max() <= cut
    assert abs((log.time > cut).mean() - test) < 0.1  # immediate repeats count once
    early = log[log.time <= cut]
    popular = early.groupby("item").user.nunique()
    assert set(split.train.names) == set(popular[popular >= 2].index)
    for user, history, targets in zip(split.users, split.histories, split.targets, strict=True):
        own = log[log.user == walks.user_names[int(user)]]
        names = [split.train.names[int(v)] for v in history]
        catalog = set(split.train.names)
        assert set(names) == set(own[own.time <= cut].item) & catalog
        assert {split.train.names[int(v)] for v in targets} == (set(own[own.time > cut].item) & catalog) - set(
            own[own.time <= cut].item
        )
        last = own[(own.time <= cut) & own.item.isin(catalog)].sort_values("time").item.iloc[-1]
        assert names[-1] == last


def test_training_events_are_those_of_a_log_that_ends_at_the_cut():
    log = make_log(3)
    split = split_log(Trajectories.from_frame(log), "time", item_users=1)
    early = Trajectories.from_frame(log[log.time <= split.facts["cut"]])

    def list_walks(walks):
        return {walks.user(i): walks[i] for i in range(len(walks))}

    assert list_walks(split.train) == list_walks(early)


def test_user_split_holds_out_whole_users():
    walks = Trajectories.from_frame(make_log(1))
    split = split_log(walks, "user", test=0.3, item_users=2)
    assert not set(split.users) & set(split.train.users)
    assert len(split.users) == 9
    for history, targets in zip(split.histories, split.targets, strict=True):
        assert not set(history) & set(targets)
    limited = split_log(walks, "user", test=0.3, item_users=2, max_users=4)
    assert set(limited.users) < set(split.users)
    assert np.array_equal(limited.train.nodes, split.train.nodes)


def test_last_split_holds_out_the_last_new_item():
    walks = Trajectories.from_walks(
        [["a", "b", "c", "a"], ["b", "a"], ["c", "b", "d"], ["d"], ["a", "b"]],
        users=["ann", "bob", "cleo", "ann", "dan"],
    )
    split = split_log(walks, "last", item_users=1)
    names = split.train.names
    found = {
        walks.user_names[int(user)]: ([names[v] for v in history], [names[v] for v in targets])
        for user, history, targets in zip(split.users, split.histories, split.targets, strict=True)
    }
    assert found == {
        "bob": (["b"], ["a"]),
        "dan": (["a"], ["b"]),
    }  # d, the last new item of ann and cleo, has no training visit
    assert split.facts["share_of_test_items_outside_catalog"] == 0.5


def test_overlapping_sessions_are_joined_in_order_of_time():
    log = pd.DataFrame(
        [(user, *event) for user in "uvw" for event in [("a", 100, 1), ("b", 110, 2), ("d", 120, 2), ("c", 200, 1)]]
        + [(user, *event) for user in "xyz" for event in [("c", 1, 1), ("d", 2, 1), ("b", 3, 1), ("a", 4, 1)]],
        columns=["user", "item", "time", "session"],
    )
    walks = Trajectories.from_frame(log)
    for kind in ("last", "time"):
        split = split_log(walks, kind, item_users=1)
        names = split.train.names
        assert [names[v] for v in split.histories[0]] == ["a", "b", "d"]
        assert [names[v] for v in split.targets[0]] == ["c"]
        assert split.train.times.max() == 120
    assert split_log(walks, "last", item_users=1).train[0] == ["a"]  # sessions stay apart


@pytest.mark.parametrize("test", [0.2, 0.5])
def test_user_split_tests_on_a_share_of_users_and_a_fifth_of_their_items(test):
    walks = Trajectories.from_walks([[f"i{(user + step) % 12}" for step in range(10)] for user in range(20)])
    split = split_log(walks, "user", test=test, item_users=1)
    assert split.test == test
    assert len(split.users) == 20 * test
    assert {len(targets) for targets in split.targets} == {2}


def test_bad_input_is_named():
    walks = Trajectories.from_walks([["a", "b", "c"], ["b", "c"]])
    with pytest.raises(WalkError, match="a time split needs the time of every event"):
        split_log(walks, "time")
    with pytest.raises(UnknownNameError, match="split is 'random'"):
        split_log(walks, "random")
    with pytest.raises(SettingError, match="test is 2"):
        split_log(walks, "user", test=2)
    with pytest.raises(SettingError, match=r"test is 0\.2, but the last split tests on the last new item"):
        split_log(walks, "last", test=0.2)
    for bad in ("10", 1, 2.5):
        with pytest.raises(SettingError, match=f"max_users is {bad!r}"):
            split_log(walks, "last", item_users=1, max_users=bad)
    with pytest.raises(WalkError, match="no item has 9 training users"):
        split_log(walks, "last", item_users=9)
    with pytest.raises(WalkError, match="leaves 0 users"):
        split_log(Trajectories.from_walks([["a", "x"], ["a", "y"], ["a", "z"]]), "last", item_users=2)
