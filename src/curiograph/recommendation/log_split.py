"""Split a log into training events and the items to recommend to test users."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pandas as pd

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
    facts: dict[str, Any] = {}
    num_events, num_items = len(walks.nodes), len(walks.names)
    events = pd.DataFrame({"user": np.repeat(walks.users, walks.lengths), "item": walks.nodes})
    events["time"] = np.arange(num_events) if walks.times is None else walks.times
    events["key"] = events.user * num_items + events.item  # of a user and an item
    events = events.sort_values(["user", "time"], kind="stable")  # sessions may overlap in time
    if kind == "time":
        if walks.times is None:
            raise WalkError("a time split needs the time of every event; name its column, or split by user or last.")
        if _are_numbers(events):
            raise WalkError(
                f"the times, from {walks.times.min():g} to {walks.times.max():g}, seem to number the events of each "
                "user, and are not comparable between users; split by user or last (--split last)."
            )
        facts["cut"] = float(np.sort(walks.times)[max(0, math.ceil((1 - share) * num_events) - 1)])
        is_early = events.time <= facts["cut"]
    else:
        is_new = (~events.duplicated("key")).groupby(events.user)
        num_distinct = is_new.transform("sum")
        held_out = 1 if kind == "last" else (_HELD_OUT_ITEMS * num_distinct).round().clip(lower=1)
        is_early = is_new.cumsum() <= num_distinct - held_out
    in_train = is_early
    if kind == "user":
        is_tested = events.user.isin(walks.split(share, seed)[1].users)
        in_train, events, is_early = ~is_tested, events[is_tested], is_early[is_tested]
    train = walks.select_visits(in_train.sort_index().to_numpy())
    train = train[train.lengths > 0]
    kept = build_incidence(train, train.users).sum(axis=0) >= item_users
    if not kept.any():
        raise WalkError(
            f"no item has {item_users} training users or more; give a smaller item_users, or a log with more events."
        )
    position = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    events = events.assign(item=position[events.item])
    early, late = events[is_early], events[~is_early]
    late = late[~late.key.isin(early.key)].drop_duplicates("key")
    early = early.drop_duplicates("key", keep="last")
    histories, targets = (
        {user: items.to_numpy() for user, items in some[some.item >= 0].groupby("user").item} for some in (early, late)
    )
    users = np.array([user for user in histories if user in targets], np.int64)
    if len(users) < 2:
        raise WalkError(
            f"the {kind} split leaves {len(users)} users with items of the catalog both before and after the cut; give "
            "another split, a smaller item_users, or more events."
        )
    facts |= {
        "items": int(kept.sum()),
        "training_events": len(train.nodes),
        "training_users": train.num_users,
        "eligible_users": len(users),
        "left_out_users": late.user.nunique() - len(users),
        "test_users": min(len(users), max_users or len(users)),
        "share_of_test_items_outside_catalog": round(float((late.item < 0).sum()) / max(len(late), 1), 4),
    }
    if facts["test_users"] < len(users):
        drawn = np.random.default_rng([check_seed(seed), 1]).permutation(len(users))[:max_users]
        users = users[np.sort(drawn)]
    names = as_labels([walks.names[int(item)] for item in np.flatnonzero(kept)])
    train = train.renumber(position, names)
    return LogSplit(train, users, [histories[user] for user in users], [targets[user] for user in users], facts)


def _are_numbers(events: pd.DataFrame) -> bool:
    """Return whether times number the events of each user (-1, -2, ... if backward), of which some may be removed.

    They are then whole and almost never repeated, most users begin within 2 % of their range, and the range is hardly
    longer than the longest history.
    """
    times = events.time.abs()
    begins, length = times.groupby(events.user).min() - times.min(), times.max() - times.min()
    return bool(
        len(begins) > 1
        and (begins <= 0.02 * length).mean() > 0.5
        and length < 4 * events.user.value_counts().max()
        and (times % 1 == 0).all()
        and events.duplicated(["user", "time"]).mean() < 0.01
    )
