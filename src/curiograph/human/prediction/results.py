"""What a prediction found: how high every method places what people chose, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.arrays import Float64, Int64
from curiograph.errors import UnknownNameError
from curiograph.graph.features import Float32
from curiograph.human.choices.bootstrap import INTERVAL_PERCENTILES, Estimate, resample_means, sum_by_user
from curiograph.human.prediction.components import PAGERANK
from curiograph.optional import import_optional
from curiograph.plotting import COLORS, create_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MEASURES = ("percentile", "reciprocal", "hit10", "ndcg10")
ALL_WITHOUT_CURIOSITY, ALL_WITH_CURIOSITY = "all but curiosity", "all and curiosity"
MEMORY = "memory"
"""The control: walkers who remember their path, as curious ones do, and choose at random."""
CANDIDATE_LABELS = {"last": "the out-neighbours of the last node", "all": "all nodes"}
"""What the candidates are, by name of their set."""


@dataclass(frozen=True)
class Improvement(Estimate):
    """r: the sum of percentile ranks of a method over that of PageRank, less 1; mean over splits.

    The interval is over users, each choice counted by its mean over the splits that test it.
    """

    spread: float
    """Standard deviation over splits, which share users: no error of the mean."""

    def __str__(self) -> str:
        return f"{self.value:+.1%} ± {self.spread:.1%} ({self.low:+.1%} to {self.high:+.1%})"


@dataclass(frozen=True, eq=False)
class Outcome(Mapping[str, Float32]):
    """Choices among one set of candidates: measures x splits x choices by method, NaN where a split does not test."""

    among: str
    """"last", the out-neighbours of the last node; or "all", all nodes not in the history."""
    users: Int64
    """Who made each choice."""
    ranks: Mapping[str, Float32]
    fits: Mapping[str, list[dict[str, Any]]]
    """The mixture of every split, by method."""
    seed: int

    def __getitem__(self, method: str) -> Float32:
        if method not in self.ranks:
            raise UnknownNameError(f"there is no method {method!r}; the methods are {', '.join(self.ranks)}.")
        return self.ranks[method]

    def __iter__(self) -> Iterator[str]:
        return iter(self.ranks)

    def __len__(self) -> int:
        return len(self.ranks)

    def mean(self, method: str) -> dict[str, float]:
        """Each measure, averaged over the choices of a split and then over splits."""
        means = np.nanmean(np.nanmean(self[method], axis=2), axis=1)
        return dict(zip(MEASURES, means.tolist(), strict=True))

    def by_choice(self, method: str) -> Float64:
        """The percentile rank of every choice, averaged over the splits that test it; NaN for one that none does."""
        table = self[method][0]
        tested = ~np.isnan(table)
        sums = np.where(tested, table, 0).sum(axis=0)
        counts = tested.sum(axis=0)
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)

    def improvement(self, method: str) -> Improvement:
        """r of a method."""
        own, base = (np.nanmean(self[name][0], axis=1) for name in (method, PAGERANK))
        by_split = own / base - 1
        samples = self._samples([method, PAGERANK])
        low, high = np.percentile(samples[:, 0] / samples[:, 1] - 1, INTERVAL_PERCENTILES)
        spread = by_split.std(ddof=1) if len(by_split) > 1 else np.nan
        return Improvement(float(by_split.mean()), float(low), float(high), float(spread))

    def difference(self, method: str, other: str) -> Estimate:
        """By how much percentile ranks of a method are above those of another, choice by choice."""
        means = [self.mean(name)["percentile"] for name in (method, other)]
        samples = self._samples([method, other])
        low, high = np.percentile(samples[:, 0] - samples[:, 1], INTERVAL_PERCENTILES)
        return Estimate(means[0] - means[1], float(low), float(high))

    @property
    def added(self) -> Estimate:
        """Percentile ranks that curiosity adds to everything else."""
        return self.difference(ALL_WITH_CURIOSITY, ALL_WITHOUT_CURIOSITY)

    @property
    def by_curiosity(self) -> Estimate:
        """Percentile ranks that igt+cpt gains over walkers that only remember their path."""
        return self.difference("igt+cpt", MEMORY)

    def _samples(self, methods: list[str]) -> Float64:
        """Means over resampled users: samples x methods."""
        values = np.column_stack([self.by_choice(method) for method in methods])
        tested = ~np.isnan(values).any(axis=1)
        rows = np.unique(self.users[tested], return_inverse=True)[1]
        size = int(rows.max()) + 1
        counts = np.bincount(rows, minlength=size)
        return resample_means(sum_by_user(values[tested], rows, size), counts, self.seed)

    def columns(self) -> dict[str, list[Any]]:
        """One entry per method."""
        found = {method: (self.mean(method), self.improvement(method)) for method in self}
        columns: dict[str, list[Any]] = {"candidates": [self.among] * len(found), "method": list(found)}
        columns |= {measure: [means[measure] for means, _ in found.values()] for measure in MEASURES}
        for name in ("value", "spread", "low", "high"):
            key = "r" if name == "value" else f"r_{name}"
            columns[key] = [getattr(improvement, name) for _, improvement in found.values()]
        return columns

    def plot_choices(self, method: str = "igt+cpt", ax: Axes | None = None) -> Axes:
        """Percentile ranks of every choice by PageRank and by a method: the paper's Figure 4B."""
        if ax is None:
            ax = create_figure(4.6, 4.2)[1]
        plain, biased = self.by_choice(PAGERANK), self.by_choice(method)
        known = ~np.isnan(plain) & ~np.isnan(biased)
        ax.hexbin(plain[known], biased[known], gridsize=24, cmap="Greys", mincnt=1, linewidths=0.2)
        ax.plot([0, 1], [0, 1], color=COLORS["quiet"], linestyle="--", linewidth=1)
        edges = np.linspace(0, 1, 11)
        place = np.clip(np.digitize(plain[known], edges) - 1, 0, 9)
        filled = np.bincount(place, minlength=10) > 0
        means = np.bincount(place, biased[known], 10)[filled] / np.bincount(place, minlength=10)[filled]
        ax.plot((edges[:-1] + 0.05)[filled], means, "o-", color=COLORS["mixture"], label=f"mean of {method}")
        ax.set_xlabel("percentile rank by PageRank")
        ax.set_ylabel(f"percentile rank by {method}")
        ax.legend(frameon=False, fontsize=8)
        return ax


@dataclass(frozen=True, eq=False)
class Prediction:
    """How well people's choices are told, by candidate set."""

    name: str
    facts: dict[str, Any]
    """What the study is made of, and the settings."""
    outcomes: dict[str, Outcome]
    agents: dict[str, str]
    """Who walks, by reward: what tells the trained agents from all others."""

    def __getitem__(self, among: str) -> Outcome:
        if among not in self.outcomes:
            raise UnknownNameError(f"there are no choices among {among!r}; there are {', '.join(self.outcomes)}.")
        return self.outcomes[among]

    @cached_property
    def _columns(self) -> dict[str, list[Any]]:
        each = [outcome.columns() for outcome in self.outcomes.values()]
        return {key: [value for columns in each for value in columns[key]] for key in each[0]}

    def columns(self) -> dict[str, list[Any]]:
        """One entry per candidate set and method."""
        return self._columns

    def to_frame(self) -> pd.DataFrame:
        """One row per candidate set and method as a pandas frame (`pip install curiograph[frame]`)."""
        return import_optional("pandas", "frame", "Frames").DataFrame(self.columns())

    def to_dict(self) -> dict[str, Any]:
        """Everything but single choices, as plain values."""
        rows = [dict(zip(self.columns(), row, strict=True)) for row in zip(*self.columns().values(), strict=True)]
        return {
            "name": self.name,
            **self.facts,
            "agents": self.agents,
            "methods": rows,
            "curiosity_adds": {among: asdict(outcome.added) for among, outcome in self.outcomes.items()},
            "above_memory": {among: asdict(outcome.by_curiosity) for among, outcome in self.outcomes.items()},
            "fits": {among: dict(outcome.fits) for among, outcome in self.outcomes.items()},
        }

    @property
    def answer(self) -> str:
        """What was found, in sentences."""
        sentences = []
        for among, outcome in self.outcomes.items():
            r, above, added = outcome.improvement("igt+cpt"), outcome.by_curiosity, outcome.added
            best = max(
                (m for m in outcome if m not in (ALL_WITH_CURIOSITY, ALL_WITHOUT_CURIOSITY)),
                key=lambda m: outcome.mean(m)["percentile"],
            )
            sentences.append(
                f"Among {CANDIDATE_LABELS[among]}, igt+cpt changes percentile ranks by {r.value:+.1%} of PageRank's "
                f"({r.low:+.1%} to {r.high:+.1%}), and by {_points(above)} against walkers without curiosity. "
                f"{best} does best ({outcome.mean(best)['percentile']:.3f}); curiosity adds {_points(added)} to all "
                "others together."
            )
        return " ".join(sentences)

    def plot(self) -> Figure:
        """Percentile ranks by method, and every choice by PageRank against igt+cpt, for each candidate set."""
        made, cells = create_figure(11, 4.4 * len(self.outcomes), columns=2, rows=len(self.outcomes))
        for row, outcome in zip(np.atleast_2d(cells), self.outcomes.values(), strict=True):
            _plot_methods(outcome, row[0])
            outcome.plot_choices(ax=row[1])
        made.suptitle(self.name)
        return made


def _points(found: Estimate) -> str:
    return f"{found.value:+.4f} ({found.low:+.4f} to {found.high:+.4f})"


def _plot_methods(outcome: Outcome, ax: Axes) -> None:
    """Bars of the mean percentile rank, the best on top."""
    heights = {method: outcome.mean(method)["percentile"] for method in outcome}
    order = sorted(heights, key=heights.__getitem__)
    colours = [COLORS.get(method.split("+")[0].split(" ")[-1], COLORS["quiet"]) for method in order]
    colours = [COLORS["mixture"] if "+" in method else colour for method, colour in zip(order, colours, strict=True)]
    ax.barh(order, [heights[method] for method in order], color=colours)
    ax.axvline(0.5, color="#555555", linewidth=1, linestyle=":")
    ax.set_xlabel(f"mean percentile rank of the choice among {CANDIDATE_LABELS[outcome.among]}")
