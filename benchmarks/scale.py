"""Measure many tasks and large graphs, with ratios within one run: two workers against one, a million nodes against
ten thousand. Times of decisions and recommendations are processor times."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import curiograph as cg
from benchmarks.graphs import create_preferential_graph, create_ring, draw_histories
from benchmarks.rows import measure_memory, run_command, time_call
from curiograph.agents.agent_names import as_agent
from curiograph.agents.evaluate import draw_starts
from curiograph.cli.warmup import warm_up
from curiograph.exploration.mdp import begin, list_starts
from curiograph.progress import Progress

AGENTS = (("random", "igt"), ("greedy", "igt"), ("greedy", "cpt"), ("igt-ws", "igt"), ("planner", "igt"))
"""Agents whose decisions are timed, and their rewards."""
MILLION, NODES = 1_000_000, 50
"""Nodes of the graph of large batches, and of their walks."""
ONE, TWO = cg.Engine(workers=1), cg.Engine(workers=2)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark from the command line."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--small", type=int, default=10_000, help="nodes of the smallest graph (default: 10,000)")
    parser.add_argument("--nodes", type=int, default=MILLION, help="nodes of the largest graph (default: a million)")
    parser.add_argument("--items", type=int, nargs="*", default=[100_000, MILLION], help="sizes of prepared catalogs")
    parser.add_argument("--walks", type=int, default=100_000, help="walks of a large batch (default: 100,000)")
    run_command(parser, arguments, run)


def run(args: Namespace, progress: Progress) -> Iterator[tuple[dict[str, Any], dict[str, pd.DataFrame]]]:
    """Measure on graphs of `small` to `nodes` nodes, of mean degree 20."""
    progress("two workers against one")
    warm_up()
    rows, sizes = list(compare_workers(create_ring(args.small, 20, args.seed), args.walks // 2, args.seed)), []
    with tempfile.TemporaryDirectory() as folder:
        for nodes in sorted({args.small, min(MILLION, args.nodes), args.nodes}):
            progress(f"decisions and recommendations on {nodes:,} nodes")
            path = Path(folder) / f"{nodes}.safetensors"
            cg.write_graph(create_ring(nodes, 20, args.seed), path)
            seconds, graph = time_processor(partial(cg.read_graph, path))
            rows.append(_row(f"open {nodes:,} nodes, {graph.num_edges:,} edges", f"{seconds:.2f} s"))
            costs = measure_costs(graph, args.seed)
            sizes.append({"nodes": nodes, "edges": graph.num_edges, "seconds": seconds, **costs})
            rows += compare_sizes(sizes[0], sizes[-1])
            if nodes == min(MILLION, args.nodes):
                rows += measure_batches(graph, args.walks, args.seed, progress)
    for items in args.items:
        rows += measure_preparation(items, args.seed, progress)
    document = {"processors": os.cpu_count(), "walks": args.walks, "seed": args.seed, "sizes": sizes, "rows": rows}
    yield document, {"many tasks and large graphs": pd.DataFrame(rows)}


def _row(what: str, measured: str, target: str = "", met: bool | None = None) -> dict[str, Any]:
    return {"what": what, "measured": measured, "target": target, "met": met}


def compare_workers(graph: cg.Graph, walks: int, seed: int) -> Iterator[dict[str, Any]]:
    """Compare two workers with one for `measure` and `evaluate`."""
    people = cg.human.Trajectories.from_walks(draw_walks(graph, walks, NODES, seed), graph=graph)
    graphs = [cg.generate("rg", seed=seed + number) for number in range(max(2, walks // 500))]
    calls: dict[str, Callable[[cg.Engine], Any]] = {
        "measure": lambda engine: cg.measure(graph, people, engine=engine),
        "evaluate": lambda engine: cg.evaluate("planner", graphs, "igt", 10, 10, seed=seed, engine=engine),
    }
    for name, call in calls.items():
        one, two = (time_call(partial(call, engine)) for engine in (ONE, TWO))
        measured = f"{one / two:.2f}x ({one:.1f} s, {two:.1f} s)"
        yield _row(f"{name}: 2 workers over 1", measured, "1.7x", one / two >= 1.7)


def compare_sizes(small: dict[str, Any], large: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Compare the costs on a graph with those on the smallest graph."""
    for kind in ("decisions", "recommendations") if large is not small else ():
        for name, milliseconds in large[kind].items():
            ratio = milliseconds / small[kind][name]
            measured = f"{milliseconds:.3g} ms, {ratio:.2f} times that on {small['nodes']:,}"
            yield _row(f"{name} on {large['nodes']:,} nodes", measured, "2 times", ratio <= 2)


def measure_batches(graph: cg.Graph, walks: int, seed: int, progress: Progress) -> Iterator[dict[str, Any]]:
    """Measure and profile many walks, with the memory of all processes whenever a task has finished."""
    drawn = {"measure": draw_walks(graph, walks, NODES, seed), "profile": draw_visits(graph, walks, NODES, seed)}
    for (name, each), minutes in zip(drawn.items(), (20, 10), strict=True):
        people, memory = cg.human.Trajectories.from_walks(each, graph=graph), [0]

        def watch(message: str, share: float | None = None) -> None:
            memory.append(measure_memory(os.getpid()))  # noqa: B023 - called before the next turn
            progress(message, share)

        seconds = time_call(partial(getattr(cg, name), graph, people, engine=TWO, progress=watch))
        what = f"{name} {walks:,} walks of {NODES} nodes on {graph.num_nodes:,}, 2 workers"
        yield _row(what, f"{seconds / 60:.1f} min", f"{minutes} min", seconds <= 60 * minutes)
        gigabytes = max(memory) / 2**30
        yield _row(f"memory of all processes of {name}", f"{gigabytes:.1f} GiB", "4 GiB", gigabytes <= 4)


def measure_preparation(items: int, seed: int, progress: Progress) -> Iterator[dict[str, Any]]:
    """Prepare all items of a heavy-tailed catalog of mean degree 20 in a file, with the memory of this process."""
    graph, memory = create_preferential_graph(items, 10, seed), [0]
    (minutes, most), before = (3, 2) if items <= 100_000 else (40, 4), measure_memory(os.getpid())

    def watch(message: str, share: float | None = None) -> None:
        memory.append(measure_memory(os.getpid()))
        progress(message, share)

    with tempfile.TemporaryDirectory() as folder:
        prepare = partial(cg.Recommender(graph).prepare, file=f"{folder}/parts.safetensors", progress=watch)
        seconds = time_call(prepare)
    yield _row(f"prepare {items:,} items", f"{seconds / 60:.1f} min", f"{minutes} min", seconds <= 60 * minutes)
    gigabytes = (max(memory) - before) / 2**30
    yield _row("memory that it adds", f"{gigabytes:.1f} GiB", f"{most} GiB", gigabytes <= most)


def measure_costs(graph: cg.Graph, seed: int, repeats: int = 15) -> dict[str, dict[str, float]]:
    """Return the milliseconds per decision of agents, and per answer of rankers without preparation: medians."""
    starts = [graph.label(int(v)) for v in draw_starts(list_starts(graph, "frontier"), repeats, seed)]
    decisions = {}
    for name, reward in AGENTS:
        walk = partial(cg.explore, graph, as_agent(name), reward, steps=10, seed=seed)
        decisions[f"{name}, {reward}"] = _time_median(walk, starts) / 9
    histories = draw_histories(graph, repeats, seed, size=5)
    few = histories[: max(2, repeats // 5)]
    answers = {}
    for ranker, chosen in (("pagerank", histories), ("mixture", few)):
        for candidates in ("last", "history"):
            recommend = partial(cg.recommend, graph, ranker=ranker, candidates=candidates, seed=seed)
            answers[f"{ranker}, {candidates}"] = _time_median(recommend, chosen)
    rank = partial(cg.curious_pagerank, graph, "greedy", 0.85, engine=ONE, seed=seed)
    answers["curious_pagerank"] = _time_median(rank, few)
    return {"decisions": decisions, "recommendations": answers}


def draw_walks(graph: cg.Graph, walks: int, nodes: int, seed: int) -> list[list[int]]:
    """Draw random walks without returns."""
    starts = draw_starts(list_starts(graph, "frontier"), walks, seed)
    ended = as_agent("random").run(begin([graph], [starts], "igt", nodes, seed=seed))
    return [row[:length].tolist() for row, length in zip(ended.nodes, ended.lengths, strict=True)]


def draw_visits(graph: cg.Graph, people: int, visits: int, seed: int) -> list[list[int]]:
    """Draw walks that go to a neighbor, perhaps back, in half of the steps, and to any node in the others."""
    rng = np.random.default_rng(seed)
    nodes = rng.integers(graph.num_nodes, size=(people, visits))
    for before, after in pairwise(range(visits)):
        last, stays = nodes[:, before], rng.random(people) < 0.5
        places = graph.indptr[last] + (rng.random(people) * graph.degrees[last]).astype(np.int64)
        nodes[stays, after] = graph.indices[places[stays]]
    return [list(map(int, row)) for row in nodes]


def time_processor(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor seconds of a call over all threads, and its result."""
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def _time_median(call: Callable[[Any], Any], values: Sequence[Any]) -> float:
    """Return the median milliseconds over all values except the first, whose call computes what is cached per graph."""
    times = [time_processor(partial(call, value))[0] for value in values]
    return 1e3 * statistics.median(times[1:])


if __name__ == "__main__":
    main()
