"""horizon by its plain name: the shipped agent that was trained on all families, for the reward at hand."""

from __future__ import annotations

from functools import cache

from curiograph.agents.base import Agent
from curiograph.agents.pretrained import TrainedAgent, load_agent, shipped_agents
from curiograph.arrays import Float64
from curiograph.errors import AgentError
from curiograph.exploration.mdp import Exploration


class GeneralistAgent(Agent):
    """Acts as the shipped generalist for whatever reward is explored for."""

    name = "horizon"
    foresees = True

    def scores(self, exploration: Exploration) -> Float64:
        return _trained(exploration.reward.name).scores(exploration)


@cache
def _trained(reward: str) -> TrainedAgent:
    name = f"{reward}-all-horizon"
    if name not in shipped_agents():
        raise AgentError(f"no horizon agent was trained for the reward {reward!r}; train one with curiograph train.")
    return load_agent(name)
