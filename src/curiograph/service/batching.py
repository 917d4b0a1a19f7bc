"""Recommendations in batches: what arrives while one batch is computed is answered together in the next.

Many histories cost far less together than one after the other, and answers do not depend on who is answered together.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from curiograph.centrality.history import History
from curiograph.recommendation.ranker import CandidateSet
from curiograph.recommendation.recommender import Recommender
from curiograph.service.config import Limits
from curiograph.service.prepared import copy_if_full, find_prepared_nodes, prepare_nodes
from curiograph.service.responses import encode_recommendations
from curiograph.service.time_limits import StopCheck
from curiograph.service.workers import WorkerPool

_AT_ONCE = 32
"""Histories answered together: beyond, PageRank gains nothing and those at the front wait for those at the back."""

Histories = Sequence[History]
Answers = list[dict[str, Any]]


@dataclass(frozen=True)
class RecommendQuery:
    """What is the same for all histories of a batch."""

    recommender: Recommender
    k: int
    candidates: CandidateSet
    reasons: bool
    known_by: Recommender | None = None
    """Where answers come from what this one knows alone, and say what that is."""

    def answer(self, histories: Histories) -> Answers:
        """An answer for each history."""
        tops = self.recommender.recommend_visited(histories, self.k, self.candidates)
        used = [None if self.known_by is None else self._used(self.known_by, seen) for seen in histories]
        return [encode_recommendations(top, self.reasons, nodes) for top, nodes in zip(tops, used, strict=True)]

    def _used(self, recommender: Recommender, seen: History) -> list[Hashable]:
        return [recommender.graph.label(node) for node in find_prepared_nodes(recommender, seen.nodes.tolist())]

    def prepare_and_answer(self, histories: Histories, most: int, check: StopCheck) -> Answers:
        """An answer for each history, about whose nodes something is not known yet, and is kept up to a limit."""
        made = copy_if_full(self.recommender, most)
        prepare_nodes(made, (node for seen in histories for node in seen.nodes.tolist()), check)
        return replace(self, recommender=made).answer(histories)


@dataclass(frozen=True, eq=False)
class _Waiting:
    question: RecommendQuery
    histories: Histories
    future: asyncio.Future[Answers] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Batcher:
    """One thread that answers batch after batch. Used from the event loop alone.

    Parameters
    ----------
    limits : say how much is kept of what is learned on the way.
    quick : has places for those who wait for a batch.
    computing : has threads for what takes long.
    """

    def __init__(self, limits: Limits, quick: WorkerPool, computing: WorkerPool) -> None:
        self._limits, self._quick, self._computing = limits, quick, computing
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="batches")
        self._waiting: list[_Waiting] = []
        self._running = False

    async def answer(self, question: RecommendQuery, histories: Histories) -> Answers:
        """The answers to some histories; those that nothing was prepared for are computed apart, as they take long."""
        if not all(question.recommender.is_prepared(history) for history in histories):
            return await self._computing.run_with_deadline(
                partial(question.prepare_and_answer, histories, self._limits.parts)
            )
        self._quick.enter()
        try:
            waiting = _Waiting(question, histories)
            self._waiting.append(waiting)
            self._go_on()
            return await self._quick.within(waiting.future)
        finally:
            self._quick.leave()

    def _go_on(self) -> None:
        """Start the next batch, if none is running."""
        if self._running or not self._waiting:
            return
        batch, rest, count = [], [], 0
        first = self._waiting[0].question
        for waiting in self._waiting:
            fits = count == 0 or count + len(waiting.histories) <= _AT_ONCE
            if waiting.question == first and fits:
                batch.append(waiting)
                count += len(waiting.histories)
            else:
                rest.append(waiting)
        self._waiting, self._running = rest, True
        task = asyncio.get_running_loop().run_in_executor(self._thread, _answered, batch)
        task.add_done_callback(lambda done: self._hand_out(batch, done))

    def _hand_out(self, batch: list[_Waiting], done: asyncio.Future[list[Answers | Exception]]) -> None:
        self._running = False
        self._go_on()
        for waiting, answer in zip(batch, done.result(), strict=True):
            if waiting.future.done():  # nobody waits any more
                continue
            if isinstance(answer, Exception):
                waiting.future.set_exception(answer)
            else:
                waiting.future.set_result(answer)

    def stop(self) -> None:
        """Start nothing more."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def _answered(batch: list[_Waiting]) -> list[Answers | Exception]:
    """The answers to a batch; where one history spoils it, to each alone."""
    try:
        answers = batch[0].question.answer([history for waiting in batch for history in waiting.histories])
    except Exception as error:
        if len(batch) == 1:
            return [error]
        return [answer for waiting in batch for answer in _answered([waiting])]
    split: list[Answers | Exception] = []
    for waiting in batch:
        split.append(answers[: len(waiting.histories)])
        answers = answers[len(waiting.histories) :]
    return split
