"""Recommendations in batches: the same answers as alone, and one bad question spoils no other."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

import curiograph as cg
from curiograph.centrality.history import parse_history
from curiograph.service.batching import Batcher, RecommendQuery
from curiograph.service.config import Limits
from curiograph.service.workers import WorkerPool

HISTORIES = [["music"], ["logic", "music"], ["physics", "dance"], ["music", "logic", "poetry"], ["history"]]


def prepared() -> cg.Recommender:
    made = cg.Recommender(cg.toys.library())
    made.prepare()
    return made


def answers(questions: list[tuple[RecommendQuery, Any]]) -> list[Any]:
    """What comes back to those who ask at the same time."""

    async def together() -> list[Any]:
        batches = Batcher(Limits(), WorkerPool(Limits()), WorkerPool(Limits()))
        return await asyncio.gather(*(batches.answer(*each) for each in questions), return_exceptions=True)

    return asyncio.run(together())


def test_who_asks_at_once_is_answered_together_and_as_if_alone(monkeypatch):
    made, sizes, first = prepared(), [], threading.Event()
    alone = [made.recommend(history, 3) for history in HISTORIES]
    whole = made.recommend_visited

    def noting(seen: Any, k: int, candidates: Any) -> Any:
        sizes.append(len(seen))
        first.wait(0.2)  # long enough for all others to ask
        return whole(seen, k, candidates)

    monkeypatch.setattr(made, "recommend_visited", noting)
    question = RecommendQuery(made, 3, "all", False)
    found = answers([(question, [parse_history(made.graph, history)]) for history in HISTORIES])
    assert sizes == [1, 4]
    for mine, top in zip(found, alone, strict=True):
        assert [(each["node"], each["score"]) for each in mine[0]["recommendations"]] == top


def test_different_questions_are_answered_apart():
    made = prepared()
    seen = [parse_history(made.graph, ["music"])]
    questions = [
        RecommendQuery(made, k, which, reasons) for k, which, reasons in ((1, "all", False), (2, "last", True))
    ]
    found = answers([(question, seen) for question in questions] * 2)
    assert [len(each[0]["recommendations"]) for each in found] == [1, 2, 1, 2]
    assert "ranks" in found[1][0]["recommendations"][0]


def test_one_that_fails_spoils_no_other(monkeypatch):
    made = prepared()
    whole = made.recommend_visited

    def failing(seen: Any, k: int, candidates: Any) -> Any:
        if any(each.last == made.graph.position("dance") for each in seen):
            raise cg.ConvergenceError("not this one.")
        return whole(seen, k, candidates)

    monkeypatch.setattr(made, "recommend_visited", failing)
    question = RecommendQuery(made, 3, "all", False)
    found = answers([(question, [parse_history(made.graph, history)]) for history in HISTORIES])
    assert [isinstance(each, cg.ConvergenceError) for each in found] == [False, False, True, False, False]


def test_what_is_not_prepared_does_not_keep_others_waiting(monkeypatch):
    made = cg.Recommender(cg.toys.library())
    made.prepare(["music"])
    threads = []
    whole = made.recommend_visited
    monkeypatch.setattr(
        made, "recommend_visited", lambda *given: (threads.append(threading.current_thread().name), whole(*given))[1]
    )
    question = RecommendQuery(made, 3, "all", False)
    answers([(question, [parse_history(made.graph, [label])]) for label in ("music", "logic")])
    assert sorted(name.partition("_")[0] for name in threads) == ["batches", "computing"]


def test_beyond_the_limit_what_is_learned_on_the_way_is_not_kept():
    made = cg.Recommender(cg.toys.library())
    made.prepare(["music"])
    seen, known = [parse_history(made.graph, ["music", "logic"])], made.num_prepared
    question = RecommendQuery(made, 3, "all", True)
    forgotten = question.prepare_and_answer(seen, 1, lambda: None)
    assert made.num_prepared == known
    assert question.prepare_and_answer(seen, 10**6, lambda: None) == forgotten
    assert made.num_prepared > known


@pytest.mark.parametrize("directed", [False, True])
def test_pagerank_of_prepared_nodes_adds_up(directed):
    graph = cg.generate("ba", nodes=40, seed=1)
    edges = [(u, v) for u in graph.labels for v in graph.neighbors(u) if not directed or u < v]
    graph = cg.Graph.from_edges(edges, directed=directed, nodes=range(40))
    solved, summed = cg.Recommender(graph, "pagerank"), cg.Recommender(graph, "pagerank")
    summed.prepare()
    for history in ([3], [5, 1, 20], [39, 38, 0]):
        for which in ("all", "last", "history"):
            one, other = (made.recommend(history, 40, candidates=which) for made in (solved, summed))
            assert [score for _, score in one] == pytest.approx([score for _, score in other], abs=2e-10)
    assert summed.is_prepared(parse_history(graph, [0, 1]))
