"""Results of `hypotheses`: how well each motive explains the choices of held-out users."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student_t

from curiograph.arrays import Float64, Int64
from curiograph.bootstrap import Estimate, make_columns
from curiograph.human.motives.motive_weights import MotiveWeights, list_people
from curiograph.results import Table, to_plain
from curiograph.skipped import Skipped

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

COLOR_NAMES = {"uniform": "random", "degree": "max-degree"}
"""Motives in the color of an agent."""
_CHANCE = 0.5  # mean percentile rank of a uniform choice
_TIE = 1e-9  # bits: motives closer than this explain the choices of a user equally well


@dataclass(frozen=True)
class MotiveFit:
    """How well one motive explains the choices of users to whom it was not fitted."""

    name: str
    """Name of the motive."""
    p_g: float
    """Mean of the fitted p_g; users take the best candidate if it is near 0, and any candidate if it is 1."""
    gain: Estimate
    """Bits per choice above the uniform choice."""
    behind: Estimate
    """Bits per choice below the best motive."""
    percentile: Estimate
    """Mean percentile rank of the chosen candidate, from 0 to 1 (best); 0.5 by chance."""
    best_for: Estimate
    """Share of users whose choices the motive explains best, ties shared; NaN if no user has enough choices."""

    @property
    def opposed(self) -> bool:
        """Whether people clearly choose what the motive ranks low: the interval of `percentile` is below 0.5.

        False if the motive is clearly better than chance all the same, because people choose the top and the bottom of
        its order more often than the middle.
        """
        return self.percentile.high < _CHANCE and self.gain.low <= 0


@dataclass(frozen=True, eq=False, repr=False)
class Motives(Table, Mapping[str, MotiveFit]):
    """Motives by name, the one that explains the choices best first.

    Examples
    --------
    >>> import curiograph as cg
    >>> g = cg.toys.library()
    >>> walks = cg.human.Trajectories.from_walks([["music", "mathematics", "logic", "computing"]] * 9, graph=g)
    >>> found = cg.human.hypotheses(g, walks, motives=["uniform", "markov"], burn_in=1, min_choices=2)
    >>> list(found), found["uniform"].gain.value
    (['markov', 'uniform'], 0.0)
    >>> print(found.answer)
    The markov motive explains the 27 choices best, 1.53 (1.53 to 1.53) bits per choice better than chance and ...
    """

    fits: dict[str, MotiveFit]
    """Motives by name, best first."""
    choices: int
    """Number of choices among two candidates or more; all of them are tested."""
    left_out: Mapping[str, int]
    """Number of visits after the burn-in that are not choices, by reason ('revisit', 'no link', 'only candidate')."""
    folds: int
    """Number of groups of users in the cross-validation."""
    min_choices: int
    """Minimum number of choices of a user who has a best motive."""
    users: list[Hashable]
    """Users who made the choices."""
    user_choices: Int64
    """Number of choices of each user."""
    user_gains: Float64
    """Users x motives: bits above the uniform choice, summed over all choices of the user."""
    user_squares: Float64
    """Users x motives: squares of the bits above the uniform choice, summed over all choices of the user."""
    user_columns: Mapping[str, Sequence[Any]]
    """Values of further columns of the log by the name of the column, one value per user of `users`."""
    skipped: Skipped = field(default_factory=Skipped)
    """What was dropped when the walks were read and matched with the graph."""
    weights: MotiveWeights | None = None
    """Weights over several motives at once, or None if they were not asked for."""

    def __getitem__(self, name: str) -> MotiveFit:
        return self.fits[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.fits)

    def __len__(self) -> int:
        return len(self.fits)

    @property
    def best_by_user(self) -> dict[Hashable, list[str]]:
        """Best motive of each user with enough choices; several if they are tied."""
        names = list(self)
        return {
            user: [names[index] for index in np.flatnonzero(is_best)]
            for user, is_best, count in zip(
                self.users, find_best_motives(self.user_gains), self.user_choices, strict=True
            )
            if count >= self.min_choices
        }

    @property
    def opposed(self) -> list[str]:
        """Motives that people clearly oppose, see `MotiveFit.opposed`, the most opposed first."""
        names = [name for name, fit in self.items() if fit.opposed]
        return sorted(names, key=lambda name: self[name].percentile.value)

    @property
    def answer(self) -> str:
        """The result in one sentence, and a second one if people clearly oppose a motive."""
        first, *others = self.values()
        choices = f"the {self.choices:,} choices"
        answer = f"The {first.name} motive explains {choices} best, {first.gain} bits per choice better than chance"
        if first.gain.low <= 0:
            answer = f"No motive explains {choices} better than chance"
        elif others:
            clearly = "" if others[0].behind.clear else "not clearly "
            answer += f" and {clearly}better than {others[0].name}, by {others[0].behind}"
        if self.opposed:
            listed = ", ".join(f"{name} (percentile {self[name].percentile})" for name in self.opposed)
            answer += f". The choices are clearly opposed to {listed}; chance is {_CHANCE}"
        return f"{answer}."

    def columns(self) -> dict[str, list[Any]]:
        """Return one entry per motive and quantity; bounds of intervals are called `gain_low`, `gain_high` etc."""
        fits = list(self.values())
        columns: dict[str, list[Any]] = {"motive": list(self), "p_g": [fit.p_g for fit in fits]}
        for name in ("gain", "behind", "percentile", "best_for"):
            columns |= make_columns(name, [getattr(fit, name) for fit in fits])
        return columns | {"opposed": [fit.opposed for fit in fits]}

    def per_user(self) -> pd.DataFrame:
        """Return one row per user and motive.

        `gain` is the mean over the choices of the user in bits per choice, with a 95 % interval from Student's t
        distribution of the mean over these choices; the bounds are NaN for a single choice. `weight` is the posterior
        probability of the motive given the choices of the user, if all motives are equally probable before.
        """
        counts = self.user_choices[:, None]
        means = self.user_gains / counts
        with np.errstate(divide="ignore", invalid="ignore"):
            variances = np.maximum(self.user_squares - counts * means**2, 0.0) / (counts - 1)
            errors = student_t.ppf(0.975, counts - 1) * np.sqrt(variances / counts)
        errors[self.user_choices == 1] = np.nan
        weights = np.exp2(self.user_gains - self.user_gains.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        return list_people(self, gain=means, gain_low=means - errors, gain_high=means + errors, weight=weights)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values: the answer, the facts, one row per motive, and one per user and motive."""
        return {
            "answer": self.answer,
            **super().to_dict(),
            "left_out": dict(self.left_out),
            "users": len(self.users),
            "per_user": to_plain(self.per_user().to_dict("records")),
            "weights": self.weights and self.weights.to_dict(),
        }

    def __repr__(self) -> str:
        return f"Motives({self.choices:,} choices by {len(self.users):,} users; best first: {', '.join(self)})"

    def plot(self) -> Figure:
        """Plot the gain of every motive and its share of users, with 95 % intervals over users."""
        from curiograph.plotting import create_figure, get_color

        figure, axes = create_figure(9.0, 1.2 + 0.4 * len(self), columns=2)
        panels = {
            "gain": "bits per choice better than chance",
            "best_for": f"share of users it explains best ({self.min_choices} choices or more)",
        }
        for ax, (name, label) in zip(axes, panels.items(), strict=True):
            for row, fit in enumerate(self.values()):
                estimate: Estimate = getattr(fit, name)
                ax.barh(row, estimate.value, color=get_color(COLOR_NAMES.get(fit.name, fit.name)))
                ax.plot([estimate.low, estimate.high], [row, row], color="#555555", linewidth=1.5)
            ax.axvline(0, color="black", linewidth=0.8)
            ax.set_yticks(range(len(self)), list(self))
            ax.invert_yaxis()
            ax.set_xlabel(label)
            ax.spines[["top", "right"]].set_visible(False)
        axes[1].set_yticks([])
        return figure


def find_best_motives(gains: Float64) -> NDArray[np.bool_]:
    """Return, for gains of users x motives, which motives explain the choices of each user best, ties included."""
    return np.asarray(gains >= gains.max(axis=1, keepdims=True) - _TIE)
