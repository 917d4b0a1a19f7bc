"""What large graphs cost: to open, per decision, per local recommendation, per walk measured. CPU time, plain values.

On graphs of the same degrees (`generate_large`) the figures of 10,000 and of a million nodes can be compared.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from curiograph.agents.evaluate import draw_starts
from curiograph.agents.explore import explore
from curiograph.agents.registry import as_agent
from curiograph.arrays import Int32, Int64
from curiograph.centrality.curious_pagerank import curious_pagerank
from curiograph.centrality.push import pagerank_top
from curiograph.exploration.mdp import begin, list_starts
from curiograph.files import PathLike
from curiograph.graph.graph import Graph
from curiograph.graph.io.read import read_graph
from curiograph.growth.compute import compute_growth
from curiograph.human.motives.hypotheses import hypotheses
from curiograph.human.trajectories import Trajectories
from curiograph.recommendation.recommender import recommend

WALKERS = (("random", "igt"), ("greedy", "igt"), ("greedy", "cpt"), ("igt-ws", "igt"), ("horizon", "igt"))
"""Agents whose decisions are timed, and what they are after."""

_STEPS = 10
_HISTORY = 5


def opened(path: PathLike) -> dict[str, Any]:
    """Open a graph by memory map: seconds, and how much the process grew at most, in bytes.

    The file's own pages count as long as they stay in memory, though processes share them. In a process that was
    larger before, growth cannot be seen: call this first.
    """
    before = _peak()
    seconds, graph = _timed(lambda: read_graph(path))
    size = {"nodes": graph.num_nodes, "edges": graph.num_edges}
    return {**size, "seconds": seconds, "grew": _peak() - before, "file": graph.indptr.nbytes + graph.indices.nbytes}


def decisions(graph: Graph, *, repeats: int = 15, seed: int = 0) -> dict[str, float]:
    """Milliseconds per decision of each agent, as the median over walks of ten nodes from random starts."""
    starts = [graph.label(int(v)) for v in draw_starts(list_starts(graph, "frontier"), repeats, seed)]
    found = {}
    for agent, reward in WALKERS:
        made = as_agent(agent)
        walk = partial(explore, graph, made, reward, steps=_STEPS, seed=seed)
        found[f"{made.name}, {reward}"] = _milliseconds(walk, starts) / (_STEPS - 1)
    return found


def recommendations(graph: Graph, *, repeats: int = 15, seed: int = 0) -> dict[str, float]:
    """Milliseconds per answer to a user who visited five nodes, nothing prepared for that user: the median."""
    nodes, _ = walked(graph, repeats, _HISTORY, seed)
    histories = [[graph.label(int(v)) for v in row] for row in nodes.reshape(repeats, -1)]
    few = histories[: max(2, repeats // 5)]
    found = {}
    for ranker, some in (("pagerank", histories), ("mixture", few)):
        for near in ("last", "history"):
            answer = partial(recommend, graph, ranker=ranker, candidates=near, seed=seed)
            found[f"{ranker}, {near}"] = _milliseconds(answer, some)
    found["pagerank_top"] = _milliseconds(partial(pagerank_top, graph), histories)
    found["curious_pagerank"] = _milliseconds(
        lambda history: curious_pagerank(graph, history=history, workers=1, seed=seed), few
    )
    return found


def measured(graph: Graph, walks: int, nodes: int, *, seed: int = 0) -> dict[str, Any]:
    """Measure random walks, igt and cpt after every step: milliseconds per walk, and of igt alone."""
    flat, offsets = walked(graph, walks, nodes, seed)
    compute_growth(graph, flat[: offsets[1]], offsets[:2])
    both, _ = _timed(lambda: compute_growth(graph, flat, offsets))
    igt, _ = _timed(lambda: compute_growth(graph, flat, offsets, compressibility=False))
    per = 1e3 / walks
    return {"walks": walks, "nodes": nodes, "milliseconds": per * both, "igt": per * igt, "peak": _peak()}


def judged(graph: Graph, walks: int, nodes: int, *, seed: int = 0) -> dict[str, Any]:
    """Judge the choices of random walks by all motives: milliseconds per choice."""
    flat, offsets = walked(graph, walks, nodes, seed)
    people = Trajectories.from_walks([flat[a:b].tolist() for a, b in pairwise(offsets)], graph=graph)
    seconds, found = _timed(lambda: hypotheses(graph, people, seed=seed, workers=1))
    return {"choices": found.choices, "motives": len(found), "milliseconds": 1e3 * seconds / found.choices}


def walked(graph: Graph, walks: int, nodes: int, seed: int = 0) -> tuple[Int32, Int64]:
    """Random walks by position, one after another, and where each begins."""
    starts = draw_starts(list_starts(graph, "frontier"), walks, seed)
    ended = as_agent("random").run(begin([graph], [starts], "igt", nodes, seed=seed))
    inside = np.arange(ended.nodes.shape[1]) < ended.lengths[:, None]
    return ended.nodes[inside], np.concatenate([[0], np.cumsum(ended.lengths)])


def _milliseconds(call: Callable[[Any], Any], values: Sequence[Any]) -> float:
    """The median over all values after the first, whose call makes what is made once per graph."""
    times = [_timed(partial(call, value))[0] for value in values]
    return 1e3 * statistics.median(times[1:])


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a call, of all threads, and its answer."""
    start = time.process_time()
    answer = call()
    return time.process_time() - start, answer


def _peak() -> int:
    """Most bytes of memory that this process has had."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
