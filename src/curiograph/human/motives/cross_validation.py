"""Where the order of each motive places what people chose: the long part of `hypotheses`, as a job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int64
from curiograph.human.choices.choice_sets import ChoiceSet
from curiograph.human.motives.catalog import Motive
from curiograph.human.motives.likelihood import Places, fit_p_g, log_likelihood
from curiograph.parallel import IN_PROCESS, Engine, Job, Result, run_job
from curiograph.parallel.fingerprint import hash_graph, hash_values
from curiograph.progress import Progress, no_progress

_CANDIDATE = 64  # bytes that a candidate takes while it is scored
_PLACED = 100  # bytes of a placed choice, as it comes and as it is used


@dataclass(frozen=True, eq=False)
class HeldOutFit:
    """One motive, every choice judged by the fit on the other parts of the users."""

    p_g: Float64
    """One for each part."""
    gains: Float64
    """Bits better than the uniform choice."""
    percentiles: Float64


@dataclass(frozen=True, eq=False)
class _Order:
    """A motive that has learned from everyone but one part of the users; from nobody, if it does not learn."""

    motive: Motive
    number: int
    """Of the motive among those compared."""

    def tasks(self, choices: ChoiceSet, place: int) -> list[tuple[int, int, int]]:
        """This order, and the first and last of the choices to place."""
        size, step = len(choices), self.motive.together(choices.graph)
        return [(place, first, min(first + step, size)) for first in range(0, size, step)]


def cross_validate(
    motives: Sequence[Motive],
    choices: ChoiceSet,
    fold_of: Int64,
    engine: Engine = IN_PROCESS,
    progress: Progress = no_progress,
) -> list[HeldOutFit]:
    """Judge every choice, by each motive, by the fit on those who are in another part than who chose."""
    orders = list(_orders(motives, choices, fold_of))
    tasks = [task for place, order in enumerate(orders) for task in order.tasks(choices, place)]
    tasks.sort(key=lambda task: task[1] - task[2])  # the longest first, so that none is left at the end
    windows = choices.windows
    job = Job(
        name="motives",
        function=_placed,
        shared=(choices, orders),
        tasks=tasks,
        key=lambda: {
            "graph": hash_graph(choices.graph),
            "choices": hash_values(windows.histories, windows.nexts, windows.users, fold_of),
            "motives": [motive.about() for motive in motives],
        },
        describe_task=lambda task: f"{orders[task[0]].motive.name}, choices {task[1]} to {task[2] - 1}",
        fix="give fewer walks or fewer motives",
    )
    results = dict(zip(tasks, run_job(job, engine, progress), strict=True))
    places = [_joined([results[task] for task in order.tasks(choices, i)]) for i, order in enumerate(orders)]
    return [
        _fitted([each for each, order in zip(places, orders, strict=True) if order.number == number], fold_of)
        for number in range(len(motives))
    ]


def _orders(motives: Sequence[Motive], choices: ChoiceSet, fold_of: Int64) -> Iterator[_Order]:
    for number, motive in enumerate(motives):
        if not motive.learns:
            yield _Order(motive, number)
            continue
        for fold in range(int(fold_of.max()) + 1):
            yield _Order(motive.fit(choices.rows(fold_of != fold)), number)


def _placed(shared: tuple[ChoiceSet, Sequence[_Order]], task: tuple[int, int, int]) -> Result:
    choices, orders = shared
    order, first, last = task
    some = choices.rows(slice(first, last))
    places = Places.of(some, orders[order].motive.scores(some))
    return {name: getattr(places, name).astype(np.int32) for name in ("above", "tied", "count")}


def _joined(results: Sequence[Result]) -> Places:
    columns = [np.concatenate([result[name] for result in results]) for name in ("above", "tied", "count")]
    return Places(*(column.astype(np.int64) for column in columns))


def _fitted(places: Sequence[Places], fold_of: Int64) -> HeldOutFit:
    """Places by all folds, or alone what is the same for all of them."""
    folds, size = int(fold_of.max()) + 1, len(fold_of)
    p_g, gains, percentiles = np.empty(folds), np.empty(size), np.empty(size)
    for fold in range(folds):
        mine = places[fold if len(places) > 1 else 0]
        known: NDArray[Any] = fold_of != fold
        p_g[fold] = fit_p_g(mine.rows(known))
        tested = mine.rows(~known)
        gains[~known] = log_likelihood(tested, p_g[fold]) - log_likelihood(tested, 1.0)
        percentiles[~known] = tested.percentiles
    return HeldOutFit(p_g, gains, percentiles)
