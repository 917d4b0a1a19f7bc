"""Explore a graph with an agent."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from curiograph.agents.agent_names import AgentLike, as_agent
from curiograph.agents.evaluate import draw_starts
from curiograph.errors import quote_value
from curiograph.exploration.mdp import Fallback, begin, check_steps, list_starts, locate_start
from curiograph.files import PathLike
from curiograph.graph.graph import Graph, as_graph, require_edges
from curiograph.growth.measure import measure
from curiograph.growth.plots import animate_walk, plot_walk
from curiograph.growth.records import Growth
from curiograph.progress import Progress, no_progress
from curiograph.results import Table, to_plain
from curiograph.rewards.reward_names import RewardLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHOWN_NODES = 6  # of the repr


@dataclass(frozen=True, eq=False, repr=False)
class Walk(Table, Sequence[Hashable]):
    """A walk of an agent; a sequence of labels.

    Examples
    --------
    >>> from curiograph.graph.toys import cycle
    >>> walk = explore(cycle(5), agent="greedy", reward="igt", start=0, steps=5, seed=0)
    >>> len(walk.nodes), walk.rewards, walk.total
    (5, [0.0, 0.0, 0.0, 1.0], 1.0)
    """

    nodes: list[Hashable]
    """Labels in order of visit; the first is the start."""
    rewards: list[float]
    """Rewards F(S_2), ..., F(S_T): one fewer than nodes."""
    agent: str
    """Name of the agent."""
    reward: str
    """Name of the reward."""
    steps: int
    """Number of nodes that was requested."""
    graph: Graph = field(repr=False)
    """The graph that was explored."""

    @property
    def total(self) -> float:
        """The return: the sum of the rewards, undiscounted."""
        return float(sum(self.rewards))

    @property
    def ended_early(self) -> bool:
        """Whether no candidates were left before `steps` nodes were visited."""
        return len(self.nodes) < self.steps

    @property
    def title(self) -> str:
        """Agent, reward and return in one line."""
        total = f"{self.total:,.0f}" if abs(self.total) >= 1000 else f"{self.total:.4g}"
        return f"{self.agent} looking for {self.reward}: return {total}"

    @cached_property
    def growth(self) -> Growth:
        """Growth of the walk."""
        return measure(self.graph, self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, index: Any) -> Any:
        return self.nodes[index]

    def columns(self) -> Mapping[str, Any]:
        return {"node": self.nodes, "reward": [None, *self.rewards]}

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the graph as JSON values."""
        names = ("agent", "reward", "nodes", "rewards", "total", "ended_early")
        return {name: to_plain(getattr(self, name)) for name in names}

    def __repr__(self) -> str:
        nodes = ", ".join(quote_value(node) for node in self.nodes[:_SHOWN_NODES])
        more = ", ..." if len(self) > _SHOWN_NODES else ""
        return f"Walk({len(self):,} nodes by {self.title}: {nodes}{more})"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the visited subgraph in order of visit, open gaps outlined and closed gaps filled; see `plot_walk`."""
        return plot_walk(self.graph, self, ax)

    def animate(self, path: PathLike, *, progress: Progress = no_progress) -> None:
        """Write a .gif animation in which the walk grows node by node; see `animate_walk`."""
        animate_walk(self.graph, self, path, progress=progress)


def explore(
    graph: Graph,
    agent: AgentLike = "planner",
    reward: RewardLike = "igt",
    start: Hashable | None = None,
    steps: int = 10,
    *,
    fallback: Fallback = "frontier",
    seed: int = 0,
) -> Walk:
    """Explore a graph with an agent.

    Parameters
    ----------
    graph : Graph
        The graph to explore.
    agent : str, path, Agent or object with `scores`
        A name (random, max-degree, min-degree, greedy, planner, planner:WIDTH, beam, beam:WIDTH, or a shipped agent),
        the path of a trained agent, or an agent object.
    reward : str, Reward or callable
        "igt", "cpt", "cct", a sum such as "igt+0.5*cpt", or a function of the visited subgraph; see `as_reward`.
    start : label, optional
        The first node; drawn at random by default.
    steps : int
        Number of nodes to visit, the start included. If fewer can be reached, the walk ends early with a warning.
    fallback : {"frontier", "anywhere"}
        Candidates at a dead end: the unvisited neighbors of all visited nodes, or all unvisited nodes.
    seed : int
        Seed of the random start and of random tie-breaking.

    Returns
    -------
    Walk
        The visited nodes and their rewards.

    Examples
    --------
    >>> from curiograph.graph.toys import library
    >>> explore(library(), agent="beam", reward="igt", start="music", steps=10, seed=0).total
    7.0
    """
    steps = check_steps(steps)
    require_edges(as_graph(graph))
    if start is None:
        position = int(draw_starts(list_starts(graph, fallback), 1, seed)[0])
    else:
        position = locate_start(graph, start, fallback)
    explorer = as_agent(agent)
    ended = explorer.run(begin([graph], [[position]], reward, steps, fallback=fallback, seed=seed))
    length = int(ended.lengths[0])
    walk = Walk(
        nodes=[graph.names[v] for v in ended.nodes[0, :length].tolist()],
        rewards=ended.rewards[0, : length - 1].tolist(),
        agent=explorer.name,
        reward=ended.reward.name,
        steps=steps,
        graph=graph,
    )
    if walk.ended_early:
        warnings.warn(
            f"the walk ended early, after {length} of {steps} nodes: no more can be reached from {walk.nodes[0]!r}.",
            stacklevel=2,
        )
    return walk
