"""Which motive tells best where people go next: likelihoods of their choices, each person judged by a fit on others."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.agents.registry import AgentLike
from curiograph.arrays import Float64, Int64
from curiograph.errors import WalkError
from curiograph.files import PathLike
from curiograph.graph.graph import Graph
from curiograph.human.choices.bootstrap import Estimate, estimate_means, sum_by_user
from curiograph.human.choices.choice_sets import DEFAULT_MEMORY, ChoiceSet, find_choices
from curiograph.human.motives.catalog import MOTIVES, as_motives
from curiograph.human.motives.cross_validation import cross_validate
from curiograph.human.trajectories import Trajectories
from curiograph.optional import import_optional
from curiograph.parallel import Engine, EngineName, resolve_engine
from curiograph.progress import Progress, no_progress
from curiograph.rewards.registry import RewardLike
from curiograph.validation import check_integer, check_seed

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_LIKED = {"uniform": "random", "degree": "max-degree"}  # motives with another's colour
_EQUAL = 1e-9  # bits: motives this close tell a person's choices equally well


@dataclass(frozen=True)
class MotiveFit:
    """How well one motive tells the choices of people on whom it was not fitted."""

    name: str
    p_g: float
    """Mean of the fits: near 0, people take the best candidate; 1, any."""
    gain: Estimate
    """Bits per choice by which it beats the uniform choice."""
    behind: Estimate
    """Bits per choice by which the best motive beats it."""
    percentile: Estimate
    """Mean rank of the chosen candidate, from 0 to 1, the best; 0.5 by chance."""
    best_for: Estimate
    """Share of the users whose choices it tells best, ties shared; NaN if nobody made enough choices."""


@dataclass(frozen=True, eq=False)
class Motives(Mapping[str, MotiveFit]):
    """Motives by name, the one that tells most first.

    >>> from curiograph.graph.toys import library
    >>> walks = Trajectories.from_walks([["music", "mathematics", "logic", "computing"]] * 9, graph=library())
    >>> found = hypotheses(library(), walks, motives=["uniform", "markov"], burn_in=1, min_choices=2)
    >>> list(found), found["uniform"].gain.value
    (['markov', 'uniform'], 0.0)
    """

    fits: dict[str, MotiveFit]
    choices: int
    """Choices between two candidates or more, all of them judged."""
    left_out: Mapping[str, int]
    """Visits that were no such choice, by reason."""
    folds: int
    min_choices: int
    """Choices from which on a user has a best motive."""
    users: list[Hashable]
    """Who chose."""
    user_choices: Int64
    """How often."""
    user_gains: Float64
    """Users x motives: bits by which each beats the uniform choice, over all choices of a user."""

    def __getitem__(self, name: str) -> MotiveFit:
        return self.fits[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.fits)

    def __len__(self) -> int:
        return len(self.fits)

    @property
    def best_by_user(self) -> dict[Hashable, list[str]]:
        """The motive that tells most of each user with enough choices; several if they tell the same."""
        names = list(self)
        return {
            user: [names[place] for place in np.flatnonzero(row)]
            for user, row, count in zip(self.users, _are_best(self.user_gains), self.user_choices, strict=True)
            if count >= self.min_choices
        }

    @property
    def answer(self) -> str:
        """What was found, in one sentence."""
        first = next(iter(self.values()))
        if first.gain.low <= 0:
            return f"No motive tells the {self.choices:,} choices better than chance."
        told = f"{first.name} tells the {self.choices:,} choices best, {first.gain} bits per choice better than chance"
        if len(self) == 1:
            return f"{told}."
        second = list(self.values())[1]
        how = "" if second.behind.clear else "not clearly "
        return f"{told} and {how}better than {second.name}, by {second.behind}."

    def columns(self) -> dict[str, list[Any]]:
        """One entry per motive, by name of the quantity; bounds of intervals as `gain_low`, `gain_high` and so on."""
        fits = list(self.values())
        columns: dict[str, list[Any]] = {"motive": list(self), "p_g": [fit.p_g for fit in fits]}
        for name in ("gain", "behind", "percentile", "best_for"):
            found: list[Estimate] = [getattr(fit, name) for fit in fits]
            columns[name] = [each.value for each in found]
            columns[f"{name}_low"] = [each.low for each in found]
            columns[f"{name}_high"] = [each.high for each in found]
        return columns

    def to_dict(self) -> dict[str, Any]:
        """Everything but the single users as plain values."""
        return {
            "answer": self.answer,
            "choices": self.choices,
            "left_out": dict(self.left_out),
            "users": len(self.users),
            "users_with_a_best_motive": int(np.count_nonzero(self.user_choices >= self.min_choices)),
            "min_choices": self.min_choices,
            "folds": self.folds,
            "motives": [asdict(fit) for fit in self.values()],
        }

    def to_frame(self) -> pd.DataFrame:
        """One row per motive as a pandas frame (`pip install curiograph[frame]`)."""
        return import_optional("pandas", "frame", "Frames").DataFrame(self.columns())

    def plot(self) -> Figure:
        """Bars of what every motive tells, and of whom it tells best, with 95 % intervals over users."""
        from curiograph.plotting import create_figure

        made, (left, right) = create_figure(9.0, 1.2 + 0.4 * len(self), columns=2)
        _bars(left, self, "gain", "bits per choice better than chance")
        _bars(right, self, "best_for", f"share of users it tells best ({self.min_choices} choices or more)")
        right.set_yticks([])
        return made


def _bars(ax: Any, found: Motives, name: str, title: str) -> None:
    from curiograph.plotting import get_color

    for row, fit in enumerate(found.values()):
        estimate: Estimate = getattr(fit, name)
        ax.barh(row, estimate.value, color=get_color(_LIKED.get(fit.name, fit.name)))
        ax.plot([estimate.low, estimate.high], [row, row], color="#555555", linewidth=1.5)
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_yticks(range(len(found)), list(found))
    ax.invert_yaxis()
    ax.set_xlabel(title)
    ax.spines[["top", "right"]].set_visible(False)


def hypotheses(
    graph: Graph,
    walks: Trajectories,
    *,
    motives: Sequence[str] = tuple(MOTIVES),
    agents: Sequence[AgentLike] = (),
    reward: RewardLike = "igt",
    burn_in: int = 3,
    memory: int = DEFAULT_MEMORY,
    folds: int = 5,
    min_choices: int = 5,
    seed: int = 0,
    engine: EngineName | Engine = "local",
    workers: int | None = None,
    address: str | None = None,
    run: PathLike | None = None,
    progress: Progress = no_progress,
) -> Motives:
    """Compare motives by how likely they make the choices of people on whom they were not fitted.

    A person who follows a motive goes to the candidate of rank r among n with chance
    (1 - p_g) p_g^(r - 1) / (1 - p_g^n). For each part of the users, p_g, and what markov knows, comes from all others.

    Parameters
    ----------
    walks : where people went; a walk may leave the links or come back, but only new nodes along links count as choices.
    motives : names among uniform, degree, pagerank, igt, cpt and markov.
    agents : further motives: agents by name, by path, or objects with a method `scores`.
    reward : what those agents look at that look at rewards.
    burn_in : distinct nodes visited before the first choice that counts.
    memory : how many of the nodes visited most recently count as visited; older ones are forgotten.
    folds : parts of the users.
    min_choices : choices from which on a user has a best motive.
    engine : "local", processes of this machine; or "ray", a cluster. The result is the same.
    workers : tasks at a time; None for as many as pay off.
    address : of the cluster; without it one is started on this machine for the job.
    run : folder that keeps what is finished: a killed job goes on where it stopped.
    progress : called with how far it is.

    >>> from curiograph.graph.toys import library
    >>> walks = Trajectories.from_walks([["music", "physics", "chemistry", "biology"]] * 4, graph=library())
    >>> found = hypotheses(library(), walks, motives=["uniform"], burn_in=1)
    >>> found.choices, found.left_out["only candidate"]
    (8, 4)
    """
    folds = check_integer("folds", folds, 2, "part the users into 2 or more")
    min_choices = check_integer("min_choices", min_choices, 1, "give 1 or more")
    used_engine = resolve_engine(engine, workers, address, run)
    compared = as_motives(motives, agents, reward)
    choices = find_choices(graph, walks, burn_in, memory)
    people, user_of = np.unique(choices.windows.users, return_inverse=True)
    _check(choices, people)
    fold_of_user = np.random.default_rng(check_seed(seed)).permutation(len(people)) % min(folds, len(people))
    found = cross_validate(compared, choices, fold_of_user[user_of], used_engine, progress)
    counts = np.bincount(user_of)
    gains = sum_by_user(np.column_stack([each.gains for each in found]), user_of, len(people))
    percentiles = sum_by_user(np.column_stack([each.percentiles for each in found]), user_of, len(people))
    order = np.argsort(-gains.sum(axis=0), kind="stable")
    gains = gains[:, order]
    enough = counts >= min_choices
    columns = zip(
        order.tolist(),
        estimate_means(gains, counts, seed),
        estimate_means(gains[:, :1] - gains, counts, seed),
        estimate_means(percentiles[:, order], counts, seed),
        _shares(gains[enough], seed),
        strict=True,
    )
    fits = [MotiveFit(compared[place].name, float(found[place].p_g.mean()), *each) for place, *each in columns]
    return Motives(
        {fit.name: fit for fit in fits},
        len(choices),
        choices.left_out,
        int(fold_of_user.max()) + 1,
        min_choices,
        [walks.user_names[int(user)] for user in people],
        counts,
        gains,
    )


def _check(choices: ChoiceSet, people: Int64) -> None:
    if len(choices) == 0:
        reasons = ", ".join(f"{reason}: {count}" for reason, count in choices.left_out.items())
        raise WalkError(
            f"there is no choice of a new node along a link ({reasons}); give longer walks, or less burn_in."
        )
    if len(people) < 2:
        raise WalkError("all choices are by 1 user; motives are fitted on some users and judged on others, 2 or more.")


def _are_best(gains: Float64) -> Any:
    """Whether each motive tells as much of each user as the one that tells most."""
    return gains >= gains.max(axis=1, keepdims=True) - _EQUAL


def _shares(gains: Float64, seed: int) -> list[Estimate]:
    """The share of users whose choices each motive tells best.

    >>> [each.value for each in _shares(np.array([[1.0, 0.5], [0.0, 0.0]]), seed=0)]
    [0.75, 0.25]
    """
    if len(gains) == 0:
        return [Estimate(np.nan, np.nan, np.nan)] * gains.shape[1]
    best = _are_best(gains)
    return estimate_means(best / best.sum(axis=1, keepdims=True), np.ones(len(gains), np.int64), seed)
