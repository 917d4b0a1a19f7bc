"""Levy walks: the likelihood against its definition, recovery of parameters, and choices with returns."""

from __future__ import annotations

import json
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

import curiograph as cg
from curiograph import kernels
from curiograph.human.choices.choice_sets import find_choices
from curiograph.human.motives.catalog import as_motives
from curiograph.human.returns.levy import collect_steps, fit_levy_walks, simulate_levy_walks
from curiograph.human.returns.levy_choices import LevyChoices, LevyFit
from curiograph.human.trajectories import Trajectories
from curiograph.rewards.registry import as_reward

GRAPH = cg.generate("ws", nodes=60, seed=0)
LINKS = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (1, 4), (4, 5), (0, 5), (6, 0)]  # 5 is a dead end, 6 has no way in
DIRECTED = cg.Graph.from_edges(LINKS, directed=True)


def compute_reference(graph, lists, rho, mu, limit):
    """Return the log-likelihood of the walks of one person, step by step over all nodes."""
    paths = dict(nx.all_pairs_shortest_path_length(graph.to_networkx()))
    crossings, total = {}, 0.0
    for walk in lists:
        for here, there in pairwise(walk):
            weights = {
                node: min(paths[here].get(node, limit), limit) ** -mu
                * (1 + rho * crossings.get(frozenset((here, node)), 0))
                for node in graph.labels
                if node != here
            }
            total += np.log(weights[there] / sum(weights.values()))
            edge = frozenset((here, there))
            crossings[edge] = crossings.get(edge, 0) + 1
    return total


@pytest.mark.parametrize("limit", [2, 3, 5])
def test_likelihood_matches_the_definition(limit):
    rng = np.random.default_rng(0)
    lists = [rng.integers(0, 7, 15).tolist() for _ in range(6)]
    walks = Trajectories.from_walks(lists, users=[0, 1, 0, 2, 1, 0], graph=DIRECTED)
    users, steps = collect_steps(DIRECTED, walks, limit)
    points = rng.normal(0, 1, (3, 4, 2))
    found = steps.evaluate(points)
    for person, user in enumerate(users.tolist()):
        own = [walks.labels(number) for number in range(6) if walks.users[number] == user]
        for number in range(4):
            rho, mu = np.exp(points[person, number])
            assert found[person, number] == pytest.approx(compute_reference(DIRECTED, own, rho, mu, limit))
    values, gradient, information = steps.expand(points[:, 0])
    assert values == pytest.approx(found[:, 0])
    moved = steps.evaluate(points[:, :1] + 1e-5 * np.array([1.0, 0.0]))[:, 0] - values
    assert gradient[:, 0] == pytest.approx(moved / 1e-5, rel=1e-3, abs=1e-3)
    assert np.all(np.linalg.eigvalsh(information) > -1e-6)


def test_bounded_distances_match_networkx():
    everything = np.arange(7)
    for limit in (2, 3, 9):
        counts, distances = kernels.shortest_paths.compute_bounded_distances(
            DIRECTED.indptr, DIRECTED.indices, everything, 7 * np.arange(8), np.tile(everything, 7), limit
        )
        paths = dict(nx.all_pairs_shortest_path_length(DIRECTED.to_networkx()))
        labels = DIRECTED.labels
        wanted = [[min(paths[a].get(b, limit), limit) for b in labels] for a in labels]
        assert distances.reshape(7, 7).tolist() == wanted
        assert counts.tolist() == [np.bincount(row, minlength=limit + 1).tolist() for row in wanted]


def recover(people, steps, seed):
    """Return correlations of true and fitted parameters (logarithms), and the coverage of their intervals."""
    rng = np.random.default_rng(seed)
    truth = np.exp(rng.normal([0.5, 1.2], [1.0, 0.4], (people, 2)))
    walks = simulate_levy_walks(GRAPH, truth[:, 0], truth[:, 1], steps, seed=seed)
    fit = fit_levy_walks(GRAPH, walks)
    assert fit.users == list(range(people))
    correlations, covered = [], []
    for column, estimates in enumerate((fit.user_reinforcement, fit.user_exponent)):
        values = np.log([estimate.value for estimate in estimates])
        correlations.append(np.corrcoef(values, np.log(truth[:, column]))[0, 1])
        covered.append(
            np.mean([each.low <= true <= each.high for each, true in zip(estimates, truth[:, column], strict=True)])
        )
    return correlations, covered, fit


def test_parameters_of_people_are_recovered():
    correlations, covered, fit = recover(people=40, steps=250, seed=0)
    assert min(correlations) > 0.9
    assert min(covered) > 0.8
    assert fit.reinforcement.low < np.exp(0.5) < fit.reinforcement.high
    assert fit.exponent.low < np.exp(1.2) < fit.exponent.high
    assert fit.to_frame()["user"].tolist() == list(range(40))
    assert json.loads(json.dumps(fit.to_dict()))["steps"] == 40 * 249
    assert len(fit.plot().axes) == 1
    assert "<table>" in fit._repr_html_()


@pytest.mark.long
def test_parameters_of_many_people_are_recovered():
    found = [recover(people=200, steps=300, seed=seed) for seed in range(5)]
    assert np.min([correlations for correlations, _, _ in found]) > 0.9
    assert 0.93 <= np.mean([covered for _, covered, _ in found]) <= 0.97


def test_simulated_walks_follow_the_definition():
    anywhere = simulate_levy_walks(GRAPH, [0.0], [0.0], 4000, seed=1)
    share = np.bincount(anywhere.nodes, minlength=60) / 4000
    assert share == pytest.approx(1 / 60, abs=0.012)  # an exponent of zero: any node
    along_links = simulate_levy_walks(GRAPH, [0.0], [60.0], 300, seed=1).walk(0).tolist()
    assert all(b in GRAPH.indices[slice(*GRAPH.indptr[a : a + 2])] for a, b in pairwise(along_links))
    strong = cg.human.measure_returns(simulate_levy_walks(GRAPH, [0.0] * 5 + [50.0] * 5, [6.0] * 10, 100, seed=2))
    shares = strong.per_user()["share"]
    assert shares[5:].min() > shares[:5].max()
    assert np.array_equal(
        simulate_levy_walks(GRAPH, [1.0], [2.0], 30, seed=3).nodes,
        simulate_levy_walks(GRAPH, [1.0, 9.0], [2.0, 1.0], 30, seed=3).walk(0),
    )


# ---- choices with returns -----------------------------------------------------------------------------------------


def test_candidates_include_visited_nodes_and_the_node_before():
    walks = Trajectories.from_walks([[0, 1, 2, 0, 1, 4, 1, 2]], graph=DIRECTED)
    choices, left_out = find_choices(DIRECTED, walks, burn_in=1, returns=True)
    found = {}
    for row in range(len(choices)):
        history = choices.windows.histories[row]
        some = slice(*choices.candidates.offsets[row : row + 2])
        candidates = [DIRECTED.labels[node] for node in choices.candidates.nodes[some]]
        key = tuple(DIRECTED.labels[node] for node in history[history >= 0])
        found[key] = dict(zip(candidates, choices.crossings[some].tolist(), strict=True))
    assert found[0,] == {1: 0, 5: 0}
    assert found[0, 1] == {0: 1, 2: 0, 4: 0}  # back to 0 without a link
    assert found[1, 2, 0] == {1: 1, 2: 1, 5: 0}  # the step from 0 to 1 again, and back
    assert found[2, 0, 1] == {0: 2, 2: 1, 4: 0}
    assert found[2, 0, 1, 4] == {1: 1, 5: 0}
    assert found[2, 0, 4, 1] == {2: 1, 4: 2}
    assert left_out == {"revisit": 0, "no link": 0, "only candidate": 0}
    assert choices.rows(slice(2, 4)).crossings.tolist() == choices.crossings[
        choices.candidates.offsets[2] : choices.candidates.offsets[4]
    ].tolist()  # fmt: skip


@pytest.fixture(scope="module")
def returning():
    return simulate_levy_walks(GRAPH, [8.0] * 24, [30.0] * 24, 25, seed=4)


@pytest.mark.parametrize("name", ["igt", "cpt"])
def test_a_visited_candidate_leaves_the_reward_unchanged(returning, name):
    choices, _ = find_choices(GRAPH, returning.rows(slice(2)), returns=True)
    (motive,) = as_motives([name], [], "igt")
    found = motive.score_candidates(choices)
    reward = as_reward(name)
    assert np.any(choices.is_visited)
    assert not np.all(choices.is_visited)
    for row in range(0, len(choices), 5):
        history = [int(node) for node in choices.windows.histories[row] if node >= 0]
        for index in range(*choices.candidates.offsets[row : row + 2]):
            node = int(choices.candidates.nodes[index])
            visited = history if node in history else [*history, node]
            assert choices.is_visited[index] == (node in history)
            labels = [GRAPH.labels[each] for each in visited]
            measured = cg.measure(GRAPH, labels)
            wanted = measured.beta1[-1] if reward.name == "igt" else measured.compressibility[-1]
            assert found[index] == pytest.approx(float(wanted), abs=1e-6)


def test_levy_walks_are_compared_on_the_same_choices(returning):
    motives = ["uniform", "degree", "pagerank", "markov", "igt"]
    found = cg.human.hypotheses(GRAPH, returning, motives=motives, returns=True, weights=True)
    assert next(iter(found)) == "levy"
    assert np.isnan(found["levy"].p_g)
    assert found["levy"].gain.low > 0.5
    assert found["levy"].percentile.value > 0.6
    assert found.weights["levy"].adds.low > 0
    assert found.weights["levy"].mean.low > 0.5
    again = cg.human.hypotheses(GRAPH, returning, motives=["uniform"], returns=True)
    assert again["levy"].gain == found["levy"].gain
    assert again.choices == found.choices > cg.human.hypotheses(GRAPH, returning, motives=["uniform"]).choices


def test_gains_of_levy_walks_match_the_definition(returning):
    choices, _ = find_choices(GRAPH, returning, returns=True)
    levy = LevyChoices(choices)
    gains = levy.compute_gains(levy.score(np.log([3.0, 2.0])))
    for row in range(0, len(choices), 50):
        some = slice(*choices.candidates.offsets[row : row + 2])
        weights = np.exp(-2.0 * levy.log_distances[some]) * (1 + 3.0 * choices.crossings[some])
        chance = weights[choices.chosen[row] - some.start] / weights.sum()
        assert gains[row] == pytest.approx(np.log2(chance * len(weights)))
    fitted = levy.fit(np.arange(len(choices))).logs
    best = levy.compute_gains(levy.score(fitted)).sum()
    assert all(levy.compute_gains(levy.score(fitted + move)).sum() <= best + 1e-6 for move in ([0.1, 0], [-0.1, 0]))


class _Lost:
    name = "lost"

    def scores(self, exploration):
        return np.zeros(len(exploration.candidates.nodes))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda walks: fit_levy_walks(GRAPH, walks, max_distance=1), cg.SettingError, "max_distance is 1"),
        (lambda walks: fit_levy_walks(GRAPH, walks, seed=-1), cg.SettingError, "seed is -1"),
        (lambda walks: fit_levy_walks(GRAPH, Trajectories.from_walks([[0]], graph=GRAPH)), cg.WalkError, "no step"),
        (lambda walks: fit_levy_walks(GRAPH, [[0, 1]]), cg.SettingError, "give Trajectories"),
        (lambda walks: fit_levy_walks(GRAPH, Trajectories.from_walks([["x", "y"]])), cg.UnknownNodeError, "no node"),
        (lambda walks: simulate_levy_walks(GRAPH, [1.0], [-1.0]), cg.SettingError, "exponent is"),
        (lambda walks: simulate_levy_walks(GRAPH, [np.nan], [1.0]), cg.SettingError, "reinforcement is"),
        (lambda walks: simulate_levy_walks(GRAPH, [1.0], [1.0, 2.0]), cg.SettingError, "for each person"),
        (lambda walks: simulate_levy_walks(GRAPH, [1.0], [1.0], 1), cg.SettingError, "steps is 1"),
        (
            lambda walks: cg.human.hypotheses(GRAPH, walks, agents=[_Lost()], motives=[], returns=True, workers=1),
            cg.SettingError,
            "agent 'lost' scores unvisited nodes only",
        ),
    ],
)
def test_invalid_input_raises_a_single_line(returning, call, error, message):
    with pytest.raises(error, match=message) as caught:
        call(returning)
    assert "\n" not in str(caught.value)


def test_parameters_that_are_not_identified_give_a_remark():
    one = simulate_levy_walks(GRAPH, [1.0], [4.0], 8, seed=1)
    with pytest.warns(UserWarning, match="do not identify the reinforcement"):
        fit = fit_levy_walks(GRAPH, one)
    assert fit.reinforcement.high > 100 * fit.reinforcement.low
    assert repr(fit).startswith("LevyWalks(1 user, 7 steps;")
    assert "do not identify the reinforcement" in repr(fit)
    assert fit.to_dict()["remarks"] == fit.remarks


def test_the_levy_motive_allows_for_steps_that_its_people_did_not_take():
    """Nobody goes back without a link, so that the exponent of largest likelihood is infinite."""
    lists = [[0, 1, 2, 3, 4], [0, 1, 4, 5], [2, 3, 4, 5], [6, 0, 1, 2], [0, 1, 2, 0, 5]] * 4
    choices, _ = find_choices(DIRECTED, Trajectories.from_walks(lists, graph=DIRECTED), burn_in=1, returns=True)
    levy = LevyChoices(choices)
    assert np.any(levy.log_distances > 0)
    assert np.all(levy.log_distances[choices.chosen] == 0)
    fit = levy.fit(np.arange(len(choices)))
    assert fit.converged
    assert fit.remarks == []
    assert np.exp(fit.logs[1]) < 20
    far = LevyFit(logs=np.array([-10.0, 4.0]), converged=False)
    assert [remark.split()[1] for remark in far.remarks] == ["reinforcement", "exponent", "fit"]


def test_gradient_of_the_levy_motive_is_zero_at_the_fit(returning):
    choices, _ = find_choices(GRAPH, returning, returns=True)
    levy, which = LevyChoices(choices), np.arange(0, len(choices), 2)
    logs = levy.fit(which).logs

    def compute_posterior(point):
        prior = np.sum((point - np.log([1.0, 3.0])) ** 2) / (2 * 2.0**2)
        return np.log(2) * levy.compute_gains(levy.score(point))[which].sum() - prior

    for axis in np.eye(2):
        change = compute_posterior(logs + 1e-4 * axis) - compute_posterior(logs - 1e-4 * axis)
        assert change / 2e-4 == pytest.approx(0, abs=0.05)


def test_results_do_not_depend_on_the_order_of_users(returning):
    rng = np.random.default_rng(0)
    lists = [returning.labels(number) for number in range(len(returning))]
    names = [f"u{number // 2}" for number in range(len(returning))]
    column = {"group": {name: name[-1] for name in names}}
    straight = Trajectories.from_walks(lists, users=names, graph=GRAPH, user_columns=column)
    order = rng.permutation(12)
    mixed = [2 * user + walk for user in order for walk in (0, 1)]
    shuffled = Trajectories.from_walks(
        [lists[number] for number in mixed], users=[names[number] for number in mixed], user_columns=column
    )
    assert fit_levy_walks(GRAPH, straight).to_dict() == fit_levy_walks(GRAPH, shuffled).to_dict()
    assert cg.human.measure_returns(straight).to_dict() == cg.human.measure_returns(shuffled).to_dict()
    options = {"motives": ["degree", "markov"], "returns": True}
    one, two = (cg.human.hypotheses(GRAPH, walks, **options).to_dict() for walks in (straight, shuffled))
    assert json.dumps(one) == json.dumps(two)


def test_datasets_are_walks(tmp_path):
    file = tmp_path / "log.csv"
    rows = [f"u{user},{user + step % 3},{step}" for user in range(4) for step in range(9)]
    file.write_text("\n".join(["user,item,time", *rows, "u3,nowhere,9"]) + "\n")
    with pytest.raises(cg.UnknownNodeError, match=r"nowhere.*walks.on\(graph\)"):
        fit_levy_walks(GRAPH, cg.human.read_trajectories(file, graph=GRAPH))
    file.write_text("\n".join(["user,item,time", *rows]) + "\n")
    data = cg.human.read_trajectories(file, graph=GRAPH)
    assert fit_levy_walks(GRAPH, data).user_steps.tolist() == [8] * 4
    assert cg.human.measure_returns(data).user_steps.tolist() == [8] * 4
    assert cg.human.hypotheses(GRAPH, data, motives=["degree"], burn_in=1, returns=True).users == [
        "u0",
        "u1",
        "u2",
        "u3",
    ]
