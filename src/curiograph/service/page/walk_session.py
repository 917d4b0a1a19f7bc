"""The walk of a visitor: who chose each step, its growth, and its layout. Independent of the browser.

The functions at the end are called in worker processes, with the graph as the first argument.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from curiograph.agents.explore import explore
from curiograph.arrays import Float64
from curiograph.errors import WalkError
from curiograph.exploration.mdp import list_starts, locate_start
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph, require_edges
from curiograph.growth.gap_loops import gap_loops
from curiograph.growth.measure import measure
from curiograph.growth.records import Gap, Growth
from curiograph.rewards.cpt import CompressibilityTracker
from curiograph.service.page.layout import extend_layout
from curiograph.service.page.words import AGENTS, MOTIVES, YOU
from curiograph.service.schemas import encode_number
from curiograph.service.step_view import MAX_COMPRESSED_NODES, StepView, view_step
from curiograph.service.store import OpenGraph

COMPARED_AGENTS = (("greedy", "igt"), ("planner", "igt"), ("greedy", "cpt"), ("planner", "cpt"), ("random", "igt"))
"""Agents, with their rewards, whose walks from the same start a walk is compared with."""

MAX_COMPARED = 40
"""Maximum number of nodes of a walk for comparing agents, and for the percentiles of choices in a shared walk."""


@dataclass(frozen=True)
class WalkStep:
    """One step of a walk."""

    node: Hashable
    by: str
    """`start`, `you`, `example`, or the name of an agent."""
    percentiles: dict[str, float] = field(default_factory=dict)
    """Percentile of the choice by motive, 1 is best; empty for the start."""


@dataclass(frozen=True)
class SharedWalk:
    """A walk as a link describes it."""

    graph_id: str
    agent: str
    reward: str
    seed: int = 0
    nodes: Sequence[Hashable] = ()
    """Labels in order of visit; none for a new walk from the default start."""
    by: Sequence[str] = ()
    """Who chose each node after the first, as in `WalkStep`."""


class WalkSession:
    """A walk that can be extended and undone. An operation that fails leaves it unchanged.

    Parameters
    ----------
    graph_id : str
        Id of the graph in the store.
    opened : OpenGraph
        The graph. The walk keeps it, also after the store has replaced or removed it.
    start : hashable
        Label of the first node.
    agent : str, default="planner"
        Agent that chooses steps.
    reward : str, default="igt"
        Reward of the agent.
    seed : int, default=0
        Seed for ties.

    Examples
    --------
    >>> from curiograph.graph.toys import library
    >>> session = WalkSession("toy:library", OpenGraph(library()), "music")
    >>> session.visit("physics")
    >>> session.advance()
    >>> [step.by for step in session.steps], len(session.coordinates)
    (['start', 'you', 'planner'], 3)
    """

    steps: list[WalkStep]
    """The start and every step since."""
    view: StepView
    """Candidates for the next step."""
    bits: list[float]
    """Compressibility after every step."""
    growth: Growth
    """Growth of the walk, without compressibility."""
    loops: list[tuple[Gap, list[Hashable]]]
    """Every gap, with a loop around it."""
    edges: list[tuple[int, int]]
    """Links between visited nodes, as pairs of step indices, the earlier first."""
    coordinates: Float64
    """Coordinates of the visited nodes in the picture; further steps do not change them."""

    def __init__(
        self,
        graph_id: str,
        opened: OpenGraph,
        start: Hashable,
        agent: str = "planner",
        reward: str = "igt",
        seed: int = 0,
    ) -> None:
        self.graph_id, self.opened, self.agent, self.reward, self.seed = graph_id, opened, agent, reward, seed
        self.restart(start)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for another process, which opens the graph itself."""
        return {name: value for name, value in vars(self).items() if name != "opened"}

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self.opened.graph

    def replay(self, nodes: Sequence[Hashable], by: Sequence[str]) -> None:
        """Append the steps of a shared walk, each chosen by `you` or by an agent.

        >>> from curiograph.graph.toys import library
        >>> session = WalkSession("toy:library", OpenGraph(library()), "music")
        >>> session.replay(["physics", "logic"], ["you", "greedy"])
        >>> session.compute_agreement()["degree"]
        0.83...
        """
        walk = [*self.nodes, *nodes]
        view = self._view(walk, self.agent, self.reward)
        steps = []
        for length, (node, chooser) in enumerate(zip(nodes, by, strict=True), start=len(self.steps)):
            percentiles = {}
            if chooser == YOU and len(walk) <= MAX_COMPARED:
                before = view_step(self.graph, walk[:length], "random", seed=self.seed)
                percentiles = before.compute_percentiles(node) if node in before.nodes else {}
            steps.append(WalkStep(node, chooser, percentiles))
        self.steps = [*self.steps, *steps]
        self.view = view
        first = walk[:MAX_COMPRESSED_NODES]
        prefixes = np.tile(self.graph.positions(first), (len(first), 1)), np.arange(1, len(first) + 1)
        self.bits = CompressibilityTracker(GraphBatch.of([self.graph]), *prefixes).values().tolist()  # the reward cpt
        self.bits += [np.nan] * (len(walk) - len(first))
        self._update_growth()

    @property
    def nodes(self) -> list[Hashable]:
        """Labels in order of visit."""
        return [step.node for step in self.steps]

    def advance(self) -> None:
        """Let the agent choose the next node; raise WalkError if there is no candidate."""
        if self.view.choice is None:
            raise WalkError(
                f"the walk ends here: the {len(self.steps)} visited nodes have no unvisited neighbors; undo or restart."
            )
        self._append(self.view.choice, self.agent)

    def visit(self, node: Hashable) -> None:
        """Visit a candidate chosen by the visitor."""
        self._append(node, YOU)

    def _append(self, node: Hashable, by: str) -> None:
        step = WalkStep(node, by, self.view.compute_percentiles(node))
        view = self._view([*self.nodes, node], self.agent, self.reward)
        self.steps, self.view, self.bits = [*self.steps, step], view, [*self.bits, view.cpt]
        self._update_growth()

    def undo(self) -> None:
        """Undo the last step; the start remains."""
        if len(self.steps) > 1:
            self.view = self._view(self.nodes[:-1], self.agent, self.reward)
            self.steps, self.bits = self.steps[:-1], self.bits[:-1]
            self._update_growth()

    def restart(self, start: Hashable) -> None:
        """Start a new walk; raise if no walk can start there."""
        locate_start(self.graph, start, "frontier")
        view = self._view([start], self.agent, self.reward)
        self.steps, self.view, self.bits = [WalkStep(start, "start")], view, [view.cpt]
        self.coordinates = np.zeros((1, 2))
        self._update_growth()

    def set_agent(self, agent: str, reward: str) -> None:
        """Continue the walk with another agent or reward."""
        self.view = self._view(self.nodes, agent, reward)
        self.agent, self.reward = agent, reward

    def _view(self, nodes: Sequence[Hashable], agent: str, reward: str) -> StepView:
        return view_step(self.graph, nodes, agent, reward, seed=self.seed)

    def _update_growth(self) -> None:
        self.growth = measure(self.graph, self.nodes, compressibility=False)
        self.loops = list(zip(self.growth.gaps, gap_loops(self.graph, self.nodes), strict=True))
        positions = self.graph.positions(self.nodes)
        order = np.argsort(positions)
        subgraph = self.graph.skeleton.induced(positions[order])
        pairs = np.column_stack([np.repeat(np.arange(len(order)), np.diff(subgraph.indptr)), subgraph.indices])
        self.edges = sorted((a, b) for a, b in order[pairs].tolist() if a < b)
        count = len(self.steps)
        self.coordinates = extend_layout(self.coordinates[:count], self.edges, count)

    def compute_returns(self) -> tuple[float, float]:
        """Compute the returns of this walk for igt and cpt."""
        return float(self.growth.beta1[1:].sum()), float(np.nansum(self.bits[1:]))

    def compute_agreement(self) -> dict[str, float]:
        """Compute the mean percentile of the visitor's choices by motive, 1 is best; empty if there are none."""
        choices = [step.percentiles for step in self.steps if step.by == YOU]
        agreement = {}
        for motive in dict.fromkeys(name for percentiles in choices for name in percentiles):
            values = [each[motive] for each in choices if motive in each and not np.isnan(each[motive])]
            if values:
                agreement[motive] = float(np.mean(values))
        return agreement

    def to_dict(self) -> dict[str, object]:
        """Return the walk and its growth as plain values."""
        igt, cpt = self.compute_returns()
        return {
            "graph": self.graph_id,
            "agent": self.agent,
            "reward": self.reward,
            "seed": self.seed,
            "nodes": self.nodes,
            "by": [step.by for step in self.steps],
            "beta1": self.growth.beta1.tolist(),
            "compressibility": [encode_number(value) for value in self.bits],
            "gaps": [
                {"opened_by": gap.opened_by, "closed_by": gap.closed_by, "loop": loop} for gap, loop in self.loops
            ],
            "return": {"igt": igt, "cpt": cpt},
            "agreement": self.compute_agreement(),
        }


def choose_start(graph: Graph) -> Hashable:
    """Choose a default start: the node with the highest out-degree."""
    require_edges(graph)
    starts = list_starts(graph, "frontier")
    return graph.label(int(starts[np.argmax(graph.degrees[starts])]))


def change_walk(
    opened: OpenGraph, session: WalkSession, change: Callable[..., None], arguments: Sequence[Any]
) -> WalkSession:
    """Return a copy of a walk after a change, which is a method of `WalkSession`: the walk itself stays as it is.

    >>> from curiograph.graph.toys import library
    >>> opened = OpenGraph(library())
    >>> session = WalkSession("toy:library", opened, "music")
    >>> change_walk(opened, session, WalkSession.visit, ["physics"]).nodes, session.nodes
    (['music', 'physics'], ['music'])
    """
    changed = copy.copy(session)
    changed.opened = opened
    change(changed, *arguments)
    return changed


def open_walk(opened: OpenGraph, shared: SharedWalk) -> WalkSession:
    """Open a shared walk."""
    nodes = shared.nodes or [choose_start(opened.graph)]
    session = WalkSession(shared.graph_id, opened, nodes[0], shared.agent, shared.reward, shared.seed)
    if len(nodes) > 1:
        session.replay(nodes[1:], shared.by)
    return session


def compare_agents(opened: OpenGraph, start: Hashable, num_nodes: int, seed: int) -> list[tuple[str, float, float]]:
    """Compute the returns of agents from one start: the name of each, with its return for igt and for cpt."""
    results = []
    for agent, reward in COMPARED_AGENTS:
        growth = explore(opened.graph, agent, reward, start, num_nodes, seed=seed).growth
        name = AGENTS[agent] if agent == "random" else f"{AGENTS[agent]}, for {MOTIVES[reward]}"
        results.append((name, float(growth.beta1[1:].sum()), float(growth.compressibility[1:].sum())))
    return results


def make_rival(opened: OpenGraph, session: WalkSession) -> WalkSession:
    """Let the agent of a walk take as many steps from the same start."""
    agent, reward, seed = session.agent, session.reward, session.seed
    nodes = explore(opened.graph, agent, reward, session.nodes[0], len(session.steps), seed=seed).nodes
    rival = SharedWalk(session.graph_id, "random", reward, seed, nodes, [agent] * (len(nodes) - 1))
    return open_walk(opened, rival)
