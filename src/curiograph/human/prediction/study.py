"""Protocol of a prediction study: groups of users, graph, and choices to predict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Int64
from curiograph.errors import SettingError, WalkError, quote_value
from curiograph.graph.graph import Graph
from curiograph.human.choices.choice_sets import CandidateScope, ChoiceSet
from curiograph.human.data.cooccurrence import ItemSimilarity, Keep, cooccurrence_graph, core
from curiograph.human.data.datasets import Dataset
from curiograph.human.trajectories import Trajectories
from curiograph.results import Skipped
from curiograph.validation import check_choice, check_integer, is_number


@dataclass(frozen=True)
class Recipe:
    """How walks become a graph and choices to predict.

    Examples
    --------
    >>> Recipe(burn_in=6).item_users
    5
    """

    burn_in: int = 3
    """Number of visits before a choice that predictions are based on, called n_burn-in in the paper."""
    makers: float = 0.5
    """Share of graph users, from whose walks the graph is built and the count-based baselines are fitted."""
    item_users: int = 5
    """Minimum number of graph users of an item; an item with fewer is attached by few links to a "knn" graph, and left
    out of the others."""
    user_items: int = 2
    """Minimum number of items of a graph user; not used for a "knn" graph."""
    similarity: ItemSimilarity = "cosine"
    """Similarity of two items: "cosine" or "pmi"."""
    keep: Keep = "knn"
    """Which pairs of items become edges, as for `cooccurrence_graph`."""
    neighbors: int | None = None
    """Number of nearest items of each item in a "knn" graph; 10 if None."""
    mean_degree: float | None = None
    """Mean degree of a "highest" graph; 16 if None."""

    def __post_init__(self) -> None:
        check_integer("burn_in", self.burn_in, 1, "give the number of visits of a history, 1 or more")
        if not is_number(self.makers) or not 0 < self.makers < 1:
            raise SettingError(f"makers is {quote_value(self.makers)}; give a share of the users, between 0 and 1.")


MAX_CHOICES: dict[CandidateScope, int] = {"last": 2000, "all": 200}
"""Maximum number of choices to predict, by candidate set."""
RECIPES = {"wikispeedia": Recipe(burn_in=6), "movielens": Recipe(burn_in=6)}
"""Recipes of datasets; others use the defaults."""
CORE_RECIPES = {
    "wikispeedia": Recipe(burn_in=6),
    "movielens": Recipe(burn_in=6, item_users=10, user_items=20, keep="highest", mean_degree=16),
    "books": Recipe(item_users=25, user_items=10, keep="highest", mean_degree=16),
}
"""Recipes of the three datasets of the paper with graphs of a dense core of items and users."""


def get_recipe(name: str, keep: Keep = "knn") -> Recipe:
    """Return the recipe of a dataset with a graph of some kind, as for `cooccurrence_graph`."""
    recipes = RECIPES if keep == "knn" else CORE_RECIPES
    return replace(recipes.get(name, Recipe()), keep=check_choice("keep", keep, get_args(Keep)))


@dataclass(frozen=True, eq=False)
class Study:
    """Graph users, who are fixed, and other users, whom each split divides into training users and test users."""

    name: str
    """Name of the dataset."""
    recipe: Recipe
    """How the walks became a graph and choices."""
    graph: Graph
    """Graph of the choices."""
    graph_walks: Trajectories
    """Walks of the graph users, on the graph."""
    choice_walks: Trajectories
    """Walks of the training and test users, on the graph."""
    max_choices: Mapping[CandidateScope, int]
    """Maximum number of choices to predict, by candidate set."""
    seed: int
    """Seed of the groups of users and of the sampled choices."""
    skipped: Skipped = field(default_factory=Skipped)
    """What was dropped when the walks were read and matched with the graph."""

    @cached_property
    def choices(self) -> dict[CandidateScope, ChoiceSet]:
        """Choices to predict, by candidate set; only choices among "last" follow a link."""
        windows = self.choice_walks.windows(self.recipe.burn_in)
        linked = ChoiceSet.from_windows(self.graph, windows.along_links(self.graph))
        among_several = linked.windows.rows(linked.candidates.counts > 1)
        if len(among_several) < 2:
            raise WalkError(
                f"{self.name}: there are {len(windows):,} runs of {self.recipe.burn_in + 1} distinct visits, and "
                f"{len(among_several)} of them end with a choice between neighbors; give more walks, a denser graph, "
                "or a shorter burn-in."
            )
        eligible: dict[CandidateScope, Any] = {"last": among_several, "all": windows}
        return {
            among: ChoiceSet.from_windows(self.graph, found.sample(self.max_choices[among], self.seed), among)
            for among, found in eligible.items()
        }

    @property
    def starts(self) -> Int64:
        """Nodes of all histories."""
        return np.unique(np.concatenate([choices.windows.histories.ravel() for choices in self.choices.values()]))

    def split(self, number: int, users: Int64) -> NDArray[np.bool_]:
        """Return which of some users are test users of a split: half of the users who are not graph users."""
        population = np.unique(self.choice_walks.users)
        order = np.random.default_rng([self.seed, 1 + number]).permutation(population)
        return np.isin(users, order[: len(population) // 2])

    def summarize(self) -> dict[str, Any]:
        """Return the size of the study as plain values."""
        windows = self.choice_walks.windows(self.recipe.burn_in)
        return {
            "graph": repr(self.graph),
            "mean_degree": round(float(self.graph.degrees.mean()), 2),
            "users": {"makers": self.graph_walks.num_users, "others": self.choice_walks.num_users},
            "choices": {among: len(choices) for among, choices in self.choices.items()},
            "along_edges": round(len(windows.along_links(self.graph)) / max(1, len(windows)), 4),
        }


def make_study(
    dataset: Dataset,
    recipe: Recipe | None = None,
    max_choices: Mapping[CandidateScope, int] = MAX_CHOICES,
    seed: int = 0,
    **changes: Any,
) -> Study:
    """Divide the users of a dataset, and build a graph from the walks of the graph users if the dataset has none.

    >>> walks = Trajectories.from_walks([["a", "b", "c", "d"], ["b", "c", "a", "d"]] * 6)
    >>> study = make_study(Dataset(walks), neighbors=3, item_users=3, burn_in=1)
    >>> study.graph, study.graph_walks.num_users, study.choice_walks.num_users
    (Graph(4 nodes, 6 edges, undirected), 6, 6)
    """
    recipe = replace(recipe or get_recipe(dataset.name), **changes)
    choice_walks, graph_walks = dataset.walks.split(recipe.makers, seed)
    graph = dataset.graph
    if graph is None:
        visits = graph_walks.compact()
        graph = cooccurrence_graph(
            visits if recipe.keep == "knn" else core(visits, recipe.item_users, recipe.user_items),
            similarity=recipe.similarity,
            keep=recipe.keep,
            neighbors=recipe.neighbors,
            mean_degree=recipe.mean_degree,
            fewest=recipe.item_users,
        )
    return Study(
        name=dataset.name,
        recipe=recipe,
        graph=graph,
        graph_walks=graph_walks.on(graph),
        choice_walks=choice_walks.on(graph),
        max_choices=max_choices,
        seed=seed,
        skipped=dataset.walks.on(graph).skipped,
    )
