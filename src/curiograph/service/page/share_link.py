"""Share a walk: encode it as a link, and read such a link."""

from __future__ import annotations

from collections.abc import Hashable
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from curiograph.errors import SettingError, WalkError, quote_value
from curiograph.rewards.reward_names import REWARDS
from curiograph.service.json_labels import encode_label
from curiograph.service.page.walk_session import SharedWalk, WalkSession
from curiograph.service.page.words import AGENTS, YOU
from curiograph.service.server_settings import ServiceSettings
from curiograph.service.store import DEFAULT_GRAPH, GraphStore, OpenGraph

_EXAMPLE_WALK = ("kettle", "steam", "cloud", "rain", "garden", "flower", "rainbow", "sun", "lemon", "tea")
"""Walk that the page opens with, on the default graph: the sun closes a gap, tea opens one."""
_CHOOSERS = {"y": YOU, "e": "example"}
"""Letters of those who choose steps in a link; any other letter is the agent."""
_MAX_LENGTH = 6_000
"""Maximum length of a link with labels; servers and mail programs reject longer ones, which contain positions."""


def build_link(session: WalkSession) -> str:
    """Build the link to a walk, without the host.

    >>> from curiograph.graph.toys import library
    >>> session = WalkSession("toy:library", OpenGraph(library()), "music")
    >>> session.visit("physics")
    >>> build_link(session)
    '/?graph=toy%3Alibrary&agent=planner&reward=igt&seed=0&walk=music&walk=physics&by=y'
    """
    settings: list[tuple[str, object]] = [
        ("graph", session.graph_id),
        ("agent", session.agent),
        ("reward", session.reward),
        ("seed", session.seed),
    ]
    letters = {chooser: letter for letter, chooser in _CHOOSERS.items()}
    choosers = "".join(letters.get(step.by, "a") for step in session.steps[1:])
    by = [("by", choosers)] if choosers else []
    query = urlencode([*settings, *(("walk", encode_label(node)) for node in session.nodes), *by])
    if len(query) > _MAX_LENGTH:
        positions = ".".join(map(str, session.graph.positions(session.nodes).tolist()))
        query = urlencode([*settings, ("at", positions), *by])
    return f"/?{query}"


def read_link(query: QueryParams, graphs: GraphStore, settings: ServiceSettings) -> tuple[OpenGraph, SharedWalk]:
    """Read the graph and the walk of a link, which `open_walk` opens; raise if the link is invalid."""
    graph_id = query.get("graph") or DEFAULT_GRAPH
    agent, reward = query.get("agent") or next(iter(AGENTS)), query.get("reward") or "igt"
    if agent not in AGENTS:
        raise SettingError(f"the page has no agent {quote_value(agent)}; it offers {', '.join(AGENTS)}.")
    if reward not in REWARDS:
        raise SettingError(f"the page has no reward {quote_value(reward)}; it offers {', '.join(REWARDS)}.")
    seed = query.get("seed") or "0"
    if not (seed.isdecimal() and len(seed) < 10):
        raise SettingError(f"the seed is {quote_value(seed)}; give a whole number of at most nine digits.")
    if graph_id not in {info.id for info in graphs.list_graphs()}:
        raise WalkError(f"there is no graph {quote_value(graph_id)} here; choose one of the list.")
    opened = graphs.open(graph_id)
    labels, positions = query.getlist("walk"), [text for text in query.get("at", "").split(".") if text]
    choosers = query.get("by", "")
    if not labels and not positions and graph_id == DEFAULT_GRAPH:
        labels, choosers = list(_EXAMPLE_WALK), "e" * len(_EXAMPLE_WALK)
    length = len(labels or positions)
    if length > settings.steps:
        raise WalkError(f"the shared walk has {length} nodes; at most {settings.steps} are allowed.")
    nodes: list[Hashable] = opened.labels.walk(labels)
    if not labels:
        num_nodes = opened.graph.num_nodes
        for text in positions:
            if not (text.isdecimal() and len(text) < 12 and int(text) < num_nodes):
                raise WalkError(f"the shared walk has a node at {quote_value(text)}; the graph has {num_nodes} nodes.")
        nodes = [opened.graph.label(int(text)) for text in positions]
    num_steps = max(0, len(nodes) - 1)
    by = [_CHOOSERS.get(letter, agent) for letter in choosers.ljust(num_steps, "a")[:num_steps]]
    return opened, SharedWalk(graph_id, agent, reward, int(seed), nodes, by)
