"""Weights over several motives: the conditional logit against other libraries, and weights of simulated people."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_softmax

import curiograph as cg
from curiograph.bootstrap import NO_ESTIMATE, Estimate
from curiograph.human.choices.choice_sets import find_choices
from curiograph.human.motives.catalog import MOTIVES, as_motives
from curiograph.human.motives.logit import ChoiceLogit, center_features, fit_population
from curiograph.human.motives.weights import compute_inflations, describe_collinear
from curiograph.human.trajectories import Trajectories
from support.people import follow_agent
from support.people_choices import simulate_choices

GRAPH = cg.generate("ba", nodes=50, seed=1)


def test_common_weights_match_statsmodels():
    logit = pytest.importorskip("statsmodels.discrete.conditional_models").ConditionalLogit
    data, _ = simulate_choices(0, 30, 6, 5, (0.7, -0.4, 0.1), (0.3, 0.3, 0.3))
    choice_of = np.repeat(np.arange(len(data.chosen)), np.diff(data.offsets))
    is_chosen = np.zeros(len(data.features))
    is_chosen[data.chosen] = 1
    wanted = logit(is_chosen, data.features, groups=choice_of).fit(method="newton", maxiter=50, disp=0, tol=1e-12)
    assert data.fit_common(prior_scale=np.inf) == pytest.approx(wanted.params, abs=1e-6)
    pooled = replace(data, bounds=np.array([0, len(data.chosen)]))
    value, _, information = pooled.expand(wanted.params[None, :])
    assert value[0] == pytest.approx(wanted.llf, abs=1e-6)
    assert np.sqrt(np.diagonal(np.linalg.inv(information[0]))) == pytest.approx(wanted.bse, abs=1e-6)


def test_kernels_match_the_definition():
    data, weights = simulate_choices(1, 4, 3, 6, (0.7, -0.4), (1.0, 1.0))
    values, gradients, information = data.expand(weights)
    step = 1e-5
    for person in range(4):

        def compute(point, person=person):
            total = 0.0
            for choice in range(data.bounds[person], data.bounds[person + 1]):
                rows = slice(data.offsets[choice], data.offsets[choice + 1])
                total += log_softmax(data.features[rows] @ point)[data.chosen[choice] - rows.start]
            return total

        assert values[person] == pytest.approx(compute(weights[person]))
        for axis in np.eye(2):
            change = compute(weights[person] + step * axis) - compute(weights[person] - step * axis)
            assert gradients[person] @ axis == pytest.approx(change / (2 * step), abs=1e-5)
    moved = (
        data.expand(weights + step * np.array([1.0, 0.0]))[1] - data.expand(weights - step * np.array([1.0, 0.0]))[1]
    )
    assert information[:, 0] == pytest.approx(-moved / (2 * step), abs=1e-4)
    assert data.evaluate(weights[:, None, :])[:, 0] == pytest.approx(values)
    by_choice = data.evaluate_choices(weights)
    assert np.add.reduceat(by_choice, data.bounds[:-1]) == pytest.approx(values)
    huge = data.evaluate(1e4 * weights[:, None, :])
    assert np.all(np.isfinite(huge))


def test_choices_are_sorted_and_selected_by_person():
    features = np.arange(14.0)[:, None]
    data = ChoiceLogit.from_choices(features, [0, 2, 5, 9, 14], [1, 2, 8, 9], [1, 0, 1, 0])
    assert data.features[data.chosen, 0].tolist() == [2, 9, 1, 8]
    assert data.bounds.tolist() == [0, 2, 4]
    second = data.select_people(np.array([1]))
    assert (second.features[second.chosen, 0].tolist(), second.bounds.tolist()) == ([1, 8], [0, 2])
    one = data.select_choices(np.array([3]))
    assert (one.features[one.chosen, 0].tolist(), one.bounds.tolist()) == ([8], [0, 0, 1])


def test_features_of_every_motive_are_finite_and_keep_the_order():
    walks = follow_agent(GRAPH, "greedy", "igt", 0.7, walks=40)
    choices, _ = find_choices(GRAPH, walks)
    for motive in as_motives(list(MOTIVES), ["min-degree", "igt-rg"], "igt", choices):
        fitted = motive.fit(choices)
        scores = fitted.score_candidates(choices)
        features = fitted.compute_features(choices, scores)
        assert np.all(np.isfinite(features)), motive.name
        if motive.name != "markov":  # without popularity
            order = np.argsort(scores, kind="stable")
            assert np.all(np.diff(features[order]) >= -1e-9), motive.name
        centered, scale = center_features(features, choices.candidates)
        assert np.add.reduceat(centered, choices.candidates.offsets[:-1]) == pytest.approx(0, abs=1e-9)
        assert (scale > 1e-9) == (motive.name not in ("uniform", "novelty", "surprise", "recency"))  # without returns


@pytest.fixture(scope="module")
def followers():
    """Forty people, half of whom seek hubs and half of whom avoid them."""
    lists, users = [], []
    for person in range(40):
        agent = "max-degree" if person % 2 else "min-degree"
        walks = follow_agent(GRAPH, agent, "igt", 0.8, walks=5, seed=person)
        lists += list(walks)
        users += [f"{agent} {person}"] * len(walks)
    return Trajectories.from_walks(lists, users=users, graph=GRAPH)


@pytest.fixture(scope="module")
def found(followers):
    return cg.human.hypotheses(GRAPH, followers, motives=["uniform", "degree", "igt", "markov"], weights=True)


def test_weights_tell_people_apart(found):
    degree = found["degree"]
    assert degree.spread.low > 0.3
    assert degree.reliability > 0.8
    assert degree.weight.low < 0 < degree.weight.high
    frame = found.per_user()
    own = frame[frame.motive == "degree"].set_index("user")
    assert all((row.weight > 0) == user.startswith("max") for user, row in own.iterrows())
    assert np.all(own.weight_low < own.weight)
    assert found.people[:, list(found).index("degree")].tolist() == own.weight.tolist()
    assert found.personal.low > 0  # people differ, so that common weights explain little
    assert " All motives together explain choices " in found.answer
    assert all(math.isnan(value) for value in (found["uniform"].weight.value, found["uniform"].unit))
    assert frame[frame.motive == "uniform"].weight.isna().all()


def test_results_are_tables_documents_and_figures(found):
    assert found.to_frame()["motive"].tolist() == list(found)
    assert set(found.columns()) >= {"weight", "weight_low", "spread", "alone", "adds_high", "inflation", "reliability"}
    document = json.loads(json.dumps(found.to_dict()))
    assert len(document["per_user"]) == 4 * 40
    assert [row["motive"] for row in document["rows"]] == list(found)
    assert document["together"]["value"] == found.together.value
    figure = found.plot()
    assert [ax.get_xlabel().split()[0] for ax in figure.axes] == ["bits", "share", "weight", "bits"]
    assert len(figure.axes[2].lines) == 4 + 4 + 1  # intervals, dots of people, and zero
    assert "<table" in found._repr_html_()


def test_everything_else_stays_the_same(followers, found):
    plain = cg.human.hypotheses(GRAPH, followers, motives=["uniform", "degree", "igt", "markov"])
    assert plain.people is None
    assert plain.together is plain["degree"].weight is NO_ESTIMATE
    assert found.answer.startswith(plain.answer)
    assert len(plain.plot().axes) == 2
    for before, after in ((plain.to_frame(), found.to_frame()), (plain.per_user(), found.per_user())):
        pd.testing.assert_frame_equal(before, after[before.columns])


def test_collinear_motives_are_named(followers):
    agents = ["max-degree", "min-degree"]
    with pytest.warns(UserWarning, match="nearly the same here"):
        found = cg.human.hypotheses(GRAPH, followers[:60], motives=["degree"], agents=agents, weights=True)
    pairs = [remark for remark in found.remarks if "correlation" in remark]
    assert [remark.partition(" here")[0] for remark in pairs] == [
        "degree and max-degree are nearly the same",
        "degree and min-degree are nearly opposite",
        "max-degree and min-degree are nearly opposite",
    ]
    assert "(correlation 1.00): do not interpret" in pairs[0]
    assert all(remark in found.answer for remark in found.remarks)
    assert found.to_dict()["remarks"] == found.remarks
    assert np.all(np.isfinite(found.people))


def test_motives_that_others_determine_together_are_named():
    rng = np.random.default_rng(0)
    a, b, c, noise, e = rng.normal(size=(5, 1000))
    features = np.column_stack([a, b, c, a + b + c + 0.2 * noise, e])
    correlations = np.corrcoef(features, rowvar=False)
    inflations = compute_inflations(correlations)
    wanted = [1 / (1 - np.corrcoef(y, fit_others(features, n))[0, 1] ** 2) for n, y in enumerate(features.T)]
    assert inflations == pytest.approx(wanted, rel=1e-3)
    (remark,) = describe_collinear("abcde", correlations, inflations)
    assert remark.startswith("The other motives together nearly determine a and b and c and d")
    remarks = describe_collinear("xy", np.array([[1, -0.91], [-0.91, 1]]), [99, 99])
    assert remarks == [
        "x and y are nearly opposite here (correlation -0.91): do not interpret their weights one by one."
    ]
    assert describe_collinear("xy", np.array([[1, 0.9], [0.9, 1]]), [5, 5]) == []


def fit_others(features, column):
    others = np.delete(features, column, axis=1) - np.delete(features, column, axis=1).mean(axis=0)
    return others @ np.linalg.lstsq(others, features[:, column] - features[:, column].mean(), rcond=None)[0]


def test_intervals_include_the_uncertainty_of_parameters(followers):
    names = ["degree", "learned-graph"]
    found = cg.human.hypotheses(GRAPH, followers, motives=names, weights=True)
    choices, _ = find_choices(GRAPH, followers, 3)
    columns = []
    for motive in as_motives(names, [], "igt", choices):
        scores = motive.score_candidates(choices, found[motive.name].parameter)
        centered, scale = center_features(motive.compute_features(choices, scores), choices.candidates)
        columns.append(centered / scale)
    people = np.unique(choices.windows.users, return_inverse=True)[1]
    data = ChoiceLogit.from_choices(np.column_stack(columns), choices.candidates.offsets, choices.chosen, people)
    known = fit_population(data, data.fit_common())  # as if the parameter were known
    weight, place = found["learned-graph"].weight, list(found).index("learned-graph")
    assert weight.value == pytest.approx(known.mean[1].value)
    assert weight.high - weight.low > 1.02 * (known.mean[1].high - known.mean[1].low)
    assert np.all(found.people_high[:, place] > known.people_high[:, 1])
    assert 0.2 < found["learned-graph"].parameter < 0.95


def test_uniform_alone_has_no_weights(followers):
    with pytest.raises(cg.errors.WalkError, match="no motive distinguishes between the candidates"):
        cg.human.hypotheses(GRAPH, followers[:60], motives=["uniform"], weights=True)


def test_weights_need_ten_people(followers):
    two = followers[:10]
    with pytest.raises(cg.errors.WalkError, match="by 2 users"):
        cg.human.hypotheses(GRAPH, two, motives=["degree"], weights=True)


def test_losses_are_called_worse(found):
    below = Estimate(value=-0.1, low=-0.3, high=0.2)
    answer = replace(found, together=below, personal=below).answer
    assert "explain choices 0.1 (-0.2 to 0.3) bits worse than chance." in answer
    assert "Weights of the person explain choices 0.1 (-0.2 to 0.3) bits worse than weights that all" in answer
