"""Protocol of a prediction study: groups of users and the graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Int64
from curiograph.errors import SettingError, quote_value
from curiograph.graph.graph import Graph
from curiograph.human.data.cooccurrence import ItemSimilarity, cooccurrence_graph
from curiograph.human.data.datasets import Dataset
from curiograph.human.trajectories import Trajectories
from curiograph.results import Skipped
from curiograph.validation import check_integer, is_number


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
    """Minimum number of graph users of an item; an item with fewer is attached to the graph by few links."""
    similarity: ItemSimilarity = "cosine"
    """Similarity of two items: "cosine" or "pmi"."""
    neighbors: int = 10
    """Number of nearest items of each item."""

    def __post_init__(self) -> None:
        check_integer("burn_in", self.burn_in, 1, "give the number of visits of a history, 1 or more")
        if not is_number(self.makers) or not 0 < self.makers < 1:
            raise SettingError(f"makers is {quote_value(self.makers)}; give a share of the users, between 0 and 1.")

    def build_graph(self, walks: Trajectories) -> Graph:
        """Build a graph from the walks of graph users; a subclass may build another kind of graph."""
        return cooccurrence_graph(walks, similarity=self.similarity, neighbors=self.neighbors, fewest=self.item_users)


RECIPES = {"wikispeedia": Recipe(burn_in=6), "movielens": Recipe(burn_in=6)}
"""Recipes of datasets; others use the defaults."""


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
    seed: int
    """Seed of the groups of users and of the sampled choices."""
    skipped: Skipped
    """What was dropped when the walks were read and matched with the graph."""

    def split(self, number: int, users: Int64) -> NDArray[np.bool_]:
        """Return which of some users are test users of a split: half of the users who are not graph users."""
        population = np.unique(self.choice_walks.users)
        order = np.random.default_rng([self.seed, 1 + number]).permutation(population)
        return np.isin(users, order[: len(population) // 2])


def make_study(dataset: Dataset, recipe: Recipe | None = None, seed: int = 0) -> Study:
    """Divide the users of a dataset, and build a graph from the walks of the graph users if the dataset has none.

    >>> walks = Trajectories.from_walks([["a", "b", "c", "d"], ["b", "c", "a", "d"]] * 6)
    >>> study = make_study(Dataset(walks), Recipe(neighbors=3, item_users=3))
    >>> study.graph, study.graph_walks.num_users, study.choice_walks.num_users
    (Graph(4 nodes, 6 edges, undirected), 6, 6)
    """
    recipe = recipe or RECIPES.get(dataset.name, Recipe())
    choice_walks, graph_walks = dataset.walks.split(recipe.makers, seed)
    graph = recipe.build_graph(graph_walks.compact()) if dataset.graph is None else dataset.graph
    return Study(
        name=dataset.name,
        recipe=recipe,
        graph=graph,
        graph_walks=graph_walks.on(graph),
        choice_walks=choice_walks.on(graph),
        seed=seed,
        skipped=dataset.walks.on(graph).skipped,
    )
