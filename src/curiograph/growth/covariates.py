"""`correlate_growth`: relate the growth of walks to a score of each person, such as that of a questionnaire."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.arrays import Float64, Int64
from curiograph.errors import SettingError, WalkError
from curiograph.growth.groups import check_measures, check_people, get_user_values
from curiograph.growth.records import Growths
from curiograph.messages import quote_value
from curiograph.notebook import render_result
from curiograph.optional import import_optional
from curiograph.statistics.bootstrap import Estimate, make_columns
from curiograph.statistics.correlation import estimate_spearman
from curiograph.statistics.groups import adjust_holm
from curiograph.validation import check_integer, check_seed, is_number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from curiograph.plotting import ColumnWidth

_DEFAULT_MEASURES = ("nodes", "beta1", "compressibility")
_MIN_PEOPLE = 4


@dataclass(frozen=True)
class Slope:
    """Slope of a measure of single walks on a score: fixed effect of a linear model."""

    value: Estimate
    """Change of the measure per unit of the score, with its 95 % interval."""
    p_value: float
    """Two-sided p-value of the slope."""
    has_random_intercept: bool
    """Whether the model has a random intercept per person; without it, every person has one walk."""
    converged: bool
    """Whether the fit converged."""


@dataclass(frozen=True)
class Correlation:
    """Relation of one measure to a score."""

    measure: str
    """Name of the measure."""
    rho: Estimate
    """Spearman's rank correlation over people with its 95 % bootstrap interval; NaN if all values are equal."""
    p_value: float
    """Two-sided p-value of the permutation test over people."""
    p_adjusted: float
    """p-value adjusted for all measures by the method of Holm."""
    slope: Slope | None
    """Slope of the mixed-effects model; None if it was not requested."""


@dataclass(frozen=True, eq=False)
class GrowthCorrelations(Mapping[str, Correlation]):
    """Relation of several measures to a score of each person: a mapping from measures to correlations.

    Examples
    --------
    >>> import curiograph as cg
    >>> growths = cg.measure(cg.toys.cycle(9), [list(range(n)) for n in range(2, 10)])
    >>> found = cg.correlate_growth(growths, [1, 3, 2, 4, 5, 7, 6, 9], measures=["nodes"])
    >>> found["nodes"].rho.value.__round__(3), found["nodes"].p_value < 0.01
    (0.952, True)
    """

    correlations: dict[str, Correlation]
    """Correlations by measure."""
    covariate: str
    """Name of the score."""
    users: list[Hashable]
    """People with a score."""
    without_score: list[Hashable]
    """People without a score, who are left out."""
    permutations: int
    """Number of permutations of the test."""

    def __getitem__(self, measure: str) -> Correlation:
        return self.correlations[measure]

    def __iter__(self) -> Iterator[str]:
        return iter(self.correlations)

    def __len__(self) -> int:
        return len(self.correlations)

    def columns(self) -> dict[str, list[Any]]:
        """Return one row per measure; the columns of slopes only if they were computed."""
        found = list(self.values())
        columns: dict[str, list[Any]] = {
            "measure": list(self),
            "covariate": [self.covariate] * len(self),
            "people": [len(self.users)] * len(self),
            **make_columns("rho", [correlation.rho for correlation in found]),
            "p": [correlation.p_value for correlation in found],
            "p_holm": [correlation.p_adjusted for correlation in found],
        }
        slopes = [correlation.slope for correlation in found if correlation.slope is not None]
        if slopes:
            columns |= make_columns("slope", [slope.value for slope in slopes])
            columns["slope_p"] = [slope.p_value for slope in slopes]
            columns["random_intercept"] = [slope.has_random_intercept for slope in slopes]
            columns["converged"] = [slope.converged for slope in slopes]
        return columns

    def to_frame(self) -> pd.DataFrame:
        """Return one row per measure as a pandas frame (`pip install curiograph[frame]`)."""
        return import_optional("pandas", "frame", "Frames").DataFrame(self.columns())

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "covariate": self.covariate,
            "people": len(self.users),
            "without_score": list(self.without_score),
            "permutations": self.permutations,
            "measures": [asdict(correlation) for correlation in self.values()],
        }

    def plot(self, width: ColumnWidth = "single") -> Axes:
        """Plot the correlation of every measure, with its interval."""
        from curiograph.plotting import plot_correlations

        rows = [
            (f"{name}\np (Holm) = {found.p_adjusted:.2g}", (found.rho.value, found.rho.low, found.rho.high))
            for name, found in self.items()
        ]
        return plot_correlations(rows, f"rank correlation with {self.covariate}", width)

    def __repr__(self) -> str:
        found = ", ".join(f"{name}: {correlation.rho}" for name, correlation in self.items())
        return f"GrowthCorrelations(with {self.covariate}, {len(self.users):,} people; {found})"

    def _repr_html_(self) -> str:
        return render_result(f"GrowthCorrelations with {self.covariate}", self.columns())

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)


def correlate_growth(
    growths: Growths,
    covariate: str | Mapping[Hashable, Any] | Sequence[Any],
    *,
    measures: Sequence[str] | None = None,
    steps: int | None = None,
    mixed_model: bool = False,
    permutations: int = 9999,
    seed: int = 0,
) -> GrowthCorrelations:
    """Relate the growth of walks to a score of each person by rank correlation, and by a mixed-effects model.

    Parameters
    ----------
    growths : Growths
        Result of `measure` for several walks.
    covariate : str, mapping or sequence
        Scores of people, given as the groups of `compare_groups`. People without a score are left out.
    measures : sequence of str, optional
        Measures of walks, as for `compare_groups` but without gap_lifetime. Default: nodes, beta1 and compressibility.
    steps : int, optional
        Use the values of all walks after this number of distinct nodes, and leave out shorter walks.
    mixed_model : bool
        Also fit a linear model of the values of single walks, with a random intercept per person if somebody has
        several walks (`pip install curiograph[stats]`).
    permutations : int
        Number of permutations of the test of the rank correlation.
    seed : int
        Same seed, same result.

    Returns
    -------
    GrowthCorrelations
        Mapping from measures to correlations.

    Examples
    --------
    >>> import curiograph as cg
    >>> growths = cg.measure(cg.toys.cycle(9), [list(range(n)) for n in range(2, 10)])
    >>> cg.correlate_growth(growths, range(8), measures=["nodes"])["nodes"].rho.value.__round__(3)
    1.0
    """
    people = check_people(growths, steps)
    permutations = check_integer("permutations", permutations, 1, "give 1 permutation or more")
    seed = check_seed(seed)
    name = covariate if isinstance(covariate, str) else "score"
    scores = _parse_scores(get_user_values(people.growths, people.users, covariate, "covariate"), name)
    known = ~np.isnan(scores)
    if known.sum() < _MIN_PEOPLE:
        raise SettingError(f"{known.sum()} people have a number as {name}; a correlation needs {_MIN_PEOPLE} or more.")
    if np.ptp(scores[known]) == 0:
        raise SettingError(
            f"all people have the same {name}, {scores[known][0]:g}; a correlation needs different ones."
        )
    missing = [measure for measure, values in people.values.items() if np.isnan(values).any()]
    if measures is None:
        constant = ["nodes"] if people.steps is not None else []
        selected = [measure for measure in _DEFAULT_MEASURES if measure not in (*missing, *constant)]
    else:
        selected = check_measures(measures, list(people.values))
        if set(selected) & set(missing):
            raise WalkError("compressibility was not computed; measure the walks with compressibility=True.")
    values = np.column_stack([people.average(measure)[known] for measure in selected])
    correlations, p_values = estimate_spearman(values, scores[known], permutations, seed)
    found = zip(selected, correlations, p_values.tolist(), adjust_holm(p_values).tolist(), strict=True)
    walks = known[people.user_of]
    return GrowthCorrelations(
        correlations={
            measure: Correlation(
                measure=measure,
                rho=rho,
                p_value=p_value,
                p_adjusted=p_adjusted,
                slope=_fit_slope(
                    measure, people.values[measure][walks], scores[people.user_of[walks]], people.user_of[walks]
                )
                if mixed_model
                else None,
            )
            for measure, rho, p_value, p_adjusted in found
        },
        covariate=name,
        users=[people.users[row] for row in np.flatnonzero(known)],
        without_score=[people.users[row] for row in np.flatnonzero(~known)],
        permutations=permutations,
    )


def _parse_scores(values: Sequence[Any], name: str) -> Float64:
    """Return scores as numbers, NaN where they are missing; numbers written as text are converted."""
    scores = np.full(len(values), np.nan)
    for row, value in enumerate(values):
        if value is None:
            continue
        try:
            scores[row] = float(value) if isinstance(value, str) or is_number(value) else np.inf
        except ValueError:
            scores[row] = np.inf
        if np.isinf(scores[row]):
            raise SettingError(
                f"the {name} of a person is {quote_value(value)}; give numbers, or use compare_groups for groups."
            )
    return scores


def _fit_slope(measure: str, values: Float64, scores: Float64, users: Int64) -> Slope:
    """Fit values = intercept + slope * score + intercept of the person + noise by restricted maximum likelihood."""
    api = import_optional("statsmodels.api", "stats", "Mixed-effects models")
    several = len(np.unique(users)) < len(users)
    if np.ptp(values) == 0:
        return Slope(Estimate(0.0, 0.0, 0.0), np.nan, several, True)
    scale = values.std() / scores.std()  # the fit converges better on standardized values
    design = np.column_stack([np.ones(len(scores)), (scores - scores.mean()) / scores.std()])
    standardized = (values - values.mean()) / values.std()
    if several:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a variance between people of zero is a result
            # one parameter without gradient: others fail where the variance between people is near zero
            fit = api.MixedLM(standardized, design, groups=users).fit(reml=True, method="powell")
        converged = bool(fit.converged)
    else:
        fit, converged = api.OLS(standardized, design).fit(), True
    if not converged:
        warnings.warn(f"the mixed-effects model of {measure} did not converge; do not use its slope.", stacklevel=3)
    low, high = np.asarray(fit.conf_int())[1] * scale
    slope = Estimate(float(fit.params[1] * scale), float(low), float(high))
    return Slope(slope, float(fit.pvalues[1]), several, converged)
