"""The agent contract: score the candidates of a batch of walks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from curiograph.arrays import Float64
from curiograph.errors import AgentError, quote_value
from curiograph.exploration.mdp import Exploration


class Agent(ABC):
    """Scores candidates; a walk visits the candidate with the highest score, ties are broken at random.

    A custom agent needs a `name` and a method `scores`; inheriting from this class is optional. Many walks advance
    together, for the reward `exploration.reward`.

    Examples
    --------
    >>> import curiograph as cg
    >>> class LowestPosition(Agent):
    ...     name = "lowest-position"
    ...     def scores(self, exploration):
    ...         return -exploration.candidates.nodes.astype(float)
    >>> cg.explore(cg.toys.grid(3, 3), LowestPosition(), start=(1, 1), steps=3).nodes
    [(1, 1), (0, 1), (0, 0)]
    """

    name: str = "agent"
    """Name used in tables and files."""

    @abstractmethod
    def scores(self, exploration: Exploration) -> Float64:
        """Return a finite number for each of `exploration.candidates`; higher is better."""

    def run(self, exploration: Exploration) -> Exploration:
        """Run the walks to the end and return the finished exploration."""
        while not exploration.finished:
            exploration = exploration.step(exploration.best(score_candidates(self, exploration)))
        return exploration


def score_candidates(agent: Any, exploration: Exploration) -> Float64:
    """Return the agent's scores of all candidates; raise `AgentError` if they are malformed."""
    name = getattr(agent, "name", type(agent).__name__)
    scores = agent.scores(exploration)
    expected = (len(exploration.candidates.nodes),)
    try:
        scores = np.asarray(scores, np.float64)
    except (TypeError, ValueError):
        raise AgentError(f"agent {name!r} returned {scores!r}; it must return one number per candidate.") from None
    if scores.shape != expected:
        raise AgentError(f"agent {name!r} returned scores of shape {scores.shape}; the shape must be {expected}.")
    if np.any(np.isnan(scores)):
        raise AgentError(f"agent {name!r} returned NaN for candidate {int(np.flatnonzero(np.isnan(scores))[0])}.")
    return scores


def replay_walks(agent: str, initial: Exploration, ended: Any) -> Exploration:
    """Repeat the walks with which an agent ended `initial`, step by step; raise `AgentError` if one is not allowed."""
    if not isinstance(ended, Exploration) or ended.nodes.shape != initial.nodes.shape:
        raise AgentError(f"agent {agent!r}: run returned {ended!r}; it must return the finished exploration.")
    current, rows = initial.rows(np.arange(len(initial.lengths))), np.arange(len(initial.lengths))
    while not current.finished:
        candidates, size = current.candidates, int(current.stack.starts[-1])
        keys = candidates.walks * size + candidates.nodes  # ascending: candidates are sorted within each walk
        nodes = ended.nodes[rows, np.minimum(current.lengths, ended.nodes.shape[1] - 1)]
        places = np.minimum(np.searchsorted(keys, rows * size + nodes), len(keys) - 1)
        moving = candidates.counts > 0
        wrong = moving & ((keys[places] != rows * size + nodes) | (ended.lengths <= current.lengths))
        if np.any(wrong):
            walk = int(np.flatnonzero(wrong)[0])
            found = quote_value(ended.nodes[walk, : ended.lengths[walk]].tolist())
            raise AgentError(
                f"agent {agent!r}: walk {walk} is {found}; a walk visits candidates only, and continues until "
                "none is left."
            )
        current = current.step(np.where(moving, places, -1))
    return current
