"""Methods of a prediction: scores of the candidates by every component, and mixtures fitted to training users."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.agents.agent_names import AgentLike, as_agent
from curiograph.arrays import Float32, Float64, Int32, Int64
from curiograph.centrality.history import check_p_g, make_uniform_teleport
from curiograph.centrality.mixture import normalize_weights
from curiograph.centrality.pagerank import compute_flow_scales, compute_pagerank_rows
from curiograph.centrality.swarm import States, SwarmLimits, WalkerPolicy, simulate_swarm
from curiograph.errors import import_optional
from curiograph.exploration.mdp import Candidates
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph
from curiograph.human.choices.choice_sets import MEASURES, ChoiceSet
from curiograph.parallel import IN_PROCESS, Engine
from curiograph.progress import Progress, no_progress
from curiograph.recommendation.incidence import gather_product
from curiograph.rewards.reward_names import as_reward

REWARDS = ("igt", "cpt")
"""Rewards of the curious walkers."""
PAGERANK, MEMORY = "pagerank", "memory"
"""Components without curiosity: PageRank, and walkers that remember their path and choose at random."""
ALL_WITHOUT_CURIOSITY, ALL_WITH_CURIOSITY = "all but curiosity", "all and curiosity"
ALPHAS = (0.01, 0.05, 0.15, 0.3, 0.45, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.97, 0.99)
"""Values of alpha among which one is fitted."""
KINDS = ("greedy", "trained")
"""Kinds of curious walkers: for the exact reward of the next step, or with an agent trained on the graph."""
_THEORIES = {"igt": ("igt",), "cpt": ("cpt",), "igt+cpt": ("igt", "cpt")}
_NOT_CURIOUS = ("degree", "popularity", "markov", "item-knn", PAGERANK, MEMORY)
_STARTUP_TRIALS = 10  # random trials before the Gaussian process is used
_STARTS_PER_TASK = 64
_PAGERANK_BATCH = 256  # nodes from which PageRank is solved at a time: bounds the memory


@dataclass(frozen=True)
class Mixture:
    """Weights and parameters of a weighted sum of components, fitted to training users."""

    weights: Mapping[str, float]
    """Weight of each component, up to a common factor."""
    alpha: float = 0.85
    """Damping factor of PageRank and of the walkers."""
    steps: int = 8
    """Maximum number of steps of walkers between two teleports."""
    scaled: bool = False
    """Whether to standardize components among the candidates of each choice; needed unless all are probabilities."""

    @property
    def unit_weights(self) -> dict[str, float]:
        """Weights scaled to unit Euclidean norm."""
        return normalize_weights(self.weights, self.weights)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, with the weights scaled to unit Euclidean norm."""
        return {"alpha": self.alpha, "steps": self.steps, "scaled": self.scaled, "weights": self.unit_weights}


@dataclass(frozen=True, eq=False)
class Components:
    """Scores of the candidates of a choice set by every component."""

    choices: ChoiceSet
    """Choices and their candidates."""
    pagerank: Float32
    """PageRank, alphas x candidates."""
    walkers: Mapping[str, Float32]
    """Probability that the walkers of each component are at a candidate after each step, steps x candidates."""
    baselines: Mapping[str, Float64]
    """Scores of the candidates by each count-based baseline."""

    def rows(self, which: NDArray[np.bool_]) -> Components:
        """Select choices by a mask."""
        kept = which[self.choices.candidates.walks]
        return Components(
            choices=self.choices.rows(which),
            pagerank=self.pagerank[:, kept],
            walkers={name: table[:, kept] for name, table in self.walkers.items()},
            baselines={name: scores[kept] for name, scores in self.baselines.items()},
        )

    def compute_component(self, name: str, alpha: float, steps: int) -> Float64:
        """Return the scores of one component; walkers teleport with probability 1 - alpha and after `steps` steps."""
        if name == PAGERANK:
            return np.asarray(self.pagerank[ALPHAS.index(alpha)], np.float64)
        if name in self.baselines:
            return self.baselines[name]
        powers = alpha ** np.arange(steps + 1)
        table = self.walkers[name][:steps]
        return np.asarray((powers[1:].astype(np.float32) @ table) / powers.sum(), np.float64)

    def compute_spread(self, name: str, alpha: float, steps: int) -> float:
        """Return the standard deviation of a component among the candidates of a choice, averaged over choices."""
        return float(self._center(self.compute_component(name, alpha, steps))[1].mean())

    def score_mixture(self, mixture: Mixture) -> Float64:
        """Return the scores of a mixture."""
        total = np.zeros(len(self.choices.candidates.nodes))
        for name, weight in mixture.unit_weights.items():
            if weight:
                component = self.compute_component(name, mixture.alpha, mixture.steps)
                if mixture.scaled:
                    centered, spreads = self._center(component)
                    component = centered / np.where(spreads > 0, spreads, 1)[self.choices.candidates.walks]
                total += weight * component
        return total

    def evaluate(self, mixture: Mixture) -> float:
        """Return the mean percentile rank of the choices under a mixture."""
        return float(np.nanmean(self.choices.rank(self.score_mixture(mixture)).percentile))

    def _center(self, scores: Float64) -> tuple[Float64, Float64]:
        """Subtract the mean of each choice; return the centered scores and the standard deviation of each choice."""
        rows, counts = self.choices.candidates.walks, self.choices.candidates.counts
        divisor = np.maximum(counts, 1)
        centered = scores - (np.bincount(rows, scores, len(counts)) / divisor)[rows]
        return centered, np.sqrt(np.bincount(rows, centered**2, len(counts)) / divisor)


# ---- PageRank of the candidates -------------------------------------------------------------------------------------


def score_alpha(shared: tuple[Graph, Sequence[ChoiceSet]], alpha: float) -> Mapping[str, Any]:
    """Task function: compute the PageRank of the candidates for one alpha, by the number of the choice set.

    That of a history is a mean over its nodes, weighted by the expected number of visits before the first teleport.
    """
    graph, sets = shared
    starts = np.unique(np.concatenate([each.windows.histories.ravel() for each in sets]))
    table, flows = solve_from_nodes(graph, alpha, starts)
    scored = {}
    for number, each in enumerate(sets):
        candidates, columns = each.candidates, np.searchsorted(starts, each.windows.histories).T
        total = flows[columns].sum(axis=0)[candidates.walks]
        scores = np.zeros(len(candidates.nodes), np.float32)
        for column in columns:
            rows = column[candidates.walks]
            scores += table[rows, candidates.nodes] * (flows[rows] / total)
        scored[str(number)] = scores
    return scored


def solve_from_nodes(graph: Graph, alpha: float, starts: Int32) -> tuple[Float32, Float64]:
    """Return the PageRank from each of some nodes (starts x nodes), and the weight of each in that of a history."""
    table = np.empty((len(starts), graph.num_nodes), np.float32)
    for first in range(0, len(starts), _PAGERANK_BATCH):
        nodes = starts[first : first + _PAGERANK_BATCH]
        teleports = [make_uniform_teleport(np.asarray([node], np.int32)) for node in nodes]
        table[first : first + len(teleports)] = compute_pagerank_rows(graph, alpha, teleports)
    return table, compute_flow_scales(graph, alpha, table)


# ---- curious walkers ------------------------------------------------------------------------------------------------
#
# Walkers forget their path at a teleport, so the scores of a history are means over its nodes. The probabilities of
# being at each node after each step depend neither on alpha nor on the number of steps between teleports, so one
# simulation serves all values of both.


def simulate_walkers(
    graph: Graph,
    agent: AgentLike,
    reward: str,
    starts: Sequence[int] | Int64,
    *,
    p_g: float = 0.8,
    steps: int = 8,
    count: int = 400,
    seed: int = 0,
    engine: Engine = IN_PROCESS,
    progress: Progress = no_progress,
) -> list[Any]:
    """Simulate walkers that follow an agent by the rank transition, at most `count` paths from each start.

    Returns one sparse array per step with the probabilities, starts x nodes; rows of other nodes than starts are empty.
    """
    starts = np.unique(np.asarray(starts, np.int64))
    tasks = [starts[first : first + _STARTS_PER_TASK] for first in range(0, len(starts), _STARTS_PER_TASK)]
    agent, settings = as_agent(agent), (reward, check_p_g(p_g), steps, count, seed)
    results = engine.map(
        simulate_starts,
        (graph, agent, *settings),
        tasks,
        name=f"walkers-{agent.name}-{reward}",
        key=[graph, agent, settings],
        unit=f"groups of {_STARTS_PER_TASK} nodes",
        progress=progress,
    )
    found = {key: np.concatenate([result[key] for result in results]) for key in results[0]}
    arrays = []
    for step in range(steps):
        now = found["steps"] == step
        places, shape = (found["starts"][now], found["nodes"][now]), (graph.num_nodes, graph.num_nodes)
        arrays.append(scipy.sparse.coo_array((found["chances"][now], places), shape=shape).tocsr())
    return arrays


def score_visits(visits: Sequence[Any], histories: Int32, candidates: Candidates) -> Float32:
    """Return steps x candidates: the mean probability over the nodes of each candidate's history."""
    count, width = histories.shape
    entries = (np.full(histories.size, 1 / width), histories.ravel(), np.arange(count + 1) * width)
    visited = scipy.sparse.csr_array(entries, shape=(count, visits[0].shape[0]))
    return np.stack([gather_product(visited, table, candidates).astype(np.float32) for table in visits])


def simulate_starts(shared: tuple[Any, ...], starts: Int64) -> Mapping[str, Any]:
    """Task function: probabilities from some starts, as flat arrays of steps, starts, nodes and chances."""
    graph, agent, reward, p_g, steps, count, seed = shared
    policy = WalkerPolicy(
        stack=GraphBatch.of([graph]), agent=agent, reward=as_reward(reward), p_g=p_g, fallback="frontier", workers=1
    )
    limits = SwarmLimits(count, alpha=1.0, groups=1, steps=steps)  # as many walkers at every step
    found = []
    for start in starts:
        states = States.start(np.asarray([start], np.int32), seed)
        streams = kernels.random.make_streams(states.streams[0], 0, 1)
        visited = simulate_swarm(policy, states, np.ones(1), limits, streams).steps[1:]
        found += [(step, start, each.indices, each.data) for step, each in enumerate(visited)]
    sizes = [len(nodes) for _, _, nodes, _ in found]
    return {
        "steps": np.repeat(np.array([step for step, _, _, _ in found], np.int16), sizes),
        "starts": np.repeat(np.array([start for _, start, _, _ in found], np.int32), sizes),
        "nodes": np.concatenate([nodes for _, _, nodes, _ in found]).astype(np.int32),
        "chances": np.concatenate([chances for _, _, _, chances in found]).astype(np.float32),
    }


# ---- fits -----------------------------------------------------------------------------------------------------------


def fit_split(shared: tuple[Components, int], task: tuple[NDArray[np.bool_], int]) -> Mapping[str, Any]:
    """Task function: fit every method to the choices of training users, and rank those of test users.

    The methods are those that the components allow: of all kinds of walkers present, and with counts if there are any.
    A mixture starts its search from the best mixtures of fewer components. Returns `fits` with the mixture of every
    method, and under the name of each method its measures x test choices.
    """
    (components, trials), (is_test, seed) = shared, task
    import_optional("torch", "predict", "Fitting alpha and weights").set_num_threads(1)
    training, test = components.rows(~is_test), components.rows(is_test)
    kinds = [kind for kind in KINDS if f"{kind} {REWARDS[0]}" in training.walkers]
    pagerank = max((Mixture({PAGERANK: 1.0}, alpha) for alpha in ALPHAS), key=training.evaluate)
    fits = {name: Mixture({name: 1.0}) for name in training.baselines} | {PAGERANK: pagerank}
    for theory, rewards in _THEORIES.items():
        for kind in kinds:
            curious = [f"{kind} {reward}" for reward in rewards]
            begin = [fits[name] for name in curious] if len(curious) > 1 else contrast_pagerank(training, *curious)
            names = [PAGERANK, *curious]
            fits[f"{kind} {theory}"] = fit_mixture(training, names, trials, seed, begin=[pagerank, *begin])
        fits[theory] = max((fits[f"{kind} {theory}"] for kind in kinds), key=training.evaluate)
    begin = [pagerank, *contrast_pagerank(training, MEMORY)]
    fits[MEMORY] = fit_mixture(training, [PAGERANK, MEMORY], trials, seed, begin=begin)
    if training.baselines:
        singles = [Mixture({name: 1.0}, pagerank.alpha, scaled=True) for name in _NOT_CURIOUS]
        without = fit_mixture(training, _NOT_CURIOUS, 2 * trials, seed, scaled=True, begin=singles)
        names = [*_NOT_CURIOUS, *(f"{kind} {reward}" for kind in kinds for reward in REWARDS)]
        begin = [without, *(replace(without, steps=steps) for steps in (2, 3))]
        fits[ALL_WITHOUT_CURIOSITY] = without
        fits[ALL_WITH_CURIOSITY] = fit_mixture(training, names, 2 * trials, seed, scaled=True, begin=begin)
    measures = {}
    for method, mixture in fits.items():
        ranks = test.choices.rank(test.score_mixture(mixture))
        measures[method] = np.stack([getattr(ranks, measure) for measure in MEASURES]).astype(np.float32)
    return {"fits": {method: mixture.to_dict() for method, mixture in fits.items()}, **measures}


def contrast_pagerank(training: Components, walkers: str) -> list[Mixture]:
    """Return mixtures of walkers that stay near the history minus PageRank: good starting points of a search."""
    most = len(training.walkers[walkers])
    settings = dict.fromkeys((alpha, min(steps, most)) for alpha, steps in ((0.8, 2), (0.95, 2), (0.95, 4)))
    mixtures = []
    for alpha, steps in settings:
        signs = {PAGERANK: -1, walkers: 1}
        weights = {name: sign / max(training.compute_spread(name, alpha, steps), 1e-12) for name, sign in signs.items()}
        mixtures.append(Mixture(weights, alpha, steps))
    return mixtures


def fit_mixture(
    components: Components,
    names: Sequence[str],
    trials: int,
    seed: int,
    scaled: bool = False,
    begin: Sequence[Mixture] = (),
) -> Mixture:
    """Find the mixture of some components, walkers among them, with the largest mean percentile rank.

    Alpha, the steps of walkers and the weights are searched by the Gaussian process of optuna, after all mixtures of
    `begin`: the result is at least as good on these choices.
    """
    optuna = import_optional("optuna", "predict", "Fitting alpha and weights")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    most_steps = max(len(table) for table in components.walkers.values())
    space = {
        "alpha": optuna.distributions.IntDistribution(0, len(ALPHAS) - 1),
        "steps": optuna.distributions.IntDistribution(1, most_steps),
        **{name: optuna.distributions.FloatDistribution(-1, 1) for name in names},
    }

    def get_scale(name: str, alpha: float, steps: int) -> float:
        """Return the spread of a component: weights are searched in units of it, since spreads differ by orders."""
        return (1.0 if scaled else components.compute_spread(name, alpha, steps)) or 1.0

    def to_mixture(parameters: dict[str, Any]) -> Mixture:
        alpha, steps = ALPHAS[parameters["alpha"]], int(parameters["steps"])
        weights = {name: float(parameters[name]) for name in names}
        if not any(weights.values()):
            weights = {names[0]: 1.0}
        weights = {name: weight / get_scale(name, alpha, steps) for name, weight in weights.items()}
        return Mixture(weights=weights, alpha=alpha, steps=steps, scaled=scaled)

    def to_parameters(mixture: Mixture) -> dict[str, Any]:
        weights = {
            name: weight * get_scale(name, mixture.alpha, mixture.steps) for name, weight in mixture.weights.items()
        }
        largest = max(map(abs, weights.values()))
        places = {"alpha": ALPHAS.index(mixture.alpha), "steps": min(mixture.steps, most_steps)}
        return places | {name: weights.get(name, 0.0) / largest for name in names}

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.GPSampler(seed=seed, n_startup_trials=_STARTUP_TRIALS, deterministic_objective=True)
        search = optuna.create_study(direction="maximize", sampler=sampler)
        for mixture in begin:
            search.enqueue_trial(to_parameters(mixture))
        for _ in range(max(trials, len(begin))):
            trial = search.ask(space)
            search.tell(trial, components.evaluate(to_mixture(trial.params)))
    return to_mixture(search.best_params)
