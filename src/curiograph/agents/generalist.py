"""gnn and horizon by their plain names: the shipped agent that was trained on all families, for the reward at hand."""

from __future__ import annotations

from functools import cache

from curiograph.agents.contract import Agent
from curiograph.agents.files import TrainedAgent, load_agent, shipped_agents
from curiograph.errors import AgentError
from curiograph.exploration.batch import Exploration
from curiograph.graph.rows import Float64


class GeneralistAgent(Agent):
    """Acts as the shipped generalist of a kind for whatever reward is explored for."""

    def __init__(self, kind: str) -> None:
        self.name = kind
        self.foresees = kind == "horizon"

    def scores(self, exploration: Exploration) -> Float64:
        return _trained(self.name, exploration.reward.name).scores(exploration)


@cache
def _trained(kind: str, reward: str) -> TrainedAgent:
    name = f"{reward}-all" if kind == "gnn" else f"{reward}-all-{kind}"
    if name not in shipped_agents():
        raise AgentError(f"no {kind} agent was trained for the reward {reward!r}; train one with curiograph train.")
    return load_agent(name)
