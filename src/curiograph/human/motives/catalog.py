"""Motives: hypotheses about what drives a person's next choice, each a score of the candidates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from curiograph.agents.agent import Agent, score_candidates
from curiograph.agents.agent_names import as_agent
from curiograph.agents.heuristics import GreedyAgent, MaxDegreeAgent, RandomAgent
from curiograph.arrays import Float64
from curiograph.centrality.history import make_uniform_teleport
from curiograph.centrality.pagerank import compute_flow_scales, compute_pagerank_rows
from curiograph.errors import SettingError, UnknownNameError, quote_value
from curiograph.graph.csr import concatenate_ranges
from curiograph.graph.graph import Graph
from curiograph.graph.similarity import Similarity
from curiograph.human.choices.choice_sets import ChoiceSet
from curiograph.human.trajectories import Windows
from curiograph.recommendation.count_rankers import Markov
from curiograph.recommendation.rankers import MAX_EXACT_NODES, PageRankRanker
from curiograph.rewards.reward_names import RewardLike, as_reward

_TASK_SIZE, _LARGE_TASK_SIZE = 2**12, 2**18  # choices
_PAGERANK_BATCH = 64  # nodes from which PageRank is solved at a time: bounds the memory
_DIGITS = 9  # of scores relative to the largest of a choice; beyond, they differ by rounding


class Motive(ABC):
    """Score of the candidates of choices: a person who follows the motive prefers higher scores."""

    name: str
    """Name of the motive in the results."""
    is_fitted_to_choices: ClassVar[bool] = False
    """Whether `fit` has to be called before `score_candidates`."""

    def get_task_size(self, graph: Graph) -> int:
        """Return the number of choices to score in one task: about a second of work."""
        return _TASK_SIZE

    def fit(self, graph: Graph, windows: Windows) -> Motive:
        """Return the motive fitted to some choices on a graph."""
        return self

    @abstractmethod
    def score_candidates(self, choices: ChoiceSet) -> Float64:
        """Return one score for each of `choices.candidates`."""


@dataclass(frozen=True)
class AgentMotive(Motive):
    """Scores of an agent."""

    name: str
    agent: Agent
    reward: RewardLike = "igt"

    def score_candidates(self, choices: ChoiceSet) -> Float64:
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
                f"agent {self.agent.name!r} scores unvisited nodes only; leave it out, or leave out returns."
            )
        batches = choices.iterate_explorations(self.reward, with_visited=choices.returns)
        return np.concatenate([np.empty(0), *(score_candidates(self.agent, walks) for walks in batches)])


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

    def score_candidates(self, choices: ChoiceSet) -> Float64:
        candidates = choices.candidates
        if choices.graph.num_nodes > MAX_EXACT_NODES:
            histories = [np.unique(history) for history in choices.windows.list_histories()]
            scores = PageRankRanker(self.alpha).scores(choices.graph, histories, candidates)
        else:
            scores = self.sum_visited(choices)
        largest = np.maximum.reduceat(scores, candidates.offsets[:-1]) if len(choices) else np.empty(0)
        relative: Float64 = scores / np.maximum(largest, np.finfo(float).tiny)[candidates.walks]
        return relative.round(_DIGITS)

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

    def fit(self, graph: Graph, windows: Windows) -> MarkovMotive:
        model = Markov.from_steps(graph, windows.histories[:, -1], windows.nexts, windows.users)
        return MarkovMotive(name=self.name, model=model)

    def score_candidates(self, choices: ChoiceSet) -> Float64:
        if self.model is None:
            raise SettingError("the motive markov is not fitted; call fit first.")
        histories, users = choices.windows.list_histories(), choices.windows.users
        return self.model.scores(choices.graph, histories, choices.candidates, users)


@dataclass(frozen=True, eq=False)
class SimilarityMotive(Motive):
    """Similarity in meaning of the candidate to the last node, or its mean over all visited nodes."""

    similarity: Similarity
    """Similarity of the nodes of the graph."""
    whole_history: bool = False
    """Whether the score is the mean similarity to all visited nodes, instead of that to the last one."""

    @property
    def name(self) -> str:  # type: ignore[override]
        """Name of the motive in the results."""
        return SIMILARITY_MOTIVES[self.whole_history]

    def score_candidates(self, choices: ChoiceSet) -> Float64:
        histories, candidates = choices.windows.histories, choices.candidates
        if not self.whole_history:
            return self.similarity.compute_pairs(histories[candidates.walks, -1], candidates.nodes)
        totals = np.zeros(len(candidates.nodes))
        for column in histories.T:
            visited = column[candidates.walks]
            inside = visited >= 0
            totals[inside] += self.similarity.compute_pairs(visited[inside], candidates.nodes[inside])
        means: Float64 = totals / np.count_nonzero(histories >= 0, axis=1)[candidates.walks]
        return means


SIMILARITY_MOTIVES = ("similarity", "similarity-history")
"""Names of the motives that need a `Similarity`."""
MOTIVES: dict[str, Callable[[], Motive]] = {
    "uniform": lambda: AgentMotive("uniform", RandomAgent()),
    "degree": lambda: AgentMotive("degree", MaxDegreeAgent()),
    "pagerank": PageRankMotive,
    "igt": lambda: AgentMotive("igt", GreedyAgent(), "igt"),
    "cpt": lambda: AgentMotive("cpt", GreedyAgent(), "cpt"),
    "cct": lambda: AgentMotive("cct", GreedyAgent(), "cct"),
    "markov": MarkovMotive,
}
"""Functions that create the motives, by name."""


def as_motives(names: Any, agents: Any, reward: RewardLike, similarity: Similarity | None = None) -> list[Motive]:
    """Return the motives with the given names, then one for each agent; all names must differ.

    With a similarity, the motive `similarity` is added unless a motive that uses it is named.

    >>> [motive.name for motive in as_motives(["igt"], ["random"], "igt")]
    ['igt', 'random']
    """
    for argument, value in (("motives", names), ("agents", agents)):
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise SettingError(f"{argument} is {quote_value(value)}; give a list.")
    if similarity is not None and not any(name in names for name in SIMILARITY_MOTIVES):
        names = [*names, "similarity"]
    motives: list[Motive] = []
    for name in names:
        if name in MOTIVES:
            motives.append(MOTIVES[name]())
        elif name not in SIMILARITY_MOTIVES:
            known = ", ".join([*MOTIVES, *SIMILARITY_MOTIVES])
            raise UnknownNameError(f"there is no motive {quote_value(name)}; the motives are {known}, and any agents.")
        elif similarity is None:
            raise SettingError(f"the motive {name} needs similarity=Similarity.from_texts(graph, texts).")
        else:
            motives.append(SimilarityMotive(similarity, whole_history=name == "similarity-history"))
    motives += [AgentMotive(agent.name, agent, as_reward(reward)) for agent in map(as_agent, agents)]
    all_names = [motive.name for motive in motives]
    if not motives or len(set(all_names)) < len(all_names):
        raise SettingError(f"the motives are {all_names}; give at least one, and each once.")
    return motives
