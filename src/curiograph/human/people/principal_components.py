"""Principal components of the measures of people, and how reliable the scores of people are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.arrays import Float64
from curiograph.bootstrap import Estimate
from curiograph.errors import WalkError
from curiograph.human.people.people_table import number_people, read_table
from curiograph.human.people.styles import estimate_split_half
from curiograph.results import Table
from curiograph.validation import check_integer, check_seed

if TYPE_CHECKING:
    import pandas as pd

    from curiograph.human.people.profile import Profile


@dataclass(frozen=True, eq=False, repr=False)
class ProfileComponents(Table):
    """Principal components of measures that are standardized over people: one row per measure."""

    measures: list[str]
    """Measures that differ between people."""
    loadings: Float64
    """Measures x components: correlation of each measure with the scores of a component."""
    explained: Float64
    """Share of the variance that each component explains."""
    reliability: list[Estimate]
    """Split-half reliability of the scores over the walks of people (Spearman-Brown); NaN without several walks."""
    scores: pd.DataFrame
    """One row per person: user, and the score of each component."""
    left_out: list[Any]
    """People for whom a measure is not defined."""

    def columns(self) -> dict[str, Any]:
        """Return one row per measure: its loadings."""
        return {"measure": self.measures} | {f"pc{n + 1}": column for n, column in enumerate(self.loadings.T)}

    def __repr__(self) -> str:
        parts = [
            f"pc{n + 1}: {share:.0%}, reliability {reliability}"
            for n, (share, reliability) in enumerate(zip(self.explained, self.reliability, strict=True))
        ]
        return f"ProfileComponents({len(self.scores):,} people, {len(self.measures)} measures; {'; '.join(parts)})"


def find_components(
    profile: Profile | pd.DataFrame, count: int = 2, *, measures: Sequence[str] | None = None, seed: int = 0
) -> ProfileComponents:
    """Find the principal components of the measures of people, after standardizing each measure over people.

    Parameters
    ----------
    profile : Profile or DataFrame
        Result of `profile`, or any table with one row per walk, a column `user` and columns of numbers.
    count : int
        Number of components.
    measures : sequence of str, optional
        Names of measures. Default: all that are defined for at least 9 of 10 people; others are left out.
    seed : int
        Seed of the intervals of reliability.

    Returns
    -------
    ProfileComponents
        Loadings, explained variance, scores of people, and the reliability of scores.

    Examples
    --------
    >>> import curiograph as cg
    >>> g = cg.generate("ws", nodes=60, seed=0)
    >>> lists = [cg.explore(g, ["greedy", "random"][n % 2], "cpt", start=n, steps=20, seed=n) for n in range(40)]
    >>> walks = cg.human.Trajectories.from_walks(lists, users=[n % 10 for n in range(40)], graph=g)
    >>> found = cg.human.find_components(cg.profile(g, walks, measures=["structure", "gaps"]))
    >>> bool(found.explained[0] > 0.4), found.scores.shape
    (True, (10, 3))
    """
    import pandas as pd

    check_integer("count", count, 1, "give 1 component or more")
    seed = check_seed(seed)
    frame, selected = read_table(profile, "user", measures)
    users, person = number_people(frame["user"].tolist())
    means = frame.groupby(person)[selected].mean()
    kept = means.columns[means.notna().mean() >= 0.9] if measures is None else means.columns
    known = means[kept].notna().all(axis=1).to_numpy()
    deviations = means[kept][known].std()
    kept = [name for name in kept if deviations[name] > 1e-12 * max(1.0, abs(means[name][known].mean()))]
    if known.sum() < max(3, count + 1) or len(kept) < count:
        raise WalkError(
            f"{int(known.sum())} people have values of {len(kept)} measures that differ between them; {count} "
            f"components need {max(3, count + 1)} people or more, and as many measures as components."
        )
    center, scale = means[kept][known].mean().to_numpy(), deviations[kept].to_numpy()
    table = (means[kept][known].to_numpy() - center) / scale
    _, values, directions = np.linalg.svd(table, full_matrices=False)
    directions = directions[:count]
    largest = np.abs(directions).argmax(axis=1)
    directions *= np.sign(directions[np.arange(count), largest])[:, None]  # the sign of a component is arbitrary
    scores = table @ directions.T
    # the same for every other walk of each person
    is_odd = frame.groupby(person).cumcount().to_numpy() % 2 == 1
    halves = [frame[half].groupby(person[half])[kept].mean().reindex(means.index) for half in (~is_odd, is_odd)]
    both = np.logical_and(*(half.notna().all(axis=1).to_numpy() for half in halves))
    projected = [((half[both].to_numpy() - center) / scale) @ directions.T for half in halves]
    found = {"user": [user for user, is_known in zip(users, known, strict=True) if is_known]}
    return ProfileComponents(
        measures=list(kept),
        loadings=directions.T * values[:count] / np.sqrt(len(table) - 1),
        explained=values[:count] ** 2 / np.sum(values**2),
        reliability=[estimate_split_half(*(half[:, n] for half in projected), seed=seed) for n in range(count)],
        scores=pd.DataFrame(found | {f"pc{n + 1}": column for n, column in enumerate(scores.T)}),
        left_out=[user for user, is_known in zip(users, known, strict=True) if not is_known],
    )
