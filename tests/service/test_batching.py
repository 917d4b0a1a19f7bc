"""Batched recommendations equal single ones, and one that fails does not affect the others."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import curiograph as cg
from curiograph.centrality.history import parse_history
from curiograph.service.batching import BATCH_SIZE, Batcher, RecommendQuery, User
from curiograph.service.config import Limits
from curiograph.service.errors import BusyError
from curiograph.service.graph_store import GraphStore, OpenGraph
from curiograph.service.state import Service

HISTORIES = [["music"], ["logic", "music"], ["physics", "dance"], ["music", "logic", "poetry"], ["history"]]


def make_prepared_recommender() -> cg.Recommender:
    recommender = cg.Recommender(cg.toys.library())
    recommender.prepare()
    return recommender


def make_users(recommender: cg.Recommender, histories: list[Any]) -> list[User]:
    return [User(parse_history(recommender.graph, history)) for history in histories]


def answer_together(requests: list[tuple[RecommendQuery, list[User]]], limits: Limits | None = None) -> list[Any]:
    """Answer requests that arrive at the same time."""

    async def together() -> list[Any]:
        batches = Batcher(limits or Limits())
        answers = await asyncio.gather(*(batches.answer(*each) for each in requests), return_exceptions=True)
        return [[json.loads(each) for each in answer] if isinstance(answer, list) else answer for answer in answers]

    return asyncio.run(together())


def record_batches(monkeypatch: pytest.MonkeyPatch, recommender: cg.Recommender) -> list[list[int]]:
    """Return a list to which the last nodes of every batch are appended."""
    batches: list[list[int]] = []
    recommend = recommender.recommend_visited

    def record(seen: Any, k: int, candidates: Any, selections: Any) -> Any:
        batches.append([history.last for history in seen])
        return recommend(seen, k, candidates, selections)

    monkeypatch.setattr(recommender, "recommend_visited", record)
    return batches


def test_simultaneous_requests_form_one_batch(monkeypatch):
    recommender = make_prepared_recommender()
    alone = [recommender.recommend(history, 3) for history in HISTORIES]
    batches = record_batches(monkeypatch, recommender)
    query = RecommendQuery(recommender, 3, "all", False)
    answers = answer_together([(query, [user]) for user in make_users(recommender, HISTORIES)])
    assert [len(batch) for batch in batches] == [1, 4]
    for mine, top in zip(answers, alone, strict=True):
        assert [(each["node"], each["score"]) for each in mine[0]["recommendations"]] == top


def test_large_request_delays_no_other(monkeypatch):
    recommender = make_prepared_recommender()
    query = RecommendQuery(recommender, 3, "all", False)
    (large,), (small,) = make_users(recommender, [["music"]]), make_users(recommender, [["dance"]])
    batches = record_batches(monkeypatch, recommender)
    requests = [(query, [large] * 100), (query, [large] * 50), (query, [small])]
    answers = answer_together(requests)
    assert [len(answer) for answer in answers] == [100, 50, 1]
    assert all(len(batch) <= BATCH_SIZE for batch in batches)
    dance = recommender.graph.position("dance")
    assert [dance in batch for batch in batches[:3]] == [False, True, False]
    many = RecommendQuery(recommender, 1000, "all", False)
    batches.clear()
    assert answer_together([(many, [large] * 5)])[0] == answer_together([(many, [large])])[0] * 5
    assert max(len(batch) for batch in batches) == 2


def test_request_that_is_cancelled_is_not_continued(monkeypatch):
    recommender = make_prepared_recommender()
    (user,) = make_users(recommender, [["music"]])
    batches = record_batches(monkeypatch, recommender)

    async def leave_early() -> None:
        batcher = Batcher(Limits())
        work = asyncio.create_task(batcher.answer(RecommendQuery(recommender, 3, "all", False), [user] * 1000))
        while not batches:
            await asyncio.sleep(0.001)
        work.cancel()
        await asyncio.wait([work])
        assert batcher.num_unanswered == 0
        await batcher.answer(RecommendQuery(recommender, 3, "last", False), [user])

    asyncio.run(leave_early())
    assert sum(map(len, batches)) < 1000


def test_number_of_unanswered_requests_is_limited():
    recommender = make_prepared_recommender()
    request = RecommendQuery(recommender, 3, "all", False), make_users(recommender, [["music"]])
    answers = answer_together([request] * 3, Limits(running=2))
    assert [isinstance(answer, BusyError) for answer in answers] == [False, False, True]


def test_different_queries_form_different_batches():
    recommender = make_prepared_recommender()
    users = make_users(recommender, [["music"]])
    queries = [
        RecommendQuery(recommender, k, which, reasons) for k, which, reasons in ((1, "all", False), (2, "last", True))
    ]
    answers = answer_together([(query, users) for query in queries] * 2)
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
    answers = answer_together([(query, [user]) for user in make_users(recommender, HISTORIES)])
    assert [isinstance(each, cg.ConvergenceError) for each in answers] == [False, False, True, False, False]


def test_numbers_prepared_by_requests_are_limited():
    opened = OpenGraph(cg.toys.library())
    recommender, expected = opened.recommender, make_prepared_recommender()
    recommender.prepare(["music"])  # does not count
    music, logic, poetry = recommender.graph.positions(["music", "logic", "poetry"]).tolist()

    async def prepare() -> None:
        service = Service(GraphStore(), Limits(parts=1))
        assert await service.prepare_nodes(opened, [music, music], service.processes) is recommender
        assert opened.num_kept == 0
        assert await service.prepare_nodes(opened, [music, logic], service.processes) is recommender
        assert (recommender.num_prepared, recommender.find_missing([music, logic])) == (4, [])
        assert opened.num_kept > 1
        copied = await service.prepare_nodes(opened, [logic, poetry], service.processes)
        assert (recommender.num_prepared, recommender.find_missing([poetry])) == (4, [poetry])
        assert copied.num_prepared == 4  # of this request only
        assert copied.recommend(["logic", "poetry"]) == expected.recommend(["logic", "poetry"])
        service.processes.stop()

    asyncio.run(prepare())


def test_nodes_prepared_by_several_requests_count_once():
    opened = OpenGraph(cg.toys.library())
    music, logic = opened.graph.positions(["music", "logic"]).tolist()

    async def prepare() -> None:
        service = Service(GraphStore(), Limits())
        await asyncio.gather(*(service.prepare_nodes(opened, [music, logic], service.processes) for _ in range(3)))
        service.processes.stop()

    asyncio.run(prepare())
    kept = [ranker.kept[opened.graph].values() for ranker in opened.recommender.curious_rankers.values()]
    assert opened.num_kept == sum(len(part.nodes) for parts in kept for part in parts)


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
    assert not summed.find_missing([0, 1])
