"""The walk of a visitor: who chose each step, its growth, and its layout. Independent of the browser."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np

from curiograph.agents.explore import explore
from curiograph.agents.registry import as_agent
from curiograph.arrays import Float64
from curiograph.errors import SettingError, WalkError
from curiograph.exploration.mdp import list_starts, locate_start
from curiograph.graph.graph import Graph, require_edges
from curiograph.growth.gap_loops import gap_loops
from curiograph.growth.measure import measure
from curiograph.growth.records import Gap, Growth
from curiograph.service.page.layout import extend_layout
from curiograph.service.page.words import AGENTS, MOTIVES, YOU
from curiograph.service.schemas import encode_number
from curiograph.service.step_view import DEFAULT_AHEAD, StepView, view_step
from curiograph.service.time_limits import estimate_step_seconds

COMPARED_AGENTS = (("greedy", "igt"), ("planner", "igt"), ("greedy", "cpt"), ("planner", "cpt"), ("random", "igt"))
"""Agents, with their rewards, whose walks from the same start a walk is compared with."""

MAX_COMPARED = 40
"""Maximum number of nodes of a walk for comparing agents, and for the percentiles of choices in a shared walk."""
_MAX_STEP_SECONDS = 3.0
"""Maximum time of an agent for one step."""
_MAX_MEASURED = 150
"""Maximum number of nodes of a shared walk for computing compressibility at every step."""


@dataclass(frozen=True)
class WalkStep:
    """One step of a walk."""

    node: Hashable
    by: str
    """`start`, `you`, or the name of an agent."""
    percentiles: dict[str, float] = field(default_factory=dict)
    """Percentile of the choice by motive, 1 is best; empty for the start."""


class WalkSession:
    """A walk that can be extended and undone. An operation that fails leaves it unchanged.

    >>> from curiograph.graph.toys import library
    >>> session = WalkSession("toy:library", library(), "music")
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
        self, graph_id: str, graph: Graph, start: Hashable, agent: str = "planner", reward: str = "igt", seed: int = 0
    ) -> None:
        self.graph_id, self.graph, self.agent, self.reward, self.seed = graph_id, graph, agent, reward, seed
        self._earlier_views: list[StepView] = []  # so that undoing steps computes nothing
        self.restart(start)

    def replay(self, nodes: Sequence[Hashable], by: Sequence[str]) -> None:
        """Append the steps of a shared walk, each chosen by `you` or by an agent.

        >>> from curiograph.graph.toys import library
        >>> session = WalkSession("toy:library", library(), "music")
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
        self.steps += steps
        self.view = view
        is_short = len(walk) <= _MAX_MEASURED
        compressibility = measure(self.graph, walk, compressibility=is_short, pairs="all").compressibility  # as cpt
        self.bits = compressibility.tolist()
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
        self.steps.append(step)
        self._earlier_views.append(self.view)
        self.view = view
        self.bits.append(view.cpt)
        self._update_growth()

    def undo(self) -> None:
        """Undo the last step; the start remains."""
        if len(self.steps) > 1:
            earlier = self._earlier_views
            view = earlier.pop() if earlier else self._view(self.nodes[:-1], self.agent, self.reward)
            self.steps.pop()
            self.bits.pop()
            self.view = view
            self._update_growth()

    def restart(self, start: Hashable) -> None:
        """Start a new walk; raise if no walk can start there."""
        locate_start(self.graph, start, "frontier")
        view = self._view([start], self.agent, self.reward)
        self.steps, self.view, self.bits = [WalkStep(start, "start")], view, [view.cpt]
        self.coordinates, self._earlier_views = np.zeros((1, 2)), []
        self._update_growth()

    def set_agent(self, agent: str, reward: str) -> None:
        """Continue the walk with another agent or reward."""
        self.view = self._view(self.nodes, agent, reward)
        self.agent, self.reward, self._earlier_views = agent, reward, []

    def _view(self, nodes: Sequence[Hashable], agent: str, reward: str) -> StepView:
        if estimate_step_seconds(self.graph, as_agent(agent), reward, len(nodes), DEFAULT_AHEAD) > _MAX_STEP_SECONDS:
            raise SettingError(
                f"after {len(nodes)} nodes {agent} takes too long to choose for {reward}; "
                "continue with another agent, or with the other reward."
            )
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

    def compare_agents(self) -> list[tuple[str, float, float]]:
        """Compute the returns of agents from the same start with as many nodes; empty if the walk is too long.

        Each is the name of the agent with its return for igt and for cpt.
        """
        if not 1 < len(self.steps) <= MAX_COMPARED:
            return []
        results = []
        for agent, reward in COMPARED_AGENTS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a walk that ends early is compared as it is
                walk = explore(self.graph, agent, reward, self.nodes[0], len(self.steps), seed=self.seed)
            name = AGENTS[agent] if agent == "random" else f"{AGENTS[agent]}, for {MOTIVES[reward]}"
            igt, cpt = walk.growth.beta1[1:].sum(), walk.growth.compressibility[1:].sum()
            results.append((name, float(igt), float(cpt)))
        return results

    def make_rival(self) -> WalkSession:
        """Let the agent walk from the same start as many nodes."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # as in `compare_agents`
            walk = explore(self.graph, self.agent, self.reward, self.nodes[0], len(self.steps), seed=self.seed)
        rival = WalkSession(self.graph_id, self.graph, self.nodes[0], "random", self.reward, self.seed)
        rival.replay(walk.nodes[1:], [self.agent] * (len(walk.nodes) - 1))
        return rival

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
