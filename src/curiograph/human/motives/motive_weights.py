"""Results of `hypotheses(weights=True)`: weights of several motives at once, in the population and for every person."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.arrays import Float64, Int64
from curiograph.bootstrap import Estimate, make_columns
from curiograph.results import Table, to_plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from curiograph.human.motives.motive_fits import Motives

MAX_INFLATION = 10.0
"""Variance inflation factor above which a motive is too similar to the others to be distinguished."""
_ESTIMATES = ("mean", "spread", "alone", "adds")


@dataclass(frozen=True)
class MotiveWeight:
    """Weight of one motive given all others; a unit is one standard deviation of its score between candidates."""

    name: str
    """Name of the motive."""
    mean: Estimate
    """Mean of the weight over the population."""
    spread: Estimate
    """Standard deviation of the weight over the population."""
    reliability: float
    """Share of the variance of the estimated weights of people that is no error; 1 if people can be distinguished."""
    alone: Estimate
    """Bits per choice of held-out people above the uniform choice, with this motive alone."""
    adds: Estimate
    """Bits per choice of held-out people that this motive adds to all other motives."""
    inflation: float
    """Variance inflation factor, 1 / (1 - R^2) of the motive given all others; 1 if they are unrelated."""
    unit: float
    """Standard deviation of the score between the candidates of a choice, by which scores are divided."""

    @property
    def collinear(self) -> bool:
        """Whether the other motives nearly determine this one, so that its weight cannot be separated from theirs."""
        return self.inflation > MAX_INFLATION


@dataclass(frozen=True, eq=False, repr=False)
class MotiveWeights(Table, Mapping[str, MotiveWeight]):
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
    MotiveWeights(2 motives, 240 choices by 20 users)
    >>> found.weights["degree"].mean.low > 0
    True
    """

    motives: dict[str, MotiveWeight]
    """Weights by the name of the motive, in the given order."""
    gain: Estimate
    """Bits per choice of held-out people above the uniform choice, with weights that all people share."""
    personal: Estimate
    """Bits per choice that weights of the person add, fitted to the other half of the person's choices."""
    choices: int
    """Number of choices."""
    left_out: list[str]
    """Motives without weight, because they score all candidates of a choice alike."""
    users: list[Hashable]
    """Users who made the choices."""
    user_choices: Int64
    """Number of choices of each user."""
    people: Float64
    """Users x motives: weights of each user, shrunk toward the mean of the population."""
    people_low: Float64
    """Users x motives: lower bounds of the 95 % intervals of `people`."""
    people_high: Float64
    """Users x motives: upper bounds of the 95 % intervals of `people`."""
    user_columns: Mapping[str, Sequence[Any]]
    """Values of further columns of the log by the name of the column, one value per user of `users`."""
    remarks: list[str]
    """A sentence if the means and spreads of the population have not converged."""

    def __getitem__(self, name: str) -> MotiveWeight:
        return self.motives[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.motives)

    def __len__(self) -> int:
        return len(self.motives)

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

    def columns(self) -> dict[str, list[Any]]:
        """Return one row per motive; bounds of intervals are called `mean_low`, `mean_high` etc."""
        weights = list(self.values())
        columns: dict[str, list[Any]] = {"motive": list(self)}
        for name in _ESTIMATES:
            columns |= make_columns(name, [getattr(weight, name) for weight in weights])
        return columns | {
            name: [getattr(weight, name) for weight in weights]
            for name in ("reliability", "inflation", "unit", "collinear")
        }

    def per_user(self) -> pd.DataFrame:
        """Return one row per user and motive.

        `weight` is the posterior mean of the weight of the user, shrunk toward the mean of the population the more the
        fewer choices the user made, with a 95 % interval that includes the uncertainty of the population.
        """
        return list_people(self, weight=self.people, weight_low=self.people_low, weight_high=self.people_high)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values: the answer, the facts, one row per motive, and one per user and motive."""
        return {
            "answer": self.answer,
            **super().to_dict(),
            "gain": to_plain(self.gain),
            "personal": to_plain(self.personal),
            "left_out": self.left_out,
            "remarks": self.remarks,
            "per_user": to_plain(self.per_user().to_dict("records")),
        }

    def __repr__(self) -> str:
        motives = f"{len(self)} motive{'' if len(self) == 1 else 's'}"
        return f"MotiveWeights({motives}, {self.choices:,} choices by {len(self.users):,} users)"

    def plot(self) -> Figure:
        """Plot weights with 95 % intervals and a dot for each person, and the bits that each motive adds."""
        from curiograph.human.motives.motive_fits import COLOR_NAMES
        from curiograph.plotting import COLORS, create_figure, get_color

        figure, (left, right) = create_figure(9.0, 1.4 + 0.5 * len(self), columns=2)
        shifts = np.random.default_rng(0).uniform(-0.3, 0.3, len(self.people))
        for row, (name, weight) in enumerate(self.items()):
            color = get_color(COLOR_NAMES.get(name, name))
            left.plot(self.people[:, row], row + shifts, ".", color=color, alpha=0.25, markersize=3, markeredgewidth=0)
            left.plot([weight.mean.low, weight.mean.high], [row, row], color=COLORS["text"], linewidth=2)
            left.plot(weight.mean.value, row, "D", color=COLORS["text"], markersize=5)
            right.barh(row, weight.adds.value, color=color)
            right.plot([weight.adds.low, weight.adds.high], [row, row], color="#555555", linewidth=1.5)
        left.set_xlabel("weight (one standard deviation of the score)")
        right.set_xlabel("bits per choice added to all other motives")
        for ax in (left, right):
            ax.axvline(0, color="black", linewidth=0.8)
            ax.set_ylim(len(self) - 0.5, -0.5)
            ax.spines[["top", "right"]].set_visible(False)
        left.set_yticks(range(len(self)), list(self))
        right.set_yticks([])
        return figure


def _compare_bits(bits: Estimate) -> str:
    """Return a difference with its interval, as a positive number of bits that is better or worse.

    >>> _compare_bits(Estimate(-0.1, -0.3, 0.2))
    '0.1 (-0.2 to 0.3) bits worse'
    """
    if bits.value < 0:
        return f"{Estimate(value=-bits.value, low=-bits.high, high=-bits.low)} bits worse"
    return f"{bits} bits better"


def list_people(found: Motives | MotiveWeights, **values: Float64) -> pd.DataFrame:
    """Return one row per user and motive, with kept columns, the number of choices and values (users x motives)."""
    import pandas as pd

    motives = list(found)
    people = {"user": found.users, **found.user_columns, "choices": found.user_choices}
    frame = pd.DataFrame(people).loc[np.repeat(np.arange(len(found.users)), len(motives))].reset_index(drop=True)
    frame.insert(len(people) - 1, "motive", motives * len(found.users))
    return frame.assign(**{name: table.ravel() for name, table in values.items()})
