"""`predict`: how well PageRank, curious walkers and rankers that count tell what people choose next."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from curiograph.agents.registry import AgentLike, as_agent
from curiograph.errors import SettingError, UnknownNameError
from curiograph.extras import require
from curiograph.graph.container import Graph
from curiograph.graph.features import Float32
from curiograph.graph.rows import Float64
from curiograph.graph.storage import PathLike, as_path, quoted, replacing
from curiograph.human.baselines import Degree, Markov, Popularity, Uniform
from curiograph.human.components import PAGERANK, Components, Mix, components
from curiograph.human.dataset import Dataset
from curiograph.human.fitting import fitted, placed
from curiograph.human.loading import load_dataset
from curiograph.human.nearest_items import ItemKnn, RP3beta
from curiograph.human.outcome import MEASURES, MEMORY, WITH, WITHOUT, Outcome, Prediction
from curiograph.human.study import CANDIDATES, Recipe, Study, study
from curiograph.human.trajectories import Trajectories
from curiograph.human.walkers import StepVisits, Walkers, step_visits
from curiograph.jobs.identity import fingerprint, graph_digest
from curiograph.progress import Progress, silent
from curiograph.settings import seed_number, whole_number, worker_number
from curiograph.training.running import train

REWARDS = ("igt", "cpt")
_KINDS = ("greedy", "trained")
"""Who walks: for the exact reward of the next step, or for the return that an agent has learned to collect."""
_THEORIES = {"igt": ("igt",), "cpt": ("cpt",), "igt+cpt": ("igt", "cpt")}
_COUNTING = (Uniform, Degree, Popularity, Markov, ItemKnn, RP3beta)
_TOGETHER = ("degree", "popularity", "markov", "item-knn", "rp3beta", PAGERANK, MEMORY)
_COPIES = 16
"""Walks that train together on the one graph."""


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
        whole_number("splits", self.splits, 1, "give the divisions of users, 1 or more")
        whole_number("trials", self.trials, 1, "give the mixtures to try, 1 or more")
        for name in ("windows", "all_windows"):
            whole_number(name, getattr(self, name), 2, "give the most choices to predict, 2 or more")


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
    run: PathLike | None = None,
    seed: int = 0,
    workers: int | None = None,
    progress: Progress = silent,
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
    run : folder that keeps trained agents, walkers and fits: a killed job goes on where it stopped.
    """
    found = _dataset(data, graph, folder, lenient)
    return prepared(found, agents, recipe, effort, run, seed, workers, progress).complete()


def prepared(
    data: Dataset,
    agents: Mapping[str, AgentLike] | None = None,
    recipe: Recipe | None = None,
    effort: Effort = FULL,
    run: PathLike | None = None,
    seed: int = 0,
    workers: int | None = None,
    progress: Progress = silent,
) -> Job:
    """What `predict` completes: the study is made, and agents are trained or found in the run folder."""
    seed = seed_number(seed)
    if agents is not None and set(agents) != set(REWARDS):
        raise UnknownNameError(f"the agents are for {quoted(sorted(agents))}; give one for each of igt and cpt.")
    given = None if agents is None else {reward: as_agent(agents[reward]) for reward in REWARDS}
    for package in ("joblib", "optuna", "torch"):
        require(package, "predict", "Predictions")
    made = study(data, recipe, {"last": effort.windows, "all": effort.all_windows}, seed)
    _check_splits(made, effort.splits)
    home = None if run is None else as_path(run)
    if home is not None:
        home.mkdir(parents=True, exist_ok=True)
    trained = given or _trained(made, effort, seed, home, worker_number(workers), progress)
    return Job(made, effort, trained, seed, home, worker_number(workers), progress)


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


def _trained(made: Study, effort: Effort, seed: int, home: Path | None, workers: int, tell: Progress) -> dict[str, Any]:
    """A pair of agents, trained on the graph; both at once where there are two workers."""
    joblib = require("joblib", "predict", "Several processes")
    tell(f"{made.name}: training agents for igt and cpt, {effort.train_steps:,} steps each")
    tasks = [
        joblib.delayed(_train)(made.graph, reward, effort.train_steps, seed, home and home / name)
        for reward in REWARDS
        for name in [f"agent-{reward}-{effort.train_steps}-{seed}-{graph_digest(made.graph)[:8]}"]
    ]
    return dict(zip(REWARDS, joblib.Parallel(min(workers, len(tasks)))(tasks), strict=True))


def _train(graph: Graph, reward: str, steps: int, seed: int, out: Path | None) -> Any:
    return train(
        [graph] * _COPIES,
        reward,
        seed=seed,
        out=out,
        train_steps=steps,
        validate_every=max(1, steps // 10),
        validation_walks=4,
    )


@dataclass(frozen=True, eq=False)
class Job:
    """A study, who walks on its graph, and where results are kept."""

    study: Study
    effort: Effort
    agents: dict[str, Any]
    seed: int
    home: Path | None
    workers: int
    tell: Progress

    def complete(self) -> Prediction:
        """Fit and test everything."""
        outcomes = {among: self._outcome(among, scored) for among, scored in self.scored.items()}
        facts = {"study": self.study.facts(), "recipe": asdict(self.study.recipe), "effort": asdict(self.effort)}
        about = {reward: fingerprint("agent", agent) for reward, agent in self.agents.items()}
        return Prediction(self.study.name, facts | {"seed": self.seed}, outcomes, about)

    @cached_property
    def scored(self) -> dict[str, Components]:
        """Scores of the candidates, "last" and "all", by everything that there is."""
        walked: dict[str, dict[str, Float32]] = {among: {} for among in CANDIDATES}
        for name, walkers in self._walkers().items():
            visits = self._found(name, walkers)  # a few hundred megabytes on large graphs: one at a time
            for among, windows in self.study.choices.items():
                walked[among][name] = visits.of(windows.histories, self.study.candidates[among])
        self.tell(f"{self.study.name}: PageRank and counts of the candidates")
        counting = [kind.fitted(self.study.graph, self.study.makers) for kind in _COUNTING]
        return {among: components(self.study, among, walked[among], counting) for among in CANDIDATES}

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
        return step_visits(
            self.study.graph,
            walkers,
            self.study.starts,
            None if self.home is None else self.home / "walkers",
            self.workers,
            lambda done, total: self.tell(
                f"{self.study.name}: walkers ({name}) from {done:,} of {total:,} nodes", done / total
            ),
        )

    # ---- splits -------------------------------------------------------------------------------------------------

    def _outcome(self, among: str, scored: Components) -> Outcome:
        tests = [self.study.split(number, scored.windows.users) for number in range(self.effort.splits)]
        found: dict[int, dict[str, Any]] = {}
        for number in range(self.effort.splits):
            kept = self._read(among, number)
            if kept is not None:
                found[number] = kept
        missing = [number for number in range(self.effort.splits) if number not in found]
        joblib = require("joblib", "predict", "Several processes")
        results = joblib.Parallel(min(self.workers, max(1, len(missing))), return_as="generator")(
            joblib.delayed(fit_split)(scored, tests[number], self.effort.trials, self._seed(number))
            for number in missing
        )
        for number, result in zip(missing, results, strict=True):
            self._write(among, number, result)
            found[number] = result
            self.tell(
                f"{self.study.name}: fitted {len(found)} of {self.effort.splits} splits ({among})",
                len(found) / self.effort.splits,
            )
        return _gathered(among, scored, tests, [found[number] for number in sorted(found)], self.seed)

    def _seed(self, number: int) -> int:
        return int(np.random.default_rng([self.seed, number]).integers(2**31))

    def _path(self, among: str, number: int) -> Path | None:
        if self.home is None:
            return None
        windows, makers = self.study.choices[among], self.study.makers
        digest = hashlib.sha256()
        tested = self.study.split(number, windows.users)
        for array in (windows.histories, windows.nexts, windows.users, tested, makers.nodes, makers.offsets):
            digest.update(array.tobytes())
        walkers = [walkers.about(self.study.graph) for walkers in self._walkers().values()]
        about = ["fits 2", self.effort.trials, self.seed, walkers, digest.hexdigest()]
        named = hashlib.sha256(json.dumps(about).encode()).hexdigest()[:12]
        return self.home / f"fit-{among}-{number:02d}-{named}.npz"

    def _write(self, among: str, number: int, result: dict[str, Any]) -> None:
        path = self._path(among, number)
        if path is not None:
            with replacing(path) as stream:
                np.savez_compressed(stream, fits=np.array(json.dumps(result["fits"])), **result["ranks"])

    def _read(self, among: str, number: int) -> dict[str, Any] | None:
        """What was fitted before; None if nothing was, or the file is not whole."""
        path = self._path(among, number)
        if path is None or not path.is_file():
            return None
        try:
            with np.load(path, allow_pickle=False) as held:
                ranks = {name: held[name] for name in held.files if name != "fits"}
                return {"fits": json.loads(str(held["fits"])), "ranks": ranks}
        except Exception:  # whatever a truncated archive leads to: it is fitted again
            return None


def fit_split(scored: Components, tested: Any, trials: int, seed: int) -> dict[str, Any]:
    """Fit every method on the choices that are not tested, and rank those that are: nothing else is looked at."""
    torch = require("torch", "predict", "Fitting alpha and weights")
    torch.set_num_threads(1)
    fits = _fits(scored.rows(~tested), trials, seed)
    test = scored.rows(tested)
    ranks = {method: _measures(test, mix) for method, mix in fits.items()}
    return {"fits": {method: mix.to_dict() for method, mix in fits.items()}, "ranks": ranks}


def mix_of(fit: dict[str, Any]) -> Mix:
    """The mixture that an outcome's `fits` hold as plain values.

    >>> mix_of(Mix({"pagerank": 3.0}, 0.85).to_dict()).weights
    {'pagerank': 1.0}
    """
    return Mix(**fit)


def _measures(test: Components, mix: Mix) -> Float64:
    ranks = test.ranks(mix)
    return np.stack([getattr(ranks, measure) for measure in MEASURES]).astype(np.float32)


def _fits(train: Components, trials: int, seed: int) -> dict[str, Mix]:
    """Every method, fitted."""
    plain = fitted(train, [PAGERANK], trials, seed)
    found = {name: Mix({name: 1.0}) for name in map(_name, _COUNTING)} | {PAGERANK: plain}
    for theory, rewards in _THEORIES.items():
        for kind in _KINDS:
            names = [PAGERANK, *(f"{kind} {reward}" for reward in rewards)]
            begin = [plain, *(found[f"{kind} {reward}"] for reward in rewards if len(rewards) > 1)]
            begin += [] if len(rewards) > 1 else _contrasts(train, names)
            found[f"{kind} {theory}"] = fitted(train, names, trials, seed, begin=begin)
        found[theory] = max((found[f"{kind} {theory}"] for kind in _KINDS), key=lambda mix: placed(train, mix))
    control = [PAGERANK, MEMORY]
    found[MEMORY] = fitted(train, control, trials, seed, begin=[plain, *_contrasts(train, control)])
    singles = [Mix({name: 1.0}, plain.alpha, scaled=True) for name in _TOGETHER]
    found[WITHOUT] = fitted(train, _TOGETHER, 2 * trials, seed, True, singles)
    curious = [f"{kind} {reward}" for kind in _KINDS for reward in REWARDS]
    begin = [found[WITHOUT], *(replace(found[WITHOUT], steps=steps) for steps in (2, 3))]
    found[WITH] = fitted(train, [*_TOGETHER, *curious], 2 * trials, seed, True, begin)
    return found


def _contrasts(train: Components, names: Sequence[str]) -> list[Mix]:
    """Walkers that stay near the history, less where anyone ends up: a good place to begin a search."""
    longest = len(train.walkers[names[-1]])
    tried = [(alpha, min(steps, longest)) for alpha, steps in ((0.8, 2), (0.95, 2), (0.95, 4))]
    return [
        Mix({name: sign / max(train.spread(name, *at), 1e-12) for name, sign in zip(names, (-1, 1), strict=True)}, *at)
        for at in dict.fromkeys(tried)
    ]


def _name(kind: Any) -> str:
    return str(kind.__dataclass_fields__["name"].default)


def _gathered(
    among: str, scored: Components, tests: Sequence[Any], results: Sequence[dict[str, Any]], seed: int
) -> Outcome:
    ranks = {}
    for method in results[0]["ranks"]:
        table = np.full((len(MEASURES), len(tests), len(scored.windows)), np.nan, np.float32)
        for number, (tested, result) in enumerate(zip(tests, results, strict=True)):
            table[:, number, tested] = result["ranks"][method]
        ranks[method] = table
    fits = {method: [result["fits"][method] for result in results] for method in ranks}
    return Outcome(among, scored.windows.users, ranks, fits, seed)
