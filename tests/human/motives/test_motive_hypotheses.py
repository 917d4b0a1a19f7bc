"""Motives of people: the one they follow is found, and nobody is judged by what she did herself."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from curiograph.agents.registry import as_agent
from curiograph.centrality.walkers import simulate_biased_walks
from curiograph.exploration.mdp import begin
from curiograph.human.choices.bootstrap import Estimate, estimate_means
from curiograph.human.choices.choice_sets import find_choices
from curiograph.human.choices.windows import Windows
from curiograph.human.motives.catalog import MarkovMotive, PageRankMotive
from curiograph.human.motives.cross_validation import cross_validate
from curiograph.human.motives.hypotheses import hypotheses
from curiograph.human.motives.likelihood import Places, fit_p_g, log_likelihood
from curiograph.human.trajectories import Trajectories

GRAPH = cg.generate("ba", nodes=50, seed=1)


def people(graph, agent, reward, p_g, walks=200, steps=9, seed=0, users=None):
    """Walks of people who follow an agent."""
    starts = np.random.default_rng(seed).choice(np.flatnonzero(graph.degrees > 0), walks)
    found = simulate_biased_walks(begin([graph], [starts], reward, steps, seed=seed), as_agent(agent), p_g, steps)
    labels = [[graph.label(int(node)) for node in walk if node >= 0] for walk in found]
    return Trajectories.from_walks(labels, users, graph)


class Habit:
    """Everybody likes the same links, for no reason that the graph shows."""

    name = "habit"

    def scores(self, exploration):
        c = exploration.candidates
        last = exploration.nodes[np.arange(len(exploration.lengths)), exploration.lengths - 1]
        return ((last[c.walks] * 7919 + c.nodes * 104729) % 1009).astype(float)


# ---- choices --------------------------------------------------------------------------------------------------------


def test_a_choice_is_a_new_node_along_a_link_among_several():
    star = cg.Graph.from_edges([("hub", leaf) for leaf in "abcd"])
    walks = Trajectories.from_walks([["a", "hub", "b", "hub", "c", "d"]], graph=star)
    found = find_choices(star, walks, burn_in=1)
    asked = [[star.label(int(v)) for v in row if v >= 0] for row in found.windows.histories]
    assert asked == [["a", "hub"], ["a", "b", "hub"]]  # by last visit
    assert [star.label(int(v)) for v in found.windows.nexts] == ["b", "c"]
    assert [star.label(int(v)) for v in found.candidates.nodes] == ["b", "c", "d", "c", "d"]
    assert found.left_out == {"revisit": 1, "no link": 1, "only candidate": 1}


def test_memory_forgets_the_oldest():
    ring = cg.toys.complete(6)
    walks = Trajectories.from_walks([[0, 1, 2, 3, 0]], graph=ring)
    found = find_choices(ring, walks, burn_in=2, memory=2)
    assert found.windows.histories.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert found.windows.nexts.tolist() == [2, 3, 0]
    assert len(find_choices(ring, walks, burn_in=2)) == 2  # 0 is not new


# ---- likelihood -----------------------------------------------------------------------------------------------------


def slow_likelihood(scores, chosen, p_g):
    """The mean chance over all orders in which equal scores may stand."""
    n = len(scores)
    orders = [o for o in permutations(range(n)) if all(scores[o[i]] >= scores[o[i + 1]] for i in range(n - 1))]
    chances = [p_g ** o.index(chosen) / sum(p_g**r for r in range(n)) for o in orders]
    return np.mean(chances)


@given(st.lists(st.integers(0, 2), min_size=2, max_size=5), st.data(), st.floats(0.01, 1))
def test_likelihood_is_the_mean_over_orders_of_ties(scores, data, p_g):
    chosen = data.draw(st.integers(0, len(scores) - 1))
    values = np.array(scores)
    above, tied = np.sum(values > values[chosen]), np.sum(values == values[chosen])
    places = Places(np.array([above]), np.array([tied]), np.array([len(scores)]))
    wanted = slow_likelihood(scores, chosen, p_g)
    assert 2 ** log_likelihood(places, p_g)[0] == pytest.approx(wanted)
    assert cg.rank_transition(values, p_g)[chosen] == pytest.approx(wanted)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4), st.integers(0, 30)), min_size=1, max_size=20))
def test_no_other_p_g_is_likelier(rows):
    above, tied, below = np.array(rows).T
    places = Places(above, tied, above + tied + below)
    found = fit_p_g(places)
    assert 1e-6 <= found <= 1
    best = log_likelihood(places, found).sum()
    others = [log_likelihood(places, p_g).sum() for p_g in np.linspace(1e-6, 1, 97)]
    assert best >= max(others) - 1e-6


# ---- motives --------------------------------------------------------------------------------------------------------


def test_pagerank_of_a_history_is_the_sum_of_that_of_its_nodes():
    links = [(0, 1), (0, 2), (1, 2), (2, 0), (2, 3), (2, 4), (1, 4), (4, 0), (4, 3), (4, 5)]  # 3 and 5 are dead ends
    graph = cg.Graph.from_edges(links, directed=True)
    walks = Trajectories.from_walks([[0, 1, 2, 3], [0, 1, 4, 5], [2, 4, 3]], graph=graph)
    choices = find_choices(graph, walks, burn_in=2)
    found = PageRankMotive().scores(choices)
    for row, history in enumerate(choices.windows.histories):
        some = slice(*choices.candidates.offsets[row : row + 2])
        wanted = cg.pagerank(graph, 0.85, history[history >= 0].tolist()).scores[choices.candidates.nodes[some]]
        assert found[some] == pytest.approx(wanted / wanted.max(), abs=1e-8)


def test_on_a_large_graph_pagerank_is_looked_for_around_each_history(monkeypatch):
    graph = cg.generate("ws", 400, seed=0)
    walks = [cg.explore(graph, "random", start=start, steps=8, seed=start).nodes for start in range(40)]
    choices = find_choices(graph, Trajectories.from_walks(walks, graph=graph))
    whole = PageRankMotive().scores(choices)
    monkeypatch.setattr("curiograph.human.motives.catalog.MAX_EXACT_NODES", 100)
    monkeypatch.setattr("curiograph.recommendation.rankers.MAX_EXACT_NODES", 100)
    near = PageRankMotive().scores(choices)
    assert np.abs(near - whole).max() < 0.05
    assert PageRankMotive().together(graph) < 2**18


def test_markov_counts_what_others_did():
    walks = people(GRAPH, "max-degree", "igt", 0.7, walks=40, users=[f"u{i % 7}" for i in range(40)])
    choices = find_choices(GRAPH, walks, burn_in=1)
    known = choices.windows.users != 3
    found = MarkovMotive().fit(choices.rows(known)).scores(choices)
    moves = list(
        zip(choices.windows.users, choices.windows.histories[:, -1], choices.windows.nexts, known, strict=True)
    )
    for c in range(0, len(found), 37):
        row, node = choices.candidates.walks[c], choices.candidates.nodes[c]
        user, last = choices.windows.users[row], choices.windows.histories[row, -1]
        others = [(a, b) for who, a, b, counted in moves if counted and who != user]
        here, anywhere = others.count((last, node)), sum(b == node for _, b in others)
        assert found[c] == pytest.approx(here + anywhere / (1 + known.sum()))


@pytest.mark.parametrize("markov", [True, False])
def test_what_held_out_users_chose_changes_no_fit(markov):
    walks = people(GRAPH, "greedy", "igt", 0.7, walks=60)
    choices = find_choices(GRAPH, walks)
    fold_of = choices.windows.users % 3
    held_out = fold_of == 1
    rng = np.random.default_rng(0)
    other = choices.candidates.nodes[rng.integers(choices.candidates.offsets[:-1], choices.candidates.offsets[1:])]
    w = choices.windows
    changed = replace(choices, windows=Windows(w.histories, np.where(held_out, other, w.nexts), w.users))
    assert np.any(changed.chosen != choices.chosen)
    motive = MarkovMotive() if markov else PageRankMotive()
    before, after = (motive.fit(each.rows(~held_out)).scores(each) for each in (choices, changed))
    assert np.array_equal(before, after)
    (first,), (second,) = (cross_validate([motive], each, fold_of) for each in (choices, changed))
    assert first.p_g[1] == second.p_g[1]
    assert first.p_g[0] != second.p_g[0]  # there, these users are known


# ---- people who follow a motive -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("motive", "agent", "p_g"), [("degree", "max-degree", 0.8), ("igt", "greedy", 0.5), ("cpt", "greedy", 0.6)]
)
def test_the_motive_that_people_follow_is_found(motive, agent, p_g):
    reward = motive if motive in ("igt", "cpt") else "igt"
    found = hypotheses(GRAPH, people(GRAPH, agent, reward, p_g))
    assert next(iter(found)) == motive
    assert found[motive].p_g == pytest.approx(p_g, abs=0.05)
    assert found[motive].gain.low > 0.1
    assert all(fit.behind.low > 0 for name, fit in found.items() if name != motive)
    assert max(found.values(), key=lambda fit: fit.best_for.value).name == motive
    assert found.answer.startswith(f"{motive} tells the {found.choices:,} choices best")


def test_habits_are_known_to_markov_and_to_who_has_them():
    walks = people(GRAPH, Habit(), "igt", 0.3, walks=600)
    found = hypotheses(GRAPH, walks, motives=["uniform", "degree", "markov"], agents=[Habit()])
    assert list(found)[:2] == ["habit", "markov"]
    assert found["habit"].p_g == pytest.approx(0.3, abs=0.03)
    assert found["markov"].gain.low > 0


def test_whoever_goes_anywhere_has_no_motive():
    found = hypotheses(GRAPH, people(GRAPH, "random", "igt", 1.0))
    assert found["uniform"].gain == Estimate(0.0, 0.0, 0.0)
    assert found["uniform"].p_g == 1
    assert found["uniform"].percentile.value == 0.5
    assert all(abs(fit.gain.value) < 0.03 for fit in found.values())


def test_users_have_their_own_best_motive():
    degree, gaps = people(GRAPH, "max-degree", "igt", 0.5), people(GRAPH, "greedy", "igt", 0.5, walks=100, seed=1)
    labels = [each.labels(i) for each in (degree, gaps) for i in range(len(each))]
    users = [f"{kind}{i % 20}" for kind, each in (("d", degree), ("g", gaps)) for i in range(len(each))]
    found = hypotheses(GRAPH, Trajectories.from_walks(labels, users, GRAPH), motives=["uniform", "degree", "igt"])
    best = found.best_by_user
    assert set(best) == set(users)
    right = sum(motives == [{"d": "degree", "g": "igt"}[user[0]]] for user, motives in best.items())
    assert right >= 38
    assert sum(fit.best_for.value for fit in found.values()) == pytest.approx(1)
    assert found["degree"].best_for.low < 0.5 < found["degree"].best_for.high
    assert found.user_gains.sum(axis=0) / found.choices == pytest.approx([fit.gain.value for fit in found.values()])


def test_same_seed_same_answer_and_plain_values():
    walks = people(GRAPH, "greedy", "igt", 0.5, walks=30)
    first, second, other = (hypotheses(GRAPH, walks, motives=["igt", "markov"], seed=seed) for seed in (4, 4, 5))
    assert first.to_dict() == second.to_dict() != other.to_dict()
    assert first.to_frame()["motive"].tolist() == list(first)
    assert len(first.plot().axes) == 2


def test_intervals_are_those_of_users_not_of_choices():
    rng = np.random.default_rng(0)
    sums = 10 * rng.normal(size=(400, 1))  # ten choices each, all alike
    (found,) = estimate_means(sums, np.full(400, 10))
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * sums.std() / 10 / 20, rel=0.1)


# ---- bad input ------------------------------------------------------------------------------------------------------


class Lost:
    name = "lost"

    def scores(self, exploration):
        return np.full(len(exploration.candidates.nodes), np.nan)


SOME = Trajectories.from_walks([["music", "physics", "chemistry", "biology"]] * 2, graph=cg.toys.library())
ONE = Trajectories.from_walks([["music", "physics", "chemistry", "biology"]] * 2, users=[0, 0], graph=cg.toys.library())


@pytest.mark.parametrize(
    ("walks", "settings", "error", "message"),
    [
        (Trajectories.from_walks([]), {}, cg.WalkError, "there is no choice of a new node along a link"),
        (Trajectories.from_walks([["music", "physics"]]), {}, cg.WalkError, "give longer walks, or less burn_in"),
        (Trajectories.from_walks([["music", "zz"]]), {}, cg.UnknownNodeError, "the walks visit 'zz', which the graph"),
        ([["music", "physics"]], {}, cg.SettingError, "give Trajectories"),
        (ONE, {}, cg.WalkError, "all choices are by 1 user"),
        (SOME, {"motives": ["joy"]}, cg.UnknownNameError, "there is no motive 'joy'; the motives are uniform"),
        (SOME, {"motives": "igt"}, cg.SettingError, "motives is 'igt'; give a list"),
        (SOME, {"motives": []}, cg.SettingError, "no motives to compare"),
        (SOME, {"motives": ["igt", "igt"]}, cg.SettingError, "two motives are called 'igt'"),
        (SOME, {"agents": ["gready"]}, cg.UnknownNameError, "there is no agent 'gready'"),
        (SOME, {"agents": [Lost()]}, cg.AgentError, "agent 'lost' gave NaN for candidate 0"),
        (SOME, {"reward": "joy"}, cg.UnknownNameError, "there is no reward 'joy'"),
        (SOME, {"folds": 1}, cg.SettingError, "folds is 1"),
        (SOME, {"burn_in": 0}, cg.SettingError, "burn_in is 0"),
        (SOME, {"memory": 2, "burn_in": 3}, cg.SettingError, "memory is 2; remember burn_in = 3"),
        (SOME, {"min_choices": 0}, cg.SettingError, "min_choices is 0"),
        (SOME, {"seed": -1}, cg.SettingError, "seed is -1"),
    ],
)
def test_bad_input_gets_one_sentence(walks, settings, error, message):
    with pytest.raises(error, match=message) as caught:
        hypotheses(cg.toys.library(), walks, **{"burn_in": 2} | settings)
    assert "\n" not in str(caught.value)


# ---- jobs -----------------------------------------------------------------------------------------------------------


def bits(found):
    return found.to_dict(), found.user_gains.tobytes()


def test_neither_workers_nor_chunks_change_a_bit(monkeypatch):
    walks = people(GRAPH, "greedy", "igt", 0.7)
    some = {"motives": ["pagerank", "cpt", "markov"], "agents": ["igt-rg"]}
    whole = bits(hypotheses(GRAPH, walks, workers=1, **some))
    monkeypatch.setattr("curiograph.human.motives.catalog._TASK", 500)
    monkeypatch.setattr("curiograph.human.motives.catalog._LARGE_TASK", 700)
    assert bits(hypotheses(GRAPH, walks, workers=1, **some)) == whole
    assert bits(hypotheses(GRAPH, walks, workers=2, **some)) == whole


def test_a_run_folder_keeps_what_is_finished_and_what_is_damaged_is_computed_again(tmp_path, monkeypatch):
    monkeypatch.setattr("curiograph.human.motives.catalog._TASK", 500)
    walks = people(GRAPH, "greedy", "igt", 0.7)
    whole = bits(hypotheses(GRAPH, walks, workers=1, run=tmp_path))
    kept = sorted(tmp_path.glob("motives-*/*.task"))
    kept[0].unlink()
    kept[3].write_bytes(kept[4].read_bytes())  # of another task
    told = []
    with pytest.warns(UserWarning, match=r"000003\.task: is damaged; the task is computed again"):
        again = hypotheses(GRAPH, walks, workers=1, run=tmp_path, progress=lambda m, share=None: told.append(m))
    there = len(kept) - 2
    assert told[0] == f"motives: {there} of {len(kept)} tasks ({there} found in the run folder)"
    assert bits(again) == whole
    hypotheses(GRAPH, walks, workers=1, run=tmp_path, seed=1)
    assert len(list(tmp_path.glob("motives-*"))) == 2  # other parts of the users are another job


def test_an_agent_of_ones_own_is_kept_only_if_it_can_be_told_from_others(tmp_path):
    walks = people(GRAPH, "random", "igt", 1.0, walks=40)
    with pytest.raises(cg.SettingError, match="the agent 'habit' is your own"):
        hypotheses(GRAPH, walks, motives=["uniform"], agents=[Habit()], workers=1, run=tmp_path)
