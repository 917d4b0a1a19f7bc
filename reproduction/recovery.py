"""Recovery of motives: simulated people who follow known motives, or none, and what `hypotheses` finds."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

import curiograph as cg
from curiograph.arrays import Float64
from curiograph.exploration.mdp import Candidates
from curiograph.graph.graph import Graph
from curiograph.human.choices.choice_sets import ChoiceSet, find_choices, find_returns
from curiograph.human.choices.choice_table import ChoiceTable
from curiograph.human.motives.catalog import OPTION_MOTIVES, Motive, as_motives
from curiograph.human.motives.logit import center_features
from curiograph.human.trajectories import Trajectories, Windows
from reproduction.report import Report, Setup, average_studies, percent

WALKS = ("novelty", "novelty-everyone", "surprise", "information-gain", "recency", "empowerment", "learned-graph")
GAMES = ("target-distance", "target-similarity", "hub")
TABLES = ("novelty", "surprise", "information-gain", "empowerment", "recency")
PAIRS = (("novelty", "empowerment"), ("surprise", "learned-graph"), ("recency", "information-gain"))
_NODES, _GAME_MOVES, _MEMORY = 60, 10, 10
_STATES, _ACTIONS, _NOISY = 12, 3, 4  # of a task: states, options of each, and states that a noisy option leads to
_WEIGHT, _SPREAD = 1.5, 0.3  # of a planted motive, in standard deviations of its score between candidates, over people
_PARAMETERS = {"learned-graph": 0.5} | dict.fromkeys(("novelty", "surprise", "information-gain"), 0.9)
_DISCOUNT = 0.8


def compute(setup: Setup, runs: int = 100, people: int = 50, choices: int = 100, nulls: int = 200) -> dict[str, Any]:
    """Plant one motive, two motives or none, and count what is found."""
    studies: list[tuple[str, tuple[str, ...], int]] = [("walks", (name,), runs) for name in WALKS]
    studies += [("games", (name,), runs) for name in GAMES] + [("tables", (name,), runs) for name in TABLES]
    studies += [("weights", pair, nulls) for pair in PAIRS]
    studies += [(kind, (), nulls) for kind in ("walks", "games", "tables")]
    found = average_studies(setup, "recovery", run_study, studies, [count for *_, count in studies], people, choices)
    names = ("kind", "planted", "runs")
    return {
        "rows": [dict(zip(names, each, strict=True)) | {"found": f} for each, f in zip(studies, found, strict=True)]
    }


def run_study(shared: tuple[Any, int, int, int], task: tuple[int, int]) -> dict[str, Any]:
    """Simulate a dataset and test its motives."""
    (studies, people, choices, seed), (number, run) = shared, task
    kind, planted, _ = studies[number]
    rng = np.random.default_rng([seed, number, run])
    engine: dict[str, Any] = {"engine": cg.Engine(workers=1), "seed": run}
    if kind == "tables":
        return describe(cg.human.hypotheses(simulate_table(planted, people, choices, rng), **engine), planted)
    graph = draw_graph(rng)
    similarity = cg.Similarity.from_embeddings(graph, rng.normal(size=(_NODES, 4)))
    weights = dict.fromkeys(planted, _WEIGHT / max(len(planted), 1))
    walks, used = simulate_walks(graph, weights, people, choices, kind == "games", similarity, rng)
    options = {**engine, "similarity": similarity, "returns": True, "memory": _MEMORY, "burn_in": 2}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # remarks on motives that are nearly the same
        if kind != "weights":
            return describe(cg.human.hypotheses(graph, walks, **options), planted)
        found = cg.human.hypotheses(graph, walks, motives=[*planted, "degree", "pagerank"], weights=True, **options)
    covered: dict[str, Any] = {}
    choices_made, _ = find_choices(graph, walks, 2, _MEMORY, returns=True)
    per_user = found.per_user().set_index(["motive", "user"])
    for place, name in enumerate(planted):
        motive = as_motives([name], [], "igt", choices_made)[0]
        scores = motive.score_candidates(choices_made, _PARAMETERS.get(name, np.nan))
        features = motive.compute_features(choices_made, scores)
        scale = center_features(features, choices_made.candidates)[1]
        true, mean = used[1:, place] * scale, used[0, place] * scale
        covered[name] = bool(found[name].weight.low <= mean <= found[name].weight.high)
        own = per_user.loc[name]
        inside = (own["weight_low"] <= true[own.index]) & (true[own.index] <= own["weight_high"])
        covered[f"{name}, people"] = float(inside.mean())
    return covered


def describe(found: Any, planted: tuple[str, ...]) -> dict[str, Any]:
    """Return whether the planted motive is the best, or whether any is clearly above or below chance."""
    if planted:
        return {"best": next(iter(found)) == planted[0], "clear": found[planted[0]].better}
    return {"clear": any(fit.better or fit.opposed for fit in found.values())}


def draw_graph(rng: np.random.Generator) -> Graph:
    """Draw a directed graph: a random graph with hubs, of which some links lead one way only."""
    whole = cg.generate("ba", nodes=_NODES, seed=int(rng.integers(2**31)))
    source = np.repeat(np.arange(_NODES), whole.degrees)
    kept = rng.random(len(source)) < 0.8
    kept[whole.indptr[:-1]] = True  # every node links to another
    return Graph.from_arrays(source[kept], whole.indices[kept], names=whole.names, directed=True)


def choose(
    motives: list[Motive], choices: ChoiceSet, weights: Float64, rng: np.random.Generator
) -> tuple[Any, Float64]:
    """Return the index of the candidate that each person chooses by a logit, and the scores of the motives."""
    utility = np.zeros(len(choices.candidates.nodes))
    features = []
    for place, motive in enumerate(motives):
        scores = motive.score_candidates(choices, _PARAMETERS.get(motive.name, np.nan))
        features.append(motive.compute_features(choices, scores))
        utility += weights[choices.candidates.walks, place] * features[-1]
    utility += rng.gumbel(size=len(utility))
    offsets = choices.candidates.offsets
    best = [int(first + np.argmax(utility[first:last])) for first, last in pairwise(offsets)]
    return np.array(best), np.array(features)


def simulate_walks(
    graph: Graph, planted: dict[str, float], people: int, moves: int, games: bool, similarity: Any,
    rng: np.random.Generator,
) -> tuple[Trajectories, Float64]:  # fmt: skip
    """Simulate people who walk with returns: return their walks, and the mean and their weights per unit of the scores.

    Everyone makes one move at a time. In the first round the moves are random, to learn the scale of the scores.
    """
    weights = np.zeros((people, len(planted)))
    for is_final in (False, True):
        paths = rng.integers(_NODES, size=(people, 1)).astype(np.int32)
        starts, scales = np.zeros((people, 1), np.int64), []
        steps: list[Any] = []
        goals = [rng.integers(_NODES, size=people)]
        for move in range(moves + 2):
            if games and move and move % _GAME_MOVES == 0:  # a new game
                paths = np.column_stack([paths, rng.integers(_NODES, size=people).astype(np.int32)])
                starts = np.column_stack([starts, np.full(people, paths.shape[1] - 1)])
                goals.append(rng.integers(_NODES, size=people))
            choices = make_choices(graph, paths, starts, goals if games else None)
            made = as_motives(list(planted), [], "igt", choices, similarity) if planted else []
            motives = [motive for motive in made if motive.name in planted]  # without similarity
            if steps:
                past = Windows(*(np.concatenate(each) for each in zip(*steps, strict=True)))
                empty = Candidates(np.zeros(len(past) + 1, np.int64), np.empty(0, np.int32))
                motives = [motive.fit(ChoiceSet(graph, past, empty, choices.streams)) for motive in motives]
            else:
                motives = [motive for motive in motives if not motive.is_fitted_to_choices]
            best, features = choose(motives, choices, weights if is_final else 0 * weights, rng)
            nexts = choices.candidates.nodes[best]
            if len(features) == len(planted):
                counts = choices.candidates.counts
                means = np.add.reduceat(features, choices.candidates.offsets[:-1], axis=1) / counts if planted else 0
                scales.append(((features - np.repeat(means, counts, axis=1)) ** 2).mean(axis=1) if planted else [])
            steps.append((choices.windows.histories, nexts, np.arange(people)))
            paths = np.column_stack([paths, nexts])
        if not is_final:
            units = np.maximum(np.sqrt(np.mean(scales, axis=0)), 1e-9)
            drawn = _SPREAD * (len(planted) > 1) * rng.normal(size=(people, len(planted)))
            mean = np.array(list(planted.values())) / units
            weights = mean + drawn / units
    lists, users, goal_of = [], [], []
    for person in range(people):
        bounds = [*starts[person].tolist(), paths.shape[1]]
        for game, (first, last) in enumerate(pairwise(bounds)):
            lists.append(paths[person, first:last].tolist())
            users.append(person)
            goal_of.append(int(goals[game][person]))
    return Trajectories.from_walks(lists, users, graph, targets=goal_of if games else None), np.vstack([mean, weights])


def make_choices(graph: Graph, paths: Any, starts: Any, goals: Any) -> ChoiceSet:
    """Return the next choice of every person, given all nodes visited so far and where walks start."""
    people, length = paths.shape
    nodes = np.column_stack([paths, paths[:, -1]]).ravel()  # with a visit in place of the next one
    offsets = np.append((np.arange(people)[:, None] * (length + 1) + starts).ravel(), len(nodes))
    walks = Trajectories(
        nodes.astype(np.int32), offsets, graph.names, np.repeat(np.arange(people), starts.shape[1]), graph.names,
        np.zeros(len(offsets) - 1, np.int64), graph.names,
        targets=None if goals is None else np.column_stack(goals).ravel().astype(np.int32),
    )  # fmt: skip
    before = np.where(length - 1 > starts[:, -1], paths[:, max(length - 2, 0)], -1)
    histories = np.column_stack([before, paths[:, -1]]).astype(np.int32)
    visits = (np.arange(people) + 1) * (length + 1) - 1
    windows = Windows(histories, np.zeros(people, np.int32), np.arange(people), visits)
    return replace(find_returns(graph, windows), walks=walks)


def simulate_table(planted: tuple[str, ...], people: int, trials: int, rng: np.random.Generator) -> ChoiceTable:
    """Simulate people in a task whose options lead to one state, or to several at random."""
    ends = rng.integers(_STATES, size=(_STATES, _ACTIONS, _NOISY))
    certain = rng.random((_STATES, _ACTIONS)) < 0.7
    ends[certain] = ends[certain][:, :1]
    states = rng.integers(_STATES, size=(people, 1))
    taken, outcomes = np.zeros((2, people, 0), np.int64)
    motive = OPTION_MOTIVES[planted[0]]() if planted else None
    for trial in range(trials):
        # the option of the last row is not chosen yet
        table = make_table(
            states,
            np.column_stack([taken, np.zeros(people, np.int64)]),
            np.column_stack([outcomes, -np.ones(people, np.int64)]),
        )
        utility = rng.gumbel(size=(people, _ACTIONS))
        if motive is not None and trial:
            asked = table.find_choices()[0].rows(np.arange(1, people + 1) * (trial + 1) - 1)
            scores = motive.score_candidates(asked, _DISCOUNT).reshape(people, _ACTIONS)
            utility += _WEIGHT * scores / max(float(scores.std(axis=1).mean()), 1e-9)
        action = utility.argmax(axis=1)
        reached = ends[states[:, -1], action, rng.integers(_NOISY, size=people)]
        taken, outcomes = np.column_stack([taken, action]), np.column_stack([outcomes, reached])
        states = np.column_stack([states, reached])
    return make_table(states[:, :-1], taken, outcomes)


def make_table(states: Any, taken: Any, outcomes: Any) -> ChoiceTable:
    """Return a table of choices, given people x trials."""
    people, trials = states.shape
    options = (states.ravel()[:, None] * _ACTIONS + np.arange(_ACTIONS)).ravel()
    return ChoiceTable(
        users=np.repeat(np.arange(people), trials),
        is_first=np.arange(people * trials) % trials == 0,
        states=states.ravel(),
        chosen=(states * _ACTIONS + taken).ravel(),
        outcomes=outcomes.ravel(),
        candidates=Candidates(np.arange(0, len(options) + 1, _ACTIONS), options.astype(np.int32)),
        owned=np.arange(_STATES * _ACTIONS),
        owned_bounds=np.arange(_STATES + 1) * _ACTIONS,
        user_names=list(range(people)),
    )


def report(document: dict[str, Any]) -> Report:
    """Show how often what was planted is found."""
    rows, settings = document["rows"], document["settings"]
    single = [
        {"choices": row["kind"], "planted": row["planted"][0]}
        | {"is the best motive": percent(row["found"]["best"]), "clearly above chance": percent(row["found"]["clear"])}
        for row in rows
        if len(row["planted"]) == 1
    ]
    double = [
        {"planted": name, "together with": next(other for other in row["planted"] if other != name)}
        | {"mean inside its interval": percent(row["found"][name])}
        | {"people inside theirs": percent(row["found"][f"{name}, people"])}
        for row in rows
        if len(row["planted"]) == 2
        for name in row["planted"]
    ]
    none = [
        {"choices": row["kind"], "some motive clearly above or below chance": percent(row["found"]["clear"])}
        for row in rows
        if not row["planted"]
    ]
    return Report(
        tables={
            "One motive planted": pd.DataFrame(single),
            "Two motives planted": pd.DataFrame(double),
            "No motive planted": pd.DataFrame(none),
        },
        text=f"Simulated datasets: {settings['runs']} a row, {settings['nulls']} with two motives or none, of "
        f"{settings['people']} people with {settings['choices']} choices each, by a logit of weight {_WEIGHT} on the "
        "score of the planted motive, among all motives that `hypotheses` compares by default. Walks and games with "
        f"returns are on a directed graph of {_NODES} nodes that is drawn for every dataset; games have {_GAME_MOVES} "
        f"moves and a random target. Tables are choices among {_ACTIONS} options in each of {_STATES} states, of which "
        f"30 % lead to one of {_NOISY} states at random. Two motives have half the weight each, which varies by "
        f"{_SPREAD} over people; their weights are estimated beside those of `degree` and `pagerank`.",
    )
