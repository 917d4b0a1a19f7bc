"""What an agent is: something that scores the candidates of a batch of walks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from curiograph.arrays import Float64
from curiograph.errors import AgentError
from curiograph.exploration.mdp import Exploration


class Agent(ABC):
    """Scores every candidate; the highest score of a walk is where it goes, ties at random from the seed.

    Your own agent needs a `name` and `scores`; inherit from this class or not.

    >>> class Homebody(Agent):
    ...     name = "homebody"
    ...     def scores(self, exploration):
    ...         return -exploration.candidates.nodes.astype(float)
    """

    name: str = "agent"

    @abstractmethod
    def scores(self, exploration: Exploration) -> Float64:
        """A finite number for each of `exploration.candidates`, higher for better."""

    def run(self, exploration: Exploration) -> Exploration:
        """Walk to the end."""
        while not exploration.finished:
            exploration = exploration.step(exploration.best(score_candidates(self, exploration)))
        return exploration


def score_candidates(agent: Any, exploration: Exploration) -> Float64:
    """The agent's scores, or an `AgentError` that says what is wrong with them."""
    name = getattr(agent, "name", type(agent).__name__)
    scores = agent.scores(exploration)
    wanted = (len(exploration.candidates.nodes),)
    try:
        scores = np.asarray(scores, np.float64)
    except (TypeError, ValueError):
        raise AgentError(f"agent {name!r} gave {scores!r}; it must give one number per candidate.") from None
    if scores.shape != wanted:
        raise AgentError(f"agent {name!r} gave scores of shape {scores.shape}; it must give shape {wanted}.")
    if np.any(np.isnan(scores)):
        raise AgentError(f"agent {name!r} gave NaN for candidate {int(np.flatnonzero(np.isnan(scores))[0])}.")
    return scores
