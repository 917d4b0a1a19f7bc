"""`compare_groups`: compare the growth of the walks of groups of people."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from curiograph.arrays import Float64, Int64
from curiograph.errors import SettingError, UnknownNameError, WalkError
from curiograph.growth.records import Growths
from curiograph.growth.survival import GapSurvival
from curiograph.growth.tables import MEASURES, STEP_MEASURES, HasUsers, PeopleTable, sort_users
from curiograph.messages import quote_value
from curiograph.notebook import render_result
from curiograph.optional import import_optional
from curiograph.statistics.bootstrap import INTERVAL_PERCENTILES, Estimate, estimate_means, make_columns, resample_means
from curiograph.statistics.groups import (
    adjust_holm,
    compute_between_groups,
    compute_permutation_p,
    estimate_differences,
)
from curiograph.statistics.survival import (
    LifeTable,
    compute_restricted_mean,
    compute_survival,
    estimate_survival,
    resample_survival,
)
from curiograph.validation import check_integer, check_seed

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from curiograph.plotting import ColumnWidth

GAP_LIFETIME = "gap_lifetime"
"""Measure of groups, not of single walks: mean number of steps that a gap is open, restricted to a common horizon."""
GROUP_MEASURES = MEASURES | {GAP_LIFETIME: "steps until a gap closes"}
"""Measures that groups can be compared by, with their labels."""
_DEFAULT_MEASURES = ("nodes", "beta1", "compressibility", GAP_LIFETIME)
_MAX_GROUPS = 20
_MIN_SHARE = 0.2  # of the people of a group: its curve ends where fewer have a walk of this length

Groups = str | Mapping[Hashable, Any] | Sequence[Any]
"""Name of a user column, group of each user, or list of groups of walks without users."""


@dataclass(frozen=True, eq=False)
class GroupCurve:
    """Mean of a measure over the people of a group after each step, with 95 % intervals over people."""

    mean: Float64
    """Mean over people of their mean over walks that reach the step."""
    low: Float64
    """Lower bounds."""
    high: Float64
    """Upper bounds."""
    people: Int64
    """Number of people with a walk that reaches the step."""

    def __repr__(self) -> str:
        return f"GroupCurve({len(self.mean)} steps, {Estimate(self.mean[-1], self.low[-1], self.high[-1])} at the end)"


@dataclass(frozen=True)
class GroupDifference:
    """Difference between two groups in one measure, with 95 % intervals by resampling the people of each group."""

    group: str
    """Name of the group."""
    other: str
    """Name of the group that is subtracted."""
    difference: Estimate
    """Difference of the means over people."""
    effect: Estimate
    """Hedges' g: the difference in pooled standard deviations, corrected for small samples; NaN for `gap_lifetime`."""


@dataclass(frozen=True, eq=False)
class MeasureComparison:
    """Comparison of all groups by one measure."""

    measure: str
    """Name of the measure."""
    means: dict[str, Estimate]
    """Mean over the people of each group."""
    differences: list[GroupDifference]
    """Difference between every pair of groups."""
    p_value: float
    """p-value of the permutation test of any difference between groups; NaN if all people have the same value."""
    p_adjusted: float
    """p-value adjusted for all measures by the method of Holm."""


@dataclass(frozen=True, eq=False)
class GroupComparison(Mapping[str, MeasureComparison]):
    """Groups of people compared by several measures: a mapping from measures to results.

    Examples
    --------
    >>> import curiograph as cg
    >>> g = cg.generate("er", nodes=25, seed=0)
    >>> walks = [cg.explore(g, agent=["greedy", "random"][n % 2], start=n, steps=10, seed=n) for n in range(24)]
    >>> found = cg.compare_groups(cg.measure(g, walks), ["greedy", "random"] * 12)
    >>> found
    GroupComparison(greedy: 12 people, random: 12 people; 4 measures)
    >>> found["beta1"].means["greedy"].value, found["beta1"].p_adjusted < 0.01
    (6.416..., True)
    """

    measures: dict[str, MeasureComparison]
    """Results by measure."""
    curves: dict[str, dict[str, GroupCurve]]
    """Curves of `beta1` and `compressibility`, and of `conformable` if it was compared, by measure and group."""
    survival: dict[str, GapSurvival]
    """Survival of gaps by group; empty if a group opened no gaps."""
    people: dict[str, list[Hashable]]
    """Users by group."""
    without_group: list[Hashable]
    """Users without a group, who are left out."""
    short_walks: int
    """Number of walks that were left out because they have fewer nodes than `steps`."""
    steps: int | None
    """Number of nodes to which walks were cut; None if they were not."""
    permutations: int
    """Number of permutations of the test."""
    person_values: dict[str, list[Any]]
    """Table with one row per person: user, group, and the mean of each measure over walks."""

    def __getitem__(self, measure: str) -> MeasureComparison:
        return self.measures[measure]

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def __len__(self) -> int:
        return len(self.measures)

    @property
    def groups(self) -> list[str]:
        """Names of the groups, sorted."""
        return list(self.people)

    @property
    def answer(self) -> str:
        """The result in one sentence."""
        names = " and ".join(self.groups)
        tested = sum(not np.isnan(found.p_value) for found in self.values())
        tests = f"by permutation tests adjusted for {tested} measure{'' if tested == 1 else 's'}"
        clear = [f"{name} (p = {self[name].p_adjusted:.2g})" for name in self if self[name].p_adjusted < 0.05]
        if not clear:
            return f"The groups {names} do not differ clearly in any measure, {tests}."
        return f"The groups {names} differ in {', '.join(clear)}, {tests}."

    def columns(self) -> dict[str, list[Any]]:
        """Return one row per measure and pair of groups; bounds of intervals are called `effect_low` etc."""
        rows = [(found, pair) for found in self.values() for pair in found.differences]
        return {
            "measure": [found.measure for found, _ in rows],
            "group": [pair.group for _, pair in rows],
            "other": [pair.other for _, pair in rows],
            "people": [len(self.people[pair.group]) for _, pair in rows],
            "other_people": [len(self.people[pair.other]) for _, pair in rows],
            **make_columns("mean", [found.means[pair.group] for found, pair in rows]),
            **make_columns("other_mean", [found.means[pair.other] for found, pair in rows]),
            **make_columns("difference", [pair.difference for _, pair in rows]),
            **make_columns("effect", [pair.effect for _, pair in rows]),
            "p": [found.p_value for found, _ in rows],
            "p_holm": [found.p_adjusted for found, _ in rows],
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row per measure and pair of groups as a pandas frame (`pip install curiograph[frame]`)."""
        return import_optional("pandas", "frame", "Frames").DataFrame(self.columns())

    def per_user(self) -> pd.DataFrame:
        """Return one row per person as a pandas frame: user, group, and the mean of each measure over walks."""
        return import_optional("pandas", "frame", "Frames").DataFrame(self.person_values)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "answer": self.answer,
            "steps": self.steps,
            "permutations": self.permutations,
            "short_walks": self.short_walks,
            "without_group": list(self.without_group),
            "groups": [{"group": group, "people": len(users)} for group, users in self.people.items()],
            "measures": [
                {
                    "measure": found.measure,
                    "p": found.p_value,
                    "p_holm": found.p_adjusted,
                    "means": {group: asdict(mean) for group, mean in found.means.items()},
                    "differences": [asdict(pair) for pair in found.differences],
                }
                for found in self.values()
            ],
            "curves": [
                {
                    "measure": measure,
                    "group": group,
                    "step": list(range(1, len(curve.mean) + 1)),
                    **{name: array.tolist() for name, array in vars(curve).items()},
                }
                for measure, curves in self.curves.items()
                for group, curve in curves.items()
            ],
            "survival": [{"group": group, **survival.to_dict()} for group, survival in self.survival.items()],
            "people": [
                dict(zip(self.person_values, row, strict=True))
                for row in zip(*self.person_values.values(), strict=True)
            ],
        }

    def plot(self, width: ColumnWidth = "double") -> Figure:
        """Plot the curves of all groups, the survival of their gaps, and effect sizes, with 95 % intervals over people.

        Parameters
        ----------
        width : {"double", "single"}
            Two columns of a journal with panels side by side, or one column with panels below each other.
        """
        from curiograph.plotting import plot_groups

        effects = []
        for found in self.values():
            for pair in found.differences:
                if np.isfinite(pair.effect.value):
                    names = "" if len(self.people) == 2 else f"\n{pair.group} - {pair.other}"
                    label = f"{found.measure}{names}\np (Holm) = {found.p_adjusted:.2g}"
                    effects.append((label, (pair.effect.value, pair.effect.low, pair.effect.high)))
        return plot_groups(
            {
                MEASURES[measure]: {group: (curve.mean, curve.low, curve.high) for group, curve in curves.items()}
                for measure, curves in self.curves.items()
            },
            {
                group: (found.curve.survival, found.curve.low, found.curve.high)
                for group, found in self.survival.items()
            },
            effects,
            "effect size (Hedges' g)" + (f", {self.groups[0]} - {self.groups[1]}" if len(self.people) == 2 else ""),
            {group: f"{group} ({len(users):,} people)" for group, users in self.people.items()},
            width,
        )

    def __repr__(self) -> str:
        sizes = ", ".join(f"{group}: {len(users):,} people" for group, users in self.people.items())
        return f"GroupComparison({sizes}; {len(self)} measures)"

    def _repr_html_(self) -> str:
        columns = self.columns()
        shown = ("measure", "group", "other", "mean", "other_mean", "effect", "effect_low", "effect_high", "p_holm")
        return render_result(repr(self), {name: columns[name] for name in shown})

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)


@runtime_checkable
class ComparesGroups(Protocol):
    """A result that compares groups by itself: `human` Profile, which this package must not import."""

    def compare_groups(
        self, groups: Groups, *, measures: Sequence[str] | None = ..., permutations: int = ..., seed: int = ...
    ) -> GroupComparison: ...


def compare_groups(
    growths: Growths | ComparesGroups,
    groups: Groups,
    *,
    measures: Sequence[str] | None = None,
    steps: int | None = None,
    permutations: int = 9999,
    seed: int = 0,
) -> GroupComparison:
    """Compare the growth of the walks of two or more groups of people.

    The unit is the person: values are averaged over the walks of each person, intervals resample people, and the test
    permutes the groups of people, so a person with many walks counts once.

    Parameters
    ----------
    growths : Growths or Profile
        Result of `measure` for several walks, or of `profile`, whose groups are compared by its measures.
    groups : str, mapping or sequence
        Name of a user column of the log; a mapping from users to groups, or a pandas series with the users as its
        index; or, if walks were given without users, a sequence with the group of each walk. People whose group is
        None, NaN or empty are left out and listed in `without_group`.
    measures : sequence of str, optional
        Names of `GROUP_MEASURES`: values at the end of a walk (nodes, edges, beta0, beta1, compressibility, dimension,
        freedom, conformable), means over its steps (mean_beta1, mean_compressibility, mean_conformable), gaps opened
        and closed, and gap_lifetime, the restricted mean lifetime of gaps. Default: nodes, beta1,
        compressibility and gap_lifetime, as far as they were measured.
    steps : int, optional
        Compare all walks after this number of distinct nodes, and leave out shorter walks. By default whole walks are
        compared: then groups can differ because their walks differ in length.
    permutations : int
        Number of permutations of the test.
    seed : int
        Same seed, same result.

    Returns
    -------
    GroupComparison
        Mapping from measures to means, differences, effect sizes and p-values; with `plot` and `to_frame`.

    Examples
    --------
    >>> import curiograph as cg
    >>> growths = cg.measure(cg.toys.cycle(6), [[0, 1, 2, 3, 4, 5]] * 3 + [[0, 1, 2]] * 3)
    >>> found = cg.compare_groups(growths, ["all", "all", "all", "half", "half", "half"], measures=["beta1"])
    >>> found["beta1"].differences[0].difference.value, found["beta1"].p_value < 0.15
    (1.0, True)
    """
    if isinstance(growths, ComparesGroups):
        if steps is not None:
            raise SettingError(f"steps is {steps!r}, but profiles are of whole walks; cut the walks before.")
        return growths.compare_groups(groups, measures=measures, permutations=permutations, seed=seed)
    people = check_people(growths, steps)
    permutations = check_integer("permutations", permutations, 1, "give 1 permutation or more")
    seed = check_seed(seed)
    names, labels = index_groups(get_user_values(people.growths, people.users, groups, "groups"))
    members = {name: np.flatnonzero(labels == number) for number, name in enumerate(names)}
    lives = people.tabulate_lifetimes()
    has_lives = all(lives.at_risk[rows].sum() > 0 for rows in members.values())
    selected = _select_measures(people, measures, has_lives)
    longest = [int(np.flatnonzero(lives.at_risk[rows].sum(axis=0)).max(initial=0)) for rows in members.values()]
    horizon = min(longest)
    values = {name: people.average(name) for name in selected if name != GAP_LIFETIME}
    p_values = _test_groups(selected, values, lives, labels, len(names), horizon, permutations, seed)
    adjusted = dict(zip(selected, adjust_holm(np.array(list(p_values.values()))).tolist(), strict=True))
    known = np.flatnonzero(labels >= 0)
    return GroupComparison(
        measures={
            name: MeasureComparison(
                measure=name,
                means=means,
                differences=differences,
                p_value=p_values[name],
                p_adjusted=adjusted[name],
            )
            for name, (means, differences) in (
                (name, compare_values(values[name], members, seed))
                if name in values
                else (name, _compare_lifetimes(lives, members, horizon, seed))
                for name in selected
            )
        },
        curves={
            measure: _compute_curves(people, measure, members, seed)
            for measure in STEP_MEASURES
            if not np.isnan(people.values[measure]).any() and (measure != "conformable" or measure in selected)
        },
        survival={
            name: GapSurvival(
                curve=estimate_survival(_trim(lives.rows(rows)), horizon, [seed, number]),
                horizon=horizon,
                users=len(rows),
            )
            for number, (name, rows) in enumerate(members.items())
        }
        if has_lives
        else {},
        people={name: [people.users[row] for row in rows] for name, rows in members.items()},
        without_group=[people.users[row] for row in np.flatnonzero(labels < 0)],
        short_walks=len(growths) - len(people.walks),
        steps=people.steps,
        permutations=permutations,
        person_values={
            "user": [people.users[row] for row in known],
            "group": [names[labels[row]] for row in known],
            "walks": people.num_walks[known].tolist(),
            **{name: people.average(name)[known].tolist() for name in people.values},
        },
    )


def check_people(growths: Any, steps: int | None) -> PeopleTable:
    """Return the values per walk and person; raise SettingError unless the growth of several walks is given."""
    if not isinstance(growths, Growths):
        raise SettingError(
            f"growths is {quote_value(growths)}; give the result of measure(graph, walks) for several walks."
        )
    return PeopleTable.from_growths(growths, steps)


def index_groups(given: Sequence[Any]) -> tuple[list[str], Int64]:
    """Return the sorted names of groups and the number of the group of each person, -1 for none.

    >>> index_groups(["b", "a", None, "a", "b"])
    (['a', 'b'], array([ 1,  0, -1,  0,  1]))
    """
    names = sorted({str(value) for value in given if value is not None})
    if len(names) < 2:
        raise SettingError(f"there are {len(names)} groups ({', '.join(names)}); compare 2 or more.")
    if len(names) > _MAX_GROUPS:
        raise SettingError(
            f"groups has {len(names)} distinct values, such as {quote_value(names[0])}; compare at most {_MAX_GROUPS} "
            "groups, or use correlate_growth for a score of each person."
        )
    number = {name: place for place, name in enumerate(names)}
    labels = np.array([-1 if value is None else number[str(value)] for value in given])
    counts = np.bincount(labels[labels >= 0], minlength=len(names))
    if counts.min() < 2:
        sizes = ", ".join(f"{name}: {count}" for name, count in zip(names, counts, strict=True))
        raise SettingError(f"a group has fewer than 2 people ({sizes}); intervals over people need 2 or more.")
    return names, labels


def get_user_values(walks: HasUsers, people: Sequence[Hashable], given: Any, option: str) -> list[Any]:
    """Return one value per person from a column name, a mapping or a sequence; None where it is missing."""
    columns = walks.user_columns
    if isinstance(given, str):
        if given not in columns:
            known = f"the columns are {', '.join(columns)}" if columns else "the walks have no user columns"
            raise UnknownNameError(
                f"there is no user column {given!r}; {known}. Name it when the log is read, as in "
                f"read_log(path, keep=[{given!r}])."
            )
        given = columns[given]
        values = [given.get(user) for user in people]
    elif hasattr(given, "columns"):
        raise SettingError(
            f"{option} is a data frame; give dict(zip(frame.user, frame.group)) with the names of its columns, or the "
            "name of a column that was kept when the log was read."
        )
    elif isinstance(given, Mapping):
        values = _look_up_users(people, given, option)
    elif hasattr(given, "index") and hasattr(given, "items"):  # a series of pandas
        entries = list(given.items())
        by_user = dict(entries)
        if len(by_user) < len(entries):
            raise SettingError(
                f"{option} is a series with {len(entries)} entries, but its index has only {len(by_user)} distinct "
                "values; give one entry per user."
            )
        if by_user.keys().isdisjoint(people):
            raise SettingError(
                f"{option} is a series whose index contains none of the users, such as {quote_value(people[0])}; "
                f"give a series with the users as its index, as in frame.set_index('user')['group']"
                f"{_suggest_text(people[0], by_user)}."
            )
        values = _look_up_users(people, by_user, option)
    else:
        try:
            values = list(given)
        except TypeError:
            raise SettingError(
                f"{option} is {quote_value(given)}; give the name of a user column, a mapping from users, or a "
                "sequence with one value per user."
            ) from None
        users = sort_users(walks.users)
        if users != list(range(len(users))):
            raise SettingError(
                f"{option} is a list, but users have names, such as {quote_value(users[0])}, and a list does not say "
                "whose values it contains; give a mapping from users to values, or the name of a kept column."
            )
        if len(values) != len(users):
            raise SettingError(
                f"{option} has {len(values)} entries, but there are {len(users)} walks; give one per walk."
            )
        value_of = dict(zip(users, values, strict=True))  # users with short walks only are left out
        values = [value_of[user] for user in people]
    return [None if _is_missing(value) else value for value in values]


def _look_up_users(users: Sequence[Hashable], given: Mapping[Hashable, Any], option: str) -> list[Any]:
    """Return the value of every user; raise SettingError if a user has no entry."""
    unknown = [user for user in users if user not in given]
    if unknown:
        raise SettingError(
            f"{option} has no entry for {len(unknown)} of {len(users)} users, such as {quote_value(unknown[0])}; give "
            f"every user a value, or None to leave the user out{_suggest_text(unknown[0], given)}."
        )
    return [given[user] for user in users]


def _suggest_text(user: Hashable, given: Mapping[Hashable, Any]) -> str:
    """Return the end of a message if a user is a text such as '0' and a key is the number 0; else an empty text."""
    same = next((key for key in given if key != user and str(key) == user), None)
    return "" if same is None else f"; users of a csv are text; give {user!r} instead of {user}"


def check_measures(measures: Any, known: Sequence[str]) -> list[str]:
    """Return names of measures without repeats; raise an error for unknown ones."""
    if isinstance(measures, str) or not isinstance(measures, Sequence) or not measures:
        raise SettingError(f"measures is {quote_value(measures)}; give a list of measures, at least one.")
    for name in measures:
        if name not in known:
            raise UnknownNameError(f"there is no measure {quote_value(name)}; the measures are {', '.join(known)}.")
    return list(dict.fromkeys(measures))


def _is_missing(value: Any) -> bool:
    is_nan = isinstance(value, (float, np.floating)) and bool(np.isnan(value))
    is_missing = value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")  # the last two of pandas
    return is_missing or (isinstance(value, str) and not value.strip())


def _select_measures(people: PeopleTable, measures: Sequence[str] | None, has_lives: bool) -> list[str]:
    """Return the measures to compare; raise an error for one that was requested and cannot be computed."""
    missing = [name for name, values in people.values.items() if np.isnan(values).any()]
    if measures is None:
        constant = ["nodes"] if people.steps is not None else []
        return [
            name
            for name in _DEFAULT_MEASURES
            if name not in (*missing, *constant) and (has_lives or name != GAP_LIFETIME)
        ]
    selected = check_measures(measures, [*people.values, GAP_LIFETIME])
    for name in selected:
        if name in missing:
            raise WalkError(f"{name} was not computed; measure the walks with compressibility=True.")
        if name == GAP_LIFETIME and not has_lives:
            raise WalkError(f"a group opened no gaps, so {name} cannot be compared; leave it out.")
    return selected


def _test_groups(
    selected: Sequence[str],
    values: Mapping[str, Float64],
    lives: LifeTable,
    labels: Int64,
    num_groups: int,
    horizon: int,
    permutations: int,
    seed: int,
) -> dict[str, float]:
    """Test all measures with the same permutations of the groups of people; NaN for a measure without variation.

    The statistic of lifetimes is the range of the restricted means of the groups.
    """
    known = labels >= 0
    table = lives.rows(known)
    # the first column is empty, for a comparison of lifetimes alone
    columns = np.column_stack([np.zeros(known.sum()), *(column[known] for column in values.values())])

    def compute_statistics(rows: Int64) -> Float64:
        parts = [compute_between_groups(rows, columns, num_groups)]
        if GAP_LIFETIME in selected:
            means = []
            for group in range(num_groups):
                drawn = (rows == group).astype(np.float64)
                survival = compute_survival(drawn @ table.events, drawn @ table.at_risk)
                means.append(compute_restricted_mean(survival, horizon))
            parts.append(np.ptp(means, axis=0)[:, None])
        return np.hstack(parts)

    p_values = compute_permutation_p(labels[known], compute_statistics, permutations, seed)
    tested = {name: float(p) for name, p in zip(values, p_values[1:], strict=False) if np.ptp(values[name][known]) > 0}
    if table.events.sum() > 0:
        tested[GAP_LIFETIME] = float(p_values[-1])
    return {name: tested.get(name, np.nan) for name in selected}


def compare_values(
    values: Float64, members: Mapping[str, Int64], seed: int
) -> tuple[dict[str, Estimate], list[GroupDifference]]:
    """Return the means over people of a measure with one value per person, and the differences between groups."""
    differences = []
    for group, other in combinations(members, 2):
        difference, effect = estimate_differences(values[members[group]], values[members[other]], (seed,))
        differences.append(GroupDifference(group=group, other=other, difference=difference, effect=effect))
    ones = {name: np.ones(len(rows), np.int64) for name, rows in members.items()}
    means = {name: estimate_means(values[rows, None], ones[name], seed)[0] for name, rows in members.items()}
    return means, differences


def _compare_lifetimes(
    lives: LifeTable, members: Mapping[str, Int64], horizon: int, seed: int
) -> tuple[dict[str, Estimate], list[GroupDifference]]:
    """Return the restricted mean lifetimes of all gaps of each group, and the differences between groups."""
    means, samples = {}, {}
    for number, (name, rows) in enumerate(members.items()):
        table = lives.rows(rows)
        samples[name] = compute_restricted_mean(resample_survival(table, [seed, number]), horizon)
        survival = compute_survival(table.events.sum(axis=0), table.at_risk.sum(axis=0))
        means[name] = _summarize(float(compute_restricted_mean(survival, horizon)), samples[name])
    differences = [
        GroupDifference(
            group=group,
            other=other,
            difference=_summarize(means[group].value - means[other].value, samples[group] - samples[other]),
            effect=Estimate(np.nan, np.nan, np.nan),
        )
        for group, other in combinations(members, 2)
    ]
    return means, differences


def _summarize(value: float, samples: Float64) -> Estimate:
    return Estimate(value, *np.percentile(samples, INTERVAL_PERCENTILES).tolist())


def _trim(table: LifeTable) -> LifeTable:
    """Cut a table after the longest lifetime of its clusters."""
    last = int(np.flatnonzero(table.at_risk.sum(axis=0)).max()) + 1
    return LifeTable(events=table.events[:, :last], at_risk=table.at_risk[:, :last])


def _compute_curves(
    people: PeopleTable, measure: str, members: Mapping[str, Int64], seed: int
) -> dict[str, GroupCurve]:
    """Compute the curve of each group, up to the step that a fifth of its people reach, and at least two."""
    sums, counts = people.tabulate_steps(measure)
    curves = {}
    for number, (name, rows) in enumerate(members.items()):
        reached = counts[rows] > 0
        enough = reached.sum(axis=0) >= max(2, _MIN_SHARE * len(rows))
        length = int(np.argmin(np.append(enough, False)))
        present = reached[:, :length]
        means = np.where(present, sums[rows][:, :length] / np.maximum(counts[rows][:, :length], 1), 0.0)
        samples = resample_means(means, present.astype(np.float64), [seed, number])
        low, high = np.nanpercentile(samples, INTERVAL_PERCENTILES, axis=0)
        curves[name] = GroupCurve(
            mean=means.sum(axis=0) / present.sum(axis=0), low=low, high=high, people=present.sum(axis=0)
        )
    return curves
