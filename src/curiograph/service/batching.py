"""Batching of recommendations: requests that arrive while a batch is computed form the next batch.

Many histories cost far less together than one after the other, and the answers do not depend on the batch. A batch is
bounded by the time that earlier ones took, a request has at most one batch of its histories waiting, and graphs take
turns, so that a large request delays no other.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import accumulate
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from pydantic_core import to_json

from curiograph.centrality.history import History
from curiograph.graph.graph import Graph
from curiograph.graph.labels import LabelReader
from curiograph.recommendation.ranker import CandidateSet
from curiograph.recommendation.recommender import Recommender
from curiograph.recommendation.selection import Selection, Unknown, read_history
from curiograph.service.error_responses import BusyError, TimeLimitError, TooLargeError
from curiograph.service.json_labels import encode_label, encode_labels
from curiograph.service.schemas import RecommendRequest, encode_number
from curiograph.service.server_settings import MAX_ANSWER, MAX_HISTORY, ServiceSettings

BATCH_SIZE = 32
"""Maximum number of histories of a batch: larger batches are not faster per history, and take longer."""
_BATCH_SECONDS = 0.003
"""Processor time that a batch of several histories should take at most, estimated from earlier ones of its query."""
_HISTORY_VISITS = 16
"""Visits that take about as long as what does not depend on the length of a history."""
_MAX_REASONS = 20
"""Maximum number of shares, links and gaps in the reason of one node."""


class RecommendQuery(NamedTuple):
    """The settings that all histories of a batch have in common."""

    recommender: Recommender
    k: int
    candidates: CandidateSet
    reasons: bool
    theory: bool
    prepared_only: bool
    is_diverse: bool  # which takes longer

    @classmethod
    def create(cls, recommender: Recommender, request: RecommendRequest) -> RecommendQuery:
        """Return the query of a request."""
        options = request.reasons, request.theory, request.prepared_only, request.diversity > 0
        return cls(recommender, request.k, request.candidates, *options)


class QueryUser(NamedTuple):
    """One history of a request."""

    history: History
    selection: Selection
    skipped: Sequence[Hashable] = ()
    """Labels of the history that the graph does not have."""


def read_users(labels: LabelReader, request: RecommendRequest, unknown: Unknown) -> list[QueryUser]:
    """Return the histories of a request."""
    selection = Selection.create(labels, request.exclude, request.filter, request.diversity)
    users = []
    for each in request.batch:
        history, skipped = read_history(labels, each, unknown)
        earlier, last = np.split(history.by_last_visit, [-MAX_HISTORY])
        if len(earlier):  # they do not count, but are not recommended either
            excluded = np.append(selection.excluded, earlier)
            users.append(QueryUser(History.from_visits(last.tolist()), replace(selection, excluded=excluded), skipped))
        else:
            users.append(QueryUser(history, selection, skipped))
    return users


class _Waiting(NamedTuple):
    """One history that waits, and what becomes of it: a JSON document."""

    query: RecommendQuery
    user: QueryUser
    answer: asyncio.Future[bytes]


class Batcher:
    """One thread that answers one batch after the other. Use it from the event loop only."""

    def __init__(self, settings: ServiceSettings) -> None:
        self._settings = settings
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="batches")
        self._waiting: dict[Graph, list[_Waiting]] = {}  # the graph whose turn it is first
        self._task: asyncio.Task[None] | None = None
        self._seconds: WeakKeyDictionary[Recommender, dict[Any, float]] = WeakKeyDictionary()
        """Mean time per visit, recent batches counting more, by the settings of the query."""
        self.num_unanswered = 0
        """Requests that are not answered yet."""

    @property
    def is_full(self) -> bool:
        """Whether a further request would be refused."""
        return self.num_unanswered >= self._settings.requests

    async def answer(self, query: RecommendQuery, users: Sequence[QueryUser]) -> list[bytes]:
        """Return a JSON document for each history of a request."""
        if self.is_full:
            raise BusyError(self.num_unanswered)
        self.num_unanswered += 1
        answers: list[bytes] = []
        try:
            async with asyncio.timeout(self._settings.seconds):
                while len(answers) < len(users):
                    rest = users[len(answers) :]
                    new = [asyncio.get_running_loop().create_future() for _ in range(self._fit_batch(query, rest))]
                    waiting = self._waiting.setdefault(query.recommender.graph, [])
                    waiting += [_Waiting(query, *each) for each in zip(rest, new, strict=False)]
                    if self._task is None or self._task.done():
                        self._task = asyncio.create_task(self._answer_waiting())
                    answers += await asyncio.gather(*new)
                    if sum(map(len, answers)) > MAX_ANSWER:
                        raise TooLargeError(f"the answer has more than {MAX_ANSWER:,} bytes; request less.")
        except TimeoutError:
            raise TimeLimitError(self._settings.seconds) from None
        finally:
            self.num_unanswered -= 1
        return answers

    def _fit_batch(self, query: RecommendQuery, users: Sequence[QueryUser]) -> int:
        """Return how many of some histories one batch has time for, at least one; one if nothing is known about it."""
        seconds = self._seconds.get(query.recommender, {}).get(query[1:], _BATCH_SECONDS)
        ends = accumulate(seconds * _count_visits(user) for user in users[:BATCH_SIZE])
        return max(1, sum(end <= _BATCH_SECONDS for end in ends))

    async def _answer_waiting(self) -> None:
        """Answer one batch after the other while histories wait; the histories of a batch share one query."""
        while self._waiting:
            graph = next(iter(self._waiting))
            waiting = [each for each in self._waiting.pop(graph) if not each.answer.done()]  # cancelled, or too late
            if not waiting:
                continue
            query = waiting[0].query
            same = [each for each in waiting if each.query == query]
            size = self._fit_batch(query, [each.user for each in same])
            batch, users = same[:size], [each.user for each in same[:size]]
            if size < len(waiting):  # the other graphs and queries come first
                self._waiting[graph] = [each for each in waiting if each.query != query] + same[size:]
            known, visits = self._seconds.setdefault(query.recommender, {}), sum(map(_count_visits, users))
            if known.get(query[1:], _BATCH_SECONDS) * visits <= _BATCH_SECONDS:
                answers, seconds = _answer_timed(query, users)  # changing the thread would take longer than it saves
                await asyncio.sleep(0)
            else:
                work = asyncio.get_running_loop().run_in_executor(self._executor, _answer_timed, query, users)
                answers, seconds = await work
            known[query[1:]] = (known.get(query[1:], seconds / visits) + seconds / visits) / 2
            for each, answer in zip(batch, answers, strict=True):
                if each.answer.done():
                    continue
                if isinstance(answer, Exception):
                    each.answer.set_exception(answer)
                else:
                    each.answer.set_result(answer)

    def stop(self) -> None:
        """Start no further batch."""
        self._executor.shutdown(wait=False, cancel_futures=True)


def _count_visits(user: QueryUser) -> int:
    """Return what the time to answer a history is about proportional to."""
    return _HISTORY_VISITS + len(user.history.nodes)


def _answer_timed(query: RecommendQuery, users: Sequence[QueryUser]) -> tuple[list[bytes | Exception], float]:
    start = time.thread_time()  # which others that use the processor do not change
    return answer_users(query, users), time.thread_time() - start


def answer_users(query: RecommendQuery, users: Sequence[QueryUser]) -> list[bytes | Exception]:
    """Return a `RecommendResponse` as JSON for each history; the model itself would take longer than the answer.

    If a batch fails, each history is answered alone, so that only one fails.
    """
    recommender = query.recommender
    answers: list[bytes | Exception] = []
    histories, selections = [user.history for user in users], [user.selection for user in users]
    try:
        settings, explained = (histories, query.k, query.candidates, selections), query.reasons or query.theory
        tops = recommender.recommend_visited(*settings, explained=explained, theory=query.theory)
        for user, top in zip(users, tops, strict=True):
            nodes: list[dict[str, Any]] = [{"node": encode_label(label), "score": score} for label, score in top]
            for node, reason in zip(nodes, top.reasons if explained else (), strict=False):
                node |= {
                    "ranks": reason.ranks,
                    "candidates": reason.candidates,
                    "sentence": encode_label(reason.sentence),
                    "shares": [(encode_label(v), share) for v, share in reason.shares[:_MAX_REASONS]],
                    "links": encode_labels(reason.links[:_MAX_REASONS]),
                }
                if query.theory:
                    node |= {
                        "opens": [encode_labels(loop) for loop in (reason.opens or ())[:_MAX_REASONS]],
                        "closes": encode_labels((reason.closes or ())[:_MAX_REASONS]),
                        "compressibility": encode_number(reason.compressibility),
                    }
            answer = {"history": encode_labels(top.history), "candidates": top.candidates, "recommendations": nodes}
            if query.prepared_only:
                visited = user.history.nodes.tolist()
                missing = set(recommender.find_missing(visited))
                answer["used"] = encode_labels([top.graph.label(node) for node in visited if node not in missing])
            if user.skipped:
                answer["skipped"] = encode_labels(user.skipped)
            answers.append(to_json(answer))
    except Exception as error:
        if len(users) == 1:
            return [error]
        return [answer for user in users for answer in answer_users(query, [user])]
    return answers
