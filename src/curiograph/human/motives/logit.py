"""Conditional logit of choices: likelihood by person, and weights that all people share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from curiograph import kernels
from curiograph.arrays import Float64, Int64
from curiograph.exploration.mdp import Candidates
from curiograph.graph.csr import concatenate_ranges
from curiograph.human.motives.random_effects import PRIOR_MEAN_SCALE, find_modes

Indices = Sequence[int] | Int64


def center_features(features: Float64, candidates: Candidates) -> tuple[Float64, float]:
    """Subtract the mean over the candidates of each choice; return also the root mean square over choices.

    >>> center_features(np.array([1.0, 3.0, 5.0, 5.0]), Candidates(np.array([0, 2, 4]), np.arange(4, dtype=np.int32)))
    (array([-1.,  1.,  0.,  0.]), 0.7071067811865476)
    """
    counts = candidates.counts
    means = np.add.reduceat(features, candidates.offsets[:-1]) / counts
    centered = features - means[candidates.walks]
    variances = np.add.reduceat(centered**2, candidates.offsets[:-1]) / counts
    return centered, float(np.sqrt(variances.mean()))


@dataclass(frozen=True, eq=False)
class ChoiceLogit:
    """Choices of people among candidates with features; a weight per feature gives the probability of a choice.

    Examples
    --------
    >>> one = ChoiceLogit.from_choices(np.array([[0.0], [1.0], [0.0], [1.0]]), [0, 2, 4], [1, 2], [0, 0])
    >>> one.fit_common(prior_scale=np.inf)  # chosen once each
    array([0.])
    """

    features: Float64
    """Candidates x features."""
    offsets: Int64
    """Bounds of the choices in `features`."""
    chosen: Int64
    """Row of the chosen candidate of each choice."""
    bounds: Int64
    """Bounds of the people in `chosen`: the choices of a person are adjacent."""

    @classmethod
    def from_choices(cls, features: Float64, offsets: Indices, chosen: Indices, people: Indices) -> ChoiceLogit:
        """Sort choices by person; `people` holds the number of the person of each choice, from 0."""
        starts, counts = np.asarray(offsets)[:-1], np.diff(offsets)
        order = np.argsort(people, kind="stable")
        new_offsets = np.concatenate([[0], np.cumsum(counts[order])])
        return cls(
            features=np.ascontiguousarray(features[concatenate_ranges(starts[order], counts[order])]),
            offsets=new_offsets,
            chosen=(np.asarray(chosen) - starts)[order] + new_offsets[:-1],
            bounds=np.concatenate([[0], np.cumsum(np.bincount(people))]),
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Number of people and number of features."""
        return len(self.bounds) - 1, self.features.shape[1]

    @property
    def _arrays(self) -> tuple[Float64, Int64, Int64, Int64]:
        return self.features, self.offsets, self.chosen, self.bounds

    def evaluate(self, points: Float64) -> Float64:
        """Return log-likelihoods (people x points) for weights of people x points x features."""
        values: Float64 = kernels.choice_logit.compute_log_likelihoods(*self._arrays, np.ascontiguousarray(points))
        return values

    def expand(self, parameters: Float64) -> tuple[Float64, Float64, Float64]:
        """Return the log-likelihood of each person for weights of people x features, its gradient and information."""
        value, gradient, information = kernels.choice_logit.expand_log_likelihoods(
            *self._arrays, np.ascontiguousarray(parameters)
        )
        return value, gradient, information

    def evaluate_choices(self, weights: Float64) -> Float64:
        """Return the logarithm of the probability of each choice; `weights` are people x features."""
        values: Float64 = kernels.choice_logit.compute_choice_log_likelihoods(
            *self._arrays, np.ascontiguousarray(weights)
        )
        return values

    def with_features(self, features: Float64) -> ChoiceLogit:
        """Return the same choices with other features of the candidates."""
        return replace(self, features=np.ascontiguousarray(features))

    def select_choices(self, which: Int64) -> ChoiceLogit:
        """Return some of the choices by ascending position; people without choices stay, with an empty likelihood."""
        starts, counts = self.offsets[which], np.diff(self.offsets)[which]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        return ChoiceLogit(
            features=self.features[concatenate_ranges(starts, counts)],
            offsets=offsets,
            chosen=self.chosen[which] - starts + offsets[:-1],
            bounds=np.searchsorted(which, self.bounds),
        )

    def select_people(self, which: Int64) -> ChoiceLogit:
        """Return some of the people by ascending number, with all of their choices."""
        counts = np.diff(self.bounds)[which]
        chosen = self.select_choices(concatenate_ranges(self.bounds[which], counts))
        return replace(chosen, bounds=np.concatenate([[0], np.cumsum(counts)]))

    def fit_common(self, prior_scale: float = PRIOR_MEAN_SCALE, start: Float64 | None = None) -> Float64:
        """Return the weights with the largest likelihood if all people share them, with a weak normal prior."""
        size = self.shape[1]
        pooled = replace(self, bounds=np.array([0, len(self.chosen)]))
        first = np.zeros((1, size)) if start is None else start[None, :]
        modes, _ = find_modes(pooled, np.zeros(size), np.full(size, prior_scale), first)
        return np.asarray(modes[0])
