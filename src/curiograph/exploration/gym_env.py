"""The exploration MDP as a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Int64
from curiograph.errors import WalkError
from curiograph.exploration.episodes import EpisodeSource, Sampler, read_actions
from curiograph.exploration.mdp import Exploration, Fallback, begin
from curiograph.exploration.observations import Observation, View, make_observer
from curiograph.graph.graph import Graph
from curiograph.rewards.reward_names import RewardLike, as_reward
from curiograph.validation import check_choice, check_integer


class ExplorationEnv(gymnasium.Env[Observation, np.int64]):
    """One walk on a graph: every step visits a new node, and its reward is the value of the visited subgraph.

    N is the number of nodes of the (largest) graph or `max_nodes`, T is `steps`.

    Observation "walk" : Dict
        The walk on a known graph, by node positions.

        - `action_mask`: MultiBinary(N), int8 of shape (N,): 1 if the node is a candidate. All 0 if no candidate is
          left; always 0 beyond the nodes of a smaller graph.
        - `visited`: Box(0, min(T, N)), int32 of shape (N,): the step at which a node was visited; 1 is the
          start, 0 means not visited.
        - `last`: Discrete(N): position of the node visited last.
        - `graph`: Discrete(number of graphs + 1): index of the graph that the walk is on; the number of graphs for
          a graph that a sampler drew or that was given at reset.
    Observation "subgraph" : Dict
        The visited nodes and the candidates as a graph with features, so that a policy can act on graphs it has not
        seen. Rows are the visited nodes in order of visit, then the candidates; R is `max_nodes`, E is `max_edges`.
        Arrays are padded with 0, which is a valid index.

        - `action_mask`: MultiBinary(R): 1 if the row is a candidate.
        - `nodes`: Box of shape (R, 10), float32: the columns are `NODE_FEATURES`: visited, order of visit / T, last,
          candidate; then as log(1 + x): links into the walk, degree, and the smallest, largest, mean and standard
          deviation of the neighbors' degrees.
        - `node_mask`: MultiBinary(R): 1 if the row is a node.
        - `edges`: Box of shape (2, E), int64: rows (source, target) of every edge between these nodes, in both
          directions if the graph is undirected.
        - `edge_mask`: MultiBinary(E): 1 if the column is an edge.
        - `steps_left`: Box(0, 1), float32 of shape (1,): share of the T nodes that is still to visit.

        If not all candidates fit into R rows, a random subset is offered. If not all edges fit into E columns, those
        between candidates are left out first, then those between visited nodes and candidates.
    Action : Discrete(N) or Discrete(R)
        Position ("walk") or row ("subgraph") of the node to visit next, which must be a candidate: an unvisited
        (out-)neighbor of the last node; if there are none, a node allowed by `fallback`.
    Reward
        F(S_t) of the subgraph S_t induced by the t nodes visited after the step. The start has no reward, so an episode
        has at most T - 1 actions and its return is F(S_2) + ... + F(S_T), as in `curiograph.evaluate`.
    End
        `terminated` when T nodes are visited, when no candidate is left, or, with reward 0 and
        `info["illegal_action"]`, after an action that is not a candidate. Never `truncated`.
    Start
        `reset(seed=..., options={"start": label, "graph": index or graph})`. Missing options are drawn: the graph
        uniformly among all graphs or by the sampler, the start uniformly among the nodes that have a candidate.
    Info
        `action_mask` as above; `node`, label of the last node; `graph`, index of the graph as above; `value`, the last
        reward F(S_t), 0 at the start; `illegal_action`, whether an illegal action ended the episode. With "subgraph"
        also `nodes`, the position in the graph of every row, -1 for padding.

    Parameters
    ----------
    graph : Graph, sequence of Graph or callable
        A graph; several graphs of which each reset draws one; or a sampler, which is called with a
        `numpy.random.Generator` at each reset and returns a graph.
    reward : str, Reward or callable
        "igt", "cpt", "cct", a sum such as "igt+0.5*cpt", or a function of the visited subgraph; see `as_reward`.
    steps : int
        Number of nodes to visit, the start included: 2 or more.
    fallback : {"frontier", "anywhere"}
        Candidates at a dead end: unvisited neighbors of all visited nodes, or all unvisited nodes.
    observation : {"walk", "subgraph"}
        What a policy sees; see above.
    max_nodes : int, optional
        N or R. Default: the nodes of the largest graph, or of one graph that the sampler draws; for "subgraph" at most
        256, or twice `steps` if that is more. Graphs of any size fit into "subgraph".
    max_edges : int, optional
        E, for "subgraph" only. Default: as many as there can be, at most 8,192.
    render_mode : {None, "ansi"}
        "ansi" renders a line of text; `curiograph.plot_walk(env.graph, env.walk)` draws the walk.

    Examples
    --------
    >>> from curiograph.graph.toys import cycle
    >>> env = ExplorationEnv(cycle(4), reward="igt", steps=4)
    >>> observation, info = env.reset(seed=0, options={"start": 0})
    >>> env.candidates, observation["action_mask"]
    ([1, 3], array([0, 1, 0, 1], dtype=int8))
    >>> [env.step(node)[1] for node in (1, 2, 3)]
    [0.0, 0.0, 1.0]
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        graph: Graph | Sequence[Graph] | Sampler | None = None,
        reward: RewardLike = "igt",
        steps: int = 10,
        *,
        fallback: Fallback = "frontier",
        observation: str = "walk",
        max_nodes: int | None = None,
        max_edges: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.source = EpisodeSource(graph, fallback)
        self.reward = as_reward(reward)
        self.steps = check_integer("steps", steps, 2, "an episode visits 2 nodes or more, the start included")
        self.observer = make_observer(observation, self.source, self.steps, max_nodes, max_edges)
        if render_mode is not None:
            check_choice("render_mode", render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        self.action_space = gymnasium.spaces.Discrete(self.observer.num_actions)
        self.observation_space = self.observer.space
        self._index = 0
        self._exploration: Exploration | None = None
        self._view: View | None = None
        self._illegal = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode; see the class for `options`."""
        super().reset(seed=seed)
        episode = self.source.draw(self.np_random, options)
        self.observer.check_graph(episode.graph)
        walks = begin([episode.graph], [[episode.start]], self.reward, self.steps, fallback=self.source.fallback)
        if self.observer.uses_streams:
            walks = replace(walks, streams=np.array([self.np_random.integers(2**63)], np.uint64))
        self._exploration, self._index, self._illegal = walks, episode.index, False
        return self._observe()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Visit the node that `action` selects: an integer, or an array or a tensor with one integer."""
        number, (walks, view) = read_actions(action, 1)[0], self._current
        if self._illegal or walks.finished:
            raise WalkError("the episode is over, so there is no next step; call reset first.")
        chosen = view.choices[0, number] if 0 <= number < view.choices.shape[1] else -1
        if chosen >= 0:
            self._exploration = walks = walks.step(np.array([chosen]))
            reward, terminated = self._get_value(), walks.finished
        else:
            self._illegal = terminated = True
            reward = 0.0
        observation, info = self._observe()
        return observation, reward, terminated, False, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return whether each action is a candidate, shape (N,); sb3-contrib looks for this name."""
        return np.asarray(self._current[1].choices[0] >= 0)

    @property
    def graph(self) -> Graph:
        """The graph of the episode."""
        return self._current[0].stack.graphs[0]

    @property
    def candidates(self) -> list[Hashable]:
        """Labels of the candidates."""
        return [self.graph.label(int(v)) for v in self._current[0].candidates.nodes]

    @property
    def walk(self) -> list[Hashable]:
        """Labels of the visited nodes, in order."""
        return [self.graph.label(int(v)) for v in self._get_visited()]

    def render(self) -> Any:
        """Return the walk so far as a line of text."""
        if self.render_mode is None:
            gymnasium.logger.warn("render does nothing without a render_mode: make the environment with one.")
            return None
        path = " -> ".join(str(label) for label in self.walk)
        ahead = ", ".join(str(label) for label in self.candidates) or "nowhere"
        value = f"{self.reward.name} {self._get_value():g}"
        return f"{value} after {len(self.walk)} of {self.steps} nodes: {path}; next: {ahead}"

    @property
    def _current(self) -> tuple[Exploration, View]:
        if self._exploration is None or self._view is None:
            raise WalkError("there is no episode yet; call reset first.")
        return self._exploration, self._view

    def _get_visited(self) -> Int64:
        walks = self._current[0]
        return walks.nodes[0, : walks.lengths[0]].astype(np.int64)

    def _get_value(self) -> float:
        walks, length = self._current[0], len(self._get_visited())
        return float(walks.rewards[0, length - 2]) if length > 1 else 0.0

    def _observe(self) -> tuple[Observation, dict[str, Any]]:
        """Observe the walk; return the observation and `info`."""
        assert self._exploration is not None
        self._view = view = self.observer.observe(self._exploration, np.array([self._index]), 1)
        observation = {key: array[0] for key, array in view.observation.items()}
        info = {
            "action_mask": observation["action_mask"].copy(),
            "node": self.graph.label(int(self._get_visited()[-1])),
            "graph": self._index,
            "value": self._get_value(),
            "illegal_action": self._illegal,
            **{key: array[0] for key, array in view.info.items()},
        }
        return observation, info
