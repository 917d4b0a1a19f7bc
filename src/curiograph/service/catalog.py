"""The agents and rewards that a client may name: built-in and shipped ones, never a path."""

from __future__ import annotations

import re

from curiograph.agents.base import Agent
from curiograph.agents.beam import BeamAgent
from curiograph.agents.pretrained import shipped_agents
from curiograph.agents.registry import AGENTS, as_agent
from curiograph.errors import SettingError, UnknownNameError
from curiograph.messages import quote_value
from curiograph.rewards.registry import as_reward
from curiograph.service.config import Limits

_BEAM = re.compile("beam(:[0-9]{1,9})?")
_PLANNER = re.compile("((?:[a-z]+-)*planner):[0-9]{1,9}")
REWARD_DESCRIPTIONS = {
    "igt": "information gaps: loops of links between visited nodes that no triangles fill",
    "cpt": "compressibility, in bits, of the random walk on the visited subgraph",
    "cct": "conformational change: how freely the visited network could move if its links were rigid bars",
}
_TRAINED = {"paper": "gnn with the published setting", "planner": "planner"}
_DESCRIPTIONS = {
    "planner": "Looks several steps ahead, with exact rewards, and estimates what comes after.",
    "beam": "Beam search over whole walks with exact rewards.",
}
"""Descriptions of agents whose classes document how they work instead of what they do."""


def get_agent(name: str, limits: Limits) -> Agent:
    """Return the agent with this name; raise for any name that is not built-in or shipped, such as a path.

    >>> get_agent("beam:4", Limits()).name
    'beam:4'
    >>> get_agent("./agent.safetensors", Limits())
    Traceback (most recent call last):
    curiograph.errors.UnknownNameError: there is no agent './agent.safetensors'; the agents are random, ...
    """
    agents = [*AGENTS, *shipped_agents()]
    named = _PLANNER.fullmatch(name)
    if not (name in agents or _BEAM.fullmatch(name) or (named is not None and named[1] in agents)):
        names = ", ".join([*AGENTS, "beam:WIDTH", "planner:WIDTH", *shipped_agents()])
        raise UnknownNameError(f"there is no agent {quote_value(name)}; the agents are {names}.")
    agent = as_agent(name)
    if isinstance(agent, BeamAgent) and agent.width > limits.beam:
        raise SettingError(
            f"the beam is {agent.width} wide; at most {limits.beam} is allowed here, as in beam:{limits.beam}."
        )
    return agent


def check_reward(name: str) -> str:
    """Return the full name of a reward or a sum of rewards; raise if there is none with this name.

    >>> check_reward("cpt + igt")
    'igt+cpt'
    """
    return as_reward(name).name


def describe_agents() -> dict[str, str]:
    """Describe each agent in one line.

    >>> describe_agents()["igt-rg-planner"]
    'planner, trained for igt on rg graphs'
    """
    summaries = {name: (agent.__doc__ or "").strip().partition("\n")[0] for name, agent in AGENTS.items()}
    descriptions = summaries | _DESCRIPTIONS
    for name in shipped_agents():
        reward, _, rest = name.partition("-")
        family, _, kind = rest.partition("-")
        graphs = "graphs of all families" if family == "all" else f"{family} graphs"
        descriptions[name] = f"{_TRAINED.get(kind, 'gnn')}, trained for {reward} on {graphs}"
    return descriptions
