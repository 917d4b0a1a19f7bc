"""`predict`: compare PageRank, curious walkers and count-based baselines as predictors of people's next choices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from curiograph.agents.agent_names import AgentLike, as_agent
from curiograph.arrays import Float32
from curiograph.errors import SettingError, UnknownNameError, import_optional, quote_value
from curiograph.files import PathLike
from curiograph.graph.graph import Graph
from curiograph.human.choices.baselines import BASELINES
from curiograph.human.choices.choice_ranks import MEASURES
from curiograph.human.choices.choice_sets import CandidateScope
from curiograph.human.data.datasets import Dataset, load_dataset
from curiograph.human.prediction.curious_walkers import score_visits, simulate_walkers
from curiograph.human.prediction.methods import MEMORY, REWARDS, Components, fit_split, score_pagerank
from curiograph.human.prediction.outcomes import Outcome, Prediction
from curiograph.human.prediction.study import Recipe, Study, make_study
from curiograph.human.trajectories import Trajectories
from curiograph.parallel import IN_PROCESS, Engine, EngineName, as_engine
from curiograph.progress import Progress, no_progress, split_progress
from curiograph.validation import check_integer, check_seed

_TRAINING_COPIES = 16  # walks that train together on the graph
WalkersLike = Literal["greedy", "trained"] | Mapping[str, AgentLike]


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
        check_integer("splits", self.splits, 1, "give the number of divisions of users, 1 or more")
        check_integer("trials", self.trials, 1, "give the number of mixtures to try, 1 or more")
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
    study = make_study(data, recipe, {"last": effort.windows, "all": effort.all_windows}, seed)
    for among, choices in study.choices.items():
        for number in range(effort.splits):
            is_test = study.split(number, choices.windows.users)
            if is_test.all() or not is_test.any():
                raise SettingError(
                    f"{study.name}: split {number} has all {len(choices)} choices ({among}) in one group of users; "
                    "give walks of more users."
                )
    training, scoring, *fitting = split_progress(progress, [walkers == "trained", 1, 0.5, 0.5])
    agents = find_agents(study.graph, walkers, effort.train_steps, seed, engine, training)
    scored = score_components(study, agents, effort, engine, scoring)
    outcomes: dict[str, Outcome] = {
        among: fit_splits(study, scored[among], effort, among, [agents], engine, stage)
        for (among, stage) in zip(scored, fitting, strict=True)
    }
    facts = {"study": study.summarize(), "recipe": asdict(study.recipe), "effort": asdict(effort), "seed": seed}
    names = {reward: agent.name for reward, agent in agents.items()}
    return Prediction(study.name, facts, outcomes, names, study.skipped)


def find_agents(
    graph: Graph, walkers: WalkersLike, steps: int, seed: int, engine: Engine, progress: Progress = no_progress
) -> dict[str, Any]:
    """Return the agents of trained walkers by reward: none, the given ones, or agents trained on the graph."""
    if walkers == "greedy":
        return {}
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
    agents: Mapping[str, Any],
    effort: Effort = FULL,
    engine: Engine = IN_PROCESS,
    progress: Progress = no_progress,
) -> dict[CandidateScope, Components]:
    """Score the candidates of every choice by all components, for each candidate set."""
    components = [(MEMORY, "random", "igt", effort.walkers)]
    components += [(f"greedy {reward}", "greedy", reward, effort.walkers) for reward in REWARDS]
    components += [(f"trained {reward}", agents[reward], reward, effort.trained_walkers) for reward in agents]
    walked: dict[CandidateScope, dict[str, Float32]] = {among: {} for among in study.choices}
    *walking, ranking = split_progress(progress, [1] * (len(components) + 1))
    # one at a time: the visits may take hundreds of megabytes
    for (name, agent, reward, count), stage in zip(components, walking, strict=True):
        visits = simulate_walkers(
            study.graph, agent, reward, study.starts, p_g=effort.p_g, steps=effort.steps, count=count, seed=study.seed,
            engine=engine, progress=stage,
        )  # fmt: skip
        for among, each in study.choices.items():
            walked[among][name] = score_visits(visits, each.windows.histories, each.candidates)
    pagerank = score_pagerank(study.choices, engine, ranking)
    rankers = [baseline.from_walks(study.graph, study.graph_walks) for baseline in BASELINES]
    return {
        among: Components(
            choices=each,
            pagerank=pagerank[among],
            walkers=walked[among],
            baselines={
                ranker.name: ranker.scores(study.graph, each.windows.list_histories(), each.candidates)
                for ranker in rankers
            },
        )
        for among, each in study.choices.items()
    }


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
