"""Batched recommendations equal single ones, and one that fails does not affect the others."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

import curiograph as cg
from curiograph.centrality.history import parse_history
from curiograph.service.batching import Batcher, RecommendQuery
from curiograph.service.config import Limits
from curiograph.service.errors import BusyError
from curiograph.service.workers import WorkerPool

HISTORIES = [["music"], ["logic", "music"], ["physics", "dance"], ["music", "logic", "poetry"], ["history"]]


def make_prepared_recommender() -> cg.Recommender:
    recommender = cg.Recommender(cg.toys.library())
    recommender.prepare()
    return recommender


def answer_together(requests: list[tuple[RecommendQuery, Any]], limits: Limits | None = None) -> list[Any]:
    """Answer requests that arrive at the same time."""

    async def together() -> list[Any]:
        batches = Batcher(limits or Limits(), WorkerPool(Limits()))
        return await asyncio.gather(*(batches.answer(*each) for each in requests), return_exceptions=True)

    return asyncio.run(together())


def test_simultaneous_requests_form_one_batch(monkeypatch):
    recommender, sizes = make_prepared_recommender(), []
    alone = [recommender.recommend(history, 3) for history in HISTORIES]
    recommend = recommender.recommend_visited

    def record_size(seen: Any, k: int, candidates: Any, selections: Any) -> Any:
        sizes.append(len(seen))
        return recommend(seen, k, candidates, selections)

    monkeypatch.setattr(recommender, "recommend_visited", record_size)
    query = RecommendQuery(recommender, 3, "all", False)
    answers = answer_together([(query, [parse_history(recommender.graph, history)]) for history in HISTORIES])
    assert sizes == [1, 4]
    for mine, top in zip(answers, alone, strict=True):
        assert [(each["node"], each["score"]) for each in mine[0]["recommendations"]] == top


def test_number_of_unanswered_requests_is_limited():
    recommender = make_prepared_recommender()
    request = RecommendQuery(recommender, 3, "all", False), [parse_history(recommender.graph, ["music"])]
    answers = answer_together([request] * 3, Limits(running=2))
    assert [isinstance(answer, BusyError) for answer in answers] == [False, False, True]


def test_different_queries_form_different_batches():
    recommender = make_prepared_recommender()
    seen = [parse_history(recommender.graph, ["music"])]
    queries = [
        RecommendQuery(recommender, k, which, reasons) for k, which, reasons in ((1, "all", False), (2, "last", True))
    ]
    answers = answer_together([(query, seen) for query in queries] * 2)
    assert [len(each[0]["recommendations"]) for each in answers] == [1, 2, 1, 2]
    assert "ranks" in answers[1][0]["recommendations"][0]


def test_failing_request_does_not_affect_others(monkeypatch):
    recommender = make_prepared_recommender()
    recommend = recommender.recommend_visited

    def fail_for_dance(seen: Any, k: int, candidates: Any, selections: Any) -> Any:
        if any(each.last == recommender.graph.position("dance") for each in seen):
            raise cg.ConvergenceError("not this one.")
        return recommend(seen, k, candidates, selections)

    monkeypatch.setattr(recommender, "recommend_visited", fail_for_dance)
    query = RecommendQuery(recommender, 3, "all", False)
    answers = answer_together([(query, [parse_history(recommender.graph, history)]) for history in HISTORIES])
    assert [isinstance(each, cg.ConvergenceError) for each in answers] == [False, False, True, False, False]


def test_unprepared_nodes_do_not_delay_others(monkeypatch):
    recommender = cg.Recommender(cg.toys.library())
    recommender.prepare(["music"])
    threads = []
    recommend = recommender.recommend_visited
    monkeypatch.setattr(
        recommender,
        "recommend_visited",
        lambda *given: (threads.append(threading.current_thread().name), recommend(*given))[1],
    )
    query = RecommendQuery(recommender, 3, "all", False)
    answer_together([(query, [parse_history(recommender.graph, [label])]) for label in ("music", "logic")])
    assert sorted(name.partition("_")[0] for name in threads) == ["batches", "computing"]


def test_prepared_nodes_beyond_the_limit_are_not_kept():
    recommender = cg.Recommender(cg.toys.library())
    recommender.prepare(["music"])
    seen, known = [parse_history(recommender.graph, ["music", "logic"])], recommender.num_prepared
    query = RecommendQuery(recommender, 3, "all", True)
    forgotten = query.prepare_and_answer(seen, 1, lambda: None)
    assert recommender.num_prepared == known
    assert query.prepare_and_answer(seen, 10**6, lambda: None) == forgotten
    assert recommender.num_prepared > known


@pytest.mark.parametrize("directed", [False, True])
def test_pagerank_of_prepared_nodes_is_additive(directed):
    graph = cg.generate("ba", nodes=40, seed=1)
    edges = [(u, v) for u in graph.labels for v in graph.neighbors(u) if not directed or u < v]
    graph = cg.Graph.from_edges(edges, directed=directed, nodes=range(40))
    solved, summed = cg.Recommender(graph, "pagerank"), cg.Recommender(graph, "pagerank")
    summed.prepare()
    for history in ([3], [5, 1, 20], [39, 38, 0]):
        for which in ("all", "last", "history"):
            one, other = (recommender.recommend(history, 40, candidates=which) for recommender in (solved, summed))
            assert [score for _, score in one] == pytest.approx([score for _, score in other], abs=2e-10)
    assert summed.is_prepared(parse_history(graph, [0, 1]))
