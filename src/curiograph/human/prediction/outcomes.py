"""Results of `predict`: ranks of people's choices by every method, with confidence intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.arrays import Float32, Float64, Int64
from curiograph.bootstrap import Estimate, resample_means, sum_by_user
from curiograph.errors import UnknownNameError
from curiograph.human.choices.choice_sets import MEASURES
from curiograph.human.prediction.methods import ALL_WITH_CURIOSITY, ALL_WITHOUT_CURIOSITY, MEMORY, PAGERANK
from curiograph.plotting import COLORS, create_figure
from curiograph.results import Skipped, Table, to_plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CANDIDATE_LABELS = {"last": "the out-neighbors of the last node", "all": "all nodes"}
"""Descriptions of the candidate sets."""


@dataclass(frozen=True)
class Improvement(Estimate):
    """Relative improvement r over PageRank: ratio of the sums of percentile ranks, minus 1; mean over splits.

    The 95 % interval is over users, each choice counted with its mean over the splits that test it.
    """

    spread: float
    """Standard deviation over splits. Splits share users, so it is no standard error."""

    def __str__(self) -> str:
        return f"{self.value:+.1%} ± {self.spread:.1%} ({self.low:+.1%} to {self.high:+.1%})"


@dataclass(frozen=True, eq=False, repr=False)
class Outcome(Table, Mapping[str, Float32]):
    """Results for one candidate set: a mapping from methods to arrays of measures x splits x choices.

    The measures are percentile rank, reciprocal rank, hit@10 and NDCG@10; NaN for choices that a split does not test.
    """

    among: str
    """Candidate set: "last", the out-neighbors of the last node; or "all", all nodes not in the history."""
    users: Int64
    """Number of the user who made each choice."""
    ranks: Mapping[str, Float32]
    """Measures x splits x choices, by method."""
    fits: Mapping[str, list[dict[str, Any]]]
    """Fitted mixture of every split, by method."""
    seed: int
    """Seed of the confidence intervals."""

    def __getitem__(self, method: str) -> Float32:
        if method not in self.ranks:
            raise UnknownNameError(f"there is no method {method!r}; the methods are {', '.join(self.ranks)}.")
        return self.ranks[method]

    def __iter__(self) -> Iterator[str]:
        return iter(self.ranks)

    def __len__(self) -> int:
        return len(self.ranks)

    def __repr__(self) -> str:
        users = len(np.unique(self.users))
        return f"Outcome(among {self.among}: {len(self.users):,} choices by {users:,} users, {len(self)} methods)"

    def mean(self, method: str) -> dict[str, float]:
        """Average each measure over the choices of a split, then over splits."""
        means = np.nanmean(np.nanmean(self[method], axis=2), axis=1)
        return dict(zip(MEASURES, means.tolist(), strict=True))

    def by_choice(self, method: str) -> Float64:
        """Average the percentile rank of every choice over the splits that test it; NaN if there is none."""
        table = self[method][0]
        counts = np.count_nonzero(~np.isnan(table), axis=0)
        return np.where(counts > 0, np.nansum(table, axis=0) / np.maximum(counts, 1), np.nan)

    def improvement(self, method: str) -> Improvement:
        """Compute the relative improvement of a method over PageRank."""
        ranks, base = (np.nanmean(self[name][0], axis=1) for name in (method, PAGERANK))
        by_split = ranks / base - 1
        samples = self._resample([method, PAGERANK])
        bounds = Estimate.from_samples(by_split.mean(), samples[:, 0] / samples[:, 1] - 1)
        return Improvement(**vars(bounds), spread=float(by_split.std(ddof=1)) if len(by_split) > 1 else np.nan)

    def difference(self, method: str, other: str) -> Estimate:
        """Compute the difference in percentile rank of two methods, paired by choice."""
        means = [self.mean(name)["percentile"] for name in (method, other)]
        return Estimate.from_samples(means[0] - means[1], np.diff(self._resample([other, method]))[:, 0])

    @property
    def added(self) -> Estimate:
        """Difference in percentile rank between all components and all but curiosity."""
        return self.difference(ALL_WITH_CURIOSITY, ALL_WITHOUT_CURIOSITY)

    @property
    def by_curiosity(self) -> Estimate:
        """Difference in percentile rank between igt+cpt and walkers that only remember their path."""
        return self.difference("igt+cpt", MEMORY)

    def _resample(self, methods: list[str]) -> Float64:
        """Return mean percentile ranks over resampled users: samples x methods."""
        values = np.column_stack([self.by_choice(method) for method in methods])
        tested = ~np.isnan(values).any(axis=1)
        users = np.unique(self.users[tested], return_inverse=True)[1]
        return resample_means(sum_by_user(values[tested], users), np.bincount(users), self.seed)

    def columns(self) -> dict[str, list[Any]]:
        """Return one entry per method and quantity."""
        means, improvements = [self.mean(method) for method in self], [self.improvement(method) for method in self]
        return {
            "candidates": [self.among] * len(self),
            "method": list(self),
            **{measure: [each[measure] for each in means] for measure in MEASURES},
            "r": [each.value for each in improvements],
            **{f"r_{name}": [getattr(each, name) for each in improvements] for name in ("spread", "low", "high")},
        }


@dataclass(frozen=True, eq=False, repr=False)
class Prediction(Table):
    """Results of `predict`: an `Outcome` for each candidate set."""

    name: str
    """Name of the dataset."""
    facts: dict[str, Any]
    """Size of the study, and the settings."""
    outcomes: dict[str, Outcome]
    """Results by candidate set."""
    agents: dict[str, str]
    """Name of the agent of trained walkers, by reward."""
    skipped: Skipped = field(default_factory=Skipped)
    """What was dropped when the walks were read and matched with a graph."""

    def __getitem__(self, among: str) -> Outcome:
        if among not in self.outcomes:
            raise UnknownNameError(f"there are no choices among {among!r}; there are {', '.join(self.outcomes)}.")
        return self.outcomes[among]

    def __repr__(self) -> str:
        return f"Prediction({self.name}, {', '.join(map(repr, self.outcomes.values()))})"

    def columns(self) -> dict[str, list[Any]]:
        """Return one row per candidate set and method."""
        tables = [outcome.columns() for outcome in self.outcomes.values()]
        return {key: [value for table in tables for value in table[key]] for key in tables[0]}

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values: settings, one row per candidate set and method, and what curiosity adds."""
        return {
            **super().to_dict(),
            **self.facts,
            "agents": self.agents,
            "curiosity_adds": {among: to_plain(outcome.added) for among, outcome in self.outcomes.items()},
            "above_memory": {among: to_plain(outcome.by_curiosity) for among, outcome in self.outcomes.items()},
            "fits": {among: dict(outcome.fits) for among, outcome in self.outcomes.items()},
        }

    @property
    def answer(self) -> str:
        """The result in a few sentences."""
        sentences = []
        for among, outcome in self.outcomes.items():
            r = outcome.improvement("igt+cpt")
            percentiles = {method: outcome.mean(method)["percentile"] for method in outcome}
            single = [method for method in outcome if method not in (ALL_WITH_CURIOSITY, ALL_WITHOUT_CURIOSITY)]
            best = max(single, key=percentiles.__getitem__)
            above, added = (
                f"{estimate.value:+.4f} ({estimate.low:+.4f} to {estimate.high:+.4f})"
                for estimate in (outcome.by_curiosity, outcome.added)
            )
            sentences.append(
                f"Among {CANDIDATE_LABELS[among]}, igt+cpt changes percentile ranks by {r.value:+.1%} of PageRank's "
                f"({r.low:+.1%} to {r.high:+.1%}), and by {above} against walkers without curiosity. "
                f"The best single method is {best} ({percentiles[best]:.3f}); curiosity adds {added} to all others "
                "together."
            )
        return " ".join(sentences)

    def plot(self) -> Figure:
        """Plot, for each candidate set, percentile ranks by method and of all choices (Figure 4B of the paper)."""
        figure, cells = create_figure(11, 4.4 * len(self.outcomes), columns=2, rows=len(self.outcomes))
        for (bars, scatter), outcome in zip(np.atleast_2d(cells), self.outcomes.values(), strict=True):
            percentiles = {method: outcome.mean(method)["percentile"] for method in outcome}
            order = sorted(percentiles, key=percentiles.__getitem__)
            colors = [
                COLORS["mixture"] if "+" in method else COLORS.get(method.split(" ")[-1], COLORS["muted"])
                for method in order
            ]
            bars.barh(order, [percentiles[method] for method in order], color=colors)
            bars.axvline(0.5, color="#555555", linewidth=1, linestyle=":")
            bars.set_xlabel(f"mean percentile rank of the choice among {CANDIDATE_LABELS[outcome.among]}")
            base, ranks = outcome.by_choice(PAGERANK), outcome.by_choice("igt+cpt")
            base, ranks = base[~np.isnan(base)], ranks[~np.isnan(base)]  # both are known for the tested choices
            scatter.hexbin(base, ranks, gridsize=24, cmap="Greys", mincnt=1, linewidths=0.2)
            scatter.plot([0, 1], [0, 1], color=COLORS["muted"], linestyle="--", linewidth=1)
            tenths = np.clip(10 * base, 0, 9).astype(int)
            means = [ranks[tenths == tenth].mean() for tenth in np.unique(tenths)]
            scatter.plot(np.unique(tenths) / 10 + 0.05, means, "o-", color=COLORS["mixture"], label="mean of igt+cpt")
            scatter.set(xlabel="percentile rank by PageRank", ylabel="percentile rank by igt+cpt")
            scatter.legend(frameon=False, fontsize=8, loc="lower right")
        figure.suptitle(self.name)
        return figure
