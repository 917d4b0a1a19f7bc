"""`predict`: compare PageRank, curious walkers and count-based baselines as predictors of people's next choices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from curiograph.agents.agent_names import AgentLike, as_agent
from curiograph.arrays import Float32, Int64
from curiograph.errors import SettingError, UnknownNameError, WalkError, import_optional, quote_value
from curiograph.files import PathLike
from curiograph.graph.graph import Graph
from curiograph.human.choices.choice_sets import MEASURES, CandidateScope, ChoiceSet
from curiograph.human.data.cooccurrence import ItemSimilarity, cooccurrence_graph
from curiograph.human.data.datasets import Dataset, load_dataset
from curiograph.human.prediction.methods import (
    ALPHAS,
    MEMORY,
    REWARDS,
    Components,
    fit_split,
    score_alpha,
    score_visits,
    simulate_walkers,
)
from curiograph.human.prediction.outcomes import Outcome, Prediction
from curiograph.human.trajectories import Trajectories
from curiograph.parallel import IN_PROCESS, Engine, EngineName, as_engine
from curiograph.progress import Progress, no_progress, split_progress
from curiograph.recommendation.count_rankers import ItemKnn, Markov, Popularity
from curiograph.validation import check_integer, check_seed, is_number

_TRAINING_COPIES = 16  # walks that train together on the graph
WalkersLike = Literal["greedy", "trained"] | Mapping[str, AgentLike]
Scope = TypeVar("Scope", bound=str)


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
        """Build a graph, without weights as in the paper, from walks of graph users; a subclass may build another."""
        settings: Any = {"similarity": self.similarity, "neighbors": self.neighbors, "fewest": self.item_users}
        return cooccurrence_graph(walks, **settings).skeleton


RECIPES = {"wikispeedia": Recipe(burn_in=6), "movielens": Recipe(burn_in=6)}
"""Recipes of datasets; others use the defaults."""


@dataclass(frozen=True)
class Effort:
    """How much to compute.

    Examples
    --------
    >>> Effort(splits=2).trials
    30
    """

    splits: int = 10
    """Number of random divisions into training users and test users."""
    trials: int = 30
    """Number of mixtures tried in each fit."""
    train_steps: int = 1500
    """Number of training steps of agents on the graph."""
    walkers: int = 400
    """Maximum number of paths that walkers follow from each node."""
    trained_walkers: int = 100
    """Maximum number of paths that walkers with trained agents follow from each node; ten times slower."""
    steps: int = 5
    """Maximum number of steps of walkers between two teleports; fewer may be fitted."""
    p_g: float = 0.8
    """Parameter of the rank transition of walkers."""
    windows: int = 2000
    """Maximum number of choices among the out-neighbors of the last node."""
    all_windows: int = 200
    """Maximum number of choices among all nodes."""

    def __post_init__(self) -> None:
        for name in ("splits", "trials", "walkers", "trained_walkers", "steps"):
            check_integer(name, getattr(self, name), 1, "give a whole number, 1 or more")
        for name in ("windows", "all_windows"):
            check_integer(name, getattr(self, name), 2, "give the maximum number of choices to predict, 2 or more")


FULL = Effort()
"""The effort of the published results."""
QUICK = Effort(
    splits=2, trials=14, train_steps=60, walkers=64, trained_walkers=32, steps=3, windows=300, all_windows=60
)
"""A first look: few choices, short training and fits."""


def predict(
    data: PathLike | Dataset | Trajectories,
    *,
    graph: Graph | None = None,
    folder: PathLike | None = None,
    walkers: WalkersLike = "greedy",
    recipe: Recipe | None = None,
    effort: Effort = FULL,
    seed: int = 0,
    engine: EngineName | Engine = "local",
    progress: Progress = no_progress,
) -> Prediction:
    """Predict people's next choices.

    Users are divided into three groups. The graph, if there is none, is built from the walks of graph users, and the
    count-based baselines are fitted to them. Alpha, the weights and the steps of walkers are fitted to the choices of
    training users, and all methods are compared on the choices of test users. Each of `effort.splits` splits draws
    other training and test users.

    Parameters
    ----------
    data : str, path, Dataset or Trajectories
        Name of a dataset (`wikispeedia`, `movielens`, `books`), path of a file or folder, or loaded data.
    graph : Graph, optional
        Graph on which people walked. Default: the graph of the data, or else a co-occurrence graph.
    folder : path, optional
        Folder in which to look for a dataset by name, as for `load_dataset`.
    walkers : {"greedy", "trained"} or mapping
        Curious walkers: for the exact reward of the next step; or, besides them, walkers with agents that are trained
        on the graph, as in the paper, which takes minutes; or with the agents {"igt": ..., "cpt": ...}.
    recipe : Recipe, optional
        How walks become a graph and choices. Default: chosen by the name of the dataset.
    effort : Effort
        How much to compute: `FULL`, `QUICK` or your own.
    seed : int
        Random seed.
    engine : str or Engine
        Where the tasks run; the result is the same. Its `run` keeps trained agents, walkers and fits.
    progress : callable
        Progress callback.

    Returns
    -------
    Prediction
        Results by candidate set: `["last"]` for out-neighbors of the last node, `["all"]` for all nodes.

    Examples
    --------
    >>> import curiograph as cg
    >>> g = cg.generate("ws", nodes=30, seed=0)
    >>> lists = [cg.explore(g, agent="random", start=n, steps=8, seed=n).nodes for n in range(30)]
    >>> walks = Trajectories.from_walks(lists, graph=g)
    >>> small = Effort(splits=1, trials=1, walkers=5, steps=2, windows=20, all_windows=5)
    >>> found = predict(walks, graph=g, effort=small)
    >>> found["last"].improvement("pagerank").value
    0.0
    """
    seed, engine = check_seed(seed), as_engine(engine)
    import_optional("optuna", "predict", "Predictions")
    if isinstance(data, Trajectories):
        data = Dataset(data)
    elif not isinstance(data, Dataset):
        data = load_dataset(data, folder)
    if graph is not None:
        data = replace(data, graph=graph)
    study = make_study(data, recipe, seed)
    choices = draw_choices(study, effort)
    for among, each in choices.items():
        for number in range(effort.splits):
            is_test = study.split(number, each.windows.users)
            if is_test.all() or not is_test.any():
                raise SettingError(
                    f"{study.name}: split {number} has all {len(each)} choices ({among}) in one group of users; "
                    "give walks of more users."
                )
    training, scoring, *fitting = split_progress(progress, [walkers == "trained", 1, 0.5, 0.5])
    agents: dict[str, Any] = {}
    if walkers != "greedy":
        agents = find_agents(study.graph, walkers, effort.train_steps, seed, engine, training)
    scored = score_components(study, choices, agents, effort, engine, scoring)
    outcomes: dict[str, Outcome] = {
        among: fit_splits(study, scored[among], effort, among, [agents], engine, stage)
        for (among, stage) in zip(scored, fitting, strict=True)
    }
    windows = study.choice_walks.windows(study.recipe.burn_in)
    facts = {
        "study": {
            "graph": repr(study.graph),
            "mean_degree": round(float(study.graph.degrees.mean()), 2),
            "users": {"makers": study.graph_walks.num_users, "others": study.choice_walks.num_users},
            "choices": {among: len(each) for among, each in choices.items()},
            "along_edges": round(len(windows.along_links(study.graph)) / max(1, len(windows)), 4),
        },
        "recipe": asdict(study.recipe),
        "effort": asdict(effort),
        "seed": seed,
    }
    names = {reward: agent.name for reward, agent in agents.items()}
    return Prediction(study.name, facts, outcomes, names, study.choice_walks.skipped)


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

    def split(self, number: int, users: Int64) -> NDArray[np.bool_]:
        """Return which of some users are test users of a split: half of the users who are not graph users."""
        population = np.unique(self.choice_walks.users)
        order = np.random.default_rng([self.seed, 1 + number]).permutation(population)
        return np.isin(users, order[: len(population) // 2])


def make_study(dataset: Dataset, recipe: Recipe | None = None, seed: int = 0) -> Study:
    """Divide the users of a dataset, and build a graph from the walks of the graph users if the dataset has none."""
    recipe = recipe or RECIPES.get(dataset.name, Recipe())
    graph = dataset.graph
    if graph is None:
        graph = recipe.build_graph(dataset.walks.split(recipe.makers, seed)[1])
    choice_walks, graph_walks = dataset.walks.on(graph).split(recipe.makers, seed)
    return Study(dataset.name, recipe, graph, graph_walks, choice_walks, seed)


def draw_choices(study: Study, effort: Effort = FULL) -> dict[CandidateScope, ChoiceSet]:
    """Draw the choices to predict, by candidate set; only choices among "last" follow a link."""
    windows = study.choice_walks.windows(study.recipe.burn_in)
    linked = ChoiceSet.from_windows(study.graph, windows.along_links(study.graph))
    among_several = linked.windows.rows(linked.candidates.counts > 1)
    if len(among_several) < 2:
        raise WalkError(
            f"{study.name}: there are {len(windows):,} runs of {study.recipe.burn_in + 1} distinct visits, and "
            f"{len(among_several)} of them end with a choice between neighbors; give more walks, a denser graph, "
            "or a shorter burn-in."
        )
    return {
        "last": ChoiceSet.from_windows(study.graph, among_several.sample(effort.windows, study.seed)),
        "all": ChoiceSet.from_windows(study.graph, windows.sample(effort.all_windows, study.seed), "all"),
    }


def find_agents(
    graph: Graph, walkers: WalkersLike, steps: int, seed: int, engine: Engine, progress: Progress = no_progress
) -> dict[str, Any]:
    """Return the agents of walkers by reward: the given ones, or agents trained on the graph."""
    if isinstance(walkers, Mapping) and set(walkers) == set(REWARDS):
        return {reward: as_agent(walkers[reward]) for reward in REWARDS}
    if walkers != "trained":
        raise UnknownNameError(
            f"walkers is {quote_value(walkers)}; give 'greedy', 'trained', or agents for each of igt and cpt."
        )
    import_optional("torch", "predict", "Training")
    from curiograph.training.trainer import train

    agents = {}
    for number, reward in enumerate(REWARDS):
        progress(f"training an agent for {reward}", number / len(REWARDS))
        agents[reward] = train(
            [graph] * _TRAINING_COPIES,
            reward,
            seed=seed,
            out=None if engine.run is None else engine.run / f"agent-{reward}",
            train_steps=steps,
            validate_every=max(1, steps // 10),
            validation_walks=4,
        )
    return agents


def score_components(
    study: Study,
    choices: Mapping[Scope, ChoiceSet],
    agents: Mapping[str, Any],
    effort: Effort = FULL,
    engine: Engine = IN_PROCESS,
    progress: Progress = no_progress,
) -> dict[Scope, Components]:
    """Score the candidates of all choices by every component; the histories of a choice set have equal lengths."""
    graph, sets = study.graph, list(choices.values())
    components = [(MEMORY, "random", "igt", effort.walkers)]
    components += [(f"greedy {reward}", "greedy", reward, effort.walkers) for reward in REWARDS]
    components += [(f"trained {reward}", agents[reward], reward, effort.trained_walkers) for reward in agents]
    walked: list[dict[str, Float32]] = [{} for _ in sets]
    starts = np.concatenate([each.windows.histories.ravel() for each in sets])
    *walking, ranking = split_progress(progress, [1] * (len(components) + 1))
    # one at a time: the visits may take hundreds of megabytes
    for (name, agent, reward, count), stage in zip(components, walking, strict=True):
        visits = simulate_walkers(
            graph, agent, reward, starts, p_g=effort.p_g, steps=effort.steps, count=count, seed=study.seed,
            engine=engine, progress=stage,
        )  # fmt: skip
        for found, each in zip(walked, sets, strict=True):
            found[name] = score_visits(visits, each.windows.histories, each.candidates)
    key = [graph, *((each.windows.histories, each.candidates.offsets, each.candidates.nodes) for each in sets)]
    pagerank = engine.map(score_alpha, (graph, sets), ALPHAS, name="pagerank", key=key, progress=ranking)
    in_degrees = np.bincount(graph.indices, minlength=graph.num_nodes).astype(np.float64)
    rankers = [ranker.from_walks(graph, study.graph_walks) for ranker in (Popularity, Markov, ItemKnn)]
    scored: dict[Scope, Components] = {}
    for number, (among, each) in enumerate(choices.items()):
        nodes, histories = each.candidates.nodes, each.windows.list_histories()
        baselines = {"uniform": np.zeros(len(nodes)), "degree": in_degrees[nodes]}
        baselines |= {ranker.name: ranker.scores(graph, histories, each.candidates) for ranker in rankers}
        by_alpha = np.stack([result[str(number)] for result in pagerank])
        scored[among] = Components(each, by_alpha, walked[number], baselines)
    return scored


def fit_splits(
    study: Study,
    components: Components,
    effort: Effort,
    among: str,
    key: list[Any],
    engine: Engine = IN_PROCESS,
    progress: Progress = no_progress,
) -> Outcome:
    """Fit all methods to the training users of every split, and rank the choices of test users.

    `key` holds values on which the scores depend besides study and effort.
    """
    windows, splits = components.choices.windows, range(effort.splits)
    masks = [study.split(number, windows.users) for number in splits]
    seeds = [int(np.random.default_rng([study.seed, number]).integers(2**31)) for number in splits]
    results = engine.map(
        fit_split,
        (components, effort.trials),
        list(zip(masks, seeds, strict=True)),
        name=f"fits-{among}",
        key=[study.graph, windows.histories, windows.nexts, windows.users, study.graph_walks.nodes, effort, *key],
        unit="splits",
        progress=progress,
    )
    fits = {method: [result["fits"][method] for result in results] for method in results[0]["fits"]}
    ranks = {}
    for method in fits:
        ranks[method] = np.full((len(MEASURES), len(splits), len(windows)), np.nan, np.float32)
        for number, (is_test, result) in enumerate(zip(masks, results, strict=True)):
            ranks[method][:, number, is_test] = result[method]
    return Outcome(among=among, users=windows.users, ranks=ranks, fits=fits, seed=study.seed)
