"""Many exploration environments that step together, as a Gymnasium vector environment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from gymnasium import logger, spaces
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int64
from curiograph.errors import SettingError, WalkError, quote_value
from curiograph.exploration.episodes import Episode, EpisodeSource, Sampler, read_actions
from curiograph.exploration.mdp import Exploration, Fallback
from curiograph.exploration.observations import Observation, View, make_observer
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph
from curiograph.graph.labels import RangeLabels
from curiograph.rewards.reward_names import RewardLike, as_reward
from curiograph.validation import check_integer, is_integer

Bools = NDArray[np.bool_]


class ExplorationVectorEnv(VectorEnv[Observation, NDArray[Any], NDArray[Any]]):
    """`num_envs` environments `ExplorationEnv` that advance as one batch of walks.

    Observations, rewards, ends and infos are those of `gymnasium.vector.SyncVectorEnv` over single environments with
    the same seeds and actions, at about a hundredth of the cost.

    Parameters
    ----------
    num_envs : int
        Number of environments.
    graph, reward, steps, fallback, observation, max_nodes, max_edges
        As for `ExplorationEnv`. A sampler is called for each environment and episode.
    autoreset_mode : AutoresetMode or str
        When an environment whose episode has ended is reset: "NextStep", by the next call of `step`, which ignores its
        action, since the action mask before it is all 0 (the first one is warned of); "SameStep", at once, with the
        last observation and info in `info["final_obs"]` and `info["final_info"]`; "Disabled", by the user with
        `reset(options={"reset_mask": mask})`.

    Notes
    -----
    `reset(seed=3)` seeds environment i with 3 + i; a list gives a seed for each. `options` apply to all environments;
    `reset_mask`, a boolean array, selects those to reset.

    Examples
    --------
    >>> from curiograph.graph.toys import cycle
    >>> envs = ExplorationVectorEnv(2, cycle(4), reward="igt", steps=4, autoreset_mode="SameStep")
    >>> observation, info = envs.reset(seed=0, options={"start": 0})
    >>> for action in (1, 2, 3):
    ...     observation, rewards, terminated, truncated, info = envs.step(np.array([action, action]))
    >>> rewards, terminated
    (array([1., 1.]), array([ True,  True]))
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        graph: Graph | Sequence[Graph] | Sampler | None = None,
        reward: RewardLike = "igt",
        steps: int = 10,
        *,
        fallback: Fallback = "frontier",
        observation: str = "walk",
        max_nodes: int | None = None,
        max_edges: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    ) -> None:
        self.num_envs = check_integer("num_envs", num_envs, 1, "give a whole number of environments, 1 or more")
        self.source = EpisodeSource(graph, fallback)
        self.reward = as_reward(reward)
        self.steps = check_integer("steps", steps, 2, "an episode visits 2 nodes or more, the start included")
        self.observer = make_observer(observation, self.source, self.steps, max_nodes, max_edges)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.single_action_space = spaces.Discrete(self.observer.num_actions)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.single_observation_space = self.observer.space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._generators: list[np.random.Generator | None] = [None] * self.num_envs
        self._seeds: list[int] = [-1] * self.num_envs
        self._index = np.zeros(self.num_envs, np.int64)  # of the graph of each environment
        self._illegal = np.zeros(self.num_envs, bool)
        self._over = np.zeros(self.num_envs, bool)
        self._warned = False
        self._walks: Exploration | None = None
        self._view: View | None = None

    # ---- Gymnasium's methods ------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode in all environments, or in those selected by `options["reset_mask"]`."""
        options, count = dict(options or {}), self.num_envs
        mask: Any = options.pop("reset_mask", None)
        if mask is None:
            mask = np.ones(count, bool)
        elif not isinstance(mask, np.ndarray) or mask.shape != (count,) or mask.dtype != bool or not mask.any():
            meaning = f"give a boolean array of shape ({count},) with at least one True"
            raise SettingError(f"the option reset_mask is {quote_value(mask)}; {meaning}.")
        elif self._walks is None and not mask.all():
            raise WalkError("there is no episode yet; reset all environments first, without reset_mask.")
        seeds: Any = [None] * count if seed is None else seed
        if is_integer(seed):
            seeds = [int(seed) + i for i in range(count)]
        if not isinstance(seeds, (Sequence, np.ndarray)) or isinstance(seeds, str) or len(seeds) != count:
            raise SettingError(f"seed is {quote_value(seed)}; give one number, or a list of {count} numbers.")
        for i in np.flatnonzero(mask).tolist():
            if seeds[i] is not None or self._generators[i] is None:
                self._generators[i], self._seeds[i] = seeding.np_random(None if seeds[i] is None else int(seeds[i]))
        self._restart(np.flatnonzero(mask), options)
        view = self._observe()
        return view.observation, self._describe(view, mask)

    def step(self, actions: Any) -> tuple[Observation, Float64, Bools, Bools, dict[str, Any]]:
        """Visit the node that each action selects."""
        walks, view = self._current
        actions, restarting = read_actions(actions, self.num_envs), self._over
        if self.autoreset_mode is not AutoresetMode.NEXT_STEP and np.any(restarting):
            place = int(np.flatnonzero(restarting)[0])
            fix = 'reset it first, with reset(options={"reset_mask": mask})'
            raise WalkError(f"the episode of environment {place} is over, so there is no next step; {fix}.")
        known = (actions >= 0) & (actions < view.choices.shape[1]) & ~restarting
        chosen = np.where(known, view.choices[np.arange(self.num_envs), np.where(known, actions, 0)], -1)
        self._illegal = (chosen < 0) & ~restarting
        self._walks = walks.step(np.append(chosen, -1))
        rewards = np.where(chosen >= 0, self._get_values(), 0.0)
        if np.any(restarting):
            self._restart(np.flatnonzero(restarting), None)
        terminated = (self._walks.candidates.counts[:-1] == 0) | self._illegal
        self._over = terminated.copy()
        if self.autoreset_mode is AutoresetMode.NEXT_STEP and not self._warned and np.any(terminated & ~self._illegal):
            self._warned = True
            fix = 'a policy that needs a candidate in every mask works with autoreset_mode="SameStep"'
            logger.warn(f"an episode has ended: its action mask is all 0, and its next step only resets it; {fix}.")
        truncated = np.zeros(self.num_envs, bool)
        final: dict[str, Any] = {}
        if self.autoreset_mode is AutoresetMode.SAME_STEP and np.any(terminated):
            view = self._observe()
            observations = np.full(self.num_envs, None, object)
            for place in np.flatnonzero(terminated).tolist():
                observations[place] = {key: array[place].copy() for key, array in view.observation.items()}
            final = {"final_obs": observations, "final_info": self._describe(view, terminated)}
            final |= {f"_{key}": terminated.copy() for key in final}
            self._restart(np.flatnonzero(terminated), None)
        view = self._observe()
        info = final | self._describe(view, np.ones(self.num_envs, bool))
        return view.observation, rewards, terminated, truncated, info

    def action_masks(self) -> Bools:
        """Return whether each action is a candidate, environments x actions."""
        return np.asarray(self._current[1].choices >= 0)

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """Random generator of each environment."""
        return tuple(self._get_generator(i) for i in range(self.num_envs))

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """Seed of each environment; -1 before the first reset."""
        return tuple(self._seeds)

    # ---- walks --------------------------------------------------------------------------------------------------

    @property
    def _current(self) -> tuple[Exploration, View]:
        if self._walks is None or self._view is None:
            raise WalkError("there is no episode yet; call reset first.")
        return self._walks, self._view

    def _get_generator(self, place: int) -> np.random.Generator:
        generator = self._generators[place]
        if generator is None:
            generator, self._seeds[place] = seeding.np_random()
            self._generators[place] = generator
        return generator

    def _restart(self, places: Int64, options: dict[str, Any] | None) -> None:
        """Start a new episode in the selected environments."""
        episodes, streams = [], np.zeros(len(places), np.uint64)
        for k, place in enumerate(places.tolist()):
            generator = self._get_generator(place)
            episode = self.source.draw(generator, options)
            self.observer.check_graph(episode.graph)
            episodes.append(episode)
            if self.observer.uses_streams:
                streams[k] = generator.integers(2**63)
        walks = self._walks
        if walks is None:  # empty walks, one per environment and one more, from which new walks start
            count, columns, source = self.num_envs + 1, self.observer.columns, self.source
            graph_of, lengths, all_streams = np.zeros(count, int), np.zeros(count, int), np.zeros(count, np.uint64)
            nodes, rewards = np.full((count, columns), -1, np.int32), np.full((count, columns - 1), np.nan)
            batch = GraphBatch.of(source.graphs or [episodes[0].graph]), self.reward, columns, source.fallback
            walks = Exploration(*batch, graph_of, all_streams, nodes, lengths, rewards)
        self._index[places] = [episode.index for episode in episodes]
        walks, graph_of = self._place_graphs(walks, places, episodes)
        starts = walks.stack.starts[graph_of] + np.array([episode.start for episode in episodes], np.int64)
        self._walks = walks.restart(places, graph_of, starts, streams)
        self._illegal[places] = self._over[places] = False

    def _place_graphs(self, walks: Exploration, places: Int64, episodes: list[Episode]) -> tuple[Exploration, Int64]:
        """Return the walks on a batch of graphs that has those of `episodes`, and the indices of these graphs in it.

        The batch has the graphs of the environment, then other graphs that walks are on. Graphs that no walk is on any
        more are removed, so the walks that continue on other graphs get new positions.
        """
        own = len(self.source.graphs)
        if all(episode.index < own for episode in episodes) and len(walks.stack.graphs) == own:
            return walks, np.array([episode.index for episode in episodes], np.int64)
        current = dict(enumerate(walks.stack.graphs[k] for k in walks.graph_of[:-1]))
        current |= {place: episode.graph for place, episode in zip(places.tolist(), episodes, strict=True)}
        graphs = list({id(graph): graph for graph in [*self.source.graphs, *current.values()]}.values())
        numbers = {id(graph): number for number, graph in enumerate(graphs)}
        graph_of = np.array([*(numbers[id(current[i])] for i in range(self.num_envs)), 0], np.int64)
        stack = GraphBatch.of(graphs)
        continuing = np.setdiff1d(np.flatnonzero(walks.lengths), places)
        nodes = walks.nodes.copy()
        shift = stack.starts[graph_of[continuing]] - walks.stack.starts[walks.graph_of[continuing]]
        nodes[continuing] = np.where(nodes[continuing] >= 0, nodes[continuing] + shift[:, None], -1)
        return replace(walks, stack=stack, graph_of=graph_of, nodes=nodes), graph_of[places]

    # ---- observations and infos ---------------------------------------------------------------------------------

    def _observe(self) -> View:
        assert self._walks is not None
        self._view = self.observer.observe(self._walks, self._index, self.num_envs)
        return self._view

    def _get_values(self) -> Float64:
        """Return the last reward of each walk, 0 at the start."""
        assert self._walks is not None
        lengths = self._walks.lengths[:-1]
        values = self._walks.rewards[np.arange(self.num_envs), np.maximum(lengths - 2, 0)]
        return np.where(lengths > 1, values, 0.0)

    def _describe(self, view: View, present: Bools) -> dict[str, Any]:
        """Return `info` of the environments selected by `present`, in the format of Gymnasium."""
        info: dict[str, Any] = {
            "action_mask": view.observation["action_mask"].copy(),
            "node": self._get_last_labels(),
            "graph": self._index.copy(),
            "value": self._get_values(),
            "illegal_action": self._illegal.copy(),
            **view.info,
        }
        if not present.all():
            for array in info.values():
                array[~present] = None if array.dtype == object else 0
        return info | {f"_{key}": present.copy() for key in info}

    def _get_last_labels(self) -> NDArray[Any]:
        """Return the label of the last node of each walk; an array of objects unless all labels are integers."""
        walks, count = self._walks, self.num_envs
        assert walks is not None
        graph_of = walks.graph_of[:count]
        last = walks.nodes[np.arange(count), walks.lengths[:count] - 1] - walks.stack.starts[graph_of]
        graphs = walks.stack.graphs
        if all(isinstance(graph.names, RangeLabels) for graph in graphs):
            return last
        labels = [graphs[k].label(v) for k, v in zip(graph_of.tolist(), last.tolist(), strict=True)]
        if all(type(label) is int for label in labels):
            return np.array(labels)
        array = np.full(count, None, object)
        array[:] = labels
        return array
