"""Recurrence: how often walks return to nodes, after how many steps, and how fast they find new nodes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.arrays import Float64, Int64
from curiograph.bootstrap import INTERVAL_PERCENTILES, Estimate, estimate_means, make_columns, resample_means
from curiograph.errors import WalkError
from curiograph.human.data.dataset import Dataset
from curiograph.human.trajectories import Trajectories, as_trajectories
from curiograph.notebook import render_result
from curiograph.optional import import_optional
from curiograph.validation import check_seed

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_BACK = 2  # steps from a node to itself by way of one other node
_MIN_USERS = 10  # who reach the last step of the curves, if there are as many users


@dataclass(frozen=True, eq=False)
class Returns:
    """Recurrence of walks: returns to nodes visited before on the same walk.

    Examples
    --------
    >>> walks = Trajectories.from_walks([["a", "b", "a", "c"], ["a", "b", "c", "a"]], users=["ann", "bob"])
    >>> found = measure_returns(walks)
    >>> found
    Returns(2 of 6 steps by 2 users)
    >>> found.columns()["distinct"], found.return_times.tolist()
    ([1.0, 2.0, 2.5, 3.0], [0, 0, 1, 1])
    """

    share: Estimate
    """Share of all steps that are returns: steps to a node that the same walk visited before."""
    back: Estimate
    """Share of all steps that return to the node before the last one, as the second step of a, b, a."""
    return_times: Int64
    """Number of returns by the number of steps since the last visit of the node; index 2 holds those that go back."""
    distinct: list[Estimate]
    """Entry t - 1 is the mean number of distinct nodes after t visits, over walks with t visits or more."""
    returning: list[Estimate]
    """Recurrence curve: entry t - 1 is the share of walks whose visit number t is a return, among walks with t visits
    or more."""
    walks: Int64
    """Number of walks with 1, 2, ... visits or more."""
    users: list[Hashable]
    """Users with a step."""
    user_walks: Int64
    """Number of walks of each user with a step."""
    user_steps: Int64
    """Number of steps of each user."""
    user_returns: Int64
    """Number of steps of each user that return to a node."""
    user_back: Int64
    """Number of steps of each user that go back at once."""
    user_times: Float64
    """Mean number of steps between a return and the last visit of the node, for each user; NaN without returns."""
    user_columns: Mapping[str, Sequence[Any]]
    """Values of further columns of the log by the name of the column, one value per user of `users`."""

    @property
    def median_time(self) -> float:
        """Median number of steps between a return and the last visit of the node; NaN without returns."""
        if self.return_times.sum() == 0:
            return float("nan")
        return float(np.median(np.repeat(np.arange(len(self.return_times)), self.return_times)))

    def columns(self) -> dict[str, list[Any]]:
        """Return one entry per number of visits: number of walks, mean distinct nodes, and share of returns."""
        return {
            "visits": list(range(1, len(self.walks) + 1)),
            "walks": self.walks.tolist(),
            **make_columns("distinct", self.distinct),
            **make_columns("returning", self.returning),
        }

    def list_by_user(self) -> dict[str, list[Any]]:
        """Return one entry per user and quantity; see `per_user`."""
        return {
            "user": self.users,
            **{name: list(values) for name, values in self.user_columns.items()},
            "walks": self.user_walks.tolist(),
            "steps": self.user_steps.tolist(),
            "returns": self.user_returns.tolist(),
            "share": (self.user_returns / self.user_steps).tolist(),
            "back": (self.user_back / self.user_steps).tolist(),
            "return_time": self.user_times.tolist(),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row per number of visits as a pandas frame (`pip install curiograph[frame]`)."""
        return import_optional("pandas", "frame", "Frames").DataFrame(self.columns())

    def per_user(self) -> pd.DataFrame:
        """Return one row per user as a pandas frame (`pip install curiograph[frame]`).

        `share` is the share of the user's steps that return, `back` of those that go back at once, and `return_time`
        the mean number of steps since the last visit of the node.
        """
        return import_optional("pandas", "frame", "Frames").DataFrame(self.list_by_user())

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        by_user = self.list_by_user()
        return {
            "users": len(self.users),
            "steps": int(self.user_steps.sum()),
            "returns": int(self.user_returns.sum()),
            "share": asdict(self.share),
            "back": asdict(self.back),
            "median_time": self.median_time,
            "return_times": self.return_times.tolist(),
            "curve": self.columns(),
            "per_user": [dict(zip(by_user, row, strict=True)) for row in zip(*by_user.values(), strict=True)],
        }

    def plot(self) -> Figure:
        """Plot distinct nodes and returns over the number of visits, and the distribution of return times."""
        from curiograph.plotting import COLORS, create_figure

        figure, (left, middle, right) = create_figure(11.0, 3.4, columns=3)
        visits = np.arange(1, len(self.walks) + 1)
        for ax, estimates in ((left, self.distinct), (middle, self.returning)):
            value, low, high = np.array([[each.value, each.low, each.high] for each in estimates]).T
            ax.plot(visits, value, color=COLORS["human"], linewidth=2)
            ax.fill_between(visits, low, high, color=COLORS["human"], alpha=0.2, linewidth=0)
            ax.set_xlabel("visits")
        left.plot(visits, visits, ":", color=COLORS["muted"], linewidth=1.5)
        left.set_ylabel("distinct nodes")
        middle.set_ylabel("share of visits that return")
        times = np.flatnonzero(self.return_times)
        right.plot(times, self.return_times[times] / max(1, self.return_times.sum()), "o", color=COLORS["human"])
        if len(times):
            right.set(xscale="log", yscale="log")
        right.set_xlabel("steps since the last visit")
        right.set_ylabel("share of returns")
        for ax in (left, middle, right):
            ax.spines[["top", "right"]].set_visible(False)
        return figure

    def __repr__(self) -> str:
        steps, returns = int(self.user_steps.sum()), int(self.user_returns.sum())
        users = f"{len(self.users):,} user{'' if len(self.users) == 1 else 's'}"
        return f"Returns({returns:,} of {steps:,} steps by {users})"

    def _repr_html_(self) -> str:
        return render_result(
            repr(self), self.list_by_user(), {"distinct nodes": [each.value for each in self.distinct]}
        )


def measure_returns(walks: Trajectories | Dataset, *, seed: int = 0) -> Returns:
    """Measure how often walks return to nodes, after how many steps, and how many distinct nodes they visit.

    A return is a visit of a node that the same walk visited before; the return time is the number of steps since the
    last visit. Walks of one visit have no step and are left out.

    Parameters
    ----------
    walks : Trajectories or Dataset
        Walks with all visits; see `back_clicks` of `load_dataset` for Wikispeedia.
    seed : int
        Seed of the confidence intervals, which resample users.

    Returns
    -------
    Returns
        Shares, return times and curves, with 95 % intervals, and a table with one row per user.

    Examples
    --------
    >>> walks = Trajectories.from_walks([["a", "b", "a"], ["b", "c", "a"]])
    >>> measure_returns(walks).per_user()["share"].tolist()
    [0.5, 0.0]
    """
    check_seed(seed)
    walks = as_trajectories(walks).at_least(2)
    if len(walks) == 0:
        raise WalkError("no walk has a step; give walks of 2 visits or more.")
    users, user_of_walk = np.unique(walks.users, return_inverse=True)
    lengths = walks.lengths
    walk_of = np.repeat(np.arange(len(walks)), lengths)
    place = np.arange(len(walks.nodes)) - np.repeat(walks.offsets[:-1], lengths)
    user_of = user_of_walk[walk_of]
    order = np.lexsort((place, walks.nodes, walk_of))
    again = np.zeros(len(order), bool)
    again[1:] = (walk_of[order][1:] == walk_of[order][:-1]) & (walks.nodes[order][1:] == walks.nodes[order][:-1])
    times = np.zeros(len(order), np.int64)  # since the last visit of the node; 0 for the first visit
    times[order[again]] = place[order[again]] - place[order[np.flatnonzero(again) - 1]]
    is_return, is_back = times > 0, times == _BACK
    size = len(users)
    steps = np.bincount(user_of, place > 0, size).astype(np.int64)
    returned = np.bincount(user_of, is_return, size).astype(np.int64)
    went_back = np.bincount(user_of, is_back, size).astype(np.int64)
    with np.errstate(invalid="ignore"):
        mean_times = np.bincount(user_of, times, size) / np.where(returned > 0, returned, np.nan)
    share, back = estimate_means(np.column_stack([returned, went_back]).astype(np.float64), steps, seed)
    longest = _count_common_visits(walks, user_of_walk)
    new_nodes = np.cumsum(~is_return)
    distinct: Int64 = new_nodes - np.repeat(new_nodes[walks.offsets[:-1]] - 1, lengths)
    shown = place < longest
    cells = user_of[shown] * longest + place[shown]

    def tabulate(values: Any) -> Float64:
        weights: Float64 = values[shown].astype(np.float64)
        return np.asarray(np.bincount(cells, weights, size * longest), np.float64).reshape(size, longest)

    entries = tabulate(np.ones(len(place)))
    return Returns(
        share=share,
        back=back,
        return_times=np.bincount(times[is_return], minlength=_BACK + 1),
        distinct=_estimate_curve(tabulate(distinct), entries, seed),
        returning=_estimate_curve(tabulate(is_return), entries, seed),
        walks=entries.sum(axis=0).astype(np.int64),
        users=[walks.user_names[int(user)] for user in users],
        user_walks=np.bincount(user_of_walk),
        user_steps=steps,
        user_returns=returned,
        user_back=went_back,
        user_times=mean_times,
        user_columns={name: [values[int(user)] for user in users] for name, values in walks.user_columns.items()},
    )


def _count_common_visits(walks: Trajectories, user_of_walk: Int64) -> int:
    """Return the number of visits that ten users reach in a walk, or all users if there are fewer."""
    longest = np.zeros(int(user_of_walk.max()) + 1, np.int64)
    np.maximum.at(longest, user_of_walk, walks.lengths)
    return int(np.sort(longest)[::-1][min(_MIN_USERS, len(longest)) - 1])


def _estimate_curve(sums: Float64, entries: Float64, seed: int) -> list[Estimate]:
    """Return the mean of each column with a 95 % interval over users."""
    means = sums.sum(axis=0) / entries.sum(axis=0)
    low, high = np.nanpercentile(resample_means(sums, entries, seed), INTERVAL_PERCENTILES, axis=0)
    return [Estimate(*values) for values in zip(means.tolist(), low.tolist(), high.tolist(), strict=True)]
