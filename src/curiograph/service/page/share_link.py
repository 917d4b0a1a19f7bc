"""A walk as an address: whoever opens it sees the same walk."""

from __future__ import annotations

from collections.abc import Hashable
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from curiograph.errors import SettingError, WalkError
from curiograph.messages import quote_value
from curiograph.rewards.registry import REWARDS
from curiograph.service.config import Limits
from curiograph.service.graph_store import GraphStore
from curiograph.service.labels import Labels, encode_label
from curiograph.service.page.walk_session import YOU, WalkSession, choose_start

PAGE_AGENTS = ("greedy", "horizon", "beam:16", "random", "max-degree", "min-degree")
"""Agents that the page offers."""
_LONGEST = 6_000
"""Characters of an address that names its nodes; servers and mail refuse long ones, so beyond it gives positions."""


def build_link(walking: WalkSession) -> str:
    """The address of a walk, without the host.

    >>> from curiograph.graph.toys import library
    >>> walking = WalkSession("toy:library", library(), "music")
    >>> walking.take("physics")
    >>> build_link(walking)
    '/?graph=toy%3Alibrary&agent=greedy&reward=igt&seed=0&walk=music&walk=physics&by=y'
    """
    parts: list[tuple[str, object]] = [
        ("graph", walking.graph_id),
        ("agent", walking.agent),
        ("reward", walking.reward),
        ("seed", walking.seed),
    ]
    by = "".join("y" if taken.by == YOU else "a" for taken in walking.taken[1:])
    who = [("by", by)] if by else []
    named = urlencode([*parts, *(("walk", encode_label(node)) for node in walking.nodes), *who])
    if len(named) <= _LONGEST:
        return f"/?{named}"
    places = ".".join(map(str, walking.graph.positions(walking.nodes).tolist()))
    return "/?" + urlencode([*parts, ("at", places), *who])


def open_link(query: QueryParams, shelf: GraphStore, limits: Limits) -> WalkSession:
    """The walk that an address shares; a new one where it says nothing. Raises a sentence for what cannot be."""
    graph_id = query.get("graph") or shelf.first
    agent, reward = query.get("agent") or PAGE_AGENTS[0], query.get("reward") or "igt"
    if agent not in PAGE_AGENTS:
        raise SettingError(f"the page has no agent {quote_value(agent)}; it offers {', '.join(PAGE_AGENTS)}.")
    if reward not in REWARDS:
        raise SettingError(f"the page has no reward {quote_value(reward)}; it offers {', '.join(REWARDS)}.")
    seed = query.get("seed") or "0"
    if not (seed.isdecimal() and len(seed) < 10):
        raise SettingError(f"the seed is {quote_value(seed)}; it is a whole number of at most nine digits.")
    graph = shelf.graph(graph_id)
    nodes = _nodes(query, shelf.labels(graph_id), limits) or [choose_start(graph)]
    begun = WalkSession(graph_id, graph, nodes[0], agent, reward, int(seed))
    if len(nodes) == 1:
        return begun
    by = query.get("by", "").ljust(len(nodes) - 1, "a")
    return WalkSession.replayed(begun, nodes[1:], [YOU if who == "y" else agent for who in by[: len(nodes) - 1]])


def _nodes(query: QueryParams, labels: Labels, limits: Limits) -> list[Hashable]:
    """The nodes that an address names, or gives by their positions."""
    named, places = query.getlist("walk"), [text for text in query.get("at", "").split(".") if text]
    count = len(named or places)
    if count > limits.steps:
        raise WalkError(f"the shared walk has {count} nodes; at most {limits.steps} are taken.")
    if named:
        return labels.walk(named)
    count = labels.graph.num_nodes
    for place in places:
        if not (place.isdecimal() and len(place) < 12 and int(place) < count):
            raise WalkError(f"the shared walk has a node at {quote_value(place)}; the graph has {count} nodes.")
    return [labels.graph.label(int(place)) for place in places]
