"""Compare groups of people by the measures of their profiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from curiograph.arrays import Float64, Int64
from curiograph.errors import SettingError, WalkError
from curiograph.growth.groups import (
    GroupComparison,
    Groups,
    MeasureComparison,
    check_measures,
    compare_values,
    get_user_values,
    index_groups,
)
from curiograph.human.profile.results import average_people, number_people
from curiograph.statistics.groups import adjust_holm, compute_between_groups, compute_permutation_p
from curiograph.validation import check_integer, check_seed

if TYPE_CHECKING:
    from curiograph.human.profile.results import Profile


def compare_profiles(
    profile: Profile, groups: Groups, *, measures: Sequence[str] | None, permutations: int, seed: int
) -> GroupComparison:
    """Compare groups of people by their means of measures; see `Profile.compare_groups`."""
    permutations = check_integer("permutations", permutations, 1, "give 1 permutation or more")
    seed = check_seed(seed)
    users, person = number_people(profile)
    names, labels = index_groups(get_user_values(profile, users, groups, "groups"))
    values = average_people(profile, None if measures is None else check_measures(measures, list(profile)))
    enough = {
        name: np.bincount(labels[(labels >= 0) & ~np.isnan(column)], minlength=len(names)).min() >= 2
        for name, column in values.items()
    }
    undefined = [name for name in values if not enough[name]]
    if measures is not None and undefined:
        raise WalkError(
            f"{undefined[0]} is defined for fewer than 2 people of a group, so it cannot be compared; leave it out."
        )
    if not any(enough.values()):
        raise SettingError("no measure is defined for 2 people of each group; compare longer walks or other groups.")
    p_values = _test_measures({name: values[name] for name in values if enough[name]}, labels, permutations, seed)
    compared = {}
    for name, p_value in p_values.items():
        known = np.flatnonzero((labels >= 0) & ~np.isnan(values[name]))
        members = {group: np.flatnonzero(labels[known] == number) for number, group in enumerate(names)}
        compared[name] = (*compare_values(values[name][known], members, seed), p_value)
    adjusted = adjust_holm(np.array(list(p_values.values())))
    known = np.flatnonzero(labels >= 0)
    num_walks = np.bincount(person, minlength=len(users))
    return GroupComparison(
        measures={
            name: MeasureComparison(
                measure=name, means=means, differences=differences, p_value=p_value, p_adjusted=float(p_adjusted)
            )
            for (name, (means, differences, p_value)), p_adjusted in zip(compared.items(), adjusted, strict=True)
        },
        curves={},
        survival={},
        people={name: [users[row] for row in np.flatnonzero(labels == number)] for number, name in enumerate(names)},
        without_group=[users[row] for row in np.flatnonzero(labels < 0)],
        short_walks=0,
        steps=None,
        permutations=permutations,
        person_values={
            "user": [users[row] for row in known],
            "group": [names[labels[row]] for row in known],
            "walks": num_walks[known].tolist(),
            **{name: column[known].tolist() for name, column in values.items()},
        },
    )


def _test_measures(values: dict[str, Float64], labels: Int64, permutations: int, seed: int) -> dict[str, float]:
    """Return the p-value of each measure; NaN if all people have the same value.

    Measures that are defined for the same people are tested with the same permutations, which saves most of the time.
    """
    by_people: dict[bytes, list[str]] = {}
    for name, column in values.items():
        by_people.setdefault(np.packbits((labels >= 0) & ~np.isnan(column)).tobytes(), []).append(name)
    p_values: dict[str, float] = {}
    for names in by_people.values():
        known = np.flatnonzero((labels >= 0) & ~np.isnan(values[names[0]]))
        table = np.column_stack([values[name][known] for name in names])
        num_groups = int(labels.max()) + 1

        def compute_statistics(rows: Int64, table: Float64 = table, num_groups: int = num_groups) -> Float64:
            return compute_between_groups(rows, table, num_groups)

        found = compute_permutation_p(labels[known], compute_statistics, permutations, seed)
        varies = np.ptp(table, axis=0) > 0
        p_values |= {name: float(p) if ok else np.nan for name, p, ok in zip(names, found, varies, strict=True)}
    return {name: p_values[name] for name in values}
