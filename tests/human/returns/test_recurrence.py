"""Recurrence of walks against its definition."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from curiograph.human.trajectories import Trajectories

WALKS = st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=12), min_size=1, max_size=8)


@given(WALKS, st.integers(1, 4))
def test_returns_match_the_definition(lists, num_users):
    users = [number % num_users for number in range(len(lists))]
    walks = Trajectories.from_walks(lists, users=users)
    times, returned, steps = [], dict.fromkeys(users, 0), dict.fromkeys(users, 0)
    for number in range(len(walks)):
        last = {}
        for place, node in enumerate(walks.walk(number).tolist()):
            steps[walks.user(number)] += place > 0
            if node in last:
                times.append(place - last[node])
                returned[walks.user(number)] += 1
            last[node] = place
    if sum(steps.values()) == 0:
        with pytest.raises(cg.WalkError, match="no walk has a step"):
            cg.human.measure_returns(walks)
        return
    found = cg.human.measure_returns(walks)
    assert found.return_times.tolist() == np.bincount(times, minlength=3).tolist()
    by_user = found.list_by_user()
    assert dict(zip(by_user["user"], by_user["steps"], strict=True)) == {u: n for u, n in steps.items() if n}
    assert by_user["returns"] == [returned[user] for user in by_user["user"]]
    assert found.share.value == pytest.approx(sum(returned.values()) / sum(steps.values()))
    assert found.back.value == pytest.approx(times.count(2) / sum(steps.values()))
    curve = found.columns()
    long = [walks.walk(number).tolist() for number in range(len(walks)) if walks.lengths[number] > 1]
    for visits, count, distinct, returning in zip(
        curve["visits"], curve["walks"], curve["distinct"], curve["returning"], strict=True
    ):
        reached = [walk for walk in long if len(walk) >= visits]
        assert count == len(reached)
        assert distinct == pytest.approx(np.mean([len(set(walk[:visits])) for walk in reached]))
        assert returning == pytest.approx(np.mean([walk[visits - 1] in walk[: visits - 1] for walk in reached]))


def test_results_are_tables_documents_and_figures():
    lists = [["a", "b", "a", "c", "b"], ["c", "d", "c"], ["a", "b"]]
    walks = Trajectories.from_walks(lists, users=["ann", "bob", "cid"], user_columns={"group": {"ann": 1, "bob": 2}})
    found = cg.human.measure_returns(walks)
    assert repr(found) == "Returns(3 of 7 steps by 3 users)"
    assert found.median_time == 2
    assert found.per_user()["group"].tolist()[:2] == [1, 2]
    assert np.isnan(found.per_user()["return_time"][2])
    assert found.to_frame()["visits"].tolist() == [1, 2]  # reached by all three
    assert len(found.plot().axes) == 3
    assert "<table>" in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict()))["returns"] == 3


def test_median_of_an_even_number_of_returns():
    walks = Trajectories.from_walks([["a", "b", "a", "c", "d", "e", "c"]])  # after 2 and 3 steps
    assert cg.human.measure_returns(walks).median_time == 2.5
    assert repr(cg.human.measure_returns(walks)) == "Returns(2 of 6 steps by 1 user)"


def test_walks_without_returns():
    found = cg.human.measure_returns(Trajectories.from_walks([["a", "b", "c"]] * 3))
    assert found.share == cg.human.measure_returns(Trajectories.from_walks([["a", "b"]] * 3)).share
    assert np.isnan(found.median_time)
    found.plot()


@pytest.mark.parametrize(
    ("walks", "settings", "error", "message"),
    [
        ([["a", "b"]], {}, cg.SettingError, "give Trajectories"),
        (Trajectories.from_walks([]), {}, cg.WalkError, "no walk has a step"),
        (Trajectories.from_walks([["a", "b"]]), {"seed": -1}, cg.SettingError, "seed is -1"),
    ],
)
def test_invalid_input_raises_a_single_line(walks, settings, error, message):
    with pytest.raises(error, match=message):
        cg.human.measure_returns(walks, **settings)
