"""The multiverse of Table 2, on small synthetic people."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest

from curiograph.graph.generators import generate
from curiograph.graph.graph import Graph
from curiograph.human.data.datasets import Dataset
from curiograph.human.prediction.methods import ALPHAS, PAGERANK, Mixture
from curiograph.human.prediction.predict import Effort as PredictEffort
from curiograph.human.prediction.predict import draw_choices, find_agents, make_study, score_components
from curiograph.parallel import IN_PROCESS
from reproduction import mixture_kernels, universes
from reproduction.multiverse import Universes, compute_dataset, list_worlds
from reproduction.published import TABLE2
from reproduction.report import Setup
from reproduction.universes import METHODS, SIGNS, Effort, World
from support import people

SMALL = Effort(training=60, test=80, candidates=8, walkers=8, trained_walkers=2, steps=2, draws=30)


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    """Walks of people who follow gaps on a directed graph, under the name of a dataset of the paper."""
    links = generate("er", nodes=50, seed=0)
    rows = np.repeat(np.arange(50), links.degrees)
    kept = np.random.default_rng(0).random(len(rows)) < 0.8
    graph = Graph.from_arrays(rows[kept], links.indices[kept], directed=True, names=links.names)
    users = [f"u{number % 40}" for number in range(160)]
    walks = people.follow_agent(graph, "greedy", "igt", 0.8, walks=160, steps=15, users=users)
    return Dataset(walks, graph, "wikispeedia")


@pytest.fixture(scope="module")
def found(dataset):
    return Universes("wikispeedia", compute_dataset(Setup(), dataset, range(2), SMALL))


def test_answers_to_the_stored_results_are_unchanged():
    results = Path(__file__).parents[2] / "docs" / "results"
    stored = json.loads((results / "multiverse.json").read_text())["universes"]
    page = (results / "multiverse.md").read_text()
    assert all(Universes(name, each).answer in page for name, each in stored.items())


def test_comparison_with_controls(found):
    assert found.compare("igt+cpt") == (0, 1, 0)
    ranks = found.ranks.xs("all", level="test set")
    above, equal, difference = found.compare("memory")
    ours, memory = ranks["igt+cpt"].to_numpy(), ranks["memory"].to_numpy()
    assert above == np.count_nonzero(ours > memory) / len(ranks)
    assert equal == np.count_nonzero(ours == memory) / len(ranks)
    assert difference == pytest.approx(np.mean((ours - memory) / ranks["pagerank"].to_numpy()))


def test_shares_of_variance_and_excess_beyond_seeds(found):
    r = found.r["igt+cpt"]
    signs = r.to_numpy().reshape([len(levels) for levels in found.factors.values()])
    axis = list(found.factors).index("signs")
    others = tuple(other for other in range(signs.ndim) if other != axis)
    wanted = [signs.mean(axis=others).var() / signs.var(), signs.var(axis=axis).mean() / signs.var()]
    assert found.shares.loc["signs"].tolist() == pytest.approx(wanted)
    by_seed = [found.excess.xs(seed, level="seed").to_numpy() for seed in ("0", "1")]
    error = np.abs(by_seed[0] - by_seed[1]) / 2
    assert np.array_equal(found.is_beyond_seeds, (by_seed[0] + by_seed[1]) / 2 > 12.7062047364 * error)


def test_levels_of_a_universe_lead_to_the_result_of_its_task(dataset, found):
    world = list_worlds(dataset, range(2))[1][3]
    assert world == World(world.recipe, directed=False, seed=1)
    task = universes.compute_universes((dataset, TABLE2["wikispeedia"], SMALL), world)
    number = universes.PROTOCOLS.index((6, "history", "edges"))
    levels = {"links": "undirected", "seed": "1", "burn-in": "6", "candidates": "history", "runs": "edges"}
    cells = found.ranks.xs(tuple(levels.values()), level=list(levels))
    np.testing.assert_allclose(cells.to_numpy().reshape(task["ranks"][number].shape), task["ranks"][number], atol=1e-4)
    assert (found.r[PAGERANK] == 0).all()
    levels |= {"signs": "either", "walkers": "greedy"}
    r = found.r.xs("all", level="test set").loc[tuple(levels.values())]
    assert found.excess.loc[tuple(levels.values())] == r["igt+cpt"] - max(r["igt"], 0) - max(r["cpt"], 0)


def test_item_graphs_are_crossed():
    dataset = replace(people.ratings(people.tastes(users=120, items=70, visits=40)), name="movielens")
    factors, worlds = list_worlds(dataset, range(2))
    assert [len(levels) for levels in factors.values()] == [2, 2, 3, 2]
    assert len({repr(world) for world in worlds}) == 24
    for world in (worlds[0], worlds[-1]):  # the most similar pairs, and the nearest items
        task = universes.compute_universes((dataset, TABLE2["movielens"], SMALL), world)
        assert task["ranks"].shape == (18, 2, 2, 2, len(METHODS))
        assert np.isfinite(task["ranks"]).all()


# ---- parts ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scored():
    """Choices of the prediction path with their samples, both with every candidate, and walkers along all paths."""
    effort = PredictEffort(splits=1, trials=1, walkers=400, trained_walkers=400, steps=2, windows=80, all_windows=30)
    study = make_study(people.walkers())
    drawn = draw_choices(study, effort)
    agents = {reward: f"{reward}-ba" for reward in ("igt", "cpt")}
    components = score_components(study, drawn, find_agents(study.graph, agents, 0, 0, IN_PROCESS), effort)
    samples = [
        universes.draw_sample(study.graph, choices.windows, scope, 1000, 1000, 0) for scope, choices in drawn.items()
    ]
    own = replace(SMALL, walkers=400, trained_walkers=400)
    return components, samples, universes.score_samples(study.graph, samples, own, study.seed)


@pytest.mark.parametrize("place", [0, 1])
def test_scores_and_ranks_agree_with_predict(scored, place):
    found, samples, scores = scored
    components, sample = list(found.values())[place], samples[place]
    choices, rows = components.choices, universes.combine_steps(scores[place], SMALL.steps)
    by_node = np.lexsort((sample.candidates.nodes, sample.candidates.walks))
    assert sample.candidates.nodes[by_node].tolist() == choices.candidates.nodes.tolist()
    for alpha in set(ALPHAS) & set(universes.ALPHAS):
        number = universes.ALPHAS.index(alpha)
        np.testing.assert_allclose(rows[number][by_node], components.pagerank[ALPHAS.index(alpha)], rtol=1e-5)
    for name in ("greedy igt", "greedy cpt", "trained igt", "trained cpt"):
        for option in universes.list_options(SMALL.steps)[name]:
            alpha, steps = universes.ALPHAS[option[0]], 1 + (option[1] - len(universes.ALPHAS)) % SMALL.steps
            wanted = components.compute_component(name, alpha, steps) * (alpha ** np.arange(steps + 1)).sum()
            np.testing.assert_allclose(rows[option[1]][by_node], wanted, atol=1e-6)
    option = universes.list_options(SMALL.steps)["greedy igt"][-1]  # the largest alpha, all steps
    alpha = universes.ALPHAS[-1]
    scale = (alpha ** np.arange(SMALL.steps + 1)).sum()
    mixture = Mixture({PAGERANK: 0.3, "greedy igt": 0.7 * scale}, alpha=alpha, steps=SMALL.steps)
    weights = np.array([0.3, 0.7, 0.0], np.float32)
    ranks = mixture_kernels.rank_choices(sample.candidates.offsets, rows, option, weights)
    wanted = choices.rank(components.score_mixture(mixture)).percentile[choices.candidates.counts > 1]
    assert np.mean(np.abs(ranks - wanted) < 1e-9) > 0.95  # single precision moves near ties
    assert ranks.mean() == pytest.approx(wanted.mean(), abs=2e-3)


def test_fits_respect_signs_and_contain_each_other(scored):
    _, samples, scores = scored
    offsets = samples[0].candidates.offsets
    fits = universes.fit_methods(offsets, scores[0], SMALL.steps)
    assert all(np.all(weights >= 0) for (_, sign), (_, weights) in fits.items() if sign == "non-negative")
    assert any(np.any(weights < 0) for (_, sign), (_, weights) in fits.items() if sign == "either")
    rows = universes.combine_steps(scores[0], SMALL.steps)
    reached = {key: mixture_kernels.rank_choices(offsets, rows, *fit).mean() for key, fit in fits.items()}
    rounding = 1e-3  # fits are of standardized rows, which rounds some ties apart

    def check_order(*keys: tuple[str, str]) -> None:
        values = [reached[key] for key in keys]
        assert all(more >= less - rounding for less, more in pairwise(values))

    for sign in SIGNS:
        check_order((PAGERANK, sign), ("two PageRanks", sign))
        for kind, reward in product(("greedy", "trained"), ("igt", "cpt")):
            check_order((PAGERANK, sign), (f"{kind} {reward}", sign), (f"{kind} igt+cpt", sign))
    for method, _ in fits:
        check_order((method, "non-negative"), (method, "either"))


def test_draws_agree_with_a_direct_computation():
    rng = np.random.default_rng(0)
    ranks, draws = rng.random((2, 2, len(METHODS), 50)), rng.integers(50, size=(40, universes.SMALL_TEST))
    paper = {"igt": (0.0, 0.1), "cpt": (0.0, 0.1), "igt+cpt": (0.02, 0.1)}
    chances = universes.summarize_draws(ranks, draws, paper)
    above, below, both, exceeding = [], [], [], []
    for draw in draws:
        pagerank, igt, cpt, mixed = (float(np.mean([ranks[1, 0, method, i] for i in draw])) for method in range(4))
        r_igt, r_cpt, r = igt / pagerank - 1, cpt / pagerank - 1, mixed / pagerank - 1
        above.append(r >= 0.02)
        below.append(r_igt <= 0)
        both.append(above[-1] and below[-1])
        exceeding.append(r > max(r_igt, 0) + max(r_cpt, 0))
    np.testing.assert_allclose(chances[1, 0], [np.mean(each) for each in (above, below, both, exceeding)])
    assert 0 < chances[1, 0, 0] < 1


def test_runs_along_edges():
    graph = Graph.from_edges([("a", "b"), ("b", "c"), ("d", "e"), ("c", "e")])
    lists = [["a", "b", "c"], ["a", "d", "e"], ["b", "a", "c"], ["a", "c", "d"]]
    windows = people.Trajectories.from_walks(lists, graph=graph).windows(2)
    kept = {
        (scope, runs): universes.select_windows(graph, windows, scope, runs).users.tolist()
        for scope in universes.SCOPES
        for runs in universes.RUNS
    }
    assert kept == {
        ("last", "edges"): [0], ("last", "all"): [0, 1],
        ("history", "edges"): [0], ("history", "all"): [0, 1, 2],
        ("all", "edges"): [0], ("all", "all"): [0, 1, 2, 3],
    }  # fmt: skip
