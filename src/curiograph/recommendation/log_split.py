"""Split a log into training events and the items to recommend to test users."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Int32, Int64
from curiograph.errors import SettingError, WalkError, quote_value
from curiograph.graph.labels import as_labels
from curiograph.recommendation.incidence import build_incidence
from curiograph.validation import check_choice, check_integer, check_seed, is_number

if TYPE_CHECKING:
    from curiograph.human.trajectories import Trajectories

SplitKind = Literal["time", "user", "last"]
"""How a log is split into training and test events."""
_TEST_SHARE = 0.2  # of the events (time) or users (user)
_HELD_OUT_ITEMS = 0.2  # share of the distinct items of a test user that are test items, for the user split


@dataclass(frozen=True, eq=False)
class LogSplit:
    """Training events, and the histories and held-out items of test users."""

    train: Trajectories
    """Training events over the catalog, which is `train.names`: all items with enough training users."""
    users: Int64
    """Numbers of the test users."""
    histories: list[Int32]
    """Distinct items of each test user before the cut, the last visit at the end."""
    targets: list[Int32]
    """Distinct items that each test user visited after the cut and not before, in order."""
    facts: dict[str, Any]
    """Sizes of the split, and what was left out."""


def split_log(
    walks: Trajectories,
    kind: SplitKind = "time",
    *,
    test: float | None = None,
    item_users: int = 5,
    max_users: int | None = None,
    seed: int = 0,
) -> LogSplit:
    """Split a log as described by `evaluate_recommenders`.

    The walks of a user are joined, in order of the times if there are times, and else in the order given. Users without
    an item of the catalog before the cut, or without a new one after it, are not test users.
    """
    check_choice("split", kind, get_args(SplitKind))
    share = _TEST_SHARE if test is None else test
    if (kind == "last" and test is not None) or not is_number(share) or not 0 < share < 1:
        raise SettingError(f"test is {quote_value(test)}; give a share between 0 and 1, and none for the last split.")
    check_integer("item_users", item_users, 1, "give the minimum number of users of an item, 1 or more")
    if max_users is not None:
        check_integer("max_users", max_users, 2, "give the maximum number of test users, 2 or more")
    owner = np.repeat(walks.users, np.diff(walks.offsets))
    # all events of a user in a row; sessions may overlap in time
    order = np.argsort(owner, kind="stable") if walks.times is None else np.lexsort((walks.times, owner))
    nodes, owner, tested = walks.nodes[order], owner[order], np.unique(owner)
    facts: dict[str, Any] = {}
    if kind == "time":
        if walks.times is None:
            raise WalkError("a time split needs the time of every event; name its column, or split by user or last.")
        facts["cut"] = float(np.sort(walks.times)[max(0, math.ceil((1 - share) * len(owner)) - 1)])
        in_train = before = walks.times[order] <= facts["cut"]
    else:
        in_train = before = _mark_histories(nodes, owner, None if kind == "last" else _HELD_OUT_ITEMS)
    if kind == "user":
        tested = np.unique(walks.split(share, seed)[1].users)
        in_train = ~np.isin(owner, tested)
    train = walks.select_visits(in_train[np.argsort(order)])
    begun = np.diff(train.offsets) > 0
    offsets = np.append(train.offsets[:-1][begun], train.offsets[-1])
    train = replace(train, offsets=offsets, users=train.users[begun], sessions=train.sessions[begun])
    kept = np.asarray(build_incidence(train, train.users).sum(axis=0)).ravel() >= item_users
    if not kept.any():
        raise WalkError(f"no item has {item_users} training users or more; give a smaller item_users (--item-users).")
    position = np.where(kept, np.cumsum(kept) - 1, -1)
    found: list[tuple[int, Int32, Int32]] = []
    unknown = held_out = 0
    for user, start, end in zip(tested.tolist(), *np.searchsorted(owner, [tested, tested + 1]), strict=True):
        items, early = position[nodes[start:end]], before[start:end]
        history = _list_distinct(items[early & (items >= 0)][::-1])[::-1]  # by their last visit
        target = _list_distinct(items[~early & (items >= 0) & ~np.isin(items, history)])
        outside = len(np.setdiff1d(nodes[start:end][~early & (items < 0)], nodes[start:end][early]))
        held_out += outside + len(target)
        unknown += outside
        if len(history) and len(target):
            found.append((user, history, target))
    if len(found) < 2:
        raise WalkError(
            f"the {kind} split leaves {len(found)} users with items of the catalog both before and after the cut; give "
            "another split, a smaller item_users (--item-users), or more events."
        )
    facts |= {
        "items": int(kept.sum()),
        "training_events": len(train.nodes),
        "training_users": len(np.unique(train.users)),
        "eligible_users": len(found),
        "test_users": min(len(found), max_users or len(found)),
        "share_of_test_items_outside_catalog": round(unknown / max(held_out, 1), 4),
    }
    if facts["test_users"] < len(found):
        drawn = np.random.default_rng([check_seed(seed), 1]).permutation(len(found))[:max_users]
        found = [found[i] for i in np.sort(drawn).tolist()]
    users, histories, targets = (list(column) for column in zip(*found, strict=True))
    names = as_labels([walks.names[int(item)] for item in np.flatnonzero(kept)])
    return LogSplit(train.renumber(position, names), np.asarray(users), histories, targets, facts)


def _mark_histories(nodes: Int32, owner: Int64, held_out: float | None) -> NDArray[np.bool_]:
    """Return which visits come before the first of the last new items of their user.

    Visits are in order of users and then of time. `held_out` is the share of the distinct items of a user to hold out;
    None holds out a single item.
    """
    before = np.zeros(len(owner), bool)
    for start, end in zip(*np.searchsorted(owner, [np.unique(owner), np.unique(owner) + 1]), strict=True):
        first_visits = np.sort(np.unique(nodes[start:end], return_index=True)[1])
        count = 1 if held_out is None else max(1, round(held_out * len(first_visits)))
        before[start : start + first_visits[-count]] = True
    return before


def _list_distinct(items: Int64) -> Int32:
    """Return the distinct items in order of first occurrence."""
    return items[np.sort(np.unique(items, return_index=True)[1])].astype(np.int32)
