"""Survival of information gaps: how long gaps stay open, if walks end before most of them close."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from curiograph.arrays import Float64, Int64
from curiograph.bootstrap import INTERVAL_PERCENTILES, Estimate, draw_weights
from curiograph.errors import UnknownNameError, WalkError
from curiograph.growth.records import Growths
from curiograph.human.people.group_tests import compute_permutation_p
from curiograph.human.people.people_table import BY, average_people, check_single, clean_groups, number_people
from curiograph.results import Table
from curiograph.validation import check_integer, check_seed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PERMUTATIONS = 9999


@dataclass(frozen=True, eq=False, repr=False)
class GapSurvival(Table):
    """Kaplan-Meier estimate of the lifetime of gaps: one row per group and number of steps since opening.

    Most gaps are open when a walk ends. Their lifetime is censored: known to be at least the number of steps to the end
    of the walk. A mean over closed gaps alone would be too small; the Kaplan-Meier estimate uses all gaps.
    """

    curves: dict[str, dict[str, Any]]
    """Columns of each group: time, share of gaps that are still open (`survival`, with 95 % bounds over people, NaN for
    one person), and the numbers of gaps at risk and closed."""
    restricted_mean: dict[str, Estimate]
    """Mean of the lifetime, at most `horizon`, by group."""
    median: dict[str, Estimate]
    """Time after which half of the gaps are closed, by group; infinite if that is never observed."""
    horizon: int
    """Number of steps to which the mean is restricted."""
    p: float
    """P-value of a difference between groups in the restricted mean, by permutation of people; NaN for one group."""

    def columns(self) -> dict[str, Any]:
        """Return one row per group and time."""
        names = np.repeat(list(self.curves), [len(curve["time"]) for curve in self.curves.values()])
        first = next(iter(self.curves.values()))
        return {"group": names.tolist()} | {
            name: np.concatenate([curve[name] for curve in self.curves.values()]) for name in first
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the share of gaps that are still open, with its interval, a line for each group."""
        from curiograph.plotting import plot_survival

        bands = {name: (c["survival"], c["survival_low"], c["survival_high"]) for name, c in self.curves.items()}
        return plot_survival(bands, ax)

    def __repr__(self) -> str:
        groups = [
            f"{name}: {curve['at_risk'][0]:,} gaps, {curve['closed'].sum():,} closed, median {self.median[name]}"
            for name, curve in self.curves.items()
        ]
        return f"GapSurvival({'; '.join(groups)})"


def gap_survival(growths: Growths, by: str | None = None, *, horizon: int | None = None, seed: int = 0) -> GapSurvival:
    """Estimate how long gaps stay open, with gaps that are open at the end of a walk as censored (Kaplan-Meier).

    Gaps of one person depend on each other, so intervals are computed by resampling people.

    Parameters
    ----------
    growths : Growths
        Result of `measure` for several walks.
    by : str, optional
        Name of a column of the log with the group of each person; people without one are left out. Default: all people
        together.
    horizon : int, optional
        Number of steps to which the mean lifetime is restricted. Default: the longest lifetime, of all groups the
        shortest of these.
    seed : int
        Seed of the resampling.

    Returns
    -------
    GapSurvival
        Survival curve, restricted mean and median of each group; with `plot` and `to_frame`.

    Examples
    --------
    >>> import curiograph as cg
    >>> growths = cg.measure(cg.toys.cycle(4), [[0, 1, 2, 3], [3, 2, 1, 0]])
    >>> cg.gap_survival(growths).to_frame()[["time", "survival", "at_risk"]]
       time  survival  at_risk
    0     0       1.0        2
    """
    seed = check_seed(seed)
    if by is not None and by not in growths.people:
        raise UnknownNameError(f"there is no column {by!r}; the columns are {', '.join(growths.people)}.")
    frame = growths.gaps_frame()
    users, person = number_people(growths.users)
    walks = pd.DataFrame({"user": growths.users, BY: "all" if by is None else growths.people[by]})
    walks[BY] = clean_groups(walks[BY])
    check_single(walks, "give one group per person")
    group_of = average_people(walks, [])[BY]
    members = {group: np.flatnonzero(group_of == group) for group in sorted(group_of.dropna().unique())}
    shape = len(users), int(frame["lifetime"].max() if len(frame) else 0) + 1
    cells = person[frame["walk"]] * shape[1] + frame["lifetime"]
    ended = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
    events = np.bincount(cells[~frame["censored"]], minlength=shape[0] * shape[1]).reshape(shape)
    at_risk = np.cumsum(ended[:, ::-1], axis=1)[:, ::-1]
    lengths = {group: int(np.count_nonzero(at_risk[rows].sum(axis=0))) for group, rows in members.items()}
    if not lengths or min(lengths.values()) == 0:
        raise WalkError("a group opened no gap, so there are no lifetimes; measure longer walks.")
    longest = min(lengths.values()) - 1
    meaning = f"give a number of steps up to the longest lifetime, {longest}"
    horizon = longest if horizon is None else check_integer("horizon", horizon, 0, meaning, longest)
    curves, means, medians = {}, {}, {}
    for number, (group, rows) in enumerate(members.items()):
        parts = events[rows, : lengths[group]], at_risk[rows, : lengths[group]]
        samples = np.full((1, lengths[group]), np.nan)  # of one person, who cannot be resampled
        if len(rows) > 1:
            drawn = draw_weights(len(rows), seed if by is None else [seed, number])
            samples = np.concatenate([_compute_survival(*(times @ part for part in parts)) for times in drawn])
        closed, remaining = (part.sum(axis=0) for part in parts)
        survival = _compute_survival(closed, remaining)
        low, high = np.percentile(samples, INTERVAL_PERCENTILES, axis=0)
        curves[group] = {
            "time": np.arange(lengths[group]),
            "survival": survival,
            "survival_low": low,
            "survival_high": high,
            "at_risk": remaining,
            "closed": closed,
        }
        means[group] = Estimate.from_samples(survival[:horizon].sum(), samples[:, :horizon].sum(axis=1))
        # medians can be infinite, so bounds are not interpolated
        bounds = np.percentile(_find_median(samples), INTERVAL_PERCENTILES, method="inverted_cdf")
        medians[group] = Estimate(float(_find_median(survival[None, :])[0]), *map(float, bounds))
    people = np.concatenate(list(members.values()))
    bounds = np.cumsum([0, *map(len, members.values())])

    def compare_means(order: Int64) -> Float64:
        """Return the variance between groups of people in a given order, weighted by their sizes."""
        found = []
        for first, last in pairwise(bounds):
            chosen = np.zeros((len(order), len(people)))
            np.put_along_axis(chosen, order[:, first:last], 1.0, axis=1)
            curves = _compute_survival(chosen @ events[people], chosen @ at_risk[people])
            found.append(curves[:, :horizon].sum(axis=1))
        weights = np.diff(bounds)
        middle = np.average(found, axis=0, weights=weights)
        return np.average((np.array(found) - middle) ** 2, axis=0, weights=weights)[:, None]

    p = np.nan if len(members) < 2 else compute_permutation_p((1, len(people)), compare_means, _PERMUTATIONS, seed)[0]
    return GapSurvival(curves, means, medians, horizon, float(p))


def _compute_survival(events: Any, at_risk: Any) -> Float64:
    """Return the Kaplan-Meier estimate of P(lifetime > t) for every time, which is the last axis."""
    return np.asarray(np.cumprod(1 - events / np.maximum(at_risk, 1), axis=-1))


def _find_median(survival: Float64) -> Float64:
    """Return the first time at which each curve is 0.5 or less; infinity if there is none, NaN without a curve."""
    reached = survival <= 0.5 + 1e-12
    median = np.where(reached.any(axis=1), np.argmax(reached, axis=1), np.inf)
    return np.where(np.isnan(survival[:, 0]), np.nan, median)
