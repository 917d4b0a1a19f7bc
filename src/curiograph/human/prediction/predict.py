"""`predict`: compare PageRank, curious walkers and count-based baselines as predictors of people's next choices."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from curiograph.agents.gnn import GnnAgent, GnnShape
from curiograph.agents.pretrained import AGENT_FILE, save_agent
from curiograph.agents.registry import AgentLike, as_agent
from curiograph.arrays import Float32
from curiograph.errors import SettingError, UnknownNameError
from curiograph.files import PathLike
from curiograph.graph.graph import Graph
from curiograph.human.choices.baselines import BASELINES
from curiograph.human.choices.choice_sets import CandidateScope
from curiograph.human.choices.metrics import MEASURES
from curiograph.human.data.datasets import Dataset, load_dataset
from curiograph.human.prediction.components import ALPHAS, REWARDS, Components, score_pagerank
from curiograph.human.prediction.fitting import KINDS, fit_split
from curiograph.human.prediction.protocol import Recipe, Study, make_study
from curiograph.human.prediction.results import MEMORY, Outcome, Prediction
from curiograph.human.prediction.walkers import Walkers, score_visits, simulate_walkers
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value
from curiograph.optional import import_optional
from curiograph.parallel import IN_PROCESS, Engine, EngineName, Job, Result, resolve_engine, run_job
from curiograph.parallel.fingerprint import fingerprint, hash_graph, hash_values
from curiograph.parallel.memory import check_memory
from curiograph.progress import Progress, no_progress, split_progress
from curiograph.training.trainer import train
from curiograph.validation import check_integer, check_seed, resolve_workers

_TRAINING_COPIES = 16  # walks that train together on the graph
_FIX = "predict fewer choices (windows, all_windows) on a smaller graph"


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
    agents: Mapping[str, AgentLike] | None = None,
    recipe: Recipe | None = None,
    effort: Effort = FULL,
    seed: int = 0,
    engine: EngineName | Engine = "local",
    workers: int | None = None,
    address: str | None = None,
    run: PathLike | None = None,
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
    agents : mapping, optional
        Agents {"igt": ..., "cpt": ...}. Default: train them on the graph, which takes minutes.
    recipe : Recipe, optional
        How walks become a graph and choices. Default: chosen by the name of the dataset.
    effort : Effort
        How much to compute: `FULL`, `QUICK` or your own.
    seed : int
        Random seed.
    engine : str or Engine
        Execution backend: "local" (processes) or "ray". The result is the same.
    workers : int, optional
        Maximum number of parallel tasks. Default: chosen automatically.
    address : str, optional
        Address of a Ray cluster. Default: start one on this machine.
    run : path, optional
        Folder that keeps trained agents, walkers and fits, so that an interrupted call resumes.
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
    >>> small = Effort(splits=1, trials=1, walkers=5, trained_walkers=5, steps=2, windows=20, all_windows=5)
    >>> found = predict(walks, graph=g, agents={"igt": "greedy", "cpt": "greedy"}, effort=small, workers=1)
    >>> found["last"].improvement("pagerank").value
    0.0
    """
    used_engine = resolve_engine(engine, workers, address, run)
    if isinstance(data, Dataset):
        dataset = data
    elif isinstance(data, Trajectories):
        dataset = Dataset(data)
    else:
        dataset = load_dataset(data, folder)
    if graph is not None:
        dataset = replace(dataset, graph=graph)
    with used_engine.connect():
        return prepare_run(
            dataset, agents, recipe, effort=effort, seed=seed, engine=used_engine, progress=progress
        ).complete()


def prepare_run(
    data: Dataset,
    agents: Mapping[str, AgentLike] | None = None,
    recipe: Recipe | None = None,
    effort: Effort = FULL,
    seed: int = 0,
    engine: Engine = IN_PROCESS,
    progress: Progress = no_progress,
) -> PredictionRun:
    """Make the study of a prediction, and train its agents or load them from the run folder."""
    seed = check_seed(seed)
    if agents is not None and set(agents) != set(REWARDS):
        raise UnknownNameError(f"the agents are for {quote_value(sorted(agents))}; give one for each of igt and cpt.")
    given = None if agents is None else {reward: as_agent(agents[reward]) for reward in REWARDS}
    for package in ("joblib", "optuna", "torch"):
        import_optional(package, "predict", "Predictions")
    study = make_study(data, recipe, {"last": effort.windows, "all": effort.all_windows}, seed)
    for among, choices in study.choices.items():
        for number in range(effort.splits):
            is_test = study.split(number, choices.windows.users)
            if is_test.all() or not is_test.any():
                raise SettingError(
                    f"{study.name}: split {number} has all {len(choices)} choices ({among}) in one group of users; "
                    "give walks of more users."
                )
    last_nodes = study.choices["last"].windows.histories[:, -1]
    num_candidates = len(study.choices["all"]) * study.graph.num_nodes + int(study.graph.degrees[last_nodes].sum())
    num_walker_scores = (len(KINDS) * len(REWARDS) + 1) * effort.steps
    check_memory(num_candidates * (4 * (len(ALPHAS) + num_walker_scores) + 8 * len(BASELINES)), _FIX)
    if given and engine.run is not None:
        for agent in given.values():
            fingerprint("agent", agent)  # raises if results of the agent cannot be kept

    def report(message: str, share: float | None = None) -> None:
        progress(f"{study.name}: {message}", share)

    training, predicting = split_progress(report, [0 if given else 1, 2])
    used_agents = given or _train_agents(study.graph, effort.train_steps, seed, engine, training)
    return PredictionRun(study=study, effort=effort, agents=used_agents, seed=seed, engine=engine, progress=predicting)


@dataclass(frozen=True, eq=False)
class PredictionRun:
    """A prediction that is ready to be computed."""

    study: Study
    """Groups of users, graph and choices."""
    effort: Effort
    """How much to compute."""
    agents: Mapping[str, Any]
    """Agent of the trained walkers, by reward."""
    seed: int
    """Seed of the walkers and fits."""
    engine: Engine
    """Execution backend."""
    progress: Progress
    """Progress callback."""

    def complete(self) -> Prediction:
        """Fit and test all methods."""
        fitting = split_progress(self._stages[1], [1] * len(self.scored))
        outcomes: dict[str, Outcome] = {
            among: self._fit_splits(among, progress) for among, progress in zip(self.scored, fitting, strict=True)
        }
        facts = {
            "study": self.study.summarize(),
            "recipe": asdict(self.study.recipe),
            "effort": asdict(self.effort),
            "seed": self.seed,
        }
        agents = {}
        for reward, agent in self.agents.items():
            try:
                agents[reward] = fingerprint("agent", agent)
            except SettingError:  # an agent of the user's own, without a fingerprint
                agents[reward] = str(agent.name)
        skipped = self.study.skipped
        return Prediction(name=self.study.name, facts=facts, outcomes=outcomes, agents=agents, skipped=skipped)

    @property
    def _stages(self) -> list[Progress]:
        """Progress callbacks of scoring and of fitting."""
        return split_progress(self.progress, [1, 1])

    @cached_property
    def scored(self) -> dict[CandidateScope, Components]:
        """Scores of the candidates by all components, for each candidate set."""
        graph, choices = self.study.graph, self.study.choices
        walked: dict[CandidateScope, dict[str, Float32]] = {among: {} for among in choices}
        *walking, ranking = split_progress(self._stages[0], [1] * (len(self._walkers) + 1))
        # one at a time: the visits may take hundreds of megabytes
        for (name, walkers), progress in zip(self._walkers.items(), walking, strict=True):
            job_name = f"walkers-{name.replace(' ', '-')}"
            visits = simulate_walkers(graph, walkers, self.study.starts, job_name, self.engine, progress)
            for among, each in choices.items():
                walked[among][name] = score_visits(visits, each.windows.histories, each.candidates)
        pagerank = score_pagerank(choices, self.engine, ranking)
        ranking("count-based baselines", 1.0)
        rankers = [baseline.from_walks(graph, self.study.graph_walks) for baseline in BASELINES]
        return {
            among: Components(
                choices=each,
                pagerank=pagerank[among],
                walkers=walked[among],
                baselines={
                    ranker.name: ranker.scores(graph, each.windows.list_histories(), each.candidates)
                    for ranker in rankers
                },
            )
            for among, each in choices.items()
        }

    @property
    def _walkers(self) -> dict[str, Walkers]:
        """Walkers by the name of their component."""
        effort = self.effort
        random = Walkers("random", p_g=effort.p_g, steps=effort.steps, count=effort.walkers, seed=self.seed)
        greedy = {f"greedy {reward}": replace(random, agent="greedy", reward=reward) for reward in REWARDS}
        trained = {
            f"trained {reward}": replace(random, agent=agent, reward=reward, count=effort.trained_walkers)
            for reward, agent in self.agents.items()
        }
        return {**greedy, **trained, MEMORY: random}

    def _fit_splits(self, among: CandidateScope, progress: Progress) -> Outcome:
        """Fit all methods to the training users of every split, and collect the ranks of test users."""
        graph_walks, walkers = self.study.graph_walks, self._walkers.values()
        return fit_splits(
            study=self.study,
            components=self.scored[among],
            effort=self.effort,
            among=among,
            key=lambda: {
                "walkers": [each.get_key(self.study.graph) for each in walkers],
                "makers": hash_values(graph_walks.nodes, graph_walks.offsets),
            },
            engine=self.engine,
            progress=progress,
        )


def fit_splits(
    study: Study,
    components: Components,
    effort: Effort,
    among: str,
    key: Callable[[], Mapping[str, Any]],
    engine: Engine,
    progress: Progress,
) -> Outcome:
    """Fit all methods to the training users of every split, and collect the ranks of test users, as a job.

    `among` names the choices and the job; `key` returns plain values that identify the scores of the components.
    """
    windows = components.choices.windows
    splits = range(effort.splits)
    masks = [study.split(number, windows.users) for number in splits]
    seeds = [int(np.random.default_rng([study.seed, number]).integers(2**31)) for number in splits]
    job = Job(
        name=f"fits-{among}",
        function=fit_split,
        shared=(components, effort.trials),
        tasks=list(zip(masks, seeds, strict=True)),
        key=lambda: {
            "trials": effort.trials,
            "seed": study.seed,
            "choices": hash_values(windows.histories, windows.nexts, windows.users, *masks),
            **key(),
        },
        describe_task=lambda task: f"fit with seed {task[1]}",
        unit="splits",
        fix=_FIX,
    )
    results = run_job(job, engine, progress)
    fits = {method: [result["fits"][method] for result in results] for method in results[0]["fits"]}
    ranks = {}
    for method in fits:
        ranks[method] = np.full((len(MEASURES), len(splits), len(windows)), np.nan, np.float32)
        for number, (is_test, result) in enumerate(zip(masks, results, strict=True)):
            ranks[method][:, number, is_test] = result[method]
    return Outcome(among=among, users=windows.users, ranks=ranks, fits=fits, seed=study.seed)


class _TrainingTask(NamedTuple):
    """Settings of the training of one agent."""

    reward: str
    """Name of the reward."""
    steps: int
    """Number of training steps."""
    seed: int
    """Random seed."""
    folder: Path | None
    """Folder that keeps the agent, or None."""


def _train_agents(graph: Graph, steps: int, seed: int, engine: Engine, progress: Progress) -> dict[str, GnnAgent]:
    """Train an agent for each reward on the graph, as a job; keep them in the run folder if there is one."""
    graph_hash = hash_graph(graph)
    folders = [engine.run and engine.run / f"agent-{reward}-{steps}-{seed}-{graph_hash[:8]}" for reward in REWARDS]
    job = Job(
        name="training",
        function=_train_agent,
        shared=graph,
        tasks=[_TrainingTask(reward, steps, seed, folder) for reward, folder in zip(REWARDS, folders, strict=True)],
        key=lambda: {"graph": graph_hash, "rewards": REWARDS, "steps": steps, "seed": seed},
        describe_task=lambda task: f"training for {task.reward}",
        unit="agents",
        fix="give agents",
    )
    if engine.backend == "local" and engine.workers is None:
        engine = replace(engine, workers=resolve_workers(None))  # training is long enough for processes
    agents = {}
    for reward, folder, result in zip(REWARDS, folders, run_job(job, engine, progress), strict=True):
        network = {key: array for key, array in result.items() if key not in ("name", "shape", "card")}
        agent = GnnAgent(GnnShape(**result["shape"]), network, result["name"], result["card"])
        if folder is not None and not (folder / AGENT_FILE).is_file():  # trained on a machine without this folder
            folder.mkdir(exist_ok=True)
            save_agent(agent, folder / AGENT_FILE)
        agents[reward] = agent
    return agents


def _train_agent(graph: Graph, task: _TrainingTask) -> Result:
    """Task function: train one agent, in its folder if that exists on this machine; return its parts."""
    reward, steps, seed, folder = task
    agent = train(
        [graph] * _TRAINING_COPIES,
        reward,
        seed=seed,
        out=folder if folder is not None and folder.parent.is_dir() else None,
        train_steps=steps,
        validate_every=max(1, steps // 10),
        validation_walks=4,
    )
    card = json.loads(json.dumps(dict(agent.card)))
    return {"name": agent.name, "shape": asdict(agent.shape), "card": card, **agent.network}
