"""Mixed logit: the likelihood of choices by person, weights that all people share, and weights that vary between them.

The weights of person i are w_i ~ Normal(mean, diag(spread^2)). The likelihood of mean and spread is an integral over
all w_i. It is computed from a quadratic approximation of the log-likelihood around the mode of each person, which has a
closed form, times a correction by importance sampling: every person has a fixed set of draws, and the exact likelihood
is computed once per draw. Mean and spread have weak priors and are integrated out by importance sampling, so that the
intervals of people include the uncertainty of the population.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from curiograph import kernels
from curiograph.arrays import Float64, Int64
from curiograph.bootstrap import Estimate
from curiograph.exploration.mdp import Candidates
from curiograph.graph.csr import concatenate_ranges

PRIOR_MEAN_SCALE = 10.0
"""Standard deviation of the normal prior of a mean, around zero."""
PRIOR_SPREAD_SCALE = 1.0
"""Scale of the Rayleigh prior of a spread, s exp(-s^2 / 2), which avoids a spread of zero (Chung et al. 2013)."""
_NORMAL_QUANTILE = 1.959963984540054  # bounds of a 95 % interval, in standard deviations
_DRAWS = (32, 256)  # least and most draws of the parameters of a person
_ALL_DRAWS = 2**12  # draws of all people together, if there are between the least and the most of each
_INFLATION = 1.2  # of the standard deviations of these draws, so that their tails cover those of the posterior
_POPULATIONS = (200, 400)  # least and most draws of mean and spread
_EVALUATED = 2**25  # numbers evaluated for all draws of mean and spread: bounds the time
_MAX_ROUNDS = 12
_TOLERANCE = 0.05  # change of mean and spread between two rounds, in standard errors
_MAX_NEWTON_STEPS = 100
_NEWTON_TOLERANCE = 1e-8  # in units of the log-likelihood
_START_SPREAD = 0.5
_SPREAD_BOUNDS = (-7.0, 4.0)  # of the logarithm of a spread
_MIN_CURVATURE = 0.01  # of the log-posterior of mean and spread
_DIFFERENCE = 1e-4  # of mean and log-spread, for second derivatives
_MAX_EXPONENT = 30.0  # of the weight of a draw of mean and spread

Indices = Sequence[int] | Int64


def center_features(features: Float64, candidates: Candidates) -> tuple[Float64, float]:
    """Subtract the mean over the candidates of each choice; return also the root mean square over choices.

    >>> center_features(np.array([1.0, 3.0, 5.0, 5.0]), Candidates(np.array([0, 2, 4]), np.arange(4, dtype=np.int32)))
    (array([-1.,  1.,  0.,  0.]), 0.7071067811865476)
    """
    counts = candidates.counts
    means = np.add.reduceat(features, candidates.offsets[:-1]) / counts
    centered = features - means[candidates.walks]
    variances = np.add.reduceat(centered**2, candidates.offsets[:-1]) / counts
    return centered, float(np.sqrt(variances.mean()))


@dataclass(frozen=True, eq=False)
class ChoiceLogit:
    """Choices of people among candidates with features; a weight per feature gives the probability of a choice.

    Examples
    --------
    >>> one = ChoiceLogit.from_choices(np.array([[0.0], [1.0], [0.0], [1.0]]), [0, 2, 4], [1, 2], [0, 0])
    >>> one.fit_common(prior_scale=np.inf)  # chosen once each
    array([0.])
    """

    features: Float64
    """Candidates x features."""
    offsets: Int64
    """Bounds of the choices in `features`."""
    chosen: Int64
    """Row of the chosen candidate of each choice."""
    bounds: Int64
    """Bounds of the people in `chosen`: the choices of a person are adjacent."""

    @classmethod
    def from_choices(cls, features: Float64, offsets: Indices, chosen: Indices, people: Indices) -> ChoiceLogit:
        """Sort choices by person; `people` holds the number of the person of each choice, from 0."""
        starts, counts = np.asarray(offsets)[:-1], np.diff(offsets)
        order = np.argsort(people, kind="stable")
        new_offsets = np.concatenate([[0], np.cumsum(counts[order])])
        return cls(
            features=np.ascontiguousarray(features[concatenate_ranges(starts[order], counts[order])]),
            offsets=new_offsets,
            chosen=(np.asarray(chosen) - starts)[order] + new_offsets[:-1],
            bounds=np.concatenate([[0], np.cumsum(np.bincount(people))]),
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Number of people and number of features."""
        return len(self.bounds) - 1, self.features.shape[1]

    @property
    def _arrays(self) -> tuple[Float64, Int64, Int64, Int64]:
        return self.features, self.offsets, self.chosen, self.bounds

    def evaluate(self, points: Float64) -> Float64:
        """Return log-likelihoods (people x points) for weights of people x points x features."""
        values: Float64 = kernels.choice_logit.compute_log_likelihoods(*self._arrays, np.ascontiguousarray(points))
        return values

    def expand(self, parameters: Float64) -> tuple[Float64, Float64, Float64]:
        """Return the log-likelihood of each person for weights of people x features, its gradient and information."""
        value, gradient, information = kernels.choice_logit.expand_log_likelihoods(
            *self._arrays, np.ascontiguousarray(parameters)
        )
        return value, gradient, information

    def evaluate_choices(self, weights: Float64) -> Float64:
        """Return the logarithm of the probability of each choice; `weights` are people x features."""
        values: Float64 = kernels.choice_logit.compute_choice_log_likelihoods(
            *self._arrays, np.ascontiguousarray(weights)
        )
        return values

    def with_features(self, features: Float64) -> ChoiceLogit:
        """Return the same choices with other features of the candidates."""
        return replace(self, features=np.ascontiguousarray(features))

    def select_choices(self, which: Int64) -> ChoiceLogit:
        """Return some of the choices by ascending position; people without choices stay, with an empty likelihood."""
        starts, counts = self.offsets[which], np.diff(self.offsets)[which]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        return ChoiceLogit(
            features=self.features[concatenate_ranges(starts, counts)],
            offsets=offsets,
            chosen=self.chosen[which] - starts + offsets[:-1],
            bounds=np.searchsorted(which, self.bounds),
        )

    def select_people(self, which: Int64) -> ChoiceLogit:
        """Return some of the people by ascending number, with all of their choices."""
        counts = np.diff(self.bounds)[which]
        chosen = self.select_choices(concatenate_ranges(self.bounds[which], counts))
        return replace(chosen, bounds=np.concatenate([[0], np.cumsum(counts)]))

    def fit_common(self, prior_scale: float = PRIOR_MEAN_SCALE, start: Float64 | None = None) -> Float64:
        """Return the weights with the largest likelihood if all people share them, with a weak normal prior."""
        size = self.shape[1]
        pooled = replace(self, bounds=np.array([0, len(self.chosen)]))
        first = np.zeros((1, size)) if start is None else start[None, :]
        modes, _ = find_modes(pooled, np.zeros(size), np.full(size, prior_scale), first)
        return np.asarray(modes[0])


# ---- weights that vary between people --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PopulationFit:
    """Mean and spread of parameters in a population, and the parameters of its people."""

    mean: list[Estimate]
    """Mean over the population of each parameter, with its 95 % interval."""
    spread: list[Estimate]
    """Standard deviation over the population of each parameter, with its 95 % interval."""
    people: Float64
    """People x parameters: posterior mean of each person."""
    people_errors: Float64
    """People x parameters: posterior standard deviation, which includes the uncertainty of mean and spread."""
    remarks: list[str]
    """A sentence if means and spreads have not converged."""

    @property
    def people_low(self) -> Float64:
        """Lower bounds of the 95 % intervals of people."""
        return self.people - _NORMAL_QUANTILE * self.people_errors

    @property
    def people_high(self) -> Float64:
        """Upper bounds of the 95 % intervals of people."""
        return self.people + _NORMAL_QUANTILE * self.people_errors


def find_modes(likelihood: ChoiceLogit, mean: Float64, spread: Float64, start: Float64) -> tuple[Float64, Float64]:
    """Return the mode of the posterior of each person given mean and spread, and the matrix of its curvature."""
    precision = np.diag(spread**-2.0)
    parameters = start.copy()

    def expand(values: Float64) -> tuple[Float64, Float64, Float64]:
        height, gradient, information = likelihood.expand(values)
        away = values - mean
        penalty = 0.5 * np.einsum("im,m->i", away**2, spread**-2.0)
        return height - penalty, gradient - away @ precision, information + precision

    height, gradient, curvature = expand(parameters)
    length = np.ones(len(parameters))
    for _ in range(_MAX_NEWTON_STEPS):
        step = np.linalg.solve(curvature, gradient[..., None])[..., 0]
        gain = np.einsum("im,im->i", step, gradient)
        if gain.max(initial=0.0) < _NEWTON_TOLERANCE:
            break
        tried = parameters + length[:, None] * step
        new_height, new_gradient, new_curvature = expand(tried)
        better = new_height >= height - _NEWTON_TOLERANCE
        parameters[better], height[better] = tried[better], new_height[better]
        gradient[better], curvature[better] = new_gradient[better], new_curvature[better]
        length = np.where(better, np.minimum(1.0, 2 * length), length / 4)
    return parameters, curvature


@dataclass(frozen=True, eq=False)
class _Expansion:
    """Likelihood of every person around its mode: a quadratic function, and draws with the exact likelihood."""

    modes: Float64  # people x parameters: where the log-likelihood is expanded
    gradients: Float64  # of the log-likelihood at the modes
    information: Float64  # negative second derivatives at the modes
    draws: Float64  # people x draws x parameters, around the modes
    exact: Float64  # people x draws: log-likelihood minus the log-density of the draw
    quadratic: Float64  # the same for the quadratic approximation of the log-likelihood

    @classmethod
    def create(
        cls, likelihood: ChoiceLogit, mean: Float64, spread: Float64, start: Float64, normal: Float64
    ) -> _Expansion:
        """Expand the likelihood around the modes given mean and spread; `normal` are standard normal numbers."""
        modes, curvature = find_modes(likelihood, mean, spread, start)
        heights, gradients, information = likelihood.expand(modes)
        away = _INFLATION * np.einsum("imn,ikn->ikm", np.linalg.cholesky(np.linalg.inv(curvature)), normal)
        densities = -0.5 * np.einsum("ikm,ikm->ik", normal, normal)
        draws = modes[:, None, :] + away
        quadratic = heights[:, None] + np.einsum("ikm,im->ik", away, gradients)
        quadratic -= 0.5 * np.einsum("ikm,ikm->ik", away @ information, away)
        exact = likelihood.evaluate(draws) - densities
        return cls(modes, gradients, information, draws, exact, quadratic - densities)

    def compute(self, population: Float64) -> tuple[float, Float64, Float64, Float64]:
        """Return the log-posterior of mean and log-spread, its gradient, and the first two moments of each person."""
        people, size = self.modes.shape
        mean, spread = population[:size], np.exp(population[size:])
        precision = spread**-2.0
        # closed form of the quadratic approximation
        shift = mean - self.modes
        slopes = self.gradients + precision * shift
        covariance = np.linalg.inv(self.information + np.diag(precision))
        step = np.einsum("imn,in->im", covariance, slopes)
        value = 0.5 * (np.sum(slopes * step) - np.sum(precision * shift**2))
        value += 0.5 * np.linalg.slogdet(covariance)[1].sum() - people * population[size:].sum()
        first = self.modes + step
        second = first**2 + np.diagonal(covariance, axis1=1, axis2=2)
        # correction: the exact likelihood relative to the approximation, from the draws
        away = (self.draws - mean) / spread
        prior = -0.5 * np.einsum("ikm,ikm->ik", away, away)
        for heights, sign in ((self.exact, 1.0), (self.quadratic, -1.0)):
            logs = heights + prior
            top = logs.max(axis=1, keepdims=True)
            shares = np.exp(logs - top)
            totals = shares.sum(axis=1, keepdims=True)
            shares *= sign / totals
            value += sign * float(np.sum(top + np.log(totals)))
            first += np.einsum("ik,ikm->im", shares, self.draws)
            second += np.einsum("ik,ikm->im", shares, self.draws**2)
        value += _compute_log_prior(mean, spread)
        by_mean = precision * (first - mean).sum(axis=0) - mean / PRIOR_MEAN_SCALE**2
        squares = (second - 2 * mean * first + mean**2).sum(axis=0)
        by_spread = precision * squares - people + 2 - (spread / PRIOR_SPREAD_SCALE) ** 2
        return float(value), np.concatenate([by_mean, by_spread]), first, second


def _compute_log_prior(mean: Float64, spread: Float64) -> float:
    """Return the logarithm of the prior density of mean and log-spread, up to a constant."""
    by_spread = 2 * np.log(spread) - 0.5 * (spread / PRIOR_SPREAD_SCALE) ** 2
    return float(np.sum(by_spread - 0.5 * (mean / PRIOR_MEAN_SCALE) ** 2))


def fit_population(
    likelihood: ChoiceLogit, start: Float64, seed: int = 0, variances: Float64 | float = 0.0
) -> PopulationFit:
    """Estimate mean and spread of the population, given a first guess of the means, and the values of every person.

    `variances` of the parameters that are not in the likelihood are added to those of means and people.
    """
    rng = np.random.default_rng(seed)
    size = len(start)
    population = np.concatenate([start, np.full(size, np.log(_START_SPREAD))])
    normal = _draw_pairs(rng, likelihood.shape)
    modes = np.tile(np.asarray(start, np.float64), (len(normal), 1))
    remarks = [
        f"The means and spreads of the population have not converged after {_MAX_ROUNDS} rounds; do not rely on "
        "them, or on the values of single users."
    ]
    for _ in range(_MAX_ROUNDS):
        expansion = _Expansion.create(likelihood, population[:size], np.exp(population[size:]), modes, normal)
        before, (population, covariance) = population, _maximize(expansion, population)
        modes = expansion.modes
        change = np.abs(population - before) / np.sqrt(np.diagonal(covariance))
        if change.max() < _TOLERANCE:
            remarks = []
            break
    # average over mean and spread: draw them from their normal approximation, and weight the draws
    count = int(np.clip(_EVALUATED // expansion.draws.size, *_POPULATIONS))
    half = rng.standard_normal((count // 2, 2 * size))
    normal = np.concatenate([half, -half])
    many = population + _INFLATION * normal @ np.linalg.cholesky(covariance).T
    highest = expansion.compute(population)[0]
    weights = np.empty(len(many))
    people, squares = np.zeros((2, *expansion.modes.shape))
    for number, each in enumerate(many):
        value, _, first, second = expansion.compute(each)
        exponent = value - highest + 0.5 * float(normal[number] @ normal[number])
        weights[number] = np.exp(min(exponent, _MAX_EXPONENT))
        people += weights[number] * first
        squares += weights[number] * second
    people, squares = people / weights.sum(), squares / weights.sum()
    weights /= weights.sum()
    center = weights @ many[:, :size]
    errors = np.sqrt(weights @ (many[:, :size] - center) ** 2 + variances)
    return PopulationFit(
        mean=[
            Estimate(value=value, low=value - _NORMAL_QUANTILE * error, high=value + _NORMAL_QUANTILE * error)
            for value, error in zip(center.tolist(), errors.tolist(), strict=True)
        ],
        spread=[Estimate(*_compute_quantiles(column, weights)) for column in np.exp(many[:, size:]).T],
        people=people,
        people_errors=np.sqrt(np.maximum(squares - people**2, 0.0) + variances),
        remarks=remarks,
    )


def update_population(
    likelihood: ChoiceLogit, mean: Float64, spread: Float64, seed: int = 0
) -> tuple[Float64, Float64, float]:
    """Return the most probable mean and spread of a population that is similar to one of known mean and spread.

    Return also their log-likelihood, up to a constant that does not depend on the features.
    """
    size = len(mean)
    normal = _draw_pairs(np.random.default_rng(seed), likelihood.shape)
    expansion = _Expansion.create(likelihood, mean, spread, np.tile(mean, (len(normal), 1)), normal)
    population, _ = _maximize(expansion, np.concatenate([mean, np.log(spread)]))
    mean, spread = population[:size], np.exp(population[size:])
    height = expansion.compute(population)[0] - _compute_log_prior(mean, spread)
    return mean, spread, height + float(likelihood.expand(expansion.modes)[0].sum())


def _draw_pairs(rng: np.random.Generator, shape: tuple[int, int]) -> Float64:
    """Draw standard normal numbers for each person, in pairs of opposite sign: people x draws x parameters."""
    pairs = int(np.clip(_ALL_DRAWS // shape[0], *_DRAWS)) // 2
    half = rng.standard_normal((shape[0], pairs, shape[1]))
    return np.concatenate([half, -half], axis=1)


def _maximize(expansion: _Expansion, start: Float64) -> tuple[Float64, Float64]:
    """Return the most probable mean and log-spread, and the covariance of their normal approximation."""
    size = len(start) // 2

    def loss(population: Float64) -> tuple[float, Float64]:
        value, gradient, _, _ = expansion.compute(population)
        return -value, -gradient

    bounds = [(None, None)] * size + [_SPREAD_BOUNDS] * size
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 500})
    hessian = np.empty((2 * size, 2 * size))
    for index in range(2 * size):
        moved = _DIFFERENCE * np.eye(2 * size)[index]
        hessian[index] = (loss(found.x + moved)[1] - loss(found.x - moved)[1]) / (2 * _DIFFERENCE)
    values, vectors = np.linalg.eigh((hessian + hessian.T) / 2)
    return found.x, (vectors / np.maximum(values, _MIN_CURVATURE)) @ vectors.T


def _compute_quantiles(values: Float64, weights: Float64) -> list[float]:
    """Return the median and the bounds of the 95 % interval of weighted values."""
    order = np.argsort(values)
    places = np.cumsum(weights[order]) - 0.5 * weights[order]
    found: list[float] = np.interp([0.5, 0.025, 0.975], places, values[order]).tolist()
    return found
