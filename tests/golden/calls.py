"""Public calls on fixed inputs, whose outputs are stored in outputs.json.

`PYTHONPATH=src:tests python -m golden.calls` prints them; redirect it to the file to record outputs again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

import curiograph as cg
from support import people

GRAPH = cg.generate("ba", nodes=50, seed=1)
PEOPLE, RING = people.walkers().walks, people.walkers().graph
DIRECTED = cg.Graph.from_edges([(i, (i * i + 3 * j + 1) % 40) for i in range(40) for j in range(4)], directed=True)


def measure_graph() -> dict[str, Any]:
    curve = cg.rate_distortion(GRAPH)
    return {
        "betti": [cg.betti(graph, dim=dim) for graph in (GRAPH, RING) for dim in (0, 1)],
        "compressibility": [cg.compressibility(graph) for graph in (GRAPH, RING, DIRECTED)],
        "upper": curve.upper,
        "lower": curve.lower,
    }


def measure_walk() -> dict[str, Any]:
    growth = cg.measure(GRAPH, [0, 5, 9, 13, 2, 40, 31, 7, 22, 18, 4, 33, 1, 49])
    return {name: getattr(growth, name) for name in ("beta0", "beta1", "compressibility")}


def measure_people() -> dict[str, Any]:
    frame = cg.measure(RING, PEOPLE).to_frame()
    return {name: frame[name].to_numpy() for name in ("beta1", "compressibility")}


def profile_people() -> dict[str, Any]:
    frame = cg.profile(RING, PEOPLE).to_frame()
    return {
        name: frame[name].to_numpy() for name in ("nodes", "clustering", "revisits", "compressibility") if name in frame
    }


def explore_graph() -> dict[str, Any]:
    found = {}
    for agent, reward in [
        ("planner", "igt"),
        ("planner", "cpt"),
        ("beam:16", "igt"),
        ("greedy", "cct"),
        ("igt-rg", "igt"),
    ]:
        walk = cg.explore(GRAPH, agent=agent, reward=reward, start=3, steps=10, seed=0)
        found[f"{agent} {reward}"] = [list(walk.nodes), walk.total]
    return found


def evaluate_agents() -> dict[str, Any]:
    graphs = [cg.generate("er", nodes=30, seed=seed) for seed in range(2)]
    return {
        agent: cg.evaluate(agent, graphs, reward="igt", steps=8, episodes=5, seed=0).mean
        for agent in ("random", "max-degree", "greedy", "planner:4")
    }


def rank_nodes() -> dict[str, Any]:
    curious = cg.curious_pagerank(GRAPH, "greedy", alpha=0.85, history=[3, 7], p_g=0.5, seed=0)
    return {
        "pagerank": cg.pagerank(GRAPH, alpha=0.85, history=[3, 7]).scores,
        "directed": cg.pagerank(DIRECTED, alpha=0.5).scores,
        "curious": curious.scores,
    }


def recommend_nodes() -> dict[str, Any]:
    return {"top": [[node, score] for node, score in cg.recommend(GRAPH, history=[3, 7], k=10)]}


def train_agent() -> dict[str, Any]:
    sets = cg.generate_split("ws", nodes=20, train=4, val=2, test=2, seed=0)
    agent = cg.train(sets, reward="igt", seed=0, walk_nodes=6, train_steps=60, warmup=16, validate_every=20)
    return {"mean": cg.evaluate(agent, sets.test, reward="igt", steps=6, episodes=10, seed=0).mean}


def predict_choices() -> dict[str, Any]:
    walkers = {"igt": "greedy", "cpt": "greedy"}
    found = cg.human.predict(PEOPLE, graph=RING, walkers=walkers, effort=people.SMALL, seed=0)
    return {
        f"{among} {method}": found[among].improvement(method).value
        for among in ("last", "all")
        for method in ("igt", "cpt", "igt+cpt", "markov")
    }


def compare_motives() -> dict[str, Any]:
    found = cg.human.hypotheses(RING, PEOPLE, burn_in=2, seed=0)
    return {name: [found[name].gain.value, found[name].gain.low, found[name].gain.high] for name in sorted(found)}


def compare_with_null_models() -> dict[str, Any]:
    found = cg.human.compare_growth(RING, PEOPLE, steps=6, replicates=3, seed=0)
    return {
        f"{name} {quantity}": found.area[name][quantity].value
        for name in sorted(found.area)
        for quantity in ("gaps", "bits", "conformable")
    }


CALLS: list[Callable[[], dict[str, Any]]] = [
    measure_graph,
    measure_walk,
    measure_people,
    profile_people,
    explore_graph,
    evaluate_agents,
    rank_nodes,
    recommend_nodes,
    train_agent,
    predict_choices,
    compare_motives,
    compare_with_null_models,
]


def to_plain(value: Any) -> Any:
    """Return arrays as lists, and numbers rounded to 9 digits."""
    if isinstance(value, dict):
        return {key: to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [to_plain(item) for item in value]
    if isinstance(value, float | np.floating):
        return None if np.isnan(value) else round(float(value), 9)
    return int(value) if isinstance(value, np.integer) else value


if __name__ == "__main__":
    lines = {
        call.__name__: ",\n".join(
            f"  {json.dumps(name)}: {json.dumps(to_plain(value))}" for name, value in call().items()
        )
        for call in CALLS
    }
    print("{\n" + ",\n".join(f' "{name}": {{\n{line}\n }}' for name, line in lines.items()) + "\n}")
