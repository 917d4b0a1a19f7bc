"""A walk as an address: whoever opens it sees the same walk."""

from __future__ import annotations

from collections.abc import Hashable
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from curiograph.errors import SettingError, WalkError
from curiograph.graph.storage import quoted
from curiograph.rewards.registry import REWARDS
from curiograph.service.labels import Labels, shown
from curiograph.service.limits import Limits
from curiograph.service.page.walking import YOU, Walking, first_start
from curiograph.service.shelf import Shelf

AGENTS = ("greedy", "horizon", "beam:16", "random", "max-degree", "min-degree")
"""Agents that the page offers."""


def address(walking: Walking) -> str:
    """The address of a walk, without the host.

    >>> from curiograph.graph.toys import library
    >>> walking = Walking("toy:library", library(), "music")
    >>> walking.take("physics")
    >>> address(walking)
    '/?graph=toy%3Alibrary&agent=greedy&reward=igt&seed=0&walk=music&walk=physics&by=y'
    """
    parts: list[tuple[str, object]] = [
        ("graph", walking.graph_id),
        ("agent", walking.agent),
        ("reward", walking.reward),
        ("seed", walking.seed),
    ]
    parts += [("walk", shown(node)) for node in walking.nodes]
    by = "".join("y" if taken.by == YOU else "a" for taken in walking.taken[1:])
    return "/?" + urlencode([*parts, *([("by", by)] if by else [])])


def walking_at(query: QueryParams, shelf: Shelf, limits: Limits) -> Walking:
    """The walk that an address shares; a new one where it says nothing. Raises a sentence for what cannot be."""
    graph_id = query.get("graph") or shelf.first
    agent, reward = query.get("agent") or AGENTS[0], query.get("reward") or "igt"
    if agent not in AGENTS:
        raise SettingError(f"the page has no agent {quoted(agent)}; it offers {', '.join(AGENTS)}.")
    if reward not in REWARDS:
        raise SettingError(f"the page has no reward {quoted(reward)}; it offers {', '.join(REWARDS)}.")
    seed = query.get("seed") or "0"
    if not (seed.isdecimal() and len(seed) < 10):
        raise SettingError(f"the seed is {quoted(seed)}; it is a whole number of at most nine digits.")
    graph = shelf.graph(graph_id)
    given = query.getlist("walk")
    if len(given) > limits.steps:
        raise WalkError(f"the shared walk has {len(given)} nodes; at most {limits.steps} are taken.")
    nodes: list[Hashable] = Labels(graph).walk(given) if given else [first_start(graph)]
    begun = Walking(graph_id, graph, nodes[0], agent, reward, int(seed))
    if len(nodes) == 1:
        return begun
    by = query.get("by", "").ljust(len(nodes) - 1, "a")
    return Walking.replayed(begun, nodes[1:], [YOU if who == "y" else agent for who in by[: len(nodes) - 1]])
