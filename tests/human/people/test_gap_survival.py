"""Survival of gaps against scipy, and its intervals over people."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import CensoredData, ecdf

import curiograph as cg

GRAPH = cg.generate("er", nodes=30, seed=1)


@pytest.fixture(scope="module")
def growths():
    """Walks of ten people, each with three, in two groups."""
    walks = [cg.explore(GRAPH, "random", "igt", n, 12 + n % 5, seed=n).nodes for n in range(30)]
    users = [f"p{n % 10}" for n in range(30)]
    columns = {"group": {f"p{n}": "ab"[n % 2] for n in range(10)}}
    return cg.measure(GRAPH, cg.human.Trajectories.from_walks(walks, users=users, user_columns=columns))


def test_survival_equals_scipy_and_uses_open_gaps(growths):
    found = cg.gap_survival(growths, horizon=6, seed=1)
    gaps = growths.gaps_frame()
    censored = gaps["censored"].to_numpy()
    oracle = ecdf(CensoredData.right_censored(gaps["lifetime"].to_numpy(), censored)).sf
    frame = found.to_frame()
    np.testing.assert_allclose(frame["survival"], oracle.evaluate(frame["time"]))
    assert frame["at_risk"][0] == len(gaps)
    assert frame["closed"].sum() == np.count_nonzero(~censored)
    assert found.restricted_mean["all"].value == pytest.approx(frame["survival"][:6].sum())
    assert found.restricted_mean["all"].value > gaps["lifetime"][~censored].clip(upper=6).mean()  # closed gaps alone
    assert (frame["survival_low"] <= frame["survival"]).all()
    assert (frame["survival"] <= frame["survival_high"]).all()
    assert cg.gap_survival(growths, horizon=6, seed=1).to_dict() == found.to_dict()
    assert found.plot().get_ylabel() == "share of gaps still open"


def test_groups_have_a_common_horizon(growths):
    found = cg.gap_survival(growths, "group")
    gaps = growths.gaps_frame()
    assert found.horizon == gaps.groupby("group")["lifetime"].max().min()
    for group, curve in found.curves.items():
        assert curve["at_risk"][0] == (gaps["group"] == group).sum()
        mine = gaps[gaps["group"] == group]
        oracle = ecdf(CensoredData.right_censored(mine["lifetime"].to_numpy(), mine["censored"].to_numpy())).sf
        np.testing.assert_allclose(curve["survival"], oracle.evaluate(curve["time"]))
    assert [text.get_text() for text in found.plot().get_legend().get_texts()] == ["a", "b"]


def test_people_are_resampled_as_a_whole(growths):
    """Copies of the walks of each person hold no more information."""
    walks = [growth.nodes for growth in growths]
    often = cg.measure(GRAPH, cg.human.Trajectories.from_walks(walks * 5, users=growths.users * 5))
    once, many = cg.gap_survival(growths), cg.gap_survival(often)
    np.testing.assert_allclose(once.curves["all"]["survival_low"], many.curves["all"]["survival_low"])
    alone = cg.gap_survival(cg.measure(GRAPH, cg.human.Trajectories.from_walks(walks, users=["x"] * 30)))
    assert np.isnan(alone.curves["all"]["survival_low"]).all()
    assert np.isnan(alone.restricted_mean["all"].low)
    np.testing.assert_allclose(alone.curves["all"]["survival"], once.curves["all"]["survival"])


def test_bad_input(growths):
    with pytest.raises(cg.errors.WalkError, match="no gap"):
        cg.gap_survival(cg.measure(cg.toys.cycle(5), [[0, 1], [2, 3]]))
    with pytest.raises(cg.SettingError, match="horizon is 99"):
        cg.gap_survival(growths, horizon=99)
    with pytest.raises(cg.errors.UnknownNameError, match="'condition'"):
        cg.gap_survival(growths, "condition")


def test_restricted_means_of_groups_are_tested_by_permuting_people(growths):
    found = cg.gap_survival(growths, "group", horizon=5, seed=2)
    assert found.p == cg.gap_survival(growths, "group", horizon=5, seed=2).p
    gaps, rng = growths.gaps_frame(), np.random.default_rng(0)
    people = sorted(gaps["user"].unique())

    def compare(groups):
        means = []
        for group in "ab":
            mine = gaps[gaps["user"].map(groups) == group]
            curve = ecdf(CensoredData.right_censored(mine["lifetime"].to_numpy(), mine["censored"].to_numpy())).sf
            means.append(curve.evaluate(np.arange(5)).sum())
        return abs(means[0] - means[1])

    labels = ["ab"[int(user[1:]) % 2] for user in people]
    drawn = [compare(dict(zip(people, rng.permutation(labels), strict=True))) for _ in range(400)]
    exceeding = np.mean(np.array(drawn) >= compare(dict(zip(people, labels, strict=True))) - 1e-9)
    assert found.p == pytest.approx(exceeding, abs=0.08)
    assert np.isnan(cg.gap_survival(growths).p)


def test_people_with_a_blank_group_are_left_out(growths):
    walks = [growth.nodes for growth in growths]
    groups = {f"p{n}": ["a", "b", " ", None][n % 4] for n in range(10)}
    people = cg.human.Trajectories.from_walks(walks, users=growths.users, user_columns={"group": groups})
    assert list(cg.gap_survival(cg.measure(GRAPH, people), "group").curves) == ["a", "b"]
