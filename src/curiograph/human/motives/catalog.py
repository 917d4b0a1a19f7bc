"""Motives: what may draw people to a candidate. Each scores the candidates of every choice."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from curiograph.agents.base import Agent, score_candidates
from curiograph.agents.heuristics import GreedyAgent, MaxDegreeAgent, RandomAgent
from curiograph.agents.registry import AgentLike, as_agent
from curiograph.arrays import Float64, Int32, Int64
from curiograph.centrality.history import make_uniform_teleport
from curiograph.centrality.pagerank import compute_flow_scales, compute_pagerank_rows
from curiograph.errors import SettingError, UnknownNameError
from curiograph.graph.csr import concatenate_ranges
from curiograph.graph.graph import Graph
from curiograph.human.choices.choice_sets import ChoiceSet
from curiograph.messages import quote_value
from curiograph.parallel.fingerprint import fingerprint
from curiograph.recommendation.rankers import MAX_EXACT_NODES, PageRankRanker
from curiograph.rewards.registry import RewardLike, as_reward

_TASK, _LARGE_TASK = 2**12, 2**18  # choices
_AT_ONCE = 64  # nodes from which PageRank is solved together: bounds the memory
_DIGITS = 9  # of scores relative to the largest of a choice; beyond, they differ by rounding


class Motive(ABC):
    """Scores the candidates of choices: the higher, the more a person with this motive is drawn to one."""

    name: str
    learns: ClassVar[bool] = False
    """Whether scores depend on what others chose."""

    def together(self, graph: Graph) -> int:
        """Choices of a task: about a second of work."""
        return _TASK

    def fit(self, known: ChoiceSet) -> Motive:
        """The same motive, learnt from these choices and no others."""
        return self

    @abstractmethod
    def scores(self, choices: ChoiceSet) -> Float64:
        """A number for each of `choices.candidates`."""

    @abstractmethod
    def about(self) -> list[Any]:
        """What tells it from any other motive, but for what it learnt."""

    def table(self, graph: Graph) -> int:
        """Bytes that it takes on a graph, whatever the number of choices."""
        return 0


@dataclass(frozen=True)
class AgentMotive(Motive):
    """What an agent wants: any candidate (uniform), the best connected (degree), more gaps or bits (igt, cpt)."""

    name: str
    agent: Agent
    reward: RewardLike = "igt"

    def scores(self, choices: ChoiceSet) -> Float64:
        found = [score_candidates(self.agent, walks) for walks in choices.explorations(self.reward)]
        return np.concatenate([np.empty(0), *found])

    def about(self) -> list[Any]:
        return [self.name, fingerprint("agent", self.agent), fingerprint("reward", as_reward(self.reward))]


@dataclass(frozen=True)
class PageRankMotive(Motive):
    """Personalised PageRank of the visited nodes.

    PageRank is, up to a factor, the sum of that from each visited node alone, so it is solved once for every node of a
    task, which is large for this reason. On a large graph it is looked for around each history instead, to a few
    percent, as `PageRankRanker` does.
    """

    alpha: float = 0.85
    name: str = "pagerank"

    def together(self, graph: Graph) -> int:
        return _TASK if graph.num_nodes > MAX_EXACT_NODES else _LARGE_TASK

    def scores(self, choices: ChoiceSet) -> Float64:
        c = choices.candidates
        large = choices.graph.num_nodes > MAX_EXACT_NODES
        scores = self._around(choices) if large else self._solved(choices)
        largest = np.maximum.reduceat(scores, c.offsets[:-1]) if len(choices) else np.empty(0)
        relative: Float64 = scores / np.maximum(largest, np.finfo(float).tiny)[c.walks]
        return relative.round(_DIGITS)

    def _around(self, choices: ChoiceSet) -> Float64:
        histories = [row[row >= 0] for row in choices.windows.histories]
        return PageRankRanker(self.alpha).scores(
            choices.graph, [np.unique(row) for row in histories], choices.candidates
        )

    def _solved(self, choices: ChoiceSet) -> Float64:
        c, histories = choices.candidates, choices.windows.histories
        rows, columns = np.nonzero(histories >= 0)
        order = np.argsort(histories[rows, columns], kind="stable")
        rows, visited = rows[order], histories[rows, columns][order]
        sources, firsts = np.unique(visited, return_index=True)
        ends = np.append(firsts[1:], len(visited))
        scores = np.zeros(len(c.nodes))
        for block in range(0, len(sources), _AT_ONCE):
            some = slice(block, block + _AT_ONCE)
            for first, end, flows in zip(firsts[some], ends[some], self._flows(choices, sources[some]), strict=True):
                mine = _candidates(c.offsets, rows[first:end])
                scores[mine] += flows[c.nodes[mine]]
        return scores

    def _flows(self, choices: ChoiceSet, sources: Int32) -> Float64:
        """Visits before the first teleport from each source: PageRank, not scaled for walkers lost at dead ends."""
        ranks = compute_pagerank_rows(
            choices.graph, self.alpha, [make_uniform_teleport(np.array([source])) for source in sources]
        )
        flows: Float64 = ranks * compute_flow_scales(choices.graph, self.alpha, ranks)[:, None]
        return flows

    def about(self) -> list[Any]:
        return [self.name, self.alpha]

    def table(self, graph: Graph) -> int:
        return 0 if graph.num_nodes > MAX_EXACT_NODES else 4 * 8 * _AT_ONCE * graph.num_nodes


def _candidates(offsets: Int64, rows: Int64) -> Int64:
    """Places of all candidates of some choices.

    >>> _candidates(np.array([0, 2, 3, 5]), np.array([0, 2])).tolist()
    [0, 1, 3, 4]
    """
    counts = offsets[rows + 1] - offsets[rows]
    return concatenate_ranges(offsets[rows], counts)


@dataclass(frozen=True, eq=False)
class _Counts:
    """How often something was done, and by whom."""

    keys: Int64
    """What was done, ascending, each once."""
    times: Int64
    pairs: Int64
    """Who did what: user times the number of keys, plus the place of the key; ascending."""
    pair_times: Int64

    @classmethod
    def of(cls, keys: Int64, users: Int64) -> _Counts:
        """Count what each of some users did."""
        found, places, times = np.unique(keys, return_inverse=True, return_counts=True)
        pairs, pair_times = np.unique(users * len(found) + places, return_counts=True)
        return cls(found, times, pairs, pair_times)

    def by_others(self, keys: Int64, users: Int64) -> Int64:
        """How often people other than each user did this.

        >>> counts = _Counts.of(np.array([5, 7, 5]), np.array([0, 0, 1]))
        >>> counts.by_others(np.array([5, 7, 5, 6]), np.array([0, 0, 2, 1])).tolist()
        [1, 0, 2, 0]
        """
        if len(self.keys) == 0:
            return np.zeros(len(keys), np.int64)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        own = users * len(self.keys) + place
        mine = np.minimum(np.searchsorted(self.pairs, own), len(self.pairs) - 1)
        by_user = np.where(self.pairs[mine] == own, self.pair_times[mine], 0)
        return np.where(self.keys[place] == keys, self.times[place] - by_user, 0)


@dataclass(frozen=True, eq=False)
class MarkovMotive(Motive):
    """Where others went from here; where nobody did, and between equals, where others went from anywhere.

    A person's own choices never count for her: neither are they known when she is tested, nor when p_g is fitted.
    """

    name: str = "markov"
    links: _Counts | None = None
    """Links that were taken, and"""
    ends: _Counts | None = None
    """nodes that they led to."""
    learns: ClassVar[bool] = True

    def fit(self, known: ChoiceSet) -> MarkovMotive:
        windows = known.windows
        links = windows.histories[:, -1].astype(np.int64) * known.graph.num_nodes + windows.nexts
        ends = windows.nexts.astype(np.int64)
        return replace(self, links=_Counts.of(links, windows.users), ends=_Counts.of(ends, windows.users))

    def scores(self, choices: ChoiceSet) -> Float64:
        if self.links is None or self.ends is None:
            raise SettingError("the motive markov has learnt from nobody; call taught first.")
        c = choices.candidates
        users = choices.windows.users[c.walks]
        links = choices.windows.histories[:, -1].astype(np.int64)[c.walks] * choices.graph.num_nodes + c.nodes
        from_here = self.links.by_others(links, users)
        from_anywhere = self.ends.by_others(c.nodes.astype(np.int64), users)
        return from_here + from_anywhere / (1 + int(self.ends.times.sum()))

    def about(self) -> list[Any]:
        return [self.name]


MOTIVES: dict[str, Callable[[], Motive]] = {
    "uniform": lambda: AgentMotive("uniform", RandomAgent()),
    "degree": lambda: AgentMotive("degree", MaxDegreeAgent()),
    "pagerank": PageRankMotive,
    "igt": lambda: AgentMotive("igt", GreedyAgent(), "igt"),
    "cpt": lambda: AgentMotive("cpt", GreedyAgent(), "cpt"),
    "markov": MarkovMotive,
}


def as_motives(names: Any, agents: Any, reward: RewardLike) -> list[Motive]:
    """The motives that are meant by names, and those of agents; each has a name of its own.

    >>> [motive.name for motive in as_motives(["igt"], ["random"], "igt")]
    ['igt', 'random']
    >>> as_motives(["joy"], [], "igt")
    Traceback (most recent call last):
    curiograph.errors.UnknownNameError: there is no motive 'joy'; the motives are uniform, degree, ...
    """
    made = [_named(name) for name in _listed("motives", names)]
    valued = as_reward(reward)
    made += [AgentMotive(agent.name, agent, valued) for agent in map(as_agent, _listed("agents", agents))]
    called = [motive.name for motive in made]
    if not called:
        raise SettingError("there are no motives to compare; give at least one.")
    for name in called:
        if called.count(name) > 1:
            raise SettingError(f"two motives are called {name!r}; give each once, agents under names of their own.")
    return made


def _listed(what: str, given: Any) -> Sequence[AgentLike]:
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise SettingError(f"{what} is {quote_value(given)}; give a list.")
    return given


def _named(name: Any) -> Motive:
    if name not in MOTIVES:
        raise UnknownNameError(
            f"there is no motive {quote_value(name)}; the motives are {', '.join(MOTIVES)}, and agents are given as such."
        )
    return MOTIVES[name]()
