"""Reasons of recommendations, against `measure`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from curiograph.centrality.history import History
from curiograph.recommendation.reasons import MAX_RECENT_NODES, Reason, explain_recommendations
from support.small_graphs import graphs


def test_ranks_count_better_candidates():
    g, history = cg.toys.library(), ["music", "logic"]
    top = cg.recommend(g, history, k=12)
    assert top.components == ["pagerank", "igt", "cpt"]
    by_part = {name: dict(cg.recommend(g, history, k=12, ranker=name)) for name in top.components}
    for reason in top.reasons:
        assert reason.candidates == 10
        for name, scores in by_part.items():
            mine = scores.get(reason.node, 0.0)
            assert reason.ranks[name] == 1 + sum(other > mine for other in scores.values())


def check_reason(graph: cg.Graph, history: list, reason: Reason) -> None:
    """Compare a reason with `measure` of the walk extended by the node."""
    before, after = cg.measure(graph, history), cg.measure(graph, [*history, reason.node])
    seen = before.nodes
    opened = [gap for gap in after.gaps if gap.opened_at == len(after)]
    closed = [gap for gap in after.gaps if gap.closed_at == len(after) and gap.opened_at < len(after)]
    assert len(reason.opens) - len(reason.closes) == after.beta1[-1] - before.beta1[-1]
    assert len(reason.opens) == len(opened)
    assert sorted(map(str, reason.closes)) == sorted(str(gap.opened_by) for gap in closed)
    assert reason.compressibility == pytest.approx(after.compressibility[-1] - before.compressibility[-1], abs=1e-9)
    around = set(graph.skeleton.neighbors(reason.node))
    assert list(reason.links) == [u for u in seen if u in around]
    for loop in reason.opens:
        assert loop[0] == reason.node
        assert len(set(loop)) == len(loop) >= 4
        assert set(loop[1:]) <= set(seen)
        for u, v in pairwise([*loop, loop[0]]):
            assert v in graph.skeleton.neighbors(u)


@given(st.data())
def test_reasons_agree_with_measure(data):
    g = data.draw(graphs())
    history = data.draw(st.lists(st.integers(0, g.num_nodes - 1), min_size=1, max_size=12))
    for reason in cg.recommend(g, history, k=20, candidates="history", ranker="pagerank").reasons:
        check_reason(g, history, reason)


def test_reasons_on_larger_walks_with_many_gaps():
    opened = 0
    for seed in range(4):
        g = cg.generate("er", nodes=40, seed=seed)
        history = np.random.default_rng(seed).permutation(40)[:22].tolist()
        for reason in cg.recommend(g, history, k=18, ranker="pagerank").reasons:
            check_reason(g, history, reason)
            opened += len(reason.opens)
    assert opened > 20


def test_revisits_do_not_change_reasons():
    ring = cg.Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (4, 0), (4, 1), (4, 2), (4, 3)])
    (reason,) = cg.recommend(ring, [0, 1, 2, 3, 0], ranker="pagerank").reasons
    assert reason.closes == (3,)
    assert reason.story == "closes the gap opened by 3"
    assert reason.sentence == "Closes the loop 3 - 2 - 1 - 0."
    assert "of 1 candidates 1 by pagerank; closes the gap opened by 3; compressibility" in str(reason)


def test_reasons_of_a_long_history_use_its_last_nodes():
    g = cg.toys.cycle(3 * MAX_RECENT_NODES)
    history = [*range(2 * MAX_RECENT_NODES), 0]
    top = cg.recommend(g, history, k=1, candidates="last", ranker="pagerank")
    (reason,) = top.reasons
    assert reason.node == 3 * MAX_RECENT_NODES - 1
    assert reason.links == (0,)
    assert (
        explain_recommendations(g, History.from_visits(g.positions(history).tolist()), np.empty(0, np.int32), {}, 0)
        == []
    )


def test_sentences_for_users():
    g = cg.Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("a", "x"), ("b", "y"), ("y", "z")])

    def explain(history, node):
        (reason,) = cg.recommend(g, history, filter=[node], ranker="pagerank").reasons
        assert reason.to_dict()["sentence"] == reason.sentence
        return reason.sentence

    assert explain(["a", "b", "c"], "d") == "Opens a loop with c - b - a."
    assert explain(["a", "b"], "y") == "Linked to what you visited last, b."
    assert explain(["a", "b"], "x") == "Linked to what you visited earlier, a."
    assert explain(["a"], "z") == "Within reach of what you visited."
    assert explain([], "a") == "Popular: linked with 3 others."
    long = cg.recommend(cg.toys.cycle(12), list(range(11)), ranker="pagerank").reasons
    assert [reason.sentence for reason in long] == ["Opens a loop with 10 - 9 - 8 - ... - 0."]


@given(st.data())
def test_closed_loops_are_loops_of_visited_nodes(data):
    g = data.draw(graphs())
    history = data.draw(st.lists(st.integers(0, g.num_nodes - 1), min_size=1, max_size=12))
    for reason in cg.recommend(g, history, k=20, ranker="pagerank").reasons:
        if reason.closes:
            loop = [
                int(label) for label in reason.sentence[len("Closes the loop ") : -1].split(" - ") if label != "..."
            ]
            assert loop[0] == reason.closes[0]
            assert set(loop) <= set(history)
            assert len(loop) >= 4
            assert all(v in g.skeleton.neighbors(u) for u, v in pairwise(loop)) or len(loop) == 4
