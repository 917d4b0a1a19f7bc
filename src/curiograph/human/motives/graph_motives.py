"""Motives that score candidates by the graph and the visited nodes: agents, values of nodes, PageRank, other people."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from curiograph import kernels
from curiograph.agents.agent import Agent, score_candidates
from curiograph.agents.heuristics import GreedyAgent, MaxDegreeAgent, RandomAgent
from curiograph.arrays import Float64
from curiograph.centrality.history import make_uniform_teleport
from curiograph.centrality.pagerank import compute_flow_scales, compute_pagerank_rows
from curiograph.errors import SettingError
from curiograph.graph.csr import concatenate_ranges
from curiograph.graph.graph import Graph
from curiograph.human.choices.choice_sets import ChoiceSet
from curiograph.recommendation.count_rankers import Markov
from curiograph.recommendation.rankers import MAX_EXACT_NODES, PageRankRanker
from curiograph.rewards.reward_names import RewardLike

_TASK_SIZE, _LARGE_TASK_SIZE = 2**14, 2**18  # choices
_PAGERANK_BATCH = 64  # nodes from which PageRank is solved at a time: bounds the memory
_MIN_PAGERANK = 1e-6  # relative to the largest of a choice
_DIGITS = 9  # of scores relative to the largest of a choice; beyond, they differ by rounding
_EMPOWERED_STEPS = 2


class Motive(ABC):
    """Score of the candidates of choices: a person who follows the motive prefers higher scores."""

    name: str
    """Name of the motive in the results."""
    is_fitted_to_choices: ClassVar[bool] = False
    """Whether `fit` has to be called before `score_candidates`."""
    parameters: ClassVar[tuple[float, ...]] = (np.nan,)
    """Values of the parameter; the one that explains the choices of other people best is used."""

    def get_task_size(self, graph: Graph) -> int:
        """Return the number of choices to score in one task: about a second of work."""
        return _LARGE_TASK_SIZE

    def fit(self, choices: ChoiceSet) -> Motive:
        """Return the motive fitted to some choices."""
        return self

    def score_all(self, choices: ChoiceSet, parameters: Iterable[float]) -> Iterator[Float64]:
        """Yield the scores of the candidates for each value of the parameter."""
        for parameter in parameters:
            yield self.score_candidates(choices, parameter)

    @abstractmethod
    def score_candidates(self, choices: ChoiceSet, parameter: float = np.nan) -> Float64:
        """Return one score for each of `choices.candidates`, given the value of the parameter."""

    def compute_features(self, choices: ChoiceSet, scores: Float64) -> Float64:
        """Return scores on the scale on which weights are estimated; most motives keep that of the scores."""
        return scores


@dataclass(frozen=True)
class AgentMotive(Motive):
    """Scores of an agent."""

    name: str
    agent: Agent
    reward: RewardLike = "igt"

    def get_task_size(self, graph: Graph) -> int:
        return _LARGE_TASK_SIZE if isinstance(self.agent, (RandomAgent, MaxDegreeAgent)) else _TASK_SIZE

    def score_candidates(self, choices: ChoiceSet, parameter: float = np.nan) -> Float64:
        """Return the scores of the agent; the reward of a visit to a visited node is F(S), as S does not change."""
        if choices.returns and isinstance(self.agent, GreedyAgent):
            explorations = list(choices.iterate_explorations(self.reward))
            rows = choices.candidates.walks
            scores = np.concatenate([np.empty(0), *(walks.values for walks in explorations)])[rows]
            unvisited = [np.empty(0), *(walks.candidate_values for walks in explorations)]
            scores[~choices.is_visited] = np.concatenate(unvisited)
            largest = np.maximum.reduceat(np.abs(scores), choices.candidates.offsets[:-1])
            scale = np.where(largest > 0, largest, 1.0)[rows]
            return (scores / scale).round(_DIGITS) * scale
        if choices.returns and not isinstance(self.agent, (RandomAgent, MaxDegreeAgent)):
            raise SettingError(
                f"agent {self.agent.name!r} scores unvisited nodes only; leave it out, or give returns=False "
                "(--no-returns)."
            )
        batches = choices.iterate_explorations(self.reward, with_visited=choices.returns)
        return np.concatenate([np.empty(0), *(score_candidates(self.agent, walks) for walks in batches)])

    def compute_features(self, choices: ChoiceSet, scores: Float64) -> Float64:
        if isinstance(self.agent, MaxDegreeAgent):  # or its opposite, MinDegreeAgent
            return np.asarray(np.sign(scores) * np.log1p(np.abs(scores)))
        return scores


def compute_empowerment(graph: Graph) -> Float64:
    """Return log(1 + number of other nodes that can be reached in two steps) of every node.

    >>> from curiograph.graph.toys import cycle
    >>> np.exp(compute_empowerment(cycle(8))).round().tolist()
    [5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0]
    """
    reachable = kernels.memory_steps.count_reachable(graph.indptr, graph.indices, _EMPOWERED_STEPS)
    return np.asarray(np.log1p(reachable))


def compute_hubs(graph: Graph) -> Float64:
    """Return log(1 + number of nodes that link to it) of every node."""
    return np.log1p(np.bincount(graph.indices, minlength=graph.num_nodes))


_NODE_VALUES = {"empowerment": compute_empowerment, "hub": compute_hubs}


@dataclass(frozen=True)
class NodeMotive(Motive):
    """A value of the candidate on the graph, whatever the walk: `empowerment` or `hub`."""

    name: str

    def score_candidates(self, choices: ChoiceSet, parameter: float = np.nan) -> Float64:
        return _NODE_VALUES[self.name](choices.graph)[choices.candidates.nodes]


@dataclass(frozen=True)
class PageRankMotive(Motive):
    """PageRank that teleports to the visited nodes.

    On graphs of up to 50,000 nodes it is, up to a factor, the sum of the PageRanks from each visited node alone, each
    solved once per task; tasks are large for this reason. On larger graphs it is computed by `PageRankRanker`, locally
    around each history and to a few percent.
    """

    alpha: float = 0.85
    """Damping factor."""
    name: str = "pagerank"

    def get_task_size(self, graph: Graph) -> int:
        return _TASK_SIZE if graph.num_nodes > MAX_EXACT_NODES else _LARGE_TASK_SIZE

    def score_candidates(self, choices: ChoiceSet, parameter: float = np.nan) -> Float64:
        candidates = choices.candidates
        if choices.graph.num_nodes > MAX_EXACT_NODES:
            histories = [np.unique(history) for history in choices.windows.list_histories()]
            scores = PageRankRanker(self.alpha).scores(choices.graph, histories, candidates)
        else:
            scores = self.sum_visited(choices)
        largest = np.maximum.reduceat(scores, candidates.offsets[:-1]) if len(choices) else np.empty(0)
        relative: Float64 = scores / np.maximum(largest, np.finfo(float).tiny)[candidates.walks]
        return relative.round(_DIGITS)

    def compute_features(self, choices: ChoiceSet, scores: Float64) -> Float64:
        return np.log(np.maximum(scores, _MIN_PAGERANK))

    def sum_visited(self, choices: ChoiceSet) -> Float64:
        """Sum, for each candidate, the expected visits before the first teleport from each visited node."""
        graph, candidates, histories = choices.graph, choices.candidates, choices.windows.histories
        rows, columns = np.nonzero(histories >= 0)
        order = np.argsort(histories[rows, columns], kind="stable")
        rows, visited = rows[order], histories[rows, columns][order]
        sources, run_starts = np.unique(visited, return_index=True)
        run_stops = np.append(run_starts[1:], len(visited))
        scores = np.zeros(len(candidates.nodes))
        for begin in range(0, len(sources), _PAGERANK_BATCH):
            batch = slice(begin, begin + _PAGERANK_BATCH)
            teleports = [make_uniform_teleport(np.array([source])) for source in sources[batch]]
            ranks = compute_pagerank_rows(graph, self.alpha, teleports)
            visits = ranks * compute_flow_scales(graph, self.alpha, ranks)[:, None]
            for start, stop, visits_from_source in zip(run_starts[batch], run_stops[batch], visits, strict=True):
                offsets = candidates.offsets[rows[start:stop]]
                indices = concatenate_ranges(offsets, candidates.offsets[rows[start:stop] + 1] - offsets)
                scores[indices] += visits_from_source[candidates.nodes[indices]]
        return scores


@dataclass(frozen=True, eq=False)
class MarkovMotive(Motive):
    """Steps of other users from the last node to the candidate; ties are broken by their steps to it from any node.

    A user's own choices are never counted, neither when they are tested nor when p_g is fitted to them.
    """

    name: str = "markov"
    model: Markov | None = None
    """Counts of steps, or None before `fit`."""
    is_fitted_to_choices: ClassVar[bool] = True

    def fit(self, choices: ChoiceSet) -> MarkovMotive:
        windows = choices.windows
        model = Markov.from_steps(choices.graph, windows.histories[:, -1], windows.nexts, windows.users)
        return replace(self, model=model)

    def score_candidates(self, choices: ChoiceSet, parameter: float = np.nan) -> Float64:
        if self.model is None:
            raise SettingError(f"the motive {self.name} is not fitted; call fit first.")
        histories, users = choices.windows.list_histories(), choices.windows.users
        return self.model.scores(choices.graph, histories, choices.candidates, users)

    def compute_features(self, choices: ChoiceSet, scores: Float64) -> Float64:
        """Return log(1 + n), n being the number of steps of other users from the last node to the candidate."""
        assert self.model is not None
        rows, nodes, windows = choices.candidates.walks, choices.candidates.nodes, choices.windows
        links = windows.histories[rows, -1].astype(np.int64) * choices.graph.num_nodes + nodes
        return np.log1p(self.model.links.look_up(links, windows.users[rows]))


@dataclass(frozen=True, eq=False)
class PopulationNovelty(MarkovMotive):
    """Novelty for everyone: -log(1 + n), n being the number of steps of other users to the candidate."""

    name: str = "novelty-everyone"

    def score_candidates(self, choices: ChoiceSet, parameter: float = np.nan) -> Float64:
        assert self.model is not None
        nodes, users = choices.candidates.nodes.astype(np.int64), choices.windows.users[choices.candidates.walks]
        return -np.log1p(self.model.targets.look_up(nodes, users))

    def compute_features(self, choices: ChoiceSet, scores: Float64) -> Float64:
        return scores
