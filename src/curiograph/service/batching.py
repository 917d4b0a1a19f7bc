"""Batching of recommendations: requests that arrive while a batch is computed form the next batch.

Many histories cost far less together than one after the other, and the answers do not depend on the batch. Every batch
is small, and takes one history of each waiting request after the other, so that a large request delays no other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import orjson

from curiograph.centrality.history import History
from curiograph.recommendation.ranker import CandidateSet
from curiograph.recommendation.recommended import Recommendations
from curiograph.recommendation.recommender import Recommender
from curiograph.recommendation.selection import EVERYTHING, Selection
from curiograph.service.config import Limits
from curiograph.service.errors import BusyError, TimeLimitError
from curiograph.service.labels import encode_label, encode_labels
from curiograph.service.prepared import PreparedRecommender
from curiograph.service.schemas import encode_number

BATCH_SIZE = 32
"""Maximum number of histories of a batch: larger batches are not faster per history, and take longer."""
_BATCH_NODES = 2_000
"""Maximum number of recommended nodes of a batch, unless one history has more."""


@dataclass(frozen=True)
class User:
    """One history of a request."""

    history: History
    selection: Selection = EVERYTHING
    skipped: Sequence[Hashable] = ()
    """Labels of the history that the graph does not have."""


@dataclass(frozen=True)
class RecommendQuery:
    """The settings that all histories of a batch have in common."""

    recommender: Recommender
    k: int
    candidates: CandidateSet
    reasons: bool

    def answer(self, users: Sequence[User]) -> list[bytes]:
        """Return a JSON document for each history."""
        recommended = self.recommender.recommend_visited(
            [user.history for user in users], self.k, self.candidates, [user.selection for user in users]
        )
        return [orjson.dumps(self._encode(user, top)) for user, top in zip(users, recommended, strict=True)]

    def _encode(self, user: User, top: Recommendations) -> dict[str, Any]:
        """Encode recommendations as a `RecommendResponse`; the model itself would take longer than the answer."""
        nodes: list[dict[str, Any]] = [
            {"node": encode_label(label), "score": score, "stderr": stderr}
            for (label, score), stderr in zip(top, top.stderr, strict=True)
        ]
        if self.reasons:
            for node, reason in zip(nodes, top.reasons, strict=True):
                node["ranks"] = reason.ranks
                node["candidates"] = reason.candidates
                node["links"] = encode_labels(reason.links)
                node["opens"] = [encode_labels(loop) for loop in reason.opens]
                node["closes"] = encode_labels(reason.closes)
                node["compressibility"] = encode_number(reason.compressibility)
                node["sentence"] = encode_label(reason.sentence)
        answer = {"history": encode_labels(top.history), "candidates": top.candidates, "recommendations": nodes}
        if isinstance(self.recommender, PreparedRecommender):
            used = self.recommender.find_used_nodes(user.history)
            answer["used"] = encode_labels([top.graph.label(v) for v in used])
        if user.skipped:
            answer["skipped"] = encode_labels(user.skipped)
        return answer


@dataclass(eq=False)
class _Request:
    query: RecommendQuery
    users: Sequence[User]
    future: asyncio.Future[list[bytes]] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    answers: list[bytes] = field(default_factory=list)


class Batcher:
    """One thread that answers one batch after the other. Use it from the event loop only.

    Parameters
    ----------
    limits : Limits
        Limits the number of waiting requests, and their time.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="batches")
        self._waiting: list[_Request] = []
        self._running = False
        self.num_unanswered = 0
        """Requests that are not answered yet."""

    @property
    def is_full(self) -> bool:
        """Whether a further request would be refused."""
        return self.num_unanswered >= self._limits.running

    async def answer(self, query: RecommendQuery, users: Sequence[User]) -> list[bytes]:
        """Return a JSON document for each history."""
        if self.is_full:
            raise BusyError(self._limits.running)
        self.num_unanswered += 1
        request = _Request(query, users)
        try:
            self._waiting.append(request)
            self._start_batch()
            async with asyncio.timeout(self._limits.seconds):
                return await request.future
        except TimeoutError:
            raise TimeLimitError(self._limits.seconds) from None
        finally:
            self.num_unanswered -= 1

    def _start_batch(self) -> None:
        """Start the next batch from the requests that share the first one's query, unless a batch is running.

        Requests with histories left go behind the others.
        """
        self._waiting = [request for request in self._waiting if not request.future.done()]  # cancelled or too late
        if self._running or not self._waiting:
            return
        query = self._waiting[0].query
        together = [request for request in self._waiting if request.query == query]
        size = max(1, min(BATCH_SIZE, _BATCH_NODES // query.k))
        counts = dict.fromkeys(together, 0)
        total, last = 0, -1
        while last < total < size:
            last = total
            for request in together:
                if total < size and len(request.answers) + counts[request] < len(request.users):
                    counts[request] += 1
                    total += 1
        batch = [(request, count) for request, count in counts.items() if count > 0]
        taken = {request for request, _ in batch}
        self._waiting = [request for request in self._waiting if request not in taken]
        self._running = True
        task = asyncio.get_running_loop().run_in_executor(self._executor, _answer_batch, query, batch)
        task.add_done_callback(lambda done: self._finish_batch(batch, done))

    def _finish_batch(
        self, batch: list[tuple[_Request, int]], done: asyncio.Future[list[list[bytes] | Exception]]
    ) -> None:
        self._running = False
        if done.cancelled():  # the service stops
            return
        for (request, _), result in zip(batch, done.result(), strict=True):
            if request.future.done():
                continue
            if isinstance(result, Exception):
                request.future.set_exception(result)
                continue
            request.answers += result
            if len(request.answers) == len(request.users):
                request.future.set_result(request.answers)
            else:
                self._waiting.append(request)
        self._start_batch()

    def stop(self) -> None:
        """Start no further batch."""
        self._executor.shutdown(wait=False, cancel_futures=True)


def _answer_batch(query: RecommendQuery, batch: Sequence[tuple[_Request, int]]) -> list[list[bytes] | Exception]:
    """Answer the next histories of some requests; if that fails, of each request alone, so that only one fails."""
    users = [
        user for request, count in batch for user in request.users[len(request.answers) : len(request.answers) + count]
    ]
    try:
        answers = iter(query.answer(users))
    except Exception as error:
        if len(batch) == 1:
            return [error]
        return [result for each in batch for result in _answer_batch(query, [each])]
    return [[next(answers) for _ in range(count)] for _, count in batch]
