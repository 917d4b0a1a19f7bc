"""One step of a walk: its candidates, their values, and the choices of the agent and of each motive."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from curiograph import kernels
from curiograph.agents.agent import score_candidates
from curiograph.agents.agent_names import AgentLike, as_agent
from curiograph.arrays import Float64, Int64
from curiograph.errors import WalkError, quote_value
from curiograph.exploration.mdp import Exploration
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph
from curiograph.recommendation.rankers import PageRankRanker
from curiograph.rewards.reward_names import RewardLike, as_reward

MOTIVES = ("igt", "cpt", "cct", "pagerank", "degree")
DEFAULT_AHEAD = 9
"""Default number of nodes that agents plan ahead."""
_MAX_WORK = 5e7
"""Maximum of candidates times visited nodes cubed for computing compressibility: about 0.1 s."""
MAX_COMPRESSED_NODES = 255
"""Maximum number of visited nodes for computing the compressibility of the walk itself."""


@dataclass(frozen=True, eq=False)
class StepView:
    """The candidates of a walk for its next step."""

    nodes: list[Hashable]
    """Labels of the candidates."""
    values: Mapping[str, Float64]
    """Values of the candidates by motive: for igt, cpt and cct the reward after that step (no cpt if the walk is too
    long to compute it at once), for pagerank the PageRank personalized to the walk, for degree the out-degree."""
    igt: float
    """Gaps of the visited subgraph."""
    cpt: float
    """Compressibility of the visited subgraph; NaN if the walk is too long to compute it at once."""
    cct: float
    """Conformable degrees of freedom of the visited subgraph."""
    choice: Hashable | None
    """Choice of the agent; None if there is no candidate."""
    scores: Float64 | None
    """Scores that the agent gives to the candidates; None for a planner, which scores whole walks."""
    on_the_way: bool
    """Whether the candidates are neighbors of the last node; at a dead end they are neighbors of the whole walk."""

    def order_candidates(self, reward: str) -> Int64:
        """Return the indices of the candidates, best first: the choice of the agent, then by reward."""
        values = self.values.get(reward, self.values["igt"])
        ties = self.values.get("pagerank", self.values["degree"])
        is_other = np.ones(len(self.nodes), np.bool_)
        if self.choice is not None:
            is_other[self.nodes.index(self.choice)] = False
        return np.asarray(np.lexsort((-ties, -values, is_other)))

    def find_best(self, motive: str) -> list[Hashable]:
        """Return the candidates with the highest value for a motive: several if they are equal."""
        values = self.values[motive]
        return [self.nodes[i] for i in np.flatnonzero(values == values.max(initial=-np.inf))]


def view_step(
    graph: Graph,
    walk: Sequence[Hashable],
    agent: AgentLike = "greedy",
    reward: RewardLike = "igt",
    *,
    ahead: int = DEFAULT_AHEAD,
    seed: int = 0,
    motives: Sequence[str] = MOTIVES,
) -> StepView:
    """Compute the candidates of a walk for its next step, their values by `motives`, and the choice of an agent.

    Planners plan `ahead` nodes. With the same seed, agents that do not look ahead take the steps of `explore`.
    Raise WalkError if the walk visits a node twice, UnknownNodeError if a label is not in the graph.
    """
    chooser = as_agent(agent)
    visited = graph.positions(walk)
    first = np.unique(visited, return_index=True)[1]
    if len(first) < len(visited):
        repeated = walk[int(np.setdiff1d(np.arange(len(visited)), first)[0])]
        raise WalkError(f"the walk visits {quote_value(repeated)} twice; a walk visits each node once.")
    nodes = np.full((1, min(len(visited) + ahead, graph.num_nodes)), -1, np.int32)
    nodes[0, : len(visited)] = visited
    exploration = Exploration(  # the state of `explore` with this seed after the same walk
        GraphBatch.of([graph]),
        as_reward(reward),
        nodes.shape[1],
        "frontier",
        np.zeros(1, np.int64),
        kernels.random.make_streams(np.uint64(seed), 0, 1),
        nodes,
        np.array([len(visited)]),
        np.full((1, nodes.shape[1] - 1), np.nan),
    )
    candidates = exploration.candidates
    labels = [graph.label(int(node)) for node in candidates.nodes]
    igt, cpt, cct = (
        exploration if exploration.reward.name == name else replace(exploration, reward=as_reward(name))
        for name in ("igt", "cpt", "cct")
    )
    values = {"igt": igt.candidate_values}
    if "cpt" in motives and len(visited) ** 3 * len(labels) <= _MAX_WORK:
        values["cpt"] = exploration.round_scores(cpt.candidate_values)
    if "cct" in motives:
        values["cct"] = cct.candidate_values
    if "pagerank" in motives:
        values["pagerank"] = PageRankRanker(support=0.0).scores(graph, [visited], candidates) if labels else np.empty(0)
    values["degree"] = graph.degrees[candidates.nodes].astype(np.float64)
    is_planner = hasattr(chooser, "width")  # of its beam
    scores = None if is_planner else score_candidates(chooser, exploration)
    choice = None
    if labels and scores is None:
        choice = graph.label(int(chooser.run(exploration).nodes[0, len(visited)]))
    elif labels and scores is not None:
        choice = graph.label(int(candidates.nodes[exploration.best(scores)[0]]))
    last_neighbors = graph.indices[graph.indptr[visited[-1]] : graph.indptr[visited[-1] + 1]]
    return StepView(
        nodes=labels,
        values=values,
        igt=float(igt.values[0]),
        cpt=float(cpt.values[0]) if "cpt" in motives and len(visited) <= MAX_COMPRESSED_NODES else float("nan"),
        cct=float(cct.values[0]) if "cct" in motives else float("nan"),
        choice=choice,
        scores=scores,
        on_the_way=bool(np.isin(candidates.nodes, last_neighbors).all()),
    )
