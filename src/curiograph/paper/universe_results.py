"""Results of all universes of a dataset, and what they say about the claims of the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import stdtrit

from curiograph.arrays import Float64
from curiograph.human.prediction.components import PAGERANK
from curiograph.human.prediction.protocol import get_recipe
from curiograph.paper.universes import CHANCES, METHODS, SMALL_TEST
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


class Comparison(NamedTuple):
    """igt+cpt compared with a control over universes."""

    above: float
    """Share of universes in which igt+cpt ranks choices higher."""
    equal: float
    """Share of universes in which both rank choices equally high: the fit takes the same component of both."""
    difference: float
    """Mean difference of their r."""


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
    tested: Float64
    """Number of test choices, factors of the graph, the seed, the burn-in, the candidates and the runs."""
    sizes: Mapping[str, Sequence[int]]
    """Smallest and largest number of nodes, links and training choices."""

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

    def compare(self, control: str, test: str = "all") -> Comparison:
        """Compare igt+cpt with a control in all universes with a test set."""
        ranks = self.select(self.ranks, **{"test set": test})
        base, ours, theirs = (ranks[..., METHODS.index(method)] for method in (PAGERANK, "igt+cpt", control))
        return Comparison(
            above=float(np.mean(ours > theirs)),
            equal=float(np.mean(ours == theirs)),
            difference=float(np.mean((ours - theirs) / base)),
        )

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
    def spread(self) -> float:
        """Standard deviation of r of igt+cpt over seeds in a typical protocol, with all test choices."""
        r = self.select(self.get_improvement("igt+cpt"), **{"test set": "all"})
        freedom = min(1, len(self.factors["seed"]) - 1)
        return float(np.sqrt(r.var(axis=list(self.factors).index("seed"), ddof=freedom).mean()))

    @property
    def sampling_error(self) -> float:
        """Part of `spread` that is due to the sample of test choices, from the deviation over draws."""
        deviations = self.chances[..., CHANCES.index("deviation")]
        return float(np.sqrt(np.mean(deviations**2 * SMALL_TEST / self.tested[..., None, None])))

    @property
    def base(self) -> dict[str, str]:
        """Levels of the protocol of our Table 2, except seed and walkers."""
        levels = BASE | {"burn-in": str(get_recipe(self.name, "highest").burn_in)}
        return {name: level for name, level in levels.items() if name in self.factors}

    def get_base(self, method: str, kind: str) -> Float64:
        """Return r of a method with greedy or trained walkers by seed, in the protocol of our Table 2."""
        return self.select(self.get_improvement(method), **self.base, walkers=kind)

    def get_base_ranks(self, method: str, kind: str) -> Float64:
        """Return the mean percentile rank by a method, as `get_base`."""
        return self.select(self.ranks[..., METHODS.index(method)], **self.base, walkers=kind)

    def describe(self, place: Sequence[Any], without: Sequence[str] = ()) -> str:
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
            "tested": " ".join(map(str, self.tested.astype(int).ravel().tolist())),
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
            tested=np.array(document["tested"].split(), np.float64).reshape(shape[:-3]),
            sizes=document["sizes"],
        )
