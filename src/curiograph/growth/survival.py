"""Survival of information gaps: how long gaps stay open, if walks end before most of them close."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.errors import WalkError
from curiograph.growth.tables import PeopleTable
from curiograph.notebook import render_result
from curiograph.optional import import_optional
from curiograph.statistics.bootstrap import Estimate
from curiograph.statistics.survival import Survival, estimate_survival
from curiograph.validation import check_integer, check_seed

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from curiograph.growth.records import Growths
    from curiograph.plotting import ColumnWidth


@dataclass(frozen=True, eq=False)
class GapSurvival:
    """Kaplan-Meier estimate of the lifetime of gaps, in steps, with 95 % intervals.

    Most gaps are open when a walk ends. Their lifetime is censored: known to be at least the number of steps to the end
    of the walk. A mean over closed gaps alone would be too small; the Kaplan-Meier estimate uses all gaps.

    Examples
    --------
    >>> import curiograph as cg
    >>> g = cg.generate("er", nodes=25, seed=0)
    >>> walks = [cg.explore(g, agent="random", start=n, steps=20, seed=n) for n in range(8)]
    >>> survival = cg.measure(g, walks).gap_survival()
    >>> survival.gaps, survival.closed, survival.median.value
    (60, 21, 7.0)
    """

    curve: Survival
    """Share of gaps that are still open, with intervals and the numbers of gaps at risk and closed, by time."""
    horizon: int
    """Number of steps to which the mean is restricted."""
    users: int
    """Number of people, or of walks if they have no users."""

    @property
    def gaps(self) -> int:
        """Number of gaps."""
        return int(self.curve.at_risk[0])

    @property
    def closed(self) -> int:
        """Number of gaps that were closed; all others are censored."""
        return int(self.curve.events.sum())

    @property
    def median(self) -> Estimate:
        """Number of steps after which half of the gaps have closed; infinity if that is never observed."""
        return self.curve.median

    @property
    def restricted_mean(self) -> Estimate:
        """Mean number of steps that a gap is open within the first `horizon` steps after it opened."""
        return self.curve.restricted_mean

    @property
    def interval(self) -> str:
        """Method of the intervals."""
        if self.users > 1:
            return f"bootstrap over {self.users:,} people"
        return "log-log with Greenwood's variance, gaps of one person taken as independent"

    def columns(self) -> dict[str, list[Any]]:
        """Return one row per time: share of gaps still open with its bounds, and the numbers at risk and closed."""
        curve = self.curve
        return {
            "time": list(range(len(curve.survival))),
            "survival": curve.survival.tolist(),
            "survival_low": curve.low.tolist(),
            "survival_high": curve.high.tolist(),
            "at_risk": curve.at_risk.tolist(),
            "closed": curve.events.tolist(),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row per time as a pandas frame (`pip install curiograph[frame]`)."""
        return import_optional("pandas", "frame", "Frames").DataFrame(self.columns())

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; None for a time that was not reached."""
        return {
            "gaps": self.gaps,
            "closed": self.closed,
            "users": self.users,
            "horizon": self.horizon,
            "interval": self.interval,
            "restricted_mean": asdict(self.restricted_mean),
            "median": {name: value if np.isfinite(value) else None for name, value in asdict(self.median).items()},
            **self.columns(),
        }

    def plot(self, ax: Axes | None = None, width: ColumnWidth = "single") -> Axes:
        """Plot the share of gaps that are still open, with its interval."""
        from curiograph.plotting import plot_survival

        return plot_survival((self.curve.survival, self.curve.low, self.curve.high), ax, width)

    def __repr__(self) -> str:
        return f"GapSurvival({self.gaps:,} gaps, {self.closed:,} closed, median {self.median})"

    def _repr_html_(self) -> str:
        return render_result(repr(self), self.columns(), {"still open": self.curve.survival.tolist()})


def estimate_gap_survival(growths: Growths, horizon: int | None = None, seed: int = 0) -> GapSurvival:
    """Estimate how long the gaps of several walks stay open; see `Growths.gap_survival`."""
    people = PeopleTable.from_growths(growths)
    table = people.tabulate_lifetimes()
    if table.at_risk.sum() == 0:
        raise WalkError("the walks opened no gap, so there are no lifetimes; measure longer walks.")
    longest = table.events.shape[1] - 1
    if horizon is None:
        horizon = longest
    check_integer("horizon", horizon, 0, f"give a number of steps up to the longest lifetime, {longest}", longest)
    return GapSurvival(
        curve=estimate_survival(table, horizon, check_seed(seed)), horizon=horizon, users=len(people.users)
    )
