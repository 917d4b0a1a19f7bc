"""From what a user writes (`"igt"`, a function, an object) to a reward, and the contract that each must keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from curiograph.arrays import Int32
from curiograph.errors import RewardError, UnknownNameError
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph, as_graph, require_edges
from curiograph.graph.toys import grid
from curiograph.rewards.base import Reward, Tracker
from curiograph.rewards.cpt import Compressibility
from curiograph.rewards.custom import CallableReward
from curiograph.rewards.igt import InformationGaps
from curiograph.validation import check_seed

RewardLike: TypeAlias = str | Reward | Callable[[Graph], float]

REWARDS: dict[str, Reward] = {"igt": InformationGaps(), "cpt": Compressibility()}


def as_reward(reward: RewardLike) -> Reward:
    """The reward meant by a name, an object or a callable of a subgraph.

    >>> as_reward("igt").name
    'igt'
    >>> as_reward(lambda subgraph: subgraph.num_edges).name
    'lambda'
    """
    if isinstance(reward, str):
        if reward not in REWARDS:
            raise UnknownNameError(
                f"there is no reward {reward!r}; the rewards are {', '.join(REWARDS)}, or any function of a subgraph."
            )
        return REWARDS[reward]
    if isinstance(reward, type):
        raise UnknownNameError(f"{reward.__name__} is a class, not a reward; make one: {reward.__name__}().")
    if isinstance(reward, Reward):
        return reward
    if callable(reward):
        return CallableReward(reward, name=getattr(reward, "__name__", type(reward).__name__).strip("<>"))
    raise UnknownNameError(f"{reward!r} is not a reward; give 'igt', 'cpt' or a function of a subgraph.")


def check_reward(reward: RewardLike, graph: Graph | None = None, *, seed: int = 0) -> None:
    """Raise `RewardError` unless a reward keeps its contract: run this on your own.

    On random sets of nodes of `graph` (a 4 x 4 grid by default) it must give finite numbers, the same for the same set
    in any order of visit, the same again when asked twice, and the same for `S + v` as for S grown by v.

    >>> check_reward("cpt")
    >>> check_reward(lambda subgraph: float("nan"))
    Traceback (most recent call last):
    curiograph.errors.RewardError: reward 'lambda' returned nan on the subgraph of ...
    """
    reward = as_reward(reward)
    graph = grid(4, 4) if graph is None else as_graph(graph)
    require_edges(graph)
    stack = GraphBatch.of([graph])
    rng = np.random.default_rng(check_seed(seed))
    for _ in range(20):
        size = int(rng.integers(1, min(12, graph.num_nodes)))
        nodes = rng.permutation(graph.num_nodes)[: size + 1].astype(np.int32)
        _check_one(reward, stack, nodes, rng)


def _check_one(reward: Reward, stack: GraphBatch, nodes: Int32, rng: np.random.Generator) -> None:
    size = len(nodes) - 1
    where = f"on the nodes at positions {nodes.tolist()}"
    row = nodes[None, :]
    one = np.array([0, 1])
    tracker = reward.track(stack, row, np.array([size]))
    if not isinstance(tracker, Tracker):
        raise RewardError(f"reward {reward.name!r}: track returned {tracker!r}; it must return a Tracker.")
    ahead = tracker.candidate_values(one, nodes[-1:])
    again = tracker.candidate_values(one, nodes[-1:])
    if np.shape(ahead) != (1,) or not np.all(np.isfinite(ahead)):
        raise RewardError(f"reward {reward.name!r} gave {ahead!r} {where}; it must give a finite number per candidate.")
    if not np.array_equal(ahead, again):
        raise RewardError(f"reward {reward.name!r} gave {ahead[0]} and then {again[0]} {where}; it must not change.")
    tracker.advance(nodes[-1:])
    grown = tracker.values()
    if not np.allclose(grown, ahead, rtol=1e-9, atol=1e-9):
        raise RewardError(f"reward {reward.name!r} foresaw {ahead[0]} but gives {grown[0]} {where}; they must agree.")
    shuffled = reward.track(stack, rng.permuted(row, axis=1), np.array([size + 1])).values()
    if not np.allclose(shuffled, grown, rtol=1e-9, atol=1e-9):
        raise RewardError(
            f"reward {reward.name!r} gives {grown[0]} in one order of visit and {shuffled[0]} in another {where}; "
            "it must depend on the set of visited nodes alone."
        )
