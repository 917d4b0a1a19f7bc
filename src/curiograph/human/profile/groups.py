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
    users, person = profile.number_people()
    names, labels = index_groups(get_user_values(profile, users, groups, "groups"))
    values = profile.average_people(None if measures is None else check_measures(measures, list(profile)))
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
    compared = {}
    for name in values:
        if not enough[name]:
            continue
        known = np.flatnonzero((labels >= 0) & ~np.isnan(values[name]))
        column, group_of = values[name][known], labels[known]
        p_value = np.nan
        if np.ptp(column) > 0:

            def compute_statistic(rows: Int64, column: Float64 = column) -> Float64:
                return compute_between_groups(rows, column[:, None], len(names))

            p_value = float(compute_permutation_p(group_of, compute_statistic, permutations, seed)[0])
        members = {group: np.flatnonzero(group_of == number) for number, group in enumerate(names)}
        means, differences = compare_values(column, members, seed)
        compared[name] = MeasureComparison(
            measure=name, means=means, differences=differences, p_value=p_value, p_adjusted=np.nan
        )
    adjusted = adjust_holm(np.array([found.p_value for found in compared.values()]))
    known = np.flatnonzero(labels >= 0)
    num_walks = np.bincount(person, minlength=len(users))
    return GroupComparison(
        measures={
            name: MeasureComparison(
                measure=name,
                means=found.means,
                differences=found.differences,
                p_value=found.p_value,
                p_adjusted=float(p),
            )
            for (name, found), p in zip(compared.items(), adjusted, strict=True)
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
