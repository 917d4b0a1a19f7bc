"""`hypotheses`: compare motives by the likelihood of the choices of held-out users."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from curiograph.agents.agent_names import AgentLike
from curiograph.arrays import Float64, Int64
from curiograph.bootstrap import NO_ESTIMATE, adjust_holm, compute_upper_p, estimate_means, sum_by_user
from curiograph.errors import WalkError
from curiograph.graph.graph import Graph
from curiograph.graph.similarity import Similarity
from curiograph.human.choices.choice_sets import DEFAULT_MEMORY, ChoiceRanks, ChoiceSet, align_walks, find_choices
from curiograph.human.data.datasets import Dataset
from curiograph.human.motives.catalog import MOTIVES, Motive, as_motives
from curiograph.human.motives.likelihood import fit_p_g, log_likelihood
from curiograph.human.motives.logit import compute_features
from curiograph.human.motives.motive_fits import CHANCE, MotiveFit, Motives
from curiograph.human.motives.weights import MIN_PEOPLE, estimate_weights
from curiograph.human.trajectories import Trajectories
from curiograph.parallel import IN_PROCESS, Engine, EngineName, as_engine
from curiograph.progress import Progress, no_progress, split_progress
from curiograph.rewards.reward_names import RewardLike
from curiograph.validation import check_integer, check_seed

_RANK_FIELDS = ("above", "tied", "count")
_TIE = 1e-9  # bits: motives closer than this explain the choices of a user equally well


def hypotheses(
    graph: Graph,
    walks: Trajectories | Dataset,
    *,
    motives: Sequence[str] = tuple(MOTIVES),
    agents: Sequence[AgentLike] = (),
    reward: RewardLike = "igt",
    similarity: Similarity | None = None,
    burn_in: int = 3,
    memory: int = DEFAULT_MEMORY,
    folds: int = 5,
    min_choices: int = 5,
    weights: bool = False,
    returns: bool = False,
    seed: int = 0,
    engine: EngineName | Engine = "local",
    progress: Progress = no_progress,
) -> Motives:
    """Compare motives by the likelihood of people's choices, cross-validated over users.

    A person who follows a motive chooses the candidate of rank r among n with probability
    (1 - p_g) p_g^(r - 1) / (1 - p_g^n). For each group of users, p_g and the counts of the Markov motive are fitted to
    the choices of all other users.

    Parameters
    ----------
    graph : Graph
        Graph on which people walked.
    walks : Trajectories or Dataset
        Walks on the graph. Only steps along a link to an unvisited node count as choices, unless `returns`.
    motives : sequence of str
        Names of motives: uniform, degree, pagerank, igt, cpt, cct, markov.
    agents : sequence
        Further motives: agents by name or path, or objects with a method `scores`.
    reward : str or Reward
        Reward for those of the agents that need one.
    similarity : Similarity, optional
        Similarity of the nodes in meaning, for the motives similarity (of the candidate to the last node) and
        similarity-history (the mean over all visited nodes). The former is added if none of them is named.
    burn_in : int
        Number of distinct nodes visited before the first choice.
    memory : int
        Number of most recently visited nodes that cannot be chosen again.
    folds : int
        Number of groups of users in the cross-validation.
    min_choices : int
        Minimum number of choices of a user who has a best motive.
    weights : bool
        Estimate also weights over all motives at once, in the population (`weight` of each motive) and for every
        user (`found.people`). Needs choices of 10 users or more.
    returns : bool
        Count steps to visited nodes as choices too: the candidates are all out-neighbors of the last node and the node
        before it.
    seed : int
        Seed of the groups of users.
    engine : str or Engine
        Where the tasks run; the result is the same.
    progress : callable
        Progress callback.

    Returns
    -------
    Motives
        Mapping from motive names to `MotiveFit`, best motive first.

    Examples
    --------
    >>> from curiograph.graph.toys import library
    >>> walks = Trajectories.from_walks([["music", "physics", "chemistry", "biology"]] * 4, graph=library())
    >>> found = hypotheses(library(), walks, motives=["uniform"], burn_in=1)
    >>> found.choices, found.left_out["only candidate"]
    (8, 4)
    """
    folds = check_integer("folds", folds, 2, "divide the users into 2 groups or more")
    min_choices = check_integer("min_choices", min_choices, 1, "give 1 or more")
    compared = as_motives(motives, agents, reward, similarity)
    if similarity is not None:
        similarity.check_graph(graph)
    walks = align_walks(graph, walks)
    choices, left_out = find_choices(graph, walks, burn_in, memory, returns)
    users, user_of = np.unique(choices.windows.users, return_inverse=True)
    if len(users) < 2 or (weights and len(users) < MIN_PEOPLE):
        reasons = ", ".join(f"{reason}: {count}" for reason, count in left_out.items())
        raise WalkError(
            f"there are {len(choices)} choices of a new node along a link by {len(users)} users ({reasons}); motives "
            f"are fitted and tested on different users: give walks of {MIN_PEOPLE if weights else 2} users or more."
        )
    fold_of_user = np.random.default_rng(check_seed(seed)).permutation(len(users)) % min(folds, len(users))
    fold_of = fold_of_user[user_of]
    scoring, weighing = split_progress(progress, [3, 2 if weights else 0])
    scored = score_folds(compared, choices, fold_of, weights, as_engine(engine), scoring)
    p_g, choice_gains, choice_percentiles = cross_validate(compared, choices, fold_of, scored)
    counts = np.bincount(user_of)
    gains, squares, percentiles = (
        sum_by_user(values, user_of) for values in (choice_gains, choice_gains**2, choice_percentiles)
    )
    order = np.argsort(-gains.sum(axis=0), kind="stable")
    gains, squares, percentiles = gains[:, order], squares[:, order], percentiles[:, order]
    known = gains[counts >= min_choices]
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
        found = estimate_weights(
            names=names,
            features={key: each.features for key, each in scored.items()},
            choices=choices,
            people=user_of,
            fold_of_person=fold_of_user,
            seed=seed,
            progress=weighing,
        )
        weights_of = found.fits
        extra = {"together": found.together, "personal": found.personal, "remarks": found.remarks}
        extra |= dict(zip(("people", "people_low", "people_high"), found.people[:, :, order], strict=True))
        for remark in found.remarks:
            warnings.warn(remark, stacklevel=2)
    fits = [
        MotiveFit(names[index], float(p_g[index].mean()), *values, **weights_of.get(names[index], {}))
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
        users=[walks.user_names[int(user)] for user in users],
        user_choices=counts,
        user_columns={name: [values[int(user)] for user in users] for name, values in walks.user_columns.items()},
        left_out=left_out,
        folds=int(fold_of_user.max()) + 1,
        min_choices=min_choices,
        user_gains=gains,
        user_squares=squares,
        skipped=walks.skipped,
        **extra,
    )


class _Scored(NamedTuple):
    """Scores of all choices by one motive."""

    ranks: ChoiceRanks  # of the chosen candidates
    features: Float64  # of every candidate, on the scale of weights; empty if no weights are estimated


ScoredFolds = Mapping[tuple[int, int | None], _Scored]
"""Scores by the number of the motive and of the fold to which it was not fitted; fold None: fitted to all choices."""


def score_folds(
    motives: Sequence[Motive],
    choices: ChoiceSet,
    fold_of: Int64,
    with_features: bool = False,
    engine: Engine = IN_PROCESS,
    progress: Progress = no_progress,
) -> ScoredFolds:
    """Score all choices by each motive, fitted to all folds but one; `fold_of` is the fold of each choice."""
    models: dict[tuple[int, int | None], Motive] = {}
    for number, motive in enumerate(motives):
        for fold in range(int(fold_of.max()) + 1) if motive.is_fitted_to_choices else ():
            models[number, fold] = motive.fit(choices.graph, choices.windows.rows(fold_of != fold))
        if with_features or not motive.is_fitted_to_choices:
            models[number, None] = motive.fit(choices.graph, choices.windows)
    tasks = [
        (key, start, min(start + size, len(choices)))
        for key, size in ((key, model.get_task_size(choices.graph)) for key, model in models.items())
        for start in range(0, len(choices), size)
    ]
    tasks.sort(key=lambda task: task[1] - task[2])  # longest first, to keep all workers busy until the end
    results = engine.map(
        score_chunk,
        (choices, models, with_features),
        tasks,
        name="motives",
        key=[choices.graph, *vars(choices.windows).values(), choices.returns, fold_of, motives, with_features],
        unit="choices",
        sizes=[stop - start for _, start, stop in tasks],
        progress=progress,
    )
    chunks: dict[Any, list[Mapping[str, Any]]] = {key: [] for key in models}
    for (key, _, _), result in sorted(zip(tasks, results, strict=True), key=lambda pair: pair[0][1]):
        chunks[key].append(result)
    scored = {}
    for key, parts in chunks.items():
        ranks = (np.concatenate([chunk[name] for chunk in parts]).astype(np.int64) for name in _RANK_FIELDS)
        features = [chunk["features"] for chunk in parts] if with_features else [np.empty(0)]
        scored[key] = _Scored(ChoiceRanks(*ranks), np.concatenate(features))
    return scored


def score_chunk(shared: tuple[ChoiceSet, Mapping[Any, Motive], bool], task: tuple[Any, int, int]) -> Mapping[str, Any]:
    """Task function: score some of the choices by a motive."""
    (choices, models, with_features), (key, start, stop) = shared, task
    chunk = choices.rows(slice(start, stop))
    scores = models[key].score_candidates(chunk)
    ranks = chunk.rank(scores)
    result: dict[str, Any] = {name: getattr(ranks, name).astype(np.int32) for name in _RANK_FIELDS}
    if with_features:
        result["features"] = compute_features(models[key], chunk, scores)
    return result


def cross_validate(
    motives: Sequence[Motive], choices: ChoiceSet, fold_of: Int64, scored: ScoredFolds
) -> tuple[Float64, Float64, Float64]:
    """Fit each motive to all folds but one and test it on that one; `fold_of` is the fold of each choice.

    Returns p_g (motives x folds), and the bits above the uniform choice and the percentile ranks (choices x motives).
    """
    folds = range(int(fold_of.max()) + 1)
    p_g = np.empty((len(motives), len(folds)))
    gains, percentiles = np.empty((2, len(choices), len(motives)))
    for number, motive in enumerate(motives):
        for fold in folds:
            model_ranks = scored[number, fold if motive.is_fitted_to_choices else None].ranks
            is_test = fold_of == fold
            p_g[number, fold] = fit_p_g(model_ranks.rows(~is_test))
            test_ranks = model_ranks.rows(is_test)
            gains[is_test, number] = log_likelihood(test_ranks, p_g[number, fold]) - log_likelihood(test_ranks, 1.0)
            percentiles[is_test, number] = 1 - test_ranks.mean_rank / (test_ranks.count - 1)
    return p_g, gains, percentiles
