"""Speed of rewards, of walks by agents, and of the Gymnasium environments."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from gymnasium.vector import SyncVectorEnv, VectorEnv

import curiograph as cg
from benchmarks.graphs import create_random_graph, read_wikispeedia
from benchmarks.peers import compute_slow_compressibility, find_gap_peers
from benchmarks.rows import Row, allow, time_medians
from curiograph.agents.heuristics import GreedyAgent, RandomAgent
from curiograph.arrays import Float64, Int32
from curiograph.exploration.gym_env import ExplorationEnv
from curiograph.exploration.gym_vector_env import ExplorationVectorEnv
from curiograph.exploration.mdp import begin
from curiograph.graph.batch import GraphBatch
from curiograph.graph.generators import FAMILIES
from curiograph.rewards.cct import FlexibilityTracker
from curiograph.rewards.cpt import CompressibilityTracker
from curiograph.rewards.igt import GapTracker

NUM_ENVS = 256


def time_gaps(seed: int, quick: bool) -> Iterator[Row]:
    """Time igt of all candidates of a step against peers called per candidate; means over random states."""
    peers = find_gap_peers()
    for size, target in ((10, 20.0),) if quick else ((10, 20.0), (50, 100.0), (200, 500.0)):
        graph = cg.generate("rg", nodes=max(50, 4 * size), seed=seed)
        states = [_draw_state(graph, size, seed + i) for i in range(2 if quick else 20)]
        stack, lengths = GraphBatch.of([graph]), np.full(len(states), size)
        rows = np.stack([np.append(walk, -1) for walk, _ in states]).astype(np.int32)
        offsets = np.cumsum([0, *(len(candidates) for _, candidates in states)])
        candidates = np.concatenate([candidates for _, candidates in states])
        together, alone = GapTracker(stack, rows, lengths), []
        for i, (_, own) in enumerate(states):
            tracker = GapTracker(stack, rows[i : i + 1], lengths[i : i + 1])
            alone.append(partial(tracker.candidate_values, np.array([0, len(own)]), own))
        calls: dict[str, Callable[[], Any]] = {
            "walk kept, many walks a call": lambda: together.candidate_values(offsets, candidates),  # noqa: B023
            "walk kept, one walk a call": lambda: [call() for call in alone],  # noqa: B023
            "from the bare walk, many walks a call": (
                lambda: GapTracker(stack, rows, lengths).candidate_values(offsets, candidates)  # noqa: B023
            ),
        }
        matrices = [_get_adjacency(graph, np.append(walk, v)) for walk, own in states for v in own]
        expected = together.candidate_values(offsets, candidates).tolist()
        for name, compute_beta1 in peers.items():
            if _call_each(compute_beta1, matrices) != expected:
                raise AssertionError(f"{name} disagrees on the gaps of {size} visited nodes")
        theirs = [partial(_call_each, compute_beta1, matrices) for compute_beta1 in peers.values()]
        times = time_medians(*calls.values(), *theirs, repeats=1 if quick else 7)
        seconds = dict(zip([*calls, *peers], [each / len(states) for each in times], strict=True))
        where = f"{size} nodes visited, {len(candidates) / len(states):.1f} candidates"
        fastest = min(peers, key=seconds.__getitem__, default="")
        for way in calls:
            reached = target if way.startswith("walk kept") and fastest else None
            yield Row(f"igt of all candidates, {way}", where, seconds[way], fastest, seconds.get(fastest), reached)


def time_compressibility(seed: int, quick: bool) -> Iterator[Row]:
    """Time cpt of one subgraph against a direct implementation, and its growth with size."""
    for size, target in ((10, 1000.0),) if quick else ((10, 1000.0), (20, 2000.0)):
        graph, rows, tracker = _track_compressibility(size, 100, seed)
        matrices = [_get_adjacency(graph, row) for row in rows[: 1 if quick else 5]]
        expected = _call_each(compute_slow_compressibility, matrices)
        if not np.allclose(tracker.values()[: len(expected)], expected, atol=1e-9):
            raise AssertionError("the slow twin disagrees")
        slow = partial(_call_each, compute_slow_compressibility, matrices)
        ours, theirs = time_medians(tracker.values, slow, repeats=1 if quick else 7)
        where, theirs = f"{size} nodes", theirs / len(matrices)
        yield Row("cpt of a subgraph, 100 a call", where, ours / len(rows), "slow twin", theirs, target)
    times = {}
    for size in (50, 60) if quick else (50, 100, 200):
        _, rows, tracker = _track_compressibility(size, 4, seed)
        times[size] = time_medians(tracker.values, repeats=1 if quick else 7)[0] / len(rows)
        yield Row("cpt of a subgraph", f"{size} nodes", times[size])
    largest = max(times)
    exponent = float(np.log(times[largest] / times[50]) / np.log(largest / 50))
    yield Row("cpt grows like n^x, x at most", f"50 to {largest} nodes", ratio=exponent, target=3.2)


def time_flexibility(seed: int, quick: bool) -> Iterator[Row]:
    """Time cct per candidate of random walks."""
    graph, where = None if quick else read_wikispeedia(), "Wikispeedia"
    if graph is None:
        nodes, edges = (100, 1_000) if quick else (4_604, 119_882)
        graph = create_random_graph(nodes, edges, seed, directed=True, power=1.0)
        where = "a random graph like Wikispeedia"
    starts = np.random.default_rng(seed).choice(np.flatnonzero(graph.degrees > 0), 100)
    for size in (10,) if quick else (10, 50, 200):
        walks, agent = begin([graph], [starts], "cct", size + 1, seed=seed), RandomAgent()
        for _ in range(size - 1):
            walks = walks.step(walks.best(agent.scores(walks)))
        found = walks.candidates
        tracker = FlexibilityTracker(walks.stack, walks.nodes, walks.lengths)
        (seconds,) = time_medians(partial(tracker.candidate_values, found.offsets, found.nodes))
        yield allow("cct of a candidate", f"{size} nodes visited, {where}", seconds / len(found.nodes), 1e-6)


def time_episodes(seed: int, quick: bool) -> Iterator[Row]:
    """Time walks of 10 nodes on 50-node graphs, and the baselines of Table 1."""
    test, episodes = (1, 10) if quick else (10, 100)
    sets = {family: cg.generate_split(family, train=0, val=0, test=test, seed=seed).test for family in FAMILIES}

    def time_walks(agent: str, reward: str, count: int) -> float:
        start = time.perf_counter()
        for graphs in sets.values():
            cg.evaluate(agent, graphs, reward, steps=10, episodes=count, seed=seed)
        return time.perf_counter() - start

    baselines = ("random", "max-degree", "min-degree", "greedy")
    seconds = sum(time_walks(agent, reward, episodes) for reward in ("igt", "cpt") for agent in baselines)
    yield allow("Table 1's baselines", f"{8 * len(sets)} x {test * episodes:,} walks", seconds, 20.0)
    for reward in ("igt", "cpt"):
        for agent in ("random", "max-degree", "greedy", "beam"):
            count = 5 if agent == "beam" and not quick else 1 if quick else episodes
            each = time_walks(agent, reward, count) / (len(sets) * test * count)
            yield Row(f"a walk by {agent}, {reward}", f"{1 / each:,.0f} walks/s", each)
            if agent == "beam" and reward == "igt":
                yield allow("a decision by beam, igt", "width 256", each / 9, 5e-3)


def time_single_calls(seed: int, quick: bool) -> Iterator[Row]:
    """Time one call of `explore` against an agent that is asked at every step, and of `measure` against peers."""
    graph, repeats = cg.generate("rg", seed=seed), 1 if quick else 7
    stepwise = type("StepwiseGreedyAgent", (GreedyAgent,), {})()  # a subclass may have scores of its own
    for reward in ("igt", "cpt"):
        calls = [partial(cg.explore, graph, agent, reward, 0, seed=seed) for agent in ("greedy", stepwise)]
        ours, slow = time_medians(*calls, repeats=repeats)
        what = f"explore by greedy, {reward}, one call"
        yield Row(what, "10 nodes", ours, "step by step", slow, target=5.0)
        yield allow(what, "10 nodes", ours, 0.15e-3)
    walk = cg.explore(graph, "greedy", "igt", 0, 12, seed=seed).nodes
    matrices = [_get_adjacency(graph, graph.positions(walk[:size])) for size in range(1, len(walk) + 1)]
    peers = {name: partial(_call_each, compute, matrices) for name, compute in find_gap_peers().items()}
    ours, *theirs = time_medians(partial(cg.measure, graph, walk), *peers.values(), repeats=repeats)
    for peer, each in zip(peers, theirs, strict=True):
        yield Row("measure, one call", f"{len(walk)} nodes; peer: gaps alone", ours, peer, each)
    yield allow("measure, one call", f"{len(walk)} nodes", ours, 0.12e-3)


def time_environments(seed: int, quick: bool) -> Iterator[Row]:
    """Time steps of 256 environments with legal actions, igt, 50 nodes, walks of 10; resets included."""
    graph, calls = cg.generate("rg", seed=seed), 2 if quick else 50
    settings: dict[str, dict[str, Any]] = {
        'observation "walk"': {"graph": graph},
        'observation "subgraph"': {"graph": graph, "observation": "subgraph"},
        "a new graph for each episode": {"graph": _draw_graph},
    }
    limits = {'observation "walk"': 100_000, "a new graph for each episode": 30_000}
    for name, kwargs in settings.items():
        kwargs |= {"reward": "igt", "steps": 10}
        native = ExplorationVectorEnv(NUM_ENVS, **kwargs)
        peer = SyncVectorEnv([partial(ExplorationEnv, **kwargs)] * NUM_ENVS)
        actions = _record_actions(native, seed, calls)
        replays = [partial(_replay_actions, envs, seed, actions) for envs in (native, peer)]
        each, peers = (seconds / (calls * NUM_ENVS) for seconds in time_medians(*replays, repeats=1 if quick else 5))
        what = f"a step of {NUM_ENVS} environments, {name}"
        yield Row(what, f"{1 / each:,.0f} steps/s", each, "SyncVectorEnv", peers, 10.0)
        if name in limits:
            yield allow(what, f"{limits[name]:,} steps/s", each, 1 / limits[name])


def _draw_graph(rng: np.random.Generator) -> cg.Graph:
    return cg.generate("ba", seed=int(rng.integers(2**31)))


def _record_actions(envs: VectorEnv[Any, Any, Any], seed: int, calls: int) -> list[Any]:
    """Return random legal actions of some steps; an environment that restarts ignores its action."""
    rng = np.random.default_rng(seed)
    observation, _ = envs.reset(seed=seed)
    actions = []
    for _ in range(calls):
        mask = observation["action_mask"]
        actions.append(np.argmax(mask * rng.random(mask.shape), axis=1))
        observation, *_ = envs.step(actions[-1])
    return actions


def _replay_actions(envs: VectorEnv[Any, Any, Any], seed: int, actions: list[Any]) -> None:
    envs.reset(seed=seed)
    for each in actions:
        envs.step(each)


def _draw_state(graph: cg.Graph, size: int, seed: int) -> tuple[Int32, Int32]:
    """Draw a random walk of `size` nodes that has candidates; return the walk and its candidates."""
    start = np.flatnonzero(graph.degrees > 0)[seed % graph.num_nodes]
    walk, agent = begin([graph], [[int(start)]], "igt", size + 1, seed=seed), RandomAgent()
    for _ in range(size - 1):
        walk = walk.step(walk.best(agent.scores(walk)))
    return walk.nodes[0, :size], walk.candidates.nodes


def _track_compressibility(size: int, walks: int, seed: int) -> tuple[cg.Graph, Int32, CompressibilityTracker]:
    """Return a graph, random walks of `size` nodes on it, and their tracker."""
    graph = cg.generate("rg", nodes=max(50, 4 * size), seed=seed)
    rows = np.stack([_draw_state(graph, size, seed + i)[0] for i in range(walks)])
    return graph, rows, CompressibilityTracker(GraphBatch.of([graph]), rows, np.full(len(rows), size))


def _get_adjacency(graph: cg.Graph, nodes: Any) -> Float64:
    """Return the adjacency matrix of some nodes in the order of visit, which breaks ties of compressibility."""
    places = np.searchsorted(np.sort(nodes), nodes)
    return np.asarray(graph.induced(np.sort(nodes)).to_scipy().toarray()[np.ix_(places, places)], np.float64)


def _call_each(function: Callable[[Float64], Any], matrices: Sequence[Float64]) -> list[Any]:
    return [function(matrix) for matrix in matrices]
