"""The planner: beam search with exact rewards and a learned value of what partial walks still earn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from curiograph import kernels
from curiograph.agents.base import Agent
from curiograph.agents.beam import BeamAgent, compute_sort_keys
from curiograph.agents.layers import Weights, check_network
from curiograph.arrays import Float32, Float64, Int64
from curiograph.exploration.mdp import Exploration, Streams
from curiograph.rewards.base import Reward, Tracker
from curiograph.validation import check_integer

DEFAULT_WIDTH = 8
NUM_FEATURES = 55
"""Number of features of a candidate, of which the first `NUM_SCREENED` need no neighbors of the candidate."""
NUM_SCREENED = 27
SCREEN_WIDTH, WIDTH, SECOND_WIDTH = 8, 16, 8
"""Widths of the hidden layers. Wider ones predict hardly better."""
_BUDGET = 5  # extensions evaluated by the second network, in units of the beam width
_FIRST_WIDTH, _LAST_WIDTH = 1.4, 0.6  # walks kept at the first and at the last step, in units of the beam width
_LOGS = np.log1p(np.arange(1024)).astype(np.float32)


@dataclass(frozen=True)
class PlannerShape:
    """The part of the graph that a planner reads; the sizes of its two networks are fixed."""

    fan: int = 16
    """Maximum number of neighbors read per candidate; of more, an evenly spaced sample is read."""

    def weights(self) -> dict[str, tuple[int, ...]]:
        """Return the name and shape of every weight array."""
        return {
            "mean": (NUM_FEATURES,),
            "deviation": (NUM_FEATURES,),
            "scale": (2,),
            "screen.0.weight": (SCREEN_WIDTH, NUM_SCREENED),
            "screen.0.bias": (SCREEN_WIDTH,),
            "screen.2.weight": (1, SCREEN_WIDTH),
            "screen.2.bias": (1,),
            "value.0.weight": (WIDTH, NUM_FEATURES),
            "value.0.bias": (WIDTH,),
            "value.2.weight": (SECOND_WIDTH, WIDTH),
            "value.2.bias": (SECOND_WIDTH,),
            "value.4.weight": (1, SECOND_WIDTH),
            "value.4.bias": (1,),
        }


@dataclass(frozen=True, eq=False)
class PlannerAgent(Agent):
    """Beam search that ranks partial walks by exact rewards plus a learned value of the steps that remain.

    The plain beam assumes that a walk's last reward stays as it is. Two small networks predict what a walk earns beyond
    that, from its rewards, the links of the candidate into the walk, and the links of its neighbors. `scores` are these
    predictions; `run` searches with them.
    """

    shape: PlannerShape
    network: Weights = field(repr=False)
    name: str = "planner"
    card: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Model card of a trained agent: how it was trained and how well it performs."""
    width: int = DEFAULT_WIDTH
    """Number of partial walks kept."""

    predicts_returns = True
    """Scores are predicted returns, so they can guide a beam search."""

    def __post_init__(self) -> None:
        check_width(self.width)

    def scores(self, exploration: Exploration) -> Float64:
        """Predict the return from each candidate on, without search."""
        return exploration.round_scores(self.estimate_returns(exploration))

    def run(self, exploration: Exploration) -> Exploration:
        """Plan every walk once, to its end."""
        return ValueBeam(self.width, values=self).run(exploration)

    def with_width(self, width: int) -> PlannerAgent:
        """Return the planner with another beam width."""
        return replace(self, width=check_width(width), name=f"{self.name.partition(':')[0]}:{width}")

    def estimate_returns(
        self,
        current: Exploration,
        groups: Int64 | None = None,
        gained: Float64 | None = None,
        budget: int | None = None,
        tracker: Tracker | None = None,
    ) -> Float64:
        """Estimate the return of every extension of partial walks; see `kernels.lookahead.estimate_returns`.

        By default every walk is its own group, has gained nothing, and all its candidates are evaluated. `tracker` is
        that of another reward than the one of the exploration.
        """
        candidates, count = current.candidates, len(current.lengths)
        groups = np.arange(count + 1) if groups is None else groups
        gained = np.zeros(count) if gained is None else gained
        inputs = list_inputs(current, self.shape.fan, tracker)
        if budget is None or len(candidates.nodes) <= budget + budget // 2:
            chosen = np.ones(len(candidates.nodes), np.bool_)
        else:
            without_fan = (*inputs[2:11], *inputs[12:])  # nor out-neighbors
            chosen = kernels.lookahead.choose_extensions(
                *without_fan, groups, budget, gained, *self._kernel_weights[:4]
            )
        estimates: Float64 = kernels.lookahead.estimate_returns(
            *inputs, groups, chosen, gained, *self._kernel_weights[4:]
        )
        return estimates

    @cached_property
    def _kernel_weights(self) -> tuple[Float32, ...]:
        """Weights as the kernel takes them: transposed, with the scales of inputs and outputs included."""
        check_network(self.name, self.shape.weights(), self.network)
        n = {name: np.asarray(array, np.float64) for name, array in self.network.items()}
        mean, spread = n["scale"]

        def fold_inputs(name: str) -> tuple[Float64, Float64]:
            columns = n[f"{name}.weight"].shape[1]
            weight = n[f"{name}.weight"] / n["deviation"][:columns]
            return weight.T, n[f"{name}.bias"] - weight @ n["mean"][:columns]

        def fold_output(name: str) -> tuple[Float64, Float64]:
            return spread * n[f"{name}.weight"][0], spread * n[f"{name}.bias"] + mean

        second = n["value.2.weight"].T, n["value.2.bias"]
        folded = [*fold_inputs("screen.0"), *fold_output("screen.2")]
        folded += [*fold_inputs("value.0"), *second, *fold_output("value.4")]
        return tuple(np.ascontiguousarray(array, np.float32) for array in folded)


@dataclass(frozen=True)
class ValueBeam(BeamAgent):
    """Beam search that ranks extensions by the estimates of a planner."""

    width: int = DEFAULT_WIDTH
    values: Any = None
    """Object with the method `estimate_returns` of `PlannerAgent`."""

    def _select_extensions(
        self, current: Exploration, groups: Int64, priorities: Float64, streams: Streams
    ) -> tuple[Int64, Int64]:
        # predictions improve towards the end of a walk, so more walks are kept early and fewer late
        share_left = 1 - int(current.lengths.max()) / max(current.steps - 1, 1)
        width = max(1, round(self.width * (_LAST_WIDTH + (_FIRST_WIDTH - _LAST_WIDTH) * share_left)))
        order, keys = compute_sort_keys(current, groups, priorities, streams)
        bounds, chosen = kernels.beam.select_few_extensions(groups, current.candidates.offsets, order, keys, width)
        return bounds, chosen

    def _rank_extensions(self, current: Exploration, groups: Int64, gained: Float64, weight: float) -> Float64:
        estimates: Float64 = self.values.estimate_returns(current, groups, gained, _BUDGET * self.width)
        return estimates


def check_width(width: Any) -> int:
    """Return the beam width of a planner, or raise if it is not a positive integer."""
    return check_integer("planner width", width, 1, "keep a whole number of walks, 1 or more")


@dataclass(frozen=True, eq=False)
class SummedValues:
    """Values of partial walks for a weighted sum of rewards: the sum of the values of its terms.

    A term without learned values, or with a negative weight, is expected to keep its value.
    """

    terms: Sequence[tuple[float, Reward, PlannerAgent | None]]
    """Weight, reward and planner of each term."""

    def estimate_returns(
        self,
        current: Exploration,
        groups: Int64 | None = None,
        gained: Float64 | None = None,
        budget: int | None = None,
    ) -> Float64:
        """Estimate the return of every extension of partial walks; all of them are evaluated."""
        candidates = current.candidates
        remaining = (current.steps - current.lengths[candidates.walks]).astype(np.float64)
        estimates = np.zeros(len(candidates.nodes)) if gained is None else gained[candidates.walks]
        trackers = getattr(current.tracker, "trackers", None)
        for number, (weight, reward, planner) in enumerate(self.terms):
            tracker = trackers[number] if trackers else reward.track(current.stack, current.nodes, current.lengths)
            if planner is None or weight < 0:
                term = tracker.candidate_values(candidates.offsets, candidates.nodes) * remaining
            else:
                term = planner.estimate_returns(current, tracker=tracker)
            estimates = estimates + weight * term
        return estimates

    def scores(self, exploration: Exploration) -> Float64:
        """Predict the return from each candidate on, without search."""
        return exploration.round_scores(self.estimate_returns(exploration))


def list_inputs(exploration: Exploration, fan: int, tracker: Tracker | None = None) -> tuple[Any, ...]:
    """Return the arguments that the kernels of `kernels.lookahead` have in common."""
    stack, candidates = exploration.stack, exploration.candidates
    if tracker is None:
        now, values = exploration.values, exploration.candidate_values
    else:
        now, values = tracker.values(), tracker.candidate_values(candidates.offsets, candidates.nodes)
    return (
        stack.out.indptr,
        stack.out.indices,
        stack.skeleton.indptr,
        stack.skeleton.indices,
        exploration.nodes,
        exploration.lengths,
        now,
        candidates.offsets,
        candidates.nodes,
        values,
        exploration.steps,
        fan,
        _LOGS,
        np.zeros(int(stack.starts[-1]), np.uint64),
    )


def compute_features(exploration: Exploration, fan: int) -> tuple[Float32, Float64]:
    """Return the features of every candidate and the unit of its value, for training."""
    features, unit = kernels.lookahead.compute_features(*list_inputs(exploration, fan))
    return features, unit
