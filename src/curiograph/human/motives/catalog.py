"""The motives that `hypotheses` compares: scores of the candidates of choices, by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from curiograph import kernels
from curiograph.agents.agent import Agent, score_candidates
from curiograph.agents.agent_names import as_agent
from curiograph.agents.heuristics import GreedyAgent, MaxDegreeAgent, RandomAgent
from curiograph.arrays import Float64
from curiograph.centrality.pagerank import iterate_visits
from curiograph.errors import SettingError, UnknownNameError, quote_value
from curiograph.graph.csr import concatenate_ranges
from curiograph.graph.graph import Graph
from curiograph.graph.similarity import Similarity
from curiograph.human.choices.choice_sets import ChoiceSet
from curiograph.human.choices.target_distances import target_distances
from curiograph.recommendation.count_rankers import Markov
from curiograph.recommendation.rankers import MAX_EXACT_NODES, PageRankRanker
from curiograph.rewards.reward_names import RewardLike, as_reward

_TASK_SIZE, _LARGE_TASK_SIZE = 2**14, 2**18  # choices
_MIN_PAGERANK = 1e-6  # relative to the largest of a choice
_DIGITS = 9  # of scores; beyond, they differ by rounding
_EMPOWERED_STEPS = 2
_LEAKS = (1.0, 0.98, 0.9, 0.7)
_ETAS = (0.2, 0.5, 0.8, 0.95)
_DISCOUNTS = (0.0, 0.5, 0.8, 0.95)
_NO_PARAMETER = (np.nan,)
_KINDS = {"novelty": 0, "surprise": 1, "information-gain": 2, "recency": 3, "empowerment": 4}  # codes of kernels
_LEAST_TERMS, _MOST_TERMS = 6, 64
_SERIES_COST = 3e9  # products of terms, nodes and links: a few seconds
_TINY = 1e-12  # of a remembered transition probability


class Motive(ABC):
    """Score of the candidates of choices: a person who follows the motive prefers higher scores."""

    name: str
    """Name of the motive in the results."""
    is_fitted_to_choices: ClassVar[bool] = False
    """Whether `fit` has to be called before `score_candidates`."""
    parameters: tuple[float, ...] = _NO_PARAMETER
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


@dataclass(frozen=True)
class NodeMotive(Motive):
    """A count of nodes whatever the walk: those that the candidate reaches in two steps, or that link to a `hub`."""

    name: str

    def score_candidates(self, choices: ChoiceSet, parameter: float = np.nan) -> Float64:
        graph = choices.graph
        if self.name == "hub":
            counts = np.bincount(graph.indices, minlength=graph.num_nodes)
        else:
            counts = kernels.memory_steps.count_reachable(graph.indptr, graph.indices, _EMPOWERED_STEPS)
        return np.asarray(np.log1p(counts)[choices.candidates.nodes])


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
            scores = PageRankRanker(self.alpha, support=0.0).scores(choices.graph, histories, candidates)
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
        solved = iterate_visits(graph, self.alpha, sources)
        for start, stop, (visits, _) in zip(run_starts, run_stops, solved, strict=True):
            offsets = candidates.offsets[rows[start:stop]]
            indices = concatenate_ranges(offsets, candidates.offsets[rows[start:stop] + 1] - offsets)
            scores[indices] += visits[candidates.nodes[indices]]
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
        assert self.model is not None
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


# ---- what the person has seen, meaning, and targets -----------------------------------------------------------------


@dataclass(frozen=True)
class VisitMotive(Motive):
    """Novelty, surprise, information gain or recency of the candidate, from counts of earlier visits of the person."""

    name: str
    parameters: tuple[float, ...] = _LEAKS
    """Factors of counts per visit."""

    def score_candidates(self, choices: ChoiceSet, parameter: float = 1.0) -> Float64:
        walks, visits, candidates = choices.walks, choices.windows.visits, choices.candidates
        assert walks is not None
        assert visits is not None
        scores: Float64 = kernels.visit_counts.score_candidates(
            walks.nodes, walks.offsets, walks.users, visits, np.argsort(visits), candidates.offsets, candidates.nodes,
            choices.graph.degrees, _KINDS[self.name], parameter,
        )  # fmt: skip
        return scores


@dataclass(frozen=True)
class OptionMotive(Motive):
    """Novelty, surprise, information gain, recency or empowerment of an option, from outcomes that the person saw.

    The first three are rewards, of which an option has the expected discounted sum.
    """

    name: str
    parameters: tuple[float, ...] = _DISCOUNTS

    def score_candidates(self, choices: ChoiceSet, parameter: float = 0.0) -> Float64:
        table, rows, candidates = choices.table, choices.windows.visits, choices.candidates
        assert table is not None
        assert rows is not None
        scores: Float64 = kernels.learned_values.score_options(
            table.users, table.is_first, table.states, table.chosen, table.outcomes, rows, candidates.offsets,
            candidates.nodes - len(table.owned_bounds) + 1, table.owned, table.owned_bounds, _KINDS[self.name],
            parameter,
        )  # fmt: skip
        return scores.round(_DIGITS)


@dataclass(frozen=True)
class LearnedGraphMotive(Motive):
    """Transition probability from the last node to the candidate in a graph as remembered with errors.

    It is (1 - eta) P (1 - eta P)^-1, P being the probabilities of a random step (Lynn et al. 2020): a series in eta, of
    which the terms after the last one are taken to be equal to it.
    """

    name: str = "learned-graph"
    parameters: tuple[float, ...] = _ETAS

    def score_all(self, choices: ChoiceSet, parameters: Iterable[float]) -> Iterator[Float64]:
        graph, candidates = choices.graph, choices.candidates
        size, transition = graph.num_nodes, graph.transition
        last = choices.windows.histories[:, -1].astype(np.int64)
        pairs, pair_of = np.unique(last[candidates.walks] * size + candidates.nodes, return_inverse=True)
        sources, starts = np.unique(pairs // size, return_index=True)
        indptr, indices, weights = transition.out_rows
        rows = np.repeat(np.arange(size), np.diff(indptr))
        chances = transition.share[rows] * (1.0 if weights is None else weights)
        count = int(np.clip(_SERIES_COST / max(1, len(sources) * len(indices)), _LEAST_TERMS, _MOST_TERMS))
        bounds = np.append(starts, len(pairs)).astype(np.int64)
        terms = kernels.memory_steps.compute_powers(indptr, indices, chances, sources, bounds, pairs % size, count)
        for eta in parameters:
            shares = (1 - eta) * eta ** np.arange(len(terms))
            shares[-1] = eta ** (len(terms) - 1)
            yield np.log(np.maximum(shares @ terms, _TINY)).round(_DIGITS)[pair_of]

    def score_candidates(self, choices: ChoiceSet, parameter: float = 0.5) -> Float64:
        return next(self.score_all(choices, [parameter]))


@dataclass(frozen=True, eq=False)
class SimilarityMotive(Motive):
    """Similarity in meaning of the candidate to the last node, to all visited nodes on average, or to the target."""

    similarity: Similarity
    """Similarity of the nodes of the graph."""
    name: str = "similarity"

    def score_candidates(self, choices: ChoiceSet, parameter: float = np.nan) -> Float64:
        histories, candidates = choices.windows.histories, choices.candidates
        compared = {"similarity": histories[:, -1:], "target-similarity": choices.targets[:, None]}
        totals, columns = np.zeros(len(candidates.nodes)), compared.get(self.name, histories)
        for column in columns.T:
            nodes = column[candidates.walks]
            inside = nodes >= 0
            totals[inside] += self.similarity.compute_pairs(nodes[inside], candidates.nodes[inside])
        means: Float64 = totals / np.maximum(np.count_nonzero(columns >= 0, axis=1), 1)[candidates.walks]
        return means


@dataclass(frozen=True)
class TargetDistanceMotive(Motive):
    """Minus the number of links from the candidate to the target; one more than the longest path if there is none."""

    name: str = "target-distance"

    def score_candidates(self, choices: ChoiceSet, parameter: float = np.nan) -> Float64:
        candidates = choices.candidates
        targets = choices.targets[candidates.walks]
        known = targets >= 0
        distances = np.zeros(len(targets))
        distances[known] = target_distances(choices.graph, candidates.nodes[known], targets[known])
        distances[distances < 0] = distances.max(initial=0) + 1
        return -distances


# ---- names ----------------------------------------------------------------------------------------------------------

MOTIVES: dict[str, Callable[[], Motive]] = {
    "uniform": lambda: AgentMotive("uniform", RandomAgent()),
    "degree": lambda: AgentMotive("degree", MaxDegreeAgent()),
    "pagerank": PageRankMotive,
    "igt": lambda: AgentMotive("igt", GreedyAgent(), "igt"),
    "cpt": lambda: AgentMotive("cpt", GreedyAgent(), "cpt"),
    "cct": lambda: AgentMotive("cct", GreedyAgent(), "cct"),
    "markov": MarkovMotive,
    "novelty": lambda: VisitMotive("novelty"),
    "novelty-everyone": PopulationNovelty,
    "surprise": lambda: VisitMotive("surprise"),
    "information-gain": lambda: VisitMotive("information-gain"),
    "recency": lambda: VisitMotive("recency", _NO_PARAMETER),
    "empowerment": lambda: NodeMotive("empowerment"),
    "learned-graph": LearnedGraphMotive,
}
"""Functions that create the motives of walks, by name."""
TARGET_MOTIVES: dict[str, Callable[[], Motive]] = {
    "target-distance": TargetDistanceMotive,
    "hub": lambda: NodeMotive("hub"),
}
"""Functions that create the motives of games with a target, by name."""
SIMILARITY_MOTIVES = ("similarity", "similarity-history", "target-similarity")
"""Names of the motives that need a `Similarity`."""
OPTION_MOTIVES: dict[str, Callable[[], Motive]] = {
    "uniform": MOTIVES["uniform"],
    "markov": MarkovMotive,
    "novelty": lambda: OptionMotive("novelty"),
    "surprise": lambda: OptionMotive("surprise"),
    "information-gain": lambda: OptionMotive("information-gain"),
    "recency": lambda: OptionMotive("recency", _NO_PARAMETER),
    "empowerment": lambda: OptionMotive("empowerment", _NO_PARAMETER),
}
"""Functions that create the motives of a `ChoiceTable`, by name."""


def as_motives(
    names: Any, agents: Any, reward: RewardLike, choices: ChoiceSet, similarity: Similarity | None = None
) -> list[Motive]:
    """Return the motives with the given names, or else all that these choices have, then one for each agent.

    The motives of games are among all if the walks have targets, and `hub` if links are directed, since it equals
    `degree` otherwise. With a similarity, the motive `similarity` is added unless a motive that uses it is named.
    """
    has_targets, table = bool((choices.targets >= 0).any()), choices.table
    known = OPTION_MOTIVES if table is not None else MOTIVES | TARGET_MOTIVES
    if names is None:
        names = [*(OPTION_MOTIVES if table is not None else MOTIVES)]
        names += ["target-distance"] * has_targets + ["hub"] * (has_targets and choices.graph.directed)
        names += ["target-similarity"] * (has_targets and similarity is not None)
        names += ["similarity"] * (similarity is not None)
    for argument, value in (("motives", names), ("agents", agents)):
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise SettingError(f"{argument} is {quote_value(value)}; give a list.")
    if similarity is not None and not any(name in names for name in SIMILARITY_MOTIVES):
        names = [*names, "similarity"]
    motives: list[Motive] = []
    for name in names:
        if name in ("target-distance", "target-similarity") and not has_targets:
            raise SettingError(f"the motive {name} needs the targets of the walks; see Trajectories.from_walks.")
        if name in known:
            motives.append(known[name]())
        elif name not in SIMILARITY_MOTIVES or table is not None:
            listed = ", ".join([*known, *(SIMILARITY_MOTIVES if table is None else ())])
            raise UnknownNameError(f"there is no motive {quote_value(name)}; the motives are {listed}, and any agents.")
        elif similarity is None:
            raise SettingError(f"the motive {name} needs similarity=Similarity.from_texts(graph, texts).")
        else:
            motives.append(SimilarityMotive(similarity, name))
    motives += [AgentMotive(agent.name, agent, as_reward(reward)) for agent in map(as_agent, agents)]
    all_names = [motive.name for motive in motives]
    if not motives or len(set(all_names)) < len(all_names):
        raise SettingError(f"the motives are {all_names}; give at least one, and each once.")
    return motives
