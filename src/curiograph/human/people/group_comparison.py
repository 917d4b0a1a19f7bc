"""Compare groups of people by their measures, and relate measures to a score of each person.

The unit is the person: values are averaged over the walks of each person, intervals resample people, and tests permute
people, so a person with many walks counts once.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import rankdata

from curiograph.arrays import Float64, Int64
from curiograph.bootstrap import NUM_RESAMPLES, Estimate, draw_weights, estimate_means, make_columns
from curiograph.errors import SettingError, UnknownNameError, WalkError, import_optional, quote_value
from curiograph.human.people.profile import Profile, average_people, number_people
from curiograph.results import Table
from curiograph.validation import check_integer, check_seed

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_IDENTITY = ("user", "session", "walk")  # columns of a data frame that are no measures
_MAX_GROUPS = 20
_MIN_PEOPLE = 4  # of a correlation
_MAX_DRAWN = 2**20  # labels permuted together; bounds the memory
_TOGETHER = 50  # samples ranked together; bounds the memory
_TOLERANCE = 1e-9  # relative; permutations that are equal to the data may differ in the last bits


@dataclass(frozen=True, eq=False, repr=False)
class GroupComparison(Table):
    """Groups of people compared by several measures: one row per measure and pair of groups.

    Examples
    --------
    >>> import curiograph as cg
    >>> g = cg.generate("er", nodes=25, seed=0)
    >>> walks = [cg.explore(g, agent=["greedy", "random"][n % 2], start=n, steps=10, seed=n) for n in range(24)]
    >>> found = cg.compare_groups(cg.profile(g, walks), ["greedy", "random"] * 12, measures=["nodes", "beta1"])
    >>> found
    GroupComparison(greedy: 12 people, random: 12 people; 2 measures)
    >>> found.to_frame().round(3)[["measure", "mean", "other_mean", "effect", "p_holm"]]
      measure    mean  other_mean  effect  p_holm
    0   nodes  10.000      10.000     NaN     NaN
    1   beta1   6.417       1.833   3.432     0.0
    """

    rows: dict[str, list[Any]]
    """Columns: measure, the two groups, their numbers of people and means, the difference of the means, Hedges' g
    (`effect`), with 95 % intervals (`_low`, `_high`), and the p-value of any difference between groups, also adjusted
    for all measures by the method of Holm."""
    people: dict[str, list[Hashable]]
    """Users by group."""
    without_group: list[Hashable]
    """Users without a group, who are left out."""
    permutations: int
    """Number of permutations of the test."""

    def columns(self) -> dict[str, list[Any]]:
        """Return one row per measure and pair of groups."""
        return self.rows

    @property
    def answer(self) -> str:
        """The result in one sentence."""
        p_values = dict(zip(self.rows["measure"], self.rows["p_holm"], strict=True))
        tested = sum(not np.isnan(p) for p in p_values.values())
        tests = f"by permutation tests adjusted for {tested} measure{'' if tested == 1 else 's'}"
        clear = [f"{name} (p = {p:.2g})" for name, p in p_values.items() if p < 0.05]
        verb = f"differ in {', '.join(clear)}" if clear else "do not differ clearly in any measure"
        return f"The groups {' and '.join(self.people)} {verb}, {tests}."

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values: the answer, the number of people of each group, and the rows."""
        groups = {group: len(users) for group, users in self.people.items()}
        return {"answer": self.answer, "groups": groups, "without_group": len(self.without_group), **super().to_dict()}

    def plot(self) -> Axes:
        """Plot Hedges' g of every measure and pair of groups, with its interval."""
        from curiograph.plotting import plot_intervals

        rows = self.to_frame().dropna(subset="effect")
        two = len(self.people) == 2
        pairs = [""] * len(rows) if two else (rows["group"] + " - " + rows["other"] + "\n").tolist()
        labels = [
            f"{name}\n{pair}p (Holm) = {p:.2g}"
            for name, pair, p in zip(rows["measure"], pairs, rows["p_holm"], strict=True)
        ]
        title = "effect size (Hedges' g)" + (", " + " - ".join(self.people) if two else "")
        return plot_intervals(labels, rows[["effect", "effect_low", "effect_high"]].to_numpy(), title)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{group}: {len(users):,} people" for group, users in self.people.items())
        return f"GroupComparison({sizes}; {len(dict.fromkeys(self.rows['measure']))} measures)"


def compare_groups(
    table: Profile | pd.DataFrame,
    by: str | Sequence[Any],
    *,
    measures: Sequence[str] | None = None,
    permutations: int = 9999,
    seed: int = 0,
) -> GroupComparison:
    """Compare two or more groups of people by the means of their measures.

    People for whom a measure is not defined are left out of its comparison. Walks of different length differ in most
    measures for this reason alone: `profile(..., nodes=10)` cuts them to equal length.

    Parameters
    ----------
    table : Profile or DataFrame
        Result of `profile`, or any data frame with a column `user` and columns of numbers.
    by : str or sequence
        Name of a column with groups, such as one that was kept when a log was read, or a group for each row. People
        whose group is None, NaN or empty are left out and listed in `without_group`.
    measures : sequence of str, optional
        Names of measures. Default: all that are defined for at least two people of each group.
    permutations : int
        Number of permutations of the test.
    seed : int
        Same seed, same result.

    Returns
    -------
    GroupComparison
        One row per measure and pair of groups: means, differences, effect sizes and p-values.

    Examples
    --------
    >>> import curiograph as cg
    >>> profile = cg.profile(cg.toys.cycle(6), [[0, 1, 2, 3, 4, 5]] * 3 + [[0, 1, 2]] * 3)
    >>> found = cg.compare_groups(profile, ["all", "all", "all", "half", "half", "half"], measures=["beta1"])
    >>> found.rows["difference"], found.rows["p"][0] < 0.15
    ([1.0], True)
    """
    permutations = check_integer("permutations", permutations, 1, "give 1 permutation or more")
    seed = check_seed(seed)
    people, selected = _read_people(table, by, "by", measures)
    named = people["by"].astype(object).where(people["by"].notna(), "").astype(str)
    names = _check_groups(named[named.str.strip() != ""].tolist())
    labels = np.array([names.index(group) if group in names else -1 for group in named])
    values = {name: people[name].to_numpy(np.float64) for name in selected}
    known = {name: (labels >= 0) & ~np.isnan(column) for name, column in values.items()}
    enough = [name for name in selected if np.bincount(labels[known[name]], minlength=len(names)).min() >= 2]
    if measures is not None and len(enough) < len(selected):
        missing = next(name for name in selected if name not in enough)
        raise WalkError(f"{missing} is defined for fewer than 2 people of a group, so it cannot be compared.")
    if not enough:
        raise SettingError("no measure is defined for 2 people of each group; compare longer walks or other groups.")
    p_values = _test_groups({name: values[name] for name in enough}, known, labels, permutations, seed)
    rows: list[dict[str, Any]] = []
    for name, p, p_holm in zip(enough, p_values, adjust_holm(p_values), strict=True):
        members = [values[name][known[name] & (labels == number)] for number in range(len(names))]
        means = [estimate_means(some[:, None], np.ones(len(some), np.int64), seed)[0] for some in members]
        for one, other in combinations(range(len(names)), 2):
            difference, effect = estimate_differences(members[one], members[other], (seed,))
            pair = {"measure": name, "group": names[one], "other": names[other]}
            sizes = {"people": int(np.sum(labels == one)), "other_people": int(np.sum(labels == other))}
            compared = {"mean": means[one], "other_mean": means[other], "difference": difference, "effect": effect}
            rows.append({**pair, **sizes, **compared, "p": float(p), "p_holm": float(p_holm)})
    users = people["user"].tolist()
    return GroupComparison(
        rows=_expand_estimates(rows),
        people={name: [users[row] for row in np.flatnonzero(labels == n)] for n, name in enumerate(names)},
        without_group=[users[row] for row in np.flatnonzero(labels < 0)],
        permutations=permutations,
    )


@dataclass(frozen=True, eq=False, repr=False)
class Correlations(Table):
    """Relation of measures to a score of each person: one row per measure.

    Examples
    --------
    >>> import curiograph as cg
    >>> profile = cg.profile(cg.toys.cycle(9), [list(range(n)) for n in range(2, 10)])
    >>> found = cg.correlate(profile, [1, 3, 2, 4, 5, 7, 6, 9], measures=["nodes"])
    >>> round(found.rows["rho"][0], 3), found.rows["p"][0] < 0.01
    (0.952, True)
    """

    score: str
    """Name of the score."""
    rows: dict[str, list[Any]]
    """Columns: measure, number of people, Spearman's rank correlation `rho` with its 95 % interval, the p-value of a
    permutation test, also adjusted by the method of Holm, and the slope of a mixed-effects model if it was requested.
    """
    permutations: int
    """Number of permutations of the test."""

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
        Names of measures. Default: all.
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
    import pandas as pd

    permutations = check_integer("permutations", permutations, 1, "give 1 permutation or more")
    seed = check_seed(seed)
    name = score if isinstance(score, str) else "score"
    people, selected = _read_people(table, score, "score", measures)
    try:
        scores = pd.to_numeric(people["by"].replace(r"^\s*$", None, regex=True)).to_numpy(np.float64)
    except (ValueError, TypeError) as error:
        raise SettingError(f"the {name} of a person is no number ({error}); use compare_groups for groups.") from None
    count = int(np.count_nonzero(~np.isnan(scores)))
    if count < _MIN_PEOPLE:
        raise SettingError(f"{count} people have a number as {name}; a correlation needs {_MIN_PEOPLE} or more.")
    if np.ptp(scores[~np.isnan(scores)]) == 0:
        raise SettingError(f"all people have the same {name}, {np.nanmax(scores):g}; a correlation needs others.")
    frame = _as_frame(table)
    score_of_row = scores[number_people(frame["user"].tolist())[1]]
    rows: list[dict[str, Any]] = []
    for measure in selected:
        values = people[measure].to_numpy(np.float64)
        known = ~np.isnan(values) & ~np.isnan(scores)
        rho, p = estimate_spearman(values[known], scores[known], permutations, seed)
        rows.append({"measure": measure, "people": int(known.sum()), "rho": rho, "p": p})
        if mixed_model:
            rows[-1] |= _fit_slope(measure, frame[measure].to_numpy(np.float64), score_of_row, frame["user"])
    for row, p_holm in zip(rows, adjust_holm(np.array([row["p"] for row in rows])), strict=True):
        row["p_holm"] = float(p_holm)
    return Correlations(name, _expand_estimates(rows), permutations)


def _as_frame(table: Any) -> pd.DataFrame:
    """Return the rows of a profile or a data frame; raise SettingError for anything else."""
    frame = table.to_frame() if isinstance(table, Profile) else table
    if not hasattr(frame, "groupby") or "user" not in frame:
        raise SettingError(
            f"the table is {quote_value(table)}; give the result of profile(graph, walks), or a data frame with a "
            "column user."
        )
    return frame


def _read_people(
    table: Any, by: str | Sequence[Any], option: str, measures: Sequence[str] | None
) -> tuple[pd.DataFrame, list[str]]:
    """Return one row per person, with the group or score in the column `by`, and the names of the measures."""
    frame = _as_frame(table)
    if isinstance(by, str) and by not in frame:
        raise UnknownNameError(
            f"there is no column {by!r}; the columns are {', '.join(map(str, frame.columns))}. Keep a column when the "
            "log is read."
        )
    others = [*_IDENTITY, by] if isinstance(by, str) else _IDENTITY
    known = [name for name in frame.select_dtypes("number") if name not in others]
    selected = list(table.measures) if isinstance(table, Profile) else known
    if measures is not None:
        if isinstance(measures, str) or not isinstance(measures, Sequence) or not measures:
            raise SettingError(f"measures is {quote_value(measures)}; give a list of measures, at least one.")
        for name in measures:
            if name not in known:
                raise UnknownNameError(f"there is no measure {quote_value(name)}; the measures are {', '.join(known)}.")
        selected = list(dict.fromkeys(measures))
    try:
        values = frame[by].tolist() if isinstance(by, str) else list(by)
    except TypeError:
        values = []
    if len(values) != len(frame):
        raise SettingError(f"{option} is {quote_value(by)}; give a column, or a value for each of {len(frame)} rows.")
    rows = frame[["user", *selected]].assign(by=values)
    people = average_people(rows, selected)
    several = rows.groupby("user", sort=False)["by"].nunique()
    if (several > 1).any():
        raise SettingError(f"the user {quote_value(several.idxmax())} has several values of {option}; give one each.")
    return people, selected


def _check_groups(groups: list[str]) -> list[str]:
    """Return the sorted names of groups; raise SettingError unless there are 2 to 20, each of two people or more."""
    counts = {name: groups.count(name) for name in sorted(set(groups))}
    if len(counts) < 2:
        raise SettingError(f"there are {len(counts)} groups ({', '.join(counts)}); compare 2 or more.")
    if len(counts) > _MAX_GROUPS:
        raise SettingError(
            f"there are {len(counts)} groups, such as {quote_value(next(iter(counts)))}; compare at most {_MAX_GROUPS} "
            "groups, or use correlate for a score of each person."
        )
    if min(counts.values()) < 2:
        sizes = ", ".join(f"{name}: {count}" for name, count in counts.items())
        raise SettingError(f"a group has fewer than 2 people ({sizes}); intervals over people need 2 or more.")
    return list(counts)


def _expand_estimates(rows: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return rows as columns, with three columns for each estimate."""
    columns: dict[str, list[Any]] = {}
    for name, first in rows[0].items():
        values = [row[name] for row in rows]
        columns |= make_columns(name, values) if isinstance(first, Estimate) else {name: values}
    return columns


# ---- tests and effect sizes -----------------------------------------------------------------------------------------


def _test_groups(
    values: dict[str, Float64], known: dict[str, Any], labels: Int64, permutations: int, seed: int
) -> Float64:
    """Return the p-value of each measure, NaN if all people have the same value.

    Measures that are defined for the same people are tested with the same permutations, which saves most of the time.
    """
    p_values = dict.fromkeys(values, np.nan)
    by_people: dict[bytes, list[str]] = {}
    for name, column in values.items():
        if np.ptp(column[known[name]]) > 0:
            by_people.setdefault(known[name].tobytes(), []).append(name)
    for names in by_people.values():
        rows = known[names[0]]
        table = np.column_stack([values[name][rows] for name in names])
        compare = partial(compute_between_groups, values=table, num_groups=int(labels.max()) + 1)
        p_values |= dict(zip(names, compute_permutation_p(labels[rows], compare, permutations, seed), strict=True))
    return np.array(list(p_values.values()))


def compute_permutation_p(
    labels: Int64, statistic: Callable[[Int64], Float64], permutations: int, seed: int = 0
) -> Float64:
    """Return the share of permutations of the labels whose statistic is at least that of the data, which counts as one.

    Unlike `scipy.stats.permutation_test`, it tests all quantities by one product of matrices: `statistic` maps rows of
    labels to rows x quantities.
    """
    rng = np.random.default_rng(seed)
    observed = statistic(labels[None, :])[0]
    least = observed - _TOLERANCE * np.abs(observed)
    exceeding = np.zeros(observed.shape, np.int64)
    together = max(1, min(permutations, _MAX_DRAWN // max(len(labels), 1)))
    for first in range(0, permutations, together):
        rows = min(together, permutations - first)
        drawn = rng.permuted(np.broadcast_to(labels, (rows, len(labels))), axis=1)
        exceeding += np.count_nonzero(statistic(drawn) >= least, axis=0)
    return (exceeding + 1) / (permutations + 1)


def compute_between_groups(labels: Int64, values: Float64, num_groups: int) -> Float64:
    """Return the sum of squares between groups (rows of labels x quantities) of values of people x quantities."""
    centered = values - values.mean(axis=0)
    total = np.zeros((len(labels), values.shape[1]))
    for group in range(num_groups):
        members = (labels == group).astype(np.float64)
        total += (members @ centered) ** 2 / members.sum(axis=1, keepdims=True)
    return total


def estimate_differences(first: Float64, second: Float64, seed: tuple[int, ...]) -> tuple[Estimate, Estimate]:
    """Return the difference of two means and Hedges' g, with 95 % intervals by resampling the people of each group.

    g is the difference in pooled standard deviations, corrected for small samples; NaN if these are zero.
    """
    middle = np.concatenate([first, second]).mean()  # without it, sums of squares would lose precision
    counts = np.array([[len(first)], [len(second)]])
    sums, squares = np.empty((2, 2, NUM_RESAMPLES + 1))
    for number, values in enumerate((first - middle, second - middle)):
        table = np.column_stack([values, values**2])
        resampled = [times @ table for times in draw_weights(len(values), [*seed, number])]
        sums[number], squares[number] = np.concatenate([table.sum(axis=0)[None, :], *resampled]).T
    means, freedom = sums / counts, int(counts.sum()) - 2
    deviations = np.maximum(squares - counts * means**2, 0.0)
    deviations[deviations <= 1e-12 * squares] = 0.0  # at the level of rounding errors
    pooled = np.sqrt(deviations.sum(axis=0) / freedom)
    with np.errstate(divide="ignore", invalid="ignore"):
        effects = (means[0] - means[1]) / pooled * (1 - 3 / (4 * freedom - 1))
    effects[pooled == 0] = np.nan
    difference = Estimate.from_samples(first.mean() - second.mean(), means[0, 1:] - means[1, 1:])
    return difference, Estimate.from_samples(effects[0], effects[1:])


def adjust_holm(p_values: Float64) -> Float64:
    """Return p-values adjusted for several tests by the method of Holm; NaN is no test.

    >>> adjust_holm(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    adjusted = np.full(len(p_values), np.nan)
    order = np.argsort(p_values)[: np.count_nonzero(~np.isnan(p_values))]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(p_values[order] * factors), 1.0)
    return adjusted


# ---- correlations ---------------------------------------------------------------------------------------------------


def compute_spearman(first: Float64, second: Float64) -> Float64:
    """Return Spearman's rank correlation along the last axis; NaN if all values of one side are equal."""
    one, other = (rankdata(values, axis=-1) for values in (first, second))
    one, other = (ranks - ranks.mean(axis=-1, keepdims=True) for ranks in (one, other))
    with np.errstate(invalid="ignore"):
        scale = np.sqrt((one**2).sum(axis=-1) * (other**2).sum(axis=-1))
        return np.asarray((one * other).sum(axis=-1) / scale)


def estimate_spearman(values: Float64, scores: Float64, permutations: int, seed: int = 0) -> tuple[Estimate, float]:
    """Return the rank correlation with a bootstrap interval over people, and its p-value by permutation of scores."""
    rho = float(compute_spearman(values, scores)) if len(values) >= _MIN_PEOPLE else np.nan
    if np.isnan(rho):
        return Estimate(np.nan, np.nan, np.nan), np.nan
    rng = np.random.default_rng([seed, 0])
    samples = []
    for start in range(0, NUM_RESAMPLES, _TOGETHER):
        drawn = rng.integers(len(scores), size=(min(_TOGETHER, NUM_RESAMPLES - start), len(scores)))
        samples.append(compute_spearman(values[drawn], scores[drawn]))
    ranks, centered = rankdata(values)[:, None], rankdata(scores) - (len(scores) + 1) / 2
    order = np.arange(len(scores))
    p_value = compute_permutation_p(order, lambda rows: np.abs(centered[rows] @ ranks), permutations, seed)
    return Estimate.from_samples(rho, np.concatenate(samples)), float(p_value[0])


def _fit_slope(measure: str, values: Float64, scores: Float64, users: Any) -> dict[str, Any]:
    """Fit values = intercept + slope * score + intercept of the person + noise by restricted maximum likelihood."""
    api = import_optional("statsmodels.api", "stats", "Mixed-effects models")
    known = ~np.isnan(values) & ~np.isnan(scores)
    values, scores, people = values[known], scores[known], users[known].astype(str).to_numpy()
    several, converged = len(np.unique(people)) < len(people), True
    slope, p_value = Estimate(0.0, 0.0, 0.0), np.nan
    if len(values) and np.ptp(values) > 0:
        scale = values.std() / scores.std()  # the fit converges better on standardized values
        design = np.column_stack([np.ones(len(scores)), (scores - scores.mean()) / scores.std()])
        standardized = (values - values.mean()) / values.std()
        if several:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a variance between people of zero is a result
                # one parameter without gradient: others fail where the variance between people is near zero
                fit = api.MixedLM(standardized, design, groups=people).fit(reml=True, method="powell")
            converged = bool(fit.converged)
        else:
            fit = api.OLS(standardized, design).fit()
        low, high = np.asarray(fit.conf_int())[1] * scale
        slope, p_value = Estimate(float(fit.params[1] * scale), float(low), float(high)), float(fit.pvalues[1])
    if not converged:
        warnings.warn(f"the mixed-effects model of {measure} did not converge; do not use its slope.", stacklevel=3)
    return {"slope": slope, "slope_p": p_value, "random_intercept": several, "converged": converged}
