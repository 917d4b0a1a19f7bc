"""Curious PageRank as a ranker, from parts that are computed once per node.

Walkers forget their path at a teleport, so the expected visits from a history are the mean of those from its nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from curiograph import kernels
from curiograph.agents.agent_names import AgentLike, as_agent
from curiograph.agents.heuristics import GreedyAgent
from curiograph.arrays import Float32, Float64, Int32
from curiograph.centrality.history import check_alpha, check_p_g
from curiograph.centrality.swarm import States, SwarmLimits, WalkerPolicy, simulate_few_steps, simulate_swarm
from curiograph.exploration.mdp import Candidates, Fallback, check_fallback
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph
from curiograph.parallel.fingerprint import fingerprint, hash_values
from curiograph.recommendation.ranker import Ranker
from curiograph.rewards.cpt import Compressibility
from curiograph.rewards.igt import InformationGaps
from curiograph.rewards.reward_names import RewardLike, as_reward
from curiograph.validation import check_integer, check_seed, resolve_workers

_MIN_VISITS = 1e-7  # smallest expected visits that are kept, far below the precision of the simulation
_TAIL = 1e-2  # share of visits, the last ones, that sampled walkers omit: less than their error, and the most costly
_GROUPS = 4  # independent swarms per node, whose spread gives the standard error
_MAX_NODES = 1024  # of a part, those of most visits; bounds the memory of a large catalog
_REWARD_CODES: dict[type, int] = {InformationGaps: 0, Compressibility: 1}  # of the kernel `greedy_walkers`


@dataclass(frozen=True, eq=False)
class Part:
    """Expected visits between teleports from one start node."""

    nodes: Int32
    """Positions, ascending."""
    visits: Float32
    """Expected visits of `nodes`."""
    errors: Float32
    """Standard errors of `visits`; zero if all paths were followed."""
    total: float
    """Sum of the expected visits of all nodes, including those not kept."""

    @classmethod
    def of_most_visited(cls, nodes: Int32, visits: Float32, errors: Float32, total: float) -> Part:
        """Return the part without the nodes of fewest visits if it has many."""
        if len(nodes) > _MAX_NODES:
            most = np.sort(np.argsort(-visits, kind="stable")[:_MAX_NODES])
            nodes, visits, errors = nodes[most], visits[most], errors[most]
        return cls(nodes, visits, errors, float(total))

    def look_up(self, nodes: Int32) -> Float32:
        """Return the expected visits of some nodes, zero if they are not kept."""
        places = self.nodes.searchsorted(nodes)
        return np.asarray(self.visits.take(places, mode="clip") * (self.nodes.take(places, mode="clip") == nodes))


@dataclass(frozen=True, eq=False)
class CuriousRanker(Ranker):
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
    zero_is_unreached = True
    workers: int | None = field(default=None, repr=False)
    """Number of threads. Default: one per processor."""
    simulates: bool = field(default=True, repr=False)
    """Whether missing parts are simulated. If not, only the prepared nodes of a history count."""
    kept: dict[Graph, dict[int, Part]] = field(default_factory=dict, repr=False)
    """Parts computed or loaded so far, by graph and position."""

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        check_p_g(self.p_g)
        check_fallback(self.fallback)
        check_seed(self.seed)
        check_integer("walks", self.walks, 1, "give the walkers per node, 1 or more")
        if self.steps is not None:
            check_integer("steps", self.steps, 1, "give the steps between two teleports, 1 or more, or None")
        object.__setattr__(self, "agent", as_agent(self.agent))
        object.__setattr__(self, "reward", as_reward(self.reward))

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        return self._sum_parts(graph, histories, candidates, "visits", 1)

    def errors(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        return np.sqrt(self._sum_parts(graph, histories, candidates, "errors", 2))

    def _sum_parts(
        self, graph: Graph, histories: Sequence[Int32], candidates: Candidates, kind: str, power: int
    ) -> Float64:
        """Sum a power of visits or errors over each history, divided by the same power of the total visits."""
        kept = self._find_parts(graph, histories)
        sums = np.zeros(len(candidates.nodes))
        for history, (first, end) in zip(histories, pairwise(candidates.offsets.tolist()), strict=True):
            parts = [kept[v] for v in history.tolist() if v in kept]
            if parts:
                values = np.concatenate([getattr(part, kind) for part in parts])
                if power > 1:
                    values = values.astype(np.float64) ** power
                by_node = np.bincount(np.concatenate([part.nodes for part in parts]), values, graph.num_nodes)
                total = sum(part.total for part in parts) ** power or 1.0
                sums[first:end] = by_node[candidates.nodes[first:end]] / total
        return sums

    def contributions(self, graph: Graph, history: Int32, nodes: Int32) -> Float64:
        kept = self._find_parts(graph, [history])
        rows = np.zeros((len(history), len(nodes)))
        for row, v in zip(rows, history.tolist(), strict=True):
            if v in kept:
                row[:] = kept[v].look_up(nodes)
        return rows / (sum(kept[v].total for v in history.tolist() if v in kept) or 1.0)

    def _find_parts(self, graph: Graph, histories: Sequence[Int32]) -> dict[int, Part]:
        """Return all parts that are kept; those of the histories that are missing are simulated first."""
        kept = self.kept.setdefault(graph, {})
        visited = dict.fromkeys(v for history in histories for v in history.tolist())
        missing = [v for v in visited if v not in kept] if self.simulates else []
        if missing:
            kept.update(zip(missing, self.compute_parts(graph, missing), strict=True))
        return kept

    def compute_parts(self, graph: Graph, nodes: Sequence[int]) -> list[Part]:
        """Simulate walkers from each of some positions, along all paths if they are few, otherwise sampled."""
        agent, reward, workers = as_agent(self.agent), as_reward(self.reward), resolve_workers(self.workers)
        is_greedy = type(agent) is GreedyAgent and type(reward) in _REWARD_CODES
        if is_greedy and self.steps is not None and self.steps < kernels.greedy_walkers.MAX_NODES:
            threads = min(workers, len(nodes) - 1)
            if threads <= 1:
                return self._simulate_few_steps(graph, nodes)
            # the first node in this thread: two threads that load kernels at once may wait for each other
            first, rest = self._simulate_few_steps(graph, nodes[:1]), nodes[1:]
            shares = [rest[number::threads] for number in range(threads)]
            with ThreadPoolExecutor(threads) as pool:
                computed = list(pool.map(lambda share: self._simulate_few_steps(graph, share), shares))
            return [*first, *(computed[number % threads][number // threads] for number in range(len(rest)))]
        stack = GraphBatch.of([graph])
        policy = WalkerPolicy(stack, agent, reward, p_g=self.p_g, fallback=self.fallback, workers=workers)
        return [self._simulate_swarm(policy, node) for node in nodes]

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
            groups=_GROUPS,
            tail=_TAIL,
            least=_MIN_VISITS,
            fallback=self.fallback,
            seed=self.seed,
        )
        return [Part.of_most_visited(*visits[:4]) for visits in found]

    def _simulate_swarm(self, policy: WalkerPolicy, node: int) -> Part:
        start = States.start(np.asarray([node], np.int32), self.seed)
        size = -(-self.walks // _GROUPS)
        limits = SwarmLimits(size=size, alpha=self.alpha, tail=_TAIL, groups=_GROUPS, steps=self.steps)
        streams = kernels.random.make_streams(start.streams[0], 0, _GROUPS)
        visits = simulate_swarm(policy, start, np.ones(1), limits, streams)
        by_group = visits.compute_expected(np.asarray([self.alpha]))[0]
        mean = by_group.mean(axis=0)
        errors = by_group.std(axis=0, ddof=1) / np.sqrt(len(by_group)) if visits.sampled else np.zeros(len(mean))
        kept = mean > _MIN_VISITS
        nodes, expected = visits.touched[kept].astype(np.int32), mean[kept].astype(np.float32)
        return Part.of_most_visited(nodes, expected, errors[kept].astype(np.float32), mean.sum())

    def describe(self, graph: Graph) -> dict[str, Any]:
        """Return everything that determines the parts of a graph, as JSON values."""
        shape = np.array([graph.num_nodes, graph.directed])
        settings = {name: getattr(self, name) for name in ("alpha", "p_g", "walks", "steps", "fallback", "seed")}
        return {
            "graph": hash_values(shape, graph.indptr, graph.indices, graph.weights),
            "agent": fingerprint("agent", as_agent(self.agent)),
            "reward": fingerprint("reward", as_reward(self.reward)),
            **settings,
        }
