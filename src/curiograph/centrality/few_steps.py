"""Greedy walkers of few steps from single nodes, simulated in one kernel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Float32, Float64, Int32
from curiograph.centrality.swarm import States
from curiograph.exploration.mdp import Fallback
from curiograph.graph.graph import Graph
from curiograph.rewards.cpt import build_entropy_table


class StartVisits(NamedTuple):
    """Expected visits between teleports from one start node, as `kernels.greedy_walkers.simulate_walkers` returns."""

    nodes: Int32
    """Positions of the nodes reached, ascending."""
    visits: Float32
    """Expected visits of `nodes`."""
    errors: Float32
    """Standard errors of `visits`; zero if all paths were followed."""
    total: float
    """Sum of the expected visits of all nodes, including those not returned."""
    sources: Int32
    """Nodes that walkers moved on from, ascending."""


def simulate_few_steps(
    graph: Graph,
    starts: Iterable[int],
    reward: int,
    *,
    steps: int,
    alpha: float,
    p_g: float,
    walks: int,
    groups: int,
    tail: float = 0.0,
    least: float = 0.0,
    fallback: Fallback = "frontier",
    seed: int = 0,
) -> Iterator[StartVisits]:
    """Yield the expected visits of greedy walkers from each of some positions.

    `walks` walkers, in `groups` independent groups, take up to `steps` steps from each start; step k has weight
    alpha^k, and sampled walkers stop when it is below `tail`. Visits below `least` are not returned. `reward` is a code
    of `kernels.greedy_walkers`.
    """
    table = _get_reward_table(reward, steps + 1)
    entropies, unit = build_entropy_table((steps + 1) ** 2)
    sums, seen = np.zeros((groups + 1, graph.num_nodes)), np.zeros(graph.num_nodes, np.int8)
    at_dead_end = kernels.candidates.FRONTIER if fallback == "frontier" else kernels.candidates.ANYWHERE
    for start in starts:
        yield StartVisits(
            *kernels.greedy_walkers.simulate_walkers(
                graph.indptr, graph.indices, graph.skeleton.indptr, graph.skeleton.indices, start, steps, alpha, p_g,
                -(-walks // groups), groups, tail, at_dead_end, make_group_streams(start, groups, seed), reward,
                entropies, unit, table, sums, seen, least,
            )
        )  # fmt: skip


def make_group_streams(start: int, groups: int, seed: int) -> NDArray[np.uint64]:
    """Return the random stream of each group of walkers from a start."""
    stream = States.start(np.asarray([start], np.int32), seed).streams[0]
    streams: NDArray[np.uint64] = kernels.random.make_streams(stream, 0, groups)
    return streams


@lru_cache(maxsize=4)
def _get_reward_table(reward: int, nodes: int) -> Float64:
    """Return the table of the rewards of all subgraphs of up to `nodes` nodes, which the kernel fills on demand."""
    return np.full(kernels.greedy_walkers.count_table_entries(nodes), np.nan)
