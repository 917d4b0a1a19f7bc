"""`hypotheses`: compare motives by the likelihood of the choices of held-out users."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import softmax

from curiograph.agents.agent_names import AgentLike
from curiograph.arrays import Float64, Int64
from curiograph.bootstrap import NO_ESTIMATE, adjust_holm, compute_upper_p, estimate_means, sum_by_user
from curiograph.errors import SettingError, WalkError
from curiograph.graph.csr import concatenate_ranges
from curiograph.graph.graph import Graph
from curiograph.graph.similarity import Similarity
from curiograph.human.choices.choice_sets import DEFAULT_MEMORY, ChoiceRanks, ChoiceSet, align_walks, find_choices
from curiograph.human.choices.choice_table import ChoiceTable
from curiograph.human.data.datasets import Dataset
from curiograph.human.motives.catalog import Motive, as_motives
from curiograph.human.motives.logit import ChoiceLogit, center_features, update_population
from curiograph.human.motives.motive_fits import BASELINES, CHANCE, MIN_CHOICES, USER_FIELDS, MotiveFit, Motives
from curiograph.human.motives.weights import MIN_PEOPLE, estimate_weights
from curiograph.human.trajectories import Trajectories
from curiograph.parallel import IN_PROCESS, Engine, EngineName, as_engine
from curiograph.progress import Progress, no_progress, split_progress
from curiograph.results import join_columns
from curiograph.rewards.reward_names import RewardLike
from curiograph.validation import check_integer, check_seed

_MIN_RETURNS = 0.1  # share of moves that are returns, above which they are choices
_MAX_CANDIDATES = 200_000  # of the people to whom parameters are fitted together with weights
_START_SPREAD = 0.5  # of weights over people
_FINE_VALUES, _INTERPOLATED = 5, 1001  # values of a parameter between the neighbors of the best one of its grid
_NO_SCALE = 1e-9  # smallest standard deviation of a motive whose scores differ between the candidates
_TIE = 1e-9  # bits: motives closer than this explain the choices of a user equally well


def hypotheses(
    graph: Graph | ChoiceTable,
    walks: Trajectories | Dataset | None = None,
    *,
    motives: Sequence[str] | None = None,
    agents: Sequence[AgentLike] = (),
    reward: RewardLike = "igt",
    similarity: Similarity | None = None,
    burn_in: int = 3,
    memory: int = DEFAULT_MEMORY,
    folds: int = 5,
    weights: bool = False,
    returns: bool | None = None,
    seed: int = 0,
    engine: EngineName | Engine = "local",
    progress: Progress = no_progress,
) -> Motives:
    """Compare motives by the likelihood of people's choices, cross-validated over users.

    A person who follows a motive chooses the candidate of rank r among n with probability
    (1 - p_g) p_g^(r - 1) / (1 - p_g^n). For each group of users, p_g and the counts of the Markov motive are fitted to
    the choices of all other users, and so is the parameter of a motive that has one, such as the leak of counts.

    Parameters
    ----------
    graph : Graph or ChoiceTable
        Graph on which people walked; or choices among given options, without walks, where outcomes are uncertain.
    walks : Trajectories or Dataset
        Walks on the graph. Only steps along a link to an unvisited node count as choices, unless `returns`.
    motives : sequence of str, optional
        Names of motives, as in docs/hypotheses.md. Default: all that apply, with those of games if walks have targets.
    agents : sequence
        Further motives: agents by name or path, or objects with a method `scores`.
    reward : str or Reward
        Reward for those of the agents that need one.
    similarity : Similarity, optional
        Similarity of the nodes in meaning, for the motives similarity (of the candidate to the last node) and
        similarity-history (the mean over all visited nodes), and target-similarity (to the target of a game). The first
        is added if none of them is named.
    burn_in : int
        Number of distinct nodes visited before the first choice.
    memory : int
        Number of most recently visited nodes that cannot be chosen again.
    folds : int
        Number of groups of users in the cross-validation.
    weights : bool
        Estimate also weights over all motives at once, in the population (`weight` of each motive) and for every
        user (`found.people`). Needs choices of 10 users or more.
    returns : bool, optional
        Count steps to visited nodes as choices too: the candidates are all out-neighbors of the last node and the node
        before it. Default: if more than a tenth of the moves are returns.
    seed : int
        Seed of the groups of users.
    engine : str or Engine
        Where the tasks run; the result is the same.
    progress : callable
        Progress callback.

    Returns
    -------
    Motives
        Mapping from motive names to `MotiveFit`, best motive first, and then the baselines markov and uniform.

    Examples
    --------
    >>> import curiograph as cg
    >>> g = cg.generate("ba", nodes=30, seed=0)
    >>> agents = ["max-degree", "max-degree", "max-degree", "random"] * 15
    >>> lists = [cg.explore(g, agent=agents[n], start=n % 30, steps=6, seed=n) for n in range(60)]
    >>> walks = Trajectories.from_walks(lists, users=[n % 20 for n in range(60)], graph=g)
    >>> found = hypotheses(g, walks, motives=["uniform", "degree", "igt"], burn_in=2, weights=True)
    >>> found
    Motives(240 choices by 20 users; degree, igt, uniform)
    >>> found["uniform"].gain.value, found["degree"].weight.low > 0
    (0.0, True)
    >>> found.best_by_user[0], found.best_by_user[3], found.unclear
    ('degree', 'unclear', 0.25)
    """
    folds = check_integer("folds", folds, 2, "divide the users into 2 groups or more")
    people: Any = graph
    if isinstance(graph, ChoiceTable):
        if walks is not None or similarity is not None or agents:
            raise SettingError("a table of choices has no walks, agents or similarity; leave them out.")
        choices, left_out = graph.find_choices()
    else:
        if similarity is not None:
            similarity.check_graph(graph)
        people = align_walks(graph, walks)
        if returns is None:
            moves = len(people.nodes) - int(np.count_nonzero(people.lengths))
            returns = int(np.count_nonzero(~people.are_first())) / max(moves, 1) > _MIN_RETURNS
        choices, left_out = find_choices(graph, people, burn_in, memory, returns)
    join_columns(people.user_columns, dict.fromkeys(USER_FIELDS[bool(weights)]))  # raises before the work
    compared = as_motives(motives, agents, reward, choices, similarity)
    users, user_of = np.unique(choices.windows.users, return_inverse=True)
    if len(users) < 2 or (weights and len(users) < MIN_PEOPLE):
        reasons = ", ".join(f"{reason}: {count}" for reason, count in left_out.items())
        raise WalkError(
            f"there are {len(choices)} choices among several candidates by {len(users)} users (left out: {reasons}); "
            f"motives are fitted and tested on different users: give {MIN_PEOPLE if weights else 2} users or more."
        )
    fold_of_user = np.random.default_rng(check_seed(seed)).permutation(len(users)) % min(folds, len(users))
    fold_of = fold_of_user[user_of]
    scoring, weighing = split_progress(progress, [3, 2 if weights else 0])
    models = fit_motives(compared, choices, fold_of, weights)
    scored = score_models(models, choices, None, weights, as_engine(engine), scoring)
    if motives is None:  # leave out those that score all candidates alike, as novelty does without returns
        asked = (0, *range(len(compared) - len(agents), len(compared)))  # uniform, and agents
        kept = [number for number in range(len(compared)) if number in asked or _is_informative(number, scored)]
        compared = [compared[number] for number in kept]
        renumbered = {key: (kept.index(key[0]), key[1]) for key in models if key[0] in kept}
        models = {new: models[key] for key, new in renumbered.items()}
        scored = {new: scored[key] for key, new in renumbered.items()}
    tested = cross_validate(compared, fold_of, scored)
    counts = np.bincount(user_of)
    gains, squares, percentiles = (
        sum_by_user(values, user_of) for values in (tested.gains, tested.gains**2, tested.percentiles)
    )
    is_baseline = np.array([motive.name in BASELINES for motive in compared])
    order = np.lexsort((-gains.sum(axis=0), is_baseline))
    gains, squares, percentiles = gains[:, order], squares[:, order], percentiles[:, order]
    known = gains[counts >= MIN_CHOICES]
    is_best = known >= known.max(axis=1, keepdims=True) - _TIE
    shares = [NO_ESTIMATE] * len(compared)
    if len(is_best):
        shares = estimate_means(is_best / is_best.sum(axis=1, keepdims=True), np.ones(len(is_best), np.int64))
    below_chance = CHANCE * counts[:, None] - percentiles
    p_values = adjust_holm(np.concatenate([compute_upper_p(sums, counts) for sums in (gains, below_chance)]))
    names = [motive.name for motive in compared]
    extra: dict[str, Any] = {}
    weights_of: dict[str, dict[str, Any]] = {}
    if weights:
        features, chosen, variances = list_features(
            models, choices, scored, tested.parameters, user_of, as_engine(engine), weighing
        )
        tested.parameters.update({(number, None): value for number, value in chosen.items()})
        weights_of, extra = estimate_weights(
            names=names,
            features=features,
            variances=variances,
            choices=choices,
            people=user_of,
            fold_of_person=fold_of_user,
            seed=seed,
            progress=weighing,
        )
        extra |= {name: extra[name][:, order] for name in ("people", "people_low", "people_high")}
        for remark in extra["remarks"]:
            warnings.warn(remark, stacklevel=2)
    fits = [
        MotiveFit(
            names[index],
            float(tested.p_g[index].mean()),
            tested.parameters[index, None],
            *values,
            **weights_of.get(names[index], {}),
        )
        for index, *values in zip(
            order.tolist(),
            estimate_means(gains, counts),
            estimate_means(gains[:, :1] - gains, counts),
            estimate_means(percentiles, counts),
            shares,
            *p_values.reshape(2, -1).tolist(),
            strict=True,
        )
    ]
    return Motives(
        fits={fit.name: fit for fit in fits},
        choices=len(choices),
        users=[people.user_names[int(user)] for user in users],
        user_choices=counts,
        user_columns={name: [values[int(user)] for user in users] for name, values in people.user_columns.items()},
        left_out=left_out,
        folds=int(fold_of_user.max()) + 1,
        user_gains=gains,
        user_squares=squares,
        skipped=people.skipped,
        returns=bool(returns),
        **extra,
    )


def _is_informative(number: int, scored: Mapping[Key, Scored]) -> bool:
    """Return whether a motive prefers any candidate to any other."""
    found = scored.get((number, None)) or scored[number, 0]
    return any(bool(np.any(ranks.tied < ranks.count)) for ranks in found.ranks)


Key = tuple[int, int | None]
"""Number of a motive, and of the fold to which it was not fitted; None if it was fitted to all choices."""


def fit_motives(
    motives: Sequence[Motive], choices: ChoiceSet, fold_of: Int64, with_all: bool = False
) -> dict[Key, Motive]:
    """Fit motives that need it to all folds but one and, if `with_all`, to all choices; others stay as they are."""
    models: dict[Key, Motive] = {}
    for number, motive in enumerate(motives):
        if with_all or not motive.is_fitted_to_choices:
            models[number, None] = motive.fit(choices)
        for fold in range(int(fold_of.max()) + 1) if motive.is_fitted_to_choices else ():
            models[number, fold] = motive.fit(choices.rows(fold_of != fold))
    return models


class Scored(NamedTuple):
    """Scores of all choices by one model."""

    ranks: list[ChoiceRanks]
    """Ranks of the chosen candidates for each value of the parameter."""
    features: Float64 | None
    """Scores of all candidates on the scale of weights; None if they were not asked for."""


def score_models(
    models: Mapping[Key, Motive],
    choices: ChoiceSet,
    parameters: Mapping[Key, float] | None = None,
    with_features: bool = False,
    engine: Engine = IN_PROCESS,
    progress: Progress = no_progress,
) -> dict[Key, Scored]:
    """Score all choices by models with all values of their parameter, or with the given one.

    There are features only where there is one value.
    """
    tasks = [
        (key, start, min(start + size, len(choices)))
        for key, size in ((key, model.get_task_size(choices.graph)) for key, model in models.items())
        for start in range(0, len(choices), size)
    ]
    made: list[Any] = [*vars(choices.windows).values(), choices.candidates.nodes, choices.returns, choices.targets]
    if choices.walks is not None:
        made += [choices.walks.nodes, choices.walks.offsets]
    if choices.table is not None:
        made += [choices.table.outcomes, choices.table.is_first]
    results = engine.map(
        score_chunk,
        (choices, models, parameters, with_features),
        tasks,
        name="motives",
        key=[choices.graph, *made, list(models.values()), parameters, with_features],
        unit="choices",
        sizes=[stop - start for _, start, stop in tasks],
        progress=progress,
    )
    chunks: dict[Key, list[Mapping[str, Any]]] = {key: [] for key in models}
    for (key, _, _), result in zip(tasks, results, strict=True):
        chunks[key].append(result)
    scored = {}
    for key, parts in chunks.items():
        ranks = np.concatenate([part["ranks"] for part in parts], axis=-1).astype(np.int64)
        features = np.concatenate([part["features"] for part in parts]) if "features" in parts[0] else None
        scored[key] = Scored([ChoiceRanks(*each) for each in ranks], features)
    return scored


def score_chunk(
    shared: tuple[ChoiceSet, Mapping[Key, Motive], Mapping[Key, float] | None, bool], task: tuple[Any, int, int]
) -> Mapping[str, Any]:
    """Task function: score some of the choices by a motive."""
    (choices, models, parameters, with_features), (key, start, stop) = shared, task
    chunk, model = choices.rows(slice(start, stop)), models[key]
    result: dict[str, Any] = {}
    ranks = []
    for scores in model.score_all(chunk, model.parameters if parameters is None else [parameters[key]]):
        found = chunk.rank(scores)
        ranks.append([found.above, found.tied, found.count])
        if with_features and (parameters is not None or len(model.parameters) == 1):
            result["features"] = model.compute_features(chunk, scores)
    return {"ranks": np.array(ranks, np.int32), **result}


class CrossValidation(NamedTuple):
    """Motives fitted to all folds but one and tested on that one."""

    p_g: Float64
    """Motives x folds."""
    parameters: dict[Key, float]
    """Best value of the parameter of each motive, fitted to all folds but one, and to all choices."""
    gains: Float64
    """Choices x motives: bits above the uniform choice."""
    percentiles: Float64
    """Choices x motives: percentile ranks of the chosen candidates."""


def cross_validate(motives: Sequence[Motive], fold_of: Int64, scored: Mapping[Key, Scored]) -> CrossValidation:
    """Fit p_g and the parameter of each motive to all folds but one and test it on that one."""
    folds = range(int(fold_of.max()) + 1)
    p_g = np.empty((len(motives), len(folds)))
    parameters: dict[Key, float] = {}
    gains, percentiles = np.empty((2, len(fold_of), len(motives)))
    for number, motive in enumerate(motives):
        parameters[number, None] = motive.parameters[0]
        for fold in folds if len(motive.parameters) == 1 else (None, *folds):
            ranks = scored[number, fold if motive.is_fitted_to_choices else None].ranks
            is_train = np.full(len(fold_of), True) if fold is None else fold_of != fold
            fits = [each.rows(is_train).fit_p_g() for each in ranks]
            best = int(np.argmax([bits for _, bits in fits]))
            parameters[number, fold] = motive.parameters[best]
            if fold is not None:
                p_g[number, fold] = fits[best][0]
                tested = ranks[best].rows(~is_train)
                gains[~is_train, number] = tested.log_likelihood(p_g[number, fold]) - tested.log_likelihood(1.0)
                percentiles[~is_train, number] = 1 - tested.mean_rank / (tested.count - 1)
    return CrossValidation(p_g, parameters, gains, percentiles)


def list_features(
    models: Mapping[Key, Motive],
    choices: ChoiceSet,
    scored: Mapping[Key, Scored],
    parameters: Mapping[Key, float],
    people: Int64,
    engine: Engine = IN_PROCESS,
    progress: Progress = no_progress,
) -> tuple[dict[Key, Float64], dict[int, float], Float64]:
    """Return the features of all candidates by motive and fold, and the values of the parameters that motives have.

    Parameters are fitted together with weights that vary between people, to some of the people: weights that all share
    are biased, and with them the parameters. One parameter is fitted after the other, first on its grid and then
    between the neighbors of the best value, of which the mean is taken with the likelihood as probability. Returned
    last are the variances of the weights over these values.
    """
    features = {key: each.features for key, each in scored.items() if each.features is not None}
    chosen = {number: parameters[number, None] for number, _ in models if (number, None) not in features}
    numbers = sorted({number for number, _ in models})
    variances = np.zeros(len(numbers))
    if not chosen:
        return features, chosen, variances
    count = int(people.max()) + 1
    most = np.clip(count * _MAX_CANDIDATES // len(choices.candidates.nodes), MIN_PEOPLE, count)
    some = np.flatnonzero(np.isin(people, np.linspace(0, count - 1, most).astype(np.int64)))
    part, who = choices.rows(some), np.unique(people[some], return_inverse=True)[1]
    slots = concatenate_ranges(choices.candidates.offsets[some], part.candidates.counts)
    columns = np.zeros((len(slots), len(numbers)))

    def try_values(number: int, values: Sequence[float]) -> Iterator[ChoiceLogit]:
        model, known = models[number, None], features.get((number, None))
        tried = (model.compute_features(part, scores) for scores in model.score_all(part, values))
        for column in tried if known is None else [known[slots]]:
            centered, scale = center_features(column, part.candidates)
            columns[:, number] = centered / scale if scale > _NO_SCALE else 0.0
            yield ChoiceLogit.from_choices(columns, part.candidates.offsets, part.chosen, who)

    for number in numbers:
        data = next(try_values(number, [parameters[number, None]]))
    mean, spread = data.fit_common(), np.full(len(numbers), _START_SPREAD)
    for is_fine, number in product((False, True), chosen):
        grid = np.sort(models[number, None].parameters)
        if is_fine:
            place = int(np.searchsorted(grid, chosen[number]))
            grid = np.linspace(grid[max(place - 1, 0)], grid[min(place + 1, len(grid) - 1)], _FINE_VALUES)
        fits = [update_population(data, mean, spread) for data in try_values(number, grid.tolist())]
        best = int(np.argmax([fit[2] for fit in fits]))
        chosen[number], (mean, spread, _) = float(grid[best]), fits[best]
        if is_fine:
            table = CubicSpline(grid, [[height, *means] for means, _, height in fits])
            values = np.linspace(grid[0], grid[-1], _INTERPOLATED)
            heights, means = np.split(table(values), [1], axis=1)
            shares = softmax(heights[:, 0])
            chosen[number] = round(float(shares @ values), 3)
            variances += shares @ (means - table(chosen[number])[1:]) ** 2
        next(try_values(number, [chosen[number]]))
    again: dict[Key, Motive] = {(number, None): models[number, None] for number in chosen}
    more = score_models(again, choices, {key: chosen[key[0]] for key in again}, True, engine, progress)
    found = {key: each.features for key, each in more.items() if each.features is not None}
    return features | found, chosen, variances
