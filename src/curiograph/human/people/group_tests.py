"""Permutation tests of groups of people, effect sizes, and mixed-effects models."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import t as student_t

from curiograph.arrays import Float64, Int64
from curiograph.bootstrap import NO_ESTIMATE, NUM_RESAMPLES, Estimate, draw_weights
from curiograph.errors import import_optional

FEW_PEOPLE = 20
"""Number of people below which bootstrap intervals of effect sizes and correlations are too narrow."""
_MAX_DRAWN = 2**20  # rows permuted together; bounds the memory
_TOLERANCE = 1e-9  # relative; permutations that are equal to the data may differ in the last bits
_ROUNDING = 1e-24  # relative; sums of squares of centered values below are rounding errors
_NO_VARIANCE = 1e-12  # relative; sums of squares below are zero up to rounding
_DEPENDENT = 1e-9  # relative; singular values below are those of columns that depend on others


def compute_permutation_p(
    shape: tuple[int, int], statistic: Callable[[Int64], Float64], permutations: int, seed: int = 0
) -> Float64:
    """Return the share of permutations whose statistic is at least that of the data, which counts as one.

    Rows are in `shape[0]` blocks of `shape[1]` successive rows, and are permuted within blocks: within all rows if
    there is one block. `statistic` maps permutations (permutations x rows) to permutations x quantities: all quantities
    are tested by one product of matrices, unlike by `scipy.stats.permutation_test`.
    """
    blocks, size = shape
    rng = np.random.default_rng(seed)
    first_rows = np.repeat(np.arange(blocks) * size, size)
    observed = statistic(np.arange(blocks * size)[None, :])[0]
    least = observed - _TOLERANCE * np.abs(observed)
    exceeding = np.zeros(observed.shape, np.int64)
    together = max(1, min(permutations, _MAX_DRAWN // max(len(first_rows), 1)))
    for first in range(0, permutations, together):
        count = min(together, permutations - first)
        drawn = rng.permuted(np.broadcast_to(np.arange(size), (count * blocks, size)), axis=1)
        exceeding += np.count_nonzero(statistic(drawn.reshape(count, -1) + first_rows) >= least, axis=0)
    return (exceeding + 1) / (permutations + 1)


def compute_group_p(
    values: Float64, groups: Int64, covariates: Float64, *, permutations: int, seed: int, people: int = 1
) -> Float64:
    """Return the p-value of any difference between groups for each column of values.

    It is NaN if a column is constant, or if the covariates determine the groups. Rows belong to `people` people with as
    many successive rows each, within whom groups are permuted; with `people` 1, groups are permuted over all rows. With
    covariates (rows x columns), residuals are permuted instead of values (Freedman and Lane 1983). Otherwise the
    statistic is Welch's, so that groups of different size and variance are tested for their means alone (Janssen 1997).
    """
    size = len(values) // people
    blocks = values.reshape(people, size, -1)
    centered = (blocks - blocks.mean(axis=1, keepdims=True)).reshape(len(values), -1)
    within = find_basis(covariates)
    residuals = centered - within @ (within.T @ centered)
    between = find_basis((groups[:, None] == np.arange(groups.max())).astype(np.float64), within)
    total = (residuals**2).sum(axis=0)
    if people == 1 and not within.shape[1]:
        compute = partial(_compute_welch, groups=groups, centered=centered)
    else:
        compute = partial(_compute_ratio, between=between, within=within, residuals=residuals, total=total)
    p_values = compute_permutation_p((people, size), compute, permutations, seed)
    is_tested = (total > _ROUNDING * (values**2).sum(axis=0)) & (between.shape[1] == groups.max())
    return np.where(is_tested, p_values, np.nan)


def find_basis(columns: Float64, given: Float64 | None = None) -> Float64:
    """Return orthonormal columns that span all centered columns; fewer if some are constant or depend on others.

    With `given`, orthonormal and centered columns, only what these do not explain.
    """
    centered = columns - columns.mean(axis=0)
    if given is not None:
        centered = centered - given @ (given.T @ centered)
    scaled = centered / np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
    vectors, values, _ = np.linalg.svd(scaled, full_matrices=False)
    return np.asarray(vectors[:, values > _DEPENDENT])


def _compute_welch(order: Int64, groups: Int64, centered: Float64) -> Float64:
    """Return Welch's F of permuted groups, permutations x columns; its square root is Welch's t for two groups."""
    number = int(groups.max()) + 1
    sizes = np.bincount(groups)
    means, weights = np.empty((2, number, len(order), centered.shape[1]))
    least = _NO_VARIANCE * (centered**2).mean(axis=0) + 1e-300  # of the variance of a group
    for group, size in enumerate(sizes.tolist()):
        members = (groups[order] == group).astype(np.float64)
        means[group] = members @ centered / size
        variances = (members @ centered**2 - size * means[group] ** 2) / (size - 1)
        weights[group] = size / np.maximum(variances, least)
    shares = weights / weights.sum(axis=0)
    between = (weights * (means - (shares * means).sum(axis=0)) ** 2).sum(axis=0) / (number - 1)
    spread = ((1 - shares) ** 2 / (sizes - 1)[:, None, None]).sum(axis=0)
    return np.asarray(between / (1 + 2 * (number - 2) / (number**2 - 1) * spread))


def _compute_ratio(order: Int64, between: Float64, within: Float64, residuals: Float64, total: Float64) -> Float64:
    """Return the sum of squares that groups explain of permuted residuals, relative to what nothing explains."""
    explained, adjusted = (
        sum(((basis[order, column] @ residuals) ** 2 for column in range(basis.shape[1])), np.zeros(1))
        for basis in (between, within)
    )
    return np.asarray(explained / np.maximum(total - adjusted - explained, _NO_VARIANCE * total + 1e-300))


def estimate_differences(
    first: Float64, second: Float64, seed: int, *, paired: bool = False
) -> tuple[Estimate, Estimate]:
    """Return the difference of two means and Hedges' g, both with bounds.

    Bounds of the difference are by Student's t (Welch). g is the difference in pooled standard deviations, corrected
    for small samples. Its bounds resample people, with samples without any variance as 0; with fewer than 20 people in
    a group they are those of the difference in the same unit, as bootstrap intervals would be too narrow. Without any
    variance there are no bounds, and no g. If `paired`, both have the same people in the same order.
    """
    middle = np.concatenate([first, second]).mean()  # without it, sums of squares would lose precision
    counts = np.array([[len(first)], [len(second)]])
    sums, squares = np.empty((2, 2, NUM_RESAMPLES + 1))
    for number, values in enumerate((first - middle, second - middle)):
        table = np.column_stack([values, values**2])
        drawn = draw_weights(len(values), [seed, 0 if paired else number])
        sums[number], squares[number] = np.concatenate([table.sum(axis=0)[None], *(each @ table for each in drawn)]).T
    means, freedom = sums / counts, int(counts.sum()) - 2
    deviations = np.maximum(squares - counts * means**2, 0.0)
    deviations[deviations <= _NO_VARIANCE * squares] = 0.0
    pooled = np.sqrt(deviations.sum(axis=0) / freedom)
    differences = means[0] - means[1]
    effects = np.divide(differences, pooled, out=np.zeros_like(pooled), where=pooled > 0) * (1 - 3 / (4 * freedom - 1))
    effect = Estimate.from_samples(effects[0] if pooled[0] > 0 else np.nan, effects[1:])
    difference = first.mean() - second.mean()
    if paired:
        error, df = np.std(first - second, ddof=1) / np.sqrt(len(first)), len(first) - 1.0
    else:
        parts = deviations[:, 0] / (counts - 1)[:, 0] / counts[:, 0]
        error = np.sqrt(parts.sum())
        df = parts.sum() ** 2 / max(float(np.sum(parts**2 / (counts - 1)[:, 0])), 1e-300)
    width = student_t.ppf(0.975, max(df, 1.0)) * error if pooled[0] > 0 else np.nan
    found = Estimate(float(difference), float(difference - width), float(difference + width))
    if counts.min() < FEW_PEOPLE and pooled[0] > 0:
        unit = pooled[0] / (1 - 3 / (4 * freedom - 1))
        effect = Estimate(effect.value, found.low / unit, found.high / unit)
    return found, effect


def adjust_difference(values: Float64, is_first: Float64, covariates: Float64) -> tuple[Estimate, Estimate]:
    """Return the difference of two groups and Hedges' g, both given the covariates, by least squares with t bounds.

    Both are NaN if the covariates determine the group, or if there are too few people for so many covariates.
    """
    within = find_basis(covariates)
    between = find_basis(is_first[:, None], within)
    freedom = len(values) - 2 - within.shape[1]
    if freedom < 1 or not between.shape[1]:
        return NO_ESTIMATE, NO_ESTIMATE
    centered = values - values.mean()
    unit = float(between[:, 0] @ is_first)  # part of the indicator that the covariates do not explain
    basis = np.column_stack([between, within])
    deviation = np.sqrt(np.sum((centered - basis @ (basis.T @ centered)) ** 2) / freedom)
    difference = float(between[:, 0] @ centered) / unit
    width = student_t.ppf(0.975, freedom) * deviation / abs(unit)
    bounds = np.array([difference, difference - width, difference + width])
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = bounds / deviation * (1 - 3 / (4 * freedom - 1))
    return Estimate(*bounds.tolist()), Estimate(*scaled.tolist())


def fit_mixed_model(
    measure: str, values: Float64, design: Float64, users: Any, *, random_slope: bool = False
) -> dict[str, Any]:
    """Fit values = intercept + design + intercept of the person + noise by restricted maximum likelihood.

    Return the slope of the first column of the design (rows x columns). Without a person who has several rows, there is
    no intercept of the person. With `random_slope`, the slope varies between people too, and its interval is from
    Student's t distribution with one degree of freedom less than there are people.
    """
    api = import_optional("statsmodels.api", "stats", "Mixed-effects models")
    known = ~np.isnan(values) & ~np.isnan(design).any(axis=1)
    values, design, people = values[known], design[known], users[known].astype(str).to_numpy()
    several, converged = len(np.unique(people)) < len(people), True
    slope, p_value = Estimate(0.0, 0.0, 0.0), np.nan
    if len(values) and np.ptp(values) > 0:
        scale = values.std() / design[:, 0].std()  # the fit converges better on standardized values
        spreads = np.where(design.std(axis=0) > 0, design.std(axis=0), 1.0)
        columns = np.column_stack([np.ones(len(design)), (design - design.mean(axis=0)) / spreads])
        standardized = (values - values.mean()) / values.std()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a variance between people of zero is a result
                if several:
                    varying = columns[:, :2] if random_slope else None
                    model = api.MixedLM(standardized, columns, groups=people, exog_re=varying)
                    # without gradient: others fail where the variance between people is near zero
                    fit = model.fit(reml=True, method="powell")
                else:
                    fit = api.OLS(standardized, columns).fit()
            converged = bool(getattr(fit, "converged", True))
            value, p_value = float(fit.params[1] * scale), float(fit.pvalues[1])
            bounds = np.asarray(fit.conf_int())[1] * scale
            if random_slope and several:
                freedom, error = len(np.unique(people)) - 1, float(fit.bse[1] * scale)
                bounds = value + np.array([-1, 1]) * student_t.ppf(0.975, freedom) * error
                p_value = float(2 * student_t.sf(abs(value / error), freedom))
            slope = Estimate(value, *map(float, bounds))
        except np.linalg.LinAlgError:  # a measure that is constant within people
            slope, converged = NO_ESTIMATE, False
    if not converged:
        warnings.warn(f"the mixed-effects model of {measure} did not converge; do not use its slope.", stacklevel=3)
    return {"slope": slope, "slope_p": p_value, "random_intercept": several, "converged": converged}
