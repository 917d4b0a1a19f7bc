"""Weights over several motives at once: a conditional logit whose weights vary between people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import logsumexp

from curiograph.arrays import Float64, Int64
from curiograph.bootstrap import estimate_means, sum_by_user
from curiograph.errors import WalkError
from curiograph.human.choices.choice_sets import ChoiceSet
from curiograph.human.motives.logit import ChoiceLogit, center_features, find_modes, fit_population, update_population
from curiograph.human.motives.motive_fits import WEIGHT_FIELDS
from curiograph.progress import Progress

MIN_PEOPLE = 10
"""Minimum number of people whose weights are estimated."""
MAX_CORRELATION = 0.9
"""Absolute correlation of two motives above which their weights cannot be separated."""
MAX_INFLATION = 10.0
"""Variance inflation factor above which the weight of a motive cannot be separated from those of all others."""
_NO_BITS = 1e-9  # bits of a person that are zero up to rounding
_NO_SCALE = 1e-9  # smallest standard deviation of a motive whose scores differ between the candidates
_PAIRS_OF_DRAWS = 8  # of the weights of a person, over which the probability of a choice is averaged
_MIN_EIGENVALUE = 1e-12  # of the correlations of motives; smaller ones are zero up to rounding


def estimate_weights(
    names: Sequence[str],
    features: Mapping[tuple[int, int | None], Float64],
    variances: Float64,
    choices: ChoiceSet,
    people: Int64,
    fold_of_person: Int64,
    seed: int,
    progress: Progress,
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Estimate the weights of motives in the population and for every person, and test them on held-out people.

    `features` has a value of every candidate by number of motive and fold, from `compute_features`: fold None is fitted
    to all choices, others to the choices of all other folds. `variances` of the weights are due to the uncertain
    parameters of motives. `people` is the number of the person of each choice. Return the fields of `MotiveFit` by
    motive, none if it scores all candidates alike, and those of `Motives`.
    """
    candidates = choices.candidates
    centered = [center_features(features[number, None], candidates) for number in range(len(names))]
    kept = [number for number, (_, scale) in enumerate(centered) if scale > _NO_SCALE]
    if not kept:
        raise WalkError("no motive distinguishes between the candidates, so there are no weights; give other motives.")
    scales = [centered[number][1] for number in kept]
    data = ChoiceLogit.from_choices(
        np.column_stack([centered[number][0] / centered[number][1] for number in kept]),
        candidates.offsets,
        choices.chosen,
        people,
    )
    progress("weights of the population and of every person", 0.0)
    common = data.fit_common()
    population = fit_population(data, common, seed, variances[kept])
    mean = np.array([estimate.value for estimate in population.mean])
    spread = np.array([estimate.value for estimate in population.spread])
    order = np.argsort(people, kind="stable")
    held_out = np.empty((len(choices), 2 + 2 * len(kept)))  # personal, all, each alone, all without each
    folds = int(fold_of_person.max()) + 1
    for fold in range(folds):
        progress("weights tested on held-out people", (fold + 1) / (folds + 1))
        fold_data = data
        changed = {number: features[number, fold] for number in kept if (number, fold) in features}
        if changed:
            columns = data.features.copy()
            for number, column in changed.items():
                place = kept.index(number)
                scores = center_features(column, candidates)[0] / scales[place]
                by_person = ChoiceLogit.from_choices(scores[:, None], candidates.offsets, choices.chosen, people)
                columns[:, place] = by_person.features[:, 0]
            fold_data = data.with_features(columns)
        is_test = fold_of_person == fold
        train = fold_data.select_people(np.flatnonzero(~is_test))
        test = fold_data.select_people(np.flatnonzero(is_test))
        rows = order[np.flatnonzero(is_test[people[order]])]
        held_out[rows] = _test_weights(train, test, common, mean, spread, seed)
    held_out = (held_out + np.log(candidates.counts)[:, None]) / np.log(2)
    counts = np.bincount(people)
    sums = sum_by_user(held_out, people)
    size = len(kept)
    personal, together, alone, without = sums[:, :1], sums[:, 1:2], sums[:, 2 : 2 + size], sums[:, 2 + size :]
    bits = np.column_stack([together, personal - together, alone, together - without])
    estimates = estimate_means(np.where(np.abs(bits) < _NO_BITS, 0.0, bits), counts)
    correlations = np.corrcoef(data.features, rowvar=False).reshape(size, size)
    inflations = compute_inflations(correlations).tolist()
    between = population.people.var(axis=0)
    errors = np.mean(population.people_errors**2, axis=0) - variances[kept]  # those of parameters are the same for all
    reliability = (between / (between + errors)).tolist()
    weighed = [names[number] for number in kept]
    facts = (population.mean, population.spread, estimates[2 : 2 + size], estimates[2 + size :])
    table = np.full((3, len(counts), len(names)), np.nan)
    table[:, :, kept] = population.people, population.people_low, population.people_high
    fits = {
        name: dict(zip(WEIGHT_FIELDS, values, strict=True))
        for name, *values in zip(weighed, *facts, reliability, inflations, scales, strict=True)
    }
    remarks = [*population.remarks, *describe_collinear(weighed, correlations, inflations)]
    found = {"together": estimates[0], "personal": estimates[1], "remarks": remarks}
    return fits, found | dict(zip(("people", "people_low", "people_high"), table, strict=True))


def _test_weights(
    train: ChoiceLogit, test: ChoiceLogit, common: Float64, mean: Float64, spread: Float64, seed: int
) -> Float64:
    """Return the log-probability of each choice of the test people: choices x models.

    Models: weights of the person given the other half of their choices, averaged over their uncertainty; weights that
    all training people share; the same with each motive alone; the same without each motive.
    """
    people, size = test.shape

    def predict(columns: list[int]) -> Float64:
        fitted = train.with_features(train.features[:, columns]).fit_common(start=common[columns])
        return test.with_features(test.features[:, columns]).evaluate_choices(np.tile(fitted, (people, 1)))

    everything = list(range(size))
    fold_mean, fold_spread, _ = update_population(train, mean, spread, seed)
    drawn = np.random.default_rng(seed).standard_normal((_PAIRS_OF_DRAWS, people, size))
    normal = np.concatenate([drawn, -drawn])
    personal = np.empty(len(test.chosen))
    places = np.arange(len(test.chosen)) - np.repeat(test.bounds[:-1], np.diff(test.bounds))
    for half in (0, 1):
        own = test.select_choices(np.flatnonzero(places % 2 != half))
        modes, curvature = find_modes(own, fold_mean, fold_spread, np.tile(fold_mean, (people, 1)))
        factors = np.linalg.cholesky(np.linalg.inv(curvature))
        draws = modes + np.einsum("imn,kin->kim", factors, normal)
        logs = np.array([test.evaluate_choices(weights) for weights in draws])
        is_half = places % 2 == half
        personal[is_half] = logsumexp(logs[:, is_half], axis=0) - np.log(len(draws))
    uniform = -np.log(np.diff(test.offsets))
    without = [[other for other in everything if other != number] for number in everything]
    return np.column_stack(
        [
            personal,
            predict(everything),
            *(predict([number]) for number in everything),
            *(predict(columns) if columns else uniform for columns in without),
        ]
    )


def compute_inflations(correlations: Float64) -> Float64:
    """Return the variance inflation factor of each motive: 1 / (1 - R^2) given all other motives."""
    values, vectors = np.linalg.eigh(correlations)
    return np.asarray((vectors**2 / np.maximum(values, _MIN_EIGENVALUE)).sum(axis=1))


def describe_collinear(names: Sequence[str], correlations: Float64, inflations: Sequence[float]) -> list[str]:
    """Return a sentence for each pair of motives that are nearly the same, and one for others that all determine.

    >>> describe_collinear(["degree", "hub"], np.array([[1, 0.97], [0.97, 1]]), [16.9, 16.9])
    ['degree and hub are nearly the same here (correlation 0.97): do not interpret their weights one by one.']
    """
    pairs = [pair for pair in combinations(range(len(names)), 2) if abs(correlations[pair]) > MAX_CORRELATION]
    advice = "do not interpret their weights one by one."
    remarks = [
        f"{names[one]} and {names[other]} are nearly {'the same' if correlations[one, other] > 0 else 'opposite'} here "
        f"(correlation {correlations[one, other]:.2f}): {advice}"
        for one, other in pairs
    ]
    paired = {number for pair in pairs for number in pair}
    others = [name for n, name in enumerate(names) if inflations[n] > MAX_INFLATION and n not in paired]
    if others:
        remarks.append(f"The other motives together nearly determine {' and '.join(others)}: {advice}")
    return remarks
