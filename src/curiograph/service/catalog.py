"""The agents and rewards that a client may name: built-in and shipped ones, never a path."""

from __future__ import annotations

import re

from curiograph.agents.base import Agent
from curiograph.agents.pretrained import shipped_agents
from curiograph.agents.registry import AGENTS, as_agent
from curiograph.errors import SettingError, UnknownNameError
from curiograph.messages import quote_value
from curiograph.rewards.registry import REWARDS
from curiograph.service.config import Limits

_BEAM = re.compile("beam(?::([0-9]{1,9}))?")
_WIDTHS = {True: 8, False: 256}
"""Of a beam without a number: guided or not."""
_REWARDS = {
    "igt": "information gaps: loops of the visited subgraph that no triangles fill",
    "cpt": "compressibility, in bits, of the random walk on the visited subgraph",
}
_TRAINED = {"paper": "gnn with the published setting", "horizon": "horizon"}


def get_agent(text: str, limits: Limits) -> Agent:
    """The agent that a client means; raises for any name that is not ours, whatever files there are.

    >>> get_agent("beam:4", Limits()).name
    'beam:4'
    >>> get_agent("./agent.safetensors", Limits())
    Traceback (most recent call last):
    curiograph.errors.UnknownNameError: there is no agent './agent.safetensors'; the agents are random, ...
    """
    guide, plus, planner = text.rpartition("+")
    beam = _BEAM.fullmatch(planner)
    known = guide in _plain_agents() if plus and beam else bool(beam) or text in _plain_agents()
    if not known:
        names = ", ".join([*AGENTS, "beam:WIDTH", *shipped_agents()])
        raise UnknownNameError(f"there is no agent {quote_value(text)}; the agents are {names}, HORIZON+beam:WIDTH.")
    width = int(beam[1] or _WIDTHS[bool(plus)]) if beam else 1
    if width > limits.beam:
        raise SettingError(
            f"the beam is {width} wide; at most {limits.beam} is allowed here, as in beam:{limits.beam}."
        )
    return as_agent(text)


def _plain_agents() -> list[str]:
    return [*AGENTS, *shipped_agents()]


def check_reward(text: str) -> str:
    """The reward that a client means."""
    if text not in REWARDS:
        raise UnknownNameError(f"there is no reward {quote_value(text)}; the rewards are {', '.join(REWARDS)}.")
    return text


def describe_agents() -> dict[str, str]:
    """What each agent does, in a line.

    >>> describe_agents()["igt-rg-horizon"]
    'horizon, trained for igt on rg graphs'
    """
    built_in = {name: _first_line(made) for name, made in AGENTS.items()}
    return built_in | {name: _about(name) for name in shipped_agents()}


def describe_rewards() -> dict[str, str]:
    """What each reward is, in a line."""
    return {name: _REWARDS[name] for name in REWARDS}


def _first_line(thing: object) -> str:
    return (thing.__doc__ or "").strip().partition("\n")[0]


def _about(name: str) -> str:
    reward, _, rest = name.partition("-")
    family, _, kind = rest.partition("-")
    graphs = "graphs of all families" if family == "all" else f"{family} graphs"
    return f"{_TRAINED.get(kind, 'gnn')}, trained for {reward} on {graphs}"
