"""The exploration MDP as a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int64
from curiograph.errors import SettingError, UnknownNameError, WalkError
from curiograph.exploration.mdp import Exploration, Fallback, as_graphs, begin, list_starts, locate_start
from curiograph.graph.convert import iterate_edges, to_networkx
from curiograph.graph.graph import Graph
from curiograph.optional import import_optional
from curiograph.rewards.registry import RewardLike, as_reward
from curiograph.validation import check_integer

Observation: TypeAlias = dict[str, Any]

_MAX_SPRING_NODES = 500  # a spring layout of more nodes takes seconds
_PIXELS = 480


class ExplorationEnv(gymnasium.Env[Observation, np.int64]):
    """One walk on a graph: every step visits a new node, and its reward is the value of the visited subgraph.

    N is the number of nodes of the (largest) graph, T is `steps`.

    Observation : Dict
        - `action_mask`: MultiBinary(N), int8 of shape (N,): 1 if the node is a candidate. All 0 if no candidate is
          left; always 0 beyond the nodes of a smaller graph.
        - `visited`: Box(0, min(T, N)), int32 of shape (N,): the step at which a node was visited; 1 is the
          start, 0 means not visited.
        - `last`: Discrete(N): position of the node visited last.
        - `graph`: Discrete(number of graphs): index of the graph that the walk is on.
    Action : Discrete(N)
        Position of the node to visit next, which must be a candidate: an unvisited (out-)neighbor of the last node; if
        there are none, a node allowed by `fallback`.
    Reward
        F(S_t) of the subgraph S_t induced by the t nodes visited after the step. The start has no reward, so an episode
        has at most T - 1 actions and its return is F(S_2) + ... + F(S_T), as in `curiograph.evaluate`.
    End
        `terminated` when T nodes are visited, when no candidate is left, or, with reward 0 and
        `info["illegal_action"]`, after an action that is not a candidate. Never `truncated`.
    Start
        `reset(seed=..., options={"start": label, "graph": index})`. Missing options are drawn uniformly: the graph
        among all graphs, the start among the nodes that have a candidate.
    Info
        `action_mask` as above; `node`, label of the last node; `graph`, index of the graph; `value`, the last reward
        F(S_t), 0 at the start; `illegal_action`, whether an illegal action ended the episode.

    Parameters
    ----------
    graph : Graph or sequence of Graph
        A graph, or several graphs of which each reset draws one.
    reward : str, Reward or callable
        "igt", "cpt", a weighted sum such as "igt+0.5*cpt", or a function of the visited subgraph; see `as_reward`.
    steps : int
        Number of nodes to visit, the start included: 2 or more.
    fallback : {"frontier", "anywhere"}
        Candidates at a dead end: unvisited neighbors of all visited nodes, or all unvisited nodes.
    render_mode : {None, "ansi", "rgb_array"}
        "ansi" renders a line of text, "rgb_array" an image (requires `curiograph[plot]`).

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

    metadata: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        graph: Graph | Sequence[Graph],
        reward: RewardLike = "igt",
        steps: int = 10,
        *,
        fallback: Fallback = "frontier",
        render_mode: str | None = None,
    ) -> None:
        self.graphs = as_graphs(graph)
        self.reward = as_reward(reward)
        # a batch without walks checks all settings before the first episode
        begin(self.graphs, [[] for _ in self.graphs], self.reward, steps, fallback=fallback)
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise UnknownNameError(
                f"render_mode is {render_mode!r}; the choices are None, {', '.join(self.metadata['render_modes'])}."
            )
        self.steps = check_integer("steps", steps, 2, "an episode visits 2 nodes or more, the start included")
        self.fallback: Fallback = fallback
        self.render_mode = render_mode
        self._size = size = max(g.num_nodes for g in self.graphs)
        self.action_space = spaces.Discrete(size)
        self.observation_space = spaces.Dict(
            {
                "action_mask": spaces.MultiBinary(size),
                "visited": spaces.Box(0, min(self.steps, size), (size,), np.int32),
                "last": spaces.Discrete(size),
                "graph": spaces.Discrete(len(self.graphs)),
            }
        )
        self._index = 0
        self._exploration: Exploration | None = None
        self._illegal = False
        self._starts: dict[int, Int64] = {}
        self._layouts: dict[int, Float64] = {}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode; see the class for `options`."""
        super().reset(seed=seed)
        options = options or {}
        if not isinstance(options, dict):
            raise SettingError(f"the options at reset are {options!r}; give a dict with start, graph or both.")
        unknown = [key for key in options if key not in ("start", "graph")]
        if unknown:
            raise SettingError(f"there is no option {unknown[0]!r} at reset; the options are start and graph.")
        index, start = options.get("graph"), options.get("start")
        if index is None:
            index = self.np_random.integers(len(self.graphs))
        last = len(self.graphs) - 1
        index = check_integer("option graph", index, 0, f"give the index of a graph, 0 to {last}", last)
        graph = self.graphs[index]
        if start is not None:
            position = locate_start(graph, start, self.fallback)
        else:
            if index not in self._starts:
                self._starts[index] = list_starts(graph, self.fallback)
            position = int(self.np_random.choice(self._starts[index]))
        self._exploration = begin([graph], [[position]], self.reward, self.steps, fallback=self.fallback)
        self._index, self._illegal = index, False
        return self._observation(), self._info()

    def step(self, action: np.int64 | int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Visit the node at position `action`."""
        exploration = self._current
        if self._illegal or exploration.finished:
            raise WalkError("the episode is over, so there is no next step; call reset first.")
        if action in self.action_space and self.action_masks()[int(action)]:
            chosen = np.searchsorted(exploration.candidates.nodes, int(action))
            self._exploration = exploration.step(np.array([chosen]))
            reward, terminated = self._value(), self._exploration.finished
        else:
            self._illegal = terminated = True
            reward = 0.0
        return self._observation(), reward, terminated, False, self._info()

    def action_masks(self) -> NDArray[np.bool_]:
        """Return whether each action is a candidate, shape (N,); sb3-contrib looks for this name."""
        mask = np.zeros(self._size, np.bool_)
        mask[self._current.candidates.nodes] = True
        return mask

    @property
    def candidates(self) -> list[Hashable]:
        """Labels of the candidates."""
        return [self.graphs[self._index].label(int(v)) for v in self._current.candidates.nodes]

    @property
    def walk(self) -> list[Hashable]:
        """Labels of the visited nodes, in order."""
        return [self.graphs[self._index].label(int(v)) for v in self._visited()]

    def render(self) -> Any:
        """Return the walk so far as `render_mode` requests: a line of text, or an RGB image of 480 x 480 pixels."""
        if self.render_mode is None:
            gymnasium.logger.warn("render does nothing without a render_mode: make the environment with one.")
            return None
        if self.render_mode == "rgb_array":
            return self._draw_image()
        path = " -> ".join(map(str, self.walk))
        ahead = ", ".join(map(str, self.candidates)) or "nowhere"
        length = len(self.walk)
        return f"{self.reward.name} {self._value():g} after {length} of {self.steps} nodes: {path}; next: {ahead}"

    def _draw_image(self) -> NDArray[np.uint8]:
        """Draw visited nodes dark to light in order of visit, the last one ringed, candidates orange, the rest gray."""
        figures = import_optional("matplotlib.figure", "plot", "Pictures")
        agg = import_optional("matplotlib.backends.backend_agg", "plot", "Pictures")
        figure = figures.Figure(figsize=(_PIXELS / 100, _PIXELS / 100), dpi=100)
        canvas = agg.FigureCanvasAgg(figure)  # not pyplot, which would keep every figure
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        graph = self.graphs[self._index]
        if self._index not in self._layouts:
            self._layouts[self._index] = _compute_layout(graph)
        places, visited = self._layouts[self._index], self._visited()
        axes.scatter(*places.T, s=12, color="0.85")
        axes.scatter(*places[self._current.candidates.nodes].T, s=30, color="tab:orange")
        ordered = np.sort(visited)
        for u, v, _ in iterate_edges(graph.skeleton.induced(ordered)):
            axes.plot(*places[ordered[[u, v]]].T, color="0.4", linewidth=1.2, zorder=1)
        axes.scatter(*places[visited].T, s=90, c=np.arange(len(visited)), cmap="viridis", vmin=0, vmax=self.steps - 1)
        axes.scatter(*places[visited[-1:]].T, s=200, facecolors="none", edgecolors="black")
        canvas.draw()
        return np.array(canvas.buffer_rgba(), np.uint8)[:, :, :3]

    @property
    def _current(self) -> Exploration:
        if self._exploration is None:
            raise WalkError("there is no episode yet; call reset first.")
        return self._exploration

    def _visited(self) -> Int64:
        return self._current.nodes[0, : self._current.lengths[0]].astype(np.int64)

    def _value(self) -> float:
        length = int(self._current.lengths[0])
        return float(self._current.rewards[0, length - 2]) if length > 1 else 0.0

    def _observation(self) -> Observation:
        nodes = self._visited()
        visited = np.zeros(self._size, np.int32)
        visited[nodes] = np.arange(1, len(nodes) + 1)
        return {
            "action_mask": self.action_masks().astype(np.int8),
            "visited": visited,
            "last": nodes[-1],
            "graph": np.int64(self._index),
        }

    def _info(self) -> dict[str, Any]:
        return {
            "action_mask": self.action_masks().astype(np.int8),
            "node": self.graphs[self._index].label(int(self._visited()[-1])),
            "graph": self._index,
            "value": self._value(),
            "illegal_action": self._illegal,
        }


def _compute_layout(graph: Graph) -> Float64:
    """Return coordinates of every node; the same graph has always the same layout."""
    import networkx

    drawn = to_networkx(Graph(graph.skeleton.indptr, graph.skeleton.indices))
    compute = networkx.spring_layout if graph.num_nodes <= _MAX_SPRING_NODES else networkx.random_layout
    places = compute(drawn, seed=0)
    return np.array([places[v] for v in range(graph.num_nodes)], np.float64)
