"""The motives that `hypotheses` compares, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from curiograph.agents.agent_names import as_agent
from curiograph.agents.heuristics import GreedyAgent, MaxDegreeAgent, RandomAgent
from curiograph.errors import SettingError, UnknownNameError, quote_value
from curiograph.graph.similarity import Similarity
from curiograph.human.choices.choice_sets import ChoiceSet
from curiograph.human.motives.graph_motives import (
    AgentMotive,
    MarkovMotive,
    Motive,
    NodeMotive,
    PageRankMotive,
    PopulationNovelty,
)
from curiograph.human.motives.history_motives import (
    LearnedGraphMotive,
    OptionMotive,
    SimilarityMotive,
    TargetDistanceMotive,
    VisitMotive,
)
from curiograph.rewards.reward_names import RewardLike, as_reward

_KINDS = {"novelty": 0, "surprise": 1, "information-gain": 2, "recency": 3, "empowerment": 4}  # codes of kernels
MOTIVES: dict[str, Callable[[], Motive]] = {
    "uniform": lambda: AgentMotive("uniform", RandomAgent()),
    "degree": lambda: AgentMotive("degree", MaxDegreeAgent()),
    "pagerank": PageRankMotive,
    "igt": lambda: AgentMotive("igt", GreedyAgent(), "igt"),
    "cpt": lambda: AgentMotive("cpt", GreedyAgent(), "cpt"),
    "cct": lambda: AgentMotive("cct", GreedyAgent(), "cct"),
    "markov": MarkovMotive,
    "novelty": lambda: VisitMotive("novelty", _KINDS["novelty"]),
    "novelty-everyone": PopulationNovelty,
    "surprise": lambda: VisitMotive("surprise", _KINDS["surprise"]),
    "information-gain": lambda: VisitMotive("information-gain", _KINDS["information-gain"]),
    "recency": lambda: VisitMotive("recency", _KINDS["recency"]),
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
    **{name: lambda name=name, kind=kind: OptionMotive(name, kind) for name, kind in _KINDS.items()},  # type: ignore[misc]
}
"""Functions that create the motives of a `ChoiceTable`, by name."""


def as_motives(
    names: Any, agents: Any, reward: RewardLike, choices: ChoiceSet, similarity: Similarity | None = None
) -> list[Motive]:
    """Return the motives with the given names, or else all that these choices have, then one for each agent.

    The motives of games are among all if the walks have targets, and `hub` if links are directed, since it equals
    `degree` otherwise. With a similarity, the motive `similarity` is added unless a motive that uses it is named.

    >>> from curiograph.human.choices.choice_sets import find_choices
    >>> from curiograph.human.trajectories import Trajectories
    >>> from curiograph.graph.toys import cycle
    >>> choices, _ = find_choices(cycle(4), Trajectories.from_walks([[0, 1]], graph=cycle(4)), burn_in=1)
    >>> [motive.name for motive in as_motives(["igt"], ["random"], "igt", choices)]
    ['igt', 'random']
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
