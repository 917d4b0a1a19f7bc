"""Results of `hypotheses`: how well each motive explains the choices of held-out users, and its weight given others."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import t as student_t

from curiograph.arrays import Float64, Int64
from curiograph.bootstrap import NO_ESTIMATE, Estimate, describe_few, expand_estimates
from curiograph.results import Skipped, Table, to_plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

WEIGHT_FIELDS = ("weight", "spread", "alone", "adds", "reliability", "inflation", "unit")
"""Fields of `MotiveFit` that are estimated with weights."""
_GAIN_FIELDS = ("user", "motive", "choices", "gain", "gain_low", "gain_high", "probability")
USER_FIELDS = (_GAIN_FIELDS, (*_GAIN_FIELDS, "weight", "weight_low", "weight_high"))
"""Columns of `Motives.per_user` besides those of the log, without and with weights."""
BASELINES = ("markov", "uniform")
"""Models that are no motives: what other people chose, and chance. They come after all motives."""
UNCLEAR = "unclear"
"""Best motive of a user for whom none is clearly best."""
MIN_CHOICES = 5
"""Minimum number of choices of a user who has a best motive."""
CHANCE = 0.5
"""Mean percentile rank of a uniform choice."""
_COLOR_NAMES = {"uniform": "random", "degree": "max-degree"}  # motives in the color of an agent
_LEVEL = 0.05  # of false findings, over all motives and both directions
_CLEAR = 0.95  # least posterior probability of a motive that is clearly best for a user


@dataclass(frozen=True)
class MotiveFit:
    """How well one motive explains the choices of users to whom it was not fitted, and its weight given all others.

    A unit of a weight is one standard deviation of the score of the motive between candidates. Weights are NaN if they
    were not estimated, or if the motive scores all candidates alike.
    """

    name: str
    """Name of the motive."""
    p_g: float
    """Mean of the fitted p_g; users take the best candidate if it is near 0, and any candidate if it is 1."""
    parameter: float
    """Value of the parameter (leak of counts, eta or discount; NaN if none) that fits all choices best: alone, or with
    weights together with all other motives."""
    gain: Estimate
    """Bits per choice above the uniform choice."""
    behind: Estimate
    """Bits per choice below the best motive; negative for a baseline that explains more."""
    percentile: Estimate
    """Mean percentile rank of the chosen candidate, from 0 to 1 (best); 0.5 by chance."""
    best_for: Estimate
    """Share of users whose choices the motive explains best, ties shared; NaN if no user has enough choices."""
    p_better: float
    """P-value of the motive being no better than chance, adjusted for all motives and both directions (Holm)."""
    p_opposed: float
    """P-value of a mean percentile rank of 0.5 or above, adjusted in the same way."""
    weight: Estimate = NO_ESTIMATE
    """Mean of the weight over the population."""
    spread: Estimate = NO_ESTIMATE
    """Standard deviation of the weight over the population."""
    alone: Estimate = NO_ESTIMATE
    """Bits per choice of held-out people above the uniform choice, with the weight of this motive alone."""
    adds: Estimate = NO_ESTIMATE
    """Bits per choice of held-out people that this motive adds to all other motives."""
    reliability: float = np.nan
    """Share of the variance of the estimated weights of people that is no error; 1 if people can be distinguished."""
    inflation: float = np.nan
    """Variance inflation factor, 1 / (1 - R^2) of the motive given all others; 1 if they are unrelated."""
    unit: float = np.nan
    """Standard deviation of the score between the candidates of a choice, by which scores are divided."""

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
class Motives(Table, Mapping[str, MotiveFit]):
    """Motives by name, the one that explains the choices best first, and the baselines markov and uniform last.

    With weights, the probability of a candidate is proportional to exp(sum of weight x score over motives). The weights
    of a person are normally distributed around the mean of the population.
    """

    fits: dict[str, MotiveFit]
    """Results by the name of the motive, best motive first."""
    choices: int
    """Number of choices among two candidates or more; all of them are tested."""
    users: list[Hashable]
    """Users who made the choices."""
    user_choices: Int64
    """Number of choices of each user."""
    user_columns: Mapping[str, Sequence[Any]]
    """Values of further columns of the log by the name of the column, one value per user of `users`."""
    left_out: Mapping[str, int]
    """Number of visits after the burn-in that are not choices, by reason ('revisit', 'no link', 'only candidate')."""
    folds: int
    """Number of groups of users in the cross-validation."""
    user_gains: Float64
    """Users x motives: bits above the uniform choice, summed over all choices of the user."""
    user_squares: Float64
    """Users x motives: squares of the bits above the uniform choice, summed over all choices of the user."""
    skipped: Skipped = field(default_factory=Skipped)
    """What was dropped when the walks were read and matched with the graph."""
    returns: bool = False
    """Whether steps to visited nodes are choices too."""
    together: Estimate = NO_ESTIMATE
    """Bits per choice of held-out people above the uniform choice, with weights that all people share."""
    personal: Estimate = NO_ESTIMATE
    """Bits per choice that weights of the person add, fitted to the other half of the person's choices."""
    people: Float64 | None = None
    """Users x motives: weights of each user, shrunk toward the mean of the population; None if not estimated."""
    people_low: Float64 | None = None
    """Users x motives: lower bounds of the 95 % intervals of `people`."""
    people_high: Float64 | None = None
    """Users x motives: upper bounds of the 95 % intervals of `people`."""
    remarks: Sequence[str] = ()
    """Sentences about weights that cannot be relied on or separated."""

    def __getitem__(self, name: str) -> MotiveFit:
        return self.fits[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.fits)

    def __len__(self) -> int:
        return len(self.fits)

    def __repr__(self) -> str:
        return f"Motives({self.choices:,} choices by {len(self.users):,} users; {', '.join(self)})"

    @property
    def probabilities(self) -> Float64:
        """Users x motives: posterior probability given the choices of the user; all are equally probable before."""
        ratios = np.exp2(self.user_gains - self.user_gains.max(axis=1, keepdims=True))
        return np.asarray(ratios / ratios.sum(axis=1, keepdims=True))

    @property
    def best_by_user(self) -> dict[Hashable, str]:
        """Best motive of each user with enough choices, or 'unclear' if its posterior probability is below 0.95."""
        names = [*self, UNCLEAR]
        places = np.where(self.probabilities.max(axis=1) < _CLEAR, -1, self.probabilities.argmax(axis=1))
        is_known = self.user_choices >= MIN_CHOICES
        return {self.users[user]: names[places[user]] for user in np.flatnonzero(is_known)}

    @property
    def unclear(self) -> float:
        """Share of the users with enough choices whose best motive is unclear; NaN if there are none."""
        best = list(self.best_by_user.values())
        return best.count(UNCLEAR) / len(best) if best else np.nan

    @property
    def opposed(self) -> list[str]:
        """Motives that people clearly oppose, see `MotiveFit.opposed`, the most opposed first."""
        names = [name for name, fit in self.items() if fit.opposed]
        return sorted(names, key=lambda name: self[name].percentile.value)

    @property
    def answer(self) -> str:
        """The result in a few sentences."""
        first, *others = self.values()
        others = [fit for fit in others if fit.name != "markov"] or others
        choices = f"the {self.choices:,} choices"
        better = [fit for fit in self.values() if fit.better and (fit.name != "markov" or fit is first)]
        if not better:
            answer = f"No motive explains {choices} clearly better than chance"
        else:
            best = "best, " if better[0] is first else ""
            size = f"{better[0].gain} bits per choice better than chance"
            answer = f"The {better[0].name} motive explains {choices} {best}{size}"
            if best and others:
                clearly = "" if others[0].behind.clear else "not clearly "
                answer += f" and {clearly}better than {others[0].name}, by {others[0].behind}"
        sentences = [f"{answer}."]
        if self.returns:
            sentences.append("Steps to visited nodes are choices too.")
        if "markov" in self and first.name != "markov" and others[0].name != "markov":
            compared = _compare_bits(self["markov"].gain)
            sentences.append(f"The steps of other people (markov) explain them {compared} than chance.")
        if self.opposed:
            listed = ", ".join(f"{name} (percentile {self[name].percentile})" for name in self.opposed)
            sentences.append(f"The choices are clearly opposed to {listed}; chance is {CHANCE}.")
        if self.unclear > 0:
            counted = f"{100 * self.unclear:.0f} % of the users with {MIN_CHOICES} choices or more"
            sentences.append(f"The best motive is unclear for {counted}.")
        if self.people is not None:
            sentences.append(f"All motives together explain choices {_compare_bits(self.together)} than chance.")
            weighed = [fit for fit in self.values() if fit.adds.value == fit.adds.value]
            if len(weighed) > 1:
                most = max(weighed, key=lambda fit: fit.adds.value)
                clearly = "" if most.adds.low > 0 else ", not clearly above 0"
                sentences.append(f"Given the others, {most.name} adds most, {most.adds} bits{clearly}.")
            compared = f"{_compare_bits(self.personal)} than weights that all people share"
            sentences.append(f"Weights of the person explain choices {compared}.")
        return " ".join([*sentences, *self.remarks, *describe_few(len(self.users))])

    def columns(self) -> dict[str, list[Any]]:
        """Return one row per motive; bounds of intervals are called `gain_low`, `gain_high` etc."""
        rows = [{"motive": name, **vars(fit), "opposed": fit.opposed} for name, fit in self.items()]
        unset = () if self.people is not None else WEIGHT_FIELDS
        return expand_estimates([{key: row[key] for key in row if key not in ("name", *unset)} for row in rows])

    def per_user(self) -> pd.DataFrame:
        """Return one row per user and motive.

        `gain` is the mean over the choices of the user in bits per choice, with a 95 % interval from Student's t
        distribution of the mean over these choices; the bounds are NaN for a single choice. `probability` is the
        posterior probability of the motive given the choices of the user, if all motives are equally probable before.
        `weight` is the posterior mean of the weight of the user, shrunk toward the mean of the population the more the
        fewer choices the user made, with a 95 % interval that includes the uncertainty of the population.
        """
        import pandas as pd

        counts = self.user_choices[:, None]
        means = self.user_gains / counts
        with np.errstate(divide="ignore", invalid="ignore"):
            variances = np.maximum(self.user_squares - counts * means**2, 0.0) / (counts - 1)
            errors = student_t.ppf(0.975, counts - 1) * np.sqrt(variances / counts)
        errors[self.user_choices == 1] = np.nan
        tables = {"gain": means, "gain_low": means - errors, "gain_high": means + errors}
        tables |= {"probability": self.probabilities}
        if self.people is not None:
            tables |= {"weight": self.people, "weight_low": self.people_low, "weight_high": self.people_high}
        people = {"user": self.users, **self.user_columns, "choices": self.user_choices}
        frame = pd.DataFrame(people).loc[np.repeat(np.arange(len(self.users)), len(self))].reset_index(drop=True)
        frame.insert(len(people) - 1, "motive", list(self) * len(self.users))
        return frame.assign(**{name: table.ravel() for name, table in tables.items()})

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values: the answer, the facts, one row per motive, and one per user and motive."""
        more = {name: getattr(self, name) for name in ("left_out", "unclear", "together", "personal", "remarks")}
        more |= {"users": len(self.users), "per_user": self.per_user().to_dict("records")}
        return {"answer": self.answer, **super().to_dict(), **to_plain(more)}

    def plot(self) -> Figure:
        """Plot the gain of every motive, its share of users, and its weight (dots are people), with 95 % intervals."""
        from curiograph.plotting import create_figure, get_color

        labels = {
            "gain": "bits per choice better than chance",
            "best_for": f"share of users it explains best ({MIN_CHOICES} choices or more)",
            "weight": "weight (one standard deviation of the score)",
            "adds": "bits per choice added to all other motives",
        }
        rows = 1 if self.people is None else 2
        figure, axes = create_figure(9.0, rows * (1.2 + 0.4 * len(self)), columns=2, rows=rows)
        for place, (ax, (name, label)) in enumerate(zip(axes.ravel(), labels.items(), strict=False)):
            for row, (motive, fit) in enumerate(self.items()):
                estimate: Estimate = getattr(fit, name)
                ax.barh(row, estimate.value, color=get_color(_COLOR_NAMES.get(motive, motive)))
                ax.plot([estimate.low, estimate.high], [row, row], color="#555555", linewidth=1.5)
            ax.axvline(0, color="black", linewidth=0.8)
            ax.set_xlabel(label)
            ax.set_ylim(len(self) - 0.5, -0.5)
            ax.set_yticks(range(len(self)), [""] * len(self) if place % 2 else list(self))
            ax.spines[["top", "right"]].set_visible(False)
        if self.people is not None:
            places = np.arange(len(self)) + np.random.default_rng(0).uniform(-0.3, 0.3, (len(self.people), 1))
            figure.axes[2].plot(self.people, places, ".", color="#555555", alpha=0.25, markersize=3, markeredgewidth=0)
        return figure


def _compare_bits(bits: Estimate) -> str:
    """Return a difference with its interval, as a positive number of bits that is better or worse."""
    if bits.value < 0:
        return f"{Estimate(value=-bits.value, low=-bits.high, high=-bits.low)} bits worse"
    return f"{bits} bits better"
