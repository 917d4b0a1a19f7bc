"""A walk on the page: who took each step, what it grew, where it is drawn. No part of it knows the browser."""

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
from curiograph.plotting.layout import compute_layout
from curiograph.service.page.layout import place_new_node, relax_layout
from curiograph.service.responses import encode_number
from curiograph.service.step_view import DEFAULT_AHEAD, StepView, view_step
from curiograph.service.time_limits import estimate_step_seconds

YOU = "you"
RIVALS = (("greedy", "igt"), ("horizon", "igt"), ("greedy", "cpt"), ("horizon", "cpt"), ("random", "igt"))
"""Agents whose walks from the same start a walk is compared with, and the reward that each goes for."""

_COMPARED = 40
"""Nodes up to which rivals walk along, and your choices in a shared walk are judged."""
_WAIT = 3.0
"""Seconds that an agent may take for a step."""
_MEASURED = 150
"""Nodes of a shared walk up to which compressibility is computed for every step."""


@dataclass(frozen=True)
class WalkStep:
    """A step that was taken."""

    node: Hashable
    by: str
    """`you`, or the name of an agent."""
    percentiles: dict[str, float] = field(default_factory=dict)
    """How high the choice stood by each motive, 1 is best; nothing for the start."""


@dataclass(frozen=True)
class AgentReturns:
    """What an agent collects from the same start in as many steps."""

    agent: str
    reward: str
    igt: float
    cpt: float


class WalkSession:
    """A walk that grows and can be taken back. An attempt that fails leaves it as it was.

    >>> from curiograph.graph.toys import library
    >>> walking = WalkSession("toy:library", library(), "music")
    >>> walking.take("physics")
    >>> walking.step()
    >>> [taken.by for taken in walking.taken], len(walking.places)
    (['start', 'you', 'greedy'], 3)
    """

    taken: list[WalkStep]
    """The start, and every step since."""
    seen: StepView
    """Where the walk may go now."""
    bits: list[float]
    """Compressibility after every step."""
    growth: Growth
    """What the walk grew; its compressibility is in `bits`."""
    loops: list[tuple[Gap, list[Hashable]]]
    """Every gap that lived, with a loop around it."""
    edges: list[tuple[int, int]]
    """Links between visited nodes, as pairs of steps counted from 0, the earlier first."""

    def __init__(
        self, graph_id: str, graph: Graph, start: Hashable, agent: str = "greedy", reward: str = "igt", seed: int = 0
    ) -> None:
        self.graph_id, self.graph, self.agent, self.reward, self.seed = graph_id, graph, agent, reward, seed
        self._earlier: list[
            StepView
        ] = []  # what was seen before the last steps, so that taking them back costs nothing
        self.restart(start)

    @classmethod
    def replayed(cls, begun: WalkSession, nodes: Sequence[Hashable], by: Sequence[str]) -> WalkSession:
        """A walk that someone shares: the start of `begun`, then `nodes`, each taken by whom `by` says.

        >>> from curiograph.graph.toys import library
        >>> begun = WalkSession("toy:library", library(), "music")
        >>> WalkSession.replayed(begun, ["physics", "logic"], ["you", "greedy"]).agreement()["degree"]
        0.83...
        """
        graph, every = begun.graph, [*begun.nodes, *nodes]
        seen = begun._look(every)
        for place, (node, who) in enumerate(zip(nodes, by, strict=True), start=1):
            judged = who == YOU and len(every) <= _COMPARED
            before = view_step(graph, every[:place], "random", seed=begun.seed) if judged else None
            known = before is not None and node in before.nodes
            begun.taken.append(WalkStep(node, who, before.percentiles(node) if before and known else {}))
        begun.seen = seen
        begun.bits = measure(graph, every, compressibility=len(every) <= _MEASURED).compressibility.tolist()
        begun._measure()
        order = np.argsort(graph.positions(every))
        final = np.empty((len(every), 2))
        final[order] = compute_layout(graph.skeleton.induced(graph.positions(every)[order]))
        begun._places = [final[:count] for count in range(1, len(every) + 1)]
        return begun

    @property
    def nodes(self) -> list[Hashable]:
        """Labels in order of visit."""
        return [taken.node for taken in self.taken]

    @property
    def places(self) -> Float64:
        """Where each visited node is drawn, from -1 to 1."""
        return self._places[-1]

    def _measure(self) -> None:
        """Find out once what this step has grown."""
        self.growth = measure(self.graph, self.nodes, compressibility=False)
        self.loops = list(zip(self.growth.gaps, gap_loops(self.graph, self.nodes), strict=True))
        self.edges = self._edges()

    def step(self) -> None:
        """Let the agent take a step; raises WalkError where there is nowhere to go."""
        if self.seen.choice is None:
            raise WalkError(f"the walk ends here: nothing new can be reached from the {len(self.taken)} nodes visited.")
        self._go(self.seen.choice, self.agent)

    def take(self, node: Hashable) -> None:
        """Walk yourself."""
        self._go(node, YOU)

    def _go(self, node: Hashable, by: str) -> None:
        taken = WalkStep(node, by, self.seen.percentiles(node))
        seen = self._look([*self.nodes, node])
        self.taken.append(taken)
        self._earlier.append(self.seen)
        self.seen = seen
        self.bits.append(seen.cpt)
        self._measure()
        self._places.append(self._grown())

    def undo(self) -> None:
        """Take the last step back; the start stays."""
        if len(self.taken) > 1:
            before = self._earlier.pop() if self._earlier else self._look(self.nodes[:-1])
            for kept in (self.taken, self.bits, self._places):
                kept.pop()
            self.seen = before
            self._measure()

    def restart(self, start: Hashable) -> None:
        """Begin anew elsewhere, or at the same node; raises where no walk can start."""
        locate_start(self.graph, start, "frontier")
        seen = self._look([start])
        self.taken, self.seen, self.bits = [WalkStep(start, "start")], seen, [seen.cpt]
        self._places, self._earlier = [np.zeros((1, 2))], []
        self._measure()

    def change(self, agent: str, reward: str) -> None:
        """Go on with another agent or reward; the walk stays."""
        self.seen = self._looked(self.nodes, agent, reward)
        self.agent, self.reward, self._earlier = agent, reward, []

    def _look(self, nodes: Sequence[Hashable]) -> StepView:
        return self._looked(nodes, self.agent, self.reward)

    def _looked(self, nodes: Sequence[Hashable], agent: str, reward: str) -> StepView:
        if estimate_step_seconds(self.graph, as_agent(agent), reward, len(nodes), DEFAULT_AHEAD) > _WAIT:
            raise SettingError(
                f"after {len(nodes)} nodes {agent} takes too long to choose for {reward}; "
                "go on with another agent, or for the other reward."
            )
        return view_step(self.graph, nodes, agent, reward, seed=self.seed)

    def _edges(self) -> list[tuple[int, int]]:
        positions = self.graph.positions(self.nodes)
        order = np.argsort(positions)
        inner = self.graph.skeleton.induced(positions[order])
        pairs = np.column_stack([np.repeat(np.arange(len(order)), np.diff(inner.indptr)), inner.indices])
        steps = order[pairs]
        return [(a, b) for a, b in steps.tolist() if a < b]

    def _grown(self) -> Float64:
        """Places after the newest node has come."""
        edges = np.array(self.edges, np.int64).reshape(-1, 2)
        newest = len(self.taken) - 1
        new = place_new_node(self.places, edges[edges[:, 1] == newest, 0], newest - 1)
        return relax_layout(np.vstack([self.places, new]), edges)

    def rivals(self) -> list[AgentReturns]:
        """What agents collect from the same start in as many steps; nothing for a walk too long to compare at once."""
        if not 1 < len(self.taken) <= _COMPARED:
            return []
        return [self._rival(agent, reward) for agent, reward in RIVALS]

    def _rival(self, agent: str, reward: str) -> AgentReturns:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a walk that ends early is compared as it is
            walk = explore(self.graph, agent, reward, self.nodes[0], len(self.taken), seed=self.seed)
        growth = walk.growth
        return AgentReturns(agent, reward, float(growth.beta1[1:].sum()), float(growth.compressibility[1:].sum()))

    def returns(self) -> tuple[float, float]:
        """What this walk has collected: gaps, and bits."""
        return float(self.growth.beta1[1:].sum()), float(np.nansum(self.bits[1:]))

    def agreement(self) -> dict[str, float]:
        """By motive, the mean percentile of your own choices, 1 is best; nothing before you have chosen."""
        yours = [taken.percentiles for taken in self.taken if taken.by == YOU]
        found = {}
        for motive in dict.fromkeys(name for each in yours for name in each):
            known = [each[motive] for each in yours if motive in each and not np.isnan(each[motive])]
            if known:
                found[motive] = float(np.mean(known))
        return found

    def to_dict(self) -> dict[str, object]:
        """The walk and what it grew, as plain values."""
        igt, cpt = self.returns()
        return {
            "graph": self.graph_id,
            "agent": self.agent,
            "reward": self.reward,
            "seed": self.seed,
            "nodes": self.nodes,
            "by": [taken.by for taken in self.taken],
            "beta1": self.growth.beta1.tolist(),
            "compressibility": [encode_number(value) for value in self.bits],
            "gaps": [
                {"opened_by": gap.opened_by, "closed_by": gap.closed_by, "loop": loop} for gap, loop in self.loops
            ],
            "return": {"igt": igt, "cpt": cpt},
            "agreement": self.agreement(),
        }


def choose_start(graph: Graph) -> Hashable:
    """A start to begin with: the node from which most links lead on."""
    require_edges(graph)
    possible = list_starts(graph, "frontier")
    return graph.label(int(possible[np.argmax(graph.degrees[possible])]))
