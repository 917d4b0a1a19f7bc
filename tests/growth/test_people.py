"""Tables per gap and per person, gap survival, groups and covariates of measured walks."""

from __future__ import annotations

import json

import numpy as np
import pytest
from curiograph.growth.groups import GAP_LIFETIME

import curiograph as cg
from curiograph.cli.output import format_json
from curiograph.graph.toys import cycle, library

WHEEL = cg.Graph.from_edges([*zip("abcd", "bcda", strict=True), *((x, "middle") for x in "abcd"), ("a", "e")])
"""A ring that `middle` fills, and a further node."""


@pytest.fixture(scope="module")
def growths() -> cg.Growths:
    """Sixty walks of twenty people in two groups: seekers maximize gaps, browsers walk at random."""
    graph = cg.generate("er", nodes=30, seed=1)
    rng = np.random.default_rng(0)
    walks, users = [], []
    for person in range(20):
        agent = "greedy" if person % 2 else "random"
        for session in range(1 + person % 5):
            steps, start = int(rng.integers(8, 16)), int(rng.integers(30))
            walks.append(cg.explore(graph, agent, "igt", start, steps, seed=100 * person + session).nodes)
            users.append(f"p{person}")
    columns = {
        "group": {f"p{person}": "seeker" if person % 2 else "browser" for person in range(20)},
        "score": {f"p{person}": person % 2 + 0.1 * person for person in range(20)},
    }
    return cg.measure(graph, cg.human.Trajectories.from_walks(walks, users=users, graph=graph, user_columns=columns))


# ---- tables ---------------------------------------------------------------------------------------------------------


def test_gaps_have_a_lifetime_and_a_censored_flag():
    growth = cg.measure(WHEEL, ["a", "b", "c", "d", "middle", "e"])
    (row,) = growth.gaps_frame().to_dict("records")
    assert row == {
        "user": 0, "session": 1, "dim": 1, "opened_by": "d", "closed_by": "middle",
        "opened_at": 4, "closed_at": 5, "lifetime": 1, "censored": False,
    }  # fmt: skip
    (row,) = cg.measure(WHEEL, ["a", "b", "c", "d", "e"]).gaps_frame().to_dict("records")
    assert (row["closed_by"], row["closed_at"], row["lifetime"], row["censored"]) == (None, None, 1, True)


def test_gaps_of_many_walks_equal_those_of_single_walks(growths):
    frame = growths.gaps_frame()
    assert list(frame.columns)[:5] == ["user", "group", "score", "session", "walk"]
    assert len(frame) == sum(len(growth.gaps) for growth in growths)
    assert 0 < frame["censored"].sum() < len(frame)
    for number, growth in enumerate(growths):
        rows = frame[frame["walk"] == number].drop(columns=["walk", "group", "score"])
        alone = growth.gaps_frame()
        assert rows.astype(object).where(rows.notna(), None).values.tolist() == (
            alone.astype(object).where(alone.notna(), None).values.tolist()
        )
    part = growths[5:30:4].gaps_frame()
    assert part["walk"].max() < 7
    assert part["lifetime"].tolist() == [
        lifetime for number in range(5, 30, 4) for lifetime in frame[frame["walk"] == number]["lifetime"]
    ]


def test_frame_with_closed_nodes_of_any_label():
    assert cg.measure(cg.toys.grid(2, 2), [[(0, 0), (0, 1), (1, 1), (1, 0)]]).gaps_frame()["opened_by"][0] == (1, 0)


def test_values_per_user_are_means_over_walks(growths):
    frame = growths.per_user()
    people = sorted(range(20), key=str)
    assert frame["user"].tolist() == [f"p{person}" for person in people]
    assert frame["group"].tolist() == [["browser", "seeker"][person % 2] for person in people]
    assert frame["walks"].tolist() == frame["sessions"].tolist() == [1 + person % 5 for person in people]
    mine = [growth for growth in growths if growth.user == "p3"]
    row = frame.set_index("user").loc["p3"]
    assert row["nodes"] == np.mean([len(growth) for growth in mine])
    assert row["beta1"] == np.mean([growth.beta1[-1] for growth in mine])
    assert row["mean_beta1"] == pytest.approx(np.mean([growth.beta1.mean() for growth in mine]))
    assert row["compressibility"] == pytest.approx(np.mean([growth.compressibility[-1] for growth in mine]))
    assert row["conformable"] == np.mean([growth.conformable[-1] for growth in mine])
    assert row["mean_conformable"] == pytest.approx(np.mean([growth.conformable.mean() for growth in mine]))
    assert row["dimension"] == np.mean([growth.dimension[-1] for growth in mine])
    assert row["freedom"] == np.mean([growth.freedom[-1] for growth in mine])
    assert row["opened"] == np.mean([len(growth.gaps) for growth in mine])
    assert row["closed"] == np.mean([sum(gap.closed_at is not None for gap in growth.gaps) for growth in mine])
    assert row["opened"] - row["closed"] == row["beta1"]


def test_user_column_with_the_name_of_a_measure_is_refused():
    walks = cg.human.Trajectories.from_walks([[0, 1]], users=["a"], graph=cycle(4), user_columns={"nodes": {"a": 1}})
    with pytest.raises(cg.SettingError, match="column 'nodes' of the users is also a column of this table"):
        cg.measure(cycle(4), walks).per_user()


def test_conformable_degrees_of_freedom_are_compared_on_request(growths):
    groups, measures = ["browser", "seeker"], ["conformable", "mean_conformable", "dimension"]
    found = cg.compare_groups(growths, "group", measures=measures, permutations=99)
    assert list(found) == measures
    assert list(found.curves) == ["beta1", "compressibility", "conformable"]
    assert found.curves["conformable"]["seeker"].mean[0] == 0
    assert "conformable degrees of freedom" in [ax.get_ylabel() for ax in found.plot().axes]
    assert list(cg.compare_groups(growths, "group", permutations=99).curves) == ["beta1", "compressibility"]
    assert found.groups == groups
    scores = {user: number for number, user in enumerate(sorted(set(growths.users)))}
    assert list(cg.correlate_growth(growths, scores, measures=["conformable"], permutations=99)) == ["conformable"]


# ---- survival -------------------------------------------------------------------------------------------------------


def test_survival_uses_open_gaps(growths):
    survival = growths.gap_survival(horizon=6, seed=1)
    frame = growths.gaps_frame()
    assert (survival.gaps, survival.closed) == (len(frame), int((~frame["censored"]).sum()))
    duration = pytest.importorskip("statsmodels.duration.survfunc")
    oracle = duration.SurvfuncRight(frame["lifetime"].to_numpy(), (~frame["censored"]).to_numpy().astype(int))
    np.testing.assert_allclose(survival.curve.survival[oracle.surv_times.astype(int)], oracle.surv_prob)
    closed_only = frame[~frame["censored"]]["lifetime"].clip(upper=6).mean()
    assert survival.restricted_mean.value > closed_only  # the mean of closed gaps is too small
    assert survival.interval == "bootstrap over 20 people"
    table = survival.to_frame()
    assert (table["survival_low"] <= table["survival"]).all()
    assert (table["survival"] <= table["survival_high"]).all()
    assert growths.gap_survival(horizon=6, seed=1).to_dict() == survival.to_dict()
    assert json.loads(format_json(survival.to_dict()))["horizon"] == 6


def test_survival_of_one_person_says_that_gaps_are_independent(growths):
    assert "Greenwood" in growths[-1:].gap_survival().interval


def test_survival_needs_gaps():
    with pytest.raises(cg.WalkError, match="opened no gap"):
        cg.measure(cycle(5), [[0, 1], [2, 3]]).gap_survival()
    with pytest.raises(cg.SettingError, match="horizon is 99"):
        cg.measure(WHEEL, [[*"abcd", "middle"]]).gap_survival(horizon=99)


# ---- groups ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compared(growths) -> cg.GroupComparison:
    return cg.compare_groups(growths, "group", seed=3)


def test_groups_that_differ_in_gaps_are_found(compared):
    assert compared.groups == ["browser", "seeker"]
    assert compared["beta1"].p_adjusted < 0.01 < compared["nodes"].p_value
    (pair,) = compared["beta1"].differences
    assert pair.difference.high < 0
    assert pair.effect.high < 0
    assert "differ in beta1" in compared.answer


def test_means_are_over_people_not_walks(growths, compared):
    people = growths.per_user()
    for group in ("browser", "seeker"):
        mine = people[people["group"] == group]["beta1"]
        assert compared["beta1"].means[group].value == pytest.approx(mine.mean())
    walk_mean = np.mean([growth.beta1[-1] for growth in growths if int(growth.user[1:]) % 2])
    assert compared["beta1"].means["seeker"].value != pytest.approx(walk_mean)


def test_repeating_walks_of_people_does_not_change_the_test(growths):
    """Ten copies of every walk are no more evidence: only people are independent."""
    graph = growths.graph
    walks = [growth.nodes for growth in growths]
    once = cg.compare_groups(cg.measure(graph, walks), [n % 2 for n in range(len(walks))], measures=["beta1"])
    again = cg.human.Trajectories.from_walks(walks * 10, users=list(range(len(walks))) * 10, graph=graph)
    often = cg.compare_groups(cg.measure(graph, again), [n % 2 for n in range(len(walks))], measures=["beta1"])
    assert often["beta1"].p_value == once["beta1"].p_value
    assert often["beta1"].differences[0].effect.low == pytest.approx(once["beta1"].differences[0].effect.low)


def test_all_ways_to_give_groups_are_equal(growths, compared):
    by_user = dict(growths.user_columns["group"])
    assert cg.compare_groups(growths, by_user, seed=3).to_dict() == compared.to_dict()
    walks = cg.measure(growths.graph, [growth.nodes for growth in growths])  # without users
    groups = [by_user[user] for user in growths.users]
    by_list, by_number = (
        cg.compare_groups(walks, given, permutations=9) for given in (groups, dict(enumerate(groups)))
    )
    assert by_list.to_dict() == by_number.to_dict()


def test_table_and_document_are_tidy(compared):
    frame = compared.to_frame()
    assert frame["measure"].tolist() == ["nodes", "beta1", "compressibility", GAP_LIFETIME]
    assert (frame["p_holm"] >= frame["p"]).all()
    document = json.loads(format_json(compared.to_dict()))
    assert {row["group"] for row in document["people"]} == {"browser", "seeker"}
    assert len(document["people"]) == 20
    assert {(curve["measure"], curve["group"]) for curve in document["curves"]} == {
        (measure, group) for measure in ("beta1", "compressibility") for group in ("browser", "seeker")
    }
    assert [curve["step"][0] for curve in document["curves"]] == [1] * 4
    assert len(compared.per_user()) == 20


def test_curves_are_means_of_the_people_who_reach_a_step(growths, compared):
    curve = compared.curves["beta1"]["browser"]
    values = []
    for person in range(0, 20, 2):
        reached = [growth.beta1[9] for growth in growths if growth.user == f"p{person}" and len(growth) > 9]
        values += [np.mean(reached)] if reached else []
    assert curve.people[9] == len(values)
    assert curve.mean[9] == pytest.approx(np.mean(values))
    assert curve.low[9] <= curve.mean[9] <= curve.high[9]
    assert curve.people[-1] >= 2


def test_lifetimes_are_compared_at_a_common_horizon(growths, compared):
    lives = compared.survival
    assert lives["browser"].horizon == lives["seeker"].horizon
    for group, survival in lives.items():
        assert compared[GAP_LIFETIME].means[group].value == pytest.approx(survival.restricted_mean.value)
    frame = growths.gaps_frame()
    assert lives["seeker"].gaps == (frame["group"] == "seeker").sum()
    (pair,) = compared[GAP_LIFETIME].differences
    assert np.isnan(pair.effect.value)


def test_walks_can_be_cut_to_the_same_length(growths):
    found = cg.compare_groups(growths, "group", steps=10, measures=["nodes", "beta1", "opened", "closed"])
    long = [growth for growth in growths if len(growth) >= 10]
    assert found.short_walks == len(growths) - len(long)
    seekers = {}
    for growth in long:
        if growths.user_columns["group"][growth.user] == "seeker":
            seekers.setdefault(growth.user, []).append(growth.beta1[9])
    assert found["beta1"].means["seeker"].value == pytest.approx(np.mean([np.mean(v) for v in seekers.values()]))
    means = {name: found[name].means["seeker"].value for name in found}
    assert means["nodes"] == 10
    assert means["opened"] - means["closed"] == pytest.approx(means["beta1"])
    assert np.isnan(found["nodes"].p_value)  # all people have the same value: nothing is tested
    assert "nodes" not in cg.compare_groups(growths, "group", steps=10)


def test_three_groups(growths):
    groups = {f"p{person}": f"g{person % 3}" for person in range(20)} | {"p0": None, "p5": float("nan"), "p7": " "}
    found = cg.compare_groups(growths, groups, permutations=199)
    assert found.without_group == ["p0", "p5", "p7"]
    assert sum(map(len, found.people.values())) == 17
    pairs = [(pair.group, pair.other) for pair in found["beta1"].differences]
    assert pairs == [("g0", "g1"), ("g0", "g2"), ("g1", "g2")]
    assert len(found.to_frame()) == 3 * len(found)
    found.plot().draw_without_rendering()


def test_people_without_walks_of_the_length_are_left_out_of_groups_given_as_a_list():
    growths = cg.measure(cycle(6), [[0, 1], [0, 1, 2], [0, 1, 2], [1, 2, 3], [2, 3, 4]])
    found = cg.compare_groups(growths, ["a", "a", "b", "a", "b"], steps=3, measures=["edges"])
    assert found.people == {"a": [1, 3], "b": [2, 4]}
    with pytest.raises(cg.SettingError, match="groups has 2 entries, but there are 5 walks; give one per walk"):
        cg.compare_groups(growths, ["a", "b"])


def test_without_compressibility_and_without_gaps():
    growths = cg.measure(cycle(6), [[0, 1], [0, 1, 2], [0, 1, 2], [1, 2, 3]], compressibility=False)
    found = cg.compare_groups(growths, ["a", "a", "b", "b"])
    assert list(found) == ["nodes", "beta1"]
    assert (list(found.curves), found.survival) == (["beta1"], {})
    found.plot("single").draw_without_rendering()
    with pytest.raises(cg.WalkError, match="compressibility was not computed"):
        cg.compare_groups(growths, ["a", "a", "b", "b"], measures=["compressibility"])
    with pytest.raises(cg.WalkError, match="opened no gaps"):
        cg.compare_groups(growths, ["a", "a", "b", "b"], measures=[GAP_LIFETIME])


@pytest.mark.parametrize(
    ("groups", "error", "words"),
    [
        ("condition", cg.UnknownNameError, "no user column 'condition'; the columns are group, score.*keep="),
        ({"p0": "a"}, cg.SettingError, "no entry for 19 of 20 users, such as 'p1'"),
        (["a", "b"], cg.SettingError, "groups is a list, but users have names, such as 'p0'"),
        ({f"p{n}": "a" for n in range(20)}, cg.SettingError, "1 groups"),
        ({f"p{n}": "b" if n == 3 else "a" for n in range(20)}, cg.SettingError, "fewer than 2 people .a: 19, b: 1."),
        (7, cg.SettingError, "groups is 7"),
    ],
)
def test_bad_groups(growths, groups, error, words):
    with pytest.raises(error, match=words):
        cg.compare_groups(growths, groups)


def test_a_score_is_no_group():
    growths = cg.measure(cycle(30), [[n, (n + 1) % 30] for n in range(30)])
    with pytest.raises(cg.SettingError, match=r"30 distinct values.*correlate_growth"):
        cg.compare_groups(growths, np.linspace(0, 1, 30).tolist())


@pytest.mark.parametrize("call", [cg.compare_groups, cg.correlate_growth])
def test_bad_arguments(growths, call):
    with pytest.raises(cg.UnknownNameError, match="no measure 'gap'; the measures are nodes"):
        call(growths, "group" if call is cg.compare_groups else "score", measures=["gap"])
    with pytest.raises(cg.SettingError, match="give a list of measures"):
        call(growths, "group" if call is cg.compare_groups else "score", measures="beta1")
    with pytest.raises(cg.SettingError, match="permutations is 0"):
        call(growths, "score", permutations=0)
    with pytest.raises(cg.WalkError, match="no walk has 99 nodes"):
        call(growths, "score", steps=99)
    with pytest.raises(cg.SettingError, match="give the result of measure"):
        call([1, 2], "group")


# ---- covariates -----------------------------------------------------------------------------------------------------


def test_correlation_with_a_score(growths):
    stats = pytest.importorskip("scipy.stats")
    found = cg.correlate_growth(growths, "score", seed=1)
    people = growths.per_user()
    expected = stats.spearmanr(people["score"], people["beta1"])
    assert found["beta1"].rho.value == pytest.approx(expected.statistic)
    assert found["beta1"].p_value == pytest.approx(expected.pvalue, abs=0.01)
    assert found["beta1"].slope is None
    assert list(found) == ["nodes", "beta1", "compressibility"]
    assert found.to_frame()["covariate"].tolist() == ["score"] * 3
    assert cg.correlate_growth(growths, "score", seed=1).to_dict() == found.to_dict()
    found.plot().figure.draw_without_rendering()


def test_mixed_model_equals_statsmodels(growths):
    formula = pytest.importorskip("statsmodels.formula.api")
    found = cg.correlate_growth(growths, "score", measures=["beta1"], mixed_model=True)["beta1"].slope
    walks = growths.to_frame().groupby("walk").last()
    model = formula.mixedlm("beta1 ~ score", walks, groups=walks["user"]).fit(method="powell")
    assert found.has_random_intercept
    assert found.converged
    assert found.value.value == pytest.approx(model.params["score"], rel=1e-3)
    assert (found.value.low, found.value.high) == pytest.approx(tuple(model.conf_int().loc["score"]), rel=1e-2)


def test_one_walk_per_person_has_no_random_intercept(growths):
    formula = pytest.importorskip("statsmodels.formula.api")
    single = growths[:: len(growths) // 8]
    scores = list(range(len(set(single.users))))
    by_user = dict(zip(single.users, scores, strict=True))
    found = cg.correlate_growth(single, by_user, measures=["beta1"], mixed_model=True)["beta1"].slope
    walks = single.to_frame().groupby("walk").last().assign(score=scores)
    model = formula.ols("beta1 ~ score", walks).fit()
    assert not found.has_random_intercept
    assert found.value.value == pytest.approx(model.params["score"])
    assert found.p_value == pytest.approx(model.pvalues["score"])


def test_scores_may_be_text_and_missing(growths):
    scores = {f"p{person}": str(person) for person in range(20)} | {"p4": "", "p9": None}
    found = cg.correlate_growth(growths, scores)
    assert (len(found.users), found.without_score) == (18, ["p4", "p9"])
    with pytest.raises(cg.SettingError, match="is 'browser'; give numbers, or use compare_groups"):
        cg.correlate_growth(growths, "group")
    with pytest.raises(cg.SettingError, match="all people have the same score, 1"):
        cg.correlate_growth(growths, {f"p{person}": 1 for person in range(20)})
    with pytest.raises(cg.SettingError, match="3 people have a number"):
        cg.correlate_growth(growths, scores | {f"p{person}": None for person in range(17)})


# ---- motives --------------------------------------------------------------------------------------------------------


def test_motives_per_user():
    graph = library()
    walks = [
        cg.explore(graph, "greedy", "cpt", start, 6, seed=seed).nodes for seed in range(4) for start in graph.labels
    ]
    users = [f"u{number % 6}" for number in range(len(walks))]
    people = cg.human.Trajectories.from_walks(
        walks, users=users, graph=graph, user_columns={"group": {f"u{n}": "ab"[n % 2] for n in range(6)}}
    )
    found = cg.human.hypotheses(graph, people, motives=["uniform", "cpt", "degree"], burn_in=2)
    frame = found.per_user()
    assert len(frame) == 6 * 3
    assert frame.columns.tolist() == ["user", "group", "motive", "choices", "gain", "gain_low", "gain_high", "weight"]
    rows = frame[frame["motive"] == "cpt"].set_index("user")
    assert (rows["gain"] * rows["choices"]).sum() / rows["choices"].sum() == pytest.approx(found["cpt"].gain.value)
    assert ((rows["gain_low"] < rows["gain"]) & (rows["gain"] < rows["gain_high"])).all()
    np.testing.assert_allclose(frame.groupby("user")["weight"].sum(), 1)
    uniform = frame[frame["motive"] == "uniform"]
    assert (uniform[["gain", "gain_low", "gain_high"]] == 0).all(axis=None)
    ratio = rows["weight"] / uniform.set_index("user")["weight"]
    np.testing.assert_allclose(np.log2(ratio), rows["gain"] * rows["choices"])
    assert {row["user"] for row in found.to_dict()["per_user"]} == set(users)


# ---- series, order of rows ------------------------------------------------------------------------------------------


def test_a_series_is_read_by_its_index(growths, compared):
    pandas = pytest.importorskip("pandas")
    for column, call in (("group", cg.compare_groups), ("score", cg.correlate_growth)):
        by_user = dict(growths.user_columns[column])
        shuffled = pandas.Series(by_user).sample(frac=1, random_state=3)
        assert list(shuffled.index) != list(by_user)
        found = call(growths, shuffled, permutations=99)
        assert format_json(found.to_dict()) == format_json(call(growths, by_user, permutations=99).to_dict())
        with pytest.raises(cg.SettingError, match="index contains none of the users, such as 'p0'; give a series"):
            call(growths, pandas.Series(list(by_user.values())))
        with pytest.raises(cg.SettingError, match="21 entries, but its index has only 20 distinct values"):
            call(growths, pandas.concat([shuffled, shuffled[:1]]))
        with pytest.raises(cg.SettingError, match=r"is a data frame; give dict\(zip\(frame.user"):
            call(growths, shuffled.to_frame())
    groups = pandas.Series(growths.user_columns["group"], dtype="string")
    groups["p0"] = pandas.NA
    assert cg.compare_groups(growths, groups, permutations=9).without_group == ["p0"]


def test_numbers_for_users_that_are_text():
    walks = cg.human.Trajectories.from_walks([[0, 1], [1, 2]], users=["0", "1"], graph=cycle(4))
    with pytest.raises(cg.SettingError, match="users of a csv are text; give '0' instead of 0"):
        cg.compare_groups(cg.measure(cycle(4), walks), {0: "x", 1: "y"})
    series = pytest.importorskip("pandas").Series(["x", "y"])
    with pytest.raises(cg.SettingError, match="users of a csv are text; give '0' instead of 0"):
        cg.compare_groups(cg.measure(cycle(4), walks), series)
    with pytest.raises(cg.SettingError, match=r"leave the user out\.$"):
        cg.compare_groups(cg.measure(cycle(4), walks), {"x": "x"})


def test_results_do_not_depend_on_the_order_of_the_log(growths, tmp_path):
    rows = []
    for number, growth in enumerate(growths):
        person = int(growth.user[1:])
        times = range(100 * number, 100 * number + len(growth))
        for node, time in zip(growth.nodes, times, strict=True):
            rows.append(f"{growth.user},{number},{node},{time},{'ab'[person % 2]},{person}\n")
    rng = np.random.default_rng(5)
    found = []
    for order in (np.arange(len(rows)), rng.permutation(len(rows))):
        file = tmp_path / "log.csv"
        file.write_text("user,session,node,time,group,score\n" + "".join(rows[row] for row in order))
        walks = cg.human.read_trajectories(file, keep=["group", "score"], graph=growths.graph).walks
        measured = cg.measure(growths.graph, walks.on(growths.graph))
        results = (
            cg.compare_groups(measured, "group", permutations=199),
            cg.correlate_growth(measured, "score", permutations=199),
            measured.gap_survival(),
        )
        found.append(
            [measured.per_user().to_csv(), measured.users, *(format_json(result.to_dict()) for result in results)]
        )
    assert found[0][1] != found[1][1]
    del found[0][1], found[1][1]
    assert found[0] == found[1]


def test_only_tested_measures_are_counted():
    growths = cg.measure(cycle(6), [[0, 1], [0, 1, 2], [0, 1, 2, 3], [1, 2, 3]], compressibility=False)
    found = cg.compare_groups(growths, ["a", "a", "b", "b"])
    assert np.isnan(found["beta1"].p_value)
    assert "adjusted for 1 measure." in found.answer
