"""Speed of the Gymnasium environments: steps of the native vector environment against gymnasium's SyncVectorEnv."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from gymnasium.vector import SyncVectorEnv, VectorEnv

from benchmarks.report import Result, compare_with_limit, compare_with_peer
from benchmarks.timing import time_medians
from curiograph.exploration.gym_env import ExplorationEnv
from curiograph.exploration.gym_vector_env import ExplorationVectorEnv
from curiograph.graph.generators import generate

NUM_ENVS = 256


def measure_environments(seed: int, quick: bool) -> list[Result]:
    """Time steps of 256 environments with legal actions, igt, 50 nodes, walks of 10; resets included."""
    graph, results = generate("rg", seed=seed), []
    for observation in ("walk", "subgraph"):
        kwargs: dict[str, Any] = {"graph": graph, "reward": "igt", "steps": 10, "observation": observation}
        native = ExplorationVectorEnv(NUM_ENVS, **kwargs)
        peer = SyncVectorEnv([partial(ExplorationEnv, **kwargs)] * NUM_ENVS)
        calls = 10 if quick else 50
        actions = record_actions(native, seed, calls)
        ours, peers = time_medians(
            partial(replay_actions, native, seed, actions),
            partial(replay_actions, peer, seed, actions),
            repeats=1 if quick else 5,
        )
        each, peers_each = ours / (calls * NUM_ENVS), peers / (calls * NUM_ENVS)
        what = f'a step of {NUM_ENVS} environments, observation "{observation}"'
        results.append(compare_with_peer(what, f"{1 / each:,.0f} steps/s", each, "SyncVectorEnv", peers_each, 10.0))
        if observation == "walk":
            results.append(compare_with_limit(what, "100,000 steps/s", each, 1e-5))
    return results


def record_actions(envs: VectorEnv[Any, Any, Any], seed: int, calls: int) -> list[Any]:
    """Return random legal actions of some steps; an environment that restarts ignores its action."""
    rng = np.random.default_rng(seed)
    observation, _ = envs.reset(seed=seed)
    actions = []
    for _ in range(calls):
        mask = observation["action_mask"]
        actions.append(np.argmax(mask * rng.random(mask.shape), axis=1))
        observation, *_ = envs.step(actions[-1])
    return actions


def replay_actions(envs: VectorEnv[Any, Any, Any], seed: int, actions: list[Any]) -> None:
    """Reset all environments and take the recorded actions."""
    envs.reset(seed=seed)
    for each in actions:
        envs.step(each)
