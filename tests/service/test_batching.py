"""Batched recommendations equal single ones, and one that fails does not affect the others."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from typing import Any

import curiograph as cg
from curiograph.centrality.history import History
from curiograph.recommendation.selection import Selection
from curiograph.service import state
from curiograph.service.batching import BATCH_SIZE, Batcher, QueryUser, RecommendQuery
from curiograph.service.error_responses import BusyError
from curiograph.service.server_settings import ServiceSettings
from curiograph.service.state import Service
from curiograph.service.store import OpenGraph

HISTORIES = [["music"], ["logic", "music"], ["physics", "dance"], ["music", "logic", "poetry"], ["history"]]


class RecordingRecommender(cg.Recommender):
    """A recommender that records the last nodes of every batch, and fails for one node."""

    def __init__(self, failing: str | None = None) -> None:
        super().__init__(cg.toys.library())
        self.batches: list[list[str]] = []
        self.failing: str | None = None
        self.prepare()
        self.failing = failing

    def recommend_visited(self, histories: Any, *arguments: Any, **options: Any) -> Any:
        self.batches.append([str(self.graph.label(history.by_last_visit[-1])) for history in histories])
        if self.failing in self.batches[-1]:
            raise cg.errors.ConvergenceError("not this one.")
        return super().recommend_visited(histories, *arguments, **options)


def make_request(
    recommender: cg.Recommender, histories: Sequence[Any], k: int = 3, **query: Any
) -> tuple[RecommendQuery, list[QueryUser]]:
    settings = {
        "candidates": "all",
        "reasons": False,
        "theory": False,
        "prepared_only": False,
        "is_diverse": False,
    } | query
    positions = [recommender.graph.positions(history).tolist() for history in histories]
    users = [QueryUser(History.from_visits(visits), Selection()) for visits in positions]
    return RecommendQuery(recommender, k, **settings), users


def answer_together(recommender: cg.Recommender, asked: Sequence[Any], **settings: Any) -> list[Any]:
    """Answer requests that arrive at the same time: histories, with the settings of the query."""

    async def together() -> list[Any]:
        batches = Batcher(ServiceSettings(**settings))
        requests = [make_request(recommender, histories, **query) for histories, query in asked]
        answers = await asyncio.gather(*(batches.answer(*each) for each in requests), return_exceptions=True)
        return [[json.loads(each) for each in answer] if isinstance(answer, list) else answer for answer in answers]

    return asyncio.run(together())


def test_simultaneous_requests_form_one_batch():
    recommender = RecordingRecommender()
    alone = [recommender.recommend(history, 3) for history in HISTORIES]
    recommender.batches.clear()
    answers = answer_together(recommender, [([history], {}) for history in HISTORIES])
    assert sum(map(len, recommender.batches)) == 5
    assert max(map(len, recommender.batches)) >= 4
    for (mine,), top in zip(answers, alone, strict=True):
        assert [(each["node"], each["score"]) for each in mine["recommendations"]] == top


def test_large_request_delays_no_other():
    recommender = RecordingRecommender()
    requests = [([["music"]] * 100, {}), ([["music"]] * 50, {}), ([["dance"]], {})]
    recommender.batches.clear()
    answers = answer_together(recommender, requests)
    assert [len(answer) for answer in answers] == [100, 50, 1]
    assert all(len(batch) <= BATCH_SIZE for batch in recommender.batches)
    assert any("dance" in batch for batch in recommender.batches[:3])


class SlowRecommender(RecordingRecommender):
    """A recommender that takes 1.2 ms of processor time for each history of one visit, and more for longer ones."""

    def recommend_visited(self, histories: Any, *arguments: Any, **options: Any) -> Any:
        end = time.thread_time() + sum(0.0012 * (16 + len(history.nodes)) / 17 for history in histories)
        while time.thread_time() < end:
            pass
        return super().recommend_visited(histories, *arguments, **options)


def test_batches_are_bounded_by_their_time_and_graphs_take_turns():
    slow, quick = SlowRecommender(), RecordingRecommender()

    async def together() -> None:
        batcher, order = Batcher(ServiceSettings()), []
        slow.batches = quick.batches = order
        large = asyncio.create_task(batcher.answer(*make_request(slow, [["music"]] * 30)))
        while len(order) < 3:
            await asyncio.sleep(0)
        before = len(order)
        await asyncio.gather(*(batcher.answer(*make_request(quick, [["dance"]], k)) for k in (1, 2)))
        assert len(order) - before <= 5  # the slow graph has at most every other turn
        await large
        assert max(map(len, order)) <= 3
        long = [slow.graph.labels] * 10
        order.clear()
        await batcher.answer(*make_request(slow, long))
        assert max(map(len, order)) == 1

    asyncio.run(together())


def test_request_that_is_cancelled_is_not_continued():
    recommender = RecordingRecommender()
    recommender.batches.clear()

    async def leave_early() -> None:
        batcher = Batcher(ServiceSettings())
        work = asyncio.create_task(batcher.answer(*make_request(recommender, [["music"]] * 1000)))
        while not recommender.batches:
            await asyncio.sleep(0)
        work.cancel()
        await asyncio.wait([work])
        assert batcher.num_unanswered == 0
        await batcher.answer(*make_request(recommender, [["music"]], candidates="last"))

    asyncio.run(leave_early())
    assert sum(map(len, recommender.batches)) < 1000


def test_requests_of_different_queries_beyond_the_limit_and_failing_ones():
    recommender = RecordingRecommender(failing="dance")
    queries = [([["music"]], {"k": 1}), ([["music"]], {"k": 2, "candidates": "last", "reasons": True})]
    answers = answer_together(recommender, queries * 2)
    assert [len(each[0]["recommendations"]) for each in answers] == [1, 2, 1, 2]
    assert "ranks" in answers[1][0]["recommendations"][0]
    answers = answer_together(recommender, queries[:1] * 3, requests=2)
    assert [isinstance(answer, BusyError) for answer in answers] == [False, False, True]
    answers = answer_together(recommender, [([history], {}) for history in HISTORIES])
    assert [isinstance(each, cg.errors.ConvergenceError) for each in answers] == [False, False, True, False, False]


def test_numbers_prepared_by_requests_are_limited(monkeypatch):
    opened = OpenGraph(cg.toys.library())
    recommender = opened.recommender
    recommender.prepare(["music"])  # does not count
    music, logic, poetry = recommender.graph.positions(["music", "logic", "poetry"]).tolist()

    async def prepare() -> None:
        service = Service(ServiceSettings())
        assert await service.prepare_nodes(opened, recommender, [music, music]) is recommender
        assert opened.num_kept == 0
        await asyncio.gather(*(service.prepare_nodes(opened, recommender, [music, logic]) for _ in range(3)))
        assert (recommender.num_prepared, recommender.find_missing([music, logic])) == (6, [])
        parts = [ranker.kept[opened.graph][logic] for ranker in recommender.part_rankers.values()]
        assert opened.num_kept == sum(len(part.nodes) for part in parts)  # counted once
        monkeypatch.setattr(state, "MAX_PARTS", 1)
        copied = await service.prepare_nodes(opened, recommender, [logic, poetry])
        assert (recommender.num_prepared, recommender.find_missing([poetry])) == (6, [poetry])
        assert copied.num_prepared == 6  # of this request only
        expected = cg.Recommender(cg.toys.library()).recommend(["logic", "poetry"])
        found = copied.recommend(["logic", "poetry"])
        assert [label for label, _ in found] == [label for label, _ in expected]
        await asyncio.to_thread(service.workers.stop)

    asyncio.run(prepare())
