"""Costs on large graphs: opening, decisions, local recommendations, measured walks. All times are processor times.

On graphs with the same degrees (`scale.draw_ring`), results for 10,000 and for a million nodes can be compared.
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
from curiograph.graph.io.formats import read_graph
from curiograph.growth.compute import compute_growth
from curiograph.human.motives.hypotheses import hypotheses
from curiograph.human.trajectories import Trajectories
from curiograph.recommendation.recommender import recommend

AGENTS = (("random", "igt"), ("greedy", "igt"), ("greedy", "cpt"), ("igt-ws", "igt"), ("horizon", "igt"))
"""Agents whose decisions are timed, and their rewards."""

_STEPS = 10
_HISTORY = 5


def measure_opening(path: PathLike) -> dict[str, Any]:
    """Measure the seconds to open a graph by memory map, and the growth of the process in bytes.

    Mapped pages of the file count while they are in memory, although processes share them. Growth below an earlier
    peak of the process cannot be seen, so call this function first.
    """
    before = _get_peak_memory()
    seconds, graph = _time_call(lambda: read_graph(path))
    return {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "seconds": seconds,
        "grew": _get_peak_memory() - before,
        "file": graph.indptr.nbytes + graph.indices.nbytes,
    }


def measure_decisions(graph: Graph, *, repeats: int = 15, seed: int = 0) -> dict[str, float]:
    """Return the milliseconds per decision of each agent: medians over walks of ten nodes from random starts."""
    starts = [graph.label(int(v)) for v in draw_starts(list_starts(graph, "frontier"), repeats, seed)]
    times = {}
    for name, reward in AGENTS:
        agent = as_agent(name)
        walk = partial(explore, graph, agent, reward, steps=_STEPS, seed=seed)
        times[f"{agent.name}, {reward}"] = _time_median(walk, starts) / (_STEPS - 1)
    return times


def measure_recommendations(graph: Graph, *, repeats: int = 15, seed: int = 0) -> dict[str, float]:
    """Return the median milliseconds per answer for histories of five nodes, without preparation."""
    nodes, _ = draw_walks(graph, repeats, _HISTORY, seed)
    histories = [[graph.label(int(v)) for v in row] for row in nodes.reshape(repeats, -1)]
    few = histories[: max(2, repeats // 5)]
    times = {}
    for ranker, selected in (("pagerank", histories), ("mixture", few)):
        for candidates in ("last", "history"):
            answer = partial(recommend, graph, ranker=ranker, candidates=candidates, seed=seed)
            times[f"{ranker}, {candidates}"] = _time_median(answer, selected)
    times["pagerank_top"] = _time_median(partial(pagerank_top, graph), histories)
    times["curious_pagerank"] = _time_median(
        lambda history: curious_pagerank(graph, history=history, workers=1, seed=seed), few
    )
    return times


def measure_growth(graph: Graph, walks: int, nodes: int, *, seed: int = 0) -> dict[str, Any]:
    """Return the milliseconds per random walk to compute igt and cpt after each step, and igt alone."""
    flat, offsets = draw_walks(graph, walks, nodes, seed)
    compute_growth(graph, flat[: offsets[1]], offsets[:2])
    both, _ = _time_call(lambda: compute_growth(graph, flat, offsets))
    igt, _ = _time_call(lambda: compute_growth(graph, flat, offsets, compressibility=False))
    return {
        "walks": walks,
        "nodes": nodes,
        "milliseconds": 1e3 / walks * both,
        "igt": 1e3 / walks * igt,
        "peak": _get_peak_memory(),
    }


def measure_hypotheses(graph: Graph, walks: int, nodes: int, *, seed: int = 0) -> dict[str, Any]:
    """Return the milliseconds per choice to compare all motives on random walks."""
    flat, offsets = draw_walks(graph, walks, nodes, seed)
    people = Trajectories.from_walks([flat[a:b].tolist() for a, b in pairwise(offsets)], graph=graph)
    seconds, motives = _time_call(lambda: hypotheses(graph, people, seed=seed, workers=1))
    return {"choices": motives.choices, "motives": len(motives), "milliseconds": 1e3 * seconds / motives.choices}


def draw_walks(graph: Graph, walks: int, nodes: int, seed: int = 0) -> tuple[Int32, Int64]:
    """Draw random walks; return their positions in one array, and the offsets of the walks."""
    starts = draw_starts(list_starts(graph, "frontier"), walks, seed)
    ended = as_agent("random").run(begin([graph], [starts], "igt", nodes, seed=seed))
    inside = np.arange(ended.nodes.shape[1]) < ended.lengths[:, None]
    return ended.nodes[inside], np.concatenate([[0], np.cumsum(ended.lengths)])


def _time_median(call: Callable[[Any], Any], values: Sequence[Any]) -> float:
    """Return the median milliseconds over all values except the first, whose call computes what is cached per graph."""
    times = [_time_call(partial(call, value))[0] for value in values]
    return 1e3 * statistics.median(times[1:])


def _time_call(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor seconds of a call over all threads, and its result."""
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def _get_peak_memory() -> int:
    """Return the peak memory of this process in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
