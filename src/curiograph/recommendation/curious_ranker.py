"""Curious PageRank as a ranker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from curiograph import kernels
from curiograph.agents.agent_names import AgentLike, as_agent
from curiograph.agents.heuristics import GreedyAgent
from curiograph.arrays import Int32
from curiograph.centrality.history import check_p_g
from curiograph.centrality.swarm import States, SwarmLimits, WalkerPolicy, simulate_few_steps, simulate_swarm
from curiograph.exploration.mdp import Fallback, check_fallback
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph
from curiograph.parallel.fingerprint import fingerprint
from curiograph.recommendation.parts import Part, PartRanker, compute_in_threads
from curiograph.rewards.cpt import Compressibility
from curiograph.rewards.igt import InformationGaps
from curiograph.rewards.reward_names import RewardLike, as_reward
from curiograph.validation import check_integer, check_seed, resolve_workers

_TAIL = 1e-2  # share of visits, the last ones, that sampled walkers omit: less than their error, and the most costly
_REWARD_CODES: dict[type, int] = {InformationGaps: 0, Compressibility: 1}  # of the kernel `greedy_walkers`


@dataclass(frozen=True, eq=False)
class CuriousRanker(PartRanker):
    """Curious PageRank of the candidates; the parts of visited nodes are kept for later users.

    Examples
    --------
    >>> import curiograph as cg
    >>> top = cg.recommend(cg.toys.library(), ["music"], k=2, ranker=cg.CuriousRanker("max-degree"))
    >>> [label for label, score in top]
    ['mathematics', 'physics']
    """

    agent: AgentLike = "greedy"
    """Agent that biases the walkers."""
    reward: RewardLike = "igt"
    """Reward for agents that use one."""
    alpha: float = 0.85
    """Probability to continue instead of teleporting."""
    p_g: float = 0.5
    """Parameter of the rank transition: 0 always takes the best candidate, 1 takes all with equal probability."""
    walks: int = 256
    """Number of walkers per node of a history."""
    steps: int | None = 3
    """Maximum number of steps between two teleports; None for no limit. People's choices support few steps, and greedy
    walkers of igt or cpt that take at most 6 are a hundred times faster."""
    fallback: Fallback = "frontier"
    """Candidates at a dead end, as in `explore`."""
    seed: int = 0
    """Random seed."""
    name: str = "curious"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_p_g(self.p_g)
        check_fallback(self.fallback)
        check_seed(self.seed)
        check_integer("walks", self.walks, 1, "give the walkers per node, 1 or more")
        if self.steps is not None:
            check_integer("steps", self.steps, 1, "give the steps between two teleports, 1 or more, or None")
        object.__setattr__(self, "agent", as_agent(self.agent))
        object.__setattr__(self, "reward", as_reward(self.reward))

    def find_parts(self, graph: Graph, histories: Sequence[Int32]) -> list[dict[int, Part] | None]:
        kept = self.kept.setdefault(graph, {})
        visited = dict.fromkeys(chain.from_iterable(history.tolist() for history in histories))
        parts = {v: part for v in visited if (part := kept.get(v)) is not None}
        if self.simulates and (missing := [v for v in visited if v not in parts]):
            new = dict(zip(missing, self.compute_parts(graph, missing), strict=True))
            kept.update(new)
            parts |= new
        return [self.weigh_parts(graph, each, {v: parts[v] for v in each.tolist() if v in parts}) for each in histories]

    def compute_parts(self, graph: Graph, nodes: Sequence[int]) -> list[Part]:
        agent, reward, workers = as_agent(self.agent), as_reward(self.reward), resolve_workers(self.workers)
        is_greedy = type(agent) is GreedyAgent and type(reward) in _REWARD_CODES
        if is_greedy and self.steps is not None and self.steps < kernels.greedy_walkers.MAX_NODES:
            return compute_in_threads(partial(self._simulate_few_steps, graph), nodes, workers)
        stack = GraphBatch.of([graph])
        policy = WalkerPolicy(stack, agent, reward, p_g=self.p_g, fallback=self.fallback, workers=workers)
        return [self._simulate_swarm(graph, policy, node) for node in nodes]

    def _simulate_few_steps(self, graph: Graph, nodes: Sequence[int]) -> list[Part]:
        """Simulate greedy walkers of igt or cpt in a kernel, from each of some positions."""
        found = simulate_few_steps(
            graph,
            nodes,
            _REWARD_CODES[type(as_reward(self.reward))],
            steps=self.steps or 1,
            alpha=self.alpha,
            p_g=self.p_g,
            walks=self.walks,
            tail=_TAIL,
            fallback=self.fallback,
            seed=self.seed,
        )
        return [Part.of_most_visited(graph, reached, visits, visits.sum()) for reached, visits in found]

    def _simulate_swarm(self, graph: Graph, policy: WalkerPolicy, node: int) -> Part:
        start = States.start(np.asarray([node], np.int32), self.seed)
        limits = SwarmLimits(size=self.walks, alpha=self.alpha, tail=_TAIL, groups=1, steps=self.steps)
        streams = kernels.random.make_streams(start.streams[0], 0, 1)
        visits = simulate_swarm(policy, start, np.ones(1), limits, streams)
        expected = visits.compute_expected(np.asarray([self.alpha]))[0, 0]
        return Part.of_most_visited(graph, visits.touched.astype(np.int32), expected, expected.sum())

    def describe(self, graph: Graph) -> dict[str, Any]:
        settings = {name: getattr(self, name) for name in ("alpha", "p_g", "walks", "steps", "fallback", "seed")}
        return {
            **super().describe(graph),
            "agent": fingerprint("agent", as_agent(self.agent)),
            "reward": fingerprint("reward", as_reward(self.reward)),
            **settings,
        }
