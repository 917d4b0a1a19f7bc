"""Results of `hypotheses`: how well each motive explains the choices of held-out users, and weights of all at once."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student_t

from curiograph.arrays import Float64, Int64
from curiograph.bootstrap import Estimate, describe_few, expand_estimates
from curiograph.results import Skipped, Table, to_plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

MAX_INFLATION = 10.0
"""Variance inflation factor above which a motive is too similar to the others to be distinguished."""
_COLOR_NAMES = {"uniform": "random", "degree": "max-degree"}  # motives in the color of an agent
CHANCE = 0.5
"""Mean percentile rank of a uniform choice."""
_LEVEL = 0.05  # of false findings, over all motives and both directions
_TIE = 1e-9  # bits: motives closer than this explain the choices of a user equally well
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False, repr=False)
class ByMotive(Table, Mapping[str, Result], Generic[Result]):
    """A result for each motive by its name, and values for each user."""

    _flag: ClassVar[str]  # property of the result of a motive that is a column of the table
    fits: dict[str, Result]
    """Results by the name of the motive: best motive first, or weights in the given order."""
    choices: int
    """Number of choices among two candidates or more; all of them are tested."""
    users: list[Hashable]
    """Users who made the choices."""
    user_choices: Int64
    """Number of choices of each user."""
    user_columns: Mapping[str, Sequence[Any]]
    """Values of further columns of the log by the name of the column, one value per user of `users`."""

    def __getitem__(self, name: str) -> Result:
        return self.fits[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.fits)

    def __len__(self) -> int:
        return len(self.fits)

    @property
    def answer(self) -> str:
        """The result in a few sentences."""
        raise NotImplementedError

    def columns(self) -> dict[str, list[Any]]:
        """Return one row per motive; bounds of intervals are called `gain_low`, `gain_high` etc."""
        rows = [{"motive": name, **vars(fit), self._flag: getattr(fit, self._flag)} for name, fit in self.items()]
        columns = expand_estimates(rows)
        del columns["name"]
        return columns

    def per_user(self) -> pd.DataFrame:
        """Return one row per user and motive."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values: the answer, the facts, one row per motive, and one per user and motive."""
        per_user = to_plain(self.per_user().to_dict("records"))
        return {"answer": self.answer, **super().to_dict(), "per_user": per_user}

    def __repr__(self) -> str:
        size = f"{self.choices:,} choices by {len(self.users):,} users"
        return f"{type(self).__name__}({size}; {', '.join(self)})"

    def _list_users(self, **values: Float64) -> pd.DataFrame:
        """Return one row per user and motive: log columns, number of choices, and values given as users x motives."""
        import pandas as pd

        people = {"user": self.users, **self.user_columns, "choices": self.user_choices}
        frame = pd.DataFrame(people).loc[np.repeat(np.arange(len(self.users)), len(self))].reset_index(drop=True)
        frame.insert(len(people) - 1, "motive", list(self) * len(self.users))
        return frame.assign(**{name: table.ravel() for name, table in values.items()})

    def _plot_panels(self, **labels: str) -> Figure:
        """Plot two estimates, given by name with a label, of each motive as bars with 95 % intervals."""
        from curiograph.plotting import create_figure, get_color

        figure, axes = create_figure(9.0, 1.2 + 0.4 * len(self), columns=2)
        for ax, (name, label) in zip(axes, labels.items(), strict=True):
            for row, (motive, fit) in enumerate(self.items()):
                estimate: Estimate = getattr(fit, name)
                ax.barh(row, estimate.value, color=get_color(_COLOR_NAMES.get(motive, motive)))
                ax.plot([estimate.low, estimate.high], [row, row], color="#555555", linewidth=1.5)
            ax.axvline(0, color="black", linewidth=0.8)
            ax.set_xlabel(label)
            ax.set_ylim(len(self) - 0.5, -0.5)
            ax.set_yticks(range(len(self)), list(self) if ax is axes[0] else [""] * len(self))
            ax.spines[["top", "right"]].set_visible(False)
        return figure


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

    p_better: float
    """P-value of the motive being no better than chance, adjusted for all motives and both directions (Holm)."""
    p_opposed: float
    """P-value of a mean percentile rank of 0.5 or above, adjusted in the same way."""

    @property
    def better(self) -> bool:
        """Whether the motive explains the choices clearly better than chance."""
        return self.p_better < _LEVEL

    @property
    def opposed(self) -> bool:
        """Whether people clearly choose what the motive ranks low: `percentile` is clearly below 0.5.

        False if the motive is clearly better than chance all the same, because people choose the top and the bottom of
        its order more often than the middle.
        """
        return self.p_opposed < _LEVEL and not self.better


@dataclass(frozen=True, eq=False, repr=False)
class Motives(ByMotive[MotiveFit]):
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

    _flag = "opposed"
    left_out: Mapping[str, int]
    """Number of visits after the burn-in that are not choices, by reason ('revisit', 'no link', 'only candidate')."""
    folds: int
    """Number of groups of users in the cross-validation."""
    min_choices: int
    """Minimum number of choices of a user who has a best motive."""
    user_gains: Float64
    """Users x motives: bits above the uniform choice, summed over all choices of the user."""
    user_squares: Float64
    """Users x motives: squares of the bits above the uniform choice, summed over all choices of the user."""
    skipped: Skipped = field(default_factory=Skipped)
    """What was dropped when the walks were read and matched with the graph."""
    weights: MotiveWeights | None = None
    """Weights over several motives at once, or None if they were not asked for."""

    @property
    def best_by_user(self) -> dict[Hashable, list[str]]:
        """Best motive of each user with enough choices; several if they are tied."""
        rows = zip(self.users, find_best_motives(self.user_gains), self.user_choices, strict=True)
        best = {user: is_best for user, is_best, count in rows if count >= self.min_choices}
        return {user: np.array(list(self))[is_best].tolist() for user, is_best in best.items()}

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
        better = [fit for fit in self.values() if fit.better]
        if not better:
            answer = f"No motive explains {choices} clearly better than chance"
        else:
            best = "best, " if better[0] is first else ""
            size = f"{better[0].gain} bits per choice better than chance"
            answer = f"The {better[0].name} motive explains {choices} {best}{size}"
            if best and others:
                clearly = "" if others[0].behind.clear else "not clearly "
                answer += f" and {clearly}better than {others[0].name}, by {others[0].behind}"
        if self.opposed:
            listed = ", ".join(f"{name} (percentile {self[name].percentile})" for name in self.opposed)
            answer += f". The choices are clearly opposed to {listed}; chance is {CHANCE}"
        return " ".join([f"{answer}.", *describe_few(len(self.users))])

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
        return self._list_users(gain=means, gain_low=means - errors, gain_high=means + errors, weight=weights)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values: the answer, the facts, one row per motive, and one per user and motive."""
        more = {"left_out": dict(self.left_out), "users": len(self.users)}
        return {**super().to_dict(), **more, "weights": self.weights and self.weights.to_dict()}

    def plot(self) -> Figure:
        """Plot the gain of every motive and its share of users, with 95 % intervals over users."""
        share = f"share of users it explains best ({self.min_choices} choices or more)"
        return self._plot_panels(gain="bits per choice better than chance", best_for=share)


@dataclass(frozen=True)
class MotiveWeight:
    """Weight of one motive given all others; a unit is one standard deviation of its score between candidates."""

    name: str
    """Name of the motive."""
    mean: Estimate
    """Mean of the weight over the population."""
    spread: Estimate
    """Standard deviation of the weight over the population."""
    alone: Estimate
    """Bits per choice of held-out people above the uniform choice, with this motive alone."""
    adds: Estimate
    """Bits per choice of held-out people that this motive adds to all other motives."""
    reliability: float
    """Share of the variance of the estimated weights of people that is no error; 1 if people can be distinguished."""
    inflation: float
    """Variance inflation factor, 1 / (1 - R^2) of the motive given all others; 1 if they are unrelated."""
    unit: float
    """Standard deviation of the score between the candidates of a choice, by which scores are divided."""

    @property
    def collinear(self) -> bool:
        """Whether the other motives nearly determine this one, so that its weight cannot be separated from theirs."""
        return self.inflation > MAX_INFLATION


@dataclass(frozen=True, eq=False, repr=False)
class MotiveWeights(ByMotive[MotiveWeight]):
    """Weights over several motives at once, by the name of the motive.

    The probability of a candidate is proportional to exp(sum of weight x score over motives). The weights of a person
    are normally distributed around the mean of the population.

    Examples
    --------
    >>> import curiograph as cg
    >>> g = cg.generate("ba", nodes=30, seed=0)
    >>> lists = [cg.explore(g, agent="max-degree", start=n % 30, steps=6, seed=n) for n in range(60)]
    >>> walks = cg.human.Trajectories.from_walks(lists, users=[n % 20 for n in range(60)], graph=g)
    >>> found = cg.human.hypotheses(g, walks, motives=["degree", "igt"], burn_in=2, weights=True)
    >>> found.weights
    MotiveWeights(240 choices by 20 users; degree, igt)
    >>> found.weights["degree"].mean.low > 0
    True
    """

    _flag = "collinear"
    gain: Estimate
    """Bits per choice of held-out people above the uniform choice, with weights that all people share."""
    personal: Estimate
    """Bits per choice that weights of the person add, fitted to the other half of the person's choices."""
    left_out: list[str]
    """Motives without weight, because they score all candidates of a choice alike."""
    people: Float64
    """Users x motives: weights of each user, shrunk toward the mean of the population."""
    people_low: Float64
    """Users x motives: lower bounds of the 95 % intervals of `people`."""
    people_high: Float64
    """Users x motives: upper bounds of the 95 % intervals of `people`."""
    remarks: list[str]
    """A sentence if the means and spreads of the population have not converged."""

    @property
    def collinear(self) -> list[str]:
        """Motives that the other motives nearly determine; their weights cannot be interpreted one by one."""
        return [name for name, weight in self.items() if weight.collinear]

    @property
    def answer(self) -> str:
        """The result in a few sentences."""
        most = max(self.values(), key=lambda weight: weight.adds.value)
        sentences = [f"All motives together explain choices {_compare_bits(self.gain)} than chance."]
        if len(self) > 1:
            clearly = "" if most.adds.low > 0 else ", not clearly above 0"
            sentences.append(f"Given the others, {most.name} adds most, {most.adds} bits{clearly}.")
        if self.personal.value < 0:
            compared = _compare_bits(self.personal)
            sentences.append(f"Weights of the person explain choices {compared} than weights that all people share.")
        else:
            sentences.append(f"Weights of the person add {self.personal} bits.")
        if self.collinear:
            named = " and ".join(self.collinear)
            sentences.append(f"Do not interpret the weights of {named} one by one: the motives are nearly collinear.")
        return " ".join([*sentences, *self.remarks])

    def per_user(self) -> pd.DataFrame:
        """Return one row per user and motive.

        `weight` is the posterior mean of the weight of the user, shrunk toward the mean of the population the more the
        fewer choices the user made, with a 95 % interval that includes the uncertainty of the population.
        """
        return self._list_users(weight=self.people, weight_low=self.people_low, weight_high=self.people_high)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values: the answer, the facts, one row per motive, and one per user and motive."""
        more = {"gain": self.gain, "personal": self.personal, "left_out": self.left_out, "remarks": self.remarks}
        return {**super().to_dict(), **to_plain(more)}

    def plot(self) -> Figure:
        """Plot weights with 95 % intervals and a dot for each person, and the bits that each motive adds."""
        weight = "weight (one standard deviation of the score)"
        figure = self._plot_panels(mean=weight, adds="bits per choice added to all other motives")
        shifts = np.random.default_rng(0).uniform(-0.3, 0.3, len(self.people))
        for row, column in enumerate(self.people.T):
            figure.axes[0].plot(column, row + shifts, ".", color="#555555", alpha=0.25, markersize=3, markeredgewidth=0)
        return figure


def _compare_bits(bits: Estimate) -> str:
    """Return a difference with its interval, as a positive number of bits that is better or worse."""
    if bits.value < 0:
        return f"{Estimate(value=-bits.value, low=-bits.high, high=-bits.low)} bits worse"
    return f"{bits} bits better"


def find_best_motives(gains: Float64) -> NDArray[np.bool_]:
    """Return, for gains of users x motives, which motives explain the choices of each user best, ties included."""
    return np.asarray(gains >= gains.max(axis=1, keepdims=True) - _TIE)
