"""The planner: beam search with exact rewards and a learned value of what partial walks still earn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from curiograph import kernels
from curiograph.agents.beam import BeamAgent, select_extensions
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
_LEARNED_NODES = 9  # length up to which walks are ranked by learned values; later, rewards alone predict better
_BUDGET = 5  # extensions evaluated by the second network, in units of the walks kept
_LEARNED_WIDTHS, _PLAIN_WIDTHS = (2.8, 0.5), (2.0, 0.3)  # walks kept at the first and last step, in units of the width


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
    predictions; `run` searches with them. Walks of more than nine nodes are ranked as in the plain beam: by then their
    rewards say more than the predictions do. More than `width` walks are kept early in a walk, and fewer late.

    Without a network of its own, the planner uses the shipped ones for the reward of the exploration, learned on many
    kinds of graphs. For a sum of rewards, the values of its terms are added; a term without learned values, or with a
    negative weight, is expected to keep its value. If no term has learned values, walks are ranked as in the plain
    beam.
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
        estimates = self.estimate_returns(exploration)
        return BeamAgent(1).scores(exploration) if estimates is None else exploration.round_scores(estimates)

    def choose_extensions(
        self, current: Exploration, groups: Int64, gained: Float64, streams: Streams
    ) -> tuple[Int64, Int64]:
        if not any(planner for _, planner in self._find_planners(current.reward)):
            return super().choose_extensions(current, groups, gained, streams)
        length = int(current.lengths.max())
        # an early choice affects more rewards than a late one, so more walks are kept early
        first, last = _LEARNED_WIDTHS if length <= _LEARNED_NODES else _PLAIN_WIDTHS
        width = max(1, round(self.width * (last + (first - last) * (1 - length / max(current.steps - 1, 1)))))
        if length > _LEARNED_NODES:
            return BeamAgent(width).choose_extensions(current, groups, gained, streams)
        estimates: Any = self.estimate_returns(current, groups, gained, _BUDGET * width)
        return select_extensions(current, groups, estimates, streams, width)

    def estimate_returns(
        self,
        current: Exploration,
        groups: Int64 | None = None,
        gained: Float64 | None = None,
        budget: int | None = None,
    ) -> Float64 | None:
        """Estimate the return of every extension of partial walks: the rewards so far, and those still to come.

        By default every walk is its own group, has gained nothing, and all its candidates are evaluated. With a budget,
        those that a first network finds worst are not evaluated but ranked last. None if no value of any term of the
        reward is known.
        """
        terms = self._find_planners(current.reward)
        if not any(planner for _, planner in terms):
            return None
        stack, c, count = current.stack, current.candidates, len(current.lengths)
        alone, nothing, everything = np.arange(count + 1), np.zeros(count), len(c.nodes)
        gained = nothing if gained is None else gained
        tracker: Any = current.tracker
        if len(terms) == 1 and terms[0][0] == 1:
            trackers, estimates = [tracker], np.zeros(everything)
            search = alone if groups is None else groups, gained, budget or everything
        else:  # the terms of a sum are evaluated one by one
            trackers, estimates = tracker.trackers, gained[c.walks]
            search = alone, nothing, everything
        for (weight, planner), part in zip(terms, trackers, strict=True):
            values = current.candidate_values if part is tracker else part.candidate_values(c.offsets, c.nodes)
            if planner is None or weight < 0:
                estimates = estimates + weight * (values * (current.steps - current.lengths[c.walks]))
                continue
            estimates = estimates + weight * kernels.lookahead.estimate_returns(
                stack.out.indptr, stack.out.indices, stack.skeleton.indptr, stack.skeleton.indices, current.nodes,
                current.lengths, part.values(), c.offsets, c.nodes, values, current.steps, planner.shape.fan,
                np.zeros(stack.starts[-1], np.uint64), *search, *planner._kernel_weights,
            )  # fmt: skip
        return estimates

    def _find_planners(self, reward: Reward) -> list[tuple[float, PlannerAgent | None]]:
        """Return the weight of every term of a reward, and the planner with its learned values, or None."""
        if self.network:
            return [(1.0, self)]
        return [  # shipped values are those of our own igt and cpt, not of a reward of the same name
            (weight, _load_shipped(term.name) if REWARDS.get(term.name) == term else None)
            for weight, term in list_terms(reward)
        ]

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


def compute_features(exploration: Exploration, fan: int) -> tuple[Float32, Float64]:
    """Return the features of every candidate and the unit of its value, for training."""
    stack, c = exploration.stack, exploration.candidates
    features, unit = kernels.lookahead.compute_features(
        stack.out.indptr, stack.out.indices, stack.skeleton.indptr, stack.skeleton.indices, exploration.nodes,
        exploration.lengths, exploration.values, c.offsets, c.nodes, exploration.candidate_values, exploration.steps,
        fan, np.zeros(stack.starts[-1], np.uint64),
    )  # fmt: skip
    return features, unit
