"""Motives against their definitions; held-out users do not change a fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import curiograph as cg
from curiograph.human.choices.choice_sets import find_choices
from curiograph.human.motives.catalog import MarkovMotive, PageRankMotive
from curiograph.human.motives.hypotheses import cross_validate, fit_motives, score_models
from curiograph.human.trajectories import Trajectories, Windows
from support.people import follow_agent

GRAPH = cg.generate("ba", nodes=50, seed=1)


def test_pagerank_motive_matches_pagerank_of_the_history():
    links = [(0, 1), (0, 2), (1, 2), (2, 0), (2, 3), (2, 4), (1, 4), (4, 0), (4, 3), (4, 5)]  # 3 and 5 are dead ends
    graph = cg.Graph.from_edges(links, directed=True)
    walks = Trajectories.from_walks([[0, 1, 2, 3], [0, 1, 4, 5], [2, 4, 3]], graph=graph)
    choices, _ = find_choices(graph, walks, burn_in=2)
    found = PageRankMotive().score_candidates(choices)
    for row, history in enumerate(choices.windows.histories):
        some = slice(*choices.candidates.offsets[row : row + 2])
        wanted = cg.pagerank(graph, 0.85, history[history >= 0].tolist()).scores[choices.candidates.nodes[some]]
        assert found[some] == pytest.approx(wanted / wanted.max(), abs=1e-8)


def test_markov_motive_counts_steps_of_other_users():
    walks = follow_agent(GRAPH, "max-degree", "igt", 0.7, walks=40, users=[f"u{i % 7}" for i in range(40)])
    choices, _ = find_choices(GRAPH, walks, burn_in=1)
    known = choices.windows.users != 3
    found = MarkovMotive().fit(choices.rows(known)).score_candidates(choices)
    steps = list(
        zip(choices.windows.users, choices.windows.histories[:, -1], choices.windows.nexts, known, strict=True)
    )
    for c in range(0, len(found), 37):
        row, node = choices.candidates.walks[c], choices.candidates.nodes[c]
        user, last = choices.windows.users[row], choices.windows.histories[row, -1]
        others = [(a, b) for other, a, b, counted in steps if counted and other != user]
        here, anywhere = others.count((last, node)), sum(b == node for _, b in others)
        leaving = sum(a == last for a, _ in others)
        assert found[c] == pytest.approx((here + anywhere / known.sum()) / (leaving + 1))


@pytest.mark.parametrize("markov", [True, False])
def test_choices_of_held_out_users_do_not_change_the_fit(markov):
    walks = follow_agent(GRAPH, "greedy", "igt", 0.7, walks=60)
    choices, _ = find_choices(GRAPH, walks)
    fold_of = choices.windows.users % 3
    held_out = fold_of == 1
    rng = np.random.default_rng(0)
    other = choices.candidates.nodes[rng.integers(choices.candidates.offsets[:-1], choices.candidates.offsets[1:])]
    w = choices.windows
    changed = replace(choices, windows=Windows(w.histories, np.where(held_out, other, w.nexts), w.users))
    assert np.any(changed.chosen != choices.chosen)
    motive = MarkovMotive() if markov else PageRankMotive()
    before, after = (motive.fit(each.rows(~held_out)).score_candidates(each) for each in (choices, changed))
    assert np.array_equal(before, after)
    first, second = (
        cross_validate([motive], fold_of, score_models(fit_motives([motive], each, fold_of), each)).p_g[0]
        for each in (choices, changed)
    )
    assert first[1] == second[1]
    assert first[0] != second[0]  # fitted to these users
