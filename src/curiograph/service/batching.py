"""Batching of recommendations: requests that arrive while a batch is computed form the next batch.

Many histories cost far less together than one after the other, and the answers do not depend on the batch.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from curiograph.centrality.history import History
from curiograph.recommendation.ranker import CandidateSet
from curiograph.recommendation.recommender import Recommendations, Recommender
from curiograph.recommendation.selection import EVERYTHING, Selection
from curiograph.service.config import Limits
from curiograph.service.errors import BusyError, TimeLimitError
from curiograph.service.labels import encode_label, encode_labels
from curiograph.service.prepared import PreparedRecommender, prepare_for_request
from curiograph.service.schemas import encode_number
from curiograph.service.time_limits import StopCheck
from curiograph.service.workers import WorkerPool

_BATCH_SIZE = 32
"""Maximum number of histories of a batch: larger batches are not faster per history, and take longer."""

Answers = list[dict[str, Any]]


@dataclass(frozen=True)
class RecommendQuery:
    """The settings that all histories of a batch have in common."""

    recommender: Recommender
    k: int
    candidates: CandidateSet
    reasons: bool

    def answer(self, histories: Sequence[History], selections: Sequence[Selection]) -> Answers:
        """Return one answer per history, each with its own selection."""
        recommended = self.recommender.recommend_visited(histories, self.k, self.candidates, selections)
        return [self._encode(history, top) for history, top in zip(histories, recommended, strict=True)]

    def _encode(self, history: History, top: Recommendations) -> dict[str, Any]:
        """Encode recommendations as a `RecommendResponse`; the model itself would take longer than the answer."""
        nodes: list[dict[str, Any]] = [
            {"node": encode_label(label), "score": score, "stderr": stderr}
            for (label, score), stderr in zip(top, top.stderr, strict=True)
        ]
        if self.reasons:
            for node, reason in zip(nodes, top.reasons, strict=True):
                node |= {
                    "ranks": dict(reason.ranks),
                    "candidates": reason.candidates,
                    "links": encode_labels(reason.links),
                    "opens": [encode_labels(loop) for loop in reason.opens],
                    "closes": encode_labels(reason.closes),
                    "compressibility": encode_number(reason.compressibility),
                    "sentence": encode_label(reason.sentence),
                }
        answer = {"history": encode_labels(top.history), "candidates": top.candidates, "recommendations": nodes}
        if isinstance(self.recommender, PreparedRecommender):
            answer["used"] = encode_labels([top.graph.label(v) for v in self.recommender.find_used_nodes(history)])
        return answer

    def prepare_and_answer(
        self, histories: Sequence[History], max_numbers: int, check: StopCheck, selection: Selection = EVERYTHING
    ) -> Answers:
        """Prepare the nodes of the histories, then answer; keep what was prepared up to a limit."""
        nodes = (node for history in histories for node in history.nodes.tolist())
        recommender = prepare_for_request(self.recommender, nodes, max_numbers, check)
        return replace(self, recommender=recommender).answer(histories, [selection] * len(histories))


@dataclass(frozen=True, eq=False)
class _Request:
    query: RecommendQuery
    histories: Sequence[History]
    selection: Selection
    future: asyncio.Future[Answers] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Batcher:
    """One thread that answers one batch after the other. Use it from the event loop only.

    Parameters
    ----------
    limits : limits the number of waiting requests, their time, and what is kept of what was prepared while answering.
    workers : pool that answers histories with nodes that are not prepared, which takes long.
    """

    def __init__(self, limits: Limits, workers: WorkerPool) -> None:
        self._limits, self._workers = limits, workers
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="batches")
        self._waiting: list[_Request] = []
        self._num_unanswered = 0
        self._running = False

    async def answer(
        self, query: RecommendQuery, histories: Sequence[History], selection: Selection = EVERYTHING
    ) -> Answers:
        """Return one answer per history."""
        if not all(query.recommender.is_prepared(history) for history in histories):
            return await self._workers.run_with_deadline(
                partial(query.prepare_and_answer, histories, self._limits.parts, selection=selection)
            )
        if self._num_unanswered >= self._limits.running:
            raise BusyError(self._limits.running)
        self._num_unanswered += 1
        try:
            request = _Request(query, histories, selection)
            self._waiting.append(request)
            self._start_batch()
            return await asyncio.wait_for(request.future, self._limits.seconds)
        except TimeoutError:
            raise TimeLimitError(self._limits.seconds) from None
        finally:
            self._num_unanswered -= 1

    def _start_batch(self) -> None:
        """Start the next batch, unless one is running: waiting requests with the query of the first one."""
        if self._running or not self._waiting:
            return
        batch, rest, num_histories = [], [], 0
        for request in self._waiting:
            fits = num_histories == 0 or num_histories + len(request.histories) <= _BATCH_SIZE
            if request.query == self._waiting[0].query and fits:
                batch.append(request)
                num_histories += len(request.histories)
            else:
                rest.append(request)
        self._waiting, self._running = rest, True
        task = asyncio.get_running_loop().run_in_executor(self._executor, _answer_batch, batch)
        task.add_done_callback(lambda done: self._finish_batch(batch, done.result()))

    def _finish_batch(self, batch: list[_Request], results: list[Answers | Exception]) -> None:
        self._running = False
        self._start_batch()
        for request, result in zip(batch, results, strict=True):
            if request.future.done():  # cancelled by the time limit
                continue
            if isinstance(result, Exception):
                request.future.set_exception(result)
            else:
                request.future.set_result(result)

    def stop(self) -> None:
        """Start no further batch."""
        self._executor.shutdown(wait=False, cancel_futures=True)


def _answer_batch(batch: list[_Request]) -> list[Answers | Exception]:
    """Answer a batch; if that fails, answer each request alone, so that only the bad one fails."""
    try:
        pairs = [(history, request.selection) for request in batch for history in request.histories]
        answers = iter(batch[0].query.answer([history for history, _ in pairs], [selection for _, selection in pairs]))
    except Exception as error:
        if len(batch) == 1:
            return [error]
        return [result for request in batch for result in _answer_batch([request])]
    return [[next(answers) for _ in request.histories] for request in batch]
