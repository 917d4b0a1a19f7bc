"""`predict`: how well PageRank, curious walkers and rankers that count tell what people choose next."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from curiograph.agents.gnn import GnnAgent, GnnShape
from curiograph.agents.pretrained import AGENT_FILE, save_agent
from curiograph.agents.registry import AgentLike, as_agent
from curiograph.arrays import Float64
from curiograph.errors import SettingError, UnknownNameError
from curiograph.files import PathLike
from curiograph.graph.features import Float32
from curiograph.graph.graph import Graph
from curiograph.human.choices.baselines import Degree, Markov, Popularity, Uniform
from curiograph.human.choices.nearest_items import ItemKnn, RP3beta
from curiograph.human.data.dataset import Dataset
from curiograph.human.data.load import load_dataset
from curiograph.human.prediction.components import (
    ALPHAS,
    PAGERANK,
    Components,
    Mixture,
    score_candidates,
    score_pagerank,
)
from curiograph.human.prediction.fitting import evaluate_mixture, fit_mixture
from curiograph.human.prediction.protocol import CANDIDATES, Recipe, Study, make_study
from curiograph.human.prediction.results import (
    ALL_WITH_CURIOSITY,
    ALL_WITHOUT_CURIOSITY,
    MEASURES,
    MEMORY,
    Outcome,
    Prediction,
)
from curiograph.human.prediction.walkers import (
    StepVisits,
    Walkers,
    simulate_walkers,
)
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value
from curiograph.optional import import_optional
from curiograph.parallel import (
    IN_PROCESS,
    Engine,
    EngineName,
    Job,
    Result,
    resolve_engine,
    run_job,
)
from curiograph.parallel.fingerprint import fingerprint, hash_graph, hash_values
from curiograph.parallel.memory import check_memory
from curiograph.progress import Progress, no_progress
from curiograph.training.trainer import train
from curiograph.validation import check_integer, check_seed, resolve_workers

REWARDS = ("igt", "cpt")
_KINDS = ("greedy", "trained")
"""Who walks: for the exact reward of the next step, or for the return that an agent has learned to collect."""
_THEORIES = {"igt": ("igt",), "cpt": ("cpt",), "igt+cpt": ("igt", "cpt")}
_COUNTING = (Uniform, Degree, Popularity, Markov, ItemKnn, RP3beta)
_TOGETHER = ("degree", "popularity", "markov", "item-knn", "rp3beta", PAGERANK, MEMORY)
_COPIES = 16
"""Walks that train together on the one graph."""
_FIX = "predict fewer choices (windows, all_windows) on a smaller graph"


@dataclass(frozen=True)
class Effort:
    """How much is computed."""

    splits: int = 10
    """Random divisions of users into those to fit on and those to test on."""
    trials: int = 30
    """Mixtures tried in each fit."""
    train_steps: int = 1500
    """Of agents, on the graph."""
    walkers: int = 400
    """Paths followed from each node,"""
    trained_walkers: int = 100
    """and by trained agents, which need ten times longer for each."""
    steps: int = 5
    """Most steps of walkers between two teleports; fewer may be fitted."""
    p_g: float = 0.8
    windows: int = 2000
    """Choices among the out-neighbours of the last node, at most,"""
    all_windows: int = 200
    """and among all nodes."""

    def __post_init__(self) -> None:
        check_integer("splits", self.splits, 1, "give the divisions of users, 1 or more")
        check_integer("trials", self.trials, 1, "give the mixtures to try, 1 or more")
        for name in ("windows", "all_windows"):
            check_integer(name, getattr(self, name), 2, "give the most choices to predict, 2 or more")


FULL = Effort()
QUICK = Effort(
    splits=2, trials=14, train_steps=60, walkers=64, trained_walkers=32, steps=3, windows=300, all_windows=60
)
"""A look at everything: few choices, short fits."""


def predict(
    data: PathLike | Dataset | Trajectories,
    *,
    graph: Graph | None = None,
    folder: PathLike | None = None,
    lenient: bool = False,
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

    Users are divided into three groups. Makers make the graph (where there is none), and rankers that count do so on
    their walks; on others alpha, weights and the walkers' steps are fitted; on the rest everything is tested. The last
    two are divided anew in each of `effort.splits` splits.

    Parameters
    ----------
    data : a name (`wikispeedia`, `movielens`, `books`), a path, or what `load_dataset` or `Trajectories` hold.
    graph : what people walked on; without it, that of the data, or one made by co-occurrence.
    folder, lenient : as for `load_dataset`.
    agents : {"igt": ..., "cpt": ...} instead of those that are trained on the graph, which needs minutes.
    recipe : how walks become a graph and choices; by the name of the data set without it.
    engine : "local", processes of this machine; or "ray", a cluster. The result is the same.
    workers : tasks at a time; None for as many as pay off.
    address : of the cluster; without it one is started on this machine for the job.
    run : folder that keeps trained agents, walkers and fits: a killed job goes on where it stopped.
    """
    used_engine = resolve_engine(engine, workers, address, run)
    found = _dataset(data, graph, folder, lenient)
    with used_engine.connect():
        return prepare_run(found, agents, recipe, effort, seed, used_engine, progress).complete()


def prepare_run(
    data: Dataset,
    agents: Mapping[str, AgentLike] | None = None,
    recipe: Recipe | None = None,
    effort: Effort = FULL,
    seed: int = 0,
    engine: Engine = IN_PROCESS,
    progress: Progress = no_progress,
) -> PredictionRun:
    """What `predict` completes: the study is made, and agents are trained or found in the run folder."""
    seed = check_seed(seed)
    if agents is not None and set(agents) != set(REWARDS):
        raise UnknownNameError(f"the agents are for {quote_value(sorted(agents))}; give one for each of igt and cpt.")
    given = None if agents is None else {reward: as_agent(agents[reward]) for reward in REWARDS}
    for package in ("joblib", "optuna", "torch"):
        import_optional(package, "predict", "Predictions")
    made = make_study(data, recipe, {"last": effort.windows, "all": effort.all_windows}, seed)
    _check_splits(made, effort.splits)
    _check_memory(made, effort)
    for agent in given.values() if given and engine.run_folder is not None else ():
        fingerprint("agent", agent)  # raises for one that a folder could not tell from others

    def tell(message: str, share: float | None = None) -> None:
        progress(f"{made.name}: {message}", share)

    with engine.connect():
        who = given or _trained(made, effort, seed, engine, tell)
        return PredictionRun(made, effort, who, seed, engine, tell)


def _dataset(data: Any, graph: Graph | None, folder: PathLike | None, lenient: bool) -> Dataset:
    if isinstance(data, Dataset):
        found = data
    elif isinstance(data, Trajectories):
        found = Dataset("walks", data, Path())
    else:
        found = load_dataset(data, folder, lenient=lenient)
    return found if graph is None else replace(found, graph=graph)


def _check_splits(made: Study, splits: int) -> None:
    """Raise before the work is done where a split would have nobody to fit on or to test on."""
    for among, windows in made.choices.items():
        for number in range(splits):
            tested = made.split(number, windows.users)
            if tested.all() or not tested.any():
                raise SettingError(
                    f"{made.name}: split {number} has all {len(windows)} choices ({among}) on one side; give walks of "
                    "more users."
                )


def _check_memory(made: Study, effort: Effort) -> None:
    """Raise before the work is done if the scores of all candidates do not fit into memory."""
    last = made.choices["last"].histories[:, -1]
    candidates = len(made.choices["all"]) * made.graph.num_nodes + int(made.graph.degrees[last].sum())
    walkers = (len(_KINDS) * len(REWARDS) + 1) * effort.steps
    check_memory(candidates * (4 * (len(ALPHAS) + walkers) + 8 * len(_COUNTING)), _FIX)


def _trained(made: Study, effort: Effort, seed: int, engine: Engine, tell: Progress) -> dict[str, Any]:
    """A pair of agents, trained on the graph; both at once where there are two workers."""
    graph, steps, home = made.graph, effort.train_steps, engine.run_folder
    outs = [home and home / f"agent-{reward}-{steps}-{seed}-{hash_graph(graph)[:8]}" for reward in REWARDS]
    job = Job(
        name="training",
        function=_train,
        shared=graph,
        tasks=[(reward, steps, seed, out) for reward, out in zip(REWARDS, outs, strict=True)],
        key=lambda: {"graph": hash_graph(graph), "rewards": REWARDS, "steps": steps, "seed": seed},
        describe_task=lambda task: f"training for {task[0]}",
        unit="agents",
        fix="give agents",
    )
    if engine.name == "local" and engine.workers is None:
        engine = replace(engine, workers=resolve_workers(None))  # training is long enough for processes
    found = dict(zip(REWARDS, map(_agent, run_job(job, engine, tell)), strict=True))
    for agent, out in zip(found.values(), outs, strict=True):
        if out is not None and not (out / AGENT_FILE).is_file():  # trained where this folder is not
            out.mkdir(exist_ok=True)
            save_agent(agent, out / AGENT_FILE)
    return found


def _train(graph: Graph, task: tuple[str, int, int, Path | None]) -> Result:
    """Train in the folder, which resumes, if this machine has it; the agent as arrays and plain values."""
    reward, steps, seed, out = task
    agent = train(
        [graph] * _COPIES,
        reward,
        seed=seed,
        out=out if out is not None and out.parent.is_dir() else None,
        train_steps=steps,
        validate_every=max(1, steps // 10),
        validation_walks=4,
    )
    card = json.loads(json.dumps(dict(agent.card)))
    return {"name": agent.name, "shape": asdict(agent.shape), "card": card, **agent.network}


def _agent(result: Result) -> GnnAgent:
    plain = {key: result[key] for key in ("name", "shape", "card")}
    network = {key: array for key, array in result.items() if key not in plain}
    return GnnAgent(GnnShape(**plain["shape"]), network, plain["name"], plain["card"])


@dataclass(frozen=True, eq=False)
class PredictionRun:
    """A study, who walks on its graph, who computes, and where results are kept."""

    study: Study
    effort: Effort
    agents: dict[str, Any]
    seed: int
    engine: Engine
    tell: Progress

    def complete(self) -> Prediction:
        """Fit and test everything."""
        with self.engine.connect():
            outcomes = {among: self._outcome(among, scored) for among, scored in self.scored.items()}
        facts = {"study": self.study.facts(), "recipe": asdict(self.study.recipe), "effort": asdict(self.effort)}
        about = {reward: _told(agent) for reward, agent in self.agents.items()}
        return Prediction(self.study.name, facts | {"seed": self.seed}, outcomes, about)

    @cached_property
    def scored(self) -> dict[str, Components]:
        """Scores of the candidates, "last" and "all", by everything that there is."""
        walked: dict[str, dict[str, Float32]] = {among: {} for among in CANDIDATES}
        for name, walkers in self._walkers().items():
            visits = self._found(name, walkers)  # a few hundred megabytes on large graphs: one at a time
            for among, windows in self.study.choices.items():
                walked[among][name] = visits.of(windows.histories, self.study.candidates[among])
        ranks = score_pagerank(self.study, self.engine, self.tell)
        self.tell("counts of the candidates")
        counting = [kind.from_walks(self.study.graph, self.study.makers) for kind in _COUNTING]
        return {
            among: score_candidates(self.study, among, walked[among], ranks[among], counting) for among in CANDIDATES
        }

    def _walkers(self) -> dict[str, Walkers]:
        """Who walks, by the name of the component."""
        effort = self.effort
        chance = Walkers("random", "igt", effort.p_g, effort.steps, effort.walkers, self.seed)
        greedy = {f"greedy {reward}": replace(chance, agent="greedy", reward=reward) for reward in REWARDS}
        trained = {
            f"trained {reward}": replace(chance, agent=agent, reward=reward, count=effort.trained_walkers)
            for reward, agent in self.agents.items()
        }
        return {**greedy, **trained, MEMORY: chance}

    def _found(self, name: str, walkers: Walkers) -> StepVisits:
        return simulate_walkers(
            self.study.graph,
            walkers,
            self.study.starts,
            name=f"walkers-{name.replace(' ', '-')}",
            engine=self.engine,
            progress=self.tell,
        )

    # ---- splits -------------------------------------------------------------------------------------------------

    def _outcome(self, among: str, scored: Components) -> Outcome:
        numbers = range(self.effort.splits)
        tests = [self.study.split(number, scored.windows.users) for number in numbers]
        job = Job(
            name=f"fits-{among}",
            function=_fit,
            shared=(scored, self.effort.trials),
            tasks=[(tested, self._seed(number)) for number, tested in zip(numbers, tests, strict=True)],
            key=lambda: self._about(scored, tests),
            describe_task=lambda task: f"fit with seed {task[1]}",
            unit="splits",
            fix=_FIX,
        )
        results = run_job(job, self.engine, self.tell)
        return _gathered(among, scored, tests, results, self.seed)

    def _seed(self, number: int) -> int:
        return int(np.random.default_rng([self.seed, number]).integers(2**31))

    def _about(self, scored: Components, tests: Sequence[Any]) -> dict[str, Any]:
        """What tells these fits from all others."""
        windows, makers = scored.windows, self.study.makers
        return {
            "trials": self.effort.trials,
            "seed": self.seed,
            "walkers": [walkers.about(self.study.graph) for walkers in self._walkers().values()],
            "choices": hash_values(windows.histories, windows.nexts, windows.users, *tests),
            "makers": hash_values(makers.nodes, makers.offsets),
        }


def _told(agent: Any) -> str:
    """What the result calls an agent: one's own by its name alone, where it says no more of itself."""
    try:
        return fingerprint("agent", agent)
    except SettingError:
        return str(agent.name)


def _fit(shared: tuple[Components, int], task: tuple[Any, int]) -> Result:
    """`fit_split` as a task."""
    (scored, trials), (tested, seed) = shared, task
    found = fit_split(scored, tested, trials, seed)
    return {"fits": found["fits"], **found["ranks"]}


def fit_split(scored: Components, tested: Any, trials: int, seed: int) -> dict[str, Any]:
    """Fit every method on the choices that are not tested, and rank those that are: nothing else is looked at."""
    torch = import_optional("torch", "predict", "Fitting alpha and weights")
    torch.set_num_threads(1)
    fits = _fits(scored.rows(~tested), trials, seed)
    test = scored.rows(tested)
    ranks = {method: _measures(test, mix) for method, mix in fits.items()}
    return {"fits": {method: mix.to_dict() for method, mix in fits.items()}, "ranks": ranks}


def mixture_from_dict(fit: dict[str, Any]) -> Mixture:
    """The mixture that an outcome's `fits` hold as plain values.

    >>> mixture_from_dict(Mixture({"pagerank": 3.0}, 0.85).to_dict()).weights
    {'pagerank': 1.0}
    """
    return Mixture(**fit)


def _measures(test: Components, mix: Mixture) -> Float64:
    ranks = test.ranks(mix)
    return np.stack([getattr(ranks, measure) for measure in MEASURES]).astype(np.float32)


def _fits(train: Components, trials: int, seed: int) -> dict[str, Mixture]:
    """Every method, fitted."""
    plain = fit_mixture(train, [PAGERANK], trials, seed)
    found = {name: Mixture({name: 1.0}) for name in map(_name, _COUNTING)} | {PAGERANK: plain}
    for theory, rewards in _THEORIES.items():
        for kind in _KINDS:
            names = [PAGERANK, *(f"{kind} {reward}" for reward in rewards)]
            begin = [plain, *(found[f"{kind} {reward}"] for reward in rewards if len(rewards) > 1)]
            begin += [] if len(rewards) > 1 else _contrasts(train, names)
            found[f"{kind} {theory}"] = fit_mixture(train, names, trials, seed, begin=begin)
        found[theory] = max(
            (found[f"{kind} {theory}"] for kind in _KINDS), key=lambda mix: evaluate_mixture(train, mix)
        )
    control = [PAGERANK, MEMORY]
    found[MEMORY] = fit_mixture(train, control, trials, seed, begin=[plain, *_contrasts(train, control)])
    singles = [Mixture({name: 1.0}, plain.alpha, scaled=True) for name in _TOGETHER]
    found[ALL_WITHOUT_CURIOSITY] = fit_mixture(train, _TOGETHER, 2 * trials, seed, True, singles)
    curious = [f"{kind} {reward}" for kind in _KINDS for reward in REWARDS]
    begin = [found[ALL_WITHOUT_CURIOSITY], *(replace(found[ALL_WITHOUT_CURIOSITY], steps=steps) for steps in (2, 3))]
    found[ALL_WITH_CURIOSITY] = fit_mixture(train, [*_TOGETHER, *curious], 2 * trials, seed, True, begin)
    return found


def _contrasts(train: Components, names: Sequence[str]) -> list[Mixture]:
    """Walkers that stay near the history, less where anyone ends up: a good place to begin a search."""
    longest = len(train.walkers[names[-1]])
    tried = [(alpha, min(steps, longest)) for alpha, steps in ((0.8, 2), (0.95, 2), (0.95, 4))]
    return [
        Mixture(
            {name: sign / max(train.spread(name, *at), 1e-12) for name, sign in zip(names, (-1, 1), strict=True)}, *at
        )
        for at in dict.fromkeys(tried)
    ]


def _name(kind: Any) -> str:
    return str(kind.__dataclass_fields__["name"].default)


def _gathered(among: str, scored: Components, tests: Sequence[Any], results: Sequence[Result], seed: int) -> Outcome:
    fits = {method: [result["fits"][method] for result in results] for method in results[0]["fits"]}
    ranks = {}
    for method in fits:
        table = np.full((len(MEASURES), len(tests), len(scored.windows)), np.nan, np.float32)
        for number, (tested, result) in enumerate(zip(tests, results, strict=True)):
            table[:, number, tested] = result[method]
        ranks[method] = table
    return Outcome(among, scored.windows.users, ranks, fits, seed)
