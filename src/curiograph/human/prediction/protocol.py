"""A study of human choices: which people make the graph, whose choices are predicted, and from which candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Int64
from curiograph.errors import SettingError, WalkError
from curiograph.exploration.mdp import Candidates
from curiograph.graph.graph import Graph
from curiograph.human.choices.windows import Windows, find_all_candidates, find_linked_candidates
from curiograph.human.data.cooccurrence import Keep, Similarity, cooccurrence_graph, core
from curiograph.human.data.dataset import Dataset
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value
from curiograph.validation import check_integer, check_seed, is_number

CANDIDATES = {"last": find_linked_candidates, "all": find_all_candidates}
"""By name: the out-neighbours of the last node, and all nodes, less those in the history."""


@dataclass(frozen=True)
class Recipe:
    """How walks become a graph and choices to predict."""

    burn_in: int = 3
    """Visits that a prediction may use: n_burn-in."""
    makers: float = 0.5
    """Share of users who make the graph, and on whose walks rankers count; the choices of the others are predicted."""
    item_users: int = 5
    """Makers that an item of a co-occurrence graph needs, and"""
    user_items: int = 2
    """items that a maker needs, counted until both hold."""
    similarity: Similarity = "cosine"
    mean_degree: float = 16
    keep: Keep = "highest"

    def __post_init__(self) -> None:
        check_integer("burn_in", self.burn_in, 1, "give the visits that count as history, 1 or more")
        if not is_number(self.makers) or not 0 < self.makers < 1:
            raise SettingError(f"makers is {quote_value(self.makers)}; give a share of the users, between 0 and 1.")


MAX_CHOICES = {"last": 2000, "all": 200}
"""Choices to predict, by candidate set: to rank all nodes takes longer."""
RECIPES = {
    "wikispeedia": Recipe(burn_in=6),
    "movielens": Recipe(burn_in=6, item_users=10, user_items=20),
    "books": Recipe(item_users=25, user_items=10),
}
"""Of the paper's three datasets; others take the defaults."""


@dataclass(frozen=True, eq=False)
class Study:
    """Three groups of people, none in two: makers of the graph, and those to fit on and to test on, drawn anew in every
    split."""

    name: str
    recipe: Recipe
    graph: Graph
    makers: Trajectories
    """Walks of those who make the graph, on it. Rankers that count do so here."""
    others: Trajectories
    """Walks of those whose choices are predicted, on the graph."""
    most: Mapping[str, int]
    """Choices to predict at most, by candidate set."""
    seed: int

    @cached_property
    def choices(self) -> dict[str, Windows]:
        """Choices to predict, by candidate set; those among all nodes need not follow a link."""
        every = self.others.windows(self.recipe.burn_in)
        linked = every.along_links(self.graph)
        ranked = linked.rows(find_linked_candidates(self.graph, linked).counts > 1)
        if len(ranked) < 2:
            raise WalkError(
                f"{self.name}: there are {len(every):,} runs of {self.recipe.burn_in + 1} distinct visits, and "
                f"{len(ranked)} of them end with a choice between neighbours; give more walks, a denser graph, or a "
                "shorter burn-in."
            )
        both = {"last": ranked, "all": every}
        return {among: windows.drawn(self.most[among], self.seed) for among, windows in both.items()}

    @cached_property
    def candidates(self) -> dict[str, Candidates]:
        """The candidates of these choices."""
        return {name: CANDIDATES[name](self.graph, windows) for name, windows in self.choices.items()}

    @property
    def starts(self) -> Int64:
        """Nodes of any history."""
        return np.unique(np.concatenate([windows.histories.ravel() for windows in self.choices.values()]))

    def split(self, number: int, users: Int64) -> NDArray[np.bool_]:
        """Which of these users are tested in a split: half of all whose choices are predicted."""
        people = np.unique(self.others.users)
        order = np.random.default_rng([self.seed, 1 + number]).permutation(people)
        return np.isin(users, order[: len(people) // 2])

    def facts(self) -> dict[str, Any]:
        """What the study is made of."""
        return {
            "graph": repr(self.graph),
            "mean_degree": round(float(self.graph.degrees.mean()), 2),
            "users": {"makers": self.makers.num_users, "others": self.others.num_users},
            "choices": {name: len(windows) for name, windows in self.choices.items()},
            "along_edges": round(float(self._along), 4),
        }

    @property
    def _along(self) -> float:
        """Share of all choices that follow an edge."""
        every = self.others.windows(self.recipe.burn_in)
        return len(every.along_links(self.graph)) / max(1, len(every))


def make_study(
    dataset: Dataset, recipe: Recipe | None = None, most: Mapping[str, int] = MAX_CHOICES, seed: int = 0, **changes: Any
) -> Study:
    """Divide the users of a dataset, and make the graph if there is none: of makers' walks alone.

    >>> from pathlib import Path
    >>> walks = Trajectories.from_walks([["a", "b", "c", "d"], ["b", "c", "a", "d"]] * 6)
    >>> made = make_study(Dataset("mine", walks, Path("mine.csv")), mean_degree=3, item_users=3, burn_in=1)
    >>> made.graph, made.makers.num_users, made.others.num_users
    (Graph(4 nodes, 6 edges, undirected), 6, 6)
    """
    made = replace(recipe or RECIPES.get(dataset.name, Recipe()), **changes)
    seed = check_seed(seed)
    others, makers = dataset.walks.split(made.makers, seed)
    graph = dataset.graph
    if graph is None:
        graph = cooccurrence_graph(
            core(makers.compact(), made.item_users, made.user_items),
            similarity=made.similarity,
            mean_degree=made.mean_degree,
            fewest=made.item_users,
            keep=made.keep,
        )
    return Study(dataset.name, made, graph, makers.on(graph), others.on(graph), most, seed)
