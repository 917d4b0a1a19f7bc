"""Prediction: what walkers find, what is fitted and on whom, that nothing leaks, and that a killed job goes on."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curiograph.agents.pretrained import load_agent
from curiograph.centrality.curious_pagerank import curious_pagerank
from curiograph.errors import JobStopped, SettingError, UnknownNameError, WalkError
from curiograph.exploration.mdp import Candidates
from curiograph.graph.toys import library
from curiograph.human.choices.metrics import choice_ranks
from curiograph.human.prediction.components import ALPHAS, PAGERANK, Mixture
from curiograph.human.prediction.fitting import fit_mixture
from curiograph.human.prediction.predict import Effort, fit_split, mixture_from_dict, predict, prepare_run
from curiograph.human.prediction.protocol import make_study
from curiograph.human.prediction.results import ALL_WITH_CURIOSITY, ALL_WITHOUT_CURIOSITY, Outcome
from curiograph.human.prediction.walkers import Walkers, simulate_walkers
from curiograph.human.trajectories import Trajectories
from curiograph.parallel import lock_run_folder, resolve_engine
from curiograph.parallel.fingerprint import fingerprint
from curiograph.recommendation.rankers import PageRankRanker
from support import people

SMALL = Effort(splits=2, trials=4, train_steps=4, walkers=20, trained_walkers=10, steps=3, windows=80, all_windows=30)
GREEDY = {"igt": "greedy", "cpt": "greedy"}


@pytest.fixture(scope="module")
def job():
    return prepare_run(people.walkers(), GREEDY, effort=SMALL)


@pytest.fixture(scope="module")
def scored(job):
    return job.scored["last"]


# ---- walkers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reward", ["igt", "cpt"])
def test_walkers_that_follow_all_paths_give_curious_pagerank(reward):
    graph, history = library(), ["music", "logic"]
    visits = simulate_walkers(
        graph, Walkers("greedy", reward, 0.5, steps=12, count=1_000_000), graph.positions(history)
    )
    nodes = np.setdiff1d(np.arange(12), graph.positions(history)).astype(np.int32)
    found = visits.of(graph.positions(history)[None, :], Candidates(np.array([0, len(nodes)]), nodes))
    scores = (0.85 ** np.arange(1, 13)) @ found
    exact = curious_pagerank(graph, "greedy", 0.85, history, p_g=0.5, reward=reward, exact=True).scores[nodes]
    assert np.allclose(scores / scores.sum(), exact / exact.sum(), rtol=2e-5)


def test_drawn_walkers_are_right_on_average():
    graph = library()
    few = [
        simulate_walkers(graph, Walkers("greedy", "igt", 0.8, 5, 10, seed), [0]).steps[4].toarray()
        for seed in range(200)
    ]
    exact = simulate_walkers(graph, Walkers("greedy", "igt", 0.8, 5, 1_000_000), [0]).steps[4].toarray()
    error = np.std(few, axis=0) / np.sqrt(200)
    assert np.all(np.abs(np.mean(few, axis=0) - exact) < 5 * error + 1e-6)


def same(one, other):
    return all(np.array_equal(a.toarray(), b.toarray()) for a, b in zip(one.steps, other.steps, strict=True))


def test_what_walkers_found_is_kept_and_what_was_lost_is_computed_again(tmp_path, monkeypatch):
    monkeypatch.setattr("curiograph.human.prediction.walkers.STARTS_PER_TASK", 20)
    graph, walkers, starts = people.walkers().graph, Walkers("greedy", "cpt", count=10, steps=2), np.arange(60)
    fresh = simulate_walkers(graph, walkers, starts)
    assert same(simulate_walkers(graph, walkers, starts, engine=resolve_engine(workers=1, run=tmp_path)), fresh)
    first, second, _ = sorted(tmp_path.glob("walkers-*/*.task"))
    first.unlink()
    second.write_bytes(second.read_bytes()[:200])  # a disk that lost the rest
    told = []
    with pytest.warns(UserWarning, match=r"000001\.task: is damaged; the task is computed again"):
        repaired = simulate_walkers(
            graph,
            walkers,
            starts,
            engine=resolve_engine(workers=1, run=tmp_path),
            progress=lambda m, share=None: told.append(m),
        )
    assert told[0].startswith("walkers: 1 of 3 groups of 20 nodes (1 found in the run folder)")
    assert same(repaired, fresh)
    assert simulate_walkers(graph, walkers, starts[:40]).steps[0].toarray()[40:].sum() == 0


def test_other_walkers_do_not_take_over_what_was_kept(tmp_path):
    graph = people.walkers().graph
    greedy, chance = (Walkers(agent, count=5, steps=2) for agent in ("greedy", "random"))
    simulate_walkers(graph, greedy, [0, 1], engine=resolve_engine(workers=1, run=tmp_path))
    assert same(
        simulate_walkers(graph, chance, [0, 1], engine=resolve_engine(workers=1, run=tmp_path)),
        simulate_walkers(graph, chance, [0, 1]),
    )


# ---- components -----------------------------------------------------------------------------------------------------


def test_pagerank_of_histories_is_that_of_the_ranker(job, scored):
    histories = list(scored.windows.histories)
    for row in (0, 7, 11):
        ranker = PageRankRanker(ALPHAS[row]).scores(job.study.graph, histories, scored.candidates)
        assert np.allclose(scored.pagerank[row], ranker, rtol=1e-5)


def test_a_mixture_is_the_sum_of_its_parts(scored):
    mix = Mixture({PAGERANK: -3.0, "greedy igt": 4.0}, 0.6, 2)
    visits = scored.walkers["greedy igt"]
    curious = (0.6 * visits[0] + 0.36 * visits[1]) / 1.96
    wanted = -0.6 * scored.pagerank[ALPHAS.index(0.6)] + 0.8 * curious
    assert np.allclose(scored.scores(mix), wanted, rtol=1e-5)
    assert mixture_from_dict(mix.to_dict()).weights == {PAGERANK: -0.6, "greedy igt": 0.8}


def test_scaled_components_have_mean_zero_and_spread_one(scored):
    scores = scored.scores(Mixture({"markov": 1.0}, scaled=True))
    for a, b in zip(scored.candidates.offsets[:-1], scored.candidates.offsets[1:], strict=True):
        assert abs(scores[a:b].mean()) < 1e-9
        assert scores[a:b].std() == pytest.approx(1) or np.ptp(scored.counted["markov"][a:b]) == 0


def test_rows_of_components_are_those_of_the_choices(scored):
    which = np.arange(len(scored.windows)) % 3 == 0
    mix = Mixture({PAGERANK: 1.0, "memory": -1.0}, 0.45, 3)
    assert np.allclose(scored.rows(which).ranks(mix).percentile, scored.ranks(mix).percentile[which], equal_nan=True)


def test_the_choice_is_a_candidate_in_both_sets(job):
    for among in ("last", "all"):
        windows, candidates = job.study.choices[among], job.study.candidates[among]
        choice_ranks(np.zeros(len(candidates.nodes)), candidates, windows.nexts)  # raises if it is not
        assert not np.any(windows.histories[candidates.walks] == candidates.nodes[:, None])


# ---- fits -----------------------------------------------------------------------------------------------------------


def test_a_fit_is_at_least_as_good_as_where_it_begins_and_repeats(scored):
    begin = [Mixture({PAGERANK: 1.0}, 0.3, 1), Mixture({PAGERANK: -1.0, "greedy cpt": 2.0}, 0.9, 2)]
    best = fit_mixture(scored, [PAGERANK, "greedy cpt"], 5, seed=3, begin=begin)
    value = np.nanmean(scored.ranks(best).percentile)
    assert all(value >= np.nanmean(scored.ranks(mix).percentile) - 1e-12 for mix in begin)
    assert best == fit_mixture(scored, [PAGERANK, "greedy cpt"], 5, seed=3, begin=begin)


def test_a_fit_finds_what_people_follow(scored):
    """People who take the candidate that is best by walkers less PageRank: a mixture that only a search finds."""
    truth = Mixture({PAGERANK: -3.0, "greedy igt": 1.0}, 0.85, 3)
    scores, offsets = scored.scores(truth), scored.candidates.offsets
    best = [offsets[i] + np.argmax(scores[offsets[i] : offsets[i + 1]]) for i in range(len(scored.windows))]
    followed = replace(scored, windows=replace(scored.windows, nexts=scored.candidates.nodes[best]))
    plain = fit_mixture(followed, [PAGERANK], 12, seed=0)
    mix = fit_mixture(followed, [PAGERANK, "greedy igt"], 25, seed=0, begin=[plain])
    value, before = (np.nanmean(followed.ranks(each).percentile) for each in (mix, plain))
    assert value > 0.9 > before


# ---- nothing leaks --------------------------------------------------------------------------------------------------


def test_what_tested_people_choose_changes_nothing_that_is_fitted(job, scored):
    tested = job.study.split(0, scored.windows.users)
    rng = np.random.default_rng(0)
    offsets = scored.candidates.offsets
    other = [scored.candidates.nodes[rng.integers(offsets[i], offsets[i + 1])] for i in range(len(tested))]
    nexts = np.where(tested, other, scored.windows.nexts).astype(np.int32)
    changed = replace(scored, windows=replace(scored.windows, nexts=nexts))
    before, after = (fit_split(each, tested, 4, 0) for each in (scored, changed))
    assert before["fits"] == after["fits"]
    assert any(not np.array_equal(before["ranks"][m], after["ranks"][m]) for m in before["ranks"])


def test_no_walk_of_others_changes_graph_agents_or_counts():
    data = people.ratings(people.tastes())
    made = make_study(data, item_users=5, mean_degree=8)
    rng = np.random.default_rng(1)
    makers = set(made.makers.users.tolist())
    walks = [
        data.walks.labels(i)
        if int(user) in makers
        else [*rng.permutation(data.walks.labels(i)[:12]).tolist(), "i0", "x"]
        for i, user in enumerate(data.walks.users)
    ]
    shuffled = replace(data, walks=Trajectories.from_walks(walks, users=list(data.walks.user_names)))
    again = make_study(shuffled, item_users=5, mean_degree=8)
    assert again.graph == made.graph
    assert np.array_equal(again.makers.nodes, made.makers.nodes)


@given(st.integers(0, 50))
def test_every_edge_is_between_items_that_makers_share(seed):
    data = people.ratings(people.tastes(users=30, items=20, visits=10, seed=seed))
    made = make_study(data, seed=seed, item_users=3, mean_degree=4)
    sets = [set(made.makers.walk(i).tolist()) for i in range(len(made.makers))]
    rows = np.repeat(np.arange(made.graph.num_nodes), made.graph.degrees)
    for a, b in zip(rows.tolist(), made.graph.indices.tolist(), strict=True):
        assert sum(a in seen and b in seen for seen in sets) >= 3


def test_nobody_is_in_two_groups(job):
    groups = job.study
    assert not set(groups.makers.users.tolist()) & set(groups.others.users.tolist())
    people_of = groups.choices["last"].users
    for number in range(5):
        tested = groups.split(number, people_of)
        assert not set(people_of[tested].tolist()) & set(people_of[~tested].tolist())
    assert not np.array_equal(groups.split(0, people_of), groups.split(1, people_of))


# ---- the whole ------------------------------------------------------------------------------------------------------


def test_a_killed_job_goes_on_and_ends_the_same(tmp_path):
    whole = predict(people.walkers(), agents=GREEDY, effort=SMALL, workers=1)

    def killed(message, share=None):
        if "fits-last: 1 of 2" in message:
            raise KeyboardInterrupt

    with pytest.raises(JobStopped, match=r"^stopped after 1 of 2 splits of fits-last; they are kept in .*"):
        predict(people.walkers(), agents=GREEDY, effort=SMALL, run=tmp_path, workers=1, progress=killed)
    told = []
    resumed = predict(
        people.walkers(),
        agents=GREEDY,
        effort=SMALL,
        run=tmp_path,
        workers=1,
        progress=lambda message, share=None: told.append(message),
    )
    assert all("1 of 1 groups of 64 nodes (1 found" in message for message in told if "walkers-" in message)
    assert any(message.startswith("walkers: fits-last: 1 of 2 splits (1 found in the run folder)") for message in told)
    assert resumed.to_dict() == whole.to_dict()
    assert list(resumed["last"]) == list(whole["last"])


def test_a_second_job_in_the_folder_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("curiograph.parallel.run_folder._PATIENCE", 0.0)
    with lock_run_folder(tmp_path), ThreadPoolExecutor(1) as other:
        job = other.submit(predict, people.walkers(), agents=GREEDY, effort=SMALL, run=tmp_path, workers=1)
        with pytest.raises(SettingError, match="is working there; wait for it to end, or choose another folder"):
            job.result()


def test_what_does_not_fit_into_memory_is_refused_before_the_work(monkeypatch):
    monkeypatch.setattr("curiograph.parallel.memory.get_available_memory", lambda: 1000)
    with pytest.raises(SettingError, match=r"this needs about .*; predict fewer choices \(windows, all_windows\)"):
        predict(people.walkers(), agents=GREEDY, effort=SMALL)


class Own:
    """Takes the candidate with the lowest number."""

    name = "own"

    def scores(self, walks):
        return -walks.candidates.nodes.astype(float)


def test_an_agent_of_ones_own_needs_a_fingerprint_only_for_a_folder(tmp_path):
    effort = replace(SMALL, splits=1, windows=20, all_windows=5)
    own = {"igt": Own(), "cpt": Own()}
    found = predict(people.walkers(), agents=own, effort=effort, workers=1)
    assert found.agents == {"igt": "own", "cpt": "own"}
    with pytest.raises(SettingError, match="attribute `fingerprint`"):
        predict(people.walkers(), agents=own, effort=effort, workers=1, run=tmp_path)
    assert not list(tmp_path.glob("walkers-*"))


def test_two_workers_find_the_same():
    effort = replace(SMALL, windows=40, all_windows=10)
    one, two = (predict(people.walkers(), agents=GREEDY, effort=effort, workers=n).to_dict() for n in (1, 2))
    assert one == two


def test_trained_agents_are_kept_in_the_run_folder(tmp_path):
    data = people.ratings(people.tastes(users=40, items=30, visits=12))
    effort = replace(SMALL, splits=1, windows=40, all_windows=10)
    recipe = make_study(data, item_users=3, mean_degree=6).recipe
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


def test_the_result_says_what_it_found():
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


def test_improvement_and_its_interval_on_numbers_by_hand():
    ranks = {
        "pagerank": np.full((4, 2, 4), 0.5, np.float32),
        "igt+cpt": np.full((4, 2, 4), 0.6, np.float32),
    }
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
def test_bad_input_gets_a_sentence(change, error, message):
    with pytest.raises(error, match=message):
        predict(
            change.get("data", people.walkers()),
            agents=change.get("agents", GREEDY),
            effort=replace(SMALL, **change.get("effort", {})),
        )


def test_too_few_people_or_choices():
    graph, walks = people.path_graph_walks()
    with pytest.raises(WalkError, match="end with a choice between neighbours"):
        predict(walks, graph=graph, agents=GREEDY, effort=SMALL, workers=1)
    with pytest.raises(WalkError, match="a split by users needs 2 or more"):
        predict(walks.rows([0]), graph=graph, agents=GREEDY, effort=SMALL, workers=1)
