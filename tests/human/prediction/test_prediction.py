"""`predict`: resuming, reproducibility, results and errors."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from curiograph.agents.pretrained import load_agent
from curiograph.errors import JobStopped, SettingError, UnknownNameError, WalkError
from curiograph.human.prediction.predict import Effort, predict, prepare_run
from curiograph.human.prediction.protocol import make_study
from curiograph.human.prediction.results import ALL_WITH_CURIOSITY, ALL_WITHOUT_CURIOSITY, Outcome
from curiograph.parallel import lock_run_folder, resolve_engine
from curiograph.parallel.fingerprint import fingerprint
from support import people

SMALL = Effort(splits=2, trials=4, train_steps=4, walkers=20, trained_walkers=10, steps=3, windows=80, all_windows=30)
GREEDY = {"igt": "greedy", "cpt": "greedy"}


def test_interrupted_prediction_resumes_with_the_same_result(tmp_path):
    whole = predict(people.walkers(), agents=GREEDY, effort=SMALL, workers=1)

    def interrupt(message, share=None):
        if "fits-last: 1 of 2" in message:
            raise KeyboardInterrupt

    with pytest.raises(JobStopped, match=r"^stopped after 1 of 2 splits of fits-last; they are kept in .*"):
        predict(people.walkers(), agents=GREEDY, effort=SMALL, run=tmp_path, workers=1, progress=interrupt)
    messages = []
    resumed = predict(
        people.walkers(),
        agents=GREEDY,
        effort=SMALL,
        run=tmp_path,
        workers=1,
        progress=lambda message, share=None: messages.append(message),
    )
    assert all("1 of 1 groups of 64 nodes (1 found" in message for message in messages if "walkers-" in message)
    assert any(
        message.startswith("walkers: fits-last: 1 of 2 splits (1 found in the run folder)") for message in messages
    )
    assert resumed.to_dict() == whole.to_dict()
    assert list(resumed["last"]) == list(whole["last"])


def test_run_folder_in_use_raises(tmp_path, monkeypatch):
    monkeypatch.setattr("curiograph.parallel.run_folder._PATIENCE", 0.0)
    with lock_run_folder(tmp_path), ThreadPoolExecutor(1) as other:
        job = other.submit(predict, people.walkers(), agents=GREEDY, effort=SMALL, run=tmp_path, workers=1)
        with pytest.raises(SettingError, match="is working there; wait for it to end, or choose another folder"):
            job.result()


def test_scores_larger_than_memory_raise_at_once(monkeypatch):
    monkeypatch.setattr("curiograph.parallel.memory.get_available_memory", lambda: 1000)
    with pytest.raises(SettingError, match=r"this needs about .*; predict fewer choices \(windows, all_windows\)"):
        predict(people.walkers(), agents=GREEDY, effort=SMALL)


class LowestNumberAgent:
    """Prefers the candidate with the lowest position."""

    name = "own"

    def scores(self, walks):
        return -walks.candidates.nodes.astype(float)


def test_custom_agent_needs_a_fingerprint_only_with_a_run_folder(tmp_path):
    effort = replace(SMALL, splits=1, windows=20, all_windows=5)
    own = {"igt": LowestNumberAgent(), "cpt": LowestNumberAgent()}
    found = predict(people.walkers(), agents=own, effort=effort, workers=1)
    assert found.agents == {"igt": "own", "cpt": "own"}
    with pytest.raises(SettingError, match="attribute `fingerprint`"):
        predict(people.walkers(), agents=own, effort=effort, workers=1, run=tmp_path)
    assert not list(tmp_path.glob("walkers-*"))


def test_two_workers_give_the_same_result():
    effort = replace(SMALL, windows=40, all_windows=10)
    one, two = (predict(people.walkers(), agents=GREEDY, effort=effort, workers=n).to_dict() for n in (1, 2))
    assert one == two


def test_trained_agents_are_kept_in_the_run_folder(tmp_path):
    data = people.ratings(people.tastes(users=40, items=30, visits=12))
    effort = replace(SMALL, splits=1, windows=40, all_windows=10)
    recipe = make_study(data, item_users=3, neighbors=6).recipe
    first = prepare_run(data, recipe=recipe, effort=effort, engine=resolve_engine(workers=1, run=tmp_path))
    (folder,) = tmp_path.glob("agent-igt-*")
    shutil.rmtree(folder)  # as if it had been trained on another machine
    again = prepare_run(data, recipe=recipe, effort=effort, engine=resolve_engine(workers=1, run=tmp_path))
    assert fingerprint("agent", load_agent(folder)) == fingerprint("agent", first.agents["igt"])
    for path in tmp_path.glob("training-*/*.task"):
        path.unlink()
    trained_again = prepare_run(data, recipe=recipe, effort=effort, engine=resolve_engine(workers=1, run=tmp_path))
    elsewhere = prepare_run(data, recipe=recipe, effort=effort)
    for other in (again, trained_again, elsewhere):
        for reward in ("igt", "cpt"):
            assert fingerprint("agent", other.agents[reward]) == fingerprint("agent", first.agents[reward])


def test_result_has_all_methods_a_frame_an_answer_and_a_plot():
    found = predict(people.walkers(), agents=GREEDY, effort=SMALL, workers=1)
    outcome = found["last"]
    for method in (
        "uniform",
        "markov",
        "pagerank",
        "igt",
        "cpt",
        "igt+cpt",
        "memory",
        ALL_WITH_CURIOSITY,
        ALL_WITHOUT_CURIOSITY,
    ):
        assert 0 <= outcome.mean(method)["percentile"] <= 1
    assert outcome.mean("uniform")["percentile"] == pytest.approx(0.5, abs=1e-6)
    assert outcome.improvement("pagerank").value == 0
    assert len(outcome.fits["igt+cpt"]) == 2
    assert len(found.to_frame()) == 2 * len(outcome)
    assert "igt+cpt changes percentile ranks" in found.answer
    figure = found.plot()
    assert {text.get_text() for text in figure.axes[0].get_yticklabels()} == set(outcome)
    with pytest.raises(UnknownNameError, match="there is no method 'pagrank'"):
        outcome["pagrank"]


def test_improvement_and_interval_of_constant_ranks():
    ranks = {"pagerank": np.full((4, 2, 4), 0.5, np.float32), "igt+cpt": np.full((4, 2, 4), 0.6, np.float32)}
    for table in ranks.values():
        table[:, 0, 2:] = np.nan  # split 0 tests the first two choices, split 1 the others
        table[:, 1, :2] = np.nan
    outcome = Outcome("last", np.array([0, 0, 1, 2]), ranks, {}, 0)
    r = outcome.improvement("igt+cpt")
    assert (round(r.value, 6), r.spread, round(r.low, 6), round(r.high, 6)) == (0.2, 0.0, 0.2, 0.2)
    assert r.clear


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"agents": {"igt": "greedy"}}, UnknownNameError, "give one for each of igt and cpt"),
        ({"effort": {"splits": 0}}, SettingError, "splits is 0"),
        ({"data": "wikispedia"}, UnknownNameError, "there is no dataset and no file 'wikispedia'"),
    ],
)
def test_invalid_input_raises(change, error, message):
    with pytest.raises(error, match=message):
        predict(
            change.get("data", people.walkers()),
            agents=change.get("agents", GREEDY),
            effort=replace(SMALL, **change.get("effort", {})),
        )


def test_too_few_users_or_choices_raise():
    graph, walks = people.path_graph_walks()
    with pytest.raises(WalkError, match="end with a choice between neighbors"):
        predict(walks, graph=graph, agents=GREEDY, effort=SMALL, workers=1)
    with pytest.raises(WalkError, match="a split by users needs 2 or more"):
        predict(walks[[0]], graph=graph, agents=GREEDY, effort=SMALL, workers=1)
