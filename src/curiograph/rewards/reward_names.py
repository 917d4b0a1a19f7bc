"""Look up rewards by name, wrap callables, and check that a reward fulfills the contract."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeAlias

import numpy as np

from curiograph.errors import RewardError, UnknownNameError, quote_value
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph, as_graph, require_edges
from curiograph.graph.toys import grid
from curiograph.rewards.cct import ConformationalChange
from curiograph.rewards.combined import combine_rewards
from curiograph.rewards.cpt import Compressibility
from curiograph.rewards.custom import CallableReward
from curiograph.rewards.igt import InformationGaps
from curiograph.rewards.reward import Reward, Tracker
from curiograph.validation import check_seed

RewardLike: TypeAlias = str | Reward | Callable[[Graph], float] | Mapping[Any, float]

REWARDS: dict[str, Reward] = {"igt": InformationGaps(), "cpt": Compressibility(), "cct": ConformationalChange()}

_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_TERM = re.compile(rf"\s*([+-])\s*(?:({_NUMBER})\s*\*\s*)?([A-Za-z_]\w*)\s*", re.ASCII)


def as_reward(reward: RewardLike) -> Reward:
    """Return the reward given by a name, a weighted sum, a reward object or a callable of a subgraph.

    Parameters
    ----------
    reward : str, mapping, Reward or callable
        "igt", "cpt" or "cct"; a sum of these, each with an optional weight before it, such as "igt+cpt", "igt+0.5*cpt"
        or "2*igt-cpt"; a mapping of rewards to weights, such as `{"igt": 1.0, "cpt": 0.5}`, whose keys may also be
        reward objects and callables; a reward object, which is returned as it is; or a function of the visited
        subgraph.

    Returns
    -------
    Reward
        The reward. Its name identifies it: `as_reward(r.name)` returns the same built-in reward or sum of these.

    Examples
    --------
    >>> as_reward("igt").name
    'igt'
    >>> as_reward("0.5 * cpt + igt").name, as_reward({"igt": 1.0, "cpt": 0.5}).name
    ('igt+0.5*cpt', 'igt+0.5*cpt')
    >>> as_reward(lambda subgraph: subgraph.num_edges).name
    'lambda'
    """
    if isinstance(reward, str):
        return REWARDS[reward] if reward in REWARDS else parse_sum(reward)
    if isinstance(reward, type):
        raise UnknownNameError(f"{reward.__name__} is a class, not a reward; make one: {reward.__name__}().")
    if isinstance(reward, Mapping):
        return combine_rewards((weight, as_reward(each)) for each, weight in reward.items())
    if isinstance(reward, Reward):
        return reward
    if callable(reward):
        return CallableReward(reward, name=getattr(reward, "__name__", type(reward).__name__).strip("<>"))
    raise UnknownNameError(
        f"{quote_value(reward)} is not a reward; give {', '.join(map(repr, REWARDS))} or a function of a subgraph."
    )


def parse_sum(text: str) -> Reward:
    """Parse a weighted sum of named rewards: terms joined by + or -, each a name or NUMBER*NAME."""
    rest = text if text.lstrip()[:1] in ("+", "-") else f"+{text}"
    terms: list[tuple[float, Reward]] = []
    while rest:
        term = _TERM.match(rest)
        if term is None or term[3] not in REWARDS:
            raise UnknownNameError(
                f"there is no reward {quote_value(text if term is None else term[3])}; the rewards are "
                f"{', '.join(REWARDS)}, a weighted sum such as igt+0.5*cpt, or any function of a subgraph."
            )
        terms.append((float(f"{term[1]}{term[2] or 1}"), REWARDS[term[3]]))
        rest = rest[term.end() :]
    return combine_rewards(terms)


def check_reward(reward: RewardLike, graph: Graph | None = None, *, seed: int = 0) -> None:
    """Check that a reward fulfills the contract; use this to test your own rewards.

    For random walks, the reward must return finite numbers, be deterministic, return the same value for a candidate
    S + v as for S after v was visited, and not depend on the order of visit. A tracker whose attribute
    `depends_on_order` is True may depend on it, but must return the same value for a walk given at once as for one
    that grew node by node.

    Parameters
    ----------
    reward : str, mapping, Reward or callable
        The reward to check, as for `as_reward`.
    graph : Graph, optional
        The graph to check it on; a 4 x 4 grid by default.
    seed : int
        Seed of the random walks.

    Raises
    ------
    RewardError
        If the contract is violated; the message describes how.

    Examples
    --------
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

    def fail(problem: str) -> NoReturn:
        raise RewardError(f"reward {reward.name!r} {problem} on the nodes at positions {nodes.tolist()}.")

    def check_equal(first: Any, second: Any, when: str) -> None:
        if not np.allclose(first, second, rtol=1e-9, atol=1e-9):
            fail(f"returned {np.ravel(first)[0]} and {np.ravel(second)[0]} {when}")

    for _ in range(20):  # a walk, whose last node is first evaluated as a candidate
        size = int(rng.integers(1, min(12, graph.num_nodes)))
        nodes = rng.permutation(graph.num_nodes)[: size + 1].astype(np.int32)
        row, one, length = nodes[None, :], np.array([0, 1]), np.array([len(nodes)])
        tracker = reward.track(stack, row, length - 1)
        if not isinstance(tracker, Tracker):
            fail(f"tracks walks by {tracker!r}, which is no Tracker,")
        value = tracker.candidate_values(one, nodes[-1:])
        if np.shape(value) != (1,) or not np.all(np.isfinite(value)):
            fail(f"returned {value!r}, which is not a finite number per candidate,")
        if not np.array_equal(value, tracker.candidate_values(one, nodes[-1:])):
            fail("returned different values for the same candidate")
        tracker.advance(nodes[-1:])
        grown = tracker.values()
        check_equal(value, grown, "for a candidate and after the step")
        if tracker.depends_on_order:
            replayed = reward.track(stack, row, np.array([1]))
            for node in nodes[1:]:
                replayed.advance(np.array([node], np.int32))
            check_equal(grown, replayed.values(), "for a walk at once and node by node")
        else:
            shuffled = reward.track(stack, rng.permuted(row, axis=1), length).values()
            check_equal(grown, shuffled, "for two orders of visit, without depends_on_order = True in its tracker,")
