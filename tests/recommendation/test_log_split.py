"""Splits of a log: what is held out, and that nothing of it is used for training."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curiograph.errors import SettingError, UnknownNameError, WalkError
from curiograph.human.trajectories import Trajectories
from curiograph.recommendation.log_split import split_log


def make_log(seed: int = 0, users: int = 30, items: int = 12, events: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "user": rng.integers(users, size=events),
            "item": [f"i{item}" for item in rng.zipf(1.5, size=events) % items],
            "time": rng.permutation(events).astype(float),
        }
    )


def name_items(split, items) -> list:
    return [split.train.names[int(v)] for v in items]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.floats(0.1, 0.6))
def test_time_split_trains_on_nothing_after_the_cut(seed, test):
    log = make_log(seed)
    walks = Trajectories.from_frame(log)
    split = split_log(walks, "time", test=test, item_users=2)
    cut = split.facts["cut"]
    assert split.train.times.max() <= cut
    assert abs((log.time > cut).mean() - test) < 0.1  # immediate repeats count once
    popular = log[log.time <= cut].groupby("item").user.nunique()
    catalog = set(popular[popular >= 2].index)
    assert set(split.train.names) == catalog
    for user, history, targets in zip(split.users, split.histories, split.targets, strict=True):
        own = log[log.user == walks.user_names[int(user)]]
        early, late = own[own.time <= cut], own[own.time > cut]
        assert set(name_items(split, history)) == set(early.item) & catalog
        assert set(name_items(split, targets)) == (set(late.item) & catalog) - set(early.item)
        assert name_items(split, history)[-1] == early[early.item.isin(catalog)].sort_values("time").item.iloc[-1]


@pytest.mark.parametrize("test", [0.2, 0.5])
def test_user_split_holds_out_whole_users_and_a_fifth_of_their_items(test):
    walks = Trajectories.from_walks([[f"i{(user + step) % 12}" for step in range(10)] for user in range(20)])
    split = split_log(walks, "user", test=test, item_users=1)
    assert len(split.users) == 20 * test
    assert not set(split.users) & set(split.train.users)
    assert {len(targets) for targets in split.targets} == {2}
    for history, targets in zip(split.histories, split.targets, strict=True):
        assert not set(history) & set(targets)
    limited = split_log(walks, "user", test=test, item_users=1, max_users=2)
    assert set(limited.users) < set(split.users)
    assert np.array_equal(limited.train.nodes, split.train.nodes)


def test_last_split_holds_out_the_last_new_item():
    walks = Trajectories.from_walks(
        [["a", "b", "c", "a"], ["b", "a"], ["c", "b", "d"], ["d"], ["a", "b"]],
        users=["ann", "bob", "cleo", "ann", "dan"],
    )
    split = split_log(walks, "last", item_users=1)
    found = {
        walks.user_names[int(user)]: (name_items(split, history), name_items(split, targets))
        for user, history, targets in zip(split.users, split.histories, split.targets, strict=True)
    }
    # d, the last new item of ann and cleo, has no training visit
    assert found == {"bob": (["b"], ["a"]), "dan": (["a"], ["b"])}
    assert split.facts["share_of_test_items_outside_catalog"] == 0.5


def test_overlapping_sessions_are_joined_in_order_of_time():
    log = pd.DataFrame(
        [(user, *event) for user in "uvw" for event in [("a", 100, 1), ("b", 110, 2), ("d", 120, 2), ("c", 200, 1)]]
        + [(user, *event) for user in "xyz" for event in [("c", 1, 1), ("d", 2, 1), ("b", 3, 1), ("a", 4, 1)]],
        columns=["user", "item", "time", "session"],
    )
    for kind in ("last", "time"):
        split = split_log(Trajectories.from_frame(log), kind, item_users=1)
        assert name_items(split, split.histories[0]) == ["a", "b", "d"]
        assert name_items(split, split.targets[0]) == ["c"]
        assert split.train.times.max() == 120


def test_an_order_within_users_is_no_time():
    log = make_log()
    log["time"] = log.groupby("user").cumcount()
    kept = log[np.random.default_rng(0).random(len(log)) < 0.6]
    for numbered in (log, log.assign(time=-log.time), kept, pd.concat([log, log.tail(1)])):
        with pytest.raises(WalkError, match=r"from -?\d+ to"):
            split_log(Trajectories.from_frame(numbered), "time", item_users=1)
    log["time"] = 10 * log.time + log.user % 7
    assert split_log(Trajectories.from_frame(log), "time", item_users=1).facts["test_users"] > 1


def test_users_that_cannot_be_tested_are_counted():
    # the last three: a new item that is not in the catalog, nothing of the catalog before, and nothing before
    walks = Trajectories.from_walks([["a", "b", "c"], ["c", "b", "a"]] * 2 + [["a", "b", "rare"], ["x", "a"], ["a"]])
    facts = split_log(walks, "last", item_users=2).facts
    assert (facts["test_users"], facts["left_out_users"]) == (4, 3)


def test_bad_input_is_named():
    walks = Trajectories.from_walks([["a", "b", "c"], ["b", "c"]])
    for error, message, arguments in (
        (WalkError, "time", {"kind": "time"}),
        (UnknownNameError, "'random'", {"kind": "random"}),
        (SettingError, "test is 2", {"kind": "user", "test": 2}),
        (SettingError, "test is 0.2", {"kind": "last", "test": 0.2}),
        (SettingError, "max_users is '10'", {"kind": "last", "max_users": "10"}),
        (SettingError, "max_users is 1", {"kind": "last", "max_users": 1}),
        (WalkError, "9 training users", {"kind": "last", "item_users": 9}),
    ):
        with pytest.raises(error, match=message):
            split_log(walks, **arguments)
    with pytest.raises(WalkError, match="leaves 0 users"):
        split_log(Trajectories.from_walks([["a", "x"], ["a", "y"], ["a", "z"]]), "last", item_users=2)
