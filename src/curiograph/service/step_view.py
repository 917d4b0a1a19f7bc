"""One step of a walk, without state: where it may go, what that is worth, what each motive would choose."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from curiograph import kernels
from curiograph.agents.base import Agent, score_candidates
from curiograph.agents.beam import BeamAgent
from curiograph.agents.registry import AgentLike, as_agent
from curiograph.arrays import Float64, Int32
from curiograph.errors import WalkError
from curiograph.exploration.mdp import Candidates, Exploration
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph, as_graph
from curiograph.human.choices.metrics import choice_ranks
from curiograph.messages import quote_value
from curiograph.recommendation.rankers import PageRankRanker
from curiograph.rewards.registry import RewardLike, as_reward
from curiograph.validation import check_integer, check_seed

DEFAULT_AHEAD = 9
"""Nodes that agents look ahead, if not told otherwise."""
_WORK = 5e7
"""Candidates times visited nodes cubed up to which compressibility is computed for all of them: about 0.1 s."""


@dataclass(frozen=True, eq=False)
class StepView:
    """What a walk sees before its next step.

    >>> from curiograph.graph.toys import library
    >>> seen = view_step(library(), ["music", "physics", "chemistry"], agent="greedy", reward="igt")
    >>> seen.nodes, seen.values["igt"].tolist(), seen.choice
    (['biology'], [0.0], 'biology')
    """

    nodes: list[Hashable]
    """The candidates."""
    values: Mapping[str, Float64]
    """By motive (igt, cpt, pagerank of what was visited, degree: links that lead on), a number for each candidate; for
    igt and cpt the reward after going there. Without cpt where the walk is too long to compute it at once."""
    igt: float
    """Gaps of what was visited."""
    cpt: float
    """Its compressibility; NaN where the walk is too long to compute it at once."""
    choice: Hashable | None
    """Where the agent goes; None where there is no candidate."""
    scores: Float64 | None
    """The agent's own scores of the candidates; None for a planner, which scores whole walks."""
    on_the_way: bool
    """Whether the candidates are neighbours of the last node; at a dead end they are those of all that was visited."""
    _candidates: Candidates = field(repr=False)

    def best(self, motive: str) -> list[Hashable]:
        """The candidates with the highest value for a motive: more than one where they are equal."""
        values = self.values[motive]
        return [self.nodes[i] for i in np.flatnonzero(values == values.max(initial=-np.inf))]

    def percentiles(self, chosen: Hashable) -> dict[str, float]:
        """How high a candidate stands by each motive: 1 is best, 0 worst, equal ones share; NaN for an only one.

        >>> from curiograph.graph.toys import library
        >>> view_step(library(), ["music"]).percentiles("physics")["pagerank"]
        0.66...
        """
        if chosen not in self.nodes:
            raise WalkError(
                f"{quote_value(chosen)} is no candidate here; the candidates are {quote_value(self.nodes)}."
            )
        position = self._candidates.nodes[self.nodes.index(chosen) : self.nodes.index(chosen) + 1]
        return {
            motive: float(choice_ranks(values, self._candidates, position).percentile[0])
            for motive, values in self.values.items()
        }


def view_step(
    graph: Graph,
    walk: Sequence[Hashable],
    agent: AgentLike = "greedy",
    reward: RewardLike = "igt",
    *,
    ahead: int = DEFAULT_AHEAD,
    seed: int = 0,
) -> StepView:
    """Look around at the end of a walk.

    Parameters
    ----------
    walk : labels in order of visit, each once.
    ahead : nodes still to be visited, for agents that look ahead: `beam` plans that far, `horizon` counts on it.
    seed : of ties; the steps of an agent that does not look ahead are those of `explore` with the same seed.
    """
    made, valued = as_agent(agent), as_reward(reward)
    ahead = check_integer("ahead", ahead, 1, "plan for a whole number of nodes, 1 or more")
    visited = _positions(as_graph(graph), walk)
    now = _exploration(graph, visited, valued, ahead, seed)
    candidates = now.candidates
    nodes = [graph.label(int(v)) for v in candidates.nodes]
    igt, cpt = _valued(now, "igt"), _valued(now, "cpt")
    gaps = float(igt.values[0])
    bits = float(cpt.values[0]) if len(visited) ** 3 <= _WORK / 3 else float("nan")
    values = {"igt": igt.candidate_values}
    if len(visited) ** 3 * len(nodes) <= _WORK:
        values["cpt"] = now.round_scores(cpt.candidate_values)
    values["pagerank"] = PageRankRanker().scores(graph, [visited], candidates) if nodes else np.empty(0)
    values["degree"] = graph.degrees[candidates.nodes].astype(np.float64)
    scores = None if isinstance(made, BeamAgent) else score_candidates(made, now)
    around = graph.indices[graph.indptr[visited[-1]] : graph.indptr[visited[-1] + 1]]
    return StepView(
        nodes,
        values,
        gaps,
        bits,
        _choice(made, now, scores) if nodes else None,
        scores,
        bool(np.isin(candidates.nodes, around).all()),
        candidates,
    )


def _positions(graph: Graph, walk: Any) -> Int32:
    if isinstance(walk, (str, bytes)) or not isinstance(walk, Sequence) or not walk:
        raise WalkError(f"the walk is {quote_value(walk)}; give a list of one label or more.")
    visited = graph.positions(walk)
    first = np.unique(visited, return_index=True)[1]
    if len(first) < len(visited):
        again = walk[int(np.setdiff1d(np.arange(len(visited)), first)[0])]
        raise WalkError(f"the walk visits {quote_value(again)} twice; a walk visits each node once.")
    return visited


def _exploration(graph: Graph, visited: Int32, reward: Any, ahead: int, seed: int) -> Exploration:
    """The walk as it would be after `explore` with this seed had gone that way."""
    nodes = np.full((1, min(len(visited) + ahead, graph.num_nodes)), -1, np.int32)
    nodes[0, : len(visited)] = visited
    return Exploration(
        GraphBatch.of([graph]),
        reward,
        nodes.shape[1],
        "frontier",
        np.zeros(1, np.int64),
        kernels.random.make_streams(np.uint64(check_seed(seed)), 0, 1),
        nodes,
        np.array([len(visited)]),
        np.full((1, nodes.shape[1] - 1), np.nan),
    )


def _valued(now: Exploration, reward: str) -> Exploration:
    """The same walk valued by another reward; itself where that is its own, so that nothing is valued twice."""
    return now if now.reward.name == reward else replace(now, reward=as_reward(reward))


def _choice(agent: Agent, now: Exploration, scores: Float64 | None) -> Hashable:
    """Where the agent goes: to the candidate with the best score, or where its plan begins."""
    graph = now.stack.graphs[0]
    if scores is None:
        return graph.label(int(agent.run(now).nodes[0, now.lengths[0]]))
    return graph.label(int(now.candidates.nodes[now.best(scores)[0]]))
