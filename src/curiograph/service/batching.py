"""Batching of recommendations: requests that arrive while a batch is computed form the next batch.

Many histories cost far less together than one after the other, and the answers do not depend on the batch. A request
has at most one batch of its histories waiting, so that a large request delays no other.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from curiograph.centrality.history import History
from curiograph.recommendation.ranker import CandidateSet
from curiograph.recommendation.recommender import Recommender
from curiograph.recommendation.selection import Selection
from curiograph.service.error_responses import BusyError, TimeLimitError, TooLargeError
from curiograph.service.json_labels import encode_label, encode_labels
from curiograph.service.schemas import encode_number
from curiograph.service.server_settings import MAX_ANSWER, ServiceSettings

BATCH_SIZE = 32
"""Maximum number of histories of a batch: larger batches are not faster per history, and take longer."""
_BATCH_NODES = 2_000
"""Maximum number of recommended nodes of a batch, unless one history has more."""
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

    @property
    def batch_size(self) -> int:
        """Maximum number of histories of a batch."""
        return max(1, min(BATCH_SIZE, _BATCH_NODES // self.k))


@dataclass(eq=False)
class QueuedUser:
    """One history of a request, and what becomes of it: a JSON document."""

    query: RecommendQuery
    history: History
    selection: Selection
    skipped: Sequence[Hashable] = ()
    """Labels of the history that the graph does not have."""
    answer: asyncio.Future[bytes] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Batcher:
    """One thread that answers one batch after the other. Use it from the event loop only."""

    def __init__(self, settings: ServiceSettings) -> None:
        self._settings = settings
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="batches")
        self._waiting: list[QueuedUser] = []
        self._task: asyncio.Task[None] | None = None
        self.num_unanswered = 0
        """Requests that are not answered yet."""

    @property
    def is_full(self) -> bool:
        """Whether a further request would be refused."""
        return self.num_unanswered >= self._settings.requests

    async def answer(self, users: Sequence[QueuedUser]) -> list[bytes]:
        """Return a JSON document for each history of a request."""
        if self.is_full:
            raise BusyError(self.num_unanswered)
        self.num_unanswered += 1
        answers: list[bytes] = []
        try:
            async with asyncio.timeout(self._settings.seconds):
                while len(answers) < len(users):
                    some = users[len(answers) : len(answers) + users[0].query.batch_size]
                    self._waiting += some
                    if self._task is None or self._task.done():
                        self._task = asyncio.create_task(self._answer_waiting())
                    answers += await asyncio.gather(*(user.answer for user in some))
                    if sum(map(len, answers)) > MAX_ANSWER:
                        raise TooLargeError(f"the answer has more than {MAX_ANSWER:,} bytes; request less.")
        except TimeoutError:
            raise TimeLimitError(self._settings.seconds) from None
        finally:
            self.num_unanswered -= 1
        return answers

    async def _answer_waiting(self) -> None:
        """Answer one batch after the other while histories wait; the histories of a batch share one query."""
        while self._waiting:
            query = self._waiting[0].query
            batch = [user for user in self._waiting if user.query == query][: query.batch_size]
            self._waiting = [user for user in self._waiting if user not in batch]
            batch = [user for user in batch if not user.answer.done()]  # cancelled, or too late
            answers = await asyncio.get_running_loop().run_in_executor(self._executor, _answer_batch, query, batch)
            for user, answer in zip(batch, answers, strict=True):
                if user.answer.done():
                    continue
                if isinstance(answer, Exception):
                    user.answer.set_exception(answer)
                else:
                    user.answer.set_result(answer)

    def stop(self) -> None:
        """Start no further batch."""
        self._executor.shutdown(wait=False, cancel_futures=True)


def _answer_batch(query: RecommendQuery, users: Sequence[QueuedUser]) -> list[bytes | Exception]:
    """Return a `RecommendResponse` as JSON for each history; the model itself would take longer than the answer.

    If a batch fails, each history is answered alone, so that only one fails.
    """
    recommender = query.recommender
    answers: list[bytes | Exception] = []
    histories, selections = [user.history for user in users], [user.selection for user in users]
    try:
        settings = histories, query.k, query.candidates, selections
        tops = recommender.recommend_visited(*settings, theory=query.theory)
        for user, top in zip(users, tops, strict=True):
            nodes: list[dict[str, Any]] = [{"node": encode_label(label), "score": score} for label, score in top]
            for node, reason in zip(nodes, top.reasons if query.reasons or query.theory else (), strict=False):
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
            answers.append(json.dumps(answer, separators=(",", ":")).encode())
    except Exception as error:
        if len(users) == 1:
            return [error]
        return [answer for user in users for answer in _answer_batch(query, [user])]
    return answers
