"""Gymnasium policies as agents, and the check of finished walks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from curiograph.agents.base import Agent
from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import AgentError
from curiograph.exploration.mdp import Exploration
from curiograph.messages import quote_value


class GymPolicy(Agent):
    """A Gymnasium policy as an agent: every walk is an episode of `curiograph/Exploration-v0`.

    Parameters
    ----------
    policy : callable
        Takes an observation and returns an action: the position of a candidate, or its row if the observation is
        "subgraph".
    name : str, optional
        Name in tables; that of the function by default.
    **options
        Further arguments of the environment, as for `gymnasium.make`.

    Examples
    --------
    >>> import curiograph as cg
    >>> policy = cg.GymPolicy(lambda observation: observation["action_mask"].argmax(), name="first")
    >>> cg.explore(cg.toys.cycle(5), policy, start=2, steps=3).nodes
    [2, 1, 0]
    """

    def __init__(self, policy: Callable[[Any], Any], name: str | None = None, **options: Any) -> None:
        if not callable(policy):
            raise AgentError(f"{quote_value(policy)} is not a policy; give a function of an observation.")
        self._policy = policy
        self._options = options
        self.name = name or str(getattr(policy, "__name__", type(policy).__name__))

    def scores(self, exploration: Exploration) -> Float64:
        """Raise: a policy chooses a candidate and does not score the others."""
        raise AgentError(f"{self.name!r} is a Gymnasium policy: it chooses a candidate, it does not score them.")

    def run(self, exploration: Exploration) -> Exploration:
        """Run every walk as an episode of the environment, from its start."""
        import gymnasium

        stack = exploration.stack
        environment = gymnasium.make(
            "curiograph/Exploration-v0",
            graph=list(stack.graphs),
            reward=exploration.reward,
            steps=exploration.steps,
            fallback=exploration.fallback,
            disable_env_checker=True,
            **self._options,
        )
        nodes = exploration.nodes.copy()
        lengths = exploration.lengths.copy()
        if np.any(lengths != 1):
            raise AgentError(f"{self.name!r} is a Gymnasium policy: its walks begin at their starts.")
        for walk, index in enumerate(exploration.graph_of):
            first = stack.starts[index]
            start = stack.graphs[index].label(int(nodes[walk, 0] - first))
            observation, info = environment.reset(seed=walk, options={"graph": int(index), "start": start})
            over = not info["action_mask"].any()
            while not over:
                action = self._policy(observation)
                observation, _, terminated, truncated, info = environment.step(action)
                if info["illegal_action"]:
                    raise AgentError(
                        f"policy {self.name!r} chose action {quote_value(action)}, which is not a candidate; choose a "
                        "position where action_mask is 1."
                    )
                nodes[walk, lengths[walk]] = stack.graphs[index].position(info["node"]) + first
                lengths[walk] += 1
                over = terminated or truncated
        environment.close()
        return replay_walks(exploration, nodes, lengths, self.name)


def replay_walks(initial: Exploration, nodes: Int32, lengths: Int64, name: str) -> Exploration:
    """Visit given nodes and compute their rewards; raise if a node is not a candidate or a walk stops too soon.

    >>> from curiograph.exploration.mdp import begin
    >>> from curiograph.graph.toys import cycle
    >>> replay_walks(begin([cycle(4)], [[0]], "igt", 4), np.array([[0, 1, 2, 3]]), np.array([4]), "ring").returns
    array([1.])
    >>> replay_walks(begin([cycle(4)], [[0]], "igt", 4), np.array([[0, 2, 3, 1]]), np.array([4]), "ring")
    Traceback (most recent call last):
    curiograph.errors.AgentError: agent 'ring' visits position 2 as node 2 of walk 0, which is not a candidate.
    """
    current = initial.rows(np.arange(len(initial.lengths)))
    for number in range(int(initial.lengths.max()), initial.steps):
        candidates = current.candidates
        chosen = np.full(len(lengths), -1, np.int64)
        for walk in np.flatnonzero(candidates.counts):
            if lengths[walk] <= number:
                raise AgentError(
                    f"agent {name!r} stops walk {walk} after {int(lengths[walk])} of {initial.steps} nodes, although "
                    "it has candidates; continue until exploration.finished."
                )
            first, last = candidates.offsets[walk], candidates.offsets[walk + 1]
            node = int(nodes[walk, number])
            place = int(first + np.searchsorted(candidates.nodes[first:last], node))
            if place == last or candidates.nodes[place] != node:
                raise AgentError(
                    f"agent {name!r} visits position {node} as node {number + 1} of walk {walk}, which is not a "
                    "candidate."
                )
            chosen[walk] = place
        current = current.step(chosen)
    return current
