"""`correlate`: relate measures to a score of each person, such as that of a questionnaire."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.stats import norm, rankdata

from curiograph.arrays import Float64
from curiograph.bootstrap import NO_ESTIMATE, NUM_RESAMPLES, Estimate, adjust_holm, expand_estimates
from curiograph.errors import SettingError
from curiograph.human.people.group_tests import FEW_PEOPLE, compute_permutation_p, fit_mixed_model
from curiograph.human.people.measure_catalog import LENGTHS, list_dependent
from curiograph.human.people.people_table import BY, average_people, check_single, number_people, read_table
from curiograph.results import Table
from curiograph.validation import check_integer, check_seed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from curiograph.human.people.profile import Profile

_MIN_PEOPLE = 4
_LEVEL = 0.05
_TOGETHER = 50  # samples ranked together; bounds the memory


@dataclass(frozen=True, eq=False, repr=False)
class Correlations(Table):
    """Relation of measures to a score of each person: one row per measure."""

    score: str
    """Name of the score."""
    rows: dict[str, list[Any]]
    """Columns: measure, number of people, Spearman's rank correlation `rho` with its 95 % interval, the p-value of a
    permutation test, also adjusted by the method of Holm, and the slope of a mixed-effects model if it was requested.
    """
    lengths: dict[str, float]
    """P-values of a correlation of the score with the length of walks, by measure of length, if one is below 0.05."""
    permutations: int
    """Number of permutations of the test."""

    @property
    def answer(self) -> str:
        """The result in a sentence or two."""
        names, p_values = self.rows["measure"], self.rows["p_holm"]
        doubtful = list_dependent(names, self.lengths)
        clear = [
            f"{name} (rho = {rho:.2g}, p = {p:.2g})"
            for name, rho, p in zip(names, self.rows["rho"], p_values, strict=True)
            if p < _LEVEL and name not in doubtful
        ]
        answer = f"The {self.score} is related to {', '.join(clear) if clear else 'none of the measures clearly'}."
        if not doubtful:
            return answer
        listed = " and ".join(f"{name} (p = {p:.2g})" for name, p in self.lengths.items())
        return (
            f"The {self.score} is related to the length of walks: {listed}. Relations to {', '.join(doubtful)} may be "
            f"due to it; use walks of equal length, with profile(..., nodes=10). Otherwise: {answer}"
        )

    def columns(self) -> dict[str, list[Any]]:
        """Return one row per measure."""
        return self.rows

    def plot(self) -> Axes:
        """Plot the correlation of every measure, with its interval."""
        from curiograph.plotting import plot_intervals

        rows = self.to_frame().dropna(subset="rho")
        labels = [f"{name}\np (Holm) = {p:.2g}" for name, p in zip(rows["measure"], rows["p_holm"], strict=True)]
        values = rows[["rho", "rho_low", "rho_high"]].to_numpy()
        return plot_intervals(labels, values, f"rank correlation with {self.score}", limits=(-1.05, 1.05))


def correlate(
    table: Profile | pd.DataFrame,
    score: str | Sequence[Any],
    *,
    measures: Sequence[str] | None = None,
    mixed_model: bool = False,
    permutations: int = 9999,
    seed: int = 0,
) -> Correlations:
    """Relate measures to a score of each person, such as that of a questionnaire, by rank correlation.

    Parameters
    ----------
    table : Profile or DataFrame
        Result of `profile`, or any data frame with a column `user` and columns of numbers.
    score : str or sequence
        Name of a column with a score of each person, or a score for each row. People without a score are left out.
    measures : sequence of str, optional
        Names of measures. Default: all. If the score is related to the length of walks, the answer says so first.
    mixed_model : bool
        Also fit a linear model of the values of single walks, with a random intercept per person if somebody has
        several walks (`pip install curiograph[stats]`).
    permutations : int
        Number of permutations of the test of the rank correlation.
    seed : int
        Same seed, same result.

    Returns
    -------
    Correlations
        One row per measure; NaN if a measure is defined for fewer than four people, or equal for all.

    Examples
    --------
    >>> import curiograph as cg
    >>> profile = cg.profile(cg.toys.cycle(9), [list(range(n)) for n in range(2, 10)])
    >>> cg.correlate(profile, range(8), measures=["nodes"]).rows["rho"]
    [1.0]
    """
    permutations = check_integer("permutations", permutations, 1, "give 1 permutation or more")
    seed = check_seed(seed)
    name = score if isinstance(score, str) else "score"
    frame, selected = read_table(table, score, measures)
    check_single(frame, "give one score per person")
    lengths = [each for each in LENGTHS if each in frame.select_dtypes("number") and each != name]
    averaged = list(dict.fromkeys([*selected, *lengths]))
    people = average_people(frame[["user", BY, *averaged]], averaged)
    try:
        scores = pd.to_numeric(people[BY].replace(r"^\s*$", None, regex=True)).to_numpy(np.float64)
    except (ValueError, TypeError) as error:
        raise SettingError(f"the {name} of a person is no number ({error}); use compare_groups for groups.") from None
    count = int(np.count_nonzero(~np.isnan(scores)))
    if count < _MIN_PEOPLE:
        raise SettingError(f"{count} people have a number as {name}; a correlation needs {_MIN_PEOPLE} or more.")
    if np.ptp(scores[~np.isnan(scores)]) == 0:
        raise SettingError(f"all people have the same {name}, {np.nanmax(scores):g}; a correlation needs others.")
    score_of_row = scores[number_people(frame["user"].tolist())[1]]
    rows: list[dict[str, Any]] = []
    related: dict[str, float] = {}
    for measure in averaged:
        values = people[measure].to_numpy(np.float64)
        known = ~np.isnan(values) & ~np.isnan(scores)
        rho, p = estimate_spearman(values[known], scores[known], permutations, seed)
        if measure in lengths and p < _LEVEL:
            related[measure] = p
        if measure not in selected:
            continue
        rows.append({"measure": measure, "people": int(known.sum()), "rho": rho, "p": p})
        if mixed_model:
            design = score_of_row[:, None]
            rows[-1] |= fit_mixed_model(measure, frame[measure].to_numpy(np.float64), design, frame["user"])
    for row, p_holm in zip(rows, adjust_holm(np.array([row["p"] for row in rows])), strict=True):
        row["p_holm"] = float(p_holm)
    return Correlations(name, expand_estimates(rows), related, permutations)


def compute_spearman(first: Float64, second: Float64) -> Float64:
    """Return Spearman's rank correlation along the last axis; NaN if all values of one side are equal."""
    one, other = (rankdata(values, axis=-1) for values in (first, second))
    one, other = (ranks - ranks.mean(axis=-1, keepdims=True) for ranks in (one, other))
    with np.errstate(invalid="ignore"):
        scale = np.sqrt((one**2).sum(axis=-1) * (other**2).sum(axis=-1))
        return np.asarray((one * other).sum(axis=-1) / scale)


def estimate_spearman(values: Float64, scores: Float64, permutations: int, seed: int = 0) -> tuple[Estimate, float]:
    """Return the rank correlation with its interval, and its p-value by permutation of scores.

    The interval is from bootstrap samples of people, of which those that are all equal count as 0; with fewer than 20
    people, for whom it would be too narrow, by Fisher's transformation (Bonett and Wright 2000), none for 1 and -1.
    """
    rho = float(compute_spearman(values, scores)) if len(values) >= _MIN_PEOPLE else np.nan
    if np.isnan(rho):
        return NO_ESTIMATE, np.nan
    ranks, centered = rankdata(values)[:, None], rankdata(scores) - (len(scores) + 1) / 2
    p_value = compute_permutation_p((1, len(scores)), lambda rows: np.abs(centered[rows] @ ranks), permutations, seed)
    if len(scores) < FEW_PEOPLE:
        width = norm.ppf(0.975) * np.sqrt((1 + rho**2 / 2) / (len(scores) - 3)) if abs(rho) < 1 - 1e-12 else np.nan
        low, high = np.tanh(np.arctanh(np.clip(rho, -1 + 1e-12, 1 - 1e-12)) + np.array([-width, width]))
        return Estimate(rho, float(low), float(high)), float(p_value[0])
    rng = np.random.default_rng([seed, 0])
    samples = []
    for start in range(0, NUM_RESAMPLES, _TOGETHER):
        drawn = rng.integers(len(scores), size=(min(_TOGETHER, NUM_RESAMPLES - start), len(scores)))
        samples.append(compute_spearman(values[drawn], scores[drawn]))
    return Estimate.from_samples(rho, np.nan_to_num(np.concatenate(samples))), float(p_value[0])
