"""Groups and scores of people, against statsmodels and scipy."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import curiograph as cg
from curiograph.bootstrap import adjust_holm
from curiograph.human.people.group_comparison import ALL
from curiograph.human.people.group_tests import compute_group_p, estimate_differences
from curiograph.human.people.profile import Profile

GRAPH = cg.generate("er", nodes=30, seed=1)
MEASURES = ["nodes", "beta1", "compressibility"]


@pytest.fixture(scope="module")
def profile() -> Profile:
    """Sixty walks of twenty people in two groups: seekers maximize gaps, browsers walk at random."""
    rng = np.random.default_rng(0)
    walks, users = [], []
    for person in range(20):
        for session in range(1 + person % 5):
            agent, steps, start = ["random", "greedy"][person % 2], int(rng.integers(8, 16)), int(rng.integers(30))
            walks.append(cg.explore(GRAPH, agent, "igt", start, steps, seed=100 * person + session).nodes)
            users.append(f"p{person}")
    columns = {
        "group": {f"p{person}": "seeker" if person % 2 else "browser" for person in range(20)},
        "score": {f"p{person}": person % 2 + 0.1 * person for person in range(20)},
    }
    return cg.profile(GRAPH, cg.human.Trajectories.from_walks(walks, users=users, graph=GRAPH, user_columns=columns))


# ---- groups ---------------------------------------------------------------------------------------------------------


def test_groups_that_differ_in_gaps_are_found(profile):
    found = cg.compare_groups(profile, "group", measures=MEASURES, seed=3)
    frame = found.to_frame().set_index("measure")
    assert {group: len(users) for group, users in found.people.items()} == {"browser": 10, "seeker": 10}
    assert frame.loc["beta1", "p_holm"] < 0.01 < frame.loc["nodes", "p"]
    assert frame.loc["beta1", "difference_high"] < 0
    assert frame.loc["beta1", "effect_high"] < 0
    assert (frame["p_holm"] >= frame["p"]).all()
    assert "differ in beta1" in found.answer
    people = profile.per_user()
    means = people.groupby("group")["beta1"].mean()
    assert frame.loc["beta1", ["mean", "other_mean"]].tolist() == pytest.approx(means.tolist())  # over people
    assert json.loads(json.dumps(found.to_dict()))["groups"] == {"browser": 10, "seeker": 10}
    ax = found.plot()
    assert "browser - seeker" in ax.get_xlabel()
    assert [label.get_text().split("\n")[0] for label in ax.get_yticklabels()] == MEASURES


def test_tables_columns_and_lists_are_equal(profile):
    frame = profile.to_frame()
    expected = cg.compare_groups(profile, "group", measures=MEASURES, permutations=99).to_dict()
    for table, by in ((frame, "group"), (profile, frame["group"].tolist()), (frame, frame["group"])):
        assert cg.compare_groups(table, by, measures=MEASURES, permutations=99).to_dict() == expected
    shuffled = frame.sample(frac=1, random_state=3)
    again = cg.compare_groups(shuffled, "group", measures=MEASURES, permutations=99).to_frame()
    pd.testing.assert_frame_equal(
        again, cg.compare_groups(frame, "group", measures=MEASURES, permutations=99).to_frame()
    )


def test_repeating_walks_of_people_does_not_change_the_test(profile):
    """Ten copies of every walk are no more evidence: only people are independent."""
    frame = profile.to_frame()
    once = cg.compare_groups(frame, "group", measures=["beta1"], permutations=99).rows
    often = cg.compare_groups(pd.concat([frame] * 10), "group", measures=["beta1"], permutations=99).rows
    assert often["p"] == once["p"]
    assert often["effect_low"] == pytest.approx(once["effect_low"])


def test_three_groups_and_people_without_a_group(profile):
    groups = {f"p{person}": f"g{person % 3}" for person in range(20)} | {"p0": None, "p5": float("nan"), "p7": " "}
    by = [groups[user] for user in profile.to_frame()["user"]]
    found = cg.compare_groups(profile, by, permutations=199)
    assert found.without_group == ["p0", "p5", "p7"]
    assert sum(map(len, found.people.values())) == 17
    frame = found.to_frame()
    rows = frame[frame["measure"] == "beta1"]
    assert rows[["group", "other"]].to_numpy().tolist() == [[ALL, ""], ["g0", "g1"], ["g0", "g2"], ["g1", "g2"]]
    assert rows["p"].nunique() > 1  # any difference, and each pair
    with_pairs = frame[frame["group"] != ALL]
    np.testing.assert_array_equal(with_pairs["p_holm"], adjust_holm(with_pairs["p"].to_numpy()))
    against = cg.compare_groups(profile, by, measures=["beta1"], reference="g1", permutations=199).to_frame()
    assert against[["group", "other"]].to_numpy().tolist() == [[ALL, ""], ["g0", "g1"], ["g2", "g1"]]
    with pytest.raises(cg.errors.UnknownNameError, match="'g7'"):
        cg.compare_groups(profile, by, reference="g7")
    found.plot().figure.draw_without_rendering()


def test_people_without_a_value_are_not_counted(profile):
    frame = profile.per_user()[["user", "group", "beta1"]]
    frame.loc[frame["user"].isin(["p1", "p3", "p4"]), "beta1"] = np.nan
    row = cg.compare_groups(frame, "group", permutations=99).to_frame().iloc[0]
    assert (row["people"], row["other_people"]) == (9, 8)


def draw_paired(effect: float, seed: int = 0) -> pd.DataFrame:
    """Three sessions in each of two conditions by fifteen people, who differ much more than the conditions."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"user": np.repeat(np.arange(15), 6), "condition": ["calm", "loud"] * 45})
    frame["score"] = 10 * rng.normal(size=15)[frame["user"]] + rng.normal(size=90)
    frame["score"] += effect * (frame["condition"] == "loud")
    return frame


def test_paired_groups_are_compared_within_people():
    frame = draw_paired(1.5)
    with pytest.raises(cg.SettingError, match="paired"):
        cg.compare_groups(frame, "condition")
    found = cg.compare_groups(frame, "condition", paired=True, mixed_model=True)
    row = found.to_frame().iloc[0]
    means = frame.groupby(["user", "condition"])["score"].mean().unstack()
    expected = stats.ttest_rel(means["calm"], means["loud"])
    assert row["p"] == pytest.approx(expected.pvalue, abs=0.003)
    assert (row["difference_low"], row["difference_high"]) == pytest.approx(expected.confidence_interval())
    assert row["slope"] == pytest.approx(row["difference"], rel=0.01)
    assert row["slope_p"] < 0.001
    lonely = frame[~((frame["user"] == 3) & (frame["condition"] == "calm"))]
    assert cg.compare_groups(lonely, "condition", paired=True).rows["people"] == [14]
    assert cg.compare_groups(draw_paired(0.0, seed=1), "condition", paired=True).rows["p"][0] > 0.05
    with pytest.raises(cg.SettingError, match="covariates"):
        cg.compare_groups(frame, "condition", paired=True, covariates=["score"])


def test_covariates_equal_an_analysis_of_covariance():
    formula = pytest.importorskip("statsmodels.formula.api")
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"user": range(60), "age": rng.normal(40, 10, 60), "group": ["a", "b", "c"] * 20})
    frame["value"] = 0.1 * frame["age"] + 0.6 * (frame["group"] == "a") + rng.normal(size=60)
    found = cg.compare_groups(frame, "group", measures=["value"], covariates=["age"]).to_frame()
    full = formula.ols("value ~ age + C(group)", frame).fit()
    expected = full.compare_f_test(formula.ols("value ~ age", frame).fit())[1]
    assert found["p"][0] == pytest.approx(expected, abs=0.01)
    pair = formula.ols("value ~ age + C(group)", frame[frame["group"] != "c"]).fit()
    assert found["difference"][1] == pytest.approx(-pair.params["C(group)[T.b]"])
    bounds = -pair.conf_int().loc["C(group)[T.b]"]
    assert (found["difference_low"][1], found["difference_high"][1]) == pytest.approx((bounds[1], bounds[0]))
    assert found["p"][1] == pytest.approx(pair.pvalues["C(group)[T.b]"], abs=0.01)


def test_covariates_that_are_constant_or_depend_on_others_change_nothing():
    rng = np.random.default_rng(0)
    values, groups, age = rng.normal(size=(20, 1)), np.arange(20) % 2, rng.normal(30, 5, (20, 1))
    values[0] = 9.0
    for one, other in ((np.empty((20, 0)), np.ones((20, 1))), (age, np.hstack([age, 12 * age, age**0]))):
        found = [compute_group_p(values, groups, each, permutations=999, seed=0) for each in (one, other)]
        assert found[0] == found[1]
    frame = pd.DataFrame({"user": range(20), "group": groups, "value": values[:, 0], "age": age[:, 0]})
    months = frame.assign(months=12 * frame["age"], one=1.0)
    expected = cg.compare_groups(frame, "group", covariates="age", measures=["value"]).to_frame()
    found = cg.compare_groups(months, "group", covariates=["age", "months", "one"], measures=["value"]).to_frame()
    pd.testing.assert_frame_equal(found, expected)


def test_covariates_that_determine_the_group_leave_no_difference():
    frame = pd.DataFrame({"user": range(12), "group": [0, 1] * 6, "site": [3, 5] * 6, "value": range(12)})
    found = cg.compare_groups(frame, "group", covariates="site", measures=["value"]).to_frame()
    assert found[["difference", "difference_low", "effect", "p", "p_holm"]].isna().all(axis=None)


def test_tables_of_people_can_be_compared(profile):
    people = profile.per_user()  # has a column of the number of walks
    found = cg.compare_groups(people, "group", measures=["walks", "beta1"]).to_frame()
    assert found.loc[0, "mean"] == people.loc[people["group"] == "browser", "walks"].mean()
    expected = cg.compare_groups(profile, "group", measures=["beta1"]).rows["p"]
    assert [found.loc[1, "p"]] == expected
    assert cg.correlate(people, "score", measures=["beta1"]).rows["people"] == [20]


def test_paired_people_without_a_group_are_listed():
    frame = pd.DataFrame({"user": list("aabbccd"), "group": [*"xyxyxy", None], "value": [1.0, 2, 3, 5, 5, 6, 7]})
    assert cg.compare_groups(frame, "group", paired=True, measures=["value"]).without_group == ["d"]


def test_walks_of_equal_nodes_that_differ_in_returns_are_compared():
    """Measures of the subgraph do not depend on the number of visits."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"user": range(40), "group": ["a", "b"] * 20, "nodes": 8, "visits": [9, 15] * 20})
    frame = frame.assign(beta1=rng.normal(size=40) + frame["visits"], revisits=frame["visits"] - 8)
    found = cg.compare_groups(frame, "group", measures=["beta1", "revisits"])
    assert found.depends_on_length == ["revisits"]
    assert "differ in beta1" in found.answer
    assert "nodes=10" not in found.answer


def test_groups_that_differ_in_length_are_told_apart_from_others():
    rng = np.random.default_rng(2)
    lists = [
        cg.explore(GRAPH, "random", start=n, steps=8 + 8 * (n % 2), seed=int(rng.integers(999))) for n in range(30)
    ]
    groups = ["short", "long"] * 15
    found = cg.compare_groups(cg.profile(GRAPH, lists), groups)
    assert found.answer.startswith("The groups differ in the length of walks: ")
    assert {"beta1", "compressibility", "edges"} <= set(found.depends_on_length)
    assert "differ in beta1" not in found.answer
    equal = cg.compare_groups(cg.profile(GRAPH, lists, nodes=8), groups)
    assert not equal.lengths
    assert "do not differ clearly" in equal.answer


def test_methods_paragraph_names_what_a_reader_needs(profile):
    text = cg.compare_groups(profile, "group", measures=MEASURES, permutations=99, seed=7).methods()
    for words in ("seeker: 10 people", "3 measures", "99 permutations", "Holm", cg.__version__, "seed 7"):
        assert words in text
    assert "age" in cg.compare_groups(profile.to_frame().assign(age=range(60)), "group", covariates=["age"]).methods()


def test_undefined_and_constant_measures():
    walks = [[(n + step) % 40 for step in range(12)] for n in range(12)]
    walks += [np.random.default_rng(n).permutation(40)[:12].tolist() for n in range(12)]
    profile, groups = (
        cg.profile(cg.toys.cycle(40), walks, measures=["structure", "steps"]),
        ["near"] * 12 + ["far"] * 12,
    )
    frame = cg.compare_groups(profile, groups).to_frame().set_index("measure")
    assert frame.loc["step_length", "p_holm"] < 0.01
    assert np.isnan(frame.loc["nodes", "p"])  # all people have the same value
    assert "step_exponent" not in frame.index  # all steps of the first group have length 1
    with pytest.raises(cg.errors.WalkError, match="step_exponent"):
        cg.compare_groups(profile, groups, measures=["step_exponent"])


@pytest.mark.parametrize(
    ("by", "words"), [(["a"] * 60, "1 groups"), (["b"] + ["a"] * 59, "b: 1"), (["a", "b"] * 30, "'p1'")]
)
def test_bad_groups(profile, by, words):
    with pytest.raises(cg.SettingError, match=words):
        cg.compare_groups(profile, by)


@pytest.mark.parametrize(
    ("by", "options", "error", "words"),
    [
        ("condition", {}, cg.errors.UnknownNameError, "'condition'.*group"),
        (["a", "b"], {}, cg.SettingError, "60 rows"),
        (7, {}, cg.SettingError, "7"),
        ("score", {"measures": ["gap"]}, cg.errors.UnknownNameError, "'gap'.*nodes"),
        ("score", {"measures": "beta1"}, cg.SettingError, "'beta1'"),
        ("score", {"permutations": 0}, cg.SettingError, "permutations is 0"),
    ],
)
@pytest.mark.parametrize("call", [cg.compare_groups, cg.correlate])
def test_bad_arguments(profile, call, by, options, error, words):
    with pytest.raises(error, match=words):
        call(profile, by, **options)


def test_other_tables_are_refused(profile):
    for table in ([1, 2], profile.to_frame().drop(columns="user"), cg.measure(GRAPH, [[0, 1], [2]])):
        with pytest.raises(cg.SettingError, match="profile"):
            cg.compare_groups(table, "group")
    many = cg.profile(cg.toys.cycle(30), [[n, (n + 1) % 30] for n in range(30)])
    with pytest.raises(cg.SettingError, match=r"30.*correlate"):
        cg.compare_groups(many, np.linspace(0, 1, 30))


# ---- scores ---------------------------------------------------------------------------------------------------------


def test_correlation_with_a_score(profile):
    found = cg.correlate(profile, "score", measures=MEASURES, seed=1)
    people = profile.per_user()
    expected = stats.spearmanr(people["score"], people["beta1"])
    row = found.to_frame().set_index("measure").loc["beta1"]
    assert row["rho"] == pytest.approx(expected.statistic)
    assert row["p"] == pytest.approx(expected.pvalue, abs=0.01)
    assert row["people"] == 20
    assert row["rho_low"] < row["rho"] < row["rho_high"]
    constant = cg.correlate(profile.to_frame().assign(constant=1.0), "score", measures=["constant"]).rows
    assert np.isnan([constant["rho"], constant["p"]]).all()
    assert cg.correlate(profile, "score", measures=MEASURES, seed=1).to_dict() == found.to_dict()
    assert found.plot().get_xlabel() == "rank correlation with score"


def test_a_score_that_follows_the_length_of_walks_is_named():
    lists = [cg.explore(GRAPH, "random", start=n, steps=6 + n % 12, seed=n) for n in range(30)]
    scores = [6 + n % 12 for n in range(30)]
    answer = cg.correlate(cg.profile(GRAPH, lists), scores, measures=["beta1", "step_length"]).answer
    assert answer.startswith("The score is related to the length of walks: ")
    assert "beta1 may be due" in answer
    cut = cg.correlate(cg.profile(GRAPH, lists, nodes=6), scores, measures=["beta1"])
    assert not cut.lengths
    assert cut.answer.startswith("The score is related to none")


def test_mixed_model_equals_statsmodels(profile):
    formula = pytest.importorskip("statsmodels.formula.api")
    frame = profile.to_frame()
    row = cg.correlate(profile, "score", measures=["beta1"], mixed_model=True).to_dict()["rows"][0]
    model = formula.mixedlm("beta1 ~ score", frame, groups=frame["user"]).fit(method="powell")
    assert (row["random_intercept"], row["converged"]) == (True, True)
    assert row["slope"] == pytest.approx(model.params["score"], rel=1e-3)
    assert (row["slope_low"], row["slope_high"]) == pytest.approx(tuple(model.conf_int().loc["score"]), rel=1e-2)
    single = frame.drop_duplicates("user")
    row = cg.correlate(single, "score", measures=["beta1"], mixed_model=True).to_dict()["rows"][0]
    model = formula.ols("beta1 ~ score", single).fit()
    assert not row["random_intercept"]
    assert (row["slope"], row["slope_p"]) == pytest.approx((model.params["score"], model.pvalues["score"]))


def test_scores_may_be_text_and_missing(profile):
    users = profile.to_frame()["user"]
    scores = {f"p{person}": str(person) for person in range(20)} | {"p4": "", "p9": None}
    assert cg.correlate(profile, users.map(scores), measures=MEASURES).rows["people"] == [18] * 3
    for given, words in (
        (profile.to_frame()["group"], "group"),
        ([1] * 60, "same score, 1"),
        (users.map(scores | {f"p{person}": None for person in range(17)}), "3 people"),
    ):
        with pytest.raises(cg.SettingError, match=words):
            cg.correlate(profile, given)


# ---- tests and effect sizes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(5, 5), (12, 4), (30, 45)])
def test_hedges_g_equals_statsmodels(sizes):
    meta = pytest.importorskip("statsmodels.stats.meta_analysis")
    rng = np.random.default_rng(sizes[0])
    one, other = rng.normal(1000, 2, sizes[0]), rng.normal(1001, 3, sizes[1])
    expected, _ = meta.effectsize_smd(
        one.mean(), one.std(ddof=1), len(one), other.mean(), other.std(ddof=1), len(other)
    )
    assert estimate_differences(one, other, 0)[1].value == pytest.approx(expected, rel=1e-9)


def test_samples_without_variance_count_as_no_effect():
    """One of forty people has a gap."""
    one, other = np.eye(20)[0], np.zeros(20)
    _, effect = estimate_differences(one, other, 0)
    assert effect.value == pytest.approx(0.31, abs=0.01)
    assert effect.low == 0.0
    assert effect.high == pytest.approx(0.57, abs=0.12)


def test_samples_without_variance_count_as_no_correlation():
    """One of 40 people has a gap: samples without this person say nothing, and the interval includes 0."""
    scores = np.random.default_rng(0).normal(size=40)
    frame = pd.DataFrame({"user": range(40), "gaps": (np.arange(40) == np.argmax(scores)) * 1, "score": scores})
    found = cg.correlate(frame, "score").rows
    assert found["rho"][0] > 0.2
    assert found["rho_low"] == [0.0]


def test_no_effect_size_without_variation():
    difference, effect = estimate_differences(np.array([2.0, 2.0]), np.array([1.1, 1.1, 1.1]), 0)
    assert difference.value == pytest.approx(0.9)
    assert np.isnan([difference.low, difference.high, effect.value, effect.low, effect.high]).all()


def test_interval_of_a_difference_is_that_of_a_t_test():
    rng = np.random.default_rng(0)
    one, other = rng.normal(0, 1, 8), rng.normal(0.5, 2, 6)
    difference, effect = estimate_differences(one, other, 0)
    expected = stats.ttest_ind(one, other, equal_var=False).confidence_interval()
    assert (difference.low, difference.high) == pytest.approx(expected)
    assert effect.low < effect.value < effect.high


@pytest.mark.parametrize("counts", [(4, 4), (3, 4), (2, 3, 3)])
def test_permutation_p_equals_all_permutations_of_welchs_statistic(counts):
    oneway = pytest.importorskip("statsmodels.stats.oneway")
    labels = np.repeat(np.arange(len(counts)), counts)
    values = np.random.default_rng(sum(counts)).normal(size=len(labels)) + 0.8 * labels

    def compare(labels):
        groups = [values[labels == group] for group in range(len(counts))]
        return oneway.anova_oneway(groups, use_var="unequal").statistic

    every = [compare(np.array(order)) for order in set(permutations(labels.tolist()))]
    exact = np.mean(np.array(every) >= compare(labels) - 1e-9)
    no_covariates = np.empty((len(labels), 0))
    found = compute_group_p(values[:, None], labels, no_covariates, permutations=20_000, seed=1)
    assert found[0] == pytest.approx(exact, abs=0.01)
    shifted = compute_group_p(values[:, None] + 1e9, labels, no_covariates, permutations=999, seed=1)
    assert shifted[0] == pytest.approx(exact, abs=0.05)


def test_groups_of_unequal_size_and_variance_are_tested_for_their_means():
    """Ten people who vary four times as much as fifty others: 35 % of plain permutation tests find a difference."""
    rng = np.random.default_rng(3)
    labels, empty = np.repeat([0, 1], [10, 50]), np.empty((60, 0))
    values = rng.normal(size=(60, 400)) * np.where(labels == 0, 4, 1)[:, None]
    p_values = compute_group_p(values, labels, empty, permutations=199, seed=0)
    assert np.mean(p_values < 0.05) < 0.09


@pytest.mark.parametrize("size", [3, 5, 10])
def test_intervals_of_effects_of_few_people_agree_with_those_of_differences(size):
    rng = np.random.default_rng(size)
    for _ in range(20):
        difference, effect = estimate_differences(rng.normal(size=size), rng.normal(size=size), 0)
        assert difference.clear == effect.clear
    rho = cg.correlate(pd.DataFrame({"user": range(5), "m": [1, 2, 3, 4, 5]}), [1, 2, 3, 4, 5]).rows
    assert np.isnan(rho["rho_low"]).all()


def test_numbers_of_people_are_those_of_the_tests():
    values = np.where(np.arange(40) < 20, np.nan, 1.0 * np.arange(40))
    values[[0, 1, 2]] = 5.0, 6.0, 7.0
    frame = pd.DataFrame({"user": range(40), "m": values, "n": np.arange(40.0), "condition": [1.0] * 20 + [2.0] * 20})
    found = cg.compare_groups(frame, "condition", reference=2, permutations=99)
    assert "1: 3 to 20 people" in found.methods()
    assert "3 people" in found.answer
    assert found.rows["group"] == ["1", "1"]


def test_styles_and_booleans_can_be_compared(profile):
    with pytest.raises(cg.SettingError, match="'score' of the log"):  # it would be taken for the score of the style
        cg.correlate(profile.styles(5), "score")
    groups = {"group": profile.walks.user_columns["group"]}
    styles = replace(profile, walks=replace(profile.walks, user_columns=groups)).styles(5)
    frame = styles.to_frame()
    assert "score" in cg.compare_groups(styles, "group", permutations=99).rows["measure"]
    flagged = frame.assign(by=1, measures=2, finished=frame["score"] > 0)
    assert "finished" in cg.compare_groups(flagged, "group", permutations=99).rows["measure"]


def test_random_slopes_of_paired_groups():
    pytest.importorskip("statsmodels")
    rng, clear = np.random.default_rng(1), 0
    for _ in range(12):
        frame = pd.DataFrame({"user": np.repeat(np.arange(12), 20), "condition": ["a", "b"] * 120})
        slopes = rng.normal(size=12)[frame["user"]]
        frame["value"] = slopes * (frame["condition"] == "b") + rng.normal(size=240)
        row = cg.compare_groups(frame, "condition", paired=True, mixed_model=True, permutations=99).rows
        clear += row["slope_p"][0] < 0.05
    assert clear <= 3  # without a random slope, a third of them


def test_mixed_model_of_a_measure_that_is_constant_within_people(profile):
    pytest.importorskip("statsmodels")
    frame = profile.to_frame().assign(size=lambda rows: rows["user"].str[1:].astype(float))
    with pytest.warns(UserWarning, match="size"):
        row = cg.correlate(frame, "score", measures=["size"], mixed_model=True).to_dict()["rows"][0]
    assert (row["slope"], row["converged"]) == (None, False)


def test_holm_equals_statsmodels():
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    p_values = np.random.default_rng(0).random(9) ** 2
    adjusted = adjust_holm(np.insert(p_values, 4, np.nan))
    assert np.isnan(adjusted[4])
    np.testing.assert_allclose(np.delete(adjusted, 4), multitest.multipletests(p_values, method="holm")[1])
