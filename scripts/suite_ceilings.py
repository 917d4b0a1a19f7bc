"""Raise the ceilings of tasks of the suite: store the higher of the known return and that of further searches.

Real networks are read from CURIOGRAPH_DATA or where `curiograph data get real-networks` put them. A released version
never changes: to change a task, add a version.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace

import numpy as np

from curiograph.agents.agent_names import as_agent
from curiograph.agents.exact import ExactAgent
from curiograph.agents.suite import GRAPH_FILE, TASK_FILE, Task, find_networks, load_graph, read_tasks
from curiograph.exploration.mdp import list_starts
from curiograph.files import open_atomic
from curiograph.graph.generators import generate_split
from curiograph.graph.io.formats import read_graph

SEED = 20_260_000
"""Seed of test graphs, starts and random walks; the seeds of our trainings and tables are small numbers."""
RANDOM_WALKS = 20
"""Random walks from each start, of which the floor is the mean."""
FAMILIES = ("rg", "ws", "ba", "er")
SIZES = {50: 10, 500: 4, 5000: 1}
"""Number of graphs of each family by number of nodes."""
STARTS = {(50, 10): 20, (500, 10): 10, (5000, 10): 20, (500, 50): 4, (500, 200): 2}
"""Starts per graph by number of nodes and length of walks."""
REAL_STARTS = {10: (0, 40), 50: (100, 10), 200: (400, 4)}
"""By length of walks: the number of nodes that real networks must exceed, and starts."""
SEARCHES = {
    ("igt", 10): ("greedy", "beam:512", "planner:128"),
    ("cpt", 10): ("greedy", "beam:256", "planner:64"),
    ("igt", 50): ("greedy", "beam:256", "planner:64"),
    ("cpt", 50): ("greedy", "beam:64"),
    ("igt", 200): ("greedy", "beam:128"),
    ("cpt", 200): ("greedy", "beam:8"),
}
"""First searches for the ceiling by reward and length of walks."""


def draw_graphs() -> None:
    """Draw the generated graphs and write them to the package."""
    arrays = {}
    for family in FAMILIES:
        for nodes, count in SIZES.items():
            for number, graph in enumerate(generate_split(family, nodes, train=0, val=0, test=count, seed=SEED).test):
                source = np.repeat(np.arange(nodes), np.diff(graph.indptr))
                edges = np.stack([source, graph.indices])[:, source < graph.indices].astype(np.uint16)
                arrays[f"{family}-{nodes}-{number}"] = np.diff(edges, axis=1, prepend=np.uint16(0))  # modulo 2**16
    np.savez_compressed(GRAPH_FILE, **arrays)


def list_new_tasks() -> Iterator[Task]:
    """Yield the tasks with starts, and without floors and ceilings."""
    for reward in ("igt", "cpt"):
        for (nodes, steps), count in STARTS.items():
            for family in FAMILIES:
                graphs = [f"{family}-{nodes}-{number}" for number in range(SIZES[nodes])]
                if (reward, steps) == ("cpt", 200):  # where a search takes seconds per walk
                    graphs, count = graphs[:2], 1
                group = "families" if nodes == min(SIZES) else "sizes"
                starts = [draw_starts(np.arange(nodes), count, reward, steps, number) for number in range(len(graphs))]
                yield add_hash(Task(f"{reward}-{family}-{nodes}-{steps}", group, reward, steps, graphs, starts))
        for steps, (least, count) in REAL_STARTS.items():
            for path in sorted((find_networks() or TASK_FILE).glob("*.tsv")):
                name = path.stem.removesuffix("-directed")
                graph = read_graph(path, directed=path.stem.endswith("-directed"))
                if graph.num_nodes > least and (reward, steps) != ("cpt", 200):
                    starts = [draw_starts(list_starts(graph, "frontier"), count, reward, steps)]
                    yield add_hash(Task(f"{reward}-{name}-{steps}", "real", reward, steps, [name], starts))


def draw_starts(possible: np.ndarray, count: int, reward: str, steps: int, number: int = 0) -> list[int]:
    """Draw distinct starts; those of another reward or length differ, so that walks are not repeated."""
    rng = np.random.default_rng([SEED, number, steps, *reward.encode()])
    return rng.permutation(possible)[:count].tolist()


def add_hash(task: Task) -> Task:
    """Return a task with the hash of its graphs and starts, and its floor."""
    networks = find_networks()
    task = replace(task, hash=task.compute_hash([load_graph(name, networks) for name in task.graphs]))
    walks = task.begin(networks)
    many = walks.rows(np.tile(np.arange(len(walks.lengths)), RANDOM_WALKS))
    streams = np.random.default_rng(SEED).integers(2**64, size=len(many.lengths), dtype=np.uint64)
    returns = as_agent("random").run(replace(many, streams=streams)).returns.reshape(RANDOM_WALKS, -1)
    return replace(task, random=returns.mean(axis=0).round(6).tolist(), ceiling=returns.max(axis=0).round(6).tolist())


def raise_ceiling(task: Task, searches: Sequence[str]) -> Task:
    """Return a task with the highest returns that these searches and those before found from each start."""
    walks, best, proven = task.begin(find_networks()), np.array(task.ceiling), task.proven
    for name in searches:
        agent, rows = as_agent(name), walks.rows(np.arange(len(best)))
        if isinstance(agent, ExactAgent):
            ended, bounds = agent.prove(rows)
            proven |= bool(np.all(bounds <= ended.returns + 1e-6))
        else:
            ended = agent.run(rows)
        best = np.maximum(best, ended.returns.round(6))
    by = list(dict.fromkeys([*task.ceiling_by, *searches]))
    return replace(task, ceiling=best.tolist(), ceiling_by=by, proven=proven)


def main() -> None:
    """Compute some tasks and write the file after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", help="beginnings of names of tasks (default: all)", metavar="TASK")
    parser.add_argument("--by", nargs="+", help="searches (default: the first ones)", metavar="AGENT")
    parser.add_argument("--new", action="store_true", help="draw graphs and starts, and begin without ceilings")
    given = parser.parse_args()
    if given.new:
        draw_graphs()
    tasks = {task.name: task for task in list_new_tasks()} if given.new else dict(read_tasks())
    for name, task in tasks.items():
        if name.startswith(tuple(given.tasks or [""])):
            searches = given.by or SEARCHES[task.reward, task.steps]
            tasks[name] = raise_ceiling(task, searches)
            lines = ",\n".join(json.dumps(asdict(each)) for each in tasks.values())
            with open_atomic(TASK_FILE) as stream:
                stream.write(f"[\n{lines}\n]\n".encode())
            print(name, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
