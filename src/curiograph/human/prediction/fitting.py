"""Fit a mixture to the choices of some people by Bayesian optimisation."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from curiograph.human.prediction.components import ALPHAS, PAGERANK, Components, Mixture
from curiograph.optional import import_optional

_FIRST = 10
"""Random trials before the model of the objective is trusted."""


def fit_mixture(
    components: Components,
    names: Sequence[str],
    trials: int,
    seed: int,
    scaled: bool = False,
    begin: Sequence[Mixture] = (),
) -> Mixture:
    """The mixture of these components that places the choices highest, by mean percentile.

    Alpha, the walkers' steps and the weights are searched by optuna's Gaussian process, after all of `begin`: so the
    result is at least as good on these choices. For PageRank alone every alpha is tried.
    """
    if list(names) == [PAGERANK]:
        return max(
            (Mixture({PAGERANK: 1.0}, alpha) for alpha in ALPHAS), key=lambda mix: evaluate_mixture(components, mix)
        )
    optuna = import_optional("optuna", "predict", "Fitting alpha and weights")
    import_optional("torch", "predict", "Fitting alpha and weights")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space = _Space(components, names, scaled)
    search = space.search(optuna.distributions)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.GPSampler(seed=seed, n_startup_trials=_FIRST, deterministic_objective=True)
        study = optuna.create_study(direction="maximize", sampler=sampler)
        for mix in begin:
            study.enqueue_trial(space.parameters(mix, search))
        best, best_value = Mixture({names[0]: 1.0}, scaled=scaled), -np.inf
        for _ in range(max(trials, len(begin))):
            trial = study.ask(search)
            mix = space.mix(trial.params)
            value = evaluate_mixture(components, mix)
            study.tell(trial, value)
            if value > best_value:
                best, best_value = mix, value
    return best


def evaluate_mixture(components: Components, mix: Mixture) -> float:
    """How high a mixture places the choices: their mean percentile rank."""
    return float(np.nanmean(components.ranks(mix).percentile))


@dataclass(frozen=True, eq=False)
class _Space:
    """Mixtures as points of a box. Its weights are per spread of the component, whose sizes differ by orders."""

    components: Components
    names: Sequence[str]
    scaled: bool

    def search(self, distributions: Any) -> dict[str, Any]:
        """The box: alpha, steps if anyone walks, and weights if there are several."""
        walkers = [self.components.walkers[name] for name in self.names if name in self.components.walkers]
        box = {"alpha": distributions.IntDistribution(0, len(ALPHAS) - 1)}
        if walkers:
            box["steps"] = distributions.IntDistribution(1, len(walkers[0]))
        if len(self.names) > 1:
            box |= {name: distributions.FloatDistribution(-1, 1) for name in self.names}
        return box

    def mix(self, parameters: dict[str, Any]) -> Mixture:
        """The mixture at a point."""
        alpha, steps = ALPHAS[parameters["alpha"]], int(parameters.get("steps", 1))
        weights = {name: float(parameters.get(name, 1.0)) for name in self.names}
        if not any(weights.values()):
            weights = {self.names[0]: 1.0}
        return Mixture(
            {name: w / self._size(name, alpha, steps) for name, w in weights.items()}, alpha, steps, self.scaled
        )

    def parameters(self, mix: Mixture, search: dict[str, Any]) -> dict[str, Any]:
        """The point of a mixture; weights that it does not have are zero."""
        sized = {name: weight * self._size(name, mix.alpha, mix.steps) for name, weight in mix.weights.items()}
        largest = max(map(abs, sized.values()))
        values = {"alpha": ALPHAS.index(mix.alpha)}
        if "steps" in search:
            values["steps"] = min(mix.steps, search["steps"].high)
        return {name: values[name] if name in values else sized.get(name, 0.0) / largest for name in search}

    def _size(self, name: str, alpha: float, steps: int) -> float:
        spread = 1.0 if self.scaled or len(self.names) == 1 else self.components.spread(name, alpha, steps)
        return spread if spread > 0 else 1.0
