"""`compare_groups`: compare groups of people by their measures.

The unit is the person: values are averaged over the walks of each person, intervals and tests are over people, so a
person with many walks counts once.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.arrays import Int64
from curiograph.bootstrap import NUM_RESAMPLES, adjust_holm, describe_few, estimate_means, expand_estimates
from curiograph.errors import SettingError, UnknownNameError, WalkError, quote_value
from curiograph.human.people.group_tests import (
    adjust_difference,
    compute_group_p,
    estimate_differences,
    fit_mixed_model,
)
from curiograph.human.people.measure_catalog import LENGTHS, list_dependent
from curiograph.human.people.people_table import BY, average_people, check_single, clean_groups, read_table
from curiograph.human.trajectories import sort_users
from curiograph.results import Table, get_version
from curiograph.validation import check_integer, check_seed

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from curiograph.human.people.profile import Profile

ALL = "all groups"
"""In the column `group` of the row that tests for any difference between three groups or more."""
_MAX_GROUPS = 20
_LEVEL = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class GroupComparison(Table):
    """Groups of people compared by several measures: one row per measure and pair of groups."""

    rows: dict[str, list[Any]]
    """Columns: measure, the two groups, the numbers of people with a value, the means, their difference and Hedges' g
    (`effect`), with 95 % intervals (`_low`, `_high`), and the p-value, also adjusted by the method of Holm for all
    measures and pairs. With three groups or more, a first row of each measure, of the group "all groups", has the
    p-value of any difference, adjusted for all measures."""
    people: dict[str, list[Hashable]]
    """Users by group."""
    without_group: list[Hashable]
    """Users without a group, who are left out."""
    lengths: dict[str, float]
    """P-values of a difference in the length of walks, by measure of length, if one is below 0.05."""
    paired: bool
    """Whether the groups were compared within people."""
    covariates: list[str]
    """Columns whose effect on the measures was removed."""
    permutations: int
    """Number of permutations of the test."""
    seed: int
    """Seed of permutations and resampling."""

    def columns(self) -> dict[str, list[Any]]:
        """Return one row per measure and pair of groups."""
        return self.rows

    @property
    def depends_on_length(self) -> list[str]:
        """Measures that depend on a length of walks in which the groups differ."""
        return list_dependent(self.rows["measure"], self.lengths)

    @property
    def answer(self) -> str:
        """The result in a few sentences."""
        frame = self.to_frame()
        doubtful = self.depends_on_length
        sentences = []
        if doubtful:
            differences = " and ".join(f"{name} (p = {p:.2g})" for name, p in self.lengths.items())
            advice = "; compare walks of equal length, with profile(..., nodes=10)" if "nodes" in self.lengths else ""
            sentences.append(
                f"The groups differ in the length of walks: {differences}. Differences in {', '.join(doubtful)} may be "
                f"due to it{advice}."
            )
        tested = frame[frame["group"] == ALL] if len(self.people) > 2 else frame
        adjusted = f"adjusted for {tested['p'].count()} measure{'' if tested['p'].count() == 1 else 's'}"
        shown = tested[(tested["p_holm"] < _LEVEL) & ~tested["measure"].isin(doubtful)]
        clear = [f"{name} (p = {p:.2g})" for name, p in zip(shown["measure"], shown["p_holm"], strict=True)]
        verb = f"do not differ clearly in any {'other ' if doubtful else ''}measure"
        if clear:
            verb = f"differ in {', '.join(clear)}"
        sentences.append(f"The groups {' and '.join(self.people)} {verb}, by permutation tests {adjusted}.")
        pairs = frame[(frame["group"] != ALL) & (frame["p_holm"] < _LEVEL) & frame["measure"].isin(shown["measure"])]
        if len(self.people) > 2 and len(pairs):
            listed = [f"{row.group} and {row.other} in {row.measure}" for row in pairs.itertuples()]
            sentences.append(f"Pairs that differ, adjusted for all pairs and measures: {'; '.join(listed)}.")
        fewest = min(self._count_people(group)[0] for group in self.people)
        return " ".join([*sentences, *describe_few(fewest, "In the smallest group there are")])

    def _count_people(self, group: str) -> tuple[int, int]:
        """Return the smallest and the largest number of people of a group who are compared."""
        rows = zip(*(self.rows[name] for name in ("group", "other", "people", "other_people")), strict=True)
        counts = [
            count for one, other, *both in rows for name, count in zip((one, other), both, strict=True) if name == group
        ]
        return min(counts), max(counts)

    def methods(self) -> str:
        """Return a paragraph for the methods section of a paper.

        >>> import curiograph as cg
        >>> profile = cg.profile(cg.toys.cycle(6), [[0, 1, 2, 3, 4, 5]] * 3 + [[0, 1, 2]] * 3)
        >>> print(cg.compare_groups(profile, ["a", "a", "a", "b", "b", "b"], measures=["beta1"]).methods())
        Groups (a: 3 people, b: 3 people) were compared by the means over people of 1 measure, ...
        """
        used = {group: self._count_people(group) for group in self.people}
        sizes = ", ".join(
            f"{group}: {low} people" if low == high else f"{group}: {low} to {high} people, depending on the measure"
            for group, (low, high) in used.items()
        )
        count = len(dict.fromkeys(self.rows["measure"]))
        permuted = "the groups of people"
        if self.paired:
            permuted = "groups within people"
        elif self.covariates:
            permuted = f"residuals, given {' and '.join(self.covariates)} (Freedman and Lane 1983)"
        interval = "Student's t distribution"
        if not self.covariates:
            interval += f" and, for g, from {NUM_RESAMPLES:,} bootstrap samples of people"
        left_out = f" {len(self.without_group)} people without a group were left out." if self.without_group else ""
        return (
            f"Groups ({sizes}) were compared by the means over people of {count} measure{'' if count == 1 else 's'}, "
            f"averaged over the walks of each person, with permutation tests ({self.permutations:,} permutations of "
            f"{permuted}). P-values were adjusted by the method of Holm. Effect sizes are Hedges' g; 95 % intervals "
            f"are from {interval}.{left_out} Computed by curiograph {get_version()} with seed {self.seed}."
        )

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
    reference: str | None = None,
    paired: bool = False,
    covariates: str | Sequence[str] = (),
    mixed_model: bool = False,
    permutations: int = 9999,
    seed: int = 0,
) -> GroupComparison:
    """Compare two or more groups of people by the means of their measures.

    People for whom a measure is not defined are left out of its comparison. Walks of different length differ in most
    measures for this reason alone; if the groups differ in length, the answer says so first.

    Parameters
    ----------
    table : Profile or DataFrame
        Result of `profile`, or any table with one row per person or walk, a column `user` and columns of numbers.
    by : str or sequence
        Name of a column with groups, such as one that was kept when a log was read, or a group for each row. People
        whose group is None, NaN or empty are left out and listed in `without_group`.
    measures : sequence of str, optional
        Names of measures. Default: all that are defined for at least two people of each group.
    reference : str, optional
        Group that all others are compared with. Default: all pairs of groups.
    paired : bool
        Compare groups within people who have walks in several groups, such as conditions of an experiment: a person
        without a value in one of the groups is left out, and groups are permuted within people.
    covariates : str or sequence of str
        Columns of numbers, such as age, whose linear effect is removed from differences, effect sizes and tests.
    mixed_model : bool
        Also fit a linear model of the values of single walks, with a random intercept per person if somebody has
        several walks, and a random difference of the groups if `paired` (`pip install curiograph[stats]`). Its `slope`
        is the difference of the two groups; `slope_p` is not adjusted for several measures.
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
    covariates = [covariates] if isinstance(covariates, str) else list(covariates)
    if paired and covariates:
        raise SettingError("paired comparisons take no covariates, since those of a person cancel; leave one out.")
    frame, selected = read_table(table, by, measures, covariates)
    frame[BY] = clean_groups(frame[BY])
    if not paired:
        check_single(frame, "give one group per person, or compare within people with paired=True")
    reference = None if reference is None else str(reference)
    names = _check_groups(frame.dropna(subset=BY).drop_duplicates(["user", BY])[BY].tolist(), reference)
    lengths = [name for name in LENGTHS if name in frame.select_dtypes("number") and name not in covariates]
    averaged = list(dict.fromkeys([*selected, *lengths, *covariates]))
    if paired:
        units = frame.dropna(subset=BY).groupby(["user", BY], sort=True)[averaged].mean().reset_index()
    else:
        units = average_people(frame, averaged)
    labels = np.array([names.index(group) if group in names else -1 for group in units[BY]])
    compared = _Units(units, labels, names, paired, covariates, permutations, seed)
    everyone = tuple(range(len(names)))
    enough = [name for name in selected if compared.is_known(name, everyone)]
    if measures is not None and len(enough) < len(selected):
        missing = next(name for name in selected if name not in enough)
        raise WalkError(f"{missing} is defined for fewer than 2 people of a group, so it cannot be compared.")
    if not enough:
        raise SettingError("no measure is defined for 2 people of each group; compare longer walks or other groups.")
    pairs = list(combinations(range(len(names)), 2))
    if reference is not None:
        pairs = [(number, names.index(reference)) for number in range(len(names)) if names[number] != reference]
    tested = {pair: compared.test(enough, pair) for pair in pairs}
    omnibus = compared.test(enough, everyone) if len(names) > 2 else {}
    rows: list[dict[str, Any]] = []
    for name in enough:
        if omnibus:
            people = len(compared.select(name, everyone)) // (len(names) if paired else 1)
            rows.append({"measure": name, "group": ALL, "other": "", "people": people, "other_people": 0})
            rows[-1]["p"] = omnibus[name]
        for pair in pairs:
            rows.append({**compared.describe(name, pair), "p": tested[pair][name]})
            if mixed_model:
                walks = frame[frame[BY].isin([names[number] for number in pair])]
                is_first = (walks[BY] == names[pair[0]]).to_numpy(np.float64)
                design = np.column_stack([is_first, walks[covariates].to_numpy(np.float64)])
                rows[-1] |= fit_mixed_model(
                    name, walks[name].to_numpy(np.float64), design, walks["user"], random_slope=paired
                )
    for is_all in (True, False):
        some = [row for row in rows if (row["group"] == ALL) is is_all]
        for row, p_holm in zip(some, adjust_holm(np.array([row["p"] for row in some])), strict=True):
            row["p_holm"] = float(p_holm)
    by_length = compared.test([name for name in lengths if compared.is_known(name, everyone)], everyone)
    users = units["user"].to_numpy(object)
    grouped = set(users[labels >= 0])
    return GroupComparison(
        rows=expand_estimates(rows),
        people={name: users[labels == number].tolist() for number, name in enumerate(names)},
        without_group=[user for user in sort_users(frame["user"].tolist()) if user not in grouped],
        lengths={name: p for name, p in by_length.items() if p < _LEVEL},
        paired=paired,
        covariates=covariates,
        permutations=permutations,
        seed=seed,
    )


@dataclass(frozen=True, eq=False)
class _Units:
    """Rows of people, or if `paired` of people and groups, with the number of the group of each, -1 without one."""

    frame: pd.DataFrame
    labels: Int64
    names: list[str]
    paired: bool
    covariates: list[str]
    permutations: int
    seed: int

    def select(self, name: str, groups: Sequence[int]) -> Int64:
        """Return the rows of some groups in which a measure is known, for paired people in all of these groups."""
        known = np.isin(self.labels, groups) & self.frame[[name, *self.covariates]].notna().all(axis=1).to_numpy()
        if self.paired:
            known &= (self.frame["user"].map(self.frame["user"][known].value_counts()) == len(groups)).to_numpy()
        return np.flatnonzero(known)

    def is_known(self, name: str, groups: Sequence[int]) -> bool:
        """Return whether a measure is known for two people of each group."""
        return bool(np.bincount(self.labels[self.select(name, groups)], minlength=len(self.names)).min() >= 2)

    def test(self, names: Sequence[str], groups: Sequence[int]) -> dict[str, float]:
        """Return the p-value of any difference of some groups in each measure; NaN for constant measures.

        Measures that are defined for the same people are tested with the same permutations, which saves most of the
        time.
        """
        together: dict[bytes, list[str]] = {}
        for name in names:
            together.setdefault(self.select(name, groups).tobytes(), []).append(name)
        found: dict[str, float] = {}
        for some in together.values():
            rows = self.select(some[0], groups)
            p_values = compute_group_p(
                self.frame[some].to_numpy(np.float64)[rows],
                np.unique(self.labels[rows], return_inverse=True)[1],
                self.frame[self.covariates].to_numpy(np.float64)[rows],
                permutations=self.permutations,
                seed=self.seed,
                people=len(rows) // len(groups) if self.paired else 1,
            )
            found |= dict(zip(some, p_values.tolist(), strict=True))
        return found

    def describe(self, name: str, pair: tuple[int, int]) -> dict[str, Any]:
        """Return the numbers of people, means, difference and effect size of two groups."""
        rows = self.select(name, pair)
        values, labels = self.frame[name].to_numpy(np.float64)[rows], self.labels[rows]
        first, second = (values[labels == number] for number in pair)
        means = [estimate_means(some[:, None], np.ones(len(some), np.int64))[0] for some in (first, second)]
        if self.covariates:
            columns = self.frame[self.covariates].to_numpy(np.float64)[rows]
            difference, effect = adjust_difference(values, (labels == pair[0]).astype(np.float64), columns)
        else:
            difference, effect = estimate_differences(first, second, self.seed, paired=self.paired)
        return {
            "measure": name,
            "group": self.names[pair[0]],
            "other": self.names[pair[1]],
            "people": len(first),
            "other_people": len(second),
            "mean": means[0],
            "other_mean": means[1],
            "difference": difference,
            "effect": effect,
        }


def _check_groups(groups: list[str], reference: str | None) -> list[str]:
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
    if reference is not None and reference not in counts:
        raise UnknownNameError(f"there is no group {quote_value(reference)}; the groups are {', '.join(counts)}.")
    return list(counts)
