"""Curious PageRank as a ranker, in parts that are computed once: walkers forget at a teleport, so the scores for a
history are the mean of those for each of its nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from curiograph import kernels
from curiograph.agents.registry import AgentLike, as_agent
from curiograph.arrays import Float64, Int32
from curiograph.centrality.curious_pagerank import make_start_states
from curiograph.centrality.history import check_alpha
from curiograph.centrality.rank_transition import check_p_g
from curiograph.centrality.swarm import SwarmLimits, WalkerPolicy, simulate_swarm
from curiograph.errors import SettingError
from curiograph.exploration.mdp import Candidates, Fallback, check_fallback
from curiograph.graph.batch import GraphBatch
from curiograph.graph.features import Float32
from curiograph.graph.graph import Graph
from curiograph.messages import quote_value
from curiograph.parallel.fingerprint import fingerprint, hash_values
from curiograph.recommendation.rankers import Ranker, look_up_values
from curiograph.rewards.registry import RewardLike, as_reward
from curiograph.validation import check_integer, check_seed, resolve_workers

_VERSION = 1
"""Of the way parts are computed: those of another are not used."""
_SMALLEST = 1e-7
"""Expected visits that are not kept: far below what simulation can tell."""
_TAIL = 1e-2
"""Share of visits, the last ones, that drawn walkers leave out: less than their error, and the dearest to compute."""
_DENSE = 8
"""Where more than one in so many nodes is a candidate, sums are made of all nodes at once; they are the same."""
_GROUPS = 4
"""Independent swarms per node, whose spread gives the standard error."""


@dataclass(frozen=True, eq=False)
class Part:
    """Expected visits between two teleports from one node on."""

    nodes: Int32
    """Positions, ascending."""
    visits: Float32
    errors: Float32
    """Their standard errors; zero where all paths were followed."""
    total: float
    """Of all nodes, those left out included."""


@dataclass(frozen=True, eq=False)
class CuriousRanker(Ranker):
    """Curious PageRank of the candidates. What it finds out about a node is kept for the next user.

    >>> from curiograph.graph.toys import library
    >>> ranker = CuriousRanker("greedy", reward="igt")
    >>> ranker.prepare(library(), library().labels)
    12
    """

    agent: AgentLike = "greedy"
    reward: RewardLike = "igt"
    alpha: float = 0.85
    p_g: float = 0.5
    walks: int = 256
    """Walkers that start at each node of a history."""
    fallback: Fallback = "frontier"
    seed: int = 0
    name: str = "curious"
    zero_is_unreached = True
    workers: int | None = field(default=None, repr=False)
    kept: dict[Graph, dict[int, Part]] = field(default_factory=dict, repr=False)
    """What is known so far, by graph and position."""

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        check_p_g(self.p_g)
        check_fallback(self.fallback)
        check_seed(self.seed)
        check_integer("walks", self.walks, 1, "give the walkers per node, 1 or more")
        object.__setattr__(self, "agent", as_agent(self.agent))
        object.__setattr__(self, "reward", as_reward(self.reward))

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        return self._summed(graph, histories, candidates, lambda part: part.visits, 1)

    def errors(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        return np.sqrt(self._summed(graph, histories, candidates, lambda part: part.errors, 2))

    def _summed(
        self,
        graph: Graph,
        histories: Sequence[Int32],
        candidates: Candidates,
        value: Callable[[Part], Float32],
        power: int,
    ) -> Float64:
        """A power of a value of parts, added up over a history, relative to the same power of all its visits."""
        parts = self._parts(graph, np.unique(np.concatenate([*histories, np.empty(0, np.int32)])).astype(np.int32))
        sums = np.empty(len(candidates.nodes))
        for history, (a, b) in zip(histories, pairwise(candidates.offsets.tolist()), strict=True):
            some, wanted = [parts[v] for v in history.tolist()], candidates.nodes[a:b]
            pairs = [(part.nodes, value(part)) for part in some]
            if _DENSE * len(wanted) > graph.num_nodes and any(len(wanted) > len(nodes) for nodes, _ in pairs):
                found = _added(pairs, power, graph.num_nodes)[wanted]
            else:
                values = [look_up_values(*pair, wanted) for pair in pairs]
                found = np.asarray(sum(values if power == 1 else [each**power for each in values]))
            sums[a:b] = found / sum(part.total for part in some) ** power
        return sums

    def prepare(self, graph: Graph, labels: Sequence[Any]) -> int:
        """Compute the parts of these nodes ahead of time; returns how many parts there are now."""
        if isinstance(labels, (str, bytes)):
            raise SettingError(f"the labels to prepare are {quote_value(labels)}; give a list of them.")
        return len(self._parts(graph, np.unique(graph.positions(labels)).astype(np.int32)))

    def _parts(self, graph: Graph, nodes: Int32) -> dict[int, Part]:
        known = self.kept.setdefault(graph, {})
        missing = [v for v in nodes.tolist() if v not in known]
        if missing:
            agent, reward, workers = as_agent(self.agent), as_reward(self.reward), resolve_workers(self.workers)
            bias = WalkerPolicy(GraphBatch.of([graph]), agent, reward, self.p_g, self.fallback, workers)
            known.update((v, self._part(bias, v)) for v in missing)
        return known

    def _part(self, bias: WalkerPolicy, node: int) -> Part:
        """Let walkers start at a node: all paths where they are few, otherwise drawn ones."""
        start = make_start_states(np.asarray([node], np.int32), self.seed)
        reach = SwarmLimits(-(-self.walks // _GROUPS), self.alpha, _TAIL, _GROUPS)
        streams = kernels.random.make_streams(start.streams[0], 0, _GROUPS)
        visits = simulate_swarm(bias, start, np.ones(1), reach, streams)
        table = visits.compute_expected(np.asarray([self.alpha]))[0]
        mean = table.mean(axis=0)
        errors = table.std(axis=0, ddof=1) / np.sqrt(len(table)) if visits.drawn else np.zeros(len(mean))
        seen = mean > _SMALLEST
        found, values = visits.touched[seen].astype(np.int32), mean[seen].astype(np.float32)
        return Part(found, values, errors[seen].astype(np.float32), float(mean.sum()))

    def about(self, graph: Graph) -> dict[str, Any]:
        """What the parts of a graph depend on."""
        kind, weights = np.array([graph.num_nodes, graph.directed]), graph.weights
        return {
            "version": _VERSION,
            "graph": hash_values(kind, graph.indptr, graph.indices, *([] if weights is None else [weights])),
            "agent": fingerprint("agent", as_agent(self.agent)),
            "reward": fingerprint("reward", as_reward(self.reward)),
            "alpha": self.alpha,
            "p_g": self.p_g,
            "walks": self.walks,
            "fallback": self.fallback,
            "seed": self.seed,
        }


def _added(pairs: Sequence[tuple[Int32, Float32]], power: int, num_nodes: int) -> Float64:
    """The sum over several lists of nodes of a power of their values, for all nodes of a graph.

    >>> _added([(np.array([2]), np.array([0.5], np.float32)), (np.array([0, 2]), np.array([2, 1], np.float32))], 2, 3)
    array([4.  , 0.  , 1.25])
    """
    nodes = np.concatenate([nodes for nodes, _ in pairs])
    values = np.concatenate([values for _, values in pairs]).astype(np.float64)
    return np.asarray(np.bincount(nodes, values if power == 1 else values**power, num_nodes), np.float64)
