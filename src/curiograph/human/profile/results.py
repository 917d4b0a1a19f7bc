"""`Profile`: the measures of many walks, with tables per walk and per person, groups and curiosity styles."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int64
from curiograph.errors import UnknownNameError
from curiograph.graph.graph import Graph
from curiograph.growth.groups import GroupComparison, Groups
from curiograph.growth.tables import list_user_columns, sort_users
from curiograph.human.profile.compute import PairSimilarity
from curiograph.human.profile.measures import MEASURES
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value
from curiograph.notebook import render_result
from curiograph.optional import import_optional
from curiograph.skipped import Skipped

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from curiograph.human.profile.styles import Styles


@dataclass(frozen=True, eq=False)
class Profile(Mapping[str, NDArray[Any]]):
    """Measures of walks: a mapping from the names of measures to arrays with one value per walk.

    Examples
    --------
    >>> import curiograph as cg
    >>> walks = cg.human.Trajectories.from_walks([[0, 1, 2, 3, 0], [0, 1], [2]], users=["ann", "ann", "bob"])
    >>> found = cg.profile(cg.toys.cycle(4), walks, measures=["beta1", "revisits", "path_length"])
    >>> found["beta1"], found.users, found.sessions
    (array([1, 0, 0]), ['ann', 'ann', 'bob'], [1, 2, 1])
    >>> found.per_user()[["user", "walks", "beta1", "path_length"]]
      user  walks  beta1  path_length
    0  ann      2    0.5     1.166667
    1  bob      1    0.0          NaN
    """

    graph: Graph
    """The graph that was walked on."""
    walks: Trajectories
    """The walks, as positions in the graph."""
    measures: dict[str, NDArray[Any]]
    """Values of each walk by measure; NaN where a measure is not defined."""
    similarity: PairSimilarity | None = None
    """Similarity of nodes that was used instead of weights."""

    def __getitem__(self, measure: str) -> NDArray[Any]:
        if measure not in self.measures:
            raise UnknownNameError(
                f"there is no measure {quote_value(measure)} in this profile; it has {', '.join(self.measures)}."
            )
        return self.measures[measure]

    def __contains__(self, measure: object) -> bool:
        return measure in self.measures

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def __len__(self) -> int:
        return len(self.measures)

    @property
    def users(self) -> list[Hashable]:
        """Name of the user of each walk; the number of the walk if it was given without a user."""
        return [self.walks.user_names[user] for user in self.walks.users.tolist()]

    @property
    def sessions(self) -> list[Hashable]:
        """Name of the session of each walk."""
        return [self.walks.session_names[session] for session in self.walks.sessions.tolist()]

    @property
    def user_columns(self) -> Mapping[str, Mapping[Hashable, Any]]:
        """Values of further columns of a log, such as a group, by the name of the column and then by user."""
        present = np.unique(self.walks.users).tolist()
        return {
            name: {self.walks.user_names[user]: values[user] for user in present}
            for name, values in self.walks.user_columns.items()
        }

    @property
    def skipped(self) -> Skipped:
        """What was dropped when the walks were read and matched with the graph."""
        return self.walks.skipped

    def columns(self) -> dict[str, list[Any]]:
        """Return one row per walk: user, values of user columns, session, and all measures."""
        table: dict[str, list[Any]] = {
            "session": self.sessions,
            **{name: values.tolist() for name, values in self.measures.items()},
        }
        users = self.users
        return {"user": users, **list_user_columns(self, users, ["user", *table]), **table}

    def to_frame(self) -> pd.DataFrame:
        """Return one row per walk as a pandas frame (`pip install curiograph[frame]`)."""
        return import_optional("pandas", "frame", "Frames").DataFrame(self.columns())

    def per_user(self) -> pd.DataFrame:
        """Return one row per user as a pandas frame: means over the walks for which a measure is defined."""
        return import_optional("pandas", "frame", "Frames").DataFrame(list_people(self))

    def to_dict(self) -> dict[str, Any]:
        """Return all rows and what was dropped as plain values."""
        columns = self.columns()
        return {
            "walks": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
            "skipped": self.skipped.to_dict(),
        }

    def compare_groups(
        self,
        groups: Groups,
        *,
        measures: Sequence[str] | None = None,
        permutations: int = 9999,
        seed: int = 0,
    ) -> GroupComparison:
        """Compare groups of people by their means of measures; arguments as for `compare_groups` of growths.

        People for whom a measure is not defined are left out of the comparison of this measure. By default all measures
        are compared that are defined for at least two people of each group.
        """
        from curiograph.human.profile.groups import compare_profiles

        return compare_profiles(self, groups, measures=measures, permutations=permutations, seed=seed)

    def styles(self, block: int | None = 10, *, seed: int = 0) -> Styles:
        """Estimate the position of each person between busybody and hunter; see `curiosity_styles`."""
        from curiograph.human.profile.styles import curiosity_styles

        return curiosity_styles(self, block, seed=seed)

    def plot(self, measures: Sequence[str] | None = None) -> Figure:
        """Plot the distribution over people of each measure, one panel per measure."""
        from curiograph.plotting.profile import plot_distributions

        means = average_people(self, measures)
        return plot_distributions({MEASURES[name].label: values for name, values in means.items()})

    def __repr__(self) -> str:
        users = len(np.unique(self.walks.users))
        return f"Profile({len(self.walks):,} walks by {users:,} users, {len(self.measures)} measures)"

    def _repr_html_(self) -> str:
        return render_result(repr(self), self.columns())

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)


def number_people(profile: Profile) -> tuple[list[Hashable], Int64]:
    """Return the distinct users, sorted, and the number of the user of each walk among them."""
    names = profile.users
    users = sort_users(names)
    number = {user: place for place, user in enumerate(users)}
    return users, np.array([number[name] for name in names])


def average_people(profile: Profile, measures: Sequence[str] | None = None) -> dict[str, Float64]:
    """Return the mean of each measure over the walks of each user, sorted, for which it is defined; else NaN."""
    users, person = number_people(profile)
    means = {}
    for name in profile.measures if measures is None else measures:
        values = profile[name].astype(np.float64)
        known = ~np.isnan(values)
        with np.errstate(invalid="ignore"):
            means[name] = np.bincount(person[known], values[known], len(users)) / np.bincount(
                person[known], minlength=len(users)
            )
    return means


def list_people(profile: Profile) -> dict[str, list[Any]]:
    """Return one row per user, sorted: user columns, number of walks, and the mean of each measure over walks."""
    users, person = number_people(profile)
    table: dict[str, list[Any]] = {
        "walks": np.bincount(person, minlength=len(users)).tolist(),
        **{name: means.tolist() for name, means in average_people(profile).items()},
    }
    return {"user": list(users), **list_user_columns(profile, users, ["user", *table]), **table}
