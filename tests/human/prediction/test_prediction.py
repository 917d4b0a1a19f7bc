"""`predict`: resuming, reproducibility, results and errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import curiograph as cg
from curiograph.errors import JobStopped, SettingError, UnknownNameError, WalkError
from curiograph.human.prediction.methods import ALL_WITH_CURIOSITY, ALL_WITHOUT_CURIOSITY
from curiograph.human.prediction.outcomes import Outcome
from curiograph.human.prediction.predict import predict
from support import people
from support.people import SMALL


@pytest.fixture(scope="module")
def found():
    return predict(people.walkers(), effort=SMALL, engine=cg.Engine(workers=1))


def test_interrupted_prediction_resumes_with_the_same_result_in_two_processes(found, tmp_path):
    def interrupt(message, share=None):
        if "fits-last: 1 of 2" in message:
            raise KeyboardInterrupt

    with pytest.raises(JobStopped, match=str(tmp_path)):
        predict(people.walkers(), effort=SMALL, engine=cg.Engine(workers=1, run=tmp_path), progress=interrupt)
    again = predict(people.walkers(), effort=SMALL, engine=cg.Engine(workers=2, run=tmp_path))
    assert again.to_dict() == found.to_dict()
    assert all(again["last"][method].tobytes() == found["last"][method].tobytes() for method in found["last"])


def test_trained_walkers_are_kept_and_differ_from_greedy_ones(found, tmp_path):
    settings = {"walkers": "trained", "effort": SMALL, "engine": cg.Engine(workers=1, run=tmp_path)}
    trained = predict(people.walkers(), **settings)
    assert set(trained["last"]) - set(found["last"]) == {f"trained {theory}" for theory in ("igt", "cpt", "igt+cpt")}
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("agent-*/agent.safetensors")}
    assert len(kept) == 2
    assert predict(people.walkers(), **settings).to_dict() == trained.to_dict()
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


def test_result_has_all_methods_a_frame_an_answer_and_a_plot(found):
    outcome = found["last"]
    for method in ("uniform", "markov", "igt", "cpt", "igt+cpt", "memory", ALL_WITH_CURIOSITY, ALL_WITHOUT_CURIOSITY):
        assert 0 <= outcome.mean(method)["percentile"] <= 1
    assert outcome.mean("uniform")["percentile"] == pytest.approx(0.5, abs=1e-6)
    assert outcome.improvement("pagerank").value == 0
    assert len(outcome.fits["igt+cpt"]) == 2
    assert len(found.to_frame()) == 2 * len(outcome)
    assert "igt+cpt changes percentile ranks" in found.answer
    assert {text.get_text() for text in found.plot().axes[0].get_yticklabels()} == set(outcome)
    with pytest.raises(UnknownNameError, match="'pagrank'"):
        outcome["pagrank"]


def test_improvement_and_interval_of_constant_ranks():
    ranks = {"pagerank": np.full((4, 2, 4), 0.5, np.float32), "igt+cpt": np.full((4, 2, 4), 0.6, np.float32)}
    for table in ranks.values():
        table[:, 0, 2:] = np.nan  # split 0 tests the first two choices, split 1 the others
        table[:, 1, :2] = np.nan
    r = Outcome("last", np.array([0, 0, 1, 2]), ranks, {}, 0).improvement("igt+cpt")
    assert (round(r.value, 6), r.spread, round(r.low, 6), round(r.high, 6)) == (0.2, 0.0, 0.2, 0.2)
    assert r.clear


@pytest.mark.parametrize(
    ("change", "error", "value"),
    [
        ({"walkers": {"igt": "greedy"}}, UnknownNameError, "'igt'"),
        ({"walkers": "curious"}, UnknownNameError, "'curious'"),
        ({"effort": {"splits": 0}}, SettingError, "0"),
        ({"effort": {"steps": 0}}, SettingError, "steps is 0"),
        ({"effort": {"walkers": 0}}, SettingError, "walkers is 0"),
        ({"data": "wikispedia"}, UnknownNameError, "'wikispedia'"),
    ],
)
def test_invalid_input_raises(change, error, value):
    with pytest.raises(error, match=value):
        predict(
            change.get("data", people.walkers()),
            walkers=change.get("walkers", "greedy"),
            effort=replace(SMALL, **change.get("effort", {})),
        )


def test_too_few_users_or_choices_raise():
    graph = cg.Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d")])
    walks = cg.human.Trajectories.from_walks([["a", "b", "c"], ["d", "c", "b"]], graph=graph)
    with pytest.raises(WalkError, match="end with a choice between neighbors"):
        predict(walks, graph=graph, effort=SMALL)
    with pytest.raises(WalkError, match="1 users"):
        predict(walks[[0]], graph=graph, effort=SMALL)
