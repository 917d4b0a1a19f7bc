"""CPU time per decision of agents, measured in turns on one thread."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from curiograph.agents.base import Agent
from curiograph.errors import AgentError
from curiograph.exploration.mdp import Exploration
from curiograph.messages import quote_value

_WARMUP_WALKS = 2


@dataclass(frozen=True, eq=False)
class TimedRun:
    """Finished walks of an agent, and the time that they took."""

    walks: Exploration
    """The finished walks."""
    seconds: float
    """Median CPU time per decision."""


def time_decisions(
    agents: Mapping[str, Agent], walks: Exploration, repeats: int = 3, enough: float = float("inf")
) -> dict[str, TimedRun]:
    """Run the same walks with every agent and measure the CPU time of the process per decision, on one thread.

    Agents take turns, so that a slowdown of the machine affects all of them. All kernels are compiled and all graphs
    are prepared before the first measurement.

    Parameters
    ----------
    agents : mapping of str to Agent
        The agents by name.
    walks : Exploration
        The walks at their starts.
    repeats : int
        Number of measurements, of which the median is taken.
    enough : float
        An agent that takes more than this many seconds per decision is measured once.

    Returns
    -------
    dict of str to TimedRun
        Finished walks and seconds per decision by name.

    Examples
    --------
    >>> from curiograph.agents.heuristics import RandomAgent
    >>> from curiograph.exploration.mdp import begin
    >>> from curiograph.graph.toys import cycle
    >>> timed = time_decisions({"random": RandomAgent()}, begin([cycle(5)], [[0, 1]], "igt", steps=4), repeats=1)
    >>> timed["random"].walks.lengths, timed["random"].seconds > 0
    (array([4, 4]), True)
    """
    from threadpoolctl import threadpool_limits

    count = len(walks.lengths)
    finished: dict[str, Exploration] = {}
    seconds: dict[str, list[float]] = {name: [] for name in agents}
    with threadpool_limits(1):
        for agent in agents.values():
            agent.run(walks.rows(np.arange(min(count, _WARMUP_WALKS))))
        for turn in range(repeats):
            for name, agent in agents.items():
                if turn and seconds[name][0] > enough:
                    continue
                batch = walks.rows(np.arange(count))
                start = time.process_time()
                ended: Any = agent.run(batch)
                spent = time.process_time() - start
                if not isinstance(ended, Exploration) or ended.lengths.shape != walks.lengths.shape:
                    raise AgentError(
                        f"agent {agent.name!r}: run must return the finished exploration of all {count} walks, not "
                        f"{quote_value(ended)}."
                    )
                finished.setdefault(name, ended)
                decisions = max(1, int((finished[name].lengths - walks.lengths).sum()))
                seconds[name].append(spent / decisions)
    return {name: TimedRun(walks=finished[name], seconds=statistics.median(seconds[name])) for name in agents}
