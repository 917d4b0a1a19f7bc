"""`hypotheses`: people who follow a motive, errors, and reproducible jobs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import curiograph as cg
from curiograph.bootstrap import Estimate, estimate_means
from curiograph.human.motives.hypotheses import hypotheses
from curiograph.human.trajectories import Trajectories
from support.people import follow_agent

GRAPH = cg.generate("ba", nodes=50, seed=1)


class HabitAgent:
    """Prefers fixed links that are unrelated to the structure of the graph."""

    name = "habit"

    def scores(self, exploration):
        c = exploration.candidates
        last = exploration.nodes[np.arange(len(exploration.lengths)), exploration.lengths - 1]
        return ((last[c.walks] * 7919 + c.nodes * 104729) % 1009).astype(float)


@pytest.mark.parametrize(
    ("motive", "agent", "p_g"), [("degree", "max-degree", 0.8), ("igt", "greedy", 0.5), ("cpt", "greedy", 0.6)]
)
def test_motive_that_people_follow_is_best(motive, agent, p_g):
    reward = motive if motive in ("igt", "cpt") else "igt"
    found = hypotheses(GRAPH, follow_agent(GRAPH, agent, reward, p_g))
    assert next(iter(found)) == motive
    assert found[motive].p_g == pytest.approx(p_g, abs=0.05)
    assert found[motive].gain.low > 0.1
    same = {"degree": ["information-gain"]}.get(motive, [])  # of unvisited nodes, both grow with the number of links
    assert all(fit.behind.low > 0 for name, fit in found.items() if name not in (motive, *same))
    assert all(found[name].gain == found[motive].gain for name in same)
    others = [fit.best_for.value for name, fit in found.items() if name not in (motive, *same)]
    assert sum(found[name].best_for.value for name in (motive, *same)) > max(others)
    assert found.answer.startswith(f"The {motive} motive explains the {found.choices:,} choices best")


def test_markov_and_the_agent_itself_explain_habits():
    walks = follow_agent(GRAPH, HabitAgent(), "igt", 0.3, walks=600)
    found = hypotheses(GRAPH, walks, motives=["uniform", "degree", "markov"], agents=[HabitAgent()])
    assert list(found) == ["habit", "degree", "markov", "uniform"]  # baselines last
    assert found["markov"].gain.value > found["degree"].gain.value
    assert found["habit"].p_g == pytest.approx(0.3, abs=0.03)
    assert found["markov"].gain.low > 0


def test_no_motive_explains_random_choices():
    found = hypotheses(GRAPH, follow_agent(GRAPH, "random", "igt", 1.0))
    assert found["uniform"].gain == Estimate(0.0, 0.0, 0.0)
    assert found["uniform"].p_g == 1
    assert found["uniform"].percentile.value == 0.5
    assert all(abs(fit.gain.value) < 0.03 for fit in found.values())


def test_opposed_motives_are_named():
    """People who avoid hubs follow no motive, but the opposite of one."""
    g = cg.generate("ba", nodes=60, seed=0)
    lists = [cg.explore(g, agent="min-degree", start=n % 60, steps=8, seed=n) for n in range(90)]
    walks = Trajectories.from_walks(lists, users=[n % 30 for n in range(90)], graph=g)
    found = hypotheses(g, walks, motives=["uniform", "degree", "pagerank"], burn_in=1)
    assert found.opposed[0] == "degree"
    assert found["degree"].opposed
    assert found["degree"].percentile.value < 0.1
    assert not found["uniform"].opposed
    assert found.answer.startswith("No motive explains")
    assert "The choices are clearly opposed to degree (percentile 0.0" in found.answer
    assert "; chance is 0.5." in found.answer
    assert found.columns()["opposed"] == [name in found.opposed for name in found]
    fans = [cg.explore(g, agent="max-degree", start=n % 60, steps=8, seed=n) for n in range(90)]
    fans = Trajectories.from_walks(fans, users=[n % 30 for n in range(90)], graph=g)
    liked = hypotheses(g, fans, motives=["uniform", "degree"], burn_in=1)
    assert liked.opposed == []
    assert "opposed" not in liked.answer


def test_best_motive_by_user():
    degree, gaps = (
        follow_agent(GRAPH, "max-degree", "igt", 0.5),
        follow_agent(GRAPH, "greedy", "igt", 0.5, walks=100, seed=1),
    )
    labels = [*degree, *gaps]
    users = [f"{kind}{i % 20}" for kind, each in (("d", degree), ("g", gaps)) for i in range(len(each))]
    found = hypotheses(GRAPH, Trajectories.from_walks(labels, users, GRAPH), motives=["uniform", "degree", "igt"])
    best = found.best_by_user
    assert set(best) == set(users)
    right = [motive == {"d": "degree", "g": "igt"}[user[0]] for user, motive in best.items() if motive != "unclear"]
    assert len(right) >= 30
    assert all(right)
    probability = found.per_user().groupby("user")["probability"].max()
    assert {user for user, motive in best.items() if motive == "unclear"} == set(probability.index[probability < 0.95])
    assert found.unclear == found.to_dict()["unclear"] == pytest.approx(1 - len(right) / 40)
    assert sum(fit.best_for.value for fit in found.values()) == pytest.approx(1)
    assert found["degree"].best_for.low < 0.5 < found["degree"].best_for.high
    assert found.user_gains.sum(axis=0) / found.choices == pytest.approx([fit.gain.value for fit in found.values()])


def test_tied_motives_share_their_users():
    walks = follow_agent(GRAPH, "random", "igt", 1.0, walks=30)
    found = hypotheses(GRAPH, walks, motives=["uniform"], agents=["random"])
    assert [fit.best_for for fit in found.values()] == [Estimate(0.5, 0.5, 0.5)] * 2
    assert set(found.best_by_user.values()) == {"unclear"}
    assert "The best motive is unclear for 100 % of the users with 5 choices or more." in found.answer
    none = replace(found, user_choices=np.full_like(found.user_choices, 4))
    assert none.best_by_user == {}
    assert np.isnan(none.unclear)
    assert "unclear" not in none.answer


def test_intervals_are_clustered_by_user():
    rng = np.random.default_rng(0)
    sums = 10 * rng.normal(size=(400, 1))  # ten equal choices each
    (found,) = estimate_means(sums, np.full(400, 10))
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * sums.std() / 10 / 20, rel=0.1)


# ---- invalid input ------------------------------------------------------------------------------------------------


class NanAgent:
    name = "lost"

    def scores(self, exploration):
        return np.full(len(exploration.candidates.nodes), np.nan)


SOME = Trajectories.from_walks([["music", "physics", "chemistry", "biology"]] * 2, graph=cg.toys.library())
ONE = Trajectories.from_walks([["music", "physics", "chemistry", "biology"]] * 2, users=[0, 0], graph=cg.toys.library())


@pytest.mark.parametrize(
    ("walks", "settings", "error", "value"),
    [
        (Trajectories.from_walks([]), {}, cg.errors.WalkError, "0 choices"),
        (Trajectories.from_walks([["music", "zz"]]), {}, cg.UnknownNodeError, "'zz'"),
        ([["music", "physics"]], {}, cg.SettingError, "'physics'"),
        (ONE, {}, cg.errors.WalkError, "by 1 users"),
        (SOME, {"motives": ["joy"]}, cg.errors.UnknownNameError, "'joy'"),
        (SOME, {"motives": "igt"}, cg.SettingError, "'igt'"),
        (SOME, {"motives": []}, cg.SettingError, "at least one"),
        (SOME, {"motives": ["igt", "igt"]}, cg.SettingError, "'igt', 'igt'"),
        (SOME, {"agents": ["gready"]}, cg.errors.UnknownNameError, "'gready'"),
        (SOME, {"agents": [NanAgent()]}, cg.errors.AgentError, "'lost'"),
        (SOME, {"folds": 1}, cg.SettingError, "folds is 1"),
        (SOME, {"burn_in": 0}, cg.SettingError, "burn_in is 0"),
        (SOME, {"memory": 2, "burn_in": 3}, cg.SettingError, "memory is 2"),
    ],
)
def test_invalid_input_raises_a_single_line(walks, settings, error, value):
    with pytest.raises(error, match=value) as caught:
        hypotheses(cg.toys.library(), walks, **{"burn_in": 2} | settings)
    assert "\n" not in str(caught.value)


@pytest.mark.long
def test_workers_and_a_run_folder_do_not_change_a_bit(tmp_path):
    walks = follow_agent(GRAPH, "greedy", "igt", 0.7)
    some = {"motives": ["pagerank", "cpt", "markov"], "agents": ["igt-rg"]}
    results = [
        hypotheses(GRAPH, walks, engine=engine, **some)
        for engine in (cg.Engine(workers=1), cg.Engine(workers=2, run=tmp_path), cg.Engine(run=tmp_path))
    ]
    assert len({repr(found.to_dict()) for found in results}) == 1
    hypotheses(GRAPH, walks, engine=cg.Engine(workers=1, run=tmp_path), seed=1, **some)
    assert len(list(tmp_path.glob("motives-*"))) == 2  # other folds are another job


def test_returns_are_choices_among_all_neighbors_and_the_node_before():
    graph = cg.Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d")], directed=True)
    walks = Trajectories.from_walks([["a", "b", "a", "b", "c"], ["b", "c", "b", "c", "d"]], graph=graph)
    found = hypotheses(graph, walks, motives=["uniform", "degree", "igt"], burn_in=1, returns=True)
    assert found.choices == 4  # at b and at c, among the next node and the one before
    with pytest.raises(cg.SettingError, match="'habit'"):
        hypotheses(graph, walks, motives=["uniform"], agents=[HabitAgent()], burn_in=1, returns=True)
