"""Curious PageRank as a ranker, in parts that are computed once: walkers forget at a teleport, so the scores for a
history are the mean of those for each of its nodes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.agents.registry import AgentLike, as_agent
from curiograph.centrality.curious import start_states
from curiograph.centrality.history import discount
from curiograph.centrality.rankers import Ranker
from curiograph.centrality.ranks import greediness
from curiograph.centrality.swarm import Bias, Reach, simulate
from curiograph.errors import SettingError
from curiograph.exploration.batch import Candidates, Fallback, fallback_rule
from curiograph.graph.container import Graph
from curiograph.graph.features import Float32
from curiograph.graph.rows import Float64, Int32
from curiograph.graph.stack import Stack
from curiograph.graph.storage import quoted
from curiograph.rewards.registry import RewardLike, as_reward
from curiograph.settings import seed_number, whole_number, worker_number

_SMALLEST = 1e-7
"""Expected visits that are not kept: far below what simulation can tell."""
_AT_ONCE = 64
"""Starts whose walkers are simulated together."""


@dataclass(frozen=True, eq=False)
class Part:
    """Expected visits between two teleports from one node on."""

    nodes: Int32
    """Positions, ascending."""
    visits: Float32
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
        discount(self.alpha)
        greediness(self.p_g)
        fallback_rule(self.fallback)
        seed_number(self.seed)
        whole_number("walks", self.walks, 1, "give the walkers per node, 1 or more")
        object.__setattr__(self, "agent", as_agent(self.agent))
        object.__setattr__(self, "reward", as_reward(self.reward))

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        parts = self._parts(graph, np.unique(np.concatenate([*histories, np.empty(0, np.int32)])).astype(np.int32))
        scores = np.empty(len(candidates.nodes))
        for history, (a, b) in zip(histories, pairwise(candidates.offsets), strict=True):
            some = [parts[int(v)] for v in history]
            everywhere = np.zeros(graph.num_nodes)  # memory that is not touched costs nothing
            for part in some:
                everywhere[part.nodes] += part.visits
            scores[a:b] = everywhere[candidates.nodes[a:b]] / sum(part.total for part in some)
        return scores

    def prepare(self, graph: Graph, labels: Sequence[Any]) -> int:
        """Compute the parts of these nodes ahead of time; returns how many parts there are now."""
        if isinstance(labels, (str, bytes)):
            raise SettingError(f"the labels to prepare are {quoted(labels)}; give a list of them.")
        return len(self._parts(graph, np.unique(graph.positions(labels)).astype(np.int32)))

    def _parts(self, graph: Graph, nodes: Int32) -> dict[int, Part]:
        known = self.kept.setdefault(graph, {})
        missing = np.asarray([v for v in nodes.tolist() if v not in known], np.int32)
        for first in range(0, len(missing), _AT_ONCE):
            known.update(self._simulated(graph, missing[first : first + _AT_ONCE]))
        return known

    def _simulated(self, graph: Graph, nodes: Int32) -> Iterator[tuple[int, Part]]:
        agent, reward = as_agent(self.agent), as_reward(self.reward)
        bias = Bias(Stack.of([graph]), agent, reward, self.p_g, self.fallback, worker_number(self.workers))
        streams = kernels.random.branched(np.full(len(nodes), self.seed, np.uint64), np.uint64(1), nodes)
        reach = Reach(self.walks, self.alpha, groups=1)
        starts = start_states(nodes, self.seed)
        visits = simulate(bias, starts, np.arange(len(nodes) + 1), np.ones(len(nodes)), reach, streams)
        table = visits.discounted(self.alpha)
        for row, node in enumerate(nodes.tolist()):
            found, values = visits.touched[table[row] > _SMALLEST], table[row][table[row] > _SMALLEST]
            yield node, Part(found.astype(np.int32), values.astype(np.float32), float(table[row].sum()))

    def about(self, graph: Graph) -> dict[str, Any]:
        """What the parts of a graph depend on."""
        agent, reward = as_agent(self.agent), as_reward(self.reward)
        kind, weights = np.array([graph.num_nodes, graph.directed]), graph.weights
        return {
            "graph": _digest(kind, graph.indptr, graph.indices, *([] if weights is None else [weights])),
            "agent": agent.name,
            "network": _digest(*getattr(agent, "network", {}).values()),
            "reward": reward.name,
            "alpha": self.alpha,
            "p_g": self.p_g,
            "walks": self.walks,
            "fallback": self.fallback,
            "seed": self.seed,
        }


def _digest(*arrays: NDArray[Any]) -> str:
    """A short name for the content of arrays, the same in every process."""
    made = hashlib.sha256()
    for array in arrays:
        made.update(np.ascontiguousarray(array).tobytes())
    return made.hexdigest()[:16]
