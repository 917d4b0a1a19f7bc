"""The planner: beam search with exact rewards and a learned value of what partial walks still earn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from curiograph import kernels
from curiograph.agents.beam import BeamAgent, sort_extensions
from curiograph.agents.layers import Weights
from curiograph.arrays import Float32, Float64, Int64
from curiograph.exploration.mdp import Exploration, Streams
from curiograph.rewards.combined import list_terms
from curiograph.rewards.reward import Reward
from curiograph.rewards.reward_names import REWARDS
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


class PlannerAgent(BeamAgent):
    """Beam search that ranks partial walks by exact rewards plus a learned value of the steps that remain.

    The plain beam assumes that a walk's last reward stays as it is. Two small networks predict what a walk earns beyond
    that, from its rewards, the links of the candidate into the walk, and the links of its neighbors. `scores` are these
    predictions; `run` searches with them.

    Without a network of its own, the planner uses the shipped ones for the reward of the exploration, learned on many
    kinds of graphs. For a sum of rewards, the values of its terms are added; a term without learned values, or with a
    negative weight, is expected to keep its value. If no term has learned values, the planner is a plain beam search.
    """

    def __init__(
        self,
        shape: PlannerShape = PlannerShape(),
        network: Weights | None = None,
        name: str = "planner",
        card: Mapping[str, Any] | None = None,
        width: int = DEFAULT_WIDTH,
    ) -> None:
        self.width = check_integer("planner width", width, 1, "keep a whole number of walks, 1 or more")
        self.name = name if width == DEFAULT_WIDTH else f"{name}:{width}"
        self.shape = shape
        self.network: Weights = network or {}
        self.card: Mapping[str, Any] = card or {}
        """Model card of a trained agent: how it was trained and how well it performs."""

    def with_width(self, width: int) -> PlannerAgent:
        return PlannerAgent(self.shape, self.network, self.name.partition(":")[0], self.card, width)

    def scores(self, exploration: Exploration) -> Float64:
        """Predict the return from each candidate on, without search."""
        if self._find_values(exploration.reward) is None:
            return BeamAgent(1).scores(exploration)
        return exploration.round_scores(self.estimate_returns(exploration))

    def choose_extensions(
        self, current: Exploration, groups: Int64, gained: Float64, streams: Streams
    ) -> tuple[Int64, Int64]:
        if self._find_values(current.reward) is None:
            return super().choose_extensions(current, groups, gained, streams)
        estimates = self.estimate_returns(current, groups, gained, _BUDGET * self.width)
        order, keys = sort_extensions(current, groups, estimates, streams)
        # predictions improve towards the end of a walk, so more walks are kept early and fewer late
        share_left = 1 - int(current.lengths.max()) / max(current.steps - 1, 1)
        width = max(1, round(self.width * (_LAST_WIDTH + (_FIRST_WIDTH - _LAST_WIDTH) * share_left)))
        bounds, chosen = kernels.pruning.select_few_extensions(groups, current.candidates.offsets, order, keys, width)
        return bounds, chosen

    def estimate_returns(
        self,
        current: Exploration,
        groups: Int64 | None = None,
        gained: Float64 | None = None,
        budget: int | None = None,
    ) -> Float64:
        """Estimate the return of every extension of partial walks: the rewards so far, and those still to come.

        By default every walk is its own group, has gained nothing, and all its candidates are evaluated. With a budget,
        those that a first network finds worst are not evaluated but ranked last.
        """
        count, candidates = len(current.lengths), current.candidates
        groups = np.arange(count + 1) if groups is None else groups
        gained = np.zeros(count) if gained is None else gained
        terms = self._find_values(current.reward) or []
        if len(terms) == 1 and terms[0][0] == 1:
            planner: PlannerAgent = terms[0][2]
            return planner._apply_networks(current, current.values, current.candidate_values, groups, gained, budget)
        estimates = gained[candidates.walks]
        remaining = (current.steps - current.lengths[candidates.walks]).astype(np.float64)
        trackers = getattr(current.tracker, "trackers", None)
        for number, (weight, reward, planner) in enumerate(terms):
            tracker = trackers[number] if trackers else reward.track(current.stack, current.nodes, current.lengths)
            values = tracker.candidate_values(candidates.offsets, candidates.nodes)
            term = values * remaining
            if planner is not None and weight >= 0:
                alone = np.arange(count + 1), np.zeros(count)
                term = planner._apply_networks(current, tracker.values(), values, *alone, None)
            estimates = estimates + weight * term
        return estimates

    def _find_values(self, reward: Reward) -> list[tuple[float, Reward, Any]] | None:
        """Return weight, reward and planner (if any) of each term of a reward; None if no term has a planner."""
        if self.network:
            return [(1.0, reward, self)]
        terms = [
            # values are those of our own igt and cpt, not of a reward of the same name
            (weight, term, _load_shipped(term.name) if REWARDS.get(term.name) == term else None)
            for weight, term in list_terms(reward)
        ]
        return terms if any(planner is not None for _, _, planner in terms) else None

    def _apply_networks(
        self, current: Exploration, now: Float64, values: Float64, groups: Int64, gained: Float64, budget: int | None
    ) -> Float64:
        """Screen extensions with the first network if there are more than the budget; evaluate them with the second."""
        inputs = list_inputs(current, self.shape.fan, now, values)
        chosen = np.ones(len(values), np.bool_)
        if budget is not None and len(values) > budget + budget // 2:
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


@cache
def _load_shipped(reward: str) -> Any:
    """Return the shipped planner for a reward and all kinds of graphs; None if there is none."""
    from curiograph.agents.pretrained import load_agent, shipped_agents  # which imports this module

    name = f"{reward}-all-planner"
    return load_agent(name) if name in shipped_agents() else None


def list_inputs(exploration: Exploration, fan: int, now: Float64, values: Float64) -> tuple[Any, ...]:
    """Return the arguments that the kernels of `kernels.lookahead` have in common."""
    stack, candidates = exploration.stack, exploration.candidates
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
    inputs = list_inputs(exploration, fan, exploration.values, exploration.candidate_values)
    features, unit = kernels.lookahead.compute_features(*inputs)
    return features, unit
