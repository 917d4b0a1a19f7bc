"""Fit mixtures of components to the choices of training users by Bayesian optimization."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.human.choices.metrics import MEASURES
from curiograph.human.prediction.components import ALPHAS, PAGERANK, REWARDS, Components, Mixture
from curiograph.human.prediction.results import ALL_WITH_CURIOSITY, ALL_WITHOUT_CURIOSITY, MEMORY
from curiograph.optional import import_optional
from curiograph.parallel import Result

KINDS = ("greedy", "trained")
"""Kinds of curious walkers: for the exact reward of the next step, or with an agent trained on the graph."""
_THEORIES = {"igt": ("igt",), "cpt": ("cpt",), "igt+cpt": ("igt", "cpt")}
_NOT_CURIOUS = ("degree", "popularity", "markov", "item-knn", "rp3beta", PAGERANK, MEMORY)
_STARTUP_TRIALS = 10  # random trials before the Gaussian process is used


def fit_split(shared: tuple[Components, int], task: tuple[NDArray[np.bool_], int]) -> Result:
    """Task function: fit every method to the choices of training users, and rank those of test users.

    Returns `fits` with the mixture of every method, and under the name of each method its measures x test choices.
    """
    (components, trials), (is_test, seed) = shared, task
    torch = import_optional("torch", "predict", "Fitting alpha and weights")
    torch.set_num_threads(1)
    fits = fit_methods(components.rows(~is_test), trials, seed)
    test = components.rows(is_test)
    measures = {}
    for method, mixture in fits.items():
        ranks = test.rank_choices(mixture)
        measures[method] = np.stack([getattr(ranks, measure) for measure in MEASURES]).astype(np.float32)
    return {"fits": {method: mixture.to_dict() for method, mixture in fits.items()}, **measures}


def fit_methods(training: Components, trials: int, seed: int) -> dict[str, Mixture]:
    """Fit every method that the components allow: of all kinds of walkers present, and with counts if there are any.

    A mixture starts its search from the best mixtures of fewer components.
    """
    kinds = [kind for kind in KINDS if f"{kind} {REWARDS[0]}" in training.walkers]
    pagerank = fit_mixture(training, [PAGERANK], trials, seed)
    fits = {name: Mixture({name: 1.0}) for name in training.baselines} | {PAGERANK: pagerank}
    for theory, rewards in _THEORIES.items():
        for kind in kinds:
            curious = [f"{kind} {reward}" for reward in rewards]
            names = [PAGERANK, *curious]
            begin = [fits[name] for name in curious] if len(curious) > 1 else _contrast_pagerank(training, names)
            fits[f"{kind} {theory}"] = fit_mixture(training, names, trials, seed, begin=[pagerank, *begin])
        fits[theory] = max(
            (fits[f"{kind} {theory}"] for kind in kinds), key=lambda mixture: evaluate_mixture(training, mixture)
        )
    names = [PAGERANK, MEMORY]
    begin = [pagerank, *_contrast_pagerank(training, names)]
    fits[MEMORY] = fit_mixture(training, names, trials, seed, begin=begin)
    if not training.baselines:
        return fits
    singles = [Mixture({name: 1.0}, pagerank.alpha, scaled=True) for name in _NOT_CURIOUS]
    without = fit_mixture(training, _NOT_CURIOUS, 2 * trials, seed, scaled=True, begin=singles)
    names = [*_NOT_CURIOUS, *(f"{kind} {reward}" for kind in kinds for reward in REWARDS)]
    begin = [without, *(replace(without, steps=steps) for steps in (2, 3))]
    fits[ALL_WITHOUT_CURIOSITY] = without
    fits[ALL_WITH_CURIOSITY] = fit_mixture(training, names, 2 * trials, seed, scaled=True, begin=begin)
    return fits


def _contrast_pagerank(training: Components, names: Sequence[str]) -> list[Mixture]:
    """Return mixtures of walkers that stay near the history minus PageRank: good starting points of a search."""
    max_steps = len(training.walkers[names[-1]])
    settings = dict.fromkeys((alpha, min(steps, max_steps)) for alpha, steps in ((0.8, 2), (0.95, 2), (0.95, 4)))
    return [
        Mixture(
            {
                name: sign / max(training.compute_spread(name, alpha, steps), 1e-12)
                for name, sign in zip(names, (-1, 1), strict=True)
            },
            alpha=alpha,
            steps=steps,
        )
        for alpha, steps in settings
    ]


def fit_mixture(
    components: Components,
    names: Sequence[str],
    trials: int,
    seed: int,
    scaled: bool = False,
    begin: Sequence[Mixture] = (),
) -> Mixture:
    """Find the mixture of some components with the largest mean percentile rank.

    Alpha, the steps of walkers and the weights are searched by the Gaussian process of optuna, after all mixtures of
    `begin`: the result is at least as good on these choices. For PageRank alone every alpha is tried.
    """
    if list(names) == [PAGERANK]:
        return max(
            (Mixture({PAGERANK: 1.0}, alpha) for alpha in ALPHAS),
            key=lambda mixture: evaluate_mixture(components, mixture),
        )
    optuna = import_optional("optuna", "predict", "Fitting alpha and weights")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    walker_steps = [len(components.walkers[name]) for name in names if name in components.walkers]
    space = {"alpha": optuna.distributions.IntDistribution(0, len(ALPHAS) - 1)}
    if walker_steps:
        space["steps"] = optuna.distributions.IntDistribution(1, walker_steps[0])
    if len(names) > 1:
        space |= {name: optuna.distributions.FloatDistribution(-1, 1) for name in names}

    def get_scale(name: str, alpha: float, steps: int) -> float:
        """Return the spread of a component: weights are searched in units of it, since spreads differ by orders."""
        spread = 1.0 if scaled or len(names) == 1 else components.compute_spread(name, alpha, steps)
        return spread if spread > 0 else 1.0

    def to_mixture(parameters: dict[str, Any]) -> Mixture:
        alpha, steps = ALPHAS[parameters["alpha"]], int(parameters.get("steps", 1))
        weights = {name: float(parameters.get(name, 1.0)) for name in names}
        if not any(weights.values()):
            weights = {names[0]: 1.0}
        weights = {name: weight / get_scale(name, alpha, steps) for name, weight in weights.items()}
        return Mixture(weights=weights, alpha=alpha, steps=steps, scaled=scaled)

    def to_parameters(mixture: Mixture) -> dict[str, Any]:
        weights = {
            name: weight * get_scale(name, mixture.alpha, mixture.steps) for name, weight in mixture.weights.items()
        }
        largest = max(map(abs, weights.values()))
        parameters: dict[str, Any] = {name: weights.get(name, 0.0) / largest for name in space}
        parameters["alpha"] = ALPHAS.index(mixture.alpha)
        if "steps" in space:
            parameters["steps"] = min(mixture.steps, space["steps"].high)
        return parameters

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.GPSampler(seed=seed, n_startup_trials=_STARTUP_TRIALS, deterministic_objective=True)
        search = optuna.create_study(direction="maximize", sampler=sampler)
        for mixture in begin:
            search.enqueue_trial(to_parameters(mixture))
        for _ in range(max(trials, len(begin))):
            trial = search.ask(space)
            search.tell(trial, evaluate_mixture(components, to_mixture(trial.params)))
    return to_mixture(search.best_params)


def evaluate_mixture(components: Components, mixture: Mixture) -> float:
    """Return the mean percentile rank of the choices under a mixture."""
    return float(np.nanmean(components.rank_choices(mixture).percentile))
