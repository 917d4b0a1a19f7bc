"""Table 2 under many protocols: all combinations of choices that share one graph and its walkers.

Scores of walkers and of PageRank do not depend on the history, the candidates, the signs of weights or the test set, so
they are computed once per graph. Every method is fitted by the same exhaustive search to the choices of training users.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from curiograph import kernels
from curiograph.arrays import Float32, Float64, Int32, Int64
from curiograph.centrality.swarm import simulate_few_steps
from curiograph.exploration.mdp import Candidates
from curiograph.graph.graph import Graph
from curiograph.human.choices.choice_sets import ChoiceSet, find_chosen
from curiograph.human.data.cooccurrence import cooccurrence_graph
from curiograph.human.data.datasets import Dataset
from curiograph.human.prediction.methods import KINDS, MEMORY, PAGERANK, REWARDS, simulate_walkers, solve_from_nodes
from curiograph.human.prediction.predict import make_study
from curiograph.human.trajectories import Windows
from curiograph.recommendation.count_rankers import Markov
from curiograph.recommendation.ranker import CandidateSet, find_candidates
from reproduction import mixture_kernels
from reproduction.core_graphs import CoreRecipe, compact, core

BURN_INS = (3, 6, 10)
"""Numbers of visits before a choice."""
SCOPES: tuple[CandidateSet, ...] = ("last", "history", "all")
"""Candidate sets: unvisited out-neighbors of the last node, of the history, or all unvisited nodes."""
RUNS = ("edges", "all")
"""Choices: those that continue a run along edges, or all whose chosen node is a candidate."""
SIGNS = ("either", "non-negative")
SMALL_TEST = 133
"""Number of test windows in a file of the authors."""
TWO_PAGERANKS = "two PageRanks"
METHODS = (PAGERANK, "igt", "cpt", "igt+cpt", MEMORY, TWO_PAGERANKS, "markov")
CHANCES = ("igt+cpt", "igt", "both", "super-additive")
"""What is kept of all draws of `SMALL_TEST` choices: shares of the draws in which igt+cpt improves on PageRank at least
as much as in the paper, igt at most as much, both, and igt+cpt more than igt and cpt together (a loss counts as zero).
"""
ALPHAS = (0.01, 0.3, 0.6, 0.85, 0.97)
"""Values of alpha among which one is fitted."""
LEVELS = (0, 1, 2, 4)
"""Absolute weights of components, in units of their spread among candidates."""
FAMILIES = ("ba", "er", "rg", "ws")
"""Graphs on which the shipped agents of the trained walkers were trained, by seed, in turn."""
PROTOCOLS = tuple(product(BURN_INS, SCOPES, RUNS))
_WALKERS = (MEMORY, *(f"{kind} {reward}" for kind in KINDS for reward in REWARDS))


@dataclass(frozen=True)
class Effort:
    """How much to compute for each graph."""

    training: int = 500
    """Maximum number of choices of training users in a fit."""
    test: int = 1000
    """Maximum number of choices of test users."""
    candidates: int = 64
    """Maximum number of other candidates, drawn at random, among which a choice is ranked: the percentile rank among
    them has the same expectation as that among all."""
    walkers: int = 32
    """Maximum number of paths that walkers follow from each node."""
    trained_walkers: int = 4
    """Maximum number of paths that walkers with trained agents follow from each node."""
    steps: int = 3
    """Maximum number of steps of walkers between two teleports; fewer may be fitted."""
    p_g: float = 0.8
    """Parameter of the rank transition of walkers."""
    draws: int = 1000
    """Number of draws of `SMALL_TEST` choices."""


class World(NamedTuple):
    """A graph with its seed: what the protocols of a task share."""

    recipe: CoreRecipe
    """How walks become a graph."""
    directed: bool
    """Whether links of the dataset's own graph have a direction."""
    seed: int
    """Seed of the groups of users, and so of a co-occurrence graph, the choices, the walkers and the agents."""
    nearest: bool = False
    """Whether a co-occurrence graph links each item with its nearest ones, instead of the most similar pairs."""


def compute_universes(
    shared: tuple[Dataset, Mapping[str, tuple[float, float]], Effort], world: World
) -> dict[str, Any]:
    """Task function: results of all protocols on one graph.

    Returns `ranks` (protocols x signs x walkers x test sets x methods), the mean percentile ranks of test choices, and
    `chances` (protocols x signs x walkers x `CHANCES`).
    """
    (dataset, published, effort), (recipe, directed, seed, nearest) = shared, world
    if dataset.graph is not None and not directed:
        dataset = replace(dataset, graph=dataset.graph.skeleton)
    if nearest:  # items of the core of the graph users, up to the mean degree of the recipe
        walks = compact(dataset.walks.split(recipe.makers, seed)[1])
        dense = core(walks, recipe.item_users, recipe.user_items)
        neighbors = int(recipe.mean_degree) // 2
        graph = cooccurrence_graph(dense, similarity=recipe.similarity, neighbors=neighbors, fewest=recipe.item_users)
        dataset = replace(dataset, graph=graph.skeleton)  # without weights, as in the paper
    study = make_study(dataset, recipe, seed)
    samples = []
    for burn_in, scope, runs in PROTOCOLS:
        windows = select_windows(study.graph, study.choice_walks.windows(burn_in), scope, runs)
        is_test = study.split(0, windows.users)
        for some, most in ((~is_test, effort.training), (is_test, effort.test)):
            samples.append(draw_sample(study.graph, windows.rows(some), scope, most, effort.candidates, seed))
    scores = score_samples(study.graph, samples, effort, seed)
    markov = Markov.from_walks(study.graph, study.graph_walks)
    ranks, chances = [], []
    for number in range(len(PROTOCOLS)):
        training, test = samples[2 * number : 2 * number + 2]
        fits = fit_methods(training.candidates.offsets, scores[2 * number], effort.steps)
        tested = rank_tests(test, scores[2 * number + 1], fits, markov, effort.steps)
        draws = np.random.default_rng([seed, number]).integers(len(test), size=(effort.draws, SMALL_TEST))
        ranks.append(np.stack([tested[..., draws[0]].mean(axis=-1), tested.mean(axis=-1)], axis=2))
        chances.append(summarize_draws(tested, draws, published))
    return {"ranks": np.stack(ranks), "chances": np.stack(chances)}


# ---- choices --------------------------------------------------------------------------------------------------------


def select_windows(graph: Graph, windows: Windows, scope: CandidateSet, runs: str) -> Windows:
    """Select the choices whose chosen node is a candidate; for runs along edges, the two last steps follow edges."""
    links = graph.to_scipy().toarray() != 0
    linked = links[windows.histories, windows.nexts[:, None]]
    kept = linked[:, -1] if scope == "last" else linked.any(axis=1) | (scope == "all")
    if runs == "edges":
        kept = kept & linked[:, -1] & links[windows.histories[:, -2], windows.histories[:, -1]]
    return windows.rows(kept)


def draw_sample(
    graph: Graph, windows: Windows, scope: CandidateSet, most: int, candidates: int, seed: int
) -> ChoiceSet:
    """Draw at most `most` choices between several nodes, and at most `candidates` others of each, the chosen first."""
    drawn = windows.sample(most, seed)
    found = find_candidates(graph, drawn.list_histories(), scope)
    streams = kernels.random.make_streams(np.uint64(seed), 0, len(drawn))
    chosen = find_chosen(found, drawn.nexts)
    sampled = Candidates(*mixture_kernels.sample_candidates(found.offsets, found.nodes, chosen, candidates, streams))
    return ChoiceSet(graph, drawn, sampled, streams).rows(sampled.counts > 1)


# ---- scores ---------------------------------------------------------------------------------------------------------


def score_samples(graph: Graph, samples: Sequence[ChoiceSet], effort: Effort, seed: int) -> list[Float32]:
    """Return the scores of the candidates of each sample: PageRank by alpha, then walkers by kind and step.

    One table of all starts x all nodes is in memory at a time.
    """
    starts = np.unique(np.concatenate([sample.windows.histories.ravel() for sample in samples]))
    histories = [np.searchsorted(starts, sample.windows.histories) for sample in samples]
    layers = len(ALPHAS) + len(_WALKERS) * effort.steps
    scores = [np.empty((layers, len(sample.candidates.nodes)), np.float32) for sample in samples]
    for layer, (table, weights) in enumerate(_compute_tables(graph, starts, effort, seed)):
        for sample, rows, out in zip(samples, histories, scores, strict=True):
            out[layer] = mixture_kernels.average_rows(
                table, weights, rows, sample.candidates.offsets, sample.candidates.nodes
            )
    return scores


def _compute_tables(graph: Graph, starts: Int32, effort: Effort, seed: int) -> Iterator[tuple[Float32, Float64]]:
    """Yield scores of all nodes from each start, and the weight of each start in a history."""
    for alpha in ALPHAS:
        yield solve_from_nodes(graph, alpha, starts)
    equal = np.ones(len(starts))
    gaps, compressibility = kernels.greedy_walkers.GAPS, kernels.greedy_walkers.COMPRESSIBILITY
    # uniform transitions need no reward
    for reward, p_g in ((gaps, 1.0), (gaps, effort.p_g), (compressibility, effort.p_g)):
        before = np.zeros((len(starts), graph.num_nodes), np.float32)
        for steps in range(1, effort.steps + 1):
            walking: dict[str, Any] = {"steps": steps, "p_g": p_g, "walks": effort.walkers, "seed": seed}
            after = np.zeros_like(before)
            found = simulate_few_steps(graph, starts.tolist(), reward, alpha=1.0, **walking)
            for row, (nodes, visits) in zip(after, found, strict=True):
                row[nodes] = visits
            yield after - before, equal
            before = after
    for name in REWARDS:
        agent = f"{name}-{FAMILIES[seed % len(FAMILIES)]}"
        settings: dict[str, Any] = {"p_g": effort.p_g, "steps": effort.steps, "seed": seed}
        for visits in simulate_walkers(graph, agent, "igt", starts.tolist(), count=effort.trained_walkers, **settings):
            yield visits[starts].toarray(), equal


# ---- fits -----------------------------------------------------------------------------------------------------------


def combine_steps(scores: Float32, steps: int) -> Float32:
    """Return the scores of all components: PageRank by alpha, then walkers by kind, alpha and maximum of steps."""
    walkers = scores[len(ALPHAS) :].reshape(len(_WALKERS), steps, -1)
    rows = np.empty((len(_WALKERS), len(ALPHAS), steps, scores.shape[1]), np.float32)
    for place, alpha in enumerate(np.asarray(ALPHAS, np.float32)):
        total = np.zeros_like(walkers[:, 0])
        for step in range(steps):
            total += alpha ** (step + 1) * walkers[:, step]
            rows[:, place, step] = total
    return np.concatenate([scores[: len(ALPHAS)], rows.reshape(-1, scores.shape[1])])


def list_options(steps: int) -> dict[str, Int64]:
    """Return the sets of components that each method may mix, options x three components.

    The alpha of walkers and of PageRank is the same, except for two PageRanks. Methods of fewer components repeat one.
    """
    alphas = range(len(ALPHAS))
    options: dict[str, Any] = {
        PAGERANK: [(alpha, alpha, alpha) for alpha in alphas],
        TWO_PAGERANKS: [(*pair, pair[0]) for pair in combinations(alphas, 2)],
    }
    pairs = {name: (name, name) for name in _WALKERS}
    pairs |= {f"{kind} igt+cpt": (f"{kind} igt", f"{kind} cpt") for kind in KINDS}
    for method, pair in pairs.items():
        begins = [len(ALPHAS) + _WALKERS.index(name) * len(ALPHAS) * steps for name in pair]
        places = product(alphas, range(steps))
        options[method] = [(alpha, *(begin + alpha * steps + step for begin in begins)) for alpha, step in places]
    return {method: np.array(each, np.int64) for method, each in options.items()}


def list_weights(components: int) -> Float32:
    """Return all weights of some components on a grid, without multiples of others; further weights are zero.

    >>> list_weights(1).tolist(), len(list_weights(2)), len(list_weights(3))
    ([[1.0, 0.0, 0.0]], 24, 218)
    """
    signed = sorted({sign * level for level in LEVELS for sign in (-1, 1)})
    grid = [weights for weights in product(signed, repeat=components) if max(map(abs, weights)) == max(LEVELS)]
    weights = np.zeros((len(grid), 3), np.float32)
    weights[:, :components] = grid
    return weights if components > 1 else np.eye(1, 3, dtype=np.float32)


def fit_methods(offsets: Int64, scores: Float32, steps: int) -> dict[tuple[str, str], tuple[Int64, Float32]]:
    """Return the three components and weights of the largest mean percentile rank, by method and sign of weights."""
    rows = combine_steps(scores, steps)
    counts = np.diff(offsets)
    means = np.add.reduceat(rows, offsets[:-1], axis=1) / counts
    rows -= np.repeat(means, counts, axis=1).astype(np.float32)
    spreads = np.sqrt(np.add.reduceat(rows**2, offsets[:-1], axis=1) / counts).mean(axis=1)
    spreads[spreads == 0] = 1
    rows /= spreads[:, None]
    fits = {}
    for method, options in list_options(steps).items():
        weights = list_weights(len(set(options[0].tolist())))
        ranks = mixture_kernels.average_ranks(offsets, rows, options, weights)
        for sign in SIGNS:
            allowed = np.all(weights >= 0, axis=1) | (sign == "either")
            option, best = np.unravel_index(np.argmax(np.where(allowed, ranks, -1)), ranks.shape)
            scaled = weights[best] / spreads[options[option]]
            fits[method, sign] = options[option], scaled.astype(np.float32)
    return fits


def rank_tests(
    test: ChoiceSet, scores: Float32, fits: Mapping[tuple[str, str], tuple[Int64, Float32]], markov: Markov, steps: int
) -> Float64:
    """Return percentile ranks of the choices of test users: signs x walkers x methods x choices."""
    rows, offsets = combine_steps(scores, steps), test.candidates.offsets
    counted = markov.scores(test.graph, test.windows.list_histories(), test.candidates)[None].astype(np.float32)
    counted_ranks = mixture_kernels.rank_choices(offsets, counted, np.zeros(3, np.int64), list_weights(1)[0])

    def rank(method: str, sign: str, kind: str) -> Float64:
        if method == "markov":
            return np.asarray(counted_ranks)
        fit = fits[method if (method, sign) in fits else f"{kind} {method}", sign]
        return np.asarray(mixture_kernels.rank_choices(offsets, rows, *fit))

    return np.array([[[rank(method, sign, kind) for method in METHODS] for kind in KINDS] for sign in SIGNS])


def summarize_draws(ranks: Float64, draws: Int64, published: Mapping[str, tuple[float, float]]) -> Float64:
    """Return `CHANCES` of draws of test choices, given `rank_tests`: signs x walkers x `CHANCES`."""
    means = {method: ranks[:, :, METHODS.index(method)][..., draws].mean(axis=-1) for method in METHODS[:4]}
    igt, cpt, both = (means[method] / means[PAGERANK] - 1 for method in METHODS[1:4])
    above, below = both >= published["igt+cpt"][0], igt <= published["igt"][0]
    exceeds = both > np.maximum(igt, 0) + np.maximum(cpt, 0)
    return np.stack([np.mean(each, axis=-1) for each in (above, below, above & below, exceeds)], axis=-1)
