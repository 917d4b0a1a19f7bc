"""`explore`: let an agent walk."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from curiograph.agents.evaluate import draw_starts
from curiograph.agents.registry import AgentLike, as_agent
from curiograph.errors import WalkError
from curiograph.exploration.mdp import Fallback, begin, check_steps, list_starts, locate_start
from curiograph.files import PathLike
from curiograph.graph.graph import Graph, as_graph, require_edges
from curiograph.growth.measure import measure
from curiograph.growth.plots import animate_walk, plot_walk
from curiograph.growth.records import Growth
from curiograph.progress import Progress, no_progress
from curiograph.rewards.registry import RewardLike, as_reward

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Walk(Sequence[Hashable]):
    """A walk that an agent took.

    >>> from curiograph.graph.toys import cycle
    >>> walk = explore(cycle(5), agent="greedy", reward="igt", start=0, steps=5, seed=0)
    >>> len(walk.nodes), walk.rewards, walk.total
    (5, [0.0, 0.0, 0.0, 1.0], 1.0)
    """

    nodes: list[Hashable]
    """Labels in order of visit; the first is the start."""
    rewards: list[float]
    """F(S_2), ..., F(S_T): one fewer than nodes."""
    agent: str
    reward: str
    steps: int
    """Nodes that were asked for."""
    graph: Graph = field(repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.nodes:
            raise WalkError("the walk is empty; a walk needs at least one node.")
        if len(self.rewards) != len(self.nodes) - 1:
            raise WalkError(
                f"a walk of {len(self.nodes)} nodes has {len(self.nodes) - 1} rewards, one for each but the first; got "
                f"{len(self.rewards)}. To draw a list of labels without rewards, give it to plot_walk."
            )

    @property
    def total(self) -> float:
        """The return: the sum of the rewards, undiscounted."""
        return float(sum(self.rewards))

    @property
    def ended_early(self) -> bool:
        """Whether there was nowhere left to go before `steps` nodes were visited."""
        return len(self.nodes) < self.steps

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, index: Any) -> Any:
        return self.nodes[index]

    @cached_property
    def growth(self) -> Growth:
        """What the walk grew."""
        return measure(self.graph, self.nodes)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the graph, as plain values."""
        return {
            "agent": self.agent,
            "reward": self.reward,
            "nodes": list(self.nodes),
            "rewards": list(self.rewards),
            "total": self.total,
            "ended_early": self.ended_early,
        }

    @property
    def title(self) -> str:
        """Who walked, what for, and the return, in one line."""
        earned = f"{self.total:,.0f}" if abs(self.total) >= 1000 else f"{self.total:.4g}"
        return f"{self.agent} looking for {self.reward}: return {earned}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the visited subgraph in order of visit; gaps are outlined while open, and filled once closed."""
        return plot_walk(self.graph, self, ax)

    def animate(self, path: PathLike, *, progress: Progress = no_progress) -> None:
        """Write a .gif in which the walk grows node by node, and its growth below."""
        animate_walk(self.graph, self, path, progress=progress)


def explore(
    graph: Graph,
    agent: AgentLike = "greedy",
    reward: RewardLike = "igt",
    start: Hashable | None = None,
    steps: int = 10,
    *,
    fallback: Fallback = "frontier",
    seed: int = 0,
) -> Walk:
    """Let an agent explore a graph.

    Parameters
    ----------
    agent : a name (random, max-degree, min-degree, greedy, beam, beam:WIDTH, horizon, or that of a shipped agent),
        the path of a trained one, or an object with `scores(exploration)`.
    reward : "igt", "cpt" or a function of the visited subgraph.
    start : label of the first node; one at random if None.
    steps : nodes to visit, the start included. Where fewer can be reached the walk ends early and warns.
    fallback : at a dead end, go on from the "frontier" of the walk or "anywhere".

    >>> from curiograph.graph.toys import library
    >>> explore(library(), agent="beam", reward="igt", start="music", steps=10, seed=0).total
    7.0
    """
    steps = check_steps(steps)
    require_edges(as_graph(graph))
    if start is None:
        first = int(draw_starts(list_starts(graph, fallback), 1, seed)[0])
    else:
        first = locate_start(graph, start, fallback)
    made = as_agent(agent)
    made_reward = as_reward(reward)
    ended = made.run(begin([graph], [[first]], made_reward, steps, fallback=fallback, seed=seed))
    length = int(ended.lengths[0])
    walk = Walk(
        [graph.label(int(v)) for v in ended.nodes[0, :length]],
        ended.rewards[0, : length - 1].tolist(),
        made.name,
        made_reward.name,
        steps,
        graph,
    )
    if walk.ended_early:
        warnings.warn(
            f"the walk ended early, after {length} of {steps} nodes: no more can be reached from {walk.nodes[0]!r}.",
            stacklevel=2,
        )
    return walk
