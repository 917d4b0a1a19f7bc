"""Results of all universes of a dataset, and what they say about the claims of the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import stdtrit

from curiograph.arrays import Float64
from curiograph.human.prediction.components import PAGERANK
from curiograph.human.prediction.protocol import get_recipe
from curiograph.paper.universes import CHANCES, METHODS
from curiograph.statistics.factorial import Share, decompose_variance

THEORIES = ("igt", "cpt", "igt+cpt")
"""Methods of Table 2 of the paper."""
BASE = {
    "links": "directed", "pairs": "highest", "similarity": "cosine", "mean degree": "16", "candidates": "last",
    "runs": "all", "signs": "either", "test set": "all",
}  # fmt: skip
"""Levels of the protocol of our Table 2; its burn-in is that of the recipe of a dataset."""
UNIT = 1e-4
"""Unit of stored numbers."""


@dataclass(frozen=True, eq=False)
class Universes:
    """Results of all universes of a dataset: all combinations of the levels of its factors."""

    name: str
    """Name of the dataset."""
    factors: Mapping[str, Sequence[str]]
    """Levels of each factor, in the order of the axes of `ranks`; the test set is the last."""
    ranks: Float64
    """Mean percentile rank of test choices, factors x `METHODS`."""
    chances: Float64
    """What is kept of draws of test choices, factors without the test set x `CHANCES`."""
    sizes: Mapping[str, Sequence[int]]
    """Smallest and largest number of nodes, links, training choices and test choices."""

    def get_improvement(self, method: str) -> Float64:
        """Return r, the improvement over PageRank, of all universes."""
        improvement: Float64 = self.ranks[..., METHODS.index(method)] / self.ranks[..., METHODS.index(PAGERANK)] - 1
        return improvement

    def select(self, values: Float64, **levels: str) -> Float64:
        """Return the values of some levels of factors; their axes are dropped."""
        place = tuple(
            list(self.factors[name]).index(levels[name]) if name in levels else slice(None) for name in self.factors
        )
        return values[place]

    @property
    def shares(self) -> dict[str, Share]:
        """Shares of the variance of r of igt+cpt that each factor explains."""
        return decompose_variance(self.get_improvement("igt+cpt"), self.factors)

    def count_above(self, control: str, test: str = "all") -> float:
        """Return the share of universes in which igt+cpt ranks choices higher than a control."""
        ranks = self.select(self.ranks, **{"test set": test})
        return float(np.mean(ranks[..., METHODS.index("igt+cpt")] > ranks[..., METHODS.index(control)]))

    @property
    def excess(self) -> Float64:
        """r of igt+cpt minus the sum of those of igt and cpt, where a loss counts as zero; all test choices."""
        igt, cpt, both = (self.select(self.get_improvement(name), **{"test set": "all"}) for name in THEORIES)
        excess: Float64 = both - np.maximum(igt, 0) - np.maximum(cpt, 0)
        return excess

    @property
    def excess_beyond_seeds(self) -> Float64:
        """Mean excess over seeds of each protocol; zero if it is not above zero at 97.5 % (Student's t)."""
        axis = list(self.factors).index("seed")
        count = len(self.factors["seed"])
        mean = self.excess.mean(axis=axis)
        if count < 2:
            return np.zeros_like(mean)
        error = self.excess.std(axis=axis, ddof=1) / np.sqrt(count)
        return np.where(mean > stdtrit(count - 1, 0.975) * error, mean, 0.0)

    @property
    def base(self) -> dict[str, str]:
        """Levels of the protocol of our Table 2, except seed and walkers."""
        levels = BASE | {"burn-in": str(get_recipe(self.name, "highest").burn_in)}
        return {name: level for name, level in levels.items() if name in self.factors}

    def get_base(self, method: str, kind: str) -> Float64:
        """Return r of a method with greedy or trained walkers by seed, in the protocol of our Table 2."""
        return self.select(self.get_improvement(method), **self.base, walkers=kind)

    def describe(self, place: Sequence[int], without: Sequence[str] = ()) -> str:
        """Return the levels at a place of all factors but some."""
        names = [name for name in self.factors if name not in without]
        return ", ".join(f"{name} {self.factors[name][level]}" for name, level in zip(names, place, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, with numbers as text in units of 0.0001."""

        def encode(values: Float64) -> str:
            return " ".join(map(str, np.rint(values.ravel() / UNIT).astype(int).tolist()))

        return {
            "factors": {name: list(levels) for name, levels in self.factors.items()},
            "ranks": {method: encode(self.ranks[..., place]) for place, method in enumerate(METHODS)},
            "chances": {name: encode(self.chances[..., place]) for place, name in enumerate(CHANCES)},
            "sizes": dict(self.sizes),
        }

    @classmethod
    def from_dict(cls, name: str, document: Mapping[str, Any]) -> Self:
        """Restore what `to_dict` returned."""
        shape = [len(levels) for levels in document["factors"].values()]

        def decode(texts: Mapping[str, str], shape: Sequence[int]) -> Float64:
            return np.stack([np.array(text.split(), np.float64).reshape(shape) * UNIT for text in texts.values()], -1)

        return cls(
            name=name,
            factors=document["factors"],
            ranks=decode(document["ranks"], shape),
            chances=decode(document["chances"], shape[:-1]),
            sizes=document["sizes"],
        )
